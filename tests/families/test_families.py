"""Every reward family: bounds against high precision, martingales against quadrature, coverage against the binomial."""

from __future__ import annotations

import json
import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from folders import DATA
from marks import quick
from topalpha.families import FAMILIES, Bernoulli, Exponential, Gamma, Gaussian, Poisson, parse_family
from topalpha.families.protocols import RewardFamily

VECTORS = json.loads((DATA / "vectors.json").read_text())

EVERY = [
    Bernoulli(),
    Gaussian(),
    Gaussian(0.5, 3.0),
    Poisson(),
    Poisson(4.0),
    Exponential(),
    Gamma(2.5),
    Gamma(0.3, 9.0),
]
UNLIMITED = [Bernoulli(), Gaussian(0.5), Poisson(), Exponential(), Gamma(2.5), Gamma(0.3)]

each = pytest.mark.parametrize("family", EVERY, ids=str)
each_unlimited = pytest.mark.parametrize("family", UNLIMITED, ids=str)

levels = st.one_of(
    st.floats(1e-12, 1e3),
    st.floats(1e-3, 3.0),
    st.sampled_from([1e-300, 1e-30, 1e-9, 1e-8, 2e-8, 0.7, 1.0, 40.0, 1000.0]),
)
positives = st.one_of(st.floats(1e-3, 1e2), st.floats(-250.0, 250.0).map(lambda power: 10.0**power))


def means_of(family):
    if isinstance(family, Bernoulli):
        near = st.floats(-280.0, 0.0).map(lambda power: 10.0**power)
        return st.one_of(st.floats(0.0, 1.0), near, near.map(lambda x: 1.0 - x)).filter(
            lambda x: x == 0.0 or x > 1e-290
        )
    if isinstance(family, Gaussian):
        return st.floats(-1e6, 1e6)
    return positives


def exact_divergence(family, mean, other):
    """d(mean, other), written again in high precision."""
    x, y = mpmath.mpf(mean), mpmath.mpf(other)
    if isinstance(family, Gaussian):
        return (x - y) ** 2 / (2 * mpmath.mpf(family.sigma) ** 2)
    if isinstance(family, Bernoulli):
        terms = [(x, y), (1 - x, 1 - y)]
        if any(q <= 0 < p for p, q in terms):
            return mpmath.inf
        return sum(p * mpmath.log(p / q) for p, q in terms if p > 0)
    if isinstance(family, Poisson):
        if x == 0:
            return y
        return y - x + x * mpmath.log(x / y) if y > 0 else mpmath.inf
    shape = mpmath.mpf(getattr(family, "shape", 1.0))
    return shape * (x / y - 1 - mpmath.log(x / y)) if x > 0 and y > 0 else mpmath.inf


def tolerance(root):
    return 1e-9 * (1.0 + abs(root))


def assert_upper(family, mean, level):
    """The divergence says on which side of the root a number lies: bisection's own test, at both ends of the slack."""
    bound = family.upper(mean, level)
    assert bound >= mean
    with mpmath.workdps(60):
        if bound == math.inf:
            assert exact_divergence(family, mean, 1.7e308) <= level
            return
        if bound < 1.0 or not isinstance(family, Bernoulli):
            assert exact_divergence(family, mean, bound) >= level
        inner = mpmath.mpf(bound) - tolerance(bound)
        assert inner <= mean or exact_divergence(family, mean, inner) <= level


def assert_lower(family, mean, level):
    bound = family.lower(mean, level)
    assert bound <= mean
    with mpmath.workdps(60):
        if bound > 0.0 or isinstance(family, Gaussian):
            assert exact_divergence(family, mean, bound) >= level
        inner = mpmath.mpf(bound) + tolerance(bound)
        assert inner >= mean or exact_divergence(family, mean, inner) <= level


@each_unlimited
def test_bounds_against_bisection(family):
    @settings(max_examples=400, deadline=None)
    @given(means_of(family), levels)
    def holds(mean, level):
        assert_upper(family, mean, level)
        assert_lower(family, mean, level)

    holds()


@each_unlimited
@pytest.mark.parametrize("level", [1e-300, 1e-20, 1e-9, 4.9e-9, 5.1e-9, 0.1, 0.999, 1.0, 39.9, 40.1, 1000.0])
def test_bounds_at_the_edges(family, level):
    for mean in (1e-280, 1e-9, 0.3, 0.5, 1.0 - 1e-9, 1.0):
        assert_upper(family, mean, level)
        assert_lower(family, mean, level)


@pytest.mark.parametrize("mean", [8.741846609321613e-12, 4.042352664990755e-11, 9.028896072555143e-12])
def test_upper_bounds_stay_finite_up_to_the_largest_float(mean):
    # found by random search: bounds between e^709 and the largest float came out infinite, safe but not within 1e-9
    for level in (732.3732602447749, 733.5631925073133, 734.0937539127535):
        assert_upper(Exponential(), mean, level)


@each
def test_level_zero_gives_the_mean(family):
    for mean in (0.0, 0.25, 0.5, 1.0):
        assert family.upper(mean, 0.0) == mean
        assert family.lower(mean, 0.0) == mean


@each
def test_bounds_are_monotone_and_stay_in_range(family):
    @settings(deadline=None)
    @given(means_of(family), levels, levels)
    def holds(mean, one, other):
        low, high = min(one, other), max(one, other)
        assume(low < high * (1.0 - 1e-9) and mean <= family.highest)
        assert family.upper(mean, low) <= family.upper(mean, high) + 1e-10 * abs(family.upper(mean, low))
        assert family.lower(mean, low) >= family.lower(mean, high) - 1e-10 * abs(family.lower(mean, low))
        assert mean <= family.upper(mean, low) <= family.highest
        assert mean >= family.lower(mean, low) >= family.lowest

    holds()


@each
def test_ceiling_is_at_least_the_later_bound(family):
    @settings(max_examples=300, deadline=None)
    @given(means_of(family), st.floats(1e-6, 10.0), st.one_of(st.floats(0.0, 1e-6), st.floats(0.0, 5.0)))
    def holds(mean, level, more):
        assume(mean <= family.highest)
        later = level + more
        assert family.ceiling(mean, family.upper(mean, level), level, later) >= family.upper(mean, later)

    holds()


@given(st.floats(0.0, 1.0), levels)
def test_bernoulli_bounds_mirror_each_other(mean, level):
    family = Bernoulli()
    mean = 1.0 - (1.0 - mean)  # so that the mirror image is exact
    assert family.lower(mean, level) == pytest.approx(1.0 - family.upper(1.0 - mean, level), abs=1e-14)


def test_edges_of_the_mean():
    assert Bernoulli().upper(0.0, 0.1) == pytest.approx(-math.expm1(-0.1))
    assert Bernoulli().lower(0.0, 0.1) == 0.0
    assert Bernoulli().upper(1.0, 0.1) == 1.0
    assert Poisson().upper(0.0, 0.1) == 0.1
    assert Poisson().lower(0.0, 0.1) == 0.0
    assert Poisson().upper(1e-300, 1e10) == pytest.approx(1e10)
    assert Exponential().upper(0.0, 0.1) == math.inf
    assert Exponential(7.0).upper(0.0, 0.1) == 7.0
    assert Exponential().lower(0.0, 0.1) == 0.0
    for family in UNLIMITED[1:]:
        assert family.upper(0.5, math.inf) == math.inf
        assert family.lower(0.5, math.inf) == family.lowest


@pytest.mark.parametrize("row", VECTORS["bernoulli_kl_bounds"], ids=lambda row: f"{row['p']}-{row['d']}")
def test_bernoulli_bound_vectors(row):
    family = Bernoulli()
    assert row["U"] - 1e-15 <= family.upper(row["p"], row["d"]) <= row["U"] + 1e-9
    assert row["L"] + 1e-15 >= family.lower(row["p"], row["d"]) >= row["L"] - 1e-9


@pytest.mark.parametrize("row", VECTORS["kl"], ids=lambda row: f"{row['p']}-{row['q']}")
def test_bernoulli_divergence_vectors(row):
    assert Bernoulli().divergence(row["p"], row["q"]) == pytest.approx(row["kl"], rel=1e-13)


@pytest.mark.parametrize("row", VECTORS["chernoff_bernoulli"], ids=lambda row: f"{row['x']}-{row['y']}")
def test_bernoulli_chernoff_vectors(row):
    family = Bernoulli()
    for one, other in ((row["x"], row["y"]), (row["y"], row["x"])):
        assert family.chernoff_point(one, other) == pytest.approx(row["z"], rel=1e-12)
        assert family.chernoff(one, other) == pytest.approx(row["d"], rel=1e-11)


@pytest.mark.parametrize("row", VECTORS["KT_redundancy"], ids=lambda row: f"{row['S']}-{row['N']}")
def test_bernoulli_redundancy_vectors(row):
    assert Bernoulli().redundancy(float(row["S"]), row["N"]) == pytest.approx(row["R"], abs=1e-10)


@pytest.mark.parametrize("row", VECTORS["KT_interval"], ids=lambda row: f"{row['S']}-{row['N']}")
def test_bernoulli_mixture_interval_vectors(row):
    family, pulls = Bernoulli(), row["N"]
    level = (row["x"] + family.redundancy(float(row["S"]), pulls)) / pulls
    assert family.upper(row["S"] / pulls, level) == pytest.approx(row["U"], abs=1e-9)
    assert family.lower(row["S"] / pulls, level) == pytest.approx(row["L"], abs=1e-9)


@pytest.mark.parametrize(
    ("family", "mean", "level", "upper", "lower"),
    [
        (Poisson(), 3.0, 0.1, 3.8426492350605, 2.2905854379335),
        (Poisson(), 0.0, 0.1, 0.1, 0.0),
        (Poisson(), 0.2, 0.5, 1.027268189635, 0.0062305854030616),
        (Exponential(), 2.0, 0.1, 3.2424536700636, 1.3190687815756),
        (Exponential(), 1.0, 0.5, 3.3144458236687, 0.42414636877514),
        (Gamma(4.0), 2.0, 0.4, 3.2424536700636, 1.3190687815756),
        (Gaussian(0.5), 0.5, 0.1, 0.72360679774998, 0.27639320225002),
        (Bernoulli(), 0.01, 0.5, 0.42476057142155, 7.1311598240e-25),
    ],
)
def test_bound_figures(family, mean, level, upper, lower):
    assert family.upper(mean, level) == pytest.approx(upper, abs=1e-9)
    assert family.lower(mean, level) == pytest.approx(lower, abs=1e-9)


@pytest.mark.parametrize(
    ("family", "point", "information"),
    [
        (Poisson(), 1.442695040889, 0.086071332055934),
        (Exponential(), 1.3862943611199, 0.05966010114161),
        (Gamma(3.0), 1.3862943611199, 3 * 0.05966010114161),
        (Gaussian(0.5), 1.5, 0.5),
    ],
)
def test_chernoff_figures(family, point, information):
    assert family.chernoff_point(2.0, 1.0) == pytest.approx(point, rel=1e-12)
    assert family.chernoff(2.0, 1.0) == pytest.approx(information, rel=1e-12)


@each
def test_divergence_and_chernoff_against_high_precision(family):
    @settings(deadline=None)
    @given(means_of(family), means_of(family))
    def holds(one, other):
        with mpmath.workdps(40 if not isinstance(family, Bernoulli) else 340):
            exact = exact_divergence(family, one, other)
        cancelled = 1e-13 if isinstance(family, Bernoulli) else 0.0
        assert family.divergence(one, other) == pytest.approx(float(exact), rel=1e-9, abs=cancelled)
        point = family.chernoff_point(one, other)
        slack = 1e-12 * (1.0 + max(abs(one), abs(other)))
        assert min(one, other) - slack <= point <= max(one, other) + slack
        assert family.chernoff(one, other) == pytest.approx(family.chernoff(other, one), rel=1e-9, abs=1e-13)
        if abs(one - other) > 1e-3 * max(abs(one), abs(other)) and 0.01 < point < 0.99:
            assert family.divergence(point, one) == pytest.approx(family.divergence(point, other), rel=1e-6, abs=1e-12)

    holds()


def test_chernoff_where_a_mean_is_zero():
    assert Bernoulli().chernoff(0.0, 0.4) == pytest.approx(-math.log(0.6))
    assert Bernoulli().chernoff(0.0, 1.0) == math.inf
    assert Poisson().chernoff(0.0, 2.0) == Poisson().chernoff(2.0, 0.0) == 2.0
    assert Exponential().chernoff(0.0, 2.0) == math.inf
    for family in EVERY:
        assert family.chernoff(0.0, 0.0) == family.divergence(0.0, 0.0) == 0.0


@pytest.mark.parametrize(
    "family", [Bernoulli(), Gaussian(0.5, 2.0), Poisson(2.0), Exponential(2.0), Gamma(3.0, 2.0)], ids=str
)
@pytest.mark.parametrize("epsilon", [0.002, 0.1, 0.7, 1.5])
def test_kappa_against_brute_force(family, epsilon):
    half = epsilon / 2
    grid = [*np.linspace(0.0, family.highest, 401), half, family.highest - half]
    pairs = [(x, y) for x in grid for y in (x - half, x + half) if -1e-12 <= y <= family.highest + 1e-12]
    least = min(family.divergence(x, min(max(y, 0.0), family.highest)) for x, y in pairs)
    assert family.kappa(epsilon) <= least * (1 + 1e-9)
    if not isinstance(family, Bernoulli):  # Pinsker's inequality is not tight for every gap
        assert family.kappa(epsilon) == pytest.approx(least, rel=1e-6)


def test_kappa_limits():
    assert Poisson().kappa(0.1) == Exponential().kappa(0.1) == Gamma(2.0).kappa(0.1) == 0.0
    assert Poisson(1.0).kappa(2.1) == Exponential(1.0).kappa(2.0) == math.inf
    assert Poisson(3.0).kappa(6.0) == pytest.approx(3.0)
    for family in (Poisson(1.0), Exponential(1.0)):  # the series meets the closed form
        assert family.kappa(0.0019999999) == pytest.approx(family.kappa(0.0020000001), rel=1e-6)


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


@each_unlimited
def test_samples_have_the_mean_and_variance(family):
    mean, size = 0.4, 20_000
    rng = np.random.default_rng(5)
    rewards = np.array([family.sample(mean, rng) for _ in range(size)])
    shape = getattr(family, "shape", 1.0)
    variance = {Bernoulli: 0.24, Gaussian: 0.25, Poisson: 0.4, Exponential: 0.16, Gamma: 0.16 / shape}[type(family)]
    assert abs(rewards.mean() - mean) < 5 * math.sqrt(variance / size)
    assert rewards.var() == pytest.approx(variance, rel=0.15)
    for reward in rewards[:100]:
        assert isinstance(family.sample(mean, rng), float)
        family.check(reward)
    if not isinstance(family, Gaussian):
        assert family.sample(0.0, rng) == 0.0


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
    quick(MIXED, [MIXED[0], *MIXED[2::2]]),
)
def test_mixture_covers_at_all_times_and_needs_its_redundancy(family, mean):
    level = 0.2
    crossed, paths = crossings(family, mean, math.log(1 / level), True, seed=11)
    assert crossed <= stats.binom.isf(1e-7, paths, level)
    without, paths = crossings(family, mean, math.log(1 / level), False, seed=12)
    assert without > stats.binom.isf(1e-7, paths, level)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("bernoulli", Bernoulli()),
        ("bernoulli(0.95)", Bernoulli(0.95)),
        ("gaussian(sigma=0.5)", Gaussian(0.5)),
        ("gaussian( 0.5 , highest = 2 )", Gaussian(0.5, 2.0)),
        ("poisson(highest=4)", Poisson(4.0)),
        ("exponential()", Exponential()),
        ("gamma(shape=2,highest=3)", Gamma(2.0, 3.0)),
        ("gamma(2, inf)", Gamma(2.0)),
    ],
)
def test_parse_family(text, family):
    assert parse_family(text) == family
    assert type(parse_family(text)) is type(family)
    assert all(isinstance(number, float) for number in parse_family(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "laplace",
            "family must be one of bernoulli, gaussian, poisson, exponential, gamma, "
            "pass-fail, normal, low-variance, mirrored, got 'laplace'",
        ),
        ("gamma", "family must say its shape, got 'gamma'"),
        ("gamma(highest=3)", "family must say its shape, got 'gamma(highest=3)'"),
        ("poisson(4", "family must be a name with numbers, such as gamma(shape=2,highest=3), got 'poisson(4'"),
        ("poisson(4,5)", "family must be a name with numbers, such as gamma(shape=2,highest=3), got 'poisson(4,5)'"),
        ("poisson(four)", "family must be a name with numbers, such as gamma(shape=2,highest=3), got 'poisson(four)'"),
        (
            "gamma(shape=2,3)",
            "family must be a name with numbers, such as gamma(shape=2,highest=3), got 'gamma(shape=2,3)'",
        ),
        ("gamma(2,shape=2)", "family must say its shape once, got 'gamma(2,shape=2)'"),
        ("poisson(sigma=1)", "family must have no parameters but highest, got 'poisson(sigma=1)'"),
        ("gaussian(0)", "sigma must be positive and finite, got 0.0"),
        ("gaussian(1,-inf)", "highest must be above -inf, got -inf"),
        ("gamma(inf)", "shape must be positive and finite, got inf"),
        ("gamma(1,nan)", "highest must be a real number, got nan"),
        ("poisson(0)", "highest must be positive, got 0.0"),
        ("exponential(-1)", "highest must be positive, got -1.0"),
        ("bernoulli(1.5)", "highest must lie in (0, 1], got 1.5"),
        ("bernoulli(nan)", "highest must lie in (0, 1], got nan"),
    ],
)
def test_parse_family_says_what_is_wrong(text, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        parse_family(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("family", "good", "bad", "condition"),
    [
        (Bernoulli(), [0, 0.5, 1, True], [-0.1, 1.1, math.nan, math.inf], "lie in [0, 1]"),
        (Gaussian(), [-3.0, 0, 1e300], [math.nan, math.inf, -math.inf], "be finite"),
        (Poisson(), [0, 3, 4.0], [-1, 0.5, math.nan, math.inf], "be a whole number of at least 0"),
        (Exponential(), [0.0, 1e-9, 3], [-1e-9, math.nan, math.inf], "be at least 0 and finite"),
        (Gamma(2.0), [0.0, 1e-9, 3], [-1e-9, math.nan, math.inf], "be at least 0 and finite"),
    ],
    ids=str,
)
def test_check_rewards(family, good, bad, condition):
    for reward in good:
        family.check(reward)
    for reward in bad:
        with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
            family.check(reward)
        assert str(error.value) == f"reward must {condition}, got {reward!r}"


def test_every_family_is_registered_by_its_name():
    assert {name: kind.__name__.lower() for name, kind in FAMILIES.items()} == {name: name for name in FAMILIES}
    assert {type(family) for family in EVERY} == set(FAMILIES.values())


def every_answer(family, mean, other, level, later, pulls, tilt, growth, rng, out):
    """All methods that compiled rules may call, one after the other."""
    total = mean * pulls
    gap = 0.25 * other
    bound = family.upper(mean, level)
    out[0] = family.divergence(mean, other)
    out[1] = bound
    out[2] = family.lower(mean, level)
    out[3] = family.ceiling(mean, bound, level, later)
    out[4] = family.chernoff_point(mean, other)
    out[5] = family.chernoff(mean, other)
    out[6] = family.kappa(gap)
    out[7] = family.redundancy(total, pulls)
    out[8] = family.tilted(other, total, pulls, tilt, growth)
    out[9] = family.tilted_slope(other, total, pulls, tilt, growth)
    out[10] = family.below(mean, gap)
    out[11] = family.above(mean, gap)
    out[12] = family.log_ratio(other, mean, total, pulls)
    out[13] = family.highest
    out[14] = family.lowest
    out[15] = family.below_slope(gap)
    out[16] = family.variance(mean)
    out[17] = family.spread(total, pulls)
    for index in range(18, 24):
        out[index] = family.sample(mean, rng)


@pytest.mark.parametrize("family", quick([(one,) for one in EVERY], [(Poisson(4.0),)]), ids=str)
def test_compiled_answers_equal_interpreted_ones_bit_for_bit(family):
    numba = pytest.importorskip("numba")
    from topalpha.engine import compile as compiling

    compiling._register_classes([type(family)])
    compiled = numba.njit(every_answer)
    chooser = np.random.default_rng(3)
    means = [0.0, 1.0, 0.5, 1e-9, 1e-200, *chooser.random(200)]
    for mean in means:
        for level in (0.0, 1e-300, 1e-9, 1000.0, float(chooser.exponential())):
            other = float(chooser.choice([0.0, 1.0, mean, *chooser.random(3)]))
            tilt = float(chooser.normal())
            seed, pulls = int(chooser.integers(2**31)), int(chooser.integers(1, 2000))
            arguments = (float(mean), other, level, level * 1.1, pulls, tilt, math.expm1(tilt))
            one, two = np.zeros(24), np.zeros(24)
            every_answer(family, *arguments, np.random.default_rng(seed), one)
            compiled(family, *arguments, np.random.default_rng(seed), two)
            assert one.tobytes() == two.tobytes(), (arguments, np.flatnonzero(one != two))
