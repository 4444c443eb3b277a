"""Families with the sign reversed: the reflection of the inner family, and its evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.feeding import blank, feed
from topalpha.arithmetic import expm1
from topalpha.confidence import evidence_for
from topalpha.confidence.tilt import tilt_bound, tilt_grid
from topalpha.families import (
    Exponential,
    Gamma,
    Mirrored,
    Poisson,
)
from topalpha.rules.columns import (
    AFTER,
    UPPER,
)
from topalpha.testing import check_family

INNER = [Poisson(), Poisson(4.0), Exponential(), Gamma(2.5, 6.0)]


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_mirrored_families_fit_together(inner):
    check_family(Mirrored(inner), (-0.5, -2.0, -3.5))


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_mirrored_is_the_reflection(inner):
    family = Mirrored(inner)
    zero = str(family.highest), str(family.lowest)
    assert zero == ("0.0", str(-inner.highest))
    spots = st.floats(0.01, 3.9)

    @settings(max_examples=60, deadline=None)
    @given(spots, spots, st.floats(0.001, 5.0), st.integers(1, 300), st.floats(-5.0, 5.0).filter(bool))
    def holds(one, other, level, pulls, tilt):
        total = other * pulls
        assert family.upper(-one, level) == -inner.lower(one, level)
        assert family.lower(-one, level) == -inner.upper(one, level)
        assert family.divergence(-one, -other) == inner.divergence(one, other)
        assert family.chernoff_point(-one, -other) == -inner.chernoff_point(one, other)
        assert family.log_ratio(-one, -other, -total, pulls) == inner.log_ratio(one, other, total, pulls)
        assert family.redundancy(-total, pulls) == inner.redundancy(total, pulls)
        assert family.below(-one, level) == -inner.above(one, level)
        assert family.above(-one, level) == -inner.below(one, level)
        growth, opposite = expm1(tilt), expm1(-tilt)
        assert family.tilted(-one, -total, pulls, tilt, growth) == inner.tilted(one, total, pulls, -tilt, opposite)

    holds()
    for start, side in ((family.highest, -1), (family.lowest, 1)):
        ours = tilt_bound(family, -70.0, 60, 2.0, *tilt_grid(family, 0.1, side), start)
        theirs = tilt_bound(inner, 70.0, 60, 2.0, *tilt_grid(inner, 0.1, -side), 0.0 - start)
        assert ours == pytest.approx(-theirs, abs=1e-9)
    slope = (family.below(-1.0, 0.5) - family.below(-2.0, 0.5)) / 1.0
    assert family.below_slope(0.5) == pytest.approx(slope)


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_mirrored_evidence_is_monotone(inner):
    evidence, rng = evidence_for(Mirrored(inner), 0.2, 0.5), np.random.default_rng(4)
    history, lookup = blank(AFTER), evidence.tables()
    for place in range(60):
        feed(evidence, history, lookup, -inner.sample(1.5, rng))
        if place == 20:
            evidence.enroll(history, 0)
    grid = np.linspace(-4.0, -0.05, 80)
    below = [evidence.evidence_below(history, lookup, 0, float(x)) for x in grid]
    above = [evidence.evidence_above(history, lookup, 0, float(x)) for x in grid]
    assert np.all(np.diff(below) >= -1e-9)
    assert np.all(np.diff(above) <= 1e-9)
    assert evidence.evidence_below(history, lookup, 0, 0.0) == math.inf
    crossed = grid[np.argmax(np.array(below) >= 0.5)]  # the running bound, which may have been lower before
    assert -4.0 < history.stats[UPPER][0] <= crossed + 1e-9
