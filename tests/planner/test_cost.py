"""Expected pulls: what simulate measures, or scaled from a smaller target, within a budget."""

from __future__ import annotations

import numpy as np
import pytest

from topalpha.algorithms import design
from topalpha.families import (
    Bernoulli,
    Exponential,
    Gamma,
    Gaussian,
    LowVariance,
    Mirrored,
    Normal,
    PassFail,
    Poisson,
)
from topalpha.planner import Case, expect, references
from topalpha.reservoirs import Dirac, TwoPoint, Uniform
from topalpha.simulation import simulate

TARGET = (0.2, 0.3, 0.2)


@pytest.mark.parametrize(
    ("family", "laws"),
    [
        (Bernoulli(0.8), ["dirac(0.4)", "uniform(0,0.8)"]),
        (Gaussian(0.5), ["dirac(0)", "uniform(-0.5,0.5)"]),
        (Gaussian(0.5, 3.0), ["dirac(2.5)", "uniform(2,3)"]),
        (Poisson(4.0), ["dirac(2)", "uniform(0,4)"]),
        (Exponential(), ["dirac(3)", "uniform(0,6)"]),
        (Gamma(2.0, 3.0), ["dirac(1.5)", "uniform(0,3)"]),
        (Mirrored(Poisson()), ["dirac(-3)", "uniform(-6,0)"]),
        (Normal(), ["dirac(0)", "uniform(-1,1)"]),
        (PassFail(50), ["dirac(0.5)", "uniform(0,1)"]),
        (LowVariance(), ["dirac(0.5)", "uniform(0,1)"]),
    ],
)
def test_reference_laws_fit_the_family(family, laws):
    assert [case.law.expression for case in references(family, 0.3)] == laws


def test_what_fits_into_the_budget_is_what_simulate_measures():
    case = Case("spread", Uniform(0.0, 1.0))
    cost = expect(case, lambda a, e: design("lucb++", a, e, 0.2), 0.2, 0.3, runs=20, seed=3)
    study = simulate(design("lucb++", *TARGET), case.law, runs=20, seed=3)
    assert (cost.runs, cost.scale, cost.extrapolated) == (20, 1.0, False)
    assert cost.mean == study.pulls.mean()
    assert cost.p90 == np.quantile(study.pulls, 0.9)


def test_extrapolation_is_right_for_equal_arms_and_errs_upwards_for_others():
    make = lambda a, e: design("cc-lucb", a, e, 0.2)  # noqa: E731
    for law, least, most in ((Dirac(0.5), 0.75, 1.33), (Uniform(0.0, 1.0), 1.0, 40.0)):
        case = Case("", law)
        exact = expect(case, make, 0.2, 0.03, runs=30)
        coarse = expect(case, make, 0.2, 0.03, runs=30, budget=int(exact.mean / 2))
        assert coarse.extrapolated
        assert coarse.scale == (coarse.epsilon / 0.03) ** 2
        assert least <= coarse.mean / exact.mean <= most


def test_many_arms_are_scaled_too():
    make = lambda a, e: design("cc-lucb", a, e, 0.2)  # noqa: E731
    case = Case("", Dirac(0.5))
    exact = expect(case, make, 0.001, 0.3, runs=8, budget=3_000_000)
    coarse = expect(case, make, 0.001, 0.3, runs=8, budget=100_000)
    assert (exact.extrapolated, coarse.extrapolated, coarse.epsilon) == (False, True, 0.3)
    assert 0.8 <= coarse.mean / exact.mean <= 1.25
    assert expect(case, make, 1e-9, 0.3, runs=8, budget=100_000).scale > 1e6


def test_a_search_that_does_not_end_is_said_not_to():
    law = TwoPoint(0.5, 0.5 + 1e-9, 0.5)
    cost = expect(Case("", law), lambda a, e: design("cc-lucb", a, min(e, 1e-4), 0.2), 0.2, 1e-4, budget=1000)
    assert (cost.mean, cost.runs) == (None, 0)


def test_what_is_extrapolated_never_exceeds_a_test_set():
    make = lambda alpha, epsilon: design("cc-lucb", alpha, epsilon, 0.1, PassFail(400))  # noqa: E731
    found = expect(Case("alike", Dirac(0.5)), make, 0.2, 0.001, runs=4, budget=6_000)
    assert found.epsilon >= 0.008  # so the factor alone is 64
    assert found.extrapolated
    assert found.mean == make(0.2, 0.001).arms * 400
