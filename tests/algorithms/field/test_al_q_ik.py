"""Halving: its accuracies and levels by hand, and the inequality behind it."""

from __future__ import annotations

import math

import pytest

from topalpha.algorithms.field.al_q_ik import Halving, split


def test_halving_by_hand():
    median = Halving(1, 0.5, 0.25)  # steps 1/8 and 3/32, levels 1/8 and 1/16
    assert median.halving_pulls(0, 0) == math.ceil(128 * math.log(24)) == 407
    assert median.halving_pulls(1, 0) == math.ceil(2048 / 9 * math.log(48)) == 881
    assert median.halving_pulls(0, 1) == math.ceil(128 * math.log(48)) == 496
    assert median.halving_cost(3, 0) == 3 * 407 + 2 * 881
    assert median.halving_cost(1, 0) == 0
    several = Halving(4, 0.5, 0.25)
    assert [several.halved(19, number) for number in range(5)] == [19, 10, 5, 4, 4]
    assert several.halving_pulls(0, 0) == math.ceil(128 * math.log(96)) == 585


def test_the_inequality_behind_halving():
    """Bad arms that must be over-estimated are at least 1/(2m) of all bad arms (docs/field/threshold.md, 1)."""
    for keep in range(1, 40):
        schedule = Halving(keep, 1.0, 0.5)
        for size in range(keep + 1, 200):
            left = schedule.halved(size, 1)
            assert keep <= left < size
            assert size - keep <= 2 * keep * (left - keep + 1)


@pytest.mark.parametrize("keep", [1, 5])
def test_accuracies_and_levels_of_halving_sum_to_what_is_promised(keep):
    schedule = Halving(keep, 0.4, 0.3)
    step, level = 0.1, 0.15
    for number in range(30):
        chance = math.exp(-schedule.halving_pulls(number, 0) * step**2 / 2)
        assert 0.9 * level / (3 * keep) < chance <= level / (3 * keep)
        step, level = 0.75 * step, 0.5 * level
    assert math.fsum(0.1 * 0.75**number for number in range(30)) < 0.4


def test_the_split_is_the_cheapest():
    costs, shares = (3.0, 0.7, 5.0), (1.0, 1.0, 2.0)
    best = split(0.3, costs, shares)
    assert math.fsum(share * part for share, part in zip(shares, best, strict=True)) == pytest.approx(0.3)

    def cost(parts):
        return sum(one / part**2 for one, part in zip(costs, parts, strict=True))

    for shift in (-1e-3, 1e-3):
        assert cost((best[0] + shift, best[1] - shift, best[2])) > cost(best)
        assert cost((best[0] + 2 * shift, best[1], best[2] - shift)) > cost(best)
