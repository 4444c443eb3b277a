"""The transportation cost: the minimum by brute force, and never above it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.transport import brute_force
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Mirrored, Poisson
from topalpha.rules.likelihood_ratio import transport

FAMILIES = [
    Bernoulli(),
    Bernoulli(0.7),
    Gaussian(0.5),
    Poisson(3.0),
    Poisson(),
    Exponential(3.0),
    Gamma(2.0, 3.0),
    Mirrored(Poisson(3.0)),
    Mirrored(Exponential(3.0)),
    Mirrored(Gamma(2.0, 3.0)),
]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_the_cost_is_the_minimum_and_never_above_it(family):
    rng = np.random.default_rng(7)
    lowest, highest = max(family.lowest, -3.0), min(family.highest, 3.0)
    positive = 0
    for _ in range(120):
        pulls, others = (int(math.exp(rng.uniform(0.0, 9.0))) for _ in range(2))
        if isinstance(family, Bernoulli):
            mean, rival = rng.integers(0, pulls + 1) / pulls, rng.integers(0, others + 1) / others
        else:
            mean, rival = rng.uniform(lowest, highest, 2)
        epsilon = math.exp(rng.uniform(-4.0, -0.5)) * (highest - lowest)
        true = brute_force(family, mean, pulls, rival, others, epsilon)
        cost = transport(family, mean, pulls, rival, others, epsilon)
        if 0.0 < true < math.inf:
            positive += 1
            assert (1.0 - 1e-7) * true <= cost < true, (mean, pulls, rival, others, epsilon)
        else:
            assert cost == true
    assert positive > 50


def test_costs_that_can_be_written_down():
    unit = Bernoulli()
    assert transport(unit, 0.0, 9, 0.0, 20, 0.3) == pytest.approx(-20 * math.log(0.7), rel=1e-8)
    assert transport(unit, 1.0, 9, 1.0, 20, 0.3) == pytest.approx(-9 * math.log(0.7), rel=1e-8)
    assert transport(unit, 0.5, 9, 0.8, 20, 0.3) == 0.0
    assert transport(unit, 0.5, 9, 0.5, 20, 1.1) == math.inf
    # by symmetry the minimiser of p, 1 - p with equal pulls is (1 - epsilon) / 2
    assert transport(unit, 0.7, 50, 0.3, 50, 0.2) == pytest.approx(100 * unit.divergence(0.7, 0.4), rel=1e-8)
    # a highest mean below both averages: only x = highest - epsilon, y = highest are left to choose
    assert transport(Bernoulli(0.5), 0.9, 10, 0.9, 10, 0.2) == pytest.approx(
        10 * unit.divergence(0.9, 0.3) + 10 * unit.divergence(0.9, 0.5), rel=1e-8
    )


@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e-15, 1e-9, 1e-3])
def test_the_cost_where_variances_vanish(epsilon):
    """An average of 0 or 1: the slope is 0 at an end of the range that is not the minimiser."""
    for mean, rival in ((1.0, 0.8), (0.3, 0.0), (1.0, 0.0)):
        true = brute_force(Bernoulli(), mean, 23, rival, 19, epsilon)
        assert true * (1.0 - 1e-6) < transport(Bernoulli(), mean, 23, rival, 19, epsilon) < true
    for family, mean, rival in ((Poisson(3.0), 2.0, 0.0), (Mirrored(Poisson(3.0)), 0.0, -2.0)):
        true = brute_force(family, mean, 23, rival, 19, epsilon)
        assert true * (1.0 - 1e-6) < transport(family, mean, 23, rival, 19, epsilon) < true


def test_rounding_is_on_the_safe_side_even_where_means_are_huge():
    """Means of 1e9 with gaps of 1 leave 7 digits; the cost must still not exceed that of the exact numbers."""
    exact = (1.0 + 0.5) ** 2 / (2.0 * (1.0 / 40 + 1.0 / 30))
    cost = transport(Gaussian(1.0), 1e9 + 1.0, 40, 1e9, 30, 0.5)
    assert 0.9999 * exact < cost < exact
