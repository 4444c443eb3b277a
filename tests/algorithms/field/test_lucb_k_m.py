"""lucb-k-m: it does what is written, and ends after the first pulls where there is nothing to compare with."""

from __future__ import annotations

import math

import pytest

from tests.support.pool_runs import coin, drive
from topalpha import design

NAMES = ("lucb-k-m", "p2-batched", "cc-lucb-streaming", "cc-lucb-k")


def reference(algorithm, reward):
    """LUCB-k-m, written down once more from docs/field/lucb.md."""
    n, k, m = algorithm.arms, algorithm.wanted, algorithm.good_enough
    asked, total, count = list(range(n)), [reward(arm, 1) for arm in range(n)], [1] * n
    t = n + 1
    while True:
        clock = t if algorithm.hoeffding else math.exp(0.02 * math.ceil(math.log(t) / 0.02))
        rate = math.log(1.25 * n * clock**4 / (0.5 * algorithm.delta))
        mean = [total[arm] / count[arm] for arm in range(n)]
        if algorithm.hoeffding:
            upper = [mean[arm] + math.sqrt(rate / 2 / count[arm]) for arm in range(n)]
            lower = [mean[arm] - math.sqrt(rate / 2 / count[arm]) for arm in range(n)]
        else:
            upper = [algorithm.family.upper(mean[arm], rate / count[arm]) for arm in range(n)]
            lower = [algorithm.family.lower(mean[arm], rate / count[arm]) for arm in range(n)]
        order = sorted(range(n), key=lambda arm: (-mean[arm], -count[arm], arm))
        first, second, third = order[:k], order[k:m], order[m:]
        if not third:
            return asked, first
        weak = min(first, key=lambda arm: (lower[arm], count[arm], arm))
        strong = min(third, key=lambda arm: (-upper[arm], count[arm], arm))
        if upper[strong] - lower[weak] <= algorithm.epsilon:
            return asked, first
        for arm in [weak, *([min(second, key=lambda arm: count[arm])] if second else []), strong]:
            asked.append(arm)
            count[arm] += 1
            total[arm] += reward(arm, count[arm])
        t += 1


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"k": 2, "m": 4}, {"bounds": "hoeffding"}, {"m": 3}])
def test_lucb_k_m_does_what_is_written(options):
    algorithm = design("lucb-k-m", 0.3, 0.4, 0.2, **options)
    for seed in range(3):
        asked, history, memory = drive(algorithm, coin(seed))
        wanted = reference(algorithm, coin(seed))
        assert (asked, algorithm.selection(history, memory)) == wanted
        assert algorithm.recommend(history, memory) == wanted[1][0]


def test_lucb_k_m_by_hand():
    """Two arms that always and never succeed, alpha .7, delta .2: 2 sqrt(rate/(2u)) <= 1.5 first at u = 13 pulls each.

    rate = ln(1.25 * 2 * (u+2)^4 / .1) is 13.775 at u = 12, more than 1.125 * 12, and 14.05 at 13, less than 14.625.
    """
    algorithm = design("lucb-k-m", 0.7, 0.5, 0.2, bounds="hoeffding")
    asked, history, memory = drive(algorithm, lambda arm, _: float(arm == 1))
    assert algorithm.arms == 2
    assert history.pulls == [13, 13]
    assert len(asked) == 26
    assert algorithm.recommend(history, memory) == 1


def test_nothing_to_compare_with_ends_after_the_first_pulls():
    for name in NAMES:
        options = {"k": 1} if name == "cc-lucb-k" else {}
        algorithm = design(name, 0.999, 0.1, 0.6, **options)
        assert algorithm.arms == 1
        assert drive(algorithm, lambda *_: 0.0)[0] == [0]
    whole = design("lucb-k-m", 0.999, 0.1, 0.5, k=3)
    asked, history, memory = drive(whole, coin(0))
    assert asked == [0, 1, 2]
    assert sorted(whole.selection(history, memory)) == [0, 1, 2]
