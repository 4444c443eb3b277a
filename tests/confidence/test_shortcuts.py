"""Where a bound is not worked out because something quicker decides: the answer is the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topalpha.algorithms import design
from topalpha.confidence.tilt import log_mixture_value
from topalpha.families import parse_family
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
