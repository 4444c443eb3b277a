"""Replays of recorded scores: they are the choices that select makes, and err no more often than delta."""

from __future__ import annotations

import pytest

from tests.support.folders import ROOT
from tests.support.marks import quick
from tests.support.score_tables import needle, twins
from topalpha import ScoreTable
from topalpha.execution import Calls
from topalpha.families import PassFail
from topalpha.simulation import Count
from topalpha.testset.replays import replay_seed, replays
from topalpha.testset.score_audit import audit
from topalpha.testset.selection import interval

FALSE_ALARM = 1e-6
RECORDED = ROOT / "examples" / "prompt_scores.csv"


@pytest.mark.slow
@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("algorithm", ["cc-lucb", "joint-lucb"])
def test_a_compiled_replay_is_what_select_does(algorithm, endless):
    table = ScoreTable.read(RECORDED)
    target = {"alpha": 0.1 if endless else None, "epsilon": 0.1, "endless": endless, "algorithm": algorithm}
    compiled = replays(table, seed=5, **target)
    for index in range(6):
        outcome = compiled.run(index)
        chosen = table.select(seed=replay_seed(5, index), **target)
        assert outcome.pulls == chosen.evaluations
        assert outcome.mean == table.means[table.candidates.index(chosen.candidate)]
        assert len(chosen.scores) == compiled.algorithm.arms


@pytest.mark.slow
def test_the_same_seed_is_the_same_choice():
    table = ScoreTable.read(RECORDED)
    one, again, other = (table.select(seed=seed) for seed in (0, 0, 1))
    assert one.to_dict() == again.to_dict()
    assert one.to_dict() != other.to_dict()
    found = [table.audit(runs=5, seed=2, workers=workers).to_dict() for workers in (1, 3)]
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("algorithm", quick(["cc-lucb", "joint-lucb"], ["cc-lucb"]))
def test_choices_from_a_list_err_no_more_often_than_delta(algorithm):
    found = audit(needle(), epsilon=0.1, runs=400, algorithm=algorithm)
    assert found.passed
    assert found.select.errors.count > 0, "a table on which nothing ever errs tests little"
    assert found.select.costs.max() <= found.select.full == 2000
    assert found.select.share < 0.5
    assert found.thumbs[0].errors.rate > 0.5
    assert not found.thumbs[0].compatible


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("algorithm", quick(["cc-lucb", "joint-lucb"], ["cc-lucb"]))
def test_choices_from_a_pool_err_no_more_often_than_delta_and_a_shared_order_does(algorithm, monkeypatch):
    """Where the good candidates pass the same examples, one unlucky order for all of them ruins all of them."""
    table, target = twins(), {"alpha": 0.2, "epsilon": 0.1, "endless": True, "algorithm": algorithm}
    threshold = table.top(0.2) - 0.1 - 1e-9

    def errors():
        _, scores = replays(table, **target).many(200)
        return Count(int((scores < threshold).sum()), 200)

    assert errors().excess(0.05) > FALSE_ALARM
    own = Calls.order
    monkeypatch.setattr(Calls, "order", lambda self, arm: own(self, 0))
    assert errors().excess(0.05) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.statistical
def test_intervals_of_all_candidates_hold_at_once_and_such_of_another_level_do_not():
    table, delta, runs = ScoreTable.read(RECORDED), 0.2, 40
    failed = loose = 0
    for seed in range(runs):
        found = table.select(epsilon=0.1, delta=delta, seed=seed)
        truth = [table.means[one.index] for one in found.scores]
        failed += any(not one.low <= mean <= one.high for one, mean in zip(found.scores, truth, strict=True))
        seen = [[1.0] * one.passes + [0.0] * (one.evaluations - one.passes) for one in found.scores]
        ends = [interval(PassFail(100), outcomes, 0.1, 0.9) for outcomes in seen]
        loose += any(not low <= mean <= high for (low, high), mean in zip(ends, truth, strict=True))
    assert Count(failed, runs).excess(delta) > FALSE_ALARM
    assert Count(loose, runs).excess(delta) < FALSE_ALARM


def test_replays_of_more_candidates_than_memory_holds_are_refused():
    table = ScoreTable(["short", "long"], ["q1", "q2"], [[1, 0], [1, 1]])
    with pytest.raises(ValueError, match="alpha must be large enough for at most 100,000 candidates, got 1e-07"):
        table.audit(endless=True, alpha=1e-7, runs=1)
