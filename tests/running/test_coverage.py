"""Errors in the driver stay within delta, for every reward model, and only because rewards count in issue order."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from scipy.stats import binom

from tests.support.marks import quick
from topalpha import Search, design, search
from topalpha.research.audit.trials import Durations, FinishingOrder
from topalpha.reservoirs import TwoPoint

FALSE_ALARM = 1e-6
DELTA = 0.2
ALPHA = 0.2

# Mass exactly alpha at the top, the rest just too low to be acceptable: no law leaves less room for error.
TOP, REST = 0.8, 0.49
EPSILON = 0.3


COSTS = {"minimise": True}


def draw_mean(rng):
    return TOP if rng.random() < ALPHA else REST


def flip(mean, rng):
    return float(rng.random() < mean)


def spread(mean, rng):
    """Small variance: the mean plus or minus a little."""
    return mean + 0.1 * (2.0 * rng.random() - 1.0)


def passed(mean, item, rng):
    """Item 0 to 39: a candidate of mean .8 passes 32 of them, one of .49 passes 19 (.475)."""
    return float(item < int(40 * mean))


#: What evaluates a candidate, the settings of the search, and the unit of its rewards.
MODELS = {
    "bernoulli": (flip, {}, 1.0),
    "range": (lambda mean, rng: 20.0 * flip(mean, rng) - 5.0, {"family": "range(-5,15)"}, 20.0),
    "costs in a range": (lambda mean, rng: 10.0 - 10.0 * flip(mean, rng), {"family": "range(0,10)", **COSTS}, 10.0),
    "low variance": (spread, {"family": "low-variance"}, 1.0),
    "gaussian": (lambda mean, rng: rng.normal(mean, 0.5), {"family": "gaussian(0.5)"}, 1.0),
    "gaussian costs": (lambda mean, rng: -rng.normal(mean, 0.5), {"family": "gaussian(0.5)", **COSTS}, 1.0),
    "normal": (lambda mean, rng: rng.normal(mean, 0.3), {"family": "normal"}, 1.0),
    "normal costs": (lambda mean, rng: -rng.normal(mean, 0.3), {"family": "normal", **COSTS}, 1.0),
    "poisson": (lambda mean, rng: rng.poisson(4.0 * mean), {"family": "poisson(4)"}, 4.0),
    "poisson costs": (lambda mean, rng: rng.poisson(4.0 - 4.0 * mean), {"family": "poisson(4)", **COSTS}, 4.0),
    "exponential": (lambda mean, rng: rng.exponential(4.0 * mean), {"family": "exponential(4)"}, 4.0),
    "exponential costs": (
        lambda mean, rng: rng.exponential(4.0 - 4.0 * mean),
        {"family": "exponential(4)", **COSTS},
        4.0,
    ),
    "items": (passed, {"items": range(40)}, 1.0),
}

#: Pulls a run, cc-lucb and joint-lucb, as measured when this was written: a bound that is needlessly wide makes no
#: errors, it costs pulls.
PULLS = {
    "bernoulli": (123, 118),
    "range": (123, 118),
    "costs in a range": (123, 118),
    "low variance": (140, 107),
    "gaussian": (216, 169),
    "gaussian costs": (216, 169),
    "normal": (265, None),
    "normal costs": (265, None),
    "poisson": (150, 129),
    "poisson costs": (65, 67),
    "exponential": (364, 286),
    "exponential costs": (82, 102),
    "items": (80, 92),
}


def errors(model, algorithm, runs):
    pull, settings, unit = MODELS[model]
    target = {"alpha": ALPHA, "epsilon": EPSILON * unit, "delta": DELTA, "algorithm": algorithm}
    wrong = pulls = 0
    for seed in range(runs):
        found = search(draw_mean, pull, seed=seed, progress="none", **target, **settings)
        assert found.stopped
        wrong += found.candidate < TOP
        pulls += found.pulls
    return wrong, pulls / runs


def check(model, algorithm, runs):
    wrong, pulls = errors(model, algorithm, runs)
    assert binom.sf(wrong - 1, runs, DELTA) > FALSE_ALARM, f"{wrong} of {runs}"
    measured = PULLS[model][algorithm == "joint-lucb"]
    assert pulls == pytest.approx(measured, rel=0.25)


PAIRS = [
    (model, algorithm)
    for model in MODELS
    for algorithm in ("cc-lucb", "joint-lucb")
    if PULLS[model][algorithm == "joint-lucb"] is not None
]


#: One pair for each kind of bound, with costs for half of them; the others have hundreds of runs in ``make test-slow``.
CHOSEN = [
    ("low variance", "cc-lucb"),
    ("poisson costs", "cc-lucb"),
    ("items", "joint-lucb"),
]


@pytest.mark.statistical
@pytest.mark.parametrize(("model", "algorithm"), CHOSEN)
def test_every_reward_model_errs_no_more_often_than_delta(model, algorithm):
    check(model, algorithm, 60)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("model", "algorithm"), PAIRS)
def test_every_reward_model_errs_no_more_often_than_delta_in_many_runs(model, algorithm):
    check(model, algorithm, 600)


def test_normal_rewards_are_not_for_joint_lucb():
    with pytest.raises(ValueError, match="use cc-lucb"):
        errors("normal", "joint-lucb", 1)


@pytest.mark.statistical
def test_a_reward_model_at_the_wrong_delta_is_found_out():
    """The same runs, designed for an error probability of .95."""
    wrong = 0
    for seed in range(60):
        found = search(
            draw_mean, flip, alpha=ALPHA, epsilon=EPSILON, delta=0.95, algorithm="cc-lucb", seed=seed, progress="none"
        )
        wrong += found.candidate < TOP
    assert binom.sf(wrong - 1, 60, DELTA) < FALSE_ALARM, f"{wrong} of 60"


# ---- results in the order in which they finish


# Most pulls of a bad arm succeed, too: seen without its failures it looks perfect.
FAST = TwoPoint(0.68, 0.99, ALPHA)
# Small, so that errors far beyond it show in few searches.
RACE_DELTA = 0.02
RACES = 30


def race(name, seed, finishing):
    """Parallel pulls whose duration depends on the outcome: a failure takes much longer than a success."""
    algorithm = design(name, ALPHA, EPSILON, RACE_DELTA)
    return Durations(finishing=finishing).run(algorithm, FAST, seed=seed).wrong


@pytest.mark.statistical
@pytest.mark.parametrize("name", quick(["cc-lucb", "joint-lucb"], ["cc-lucb"]))
def test_outcomes_that_decide_durations_do_no_harm_in_issue_order(name):
    wrong = sum(race(name, seed, finishing=False) for seed in range(RACES))
    assert binom.sf(wrong - 1, RACES, RACE_DELTA) > FALSE_ALARM, f"{wrong} of {RACES}"


@pytest.mark.statistical
@pytest.mark.parametrize("name", quick(["cc-lucb", "joint-lucb"], ["cc-lucb"]))
def test_in_finishing_order_the_same_searches_err_far_too_often(name):
    wrong = sum(race(name, seed, finishing=True) for seed in range(RACES))
    assert binom.sf(wrong - 1, RACES, RACE_DELTA) < FALSE_ALARM, f"{wrong} of {RACES}"


def test_the_switched_off_rule_differs_in_nothing_else():
    """Told in the order asked, both count the same."""
    one, other = (
        Search(design("cc-lucb", ALPHA, EPSILON, DELTA)),
        FinishingOrder(design("cc-lucb", ALPHA, EPSILON, DELTA)),
    )
    rng = np.random.default_rng(0)
    while (pull := one.ask()) is not None:
        assert other.ask() == pull
        reward = flip(0.7 if pull.arm == 3 else 0.2, rng)
        one.tell(pull, reward)
        other.tell(pull, reward)
    assert other.ask() is None
    assert one.history == other.history
    assert not any(isnan(total) for total in one.history.stats[0])
