"""Rounds of median elimination and of exponential gaps: pulls by hand, and the lemmas behind their levels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from topalpha.algorithms import design
from topalpha.algorithms.field.finite_solvers import CANDIDATE, ExponentialGap
from topalpha.reservoirs import Beta, Conditioned, Dirac, TwoPoint
from topalpha.rules.elimination import ROUND_SUM
from topalpha.rules.median_elimination import PRINTED, TIGHT, EliminationContest
from topalpha.rules.protocol import History
from topalpha.simulation import simulate
from topalpha.testing import check_algorithm

FALSE_ALARM = 1e-6
UNIT = Conditioned(Beta(1.0, 1.0), 0.95)


def passes(study, delta):
    return study.errors.excess(delta) > FALSE_ALARM


@pytest.mark.slow
def test_exponential_gap_with_rounds_that_drop_arms_runs_the_same_in_every_way():
    algorithm = design("p2", 0.4, 0.2, 0.1, solver="exponential-gap")
    algorithm = algorithm._replace(solver=algorithm.solver._replace(gap=1.2, factor=0.02))
    last = check_algorithm(algorithm, TwoPoint(0.05, 0.95, 0.4), seed=1)
    assert last.t < algorithm.design_pulls()
    assert sum(last.stats[CANDIDATE]) > 1


def test_the_shares_of_median_elimination_add_up():
    assert sum(
        EliminationContest(0.3, 0.1, True, PRINTED).round_epsilon(stage) for stage in range(200)
    ) == pytest.approx(0.3, rel=1e-12)
    assert sum(EliminationContest(0.1, 0.3, True, PRINTED).round_level(stage) for stage in range(60)) == pytest.approx(
        0.3, rel=1e-12
    )
    assert EliminationContest(0.4, 0.1, True, PRINTED).round_epsilon(0) == 0.1
    assert EliminationContest(0.4, 0.1, True, PRINTED).round_epsilon(3) == pytest.approx(0.1 * 0.75**3, rel=1e-15)
    assert EliminationContest(0.1, 0.4, True, PRINTED).round_level(3) == 0.4 / 16.0


def test_pulls_of_a_round_by_hand():
    # eps_2 = 0.075, d_2 = 0.025: 4 ln(120) / 0.005625 = 3404.4
    assert EliminationContest(0.4, 0.1, True, PRINTED).round_pulls(1, 9) == 3405
    assert EliminationContest(0.4, 0.1, True, TIGHT).round_pulls(1, 9) == 1703
    assert EliminationContest(0.1, 0.05, False, 1.0).round_pulls(0, 30) == math.ceil(math.log(29 / 0.05) / 0.01) == 637
    # 5 arms, then 3, then 2
    rounds = [EliminationContest(0.4, 0.1, True, 4.0).round_pulls(stage, 9) for stage in range(3)]
    assert EliminationContest(0.4, 0.1, True, 4.0).most_pulls(5, True) == 5 * rounds[0] + 3 * rounds[1] + 2 * rounds[2]
    assert EliminationContest(0.1, 0.05, False, 1.0).most_pulls(30, True) == 30 * 637
    assert EliminationContest(0.4, 0.1, True, 4.0).most_pulls(1, True) == 1
    assert EliminationContest(0.4, 0.1, True, 4.0).most_pulls(1, False) == 0


def kept_wrong(means, pulls):
    """P(the better of two arms is dropped), with ties to its disadvantage."""
    count = np.arange(pulls + 1)
    better, worse = binom.pmf(count, pulls, means[0]), binom.sf(count - 1, pulls, means[1])
    return float(better @ worse)


@pytest.mark.parametrize("level", [0.3, 0.05, 0.001])
@pytest.mark.parametrize("means", [(0.6, 0.4), (0.3, 0.1), (0.2, 0.0), (1.0, 0.8)])
def test_half_of_the_printed_pulls_are_enough_for_a_round_of_two(means, level):
    gap = means[0] - means[1]
    pulls = math.ceil(TIGHT * math.log(3.0 / level) / gap**2)
    assert kept_wrong(means, pulls) <= level
    uniform = EliminationContest(gap, level, False, 1.0).round_pulls(0, 2)
    assert kept_wrong(means, uniform) <= level


def test_the_exact_probabilities_can_exceed_the_level():
    assert kept_wrong((0.6, 0.4), EliminationContest(0.2, 0.05, False, 0.1).round_pulls(0, 2)) > 0.05
    assert kept_wrong((0.6, 0.4), math.ceil(0.1 * math.log(60.0) / 0.04)) > 0.05


def test_deviations_of_a_round_are_within_a_third_of_its_level():
    """The two events of the proof, each for one arm: a mean that is off by eps_l / 2."""
    for factor, power in ((TIGHT, 1.0), (PRINTED, 2.0)):
        pulls = EliminationContest(0.8, 0.2, True, factor).round_pulls(0, 9)
        threshold = pulls * (0.5 + 0.1)
        assert binom.sf(math.ceil(threshold) - 1, pulls, 0.5) <= (0.1 / 3.0) ** power


def test_gap_rounds_spend_no_more_than_delta():
    solver = ExponentialGap(0.001, 0.1, 0.25, 4.0)
    spent = [solver.gap_level(rounds) for rounds in range(6)]
    assert spent[0] == 0.1 / 50.0
    assert spent[2] == pytest.approx(0.1 / (50.0 * 27.0))
    assert solver.left_over(6) + sum(spent) == pytest.approx(0.1, rel=1e-12)
    assert solver.left_over(60) > 0.97 * 0.1
    assert [solver.gap_epsilon(rounds) for rounds in range(3)] == [1 / 8, 1 / 16, 1 / 32]
    assert solver.gap_pulls(0) == math.ceil(2.0 * 64.0 * math.log(1000.0)) == 885


def test_candidates_that_score_a_width_below_the_reference_are_dropped():
    solver = ExponentialGap(0.01, 0.1, 0.25, 4.0)
    # Arm 0 belongs to an earlier contest, arm 1 was dropped before; arm 3 is the reference.
    alive, candidate, score = (
        [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        [0, 0.9, 0.5, 0.625, 0.4, 0.7],
    )
    stats = [[0.0] * 6, alive, [3.0] * 6, [4.0] * 6, candidate, score]
    solver.drop_candidates(History(6, 6, [1] * 6, stats, [0.0] * 3), 1, 0.125)
    assert alive == [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    assert stats[ROUND_SUM] == [3.0, 3.0, 0.0, 0.0, 3.0, 0.0]


@pytest.mark.slow
def test_exponential_gap_is_median_elimination_for_a_large_epsilon_and_more_for_a_small_one():
    large, plain = design("p2", 0.1, 0.1, 0.1, solver="exponential-gap"), design("p2", 0.1, 0.1, 0.1)
    assert large.design_pulls() == plain.design_pulls()
    small = design("p2", 0.1, 0.05, 0.1, solver="exponential-gap")
    level = 0.05 / 50.0
    expected = 30 * math.ceil(128.0 * math.log(2.0 / level))
    expected += EliminationContest(1.0 / 16.0, level, True, 4.0).most_pulls(30, False)
    expected += EliminationContest(0.05, 0.05 - level, True, 4.0).most_pulls(30, False)
    assert small.design_pulls() == expected
    study = simulate(small, UNIT, runs=40, seed=3)
    assert study.errors.count == 0
    assert study.pulls.max() < expected
    # Of nearly equal arms none is dropped.
    assert set(simulate(small, Dirac(0.5), runs=5, seed=3).pulls) == {expected}


@pytest.mark.slow
@pytest.mark.statistical
def test_gap_rounds_keep_the_best_arm():
    """Rounds that drop arms, on arms whose gap is just over the last epsilon."""
    algorithm = design("p2", 0.1, 0.05, 0.2, solver="exponential-gap", arms="tight")
    law = TwoPoint(0.4, 0.451, 0.1)
    study = simulate(algorithm, law, runs=500, seed=2)
    missed, errors = 0.9**algorithm.arms, study.errors.count
    assert passes(study, 0.2)
    assert min(binom.cdf(errors, 500, missed), binom.sf(errors - 1, 500, missed)) > FALSE_ALARM
    loose = algorithm._replace(solver=algorithm.solver._replace(delta=99.0))
    assert not passes(simulate(loose, law, runs=200, seed=2), 0.2)
