"""Binomial and hypergeometric chances, against SciPy and by counting."""

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from topalpha.former_rules import chances_by_scipy
from topalpha.theory import chances

CHANCES = st.floats(1e-4, 1.0 - 1e-4)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 60), st.integers(1, 3000), CHANCES)
def test_binomial_tails(rank, number, chance):
    true = stats.binom.cdf(rank - 1, number, chance)
    assert chances.binomial_below(rank, number, chance) == pytest.approx(true, rel=1e-9, abs=1e-100)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(0, 400), st.floats(1e-8, 0.5))
def test_the_least_chance_keeps_the_level_and_is_the_least(rank, more, level):
    number = rank + more
    found = chances.least_chance(rank, number, level)
    assert found == pytest.approx(chances_by_scipy.least_chance(rank, number, level), rel=1e-9)
    assert chances.binomial_below(rank, number, found) <= level
    assert chances.binomial_below(rank, number, found * (1.0 - 3e-13)) > level


@st.composite
def pools(draw):
    pool = draw(st.integers(1, 500))
    return pool, draw(st.integers(1, pool)), draw(st.integers(1, pool))


@settings(max_examples=300, deadline=None)
@given(pools(), CHANCES)
def test_lists(sizes, chance):
    pool, top, drawn = sizes
    ours, theirs = (one.hypergeometric_log_mean(pool, top, drawn, chance) for one in (chances, chances_by_scipy))
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@settings(max_examples=300, deadline=None)
@given(pools(), CHANCES, st.integers(1, 30))
def test_valid_candidates_of_lists(sizes, chance, rank):
    pool, top, drawn = sizes
    ours, theirs = (one.valid_below(rank, pool, top, drawn, chance) for one in (chances, chances_by_scipy))
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-200)


def test_by_counting():
    assert chances.valid_below(2, 5, 2, 3, 0.5) == pytest.approx(
        sum(
            math.comb(2, j)
            * math.comb(3, 3 - j)
            / math.comb(5, 3)
            * sum(math.comb(j, i) * 0.5**j for i in range(min(j, 1) + 1))
            for j in range(3)
        )
    )
    mean = sum(math.comb(2, j) * math.comb(3, 3 - j) / math.comb(5, 3) * 0.3**j for j in range(3))
    assert chances.hypergeometric_log_mean(5, 2, 3, 0.3) == pytest.approx(math.log(mean))


def test_large_ones_neither_overflow_nor_vanish():
    assert 0.0 < chances.binomial_below(3, 10**7, 1e-6) < 1.0
    assert chances.binomial_below(5000, 10**6, 0.5) < 1e-200
    assert chances.binomial_below(900_000, 10**6, 0.5) == pytest.approx(1.0)
    assert chances.hypergeometric_log_mean(10**5, 10**4, 5 * 10**4, 0.2) < -1000.0


def test_small_chances_of_lists_keep_their_digits():
    for given_ones in ((5, 1000, 40, 1000, 0.8), (20, 5000, 60, 5000, 0.8), (1076, 3000, 2600, 2600, 0.5)):
        assert chances.valid_below(*given_ones) == pytest.approx(chances_by_scipy.valid_below(*given_ones), rel=1e-9)


@given(st.floats(1e-200, 0.5), st.integers(1, 500))
def test_a_root_is_rounded_down(level, top):
    assert mpmath.mpf(chances.root_below(level, top)) ** top <= level
    assert chances.root_below(level, top) == pytest.approx(level ** (1.0 / top), rel=1e-11)
