"""Weighted rows: draws by weight, passes and stumps, exactly and by hand; compiled and interpreted are the same."""

from __future__ import annotations

import importlib
import math
import pkgutil
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

import topalpha.algorithms
import topalpha.confidence
import topalpha.families
from tests.support.marks import quick
from topalpha.algorithms import design
from topalpha.boosting.lazy import LazyRows
from topalpha.boosting.rounds import Asking, rounds
from topalpha.boosting.rows import FITTED_ROWS, ColumnRows, Stump, compiled_pass
from topalpha.boosting.world import StumpWorld
from topalpha.engine import OUT_OF_BUDGET, STOPPED, InterpretedRun, Run
from topalpha.rules.weighted_rows import (
    best_stump,
    draw_rows,
    mark_errors,
    reweigh,
    sort_values,
    take_rows,
    tally,
    thin_rows,
)

FALSE_ALARM = 1e-6


class Scripted:
    """A generator whose draws are written down."""

    def __init__(self, exponentials, uniforms):
        self.exponentials, self.uniforms = iter(exponentials), iter(uniforms)

    def standard_exponential(self):
        return next(self.exponentials)

    def random(self):
        return next(self.uniforms)


def some_data(seed=0, rows=200, features=5, kinds=2):
    rng = np.random.default_rng(seed)
    columns = np.round(rng.normal(size=(features, rows)), 1)  # ties
    labels = rng.integers(kinds, size=rows)
    labels[columns[1] > 0.3] = 0
    weights = rng.exponential(size=rows) * (rng.random(rows) < 0.8)
    return columns, labels, weights


def data(seed=0, **shape):
    columns, labels, weights = some_data(seed, **shape)
    return ColumnRows(columns, labels, weights, int(labels.max()) + 1, np.random.default_rng(seed))


# ---- draws by weight


def test_draws_by_hand():
    """Sums of spacings 1, 3, 6, 9 of a total of 10 are the points .1, .3, .6, .9 of the weights .25, 0, .25, .5."""
    rows = [9] * 4
    draw_rows([0.25, 0.0, 0.25, 0.5], 1.0, Scripted([1, 2, 3, 3, 1], [0.99, 0.99, 0.99]), [0.0] * 4, rows)
    assert rows == [0, 2, 3, 3]
    # .2 of 4 places is place 0; then .5 of 3 is place 1, and .9 of 2 is place 1
    draw_rows([0.25, 0.0, 0.25, 0.5], 1.0, Scripted([1, 2, 3, 3, 1], [0.2, 0.5, 0.9]), [0.0] * 4, rows)
    assert rows == [3, 3, 2, 0]


def test_a_point_beyond_the_end_by_rounding_is_the_last_row_with_weight():
    rows = [9, 9]
    draw_rows([0.5, 0.25, 0.0], 1.0, Scripted([1, 8, 1], [0.99]), [0.0] * 2, rows)  # weights that add up to less
    assert rows == [0, 1]


WEIGHTS = np.array([0.02, 0.4, 0.0, 0.08, 0.5])


def unlikely(count, runs, probability):
    return binomtest(int(count), runs, probability).pvalue < FALSE_ALARM


@pytest.mark.statistical
def test_every_row_is_drawn_by_its_weight():
    rows, rng = np.zeros(100_000, dtype=np.int32), np.random.default_rng(1)
    assert compiled_pass("take_rows")(1, WEIGHTS, rng, np.zeros(len(rows)), rows, np.full(1, len(rows))) == 0
    counts = np.bincount(rows, minlength=5)
    assert counts[2] == 0
    assert not any(unlikely(counts[row], len(rows), WEIGHTS[row]) for row in (0, 1, 3, 4))
    assert unlikely(counts[1], len(rows), 0.42)  # a control


@pytest.mark.slow
@pytest.mark.statistical
def test_draws_are_independent_of_their_place():
    """The first two of three draws, against products of weights; without the permutation they would be sorted."""
    rng, runs = np.random.default_rng(2), 20_000
    take, rows, spacings = compiled_pass("take_rows"), np.zeros(3, dtype=np.int32), np.zeros(3)
    pairs = np.zeros((5, 5), dtype=int)
    for _ in range(runs):
        take(3, WEIGHTS, rng, spacings, rows, np.full(1, 3))
        pairs[rows[0], rows[1]] += 1
    for one in (0, 1, 3, 4):
        for other in (0, 1, 3, 4):
            assert not unlikely(pairs[one, other], runs, WEIGHTS[one] * WEIGHTS[other])
    upper = sum(pairs[one, other] for one in range(5) for other in range(one, 5))
    assert unlikely(upper, runs, 0.999999)  # sorted draws would have everything there


def test_draws_that_stay_by_hand():
    """From place 1 on: rows 2 and 0 are wrong and stay, whatever the uniform; row 1 stays below .25, and not above."""
    rows = [1, 2, 1, 1, 0]
    assert thin_rows(rows, 1, [0.5, 0.0, 0.5], 0.25, Scripted([], [0.99, 0.2, 0.3, 0.99])) == 2
    assert rows[2:] == [2, 1, 0]


@pytest.mark.statistical
def test_draws_that_stay_are_draws_by_the_new_weights():
    """Round after round, and in any place; as they were before the round they would be found out."""
    columns, labels = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]), np.array([0, 1, 1, 0, 1])
    rows = ColumnRows(columns, labels, WEIGHTS, 2, np.random.default_rng(12))
    rows.rows, rows.spacings = np.zeros(200_000, dtype=np.int32), np.zeros(200_000)
    rows.cursor[0] = len(rows.rows)
    compiled_pass("take_rows")(1000, rows.weights, rows.rng, rows.spacings, rows.rows, rows.cursor)  # and look at them
    for stump in (Stump(0, 1.5, 0, 1), Stump(0, 3.5, 1, 0)):
        before = rows.rows[rows.cursor[0] :].copy()
        error = rows.error(stump)
        rows.boost(math.log((1.0 - error) / error))
        after = rows.rows[rows.cursor[0] :]
        assert not unlikely(len(after), len(before), 2.0 * error)  # those that are wrong, and as many others
        for part in (after[: len(after) // 2], after[len(after) // 2 :]):
            counts = np.bincount(part, minlength=5)
            assert counts[2] == 0
            assert not any(unlikely(counts[row], len(part), rows.weights[row]) for row in (0, 1, 3, 4))
        assert unlikely(np.count_nonzero(before == 3), len(before), rows.weights[3]), "a control"


# ---- compiled and interpreted


def test_passes_are_the_same_compiled_and_interpreted():
    columns, labels, weights = some_data(3)
    kinds = labels.astype(np.int16)
    results = []
    for passes in ({f.__name__: f for f in (mark_errors, reweigh, take_rows, tally, thin_rows)}, None):
        use = passes.__getitem__ if passes else compiled_pass
        rows, spacings, wrong = np.zeros(500, dtype=np.int32), np.zeros(500), np.zeros(len(labels))
        heavy, votes = weights.copy(), np.zeros((len(labels), 2))
        use("take_rows")(1, heavy / heavy.sum(), np.random.default_rng(3), spacings, rows, np.full(1, 500))
        use("mark_errors")(columns[1], kinds, heavy, 0.3, 1, 0, wrong)
        use("reweigh")(heavy, wrong, 0.7, 1.9)
        drawn = rows.copy()
        begin = use("thin_rows")(drawn, 100, wrong, 0.7 / 1.9, np.random.default_rng(4))
        assert 100 < begin < 400
        table = np.array([0, 1]), np.array([0.0, 0.3]), np.array([0, 1]), np.array([1, 0]), np.array([0.5, 1.25])
        use("tally")(columns.T, *table, votes)
        results.append([one.tobytes() for one in (rows, drawn, spacings, wrong, heavy, votes)])
    assert results[0] == results[1]


@pytest.mark.parametrize("kinds", [2, 4])
@pytest.mark.parametrize("name", quick(["cc-threshold", "joint-lucb"], ["cc-threshold"]))
def test_searches_are_the_same_compiled_and_interpreted(name, kinds):
    options = {"threshold": 1.0 / kinds + 0.15} if name == "cc-threshold" else {}
    algorithm = design(name, 0.2, 0.1, 0.2, **options)
    outcomes = []
    for runner in (Run, InterpretedRun):
        rows = data(4, kinds=kinds)
        world = rows.world(algorithm.arms)
        run = runner(algorithm, world)
        run.add_arms(np.arange(algorithm.arms, dtype=float))
        assert run.advance(rows.rng, rows.rng, 4000) in (STOPPED, OUT_OF_BUDGET)
        arrays = (run.pulls, run.stats[0], world.features, world.cuts, world.left, world.right, world.rows)
        outcomes.append((run.history.t, run.recommend(), *(np.asarray(array).tolist() for array in arrays)))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] > 20


# ---- stumps


@pytest.mark.parametrize("kinds", [2, 3])
def test_the_best_stump_is_the_best_of_all(kinds):
    rng = np.random.default_rng(5)
    for _ in range(200):
        size = int(rng.integers(1, 9))
        values, classes = rng.integers(4, size=size).astype(float).tolist(), rng.integers(kinds, size=size).tolist()
        sort_values(values, classes)
        assert values == sorted(values)
        cut, left, right = best_stump(values, classes, [0] * (2 * kinds))

        def errors(cut, left, right, values=values, classes=classes):
            return sum((left if value <= cut else right) != kind for value, kind in zip(values, classes, strict=True))

        everything = product((-0.5, 0.5, 1.5, 2.5, 3.5), range(kinds), range(kinds))
        assert errors(cut, left, right) == min(errors(*one) for one in everything)
        assert left == right or values[0] < cut < values[-1]


def test_no_row_is_looked_at_twice():
    """Fits and pulls take rows one after another; what does not fit is dropped, and fresh rows are drawn."""
    rows = data(6)
    world = rows.world(3)
    size = len(rows.rows)
    world.sample_sum(0.0, 100, rows.rng)
    assert rows.cursor[0] == FITTED_ROWS + 100
    world.sample_sum(0.0, 50, rows.rng)
    assert rows.cursor[0] == FITTED_ROWS + 150
    before = rows.rows.copy()
    world.sample_sum(0.0, size - 200, rows.rng)
    assert rows.cursor[0] == size - 200
    assert (rows.rows != before).any()
    assert world.features.tolist()[1:] == [-1, -1]


def test_draws_that_were_looked_at_do_not_come_back():
    """Draws are marked by their place: a row of its own for each, all wrong, so that none is dropped."""
    size = 9000
    rows = ColumnRows(np.zeros((1, size)), np.arange(size) % 2, np.ones(size), 2, np.random.default_rng(13))
    rows.rows[:] = np.arange(len(rows.rows))
    rows.cursor[0] = 700
    rows.wrong[:] = 1.0 / size
    rows.marked = 1.0
    rows.boost(math.log(3.0))
    assert rows.cursor[0] == 700
    assert rows.rows[700:].tolist() == list(range(700, len(rows.rows)))


@pytest.mark.statistical
def test_pulls_have_the_stump_s_exact_accuracy_for_mean():
    rows = data(7, kinds=3)
    world = rows.world(5)
    for arm in range(5):
        total = sum(world.sample_sum(float(arm), 2000, rows.rng) for _ in range(10))
        accuracy = 1.0 - rows.error(rows.stump(world, arm))
        assert not unlikely(total, 20_000, accuracy)
        assert unlikely(total, 20_000, accuracy - 0.03)  # a control
        ones = sum(world.sample(float(arm), rows.rng) for _ in range(2000))
        assert not unlikely(ones, 2000, accuracy)


# ---- AdaBoost's formula


def test_weights_after_a_round_by_hand():
    """Four rows of weight 1/4, one of them wrong: error 1/4, weight ln 3, and the wrong row has half of all weight."""
    rows = ColumnRows(np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([0, 1, 1, 0]), np.ones(4), 2, np.random.default_rng(0))
    assert rows.error(Stump(0, 1.5, 0, 1)) == 0.25
    assert rows.wrong.tolist() == [0.0, 0.0, 0.0, 0.25]
    rows.boost(math.log(3.0))
    assert rows.weights.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    # the stump that is right about the last row alone among its side: error 1/6
    assert rows.error(Stump(0, 3.5, 1, 0)) == pytest.approx(1 / 6)
    rows.boost(math.log(5.0))
    assert rows.weights.tolist() == pytest.approx([1 / 2, 1 / 10, 1 / 10, 3 / 10])


def test_rounds_follow_adaboost_to_the_last_weight():
    """With the stumps of the rounds, weights and errors computed the long way."""
    columns, labels, weights = some_data(8, kinds=3)
    rows = ColumnRows(columns, labels, weights, 3, np.random.default_rng(8))
    expected = weights / weights.sum()
    for one in rounds(rows, Asking(learning_rate=0.7), 8):
        wrong = np.where(columns[one.stump.feature] <= one.stump.cut, one.stump.left, one.stump.right) != labels
        error = expected[wrong].sum()
        assert one.error == pytest.approx(error, rel=1e-9)
        assert one.estimator_weight == pytest.approx(0.7 * (math.log((1 - error) / error) + math.log(2.0)), rel=1e-9)
        expected = expected * np.exp(one.estimator_weight * wrong)
        expected /= expected.sum()
    assert rows.weights == pytest.approx(expected, rel=1e-9)


# ---- lazy features


def test_lazy_columns_are_columns():
    """A feature that reads a column has that column's errors, and its pulls are right as often as those say."""
    columns, labels, weights = some_data(9)
    rows = LazyRows(lambda rng: lambda block: block[:, 1], columns.T, labels, weights, 2, np.random.default_rng(9))
    plain = ColumnRows(columns[1:2], labels, weights, 2, np.random.default_rng(9))
    lazy = rows.world(4)
    for arm in range(4):
        total = int(lazy.sample_sum(float(arm), 1000, rows.rng))
        accuracy = 1.0 - rows.error(lazy.stumps[arm])
        assert binomtest(total, 1000, accuracy).pvalue > 1e-6
        assert binomtest(total, 1000, accuracy - 0.2).pvalue < 1e-6, "another accuracy would be found out"
        assert accuracy == pytest.approx(1.0 - plain.error(Stump(0, *lazy.stumps[arm][1:])))


def test_lazy_features_are_evaluated_where_they_are_looked_at():
    columns, labels, weights = some_data(10, rows=400)
    seen = []

    def draw(rng):
        feature = int(rng.integers(len(columns)))

        def function(block):
            seen.append(len(block))
            return block[:, feature]

        return function

    rows = LazyRows(draw, columns.T, labels, weights, 2, np.random.default_rng(10))
    (one,) = rounds(rows, Asking(), 1)
    certificate = one.certificate
    assert certificate.proved
    assert sum(seen) == certificate.pulls + FITTED_ROWS * certificate.arms + 400


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda block: block, r"one number for each of the 128 rows, got shape \(128, 5\)"),
        (lambda block: np.full(len(block), np.nan), "a feature function must return finite numbers"),
    ],
)
def test_feature_functions_that_are_none(function, words):
    columns, labels, weights = some_data(11)
    rows = LazyRows(lambda rng: function, columns.T, labels, weights, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match=words):
        list(rounds(rows, Asking(), 1))
    rows = LazyRows(lambda rng: 3, columns.T, labels, weights, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="features must draw functions of rows, got 3"):
        list(rounds(rows, Asking(), 1))


def test_no_array_of_the_world_is_named_like_a_property_of_an_algorithm():
    """Compiled code looks names up in all classes that were compiled before: it would not find the array."""
    names = set()
    for package in (topalpha.algorithms, topalpha.confidence, topalpha.families):
        for file in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for kind in vars(importlib.import_module(file.name)).values():
                if isinstance(kind, type) and hasattr(kind, "_fields"):
                    names |= {name for name, member in vars(kind).items() if isinstance(member, property)}
    assert "traits" in names
    assert names.isdisjoint(StumpWorld._fields)
