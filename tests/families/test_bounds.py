"""Confidence bounds of every family: against high precision, at the edges, monotone and in range."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.every_family import UNLIMITED, VECTORS, each, each_unlimited, exact_divergence, levels, means_of
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Poisson


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
