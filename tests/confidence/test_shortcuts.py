"""Where something quicker decides than working a bound out as it is defined: the answer is the same."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topalpha.algorithms import design
from topalpha.confidence import gap, tilt
from topalpha.confidence.tilt import log_mixture_value, tilt_bound, tilt_grid
from topalpha.families import parse_family
from topalpha.former_rules import c_library
from topalpha.rules.columns import LOWER, UPPER
from topalpha.rules.protocol import SUM, History

FAMILIES = ("bernoulli", "poisson", "gaussian(1)", "exponential", "gamma(2)")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_target_is_reached_exactly_where_the_mixture_says(family):
    bounds = design("cc-lucb", 0.1, 0.1, 0.1, parse_family(family)).confidence
    tables = bounds.tables()

    @settings(max_examples=400, deadline=None)
    @given(st.integers(1, 500), st.floats(0.05, 0.95), st.floats(0.01, 0.999))
    def holds(pulls, mean, share):
        target = mean * share
        total = mean * pulls
        stats = [[total], [0.0], [0.0]]
        stats[UPPER], stats[LOWER] = [bounds.family.highest], [bounds.family.lowest]
        found = bounds.reaches(History(pulls, 1, [pulls], stats, []), tables, 0, target)
        up, growths, weights = tables.up_tilts, tables.up_growths, tables.log_weights
        evidence = log_mixture_value(bounds.family, target, total, pulls, up, growths, weights)
        assert found == (evidence >= bounds.lower_threshold)
        # Close to the threshold the bound itself must be kept, which never is above what it bounds.
        close = bounds.lower_threshold - 1.0 < evidence < bounds.lower_threshold
        assert (stats[LOWER][0] > bounds.family.lowest) or not close
        assert stats[SUM][0] == total

    holds()


@pytest.mark.parametrize("family", FAMILIES)
def test_lucb_pp_stops_exactly_where_the_lower_bound_says(family):
    algorithm = design("lucb++", 0.1, 0.1, 0.1, parse_family(family))

    @settings(max_examples=400, deadline=None)
    @given(st.integers(1, 500), st.floats(0.05, 0.95), st.floats(0.01, 0.999))
    def holds(pulls, mean, share):
        target = mean * share
        history = History(2 * pulls, 2, [pulls, pulls], [[mean * pulls, 0.0]], [])
        memory = algorithm.scratch(2)
        memory.values[0], memory.uppers[1] = mean, target + algorithm.epsilon
        target = memory.uppers[1] - algorithm.epsilon
        evidence = pulls * algorithm.family.divergence(mean, target)
        wanted = algorithm.lower_threshold + algorithm.family.redundancy(mean * pulls, pulls)
        assert algorithm.stopping(history, memory, (0, 1)) == (target <= mean and evidence >= wanted)

    holds()


def bounds_of(name, family, rewards):
    """The running upper bounds of an arm after each of these rewards, and how many evaluations they took."""
    algorithm = design(name, 0.1, 0.1, 0.1, parse_family(family))
    history = History(0, 1, [0], [[0.0] for _ in range(algorithm.traits.columns)], [])
    part = algorithm.confidence if name == "cc-lucb" else algorithm.evidence
    tables, found = part.tables(), []
    for place, reward in enumerate(rewards):
        history.pulls[0] = place + 1
        history.stats[SUM][0] += reward
        part.fold(history, tables, 0, reward)
        found.append(history.stats[UPPER][0])
    return found


@pytest.mark.parametrize("name", ["cc-lucb", "joint-lucb"])
@pytest.mark.parametrize("family", FAMILIES)
def test_steps_by_a_cubic_end_where_newton_s_do_and_sooner(name, family, monkeypatch):
    rng = random.Random(f"{name} {family}")
    draws = [[rng.random() * rng.choice((0.2, 1.0, 3.0)) for _ in range(60)] for _ in range(20)]
    if family == "bernoulli":
        draws = [[min(reward, 1.0) for reward in rewards] for rewards in draws]
    if family == "poisson":
        draws = [[float(round(reward)) for reward in rewards] for rewards in draws]
    module, function = (tilt, "log_mixture") if name == "cc-lucb" else (gap, "log_below")
    evaluate, count = getattr(module, function), [0]

    def counted(*arguments):
        count[0] += 1
        return evaluate(*arguments)

    monkeypatch.setattr(module, function, counted)
    curved = [bounds_of(name, family, rewards) for rewards in draws]
    few, count[0] = count[0], 0
    monkeypatch.setattr(module, "step_to_root", c_library.step_to_root)
    assert [bounds_of(name, family, rewards) for rewards in draws] == curved
    assert few < 0.95 * count[0]


def test_a_mixture_that_rejects_no_mean_says_so_at_once(monkeypatch):
    """After one small exponential reward no mean is too large for the data: doubling would look at a thousand."""
    looks = []

    def counted(*arguments):
        looks.append(arguments[1])
        return log_mixture_value(*arguments)

    monkeypatch.setattr(tilt, "log_mixture_value", counted)
    family = parse_family("exponential")
    grid = tilt_grid(family, 0.1, -1)
    assert tilt_bound(family, 0.5, 1, 5.0, *grid, math.inf) == math.inf
    assert len(looks) == 1
    assert tilt_bound(family, 0.5 * 40, 40, 5.0, *grid, math.inf) < 2.0
    assert 2 < len(looks) < 10
