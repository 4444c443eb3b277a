"""Error rates, coverage and cost on fixed seeds, judged by exact binomial tests; wrong variants must fail them.

A study passes where the exact binomial probability of as many errors, at an error rate of delta, is above 1e-6: that is
the chance of a false alarm per test, were the seeds not fixed.

The wrong variants and the lower limits on coverage were chosen after seeing which show: they guard against regressions
and prove that the tests can fail, and say nothing about how small a fault the tests would see.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from tests.support.marks import quick
from topalpha.algorithms import PRINCIPAL, design
from topalpha.families import Exponential, Gaussian, Poisson
from topalpha.reservoirs import TwoPoint, Uniform, parse
from topalpha.rules.columns import UPPER
from topalpha.rules.protocol import History
from topalpha.simulation import Count, simulate, standard_error

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-6
GUARANTEED = [entry.name for entry in PRINCIPAL if entry.guarantee == "fixed-confidence"]
NAMES = [name for name in GUARANTEED if name != "lucb++"] + ["lucb++"]
#: The algorithms that searches use unless told otherwise: in every run, the others in ``make test-slow``.
DEFAULTS = ["cc-lucb", "joint-lucb"]

#: A fraction exactly alpha of the arms is 1.02 epsilon better than the rest: the hardest place for the boundary.
HARD = TwoPoint(0.5, 0.5 + 1.02 * 0.1, 0.1)


def passes(study, delta):
    return study.errors.excess(delta) > FALSE_ALARM


def runs_for(name, runs):
    """kl-lucb needs ten times the pulls of the others."""
    return runs // 3 if name == "kl-lucb" else runs


@pytest.mark.parametrize("delta", quick([0.2, 0.05], [0.2]))
@pytest.mark.parametrize("name", quick(NAMES, DEFAULTS))
def test_the_error_is_at_most_delta_where_the_boundary_is_hardest(name, delta):
    study = simulate(design(name, 0.1, 0.1, delta), HARD, runs=runs_for(name, 600), seed=1)
    assert passes(study, delta), study.errors
    if delta == 0.2:
        assert study.errors.count > 0, "a reservoir without any error tests nothing"


TABLE = [("beta(1,1)", 0.05, 0.05, 0.1), ("beta(1,2)", 0.05, 0.091, 0.05), ("beta(1,3)", 0.1, 0.1, 0.1)]


@pytest.mark.parametrize(("law", "alpha", "epsilon", "delta"), quick(TABLE, TABLE[:1]))
@pytest.mark.parametrize("name", quick(NAMES, DEFAULTS))
def test_the_error_is_at_most_delta_on_rows_of_the_table(name, law, alpha, epsilon, delta):
    study = simulate(design(name, alpha, epsilon, delta), parse(law, at_most=0.95), runs=runs_for(name, 300), seed=2)
    assert passes(study, delta), study.errors


OTHERS = {
    "gaussian": (Gaussian(0.5), TwoPoint(0.0, 0.204, 0.1), 0.2),
    "poisson": (Poisson(3.0), TwoPoint(0.5, 0.908, 0.1), 0.4),
    "exponential": (Exponential(3.0), TwoPoint(0.5, 1.01, 0.1), 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("family", list(OTHERS))
@pytest.mark.parametrize("name", DEFAULTS)
def test_the_error_is_at_most_delta_for_other_families(name, family):
    model, reservoir, epsilon = OTHERS[family]
    study = simulate(design(name, 0.1, epsilon, 0.1, model), reservoir, runs=300, seed=3)
    assert passes(study, 0.1), study.errors


# ---- negative controls: what is wrong must fail the very same test


@pytest.mark.parametrize("name", quick(NAMES, DEFAULTS))
def test_a_design_at_the_wrong_delta_fails(name):
    assert not passes(simulate(design(name, 0.1, 0.1, 0.9), HARD, runs=200, seed=1), 0.05)


@pytest.mark.parametrize("name", quick(NAMES, DEFAULTS))
def test_a_quarter_of_the_arms_fails(name):
    algorithm = design(name, 0.1, 0.1, 0.2)
    assert not passes(simulate(algorithm._replace(arms=algorithm.arms // 4), HARD, runs=200, seed=1), 0.2)


def with_thresholds(algorithm, **thresholds):
    return algorithm._replace(confidence=algorithm.confidence._replace(**thresholds))


def test_without_the_union_bound_over_leaders_cc_lucb_fails():
    """Many arms just below the boundary, most of delta spent on lower bounds: some arm's lower bound is wrong."""
    algorithm = design("cc-lucb", 0.01, 0.3, 0.5, draw_share=0.1)
    reservoir = TwoPoint(0.3, 0.3 + 1.02 * 0.3, 0.01)
    assert passes(simulate(algorithm, reservoir, runs=200, seed=1), 0.5)
    union = math.log(algorithm.arms * (1.0 - algorithm.alpha))
    dropped = with_thresholds(algorithm, lower_threshold=algorithm.confidence.lower_threshold - union)
    assert not passes(simulate(dropped, reservoir, runs=200, seed=1), 0.5)


@pytest.mark.slow
def test_upper_bounds_at_a_lower_level_with_the_same_arms_fail():
    """delta_u = 0.95 with the number of arms that delta_u = 0.1 asks for, and nearly all of delta spent on the draw."""
    algorithm = design("cc-lucb", 0.1, 0.1, 0.2, delta_u=0.1, draw_share=0.99)
    assert passes(simulate(algorithm, HARD, runs=600, seed=1), 0.2)
    wrong = with_thresholds(algorithm, upper_threshold=math.log(1.0 / 0.95))
    assert not passes(simulate(wrong, HARD, runs=600, seed=1), 0.2)


def test_the_binomial_test_itself():
    assert Count(0, 100).excess(0.05) == pytest.approx(1.0)
    assert Count(30, 100).excess(0.05) == pytest.approx(binom.sf(29, 100, 0.05))
    assert Count(30, 100).excess(0.05) < FALSE_ALARM


# ---- coverage of the running upper bounds at their constant level


BOUNDS = {
    "tilt": ("cc-lucb", {}, UPPER),
    "kt": ("cc-lucb", {"bounds": "kt"}, UPPER),
    "gap": ("joint-lucb", {}, UPPER),
}


def violations(algorithm, column, mean, paths=800, length=300):
    """On how many paths the upper bound of an arm of this mean was ever below it."""
    rng = np.random.default_rng(4)
    below = 0
    for _ in range(paths):
        pulls, stats = [0], [[0.0] for _ in range(algorithm.traits.columns)]
        state, memory = [0.0] * algorithm.traits.numbers, algorithm.scratch(1)
        for t in range(1, length + 1):
            reward = algorithm.family.sample(mean, rng)
            algorithm.observe(History(t, 1, pulls, stats, state), memory, 0, reward)
            if stats[column][0] < mean:
                below += 1
                break
    return below, paths


@pytest.mark.parametrize("mean", quick([0.1, 0.5, 0.9], [0.5]))
@pytest.mark.parametrize("bound", quick(BOUNDS, ["gap"]))
def test_running_upper_bounds_fail_no_more_often_than_their_level(bound, mean):
    name, options, column = BOUNDS[bound]
    algorithm = design(name, 0.1, 0.1, 0.1, **options)
    level = math.exp(algorithm.log_delta_u) if name == "joint-lucb" else algorithm.upper_level
    below, paths = violations(algorithm, column, mean)
    assert binom.sf(below - 1, paths, level) > FALSE_ALARM, f"{below} of {paths} at level {level}"
    # A bound that is too wide costs pulls and no errors: mixtures spend a good part of their level.
    least = {"tilt": 0.45, "kt": 0.05, "gap": 0.6}[bound]
    assert below > least * level * paths, f"{below} of {paths} at level {level}"


@pytest.mark.parametrize("bound", quick(["tilt", "gap"], ["gap"]))
def test_the_coverage_test_sees_a_bound_that_is_too_narrow(bound):
    name, options, column = BOUNDS[bound]
    algorithm = design(name, 0.1, 0.1, 0.1, **options)
    level = 0.5 * (math.exp(algorithm.log_delta_u) if name == "joint-lucb" else algorithm.upper_level)
    below, paths = violations(algorithm, column, 0.5)
    assert binom.sf(below - 1, paths, level) < FALSE_ALARM


# ---- cost: bugs on the safe side make no errors, they cost pulls


@pytest.mark.parametrize(
    ("name", "least", "most"), [("lucb++", 4500, 6500), ("cc-lucb", 2300, 2900), ("joint-lucb", 1400, 1950)]
)
def test_the_mean_number_of_pulls_is_what_it_should_be(name, least, most):
    study = simulate(design(name, 0.05, 0.05, 0.05), parse("beta(1,1)", at_most=0.95), runs=300, seed=5)
    assert least < study.pulls.mean() < most, f"{study.pulls.mean()} +- {standard_error(study.pulls)}"
    assert study.errors.count <= 3


@pytest.mark.slow
def test_the_paper_needs_far_more_pulls():
    reservoir = parse("beta(1,1)", at_most=0.95)
    pulls = {name: simulate(design(name, 0.05, 0.05, 0.05), reservoir, runs=150, seed=5).pulls.mean() for name in NAMES}
    assert abs(pulls["kl-lucb"] - 12486) < 4 * 1.3 * 475
    assert pulls["kl-lucb"] > 4.0 * pulls["cc-lucb"] > 4.0 * 1.2 * pulls["joint-lucb"]


def test_an_easy_reservoir_is_quick():
    study = simulate(design("joint-lucb", 0.1, 0.3, 0.1), Uniform(0.0, 1.0), runs=100, seed=6)
    assert study.pulls.mean() < 400
    assert study.errors.count == 0
