"""The rivals of boosting by bandits: exact searches find the best stump, and sampled ones are scored exactly."""

import math

import numpy as np
import pytest

from studies.boosting import data, passes, rivals
from studies.boosting.data import real
from studies.boosting.rivals import Exhaustive, boost
from tests.support.marks import quick


def signed_weights(rows, rng):
    raw = rng.exponential(size=rows) * rng.choice([-1.0, 1.0], size=rows)
    return (raw / np.abs(raw).sum()).astype(np.float32)


def brute_force(features, signed):
    """The largest edge of all stumps, constant ones too."""
    best = abs(float(signed.astype(float).sum()))
    for column in features.T:
        for threshold in np.unique(column):
            said = np.where(column > threshold, 1.0, -1.0)
            best = max(best, abs(float(said @ signed.astype(float))))
    return best


def edge_of_stump(stump, features, signed):
    said = np.where(features[:, stump.feature] > stump.threshold, stump.sign, -stump.sign)
    return float(said @ signed.astype(float))


@pytest.mark.parametrize("kind", quick(["smooth", "ties", "constant", "few"], ["ties", "few"]))
@pytest.mark.parametrize("search", ["Exhaustive", "Presorted"])
def test_exact_searches_find_the_best_of_all_stumps(kind, search):
    for seed in range(5):
        rng = np.random.default_rng((seed, 7))
        rows, width = (3, 2) if kind == "few" else (700, 6)
        features = rng.standard_normal((rows, width)).astype(np.float32)
        if kind == "ties":
            features = np.round(2.0 * features) / 2.0
        if kind == "constant":
            features[:, 1:] = 1.0
        signed = signed_weights(rows, rng)
        found = getattr(rivals, search)(features, (signed > 0).astype(np.int64)).best(signed)
        assert found.edge == pytest.approx(brute_force(features, signed), abs=1e-6)
        assert edge_of_stump(found, features, signed) == pytest.approx(found.edge, abs=1e-6)


def test_bins_are_looked_into_where_borders_do_not_have_the_best_threshold():
    rng = np.random.default_rng(3)
    features = rng.standard_normal((5_000, 3)).astype(np.float32)
    signed = signed_weights(5_000, rng)
    search = rivals.Exhaustive(features, (signed > 0).astype(np.int64))
    found = search.best(signed)
    assert search.opened > 0
    assert found.threshold not in search.borders[found.feature]
    assert found.edge == pytest.approx(brute_force(features, signed), abs=1e-6)


@pytest.mark.slow
def test_random_stumps_are_scored_exactly():
    rng = np.random.default_rng(5)
    features = np.round(rng.standard_normal((4_321, 9)), 2).astype(np.float32)
    signed = signed_weights(4_321, rng)
    one, other = (rivals.RandomStumps(features, 40, np.random.default_rng(1)) for _ in range(2))
    drawn = one.draw(signed)
    edges = [
        edge_of_stump(rivals.Stump(feature, threshold, 1, 0.0), features, signed)
        for feature, threshold in zip(*drawn, strict=True)
    ]
    for (feature, threshold), edge in zip(zip(*drawn, strict=True), edges, strict=True):
        whole = float(signed.astype(float).sum())
        assert passes.edge_of(one.columns[feature], threshold, signed, whole) == pytest.approx(edge, abs=1e-6)
    found = other.best(signed)
    assert found.edge == pytest.approx(max(map(abs, edges)), abs=1e-6)
    assert edge_of_stump(found, features, signed) == pytest.approx(found.edge, abs=1e-6)


@pytest.mark.slow
def test_thresholds_fitted_to_a_few_rows_by_hand():
    columns = np.array([[5.0, 1.0, 3.0, 2.0, 4.0]], dtype=np.float32)
    signed = np.array([0.2, -0.2, 0.2, -0.2, 0.2], dtype=np.float32)  # positive above 2
    thresholds = np.empty(1, dtype=np.float32)
    passes.fit_thresholds(columns, signed, np.array([0]), np.array([[0, 1, 2, 3, 4]]), thresholds)
    assert thresholds[0] == 2.0


@pytest.mark.slow
def test_boosting_repeats_a_plain_adaboost():
    task = data.generated(250, 4, 100)
    found = rivals.boost(task.labels, lambda: rivals.Exhaustive(task.train, task.labels), 10, 60.0)
    signs, margin = 2.0 * task.labels - 1.0, np.zeros(250)
    for stump, vote in zip(found.stumps, found.votes, strict=True):
        weights = np.exp(-signs * margin)
        signed = (signs * weights / weights.sum()).astype(np.float32)
        assert stump.edge == pytest.approx(brute_force(task.train, signed), abs=1e-5)
        assert vote == pytest.approx(0.5 * math.log((1.0 + stump.edge) / (1.0 - stump.edge)))
        margin += vote * np.where(task.train[:, stump.feature] > stump.threshold, stump.sign, -stump.sign)
    *_, last = found.staged_decision(task.train)
    assert last == pytest.approx(margin)
    assert found.seconds == sorted(found.seconds)
    assert found.prepared < found.seconds[0]


def test_weights_of_a_step_add_up_to_one_and_forget_the_stump():
    rng = np.random.default_rng(0)
    column, signed = rng.standard_normal(1_000).astype(np.float32), signed_weights(1_000, rng)
    stump = rivals.Stump(0, 0.1, 1, 0.0)
    edge = edge_of_stump(stump, column[:, None], signed)
    passes.reweigh(column, 0.1, 1, math.atanh(edge), signed)
    assert np.abs(signed).sum() == pytest.approx(1.0, abs=1e-5)
    assert edge_of_stump(stump, column[:, None], signed) == pytest.approx(0.0, abs=1e-5)


def test_weights_of_the_rivals_stay_normal_where_few_rows_are_hard():
    task = real("breast cancer", 0)
    found = boost(task.labels, lambda: Exhaustive(task.train, task.labels), 120, 60.0)
    assert len(found.stumps) == 120
    assert all(0.0 < stump.edge < 1.0 for stump in found.stumps)
