"""Reservoirs in words."""

from __future__ import annotations

import pytest

from topalpha.reservoirs import (
    Beta,
    Clipped,
    Conditioned,
    Dirac,
    Discrete,
    Empirical,
    Mixture,
    Scipy,
    Scores,
    Uniform,
    in_words,
    parse,
)
from topalpha.reservoirs.text import FORMS

WORDS = {
    "beta(1,2.5)": "Beta(1,2.5)",
    "uniform(-1,3)": "Uniform(-1,3)",
    "dirac(0.5)": "all at 0.5",
    "two-point(0.5,0.575,0.06)": "6% at 0.575, the rest at 0.5",
    "discrete(0.3:0.2,0.5:0.8)": "20% at 0.3, 80% at 0.5",
    "discrete(0.1,0.2,0.3,0.4,0.9)": "5 means from 0.1 to 0.9",
    "mixture(0.9*beta(1,2),0.1*dirac(0.8))": "90% Beta(1,2), 10% at 0.8",
    "conditioned(beta(1,1),0.95)": "Beta(1,1) up to 0.95",
    "conditioned(two-point(0.2,0.9,0.1),0.95)": "10% at 0.9, the rest at 0.2, up to 0.95",
    "clipped(dirac(0.9),0.8)": "all at 0.9 clipped at 0.8",
}


@pytest.mark.parametrize(("text", "words"), WORDS.items())
def test_every_notation_has_its_words(text, words):
    assert in_words(text) == in_words(parse(text)) == words


def test_every_form_is_among_them():
    assert {form.partition("(")[0] for form in FORMS} == {text.partition("(")[0] for text in WORDS}


def test_reservoirs_without_a_notation_have_words_too():
    from scipy.stats import norm

    assert in_words(Empirical([0.2, 0.2, 0.4, 0.4])) == "50% at 0.2, 50% at 0.4"
    assert in_words(Scores(Beta(1, 2), 1_000)) == "scores on 1,000 items, of rates Beta(1,2)"
    assert in_words(Scipy(norm(0.0, 1.0))) == "Scipy"
    assert in_words(Clipped(Discrete([0.1, 0.9]), 0.5)) == "50% at 0.1, 50% at 0.9, clipped at 0.5"
    assert in_words(Conditioned(Mixture((1.0,), (Uniform(0.0, 1.0),)), 0.5)) == "100% Uniform(0,1), up to 0.5"
    assert in_words(Mixture((0.5, 0.5), (Dirac(0.1), Dirac(0.3)))) == "50% at 0.1, 50% at 0.3"


@pytest.mark.parametrize("text", ["Empirical", "rows of a table", "beta(1", ""])
def test_other_text_stays_as_it_is(text):
    assert in_words(text) == text
