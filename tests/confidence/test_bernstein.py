"""Rewards in [0, 1] of small variance: bounds against bisection, evidence, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from tests.support.feeding import blank, crossings, feed, too_many
from topalpha.confidence import bounds_for, evidence_for
from topalpha.confidence.bernstein import bet_grid
from topalpha.confidence.tilt import tilt_bound, tilt_grid
from topalpha.families import (
    Bernoulli,
    LowVariance,
)
from topalpha.rules.columns import (
    AFTER,
    EXTRA,
    LOWER,
    PULLS_THEN,
    SUM_THEN,
    UPPER,
)

# Rewards in [0, 1] of small variance.


def plain_sums(rewards, epsilon):
    """Bets, gains and costs for each gap, written again with arrays."""
    rewards = np.asarray(rewards)
    count = np.arange(1, len(rewards) + 1)
    totals = np.concatenate([[0.0], np.cumsum(rewards)])
    guesses = (0.5 + totals[:-1]) / count
    after = (0.5 + totals[1:]) / (count + 1)
    squares = np.concatenate([[0.0], np.cumsum((rewards - after) ** 2)])
    variances = (0.25 + squares[:-1]) / count
    bets = np.array([np.minimum(gap / (variances + gap), 0.75) for gap in bet_grid(epsilon)])
    costs = (rewards - guesses) ** 2 * (-np.log1p(-bets) - bets)
    return bets.sum(axis=1), (bets * rewards).sum(axis=1), costs.sum(axis=1)


unit_rewards = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60)


@settings(max_examples=80, deadline=None)
@given(unit_rewards, st.sampled_from([0.01, 0.1, 0.7]), st.floats(0.05, 9.0))
def test_bernstein_bounds_against_bisection(rewards, epsilon, threshold):
    model = bounds_for(LowVariance(), "tilt", epsilon, threshold, threshold)
    history, lookup = blank(EXTRA + model.extra), model.tables()
    upper = 1.0
    for place, reward in enumerate(rewards):
        feed(model, history, lookup, reward)
        bets, gains, costs = plain_sums(rewards[: place + 1], epsilon)

        def against(x, sign, bets=bets, gains=gains, costs=costs):
            return special.logsumexp(sign * (x * bets - gains) - costs) - math.log(4.0)

        def root(low, high, sign, against=against):
            for _ in range(60):
                middle = 0.5 * (low + high)
                inside = against(middle, sign) < threshold
                low, high = (middle, high) if inside == (sign > 0) else (low, middle)
            return 0.5 * (low + high)

        if against(1.0, 1.0) >= threshold:
            upper = min(upper, root(0.0, 1.0, 1.0))
        lower = root(0.0, 1.0, -1.0) if against(0.0, -1.0) >= threshold else 0.0
        assert upper - 1e-11 <= history.stats[UPPER][0] <= upper + 1e-9
        assert lower + 1e-11 >= model.lower_now(history, lookup, 0) >= lower - 1e-9
    assert model.reaches(history, lookup, 0, lower - 1e-6) or lower < 1e-6
    assert not model.reaches(history, lookup, 0, lower + 1e-6) or lower < history.stats[LOWER][0]


@settings(max_examples=300, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 0.999), *[st.floats(0.0, 1.0)] * 4)
def test_bernstein_factors_have_mean_at_most_one(guess, bet, one, other, share, x):
    """Two-point laws are the extreme points of laws with a given mean and range."""
    mean = share * one + (1.0 - share) * other
    cost = -math.log1p(-bet) - bet
    for sign in (1.0, -1.0):
        null = min(x, mean) if sign > 0 else max(x, mean)
        value = sum(
            weight * math.exp(sign * bet * (null - reward) - (reward - guess) ** 2 * cost)
            for reward, weight in ((one, share), (other, 1.0 - share))
        )
        assert value <= 1.0 + 1e-12


@settings(max_examples=80, deadline=None)
@given(unit_rewards, st.integers(0, 60), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_bernstein_evidence_is_monotone_and_starts_at_registration(rewards, enrolled, one, other):
    evidence = evidence_for(LowVariance(), 0.1, 0.5)
    history, lookup = blank(AFTER + evidence.extra), evidence.tables()
    for place, reward in enumerate(rewards):
        feed(evidence, history, lookup, reward)
        if place == enrolled:
            evidence.enroll(history, 0)
            assert evidence.evidence_above(history, lookup, 0, one) == pytest.approx(0.0, abs=1e-12)
    low, high = sorted((one, other))
    assert evidence.evidence_below(history, lookup, 0, low) <= evidence.evidence_below(history, lookup, 0, high) + 1e-12
    assert evidence.evidence_above(history, lookup, 0, low) >= evidence.evidence_above(history, lookup, 0, high) - 1e-12
    bets, gains, costs = plain_sums(rewards, 0.1)
    whole = special.logsumexp(one * bets - gains - costs) - math.log(4.0)
    assert evidence.evidence_below(history, lookup, 0, one) == pytest.approx(whole, abs=1e-9)
    if enrolled < len(rewards):
        before = plain_sums(rewards[: enrolled + 1], 0.1)
        bets, gains, costs = (now - then for now, then in zip((bets, gains, costs), before, strict=True))
        since = special.logsumexp(gains - one * bets - costs) - math.log(4.0)
        assert evidence.evidence_above(history, lookup, 0, one) == pytest.approx(since, abs=1e-9)
        assert history.stats[PULLS_THEN][0] == enrolled + 1
        assert history.stats[SUM_THEN][0] == pytest.approx(sum(rewards[: enrolled + 1]))
    assert evidence.noise(history, 0) > 0.0


@pytest.mark.statistical
@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_bernstein_bounds_cover(rate):
    level = 0.3

    def draw(rng, pulls):
        return rng.random(pulls) < rate

    def spoil(history):  # forget what deviations cost
        for column in range(3, 13, 3):
            history.stats[EXTRA + column][0] = 0.0

    bounds = bounds_for(LowVariance(), "tilt", 0.1, -math.log(level), -math.log(level))
    events = crossings(bounds, draw, rate, 150, 300, 9)
    assert not any(too_many(event, 150, level) for event in events)
    assert too_many(crossings(bounds, draw, rate, 150, 300, 9, spoil)[0], 150, level)


def test_bernstein_bounds_are_narrow_where_the_variance_is_small():
    model, rng = bounds_for(LowVariance(), "tilt", 0.05, 0.8, 7.0), np.random.default_rng(2)
    history, lookup = blank(EXTRA + model.extra), model.tables()
    rewards = rng.uniform(0.45, 0.55, 300)
    for reward in rewards:
        feed(model, history, lookup, float(reward))
    plain = tilt_bound(Bernoulli(), float(rewards.sum()), 300, 0.8, *tilt_grid(Bernoulli(), 0.05, -1), 1.0)
    assert history.stats[UPPER][0] - rewards.mean() < 0.006
    assert plain - rewards.mean() > 0.05
    assert rewards.mean() - model.lower_now(history, lookup, 0) < 0.034
