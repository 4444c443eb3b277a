"""Evidence for pairs: against a plain product, monotone in the margin, exact at the end, and rarely wrong."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.feeding import too_many
from topalpha.confidence import pairs
from topalpha.confidence.pairs import bet, growth, largest_wealth, least_margin

differences = st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=30)


def plain_wealth(found, target, margin, items):
    """The wealth after each difference, written again with arrays."""
    found = np.asarray(found)
    before = np.concatenate([[0.0], np.cumsum(found)[:-1]])
    squares = np.concatenate([[0.0], np.cumsum(found**2)[:-1]])
    seen = np.arange(len(found))
    mean, variance = before / (seen + 1), (squares + 0.25) / (seen + 1)
    gap = np.minimum((items * target - before) / (items - seen), 1.0) - mean
    gap = np.maximum.reduce([gap, np.full(len(found), abs(target) / 2), np.full(len(found), 1 / items)])
    left = (items * margin - before) / (items - seen)
    size = gap / (variance + gap**2)
    size = np.where(left < 1.0, np.minimum(size, 0.9 / np.maximum(1.0 - left, 1e-300)), size)
    factors = np.where(left > 1.0 + 1e-9, np.inf, 1.0 + size * (left - found))
    return np.cumprod(factors)


@settings(max_examples=200, deadline=None)
@given(differences, st.integers(1, 20), st.floats(0.01, 0.5), st.floats(-0.9, 0.9))
def test_the_wealth_is_the_product(found, more, target, margin):
    items = len(found) + more
    largest = max(1.0, plain_wealth(found, target, margin, items).max())
    assert largest_wealth(found, {target: 1.0}, margin, items) == pytest.approx(largest, rel=1e-9)


@settings(max_examples=200, deadline=None)
@given(differences, st.integers(0, 20), st.floats(0.01, 0.5), st.floats(-0.9, 0.9), st.floats(0.0, 0.5))
def test_the_wealth_increases_with_the_margin(found, more, target, margin, rise):
    items = len(found) + more
    wealth = largest_wealth(found, {target: 1.0}, margin, items)
    assert largest_wealth(found, {target: 1.0}, margin + rise, items) >= wealth * (1.0 - 1e-9)


@settings(max_examples=100, deadline=None)
@given(st.floats(-1.0, 1.0), st.integers(0, 50), st.floats(0.0, 60.0), st.floats(0.001, 0.9))
def test_a_bet_cannot_lose_everything(mean, seen, squares, margin):
    size = bet(margin, mean * seen, squares, seen, 51)
    assert size > 0.0
    assert growth(size, margin, mean * seen, seen, 51, 1.0) >= 0.0999


def test_the_margin_is_known_at_the_end():
    rng = np.random.default_rng(0)
    found = rng.random(40) - 0.6
    assert least_margin(found.tolist(), {0.05: 1.0}, 1e9, 40) == pytest.approx(found.mean(), abs=2e-6)
    ruled_out = (found[:5].sum() + 35) / 40
    assert ruled_out < least_margin(found[:5].tolist(), {0.05: 1.0}, 1e9, 40) < ruled_out + 0.03
    low, high = (least_margin(found[:30].tolist(), {0.05: 1.0}, needed, 40) for needed in (20.0, 2000.0))
    assert found.mean() < low < high < 1.0


def crossings(found, needed, runs, seed=0):
    """In how many random orders the wealth against the true margin reaches ``needed``."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(runs):
        shuffled = rng.permutation(found).tolist()[:-1]
        count += largest_wealth(shuffled, {0.05: 1.0}, float(np.mean(found)), len(found)) >= needed
    return count


HARD = {
    "rare losses": np.array([1.0] * 3 + [0.0] * 57),
    "even": np.array([1.0, -1.0] * 30),
    "small": np.linspace(-0.2, 0.25, 60),
}


@pytest.mark.statistical
@pytest.mark.parametrize("found", HARD.values(), ids=HARD)
def test_the_true_margin_is_rarely_rejected(found):
    count = crossings(found, 5.0, 1500)
    assert not too_many(count, 1500, 0.2)
    assert count > 0, "the test sees the tail"


@pytest.mark.statistical
def test_negative_control_a_bet_on_the_item_itself(monkeypatch):
    def peeking(size, margin, total, seen, items, difference):
        return growth(size if difference < 0.0 else 0.1 * size, margin, total, seen, items, difference)

    monkeypatch.setattr(pairs, "growth", peeking)
    assert too_many(crossings(HARD["even"], 5.0, 500), 500, 0.2)


@pytest.mark.statistical
def test_negative_control_an_interval_for_a_fixed_number_of_items_looked_at_all_the_time():
    rng, wrong, found = np.random.default_rng(0), 0, HARD["even"]
    for _ in range(500):
        shuffled = rng.permutation(found)
        seen = np.arange(1, 60)
        error = np.sqrt(np.maximum(1.0 - seen / 60, 0.0) / seen)
        wrong += bool((np.cumsum(shuffled)[:-1] / seen < -0.84 * error).any())
    assert too_many(wrong, 500, 0.2)


def test_an_impossible_margin_is_rejected_at_once():
    assert largest_wealth([-1.0] * 6, {0.5: 1.0}, 0.5, 10) == math.inf
    assert largest_wealth([-1.0] * 2, {0.5: 1.0}, 0.5, 10) < math.inf
