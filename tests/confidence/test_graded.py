"""Scores in [0, 1] without replacement: bounds against bisection, what is ruled out, coverage, joint evidence."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.feeding import blank, feed, too_many
from topalpha import Search, design
from topalpha.confidence import bernstein, bounds_for, evidence_for
from topalpha.confidence.bernstein import bet_grid
from topalpha.families import Graded, LowVariance, PassFail
from topalpha.families.units import reward_model
from topalpha.rules.columns import AFTER, EXTRA, UPPER


def log_evidence(scores, items, epsilon, x, sign):
    """ln of the mixture against a mean of at least x (sign 1) or at most x (-1), written again score by score."""
    total, squares, logs = 0.0, 0.0, [0.0] * 4
    for before, score in enumerate(scores):
        left = items - before
        mean_left = (items * x - total) / left
        guess, variance = (0.5 + total) / (before + 1), (0.25 + squares) / (before + 1)
        for place, gap in enumerate(bet_grid(epsilon)):
            bet = min(gap / (variance + gap), 0.75)
            logs[place] += sign * bet * (mean_left - score) - (score - guess) ** 2 * (-math.log1p(-bet) - bet)
        total += score
        squares += (score - (0.5 + total) / (before + 2)) ** 2
    return float(np.logaddexp.reduce(logs)) - math.log(4.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40),
    st.integers(0, 40),
    st.sampled_from([0.02, 0.2]),
    st.floats(0.1, 6.0),
)
def test_bounds_against_bisection(scores, more, epsilon, threshold):
    items = len(scores) + more
    model = bounds_for(Graded(items), "tilt", epsilon, threshold, threshold)
    history, lookup = blank(EXTRA + model.extra), model.tables()
    upper, lower = 1.0, 0.0
    for place, score in enumerate(scores):
        feed(model, history, lookup, score)
        seen = scores[: place + 1]

        def crossed(x, sign, seen=seen):
            return log_evidence(seen, items, epsilon, x, sign) >= threshold

        low, high = 0.0, upper
        if crossed(high, 1.0):
            for _ in range(50):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if crossed(middle, 1.0) else (middle, high)
            upper = high
        upper = min(upper, (sum(seen) + items - len(seen)) / items)
        low, high = lower, 1.0
        if crossed(low, -1.0):
            for _ in range(50):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if crossed(middle, -1.0) else (low, middle)
            lower = low
        lower = max(lower, sum(seen) / items)
        if len(seen) < items:
            assert upper - 1e-9 <= history.stats[UPPER][0] <= upper + 1e-9
            assert lower - 1e-9 <= model.lower_now(history, lookup, 0) <= lower + 1e-9
            assert not model.reaches(history, lookup, 0, lower + 1e-6)
            assert model.reaches(history, lookup, 0, lower - 1e-6)
    if more == 0:
        assert history.stats[UPPER][0] == model.lower_now(history, lookup, 0) == pytest.approx(sum(scores) / items)


def misses(scores, model, runs, rng):
    """In how many random orders a bound is ever on the wrong side of the mean."""
    mean, wrong = scores.mean(), 0
    for _ in range(runs):
        history, lookup = blank(EXTRA + model.extra), model.tables()
        for score in rng.permutation(scores)[:-1]:
            feed(model, history, lookup, float(score))
            if history.stats[UPPER][0] < mean - 1e-9 or model.reaches(history, lookup, 0, mean + 1e-9):
                wrong += 1
                break
    return wrong


HARD = {
    "one low": np.array([1.0] * 39 + [0.0]),
    "half": np.array([1.0, 0.0] * 20),
    "graded": np.linspace(0.0, 1.0, 40) ** 2,
}


@pytest.mark.statistical
@pytest.mark.parametrize("scores", HARD.values(), ids=HARD)
def test_the_bounds_hold(scores):
    level = 0.2
    model = bounds_for(Graded(len(scores)), "tilt", 0.2, -math.log(level / 2), -math.log(level / 2))
    assert not too_many(misses(scores, model, 600, np.random.default_rng(0)), 600, level)


@pytest.mark.statistical
def test_negative_control_a_bet_that_has_seen_the_score(monkeypatch):
    honest = bernstein.place_bets

    def peeking(stats, place, arm, pulls, reward, gaps, items):
        honest(stats, place, arm, pulls, reward, [gap * (1.0 if reward < 0.5 else 0.01) for gap in gaps], items)

    monkeypatch.setattr("topalpha.confidence.graded.place_bets", peeking)
    level = 0.2
    model = bounds_for(Graded(40), "tilt", 0.2, -math.log(level / 2), -math.log(level / 2))
    assert too_many(misses(HARD["half"], model, 600, np.random.default_rng(0)), 600, level)


def test_without_replacement_is_narrower_late_and_for_the_same_scores_not_wider_than_with():
    rng = np.random.default_rng(0)
    scores = 0.5 + 0.1 * (rng.random(200) - 0.5)
    with_items, without = (bounds_for(family, "tilt", 0.02, 3.0, 3.0) for family in (Graded(200), LowVariance()))
    widths = []
    for model in (with_items, without):
        history, lookup = blank(EXTRA + model.extra), model.tables()
        for score in scores[:180]:
            feed(model, history, lookup, float(score))
        widths.append(history.stats[UPPER][0] - model.lower_now(history, lookup, 0))
    assert widths[0] < 0.5 * widths[1]


def test_joint_evidence_is_that_of_the_items_since_registration_and_knows_what_is_ruled_out():
    evidence = evidence_for(Graded(10), 0.1, 0.5)
    history, lookup = blank(AFTER + evidence.extra), evidence.tables()
    scores = [0.2, 0.9, 0.4, 0.6, 0.5]
    for place, score in enumerate(scores):
        feed(evidence, history, lookup, score)
        if place == 1:
            evidence.enroll(history, 0)
    below = evidence.evidence_below(history, lookup, 0, 0.7)
    assert below == pytest.approx(log_evidence(scores, 10, 0.1, 0.7, 1.0))
    above = evidence.evidence_above(history, lookup, 0, 0.3)
    early, late = (log_evidence(part, 10, 0.1, 0.3, -1.0) for part in (scores[:2], scores))
    assert math.isfinite(above)
    assert above != pytest.approx(late)
    assert early != 0.0
    assert evidence.evidence_below(history, lookup, 0, (2.6 + 5.0) / 10 + 1e-6) == math.inf
    assert evidence.evidence_above(history, lookup, 0, 2.6 / 10 - 1e-6) == math.inf


@pytest.mark.parametrize("name", ["cc-lucb", "lucb++", "joint-lucb"])
def test_a_search_never_costs_more_than_all_scores_and_is_exact_there(name):
    rng = np.random.default_rng(1)
    table = np.clip(0.5 + 0.02 * rng.standard_normal((6, 30)), 0.0, 1.0)
    search = Search(design(name, 1 / 6, 0.001, 0.05, Graded(30), **({} if name == "lucb++" else {"pool": 6})))
    table = np.tile(table, (20, 1))  # lucb++ may draw more
    while (pull := search.ask()) is not None:
        assert pull.number < 30
        search.tell(pull, float(table[pull.arm, pull.number]))
    drawn = search.history.arms
    assert search.told <= 30 * drawn
    means = table[:drawn].mean(axis=1)
    assert means[search.best] >= means.max() - 0.001 - 1e-9


def test_ranges_and_costs():
    model = reward_model("graded(0,10)", items=50, minimise=True)
    assert (model.family, model.to_internal(2.5), model.worst) == (Graded(50), 0.75, 10.0)
    assert reward_model(model.text, items=50, minimise=True) == model
    with pytest.raises(ValueError, match=r"reward must lie in \[0, 10\], got 10.5"):
        model.check(10.5)
    assert reward_model("pass-fail", items=50).family == PassFail(50)
    for text in ("graded(49)", "normal", "graded(1,0)", "graded(0,1,2)"):
        with pytest.raises(ValueError, match="family must"):
            reward_model(text, items=50)
