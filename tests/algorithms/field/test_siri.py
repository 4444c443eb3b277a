"""SiRI: it is the printed algorithm, with the printed bound and number of arms."""

from __future__ import annotations

import math

import pytest

from tests.support.budgets import RESERVOIR, made
from topalpha.algorithms.field import siri
from topalpha.randomness import run_seed, streams
from topalpha.testing import interpreted


def plain_siri(budget, delta, beta, share, scale, reservoir, seed):
    """SiRI as printed, every bound computed anew; the last doubling is cut."""
    source = streams(run_seed(seed, 0))
    b = min(beta, 2.0)
    a = {True: share, False: share / math.log(budget) ** (2 if beta == 2.0 else 1)}[beta < 2.0]
    arms = math.ceil(a * budget ** (b / 2))
    means = reservoir.sample(arms, source.arms)
    order, pulls, totals = [], [0] * arms, [0.0] * arms

    def pull(arm):
        totals[arm] += float(source.rewards.random() < means[arm])
        pulls[arm] += 1
        order.append(arm)

    def bound(arm):
        x = max(0.0, math.log(2.0 ** (2.0 * math.floor(math.log2(arms)) / b) / (pulls[arm] * delta)))
        return totals[arm] / pulls[arm] + 2 * math.sqrt(scale * x / pulls[arm]) + 2 * scale * x / pulls[arm]

    for arm in range(arms):
        pull(arm)
    while len(order) < budget:
        bounds = [bound(arm) for arm in range(arms)]
        top = max(bounds)
        arm = min((a for a in range(arms) if bounds[a] > top - 1e-12), key=lambda a: (pulls[a], a))
        for _ in range(min(pulls[arm], budget - len(order))):
            pull(arm)
    return order, max(range(arms), key=lambda arm: (pulls[arm], totals[arm], -arm))


@pytest.mark.parametrize(
    ("beta", "share", "scale"), [(1.0, 0.3, 1.0), (0.5, 1.0, 0.1), (2.0, 2.0, 0.5), (3.0, 0.3, 0.05)]
)
def test_siri_is_the_printed_algorithm(beta, share, scale):
    for seed in range(5):
        order, arm = plain_siri(700, 0.1, beta, share, scale, RESERVOIR, seed)
        last, record = interpreted(made("siri", 700, beta=beta, share=share, scale=scale), RESERVOIR, seed)
        assert [step.arm for step in record] == order
        assert last.arm == arm


def test_the_bound_of_siri_by_hand():
    algorithm = made("siri", 10_000)  # 30 arms, t = 4, b = 1
    assert algorithm.arms == 30
    assert algorithm.log_scope == pytest.approx(math.log(2**8 / 0.1))
    rate = math.log(2**8 / (0.1 * 4)) / 4
    assert algorithm.simple_regret_index(3.0, 4) == pytest.approx(0.75 + 2 * math.sqrt(rate) + 2 * rate)
    assert algorithm.simple_regret_index(3000.0, 4000) == 0.75, "a negative logarithm counts as 0"


def test_the_number_of_arms_of_siri():
    assert siri.number_of_arms(10_000, 1.0, 0.3) == 30
    assert siri.number_of_arms(10_000, 2.0, 1.0) == math.ceil(10_000 / math.log(10_000) ** 2)
    assert siri.number_of_arms(10_000, 5.0, 1.0) == math.ceil(10_000 / math.log(10_000))
    assert [siri.number_of_arms(1, beta, 0.3) for beta in (1.0, 2.0, 3.0)] == [1, 1, 1]
    assert siri.number_of_arms(50, 3.0, 1000.0) == 50
