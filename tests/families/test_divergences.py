"""Divergence, Chernoff information and kappa of every family: against high precision and brute force."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

from tests.support.every_family import EVERY, VECTORS, each, exact_divergence, means_of
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Poisson


@pytest.mark.parametrize("row", VECTORS["kl"], ids=lambda row: f"{row['p']}-{row['q']}")
def test_bernoulli_divergence_vectors(row):
    assert Bernoulli().divergence(row["p"], row["q"]) == pytest.approx(row["kl"], rel=1e-13)


@pytest.mark.parametrize("row", VECTORS["chernoff_bernoulli"], ids=lambda row: f"{row['x']}-{row['y']}")
def test_bernoulli_chernoff_vectors(row):
    family = Bernoulli()
    for one, other in ((row["x"], row["y"]), (row["y"], row["x"])):
        assert family.chernoff_point(one, other) == pytest.approx(row["z"], rel=1e-12)
        assert family.chernoff(one, other) == pytest.approx(row["d"], rel=1e-11)


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
