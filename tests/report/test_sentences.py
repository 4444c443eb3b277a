"""The sentences of a report: in the units and the pool of the task, and no more claims than are proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.reports import EASY, draw, reward, self_contained
from topalpha import Task, search, select
from topalpha.report import html
from topalpha.report.contents import gather
from topalpha.report.sentences import claims, meaning, repetition
from topalpha.rules.protocol import Claim
from topalpha.storage import read


@pytest.mark.usefixtures("words_only")
def test_the_meaning_is_in_the_units_and_the_pool_of_the_task(path):
    found = select(list(range(6)), range(40), lambda one, example: (one + example) % 6 < one, epsilon=0.2, storage=path)
    contents = gather(path)
    alpha, epsilon, delta = (sentences for *_, sentences in meaning(contents.certificate, contents.session.task))
    assert "as good as the best. In the list of 6 candidates, that is the best one." in alpha
    assert "at most 0.2 below the best one's. That does not make it the best." in epsilon
    assert "at most 5%" in delta
    call, needs = repetition(contents)
    assert call.startswith("topalpha.select(\n    candidates, examples, evaluate,\n    alpha=")
    assert "same candidates and examples" in needs
    assert found.certificate == contents.certificate
    self_contained(html(path))


def test_of_many_claims_some_are_listed_and_the_first_and_the_last_are_among_them(finished):
    certificate = finished[1].certificate
    many = tuple(Claim(0.2 + 0.7 * place / 99, 0.5 / (1 + place)) for place in range(100))
    listed = claims(replace(certificate, claims=many))
    assert 4 <= len(listed) <= 8
    assert [pair[1:] for pair in (listed[0], listed[-1])] == [tuple(many[0]), tuple(many[-1])]
    assert {pair[1:] for pair in listed} <= set(map(tuple, many)), "nothing is made up"
    assert [pair[2] for pair in listed] == sorted({pair[2] for pair in listed}, reverse=True)
    few = replace(certificate, claims=many[:8])
    assert [pair[1:] for pair in claims(few)] == list(map(tuple, few.claims))


@pytest.mark.parametrize("minimise", [False, True])
def test_all_that_were_chosen_are_told(path, minimise):
    settings = EASY | {"algorithm": "cc-lucb-k", "options": {"k": 2}, "minimise": minimise, "epsilon": 0.3}
    found = search(draw, reward, **settings, storage=path)
    page, recording = self_contained(html(path, arms=1)), read(path)
    assert len(found.selection) == 2
    assert found.statement in page.text
    rows = {row.arm: row for row in recording.snapshot}
    for arm in found.selection:
        worst = rows[arm].upper if minimise else rows[arm].lower
        words = f"Candidate (arm {arm}): mean {rows[arm].mean:.4g}, at worst {worst:.4g}"
        few = f"rate={recording.candidates()[arm]['rate']:.4g}"
        assert f"{words}{few}{recording.arms[arm]}" in page.text
    outside = [row.lower if minimise else row.upper for row in rows.values() if row.arm not in found.selection]
    assert page.data[0] == pytest.approx(min(outside) if minimise else max(outside))
    assert "Any not chosen, at best" in page.text
    assert "Any other, at best" not in page.text
    assert "each of the chosen arms is" in page.text


@pytest.mark.usefixtures("words_only")
def test_where_nothing_is_proved_no_claim_is_told_of(path):
    found = search(draw, reward, **EASY, storage=path, pulls=1)
    assert not found.certificate.claims
    page = self_contained(html(path))
    assert "A claim would be about the pool," in page.text
    assert "It would say nothing about candidates that this law never gives" in page.text
    for words in ("The claim is about", "Without these, nothing is proved"):
        assert words not in page.text
    assert Task(0.5, 0.1, 0.1, pool=1).law == "the list of 1 candidate"


def test_costs_are_told_as_costs(path):
    search(draw, lambda one, rng: 100.0 - 100.0 * reward(one, rng), **EASY | {"epsilon": 25.0}, family="range(0,100)",
           minimise=True, storage=path)  # fmt: skip
    page = self_contained(html(path))
    assert "at most 25 above where the best (smallest) 20% begin" in page.text
    assert "the leader's upper bound minus epsilon: arms whose lower bound is not yet above it" in page.text
    rows = [row for row in page.rows if len(row) == 6 and row[0] != "arm"]
    means = [float(row[2]) for row in rows[1:]]
    assert means == sorted(means)


def test_that_pulls_ran_at_once_is_said(path):
    search(draw, reward, **EASY, storage=path, executor="threads", workers=4, pulls=60)
    assert repetition(gather(path))[1].endswith("the result may differ.")
