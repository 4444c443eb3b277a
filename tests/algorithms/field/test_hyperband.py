"""Hyperband: its brackets by hand and by their definition, and its proved bound."""

from __future__ import annotations

import math

import pytest

from tests.support.budgets import made, rejects, told
from topalpha.algorithms.field import fixed_budget, hyperband
from topalpha.reservoirs import TwoPoint
from topalpha.simulation import simulate


def test_two_brackets_and_twelve_pulls():
    """Six pulls a bracket: 3 arms once, the best of them three times; then 2 fresh arms three times."""
    algorithm = made("hyperband", 12)
    assert hyperband.schedule(algorithm) == [[(3, 1, 1), (1, 1, 3)], [(2, 2, 3)]]
    rewards = {0: [0], 1: [1, 1, 0, 0], 2: [0], 3: [1, 0, 0], 4: [0, 1, 1]}
    search, order = told(algorithm, lambda arm, number: float(rewards[arm][number]))
    assert order == [0, 1, 2, 1, 1, 1, 3, 3, 3, 4, 4, 4]
    assert search.best == 4
    rewards[4] = [0, 0, 0]
    search, _ = told(algorithm, lambda arm, number: float(rewards[arm][number]))
    assert search.best == 1, "its mean in its last round ties with arm 3's, which came later"


@pytest.mark.parametrize("eta", [2, 3, 4])
def test_brackets_by_their_definition(eta):
    for budget in (1, 7, 8, 11, 12, 50, 1000, 20_000):
        algorithm = made("hyperband", budget, eta=eta)
        top = algorithm.largest
        assert (top + 1) ** 2 * eta**top <= budget < (top + 2) ** 2 * eta ** (top + 1)
        share = budget // (top + 1)
        for bracket, rounds in zip(range(top, -1, -1), hyperband.schedule(algorithm), strict=True):
            assert len(rounds) == bracket + 1
            assert rounds[0][0] == math.floor((top + 1) * eta**bracket / (bracket + 1) + 1e-9)
            assert sum(size * pulls for size, _, pulls in rounds) <= share
            assert all(pulls == share // (len(rounds) * size) >= 1 for size, _, pulls in rounds)
            assert all(kept == size // eta for size, kept, _ in rounds[:-1])


@pytest.mark.slow
def test_the_bound_of_hyperband_by_its_formula():
    """The better of two brackets: its draw, its halvings, and the choice among the last arms of both."""
    algorithm = made("hyperband", 12_000, 0.5)._replace(largest=1)
    assert hyperband.schedule(algorithm) == [[(3, 1, 1000), (1, 1, 3000)], [(2, 2, 3000)]]
    narrow = 0.9**3 + fixed_budget.drop_bound([(3, 1, 1000), (3, 1, 3000)], 0.5)
    broad = 0.9**2 + 3.0 * math.exp(-3000 * 0.5**2 / 2)
    assert narrow < broad
    assert hyperband.error_bound(algorithm) == pytest.approx(narrow)
    errors = simulate(algorithm, TwoPoint(0.19, 0.7, 0.1), runs=500, seed=8, workers=1).errors.count
    assert not rejects(errors, 500, narrow)
    # Last rounds of unequal length: the choice among their arms is as sure as the shorter one makes it.
    uneven = made("hyperband", 1003, 0.5)
    lasts = [rounds[-1] for rounds in hyperband.schedule(uneven)]
    assert min(lasts, key=lambda one: one[2])[2] < max(lasts, key=lambda one: one[2])[2]
    choice = (sum(kept for _, kept, _ in lasts), 1, min(pulls for _, _, pulls in lasts))
    by_hand = [
        0.9 ** rounds[0][0] + fixed_budget.drop_bound([*rounds[:-1], choice], 0.5)
        for rounds in hyperband.schedule(uneven)
    ]
    assert hyperband.error_bound(uneven) == pytest.approx(min(by_hand))
    assert rejects(errors, 500, 0.9**10), "five arms, and not ten, can hold a top one"
