"""The audit's own worlds, cells and trials: what they are, what they find out, and that no cell takes forever."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.support.marks import quick
from topalpha import Search, design
from topalpha.families import Bernoulli, PassFail
from topalpha.randomness import run_seed
from topalpha.research.audit import cells, controls, judge, judgement
from topalpha.research.audit.trials import Durations, Early, Listed, TestSet
from topalpha.research.audit.worlds import Jackpots, PlusMinus, Thirds
from topalpha.reservoirs import TwoPoint
from topalpha.simulation import Count

FALSE_ALARM = 1e-6
MEAN, COUNT, SUMS = 0.6, 3, 4000
#: Each world with the law of one reward.
WORLDS = [
    (Bernoulli(), {0.0: 0.4, 1.0: 0.6}),
    (PlusMinus(0.35), {0.25: 0.5, 0.95: 0.5}),
    (Thirds(1 / 3), {0.6: 1 / 3, 0.0: 2 / 3 * 0.4, 1.0: 2 / 3 * 0.6}),
]


def law_of_sums(law):
    """The law of the sum of COUNT rewards, by going through them all."""
    sums = Counter()
    for rewards in itertools.product(law.items(), repeat=COUNT):
        sums[round(sum(reward for reward, _ in rewards), 9)] += float(np.prod([share for _, share in rewards]))
    return sums


def follows(world, law):
    rng = np.random.default_rng(0)
    seen = Counter(round(world.sample_sum(MEAN, COUNT, rng), 9) for _ in range(SUMS))
    expected = law_of_sums(law)
    return set(seen) <= set(expected) and all(
        binomtest(seen[total], SUMS, share).pvalue > FALSE_ALARM for total, share in expected.items()
    )


@pytest.mark.statistical
@pytest.mark.parametrize(("world", "law"), WORLDS, ids=str)
def test_sums_follow_the_law_of_single_rewards(world, law):
    assert follows(world, law)


@pytest.mark.statistical
def test_a_sum_of_another_law_is_found_out():
    assert not follows(Thirds(0.25), WORLDS[2][1])
    assert not follows(PlusMinus(0.3), WORLDS[1][1])


def test_no_cell_of_millions_of_pulls_draws_them_one_by_one():
    asked = 0
    for cell in cells(full=True):
        if cell.algorithm.traits.blocks and hasattr(cell.algorithm, "design_pulls"):
            world = cell.algorithm.family if cell.case.rewards is None else cell.case.rewards
            assert hasattr(world, "sample_sum"), (cell.algorithm.traits.name, cell.case.name)
            asked += 1
    assert asked > 100


# ---- searches by ask and tell

TRIALS = [cell for cell in cells() if cell.case.trial is not None]
WRONG_TRIALS = [cell for cell in controls() if cell.case.trial is not None]


def short(listed):
    """By name; without those whose searches take a tenth of a second each, which test_coverage.py has."""
    return [described(cell) for cell in listed if not isinstance(cell.case.trial, Durations)]


def described(cell):
    return f"{cell.algorithm.traits.name}-{cell.control or cell.case.name}"


CELLS = {described(cell): cell for cell in (*TRIALS, *WRONG_TRIALS)}


def test_the_audit_has_a_cell_and_a_control_for_each_kind_of_search():
    assert {cell.case.name for cell in TRIALS} == {
        "pass or fail on 10 items",
        "a list of 10",
        "small variance",
        "unknown variance",
        "claims before the stop",
        "failures are slow",
    }
    assert {cell.case.name for cell in WRONG_TRIALS} == {cell.case.name for cell in TRIALS}
    assert {cell.algorithm.traits.name for cell in TRIALS} == {"joint-lucb", "cc-lucb", "lucb++", "kl-lucb"}
    long = [cell for cell in cells(full=True) if cell.case.trial is not None]
    assert len(long) > 2 * len(TRIALS)
    for cell in long:
        assert cell.algorithm.delta == cell.case.delta
        assert cell.algorithm.traits.covered


def errors(cell, runs):
    law = TwoPoint(*map(float, cell.case.reservoir.removeprefix("two-point(").removesuffix(")").split(",")))
    verdicts = [cell.case.trial.run(cell.algorithm, law, cell.case.rewards, run_seed(0, run)) for run in range(runs)]
    return Count(sum(verdict.wrong for verdict in verdicts), runs)


@pytest.mark.statistical
@pytest.mark.parametrize("cell", quick(short(TRIALS), short(TRIALS)[::3]))
def test_searches_by_ask_and_tell_err_no_more_often_than_delta(cell):
    found = errors(CELLS[cell], 20)
    assert found.excess(CELLS[cell].case.delta) > FALSE_ALARM, found


@pytest.mark.statistical
@pytest.mark.parametrize("cell", quick(short(WRONG_TRIALS), short(WRONG_TRIALS)[::2]))
def test_what_a_proof_excludes_is_found_out(cell):
    found = errors(CELLS[cell], 40 if isinstance(CELLS[cell].case.trial, Early) else 25)
    assert found.excess(CELLS[cell].case.delta) < FALSE_ALARM, found


def test_long_trials_are_fewer_and_every_run_is_told(monkeypatch):
    early = next(cell for cell in TRIALS if isinstance(cell.case.trial, Early))
    told = []
    found = judge(early, runs=12, progress=told.append)
    assert (found.errors.runs, told) == (12 // early.case.thin, [1] * 3)
    assert judge(early, runs=1).errors.runs == 1
    assert found.pulls == 200
    assert found.to_dict()["trial"] == "Early(moments=(25, 75, 200))"
    monkeypatch.setattr(judgement, "CONTROL_TRIALS", 5)
    control = next(cell for cell in WRONG_TRIALS if cell.control == "items drawn again")
    assert judge(control, runs=2).errors.runs == 5
    assert judge(control, runs=7).errors.runs == 7


def test_a_test_set_is_gone_through_once_and_its_control_is_not():
    algorithm, rng = design("cc-lucb", 0.3, 0.4, 0.2, PassFail(40)), np.random.default_rng(0)
    passed = {}
    for again in (False, True):
        passed[again] = [sum(TestSet(again).tape(algorithm, None, 0.25, rng)) for _ in range(20)]
    assert set(passed[False]) == {10.0}
    assert len(set(passed[True])) > 3


def test_a_list_is_drawn_without_replacement_and_its_control_is_not():
    law, rng = TwoPoint(0.2, 0.9, 0.25), np.random.default_rng(0)
    algorithm = design("cc-lucb", 0.25, 0.4, 0.2, pool=4)
    assert algorithm.arms == 4
    assert all(sum(Listed(4).means(algorithm, law, rng)) == pytest.approx(1.5) for _ in range(20))
    assert len({sum(Listed(4, again=True).means(algorithm, law, rng)) for _ in range(20)}) > 1


def test_a_claim_that_was_false_once_stays_an_error():
    """A lower bound that is right again at the next look has been read wrongly all the same."""

    class Sure(Search):
        """Claims the best of everything, but not at every look."""

        def claims(self, arm):
            return [] if self.history.t > 80 else super().claims(arm)

    class Forgetful(Early):
        def search(self, algorithm, seed):
            return Sure(algorithm, seed)

    loose = next(cell for cell in WRONG_TRIALS if isinstance(cell.case.trial, Early)).algorithm
    law = TwoPoint(0.4, 0.604, 0.2)
    once, twice = Forgetful((75,)), Forgetful((75, 90))
    wrong = [once.run(loose, law, seed=seed).wrong for seed in range(20)]
    assert 0 < sum(wrong) < 20
    assert [twice.run(loose, law, seed=seed).wrong for seed in range(20)] == wrong


def test_jackpots_have_their_mean():
    rng, world = np.random.default_rng(0), Jackpots(0.5)
    rewards = [world.sample(0.7, rng) for _ in range(4000)]
    assert abs(np.mean(rewards) - 0.7) < 6 * np.std(rewards) / 4000**0.5
