"""Pass or fail on finitely many items: bounds and evidence without replacement."""

from __future__ import annotations

import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from tests.support.feeding import blank, feed
from topalpha.algorithms import design
from topalpha.confidence import bounds_for, evidence_for
from topalpha.confidence.shifts import first_at_least, log_factorials, log_shifts, shift_grid, shift_upper
from topalpha.engine.interpreted import InterpretedRun
from topalpha.families import (
    PassFail,
)
from topalpha.reservoirs import Scores, TwoPoint
from topalpha.rules.columns import (
    LOWER,
    UPPER,
)
from topalpha.rules.protocol import SUM, History
from topalpha.simulation import simulate

FALSE_ALARM = 1e-6

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


# ---- simulated: rewards are independent tosses, and the claim is about the score


@pytest.fixture
def interpreted(monkeypatch):
    """Runs that are not compiled: there are few of them."""
    monkeypatch.setattr("topalpha.simulation.runs.start", InterpretedRun)


SCORES = TwoPoint(0.4, 0.604, 0.1)
TARGET = {"alpha": 0.1, "epsilon": 0.2, "delta": 0.1, "family": PassFail(10)}


@pytest.mark.statistical
def test_simulated_searches_are_judged_by_the_score(interpreted):
    """An arm that passes .4 of all items there are may pass six of these ten: a right answer about these."""
    study = simulate(design("cc-lucb", **TARGET), SCORES, runs=60, seed=0)
    assert study.errors.excess(0.1) > FALSE_ALARM, study.errors
    assert np.allclose(10.0 * study.means, np.round(10.0 * study.means))
    assert np.mean(study.means >= 0.6) > 0.5
    assert study.threshold == pytest.approx(Scores(SCORES, 10).top(0.1) - 0.2)
    assert (study.supremum, study.reservoir) == (1.0, SCORES.expression)


@pytest.mark.statistical
def test_judged_by_the_score_too_few_arms_are_found_out(interpreted):
    algorithm = design("cc-lucb", **TARGET | {"epsilon": 0.1})
    study = simulate(algorithm._replace(arms=1), SCORES, runs=60, seed=0)
    assert study.errors.excess(0.1) < FALSE_ALARM, study.errors


def test_the_items_that_were_not_tried_are_tried_by_the_judge():
    class Passing:
        def sample(self, mean, rng):
            return 1.0

    algorithm = design("cc-lucb", **TARGET)
    for world in (Passing(), None):
        run = InterpretedRun(algorithm, world)
        run.add_arms(np.array([1.0, 0.3]))
        run.pulls[0], run.stats[SUM][0] = 4, 1.0
        assert run.truth(0, np.random.default_rng(0)) == 0.7  # three of four failed, the other six passed
        run.pulls[1], run.stats[SUM][1] = 10, 8.0
        assert run.truth(1, np.random.default_rng(0)) == 0.8  # nothing is left to try
    bernoulli = InterpretedRun(design("cc-lucb", 0.1, 0.2, 0.1))
    bernoulli.add_arms(np.array([0.3]))
    assert bernoulli.truth(0, np.random.default_rng(0)) == 0.3
