"""D-TTTS: it is its description, and the law of the next arm is exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.support.budgets import RESERVOIR, made
from topalpha.algorithms.field import d_ttts
from topalpha.randomness import run_seed, streams
from topalpha.rules.protocol import History
from topalpha.testing import interpreted


def plain_d_ttts(algorithm, reservoir, seed):
    """The same draws in the same order, as vectors."""
    source = streams(run_seed(seed, 0))
    means = list(reservoir.sample(algorithm.arms, source.arms))
    totals, pulls, order = [], [], []

    def draws():
        fresh = min(len(order) + 1, algorithm.arms) - len(totals)
        first = [source.rules.beta(fresh, 1)] if fresh else [-1.0]
        known = [source.rules.beta(1 + s, 1 + n - s) for s, n in zip(totals, pulls, strict=True)]
        return known + first  # the last entry stands for a fresh arm

    while len(order) < algorithm.budget:
        theta = draws()
        arm = int(np.argmax(theta))
        candidates = sum(one >= 0.0 for one in theta)
        if candidates > 1 and source.rules.random() >= algorithm.first:
            first = arm
            for _ in range(algorithm.repeats):
                theta = draws()
                arm = int(np.argmax(theta))
                if arm != first:
                    break
            else:
                arm = int(np.argsort(theta)[-2])
        if arm == len(totals):
            totals.append(0.0)
            pulls.append(0)
        totals[arm] += float(source.rewards.random() < means[arm])
        pulls[arm] += 1
        order.append(arm)
    return order, min(range(len(pulls)), key=lambda a: (-(1 + totals[a]) / (2 + pulls[a]), pulls[a], a))


@pytest.mark.parametrize("options", [{}, {"arms": 300}, {"arms": 2}, {"arms": 10, "repeats": 1, "first": 0.2}])
def test_d_ttts_is_its_description(options):
    for seed in range(4):
        algorithm = made("d-ttts", 300, **options)
        order, arm = plain_d_ttts(algorithm, RESERVOIR, seed)
        last, record = interpreted(algorithm, RESERVOIR, seed)
        assert [step.arm for step in record] == order
        assert last.arm == arm


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("limit", "pulls", "totals", "chance"),
    [
        (2, [1, 1], [1.0, 0.0], 0.8 * 5 / 6 + 0.2 / 6),  # P(Beta(2,1) > Beta(1,2)) = 5/6
        (10, [3], [3.0], 0.8 * 4 / 7 + 0.2 * 3 / 7),  # Beta(4,1) against three arms never pulled: Beta(3,1)
        (2, [3], [3.0], 0.8 * 4 / 5 + 0.2 * 1 / 5),  # against the one that the limit leaves: Beta(1,1)
        (2, [1, 1], [0.5, 0.5], 0.5),  # fractions count as such
    ],
)
def test_the_law_of_the_next_arm(limit, pulls, totals, chance):
    """Without the limit on repeats an arm that wins with probability p is pulled with .8 p + .2 (1 - p), if of two."""
    algorithm = made("d-ttts", 100, arms=limit, first=0.8, repeats=1000)
    history = History(sum(pulls), len(pulls), list(pulls), [list(totals)], [])
    rng, batch, memory, runs = np.random.default_rng(3), [0], algorithm.scratch(2), 20_000
    count = 0
    for _ in range(runs):
        assert algorithm.plan(history, memory, rng, batch) == 1
        count += batch[0] == 0
    assert binomtest(count, runs, chance).pvalue > 1e-3


def test_d_ttts_returns_the_largest_posterior_mean():
    algorithm = made("d-ttts", 100)
    history = History(12, 3, [1, 10, 1], [[1.0, 9.0, 0.5]], [])
    assert algorithm.recommend(history, algorithm.scratch(3)) == 1  # 10/12, and not 2/3
    tied = History(5, 2, [4, 1], [[3.0, 1.0]], [])
    assert algorithm.recommend(tied, algorithm.scratch(2)) == 1  # both 2/3: fewer pulls


def test_the_limit_of_d_ttts():
    assert made("d-ttts", 1000).arms == 100
    assert made("d-ttts", 20).arms == 20
    assert d_ttts.design(0.03, 0.1, 0.1, budget=10**6).arms == 334
    last, _ = interpreted(made("d-ttts", 300, arms=7), RESERVOIR)
    assert last.arms == 7
