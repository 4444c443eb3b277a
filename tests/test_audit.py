"""The audit's own worlds and cells: sums follow the law of single rewards, and no cell takes forever."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest

from topalpha.audit import cells
from topalpha.audit.worlds import PlusMinus, Thirds
from topalpha.families import Bernoulli

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
