"""Mixtures, tilts and likelihood ratios of every family: martingales against quadrature, coverage by the binomial."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from tests.support.every_family import VECTORS, each, each_unlimited
from tests.support.marks import quick
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Poisson
from topalpha.families.protocols import RewardFamily


@pytest.mark.parametrize("row", VECTORS["KT_redundancy"], ids=lambda row: f"{row['S']}-{row['N']}")
def test_bernoulli_redundancy_vectors(row):
    assert Bernoulli().redundancy(float(row["S"]), row["N"]) == pytest.approx(row["R"], abs=1e-10)


@pytest.mark.parametrize("row", VECTORS["KT_interval"], ids=lambda row: f"{row['S']}-{row['N']}")
def test_bernoulli_mixture_interval_vectors(row):
    family, pulls = Bernoulli(), row["N"]
    level = (row["x"] + family.redundancy(float(row["S"]), pulls)) / pulls
    assert family.upper(row["S"] / pulls, level) == pytest.approx(row["U"], abs=1e-9)
    assert family.lower(row["S"] / pulls, level) == pytest.approx(row["L"], abs=1e-9)


@given(st.integers(1, 100_000), st.floats(0.0, 1.0))
def test_bernoulli_redundancy_is_at_most_half_a_logarithm(pulls, share):
    redundancy = Bernoulli().redundancy(share * pulls, pulls)
    assert -1e-8 <= redundancy <= 0.5 * math.log(pulls) + math.log(2.0) + 1e-8


def test_redundancy_is_the_mixture_of_its_prior():
    """R against quadrature of the mixture that each docstring names."""
    total, pulls = 7.0, 5
    rate = 1 / (2 * 4.0)
    mixture, _ = integrate.quad(
        lambda mean: stats.gamma.pdf(mean, 0.5, scale=1 / rate) * mean**total * math.exp(-pulls * mean), 0, np.inf
    )
    likelihood = (total / pulls) ** total * math.exp(-total)
    assert Poisson(4.0).redundancy(total, pulls) == pytest.approx(math.log(likelihood / mixture), rel=1e-6)

    for shape in (1.0, 2.5):
        family = Exponential(4.0) if shape == 1.0 else Gamma(shape, 4.0)
        size, amount = shape * pulls, shape * total
        mixture, _ = integrate.quad(  # over the inverse of the mean, which has a gamma prior
            lambda pace, size=size, amount=amount: (
                stats.gamma.pdf(pace, 0.25, scale=1024 / 4.0) * pace**size * math.exp(-pace * amount)
            ),
            0,
            np.inf,
            limit=500,
        )
        likelihood = (pulls / total) ** size * math.exp(-size)
        assert family.redundancy(total, pulls) == pytest.approx(math.log(likelihood / mixture), rel=1e-6)

    for nats in (0.1, 5.0, 64.0):  # the interval of the normal mixture centred on the true mean lies within ours
        for count in (1, 3, 1000):
            own = (1 + 1 / (64 * count)) * (nats + 0.5 * math.log1p(64 * count))
            assert own <= nats + Gaussian().redundancy(0.0, count) + 1e-12


@each
def test_redundancy_without_data(family):
    assert family.redundancy(0.0, 0) == pytest.approx(0.0, abs=1e-12)


def expectation(family, mean, function):
    """E function(X) under the mean, by summation or quadrature."""
    if isinstance(family, Bernoulli):
        return (1 - mean) * function(0.0) + mean * function(1.0)
    if isinstance(family, Poisson):
        return sum(stats.poisson.pmf(count, mean) * function(float(count)) for count in range(400))
    if isinstance(family, Gaussian):
        sigma = family.sigma
        width = 40 * sigma
        return integrate.quad(
            lambda x: stats.norm.pdf(x, mean, sigma) * function(x), mean - width, mean + width, limit=400, points=[mean]
        )[0]
    shape = getattr(family, "shape", 1.0)
    law = stats.gamma(shape, scale=mean / shape)
    head = integrate.quad(lambda y: law.pdf(y**4) * 4 * y**3 * function(y**4), 1e-12, 1.0, limit=400)[0]  # pole at 0
    far = 1.0 + 100.0 * mean / min(shape, 1.0)
    return head + integrate.quad(lambda x: law.pdf(x) * function(x), 1.0, far, limit=400)[0]


@each_unlimited
@pytest.mark.parametrize("tilt", [-1.3, -0.1, 0.05, 0.8])
@pytest.mark.parametrize("mean", [0.2, 0.7])
def test_tilted_terms_have_mean_one(family, tilt, mean):
    growth = math.expm1(tilt)
    value = expectation(family, mean, lambda reward: math.exp(family.tilted(mean, reward, 1, tilt, growth)))
    assert value == pytest.approx(1.0, rel=1e-6)
    step = 1e-6
    ends = [family.tilted(mean + side * step, 2.5, 4, tilt, growth) for side in (1.0, -1.0)]
    slope = family.tilted_slope(mean, 2.5, 4, tilt, growth)
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)
    assert slope * tilt < 0.0


@each_unlimited
@pytest.mark.parametrize(("alternative", "mean"), [(0.3, 0.5), (0.7, 0.5), (0.5, 0.9)])
def test_likelihood_ratios_have_mean_one(family, alternative, mean):
    value = expectation(family, mean, lambda reward: math.exp(family.log_ratio(alternative, mean, reward, 1)))
    assert value == pytest.approx(1.0, rel=1e-6)


@each
def test_log_ratio_is_monotone_along_below_and_above(family):
    places = st.floats(0.01, 0.99) if isinstance(family, Bernoulli) else st.floats(0.01, 50.0)

    @settings(deadline=None)
    @given(places, places, st.floats(0.01, 0.99), st.integers(1, 1000), st.sampled_from([0.01, 0.1, 0.5]))
    def holds(one, other, average, pulls, gap):
        low, high, total = min(one, other), max(one, other), average * pulls
        downward = [family.log_ratio(family.below(x, gap), x, total, pulls) for x in (low, high)]
        upward = [family.log_ratio(family.above(x, gap), x, total, pulls) for x in (low, high)]
        slack = 1e-9 * pulls
        assert downward[0] <= downward[1] + slack
        assert upward[0] >= upward[1] - slack

    holds()


def test_tilts_and_means_of_zero():
    for family in (Exponential(), Gamma(2.0)):
        shape = getattr(family, "shape", 1.0)
        assert family.tilted(0.0, 1.0, 2, 0.5, math.expm1(0.5)) == math.inf
        assert family.tilted(0.0, 1.0, 2, -0.5, math.expm1(-0.5)) == -math.inf
        assert family.tilted(0.0, 0.0, 2, 0.5, math.expm1(0.5)) == -shape
        assert family.tilted_slope(0.0, 1.0, 2, 0.5, math.expm1(0.5)) == -math.inf
        assert family.tilted_slope(0.0, 0.0, 2, 0.5, math.expm1(0.5)) == 0.0
        assert family.log_ratio(1.0, 0.0, 1.0, 2) == math.inf
        assert family.log_ratio(0.0, 1.0, 1.0, 2) == -math.inf
        assert family.redundancy(0.0, 3) == math.inf
    assert Poisson().log_ratio(0.0, 2.0, 0.0, 3) == 6.0
    assert Poisson().log_ratio(0.0, 2.0, 1.0, 3) == -math.inf
    assert Poisson().log_ratio(1.0, 0.0, 1.0, 3) == math.inf


@each_unlimited
def test_slope_variance_and_spread(family):
    mean, gap, step = 0.6, 0.1, 1e-6
    numeric = (family.below(mean + step, gap) - family.below(mean - step, gap)) / (2 * step)
    assert family.below_slope(gap) == pytest.approx(numeric, rel=1e-6)
    second = expectation(family, mean, lambda reward: (reward - mean) ** 2)
    assert family.variance(mean) == pytest.approx(second, rel=1e-6)
    assert family.spread(mean * 10**6, 10**6) == pytest.approx(family.variance(mean), rel=1e-4)
    for total in (0.0, 1.0):
        assert family.spread(total, 1) > 0.0


@each
def test_grids_are_in_order(family):
    for epsilon in (0.01, 0.1):
        assert 0.0 < family.smallest_tilt(epsilon) < family.largest_tilt()
        assert 0.0 < family.gap_unit(epsilon) < family.largest_gap() < math.inf
    assert isinstance(family, RewardFamily)


@each_unlimited
def test_smallest_tilt_leaves_a_floor_of_a_quarter_epsilon(family):
    """After very many rewards of the highest variance one tilt alone puts its bounds epsilon / 4 from the mean."""
    epsilon, pulls = 0.01, 10**9
    mean = 0.5 if isinstance(family, Bernoulli) else 1024 * epsilon
    tilt = -family.smallest_tilt(epsilon)
    growth = math.expm1(tilt)
    assert family.tilted(mean + 0.26 * epsilon, mean * pulls, pulls, tilt, growth) > 0.0
    assert family.tilted(mean + 0.24 * epsilon, mean * pulls, pulls, tilt, growth) < 0.0


def crossings(family, mean, nats, with_redundancy, seed, paths=1500, horizon=3000):
    """How many paths leave N d(p, mu) <= nats + R at one of a geometric set of times."""
    rng = np.random.default_rng(seed)
    times = np.unique(np.geomspace(1, horizon, 60).astype(int))
    shape = getattr(family, "shape", 1.0)
    crossed = 0
    for _ in range(paths):
        rewards = {
            Bernoulli: lambda: rng.random(horizon) < mean,
            Gaussian: lambda: rng.normal(mean, family.sigma, horizon),
            Poisson: lambda: rng.poisson(mean, horizon),
            Exponential: lambda: rng.exponential(mean, horizon),
            Gamma: lambda: rng.gamma(shape, mean / shape, horizon),
        }[type(family)]()
        totals = np.cumsum(rewards)[times - 1].tolist()
        crossed += any(
            pulls * family.divergence(total / pulls, mean)
            > nats + (family.redundancy(total, pulls) if with_redundancy else 0.0)
            for total, pulls in zip(totals, times.tolist(), strict=True)
        )
    return crossed, paths


MIXED = [
    (Bernoulli(), 0.5),
    (Bernoulli(), 0.02),
    (Gaussian(0.5), 3.0),
    (Poisson(), 0.1),
    (Poisson(4.0), 3.0),
    (Exponential(), 1.0),
    (Exponential(5.0), 0.001),
    (Gamma(2.5), 40.0),
    (Gamma(0.3), 0.2),
]


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("family", "mean"),
    quick(MIXED, [MIXED[0], *MIXED[2::3]]),
)
def test_mixture_covers_at_all_times_and_needs_its_redundancy(family, mean):
    level = 0.2
    crossed, paths = crossings(family, mean, math.log(1 / level), True, seed=11)
    assert crossed <= stats.binom.isf(1e-7, paths, level)
    without, paths = crossings(family, mean, math.log(1 / level), False, seed=12)
    assert without > stats.binom.isf(1e-7, paths, level)
