"""Infinite sequential halving: its rounds by hand, and its proved bound against exact errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from tests.support.budgets import made, rejects, told
from topalpha.algorithms.field import fixed_budget, isha
from topalpha.reservoirs import TwoPoint
from topalpha.simulation import simulate


def test_eight_arms_and_twenty_four_pulls():
    """Rounds of 8, 4 and 2 arms with 1, 2 and 4 pulls; only the round's own pulls count."""
    assert isha.schedule(8, 24) == [(8, 4, 1), (4, 2, 2), (2, 1, 4)]
    rewards = {
        0: [0],
        1: [1, 0, 1],  # loses round 2 to arms with more in that round, though its mean over all pulls is larger
        2: [0],
        3: [1, 1, 1, 0, 0, 1, 0],
        4: [0],
        5: [1, 1, 1, 0, 1, 1, 0],
        6: [0],
        7: [1, 0, 0],
    }
    search, order = told(made("isha", 24, arms=8), lambda arm, number: float(rewards[arm][number]))
    assert order == [*range(8), 1, 1, 3, 3, 5, 5, 7, 7, 3, 3, 3, 3, 5, 5, 5, 5]
    assert list(search.history.pulls)[:8] == [1, 3, 1, 7, 1, 7, 1, 3]
    assert search.best == 5
    assert search.history.stats[0][5] / 7 > search.history.stats[0][3] / 7


def test_ties_of_a_round_go_to_the_arm_drawn_first():
    search, order = told(made("isha", 8), lambda arm, number: 1.0)
    assert order == [0, 1, 2, 3, 0, 0, 1, 1]
    assert search.best == 0


def test_odd_numbers_keep_the_larger_half():
    assert isha.schedule(5, 100) == [(5, 3, 6), (3, 2, 11), (2, 1, 16)]
    assert isha.schedule(1, 7) == [(1, 1, 7)]
    assert isha.schedule(3, 6) == [(3, 2, 1), (2, 1, 1)]


def test_as_many_arms_as_the_first_round_can_pull_once():
    for budget in range(1, 600):
        arms = fixed_budget.most_arms(budget)
        assert arms * max(1, math.ceil(math.log2(arms))) <= budget
        assert (arms + 1) * max(1, math.ceil(math.log2(arms + 1))) > budget
        assert min(pulls for _, _, pulls in isha.schedule(arms, budget)) >= 1


@pytest.mark.parametrize("pulls", [1, 2, 5, 20, 60])
@pytest.mark.parametrize("gap", [0.1, 0.3, 0.6])
def test_the_bound_of_one_round_covers_the_exact_error(pulls, gap):
    """Two arms, the worse one first, so that ties count against the better one."""
    for low in np.linspace(0.0, 1.0 - gap, 15):
        worse, better = binom(pulls, low), binom(pulls, low + gap)
        error = sum(better.pmf(count) * worse.sf(count - 1) for count in range(pulls + 1))
        assert error <= fixed_budget.drop_bound([(2, 1, pulls)], gap - 1e-12) + 1e-12


def test_the_bound_by_its_formula():
    rounds = [(8, 4, 100), (4, 2, 200), (2, 1, 400)]
    width = 100**-0.5 + 200**-0.5 + 400**-0.5
    parts = (1 + 7 / 4) + (1 + 3 / 2) + (1 + 1)
    assert fixed_budget.drop_bound(rounds, 0.5) == pytest.approx(parts * math.exp(-(0.5**2) / (2 * width**2)))
    # the epsilons of the rounds add up to epsilon, and each round's exponent is the same
    shares = [0.5 * pulls**-0.5 / width for _, _, pulls in rounds]
    assert sum(shares) == pytest.approx(0.5)
    assert [pulls * share**2 for (_, _, pulls), share in zip(rounds, shares, strict=True)] == pytest.approx(
        [0.25 / width**2] * 3
    )
    assert fixed_budget.drop_bound([(3, 3, 5)], 0.1) == 0.0, "a round that keeps all loses nothing"
    assert isha.error_bound(8, 2400, 0.1, 0.5) == pytest.approx(0.9**8 + fixed_budget.drop_bound(rounds, 0.5))


def test_the_number_of_arms_of_the_smallest_bound():
    for budget in (1, 10, 1000, 100_000):
        best = isha.bounded_arms(budget, 0.2, 0.3)
        bounds = {
            arms: isha.error_bound(arms, budget, 0.2, 0.3) for arms in range(1, fixed_budget.most_arms(budget) + 1)
        }
        assert bounds[best] == min(bounds.values())
    assert made("isha", 100_000, number="bound").arms == isha.bounded_arms(100_000, 0.1, 0.2)
    assert made("isha", 100_000, number="bound", arms=3).arms == 3


@pytest.mark.slow
@pytest.mark.statistical
def test_errors_stay_below_the_proved_bound():
    """Mass alpha on top, the rest just too low: the chance to draw no top arm is a part of the bound that is needed."""
    algorithm = made("isha", 40_000, 0.4, number="bound")
    bound = isha.error_bound(algorithm.arms, algorithm.budget, 0.1, 0.4)
    missed = 0.9**algorithm.arms
    assert missed < bound < 0.2
    errors = simulate(algorithm, TwoPoint(0.29, 0.7, 0.1), runs=2000, seed=7, workers=1).errors.count
    assert not rejects(errors, 2000, bound)
    assert rejects(errors, 2000, bound - missed), "without that part the bound would be wrong, and this shows it"
