"""Pulls against a number of the target: means, errors, lower bounds, and why one is missing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.support.drawn_studies import LAW, STUDIES, cut_off, study
from tests.support.pictures import bars, curves, faults, plain_looks
from topalpha import design, parse_reservoir, simulate
from topalpha.figures import new_axes, sweep
from topalpha.figures.style import ALGORITHMS, LIMIT, LIMIT_EXACT
from topalpha.theory import relaxed_lower_bound


def test_a_sweep_shows_means_errors_and_both_lower_bounds():
    axes = sweep(STUDIES, axes=new_axes())
    for name in ("cc-lucb", "joint-lucb"):
        mine = [one for one in STUDIES if one.algorithm == name]
        look = ALGORITHMS[name].curve
        curve = curves(axes)[(look["color"], look["linestyle"], look["marker"])]
        np.testing.assert_allclose(curve.get_xydata(), [(one.delta, one.pulls.mean()) for one in mine])
    half = 2.0 * np.std(np.arange(40), ddof=1) / math.sqrt(40)
    np.testing.assert_allclose(bars(axes)[:, 2] - bars(axes)[:, 1], 2.0 * half)
    target = curves(axes)[(LIMIT.colour, LIMIT.dash, "None")].get_xydata()
    exact = curves(axes)[(LIMIT_EXACT.colour, LIMIT_EXACT.dash, "None")].get_xydata()
    for x, y in target[::13]:
        assert (
            y == relaxed_lower_bound(parse_reservoir(LAW), 0.1, 0.1, x, design("cc-lucb", 0.1, 0.1, 0.1).family).value
        )
    assert (target[0, 0], target[-1, 0]) == pytest.approx((0.01, 0.2))

    # Theorem 1 by hand: blocks of measure alpha of a uniform law on (0, 0.8) end at 0.8 (1 - i alpha).
    def divergence(p, q):
        return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))

    edges = [0.8 * (1.0 - 0.1 * i) for i in range(10)]
    total = sum(1.0 / divergence(b, 0.8) for b in edges[2:]) + 1.0 / divergence(0.8, edges[2])
    for x, y in exact[::13]:
        assert y == pytest.approx(math.log(1.0 / (2.4 * x)) * total)


@pytest.mark.parametrize("against", ["alpha", "epsilon", "delta"])
def test_pulls_may_be_drawn_against_any_number_of_the_target(against):
    some = [replace(study(cost=cost), **{against: value}) for value, cost in ((0.02, 900), (0.05, 500), (0.1, 300))]
    axes = sweep(some, axes=new_axes())
    assert axes.get_xlabel() == {"alpha": "α", "epsilon": "ε", "delta": "δ"}[against]
    look = ALGORITHMS["cc-lucb"].curve
    curve = curves(axes)[(look["color"], look["linestyle"], look["marker"])]
    np.testing.assert_allclose(curve.get_xydata()[:, 0], [0.02, 0.05, 0.1])
    assert faults(axes) == []
    assert len(set(plain_looks(axes))) == len(plain_looks(axes))


def test_a_sweep_of_real_runs():
    law = parse_reservoir(LAW)
    runs = [simulate(design("cc-lucb", 0.2, 0.1, delta), law, runs=30, limit=400) for delta in (0.05, 0.3)]
    axes = sweep(runs, axes=new_axes())
    look = ALGORITHMS["cc-lucb"].curve
    curve = curves(axes)[(look["color"], look["linestyle"], look["marker"])]
    assert curve.get_ydata().tolist() == [one.pulls.mean() for one in runs]
    assert any(one.unfinished for one in runs)
    hollow = curves(axes)[(look["color"], "", look["marker"])]
    assert hollow.get_xdata().tolist() == [one.delta for one in runs if one.unfinished]


def test_a_sweep_marks_those_studies_whose_runs_were_cut_off_and_no_others():
    some = [study(delta=delta) for delta in (0.01, 0.05, 0.2)]
    some[1] = cut_off(some[1], 3)
    axes = sweep(some, axes=new_axes())
    look = ALGORITHMS["cc-lucb"].curve
    drawn = curves(axes)
    assert drawn[(look["color"], look["linestyle"], look["marker"])].get_fillstyle() == "full"
    hollow = drawn[(look["color"], "", look["marker"])]
    assert hollow.get_markerfacecolor() == "white"
    assert hollow.get_xydata().tolist() == [[0.05, some[1].pulls.mean()]]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[:2] == ["cc-lucb", "hollow: runs were cut off, the true mean is larger"]
    assert faults(axes) == []
    assert len(set(plain_looks(axes))) == len(plain_looks(axes))
    whole = sweep([study(delta=delta) for delta in (0.01, 0.05)], axes=new_axes())
    assert not any("hollow" in text.get_text() for text in whole.get_legend().get_texts())
    assert (look["color"], "", look["marker"]) not in curves(whole)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reservoir": "two-point(0.2,0.6,0.1)"}, "the reservoir has atoms"),
        ({"reservoir": "Scipy"}, "reservoir must"),
        ({"family": "normal"}, "family must"),
    ],
)
def test_where_there_is_no_lower_bound_the_reason_is_said(change, reason):
    axes = sweep([study(delta=delta, **change) for delta in (0.05, 0.2)], axes=new_axes())
    (text,) = axes.texts
    assert " ".join(text.get_text().split()).startswith(f"No lower bound: {reason}")
    assert not {(LIMIT.colour, LIMIT.dash, "None"), (LIMIT_EXACT.colour, LIMIT_EXACT.dash, "None")} & set(curves(axes))


@pytest.mark.parametrize(
    ("target", "beginning"),
    [
        ([{"delta": 0.05, "epsilon": 0.5}, {"delta": 0.2, "epsilon": 0.5}], "No lower bound for this α, ε, δ"),
        ([{"epsilon": 0.5}, {"epsilon": 0.1}], "In places no lower bound for this α, ε, δ"),
    ],
)
def test_where_one_of_the_lower_bounds_is_missing_the_reason_is_said(target, beginning):
    axes = sweep([study(**change) for change in target], axes=new_axes())
    assert ((LIMIT.colour, LIMIT.dash, "None") in curves(axes)) == beginning.startswith("In places")
    assert (LIMIT_EXACT.colour, LIMIT_EXACT.dash, "None") in curves(axes)
    (text,) = axes.texts
    assert " ".join(text.get_text().split()).startswith(f"{beginning}: no mean of the family lies above 1.")
    assert not sweep(STUDIES, axes=new_axes()).texts[:]


@pytest.mark.parametrize(
    ("studies", "sentence"),
    [
        ([], r"studies must be a Study or several, got \[\]"),
        ("studies.json", r"studies must be a Study or several, got 'studies.json'"),
        ([study(), 3], r"studies must be a Study or several, got 3"),
        (
            [study(), study("lucb++")],
            r"studies must differ in one of alpha, epsilon and delta, .*, got 'no difference'",
        ),
        ([study(), study(alpha=0.2, delta=0.2)], r"studies must differ in one of .*, got 'delta, alpha'"),
        ([study(), study(delta=0.2, reservoir="beta(1,2)")], r"studies must have one reservoir, got 'beta"),
    ],
)
def test_studies_that_do_not_go_together_are_refused(studies, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        sweep(studies, axes=new_axes())
