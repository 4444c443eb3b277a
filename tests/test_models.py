"""Reward models beyond one-parameter families: bounds, evidence, coverage, and what a person says about rewards."""

from __future__ import annotations

import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from topalpha import Search, design
from topalpha.bounds import tilt_bound, tilt_grid
from topalpha.confidence import bounds_for, evidence_for
from topalpha.confidence.base import (
    AFTER,
    EXTRA,
    LOWER,
    PULLS_THEN,
    SUM_THEN,
    UPPER,
    ConfidenceBounds,
    JointEvidence,
)
from topalpha.confidence.bernstein import bet_grid
from topalpha.confidence.shifts import first_at_least, log_factorials, log_shifts, shift_grid, shift_upper
from topalpha.confidence.student import log_student_mixture, student_reach
from topalpha.confidence.student_law import student_cdf, student_density
from topalpha.core import SUM, History
from topalpha.engine.compile import compiled, parameter_classes
from topalpha.engine.run import _arrays
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
    checked,
    checked_model,
    describe,
    parse_family,
)
from topalpha.models import reward_model
from topalpha.rewards import EvidenceFamily, RewardFamily, RewardModel
from topalpha.testing import check_family

NEW = [PassFail(40), Normal(), LowVariance(), Mirrored(Poisson(3.0))]
INNER = [Poisson(), Poisson(4.0), Exponential(), Gamma(2.5, 6.0)]


def blank(columns: int) -> History:
    return History(0, 1, [0], [[0.0] for _ in range(columns)], [0.0], [0], 0)


def feed(model, history, lookup, reward):
    history.pulls[0] += 1
    history.stats[SUM][0] += reward
    model.fold(history, lookup, 0, reward)


def too_many(events, trials, level):
    """Whether so many events are too many for the level, at a false-alarm probability of 1e-6."""
    return events > stats.binom.isf(1e-6, trials, level)


# Pass or fail on finitely many items.


def exact_mixture(items, shifts, weights, passes, pulls, count):
    """The shift mixture in whole numbers, from hypergeometric path probabilities."""

    def path(score):  # the probability of one given order of passes and failures, times a constant
        if not passes <= score <= items - (pulls - passes):
            return 0
        return math.comb(items - pulls, score - passes) * math.factorial(score) * math.factorial(items - score)

    alternatives = [max(count - shift, 0) for shift in shifts]
    return sum(weight * mpmath.mpf(path(other)) for weight, other in zip(weights, alternatives, strict=True)) / path(
        count
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.data())
def test_shift_mixtures_against_whole_numbers(items, data):
    pulls = data.draw(st.integers(0, items))
    passes = data.draw(st.integers(0, pulls))
    count = data.draw(st.integers(passes, items - (pulls - passes)))
    shifts, log_weights = shift_grid(items, [0.02, 0.1, 0.3, 0.5], [1.0, 2.0, 1.0, 1.0])
    value = log_shifts(log_factorials(items), shifts, log_weights, passes, pulls, 0, 0, count)
    weights = [mpmath.exp(weight) for weight in log_weights]
    exact = exact_mixture(items, shifts, weights, passes, pulls, count)
    if exact == 0:
        assert value == -math.inf
    else:
        assert float(mpmath.log(exact)) - 1e-9 <= value <= float(mpmath.log(exact))


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 400), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.01, 8.0), st.floats(0.0, 1.0))
def test_shift_bounds_against_a_scan(items, share, pass_share, threshold, start_share):
    pulls = 1 + int(share * (items - 1))
    passes = int(pass_share * pulls)
    bounds = bounds_for(PassFail(items), "tilt", 0.1, threshold, threshold)
    table, shifts, weights = bounds.tables()[:3]
    values = [log_shifts(table, shifts, weights, passes, pulls, 0, 0, count) for count in range(items + 1)]
    assert all(one <= other + 1e-9 for one, other in itertools.pairwise(values))  # a half-line
    largest = max(count for count, value in enumerate(values) if value < threshold)
    start = int(start_share * items)
    assert shift_upper(table, shifts, weights, passes, pulls, threshold, items) == largest
    assert shift_upper(table, shifts, weights, passes, pulls, threshold, start) == min(start, largest)


def test_log_factorials_are_right_to_the_last_digits():
    table = log_factorials(20_000)
    expected = special.gammaln(np.arange(20_001) + 1.0)
    assert np.max(np.abs(table - expected) / np.maximum(expected, 1.0)) < 5e-16


@given(st.integers(1, 5000), st.floats(-0.5, 1.5))
def test_first_at_least_compares_scores_as_doubles(items, x):
    count = first_at_least(x, items)
    assert count == items + 1 or count / items >= x
    assert count == 0 or (count - 1) / items < x
    for whole in (0, items // 3, items):
        assert first_at_least(whole / items, items) == whole


@pytest.mark.parametrize(
    ("rate", "pulls", "width"), [(0.5, 250, 0.055), (0.5, 50, 0.127), (0.9, 250, 0.032), (0.02, 250, 0.026)]
)
def test_bounds_without_replacement_are_not_wide(rate, pulls, width):
    bounds = bounds_for(PassFail(1000), "tilt", 0.05, -math.log(0.4), 1.0)
    count = shift_upper(*bounds.tables()[:3], round(rate * pulls), pulls, bounds.upper_threshold, 1000)
    assert 0.9 * width <= count / 1000 - rate <= width


@pytest.mark.parametrize("items", [1, 2, 30])
def test_after_the_last_item_the_score_is_known(items):
    rng = np.random.default_rng(items)
    bounds = bounds_for(PassFail(items), "tilt", 0.1, 0.8, 9.0)
    for passes in range(items + 1):
        history, lookup = blank(3), bounds.tables()
        for reward in rng.permutation([1.0] * passes + [0.0] * (items - passes)):
            feed(bounds, history, lookup, float(reward))
        assert history.stats[UPPER][0] == bounds.lower_now(history, lookup, 0) == passes / items
        assert bounds.reaches(history, lookup, 0, passes / items)
        assert not bounds.reaches(history, lookup, 0, math.nextafter(passes / items, 2.0))


def violation(items, score, threshold):
    """The exact probability that a running bound ever passes the score, by dynamic programming: upper and lower."""
    bounds = bounds_for(PassFail(items), "tilt", 0.2, threshold, threshold)
    lookup = bounds.tables()
    states = {(0, 1.0, 0.0): 1.0}
    failed = [0.0, 0.0]
    for pulls in range(items):
        following: dict[tuple[int, float, float], float] = {}
        for (passes, upper, lower), weight in states.items():
            chance = (score - passes) / (items - pulls)
            for reward, share in ((1.0, chance), (0.0, 1.0 - chance)):
                if share <= 0.0 or pulls == items - 1:
                    continue
                history = History(0, 1, [pulls], [[float(passes)], [upper], [lower]], [0.0], [0], 0)
                feed(bounds, history, lookup, reward)
                history.stats[LOWER][0] = bounds.lower_now(history, lookup, 0)
                state = (passes + int(reward), history.stats[UPPER][0], history.stats[LOWER][0])
                following[state] = following.get(state, 0.0) + weight * share
        states = following
        if pulls == items - 2:
            failed[0] = sum(weight for (_, upper, _), weight in states.items() if upper < score / items)
            failed[1] = sum(weight for (_, _, lower), weight in states.items() if lower > score / items)
    return failed


@pytest.mark.parametrize("items", [5, 9, 14])
@pytest.mark.parametrize("level", [0.1, 0.45])
def test_bounds_without_replacement_cover_exactly(items, level):
    wrong = 0.0
    for score in range(items + 1):
        upper, lower = violation(items, score, -math.log(level))
        assert upper <= level + 1e-12
        assert lower <= level + 1e-12
        wrong = max(wrong, *violation(items, score, -math.log(2.0 * level)))
    if items == 14:
        assert wrong > level  # the level is not met by being far too wide


def shift_state(items, passes, pulls, passes_then, pulls_then):
    stats_of = [[float(passes)], [1.0], [1.0], [float(pulls_then)], [float(passes_then)]]
    return History(0, 1, [pulls], stats_of, [0.0], [0], 0)


def expected_next(value, items, score, passes, pulls):
    """The expected value one item later, given the score; impossible outcomes left out."""
    chance = (score - passes) / (items - pulls)
    result = 0.0
    if chance > 0.0:
        result += chance * value(passes + 1, pulls + 1)
    if chance < 1.0:
        result += (1.0 - chance) * value(passes, pulls + 1)
    return result


@pytest.mark.parametrize(("items", "epsilon"), [(7, 0.3), (9, 0.1)])
def test_evidence_without_replacement_is_a_supermartingale(items, epsilon):
    evidence = evidence_for(PassFail(items), epsilon, 0.5)
    lookup = evidence.tables()
    grid = sorted({place / items for place in range(1, items + 1)} | {(place + 0.5) / items for place in range(items)})
    states = [(passes, pulls) for pulls in range(items + 1) for passes in range(pulls + 1)]

    def possible(score, passes, pulls):
        return passes <= score <= items - (pulls - passes)

    for x in grid:

        @functools.cache
        def below(passes, pulls, x=x):
            return math.exp(evidence.evidence_below(shift_state(items, passes, pulls, 0, 0), lookup, 0, x))

        assert below(0, 0) <= 1.0
        for passes, pulls in states:
            for score in range(items + 1):
                if score / items >= x and pulls < items and possible(score, passes, pulls):
                    assert expected_next(below, items, score, passes, pulls) <= below(passes, pulls) * (1 + 1e-9)
        for passes_then, pulls_then in states[::3]:

            @functools.cache
            def above(passes, pulls, x=x, passes_then=passes_then, pulls_then=pulls_then):
                history = shift_state(items, passes, pulls, passes_then, pulls_then)
                return math.exp(evidence.evidence_above(history, lookup, 0, x))

            null = [score for score in range(items + 1) if score / items < x]
            if any(possible(score, passes_then, pulls_then) for score in null):
                assert above(passes_then, pulls_then) <= 1.0
            for passes, pulls in states:
                later = pulls_then <= pulls < items and 0 <= passes - passes_then <= pulls - pulls_then
                for score in null:
                    if later and possible(score, passes, pulls):
                        value = above(passes, pulls)
                        assert expected_next(above, items, score, passes, pulls) <= value * (1 + 1e-9)


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 80), st.data())
def test_evidence_without_replacement_is_monotone(items, data):
    pulls = data.draw(st.integers(1, items))
    passes = data.draw(st.integers(0, pulls))
    pulls_then = data.draw(st.integers(0, pulls))
    passes_then = data.draw(st.integers(max(0, passes - (pulls - pulls_then)), min(passes, pulls_then)))
    one, other = sorted((data.draw(st.floats(-0.1, 1.1)), data.draw(st.floats(-0.1, 1.1))))
    evidence = evidence_for(PassFail(items), data.draw(st.sampled_from([0.02, 0.1, 0.4])), 0.5)
    history, lookup = shift_state(items, passes, pulls, passes_then, pulls_then), evidence.tables()
    low, high = (evidence.evidence_below(history, lookup, 0, x) for x in (one, other))
    assert low <= high + 1e-9
    low, high = (evidence.evidence_above(history, lookup, 0, x) for x in (one, other))
    assert low >= high - 1e-9
    # What the items tried so far rule out is refuted, whenever the arm was registered; nothing else is.
    assert evidence.evidence_above(history, lookup, 0, passes / items) == math.inf
    assert evidence.evidence_above(history, lookup, 0, (passes + 1) / items) < math.inf
    most = items - (pulls - passes)
    assert evidence.evidence_below(history, lookup, 0, (most + 1) / items) == math.inf
    assert evidence.evidence_below(history, lookup, 0, most / items) < math.inf


def test_joint_bounds_without_replacement_are_where_the_evidence_crosses():
    evidence = evidence_for(PassFail(60), 0.1, 0.5)
    lookup, history, rng = evidence.tables(), blank(5), np.random.default_rng(5)
    crossed = 60
    for reward in rng.permutation([1.0] * 22 + [0.0] * 38):
        feed(evidence, history, lookup, float(reward))
        open_scores = [k for k in range(61) if evidence.evidence_below(history, lookup, 0, k / 60) < 0.5]
        crossed = min(crossed, max(open_scores))
        assert history.stats[UPPER][0] == crossed / 60


# Normal rewards of unknown variance.


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 11, 317, 10_000, 100_000])
def test_student_law_against_high_precision(freedom):
    places = [-60.0, -12.0, -5.0, -2.51, -2.5, -1.0, -1e-5, 0.0, 1e-9, 1.0, 2.5, 4.0, 4.1, 20.0]
    with mpmath.workdps(40):
        for t in places:
            share = mpmath.mpf(freedom) / (freedom + mpmath.mpf(t) ** 2)
            tail = mpmath.betainc(mpmath.mpf(freedom) / 2, mpmath.mpf(1) / 2, 0, share, regularized=True) / 2
            exact = tail if t < 0.0 else 1 - tail
            if exact > 1e-280:
                assert abs(student_cdf(t, freedom) - exact) <= 2e-13 * exact
    for t in (-3.0, 0.0, 1.7):
        assert student_density(t, freedom) == pytest.approx(stats.t.pdf(t, freedom), rel=1e-11)
    assert student_cdf(-1e200, freedom) >= 0.0
    assert student_cdf(1e200, freedom) == 1.0


@pytest.mark.parametrize(("pulls", "z"), [(10, 0.3), (10, -0.8), (25, 0.9), (60, 0.2)])
def test_student_mixture_is_the_mixture_of_effects(pulls, z):
    """Against quadrature over the effect, with the noncentral t law in place of our formula."""
    t = -z * math.sqrt(pulls - 1)  # the usual t statistic of the mean against mu0
    prior = 10.0

    def integrand(effect):
        weight = 2.0 * math.sqrt(prior) * stats.norm.pdf(effect * math.sqrt(prior))
        return weight * stats.nct.pdf(t, pulls - 1, effect * math.sqrt(pulls)) / stats.t.pdf(t, pulls - 1)

    exact, _ = integrate.quad(integrand, -4.0, 0.0, limit=200)
    assert math.exp(log_student_mixture(pulls, prior, z)[0]) == pytest.approx(exact, rel=1e-6)


@settings(max_examples=150, deadline=None)
@given(st.integers(10, 5000), st.floats(0.5, 100.0), st.floats(-50.0, 50.0), st.floats(-50.0, 50.0))
def test_student_mixture_is_monotone(pulls, prior, one, other):
    low, high = sorted((one, other))
    value, slope = log_student_mixture(pulls, prior, low)
    assert value <= log_student_mixture(pulls, prior, high)[0] + 1e-9 * pulls
    step = 1e-6 * (1.0 + abs(low))
    if abs(low) < 5.0 and value > -30.0:
        ends = [log_student_mixture(pulls, prior, low + side * step)[0] for side in (1.0, -1.0)]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2.0 * step), rel=1e-3, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.integers(10, 3000), st.floats(0.1, 12.0))
def test_student_bounds_against_bisection(pulls, threshold):
    def mixture(z):  # written again with scipy
        share = 10.0 / (pulls + 10.0)
        t = pulls * z / math.sqrt((pulls + 10.0) * (1.0 + share * z * z))
        value = math.log(2.0) + 0.5 * math.log(share) + stats.t.logcdf(t, pulls)
        return value + 0.5 * pulls * math.log((1.0 + z * z) / (1.0 + share * z * z))

    z = student_reach(pulls, 10.0, threshold, math.inf)
    if z == math.inf:
        assert mixture(1e30) < threshold
        return
    assert mixture(z) >= threshold - 1e-9
    assert mixture(z * (1.0 - 1e-8)) <= threshold
    assert student_reach(pulls, 10.0, threshold, 2.0 * z) == pytest.approx(z, rel=1e-9)
    assert student_reach(pulls, 10.0, threshold, 0.5 * z) == 0.5 * z


def test_student_bounds_are_mirror_images_and_need_ten_rewards():
    bounds, rng = bounds_for(Normal(), "tilt", 0.1, 0.8, 0.8), np.random.default_rng(3)
    one, other, lookup = blank(4), blank(4), bounds.tables()
    lower = -math.inf
    for place in range(200):
        reward = 1e6 + rng.normal()
        feed(bounds, one, lookup, reward)
        feed(bounds, other, lookup, -reward)
        lower = one.stats[LOWER][0] = bounds.lower_now(one, lookup, 0)
        assert math.isfinite(one.stats[UPPER][0]) == math.isfinite(lower) == (place >= 9)
        if place >= 9:
            assert lower == pytest.approx(-other.stats[UPPER][0], abs=1e-6)
            assert bounds.reaches(one, lookup, 0, lower)
            assert not bounds.reaches(one, lookup, 0, lower + 0.5)
    assert np.isclose(one.stats[EXTRA][0] / 200, 0.9, atol=0.3)


def test_equal_rewards_give_no_normal_bound():
    bounds, history = bounds_for(Normal(), "tilt", 0.1, 0.8, 5.0), blank(4)
    for _ in range(50):
        feed(bounds, history, bounds.tables(), 0.1)
    assert history.stats[UPPER][0] == math.inf
    assert bounds.lower_now(history, bounds.tables(), 0) == -math.inf
    assert not bounds.reaches(history, bounds.tables(), 0, 0.0)


def crossings(model, draw, mean, paths, pulls, seed, spoil=None):
    """How many paths have a bound on the wrong side of the mean at some time: upper, lower."""
    rng = np.random.default_rng(seed)
    upper = lower = 0
    lookup = model.tables()
    for _ in range(paths):
        history = blank(EXTRA + model.extra)
        passed = False
        for reward in draw(rng, pulls):
            feed(model, history, lookup, float(reward))
            if spoil is not None:
                spoil(history)
            passed = passed or model.reaches(history, lookup, 0, mean + 1e-9)
        upper += history.stats[UPPER][0] < mean
        lower += passed
    return upper, lower


@pytest.mark.statistical
def test_normal_bounds_cover():
    level = 0.4

    def draw(rng, pulls):
        return rng.normal(2.0, 5.0, pulls)

    bounds = bounds_for(Normal(), "tilt", 0.1, -math.log(level), -math.log(level))
    events = crossings(bounds, draw, 2.0, 400, 120, 7)
    assert not any(too_many(event, 400, level) for event in events)
    assert min(events) > 0.2 * 400  # not far too wide either
    careless = bounds_for(Normal(), "tilt", 0.1, 0.01, 0.01)
    assert all(too_many(event, 400, level) for event in crossings(careless, draw, 2.0, 400, 120, 7))


@pytest.mark.statistical
def test_normal_bounds_do_not_cover_other_laws():
    """Why the docstring says so: the claim holds under normality only."""
    bounds = bounds_for(Normal(), "tilt", 0.1, -math.log(0.2), 5.0)
    mean = math.exp(0.5 * 1.5**2)
    upper, _ = crossings(bounds, lambda rng, pulls: np.exp(1.5 * rng.normal(size=pulls)), mean, 150, 150, 8)
    assert too_many(upper, 150, 0.2)


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


# Families with the sign reversed.


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
        growth, opposite = math.expm1(tilt), math.expm1(-tilt)
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


# What a person says.


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("pass-fail(200)", PassFail(200)),
        ("pass-fail(items=7)", PassFail(7)),
        ("normal", Normal()),
        ("normal(prior_pulls=4)", Normal(4.0)),
        ("low-variance", LowVariance()),
        ("mirrored(poisson(3))", Mirrored(Poisson(3.0))),
        ("mirrored( gamma(shape=2,highest=5) )", Mirrored(Gamma(2.0, 5.0))),
    ],
)
def test_new_families_as_text(text, family):
    assert parse_family(text) == family
    assert type(parse_family(text)) is type(family)
    assert parse_family(describe(family)) == family
    assert isinstance(family, RewardModel)
    assert type(getattr(parse_family("pass-fail(3)"), "items")) is int  # noqa: B009 - any model


def test_what_each_model_is_for():
    for family in NEW:
        assert isinstance(family, RewardFamily) == isinstance(family, EvidenceFamily) == isinstance(family, Mirrored)
        assert isinstance(bounds_for(family, "tilt", 0.1, 1.0, 5.0), ConfidenceBounds)
        assert checked_model(family) is family
    for family in (PassFail(40), LowVariance(), Mirrored(Poisson()), Bernoulli()):
        assert isinstance(evidence_for(family, 0.1, 0.5), JointEvidence)


def says(message, action):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        action()
    assert str(error.value) == message


def test_models_say_what_they_cannot_do():
    says(
        "family must be one whose evidence joins that of other arms for joint-lucb; use cc-lucb, got 'normal'",
        lambda: evidence_for(Normal(), 0.1, 0.5),
    )
    says(
        "bounds must be 'tilt' for pass-fail(items=40), which has no conjugate mixture, got 'kt'",
        lambda: bounds_for(PassFail(40), "kt", 0.1, 1.0, 5.0),
    )
    says(
        "family must be a one-parameter family for this algorithm; use cc-lucb, got 'low-variance'",
        lambda: checked(LowVariance()),
    )
    says("items must be a whole number of at least 1, got 2.5", lambda: parse_family("pass-fail(2.5)"))
    says("items must be a whole number of at least 1, got 0", lambda: parse_family("pass-fail(0)"))
    says("items must be at most 1000000, got 2000000", lambda: PassFail(2_000_000).check_parameters())
    says("prior_pulls must be positive and finite, got -1.0", lambda: parse_family("normal(-1)"))
    says(
        "family must say what is mirrored, such as mirrored(poisson(3)), got 'mirrored'",
        lambda: parse_family("mirrored"),
    )
    says(
        "family must be a reward family that is not mirrored itself, got Mirrored(family=Poisson(highest=inf))",
        lambda: parse_family("mirrored(mirrored(poisson))"),
    )
    says(
        "family must be a one-parameter family for this algorithm; use cc-lucb, got 'normal'",
        lambda: parse_family("mirrored(normal)"),
    )
    says("reward must be minus a reward that Poisson can have, got 2.0", lambda: Mirrored(Poisson()).check(2.0))


@pytest.mark.parametrize(
    ("family", "minimise", "inside", "pairs", "worst"),
    [
        (None, False, Bernoulli(), [(0.25, 0.25)], 0.0),
        (None, True, Bernoulli(), [(0.25, 0.75)], 1.0),
        ("bernoulli(0.5)", True, Bernoulli(), [(0.25, 0.75)], 1.0),
        ("range(-10,30)", False, Bernoulli(), [(-10.0, 0.0), (30.0, 1.0), (0.0, 0.25)], -10.0),
        ("range(lo=-10,hi=30)", True, Bernoulli(), [(-10.0, 1.0), (30.0, 0.0), (0.0, 0.75)], 30.0),
        ("low-variance(0,2)", False, LowVariance(), [(0.5, 0.25)], 0.0),
        ("low-variance(0,2)", True, LowVariance(), [(0.5, 0.75)], 2.0),
        ("low-variance(highest=0.5)", False, LowVariance(0.5), [(0.5, 0.5)], 0.0),
        ("gaussian(2)", True, Gaussian(2.0), [(3.0, -3.0)], None),
        (Gaussian(2.0, 9.0), True, Gaussian(2.0), [(3.0, -3.0)], None),
        ("normal", True, Normal(), [(3.0, -3.0), (0.0, 0.0)], None),
        ("poisson(3)", False, Poisson(3.0), [(2.0, 2.0)], None),
        ("poisson(3)", True, Mirrored(Poisson(3.0)), [(2.0, -2.0), (0.0, 0.0)], None),
        (Mirrored(Exponential()), False, Mirrored(Exponential()), [(-2.0, -2.0)], None),
        (PassFail(20), True, PassFail(20), [(1.0, 0.0), (0.0, 1.0)], 1.0),
    ],
)
def test_reward_models(family, minimise, inside, pairs, worst):
    model = reward_model(family, minimise=minimise)
    assert model.family == inside
    assert type(model.family) is type(inside)
    assert model.worst == worst
    assert model.minimise == minimise
    for reward, internal in pairs:
        model.check(reward)
        model.family.check(model.to_internal(reward))
        assert model.to_internal(reward) == internal
        assert math.copysign(1.0, model.to_internal(reward)) == math.copysign(1.0, internal)
        assert model.to_user(internal) == pytest.approx(reward)
    assert model.epsilon(0.5) == 0.5 / abs(model.factor)
    again = reward_model(model.text, minimise=minimise)
    assert again == model
    if worst is not None:
        model.check(worst)
        assert model.to_internal(worst) == 0.0


def test_assumptions_are_sentences():
    told = {
        "bernoulli": "Rewards lie in [0, 1]; nothing else is assumed about their law.",
        "range(0,20)": "Rewards lie in [0, 20]; nothing else is assumed about their law.",
        "low-variance(-1,1)": "Rewards lie in [-1, 1]; nothing else is assumed about their law.",
        "gaussian(0.5)": "Rewards are normal, or sub-Gaussian, with standard deviation 0.5 or less.",
        "normal": "Rewards are normal with one unknown variance per candidate; for other laws the error is not "
        "controlled.",
        "poisson": "Rewards follow a law of the family poisson; for other laws the error is not controlled.",
        "exponential": "Rewards follow a law of the family exponential; for other laws the error is not controlled.",
        "gamma(2)": "Rewards follow a gamma law of shape 2; for other laws the error is not controlled.",
        "pass-fail(200)": "Each candidate is scored on the same 200 items, in its own random order; the claim is about "
        "the score on these items.",
    }
    for text, sentence in told.items():
        for minimise in (False, True):
            assert reward_model(text, minimise=minimise).assumptions == (sentence,)
    assert reward_model("poisson(3)", minimise=True).assumptions[1] == "No candidate's mean exceeds 3."
    assert reward_model("bernoulli(0.9)").assumptions[1] == "No candidate's mean exceeds 0.9."
    assert reward_model("bernoulli(0.9)", minimise=True).assumptions[1:] == ()
    reversed_sign = reward_model("mirrored(poisson(3))").assumptions
    assert reversed_sign[0].startswith("Rewards, with the sign reversed, follow")
    assert reversed_sign[1] == "No candidate's mean is below -3."


def test_models_check_in_the_units_of_a_person():
    says("reward must lie in [0, 20], got 21.0", lambda: reward_model("range(0,20)", minimise=True).check(21.0))
    says("reward must be 0 or 1, got 0.5", lambda: reward_model(items=9, minimise=True).check(0.5))
    says(
        "reward must be a whole number of at least 0, got -1.0",
        lambda: reward_model("poisson", minimise=True).check(-1.0),
    )
    says("reward must be finite, got inf", lambda: reward_model("normal", minimise=True).check(math.inf))
    says("reward must be a real number, got nan", lambda: reward_model().check(math.nan))


def test_reward_model_says_what_is_wrong():
    assert reward_model(items=9) == reward_model("pass-fail", items=9) == reward_model("pass-fail(9)", items=9)
    says(
        "family must be pass-fail(items=9) or left out where there are 9 items, got 'bernoulli'",
        lambda: reward_model("bernoulli", items=9),
    )
    says(
        "family must be pass-fail(items=9) or left out where there are 9 items, got 'pass-fail(8)'",
        lambda: reward_model("pass-fail(8)", items=9),
    )
    says("items must be a whole number of at least 1, got 0", lambda: reward_model(items=0))
    says("family must say its items, got 'pass-fail'", lambda: reward_model("pass-fail"))
    for text in ("range", "range(1)", "range(1,2", "low-variance(3)"):
        name = text.partition("(")[0]
        says(
            f"family must be {name}(lo,hi) with two numbers, got {text!r}",
            lambda text=text: reward_model(text),
        )
    says(
        "family must have a finite range with lo below hi, got 'range(2,1)'",
        lambda: reward_model("range(2,1)"),
    )
    says(
        "family must not be mirrored already where minimise is set, got 'mirrored(poisson)'",
        lambda: reward_model("mirrored(poisson)", minimise=True),
    )


# Compiled and interpreted bodies agree to the bit.


def every_bound(model, history, lookup, rewards, targets, out):
    for place in range(len(rewards)):
        history.pulls[0] += 1
        history.stats[SUM][0] += rewards[place]
        model.fold(history, lookup, 0, rewards[place])
        out[3 * place] = history.stats[UPPER][0]
        out[3 * place + 1] = 1.0 if model.reaches(history, lookup, 0, targets[place]) else 0.0
        out[3 * place + 2] = model.lower_now(history, lookup, 0)


def every_evidence(model, history, lookup, rewards, targets, out):
    for place in range(len(rewards)):
        history.pulls[0] += 1
        history.stats[SUM][0] += rewards[place]
        model.fold(history, lookup, 0, rewards[place])
        if place == len(rewards) // 3:
            model.enroll(history, 0)
        out[3 * place] = history.stats[UPPER][0] + model.noise(history, 0)
        out[3 * place + 1] = model.evidence_below(history, lookup, 0, targets[place])
        out[3 * place + 2] = model.evidence_above(history, lookup, 0, targets[place])


def rewards_of(family, rng):
    if isinstance(family, PassFail):
        return rng.permutation([1.0] * 13 + [0.0] * 27)
    return np.array([family.sample(-1.3 if isinstance(family, Mirrored) else 0.6, rng) for _ in range(60)])


# Normal rewards have bounds and no joint evidence.
MODELS = [(family, False) for family in NEW] + [(family, True) for family in NEW if not isinstance(family, Normal)]


@pytest.mark.parametrize(("family", "joint"), MODELS, ids=str)
def test_compiled_and_interpreted_bounds_agree(family, joint):
    model = evidence_for(family, 0.1, 0.5) if joint else bounds_for(family, "tilt", 0.1, 0.8, 4.0)
    rng = np.random.default_rng(12)
    rewards = rewards_of(family, rng)
    targets = rewards.mean() + rng.uniform(-0.3, 0.2, len(rewards))
    columns = (AFTER if joint else EXTRA) + model.extra
    interpreted, out = np.zeros(3 * len(rewards)), np.zeros(3 * len(rewards))
    body = every_evidence if joint else every_bound
    body(model, blank(columns), model.tables(), rewards.tolist(), targets.tolist(), interpreted)
    arrays = tuple(np.zeros(1) for _ in range(columns))
    history = History(0, 1, np.zeros(1, dtype=np.int64), arrays, np.zeros(1), np.zeros(1, dtype=np.int64), 0)
    compiled(body, tuple(parameter_classes(model)))(model, history, _arrays(model.tables()), rewards, targets, out)
    assert np.array_equal(interpreted, out)


# Whole runs.


def tape_of(family, rng):
    """A random arm: where its rewards come from, and its mean."""
    if isinstance(family, PassFail):
        passes = int(rng.integers(0, family.items + 1))
        return iter(rng.permutation([1.0] * passes + [0.0] * (family.items - passes)).tolist()), passes / family.items
    mean = float(rng.uniform(-3.0, -0.5) if isinstance(family, Mirrored) else rng.uniform(0.1, 0.9))
    return iter(lambda: family.sample(mean, rng), None), mean


TARGETS = [(PassFail(6), 0.01), (PassFail(100), 0.1), (LowVariance(), 0.05), (Mirrored(Poisson(3.0)), 0.4)]
RUNS = [(name, *target) for name in ("cc-lucb", "joint-lucb") for target in TARGETS]
RUNS += [("cc-lucb", Normal(), 0.5), ("lucb++", Normal(), 0.5), *(("lucb++", *target) for target in TARGETS[:3])]


@pytest.mark.parametrize(("name", "family", "epsilon"), RUNS, ids=str)
def test_whole_runs_stop_with_a_good_arm(name, family, epsilon):
    errors = 0
    for seed in range(8):
        algorithm, rng, tapes = design(name, 0.2, epsilon, 0.1, family), np.random.default_rng(seed), {}
        search = Search(algorithm, seed)
        while (pull := search.ask()) is not None:
            if pull.arm not in tapes:
                tapes[pull.arm] = tape_of(family, rng)
            search.tell(pull, next(tapes[pull.arm][0]))
        assert search.stopped
        assert search.result.pulls <= algorithm.arms * min(family.capacity, 2000)
        goal = np.quantile([tape_of(family, rng)[1] for _ in range(2000)], 0.8)
        errors += tapes[search.best][1] < goal - epsilon
    assert not too_many(errors, 8, 0.1)
