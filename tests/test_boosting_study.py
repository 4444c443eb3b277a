"""The boosting study: its rivals are exact, its data come back, and its page says what its results say."""

import math
import re
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
FOLDER, PAGE = ROOT / "docs" / "boosting", ROOT / "docs" / "boosting.md"


@pytest.fixture(autouse=True)
def studies(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "studies"))
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith("boosting_"):
            del sys.modules[name]


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


@pytest.mark.parametrize("kind", ["smooth", "ties", "constant", "few"])
@pytest.mark.parametrize("search", ["Exhaustive", "Presorted"])
def test_exact_searches_find_the_best_of_all_stumps(kind, search):
    import boosting_rivals

    for seed in range(5):
        rng = np.random.default_rng((seed, 7))
        rows, width = (3, 2) if kind == "few" else (700, 6)
        features = rng.standard_normal((rows, width)).astype(np.float32)
        if kind == "ties":
            features = np.round(2.0 * features) / 2.0
        if kind == "constant":
            features[:, 1:] = 1.0
        signed = signed_weights(rows, rng)
        found = getattr(boosting_rivals, search)(features, (signed > 0).astype(np.int64)).best(signed)
        assert found.edge == pytest.approx(brute_force(features, signed), abs=1e-6)
        assert edge_of_stump(found, features, signed) == pytest.approx(found.edge, abs=1e-6)


def test_bins_are_looked_into_where_borders_do_not_have_the_best_threshold():
    import boosting_rivals

    rng = np.random.default_rng(3)
    features = rng.standard_normal((5_000, 3)).astype(np.float32)
    signed = signed_weights(5_000, rng)
    search = boosting_rivals.Exhaustive(features, (signed > 0).astype(np.int64))
    found = search.best(signed)
    assert search.opened > 0
    assert found.threshold not in search.borders[found.feature]
    assert found.edge == pytest.approx(brute_force(features, signed), abs=1e-6)


def test_random_stumps_are_scored_exactly():
    import boosting_passes
    import boosting_rivals

    rng = np.random.default_rng(5)
    features = np.round(rng.standard_normal((4_321, 9)), 2).astype(np.float32)
    signed = signed_weights(4_321, rng)
    one, other = (boosting_rivals.RandomStumps(features, 40, np.random.default_rng(1)) for _ in range(2))
    drawn = one.draw(signed)
    edges = [
        edge_of_stump(boosting_rivals.Stump(feature, threshold, 1, 0.0), features, signed)
        for feature, threshold in zip(*drawn, strict=True)
    ]
    for (feature, threshold), edge in zip(zip(*drawn, strict=True), edges, strict=True):
        whole = float(signed.astype(float).sum())
        assert boosting_passes.edge_of(one.columns[feature], threshold, signed, whole) == pytest.approx(edge, abs=1e-6)
    found = other.best(signed)
    assert found.edge == pytest.approx(max(map(abs, edges)), abs=1e-6)
    assert edge_of_stump(found, features, signed) == pytest.approx(found.edge, abs=1e-6)


def test_thresholds_fitted_to_a_few_rows_by_hand():
    import boosting_passes

    columns = np.array([[5.0, 1.0, 3.0, 2.0, 4.0]], dtype=np.float32)
    signed = np.array([0.2, -0.2, 0.2, -0.2, 0.2], dtype=np.float32)  # positive above 2
    thresholds = np.empty(1, dtype=np.float32)
    boosting_passes.fit_thresholds(columns, signed, np.array([0]), np.array([[0, 1, 2, 3, 4]]), thresholds)
    assert thresholds[0] == 2.0


def test_boosting_repeats_a_plain_adaboost():
    import boosting_data
    import boosting_rivals

    task = boosting_data.generated(250, 4, 100)
    found = boosting_rivals.boost(task.labels, lambda: boosting_rivals.Exhaustive(task.train, task.labels), 10, 60.0)
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
    import boosting_passes
    import boosting_rivals

    rng = np.random.default_rng(0)
    column, signed = rng.standard_normal(1_000).astype(np.float32), signed_weights(1_000, rng)
    stump = boosting_rivals.Stump(0, 0.1, 1, 0.0)
    edge = edge_of_stump(stump, column[:, None], signed)
    boosting_passes.reweigh(column, 0.1, 1, math.atanh(edge), signed)
    assert np.abs(signed).sum() == pytest.approx(1.0, abs=1e-5)
    assert edge_of_stump(stump, column[:, None], signed) == pytest.approx(0.0, abs=1e-5)


def test_generated_table_comes_back_and_grows():
    import boosting_data

    task, again = boosting_data.generated(1_000, 3, 500), boosting_data.generated(1_000, 3, 500)
    assert all(np.array_equal(a, b) for a, b in zip(task[1:], again[1:], strict=True))
    longer, other = boosting_data.generated(50_500, 3, 500), boosting_data.generated(1_000, 4, 500)
    assert np.array_equal(longer.train[:1_000], task.train)
    assert np.array_equal(longer.test, task.test)
    assert not np.array_equal(other.train, task.train)
    assert not np.array_equal(task.train[:500], task.test)
    assert task.train.dtype == np.float32
    assert 0.2 < task.labels.mean() < 0.8


def test_images_come_back_and_test_images_show_other_digits():
    import boosting_images

    one, labels = boosting_images.images(300, 2)
    again, _ = boosting_images.images(2_100, 2)
    assert np.array_equal(again[:300], one)
    other, _ = boosting_images.images(300, 2, held_out=True)
    assert not np.array_equal(one, other)
    assert set(labels) == {0, 1}


def test_filters_on_some_rows_and_by_matrix_products_agree_with_a_plain_sum():
    import boosting_images as study

    some, _ = study.images(20, 0)
    filters = study.random_filters(3, np.random.default_rng(0))
    every = study.all_responses(some, filters)
    assert filters.sum(axis=(1, 2)) == pytest.approx(0.0, abs=1e-5)
    for which, weights in enumerate(filters):
        rows = np.array([7, 0, 19])
        found = np.empty(3, dtype=np.float32)
        study.responses(some, rows, weights, found)
        for row, value in zip(rows, found, strict=True):
            places = range(study.PLACES)
            plain = max(
                float((some[row, a : a + study.FILTER, b : b + study.FILTER] * weights).sum())
                for a in places
                for b in places
            )
            assert value == pytest.approx(plain, abs=1e-4)
            assert every[row, which] == pytest.approx(plain, abs=1e-4)
    assert study.all_responses(some, filters, limit=0.0) is None


def test_checkpoints_are_close_and_hold_the_last_round():
    from boosting_methods import checkpoints

    assert checkpoints(1) == [1]
    for rounds in (2, 7, 100, 600):
        found = checkpoints(rounds)
        assert found[-1] == rounds
        assert all(before < after <= max(before + 1, 1.12 * before) for before, after in pairwise(found))


def curve(method, seconds, accuracy):
    return {"method": method, "rounds": list(range(1, len(seconds) + 1)), "seconds": seconds, "accuracy": accuracy}


def test_the_target_and_when_it_is_reached_by_hand():
    from boosting_measures import accuracy_at, reached, seconds_to_target, speed_up, target

    exact = curve("exact", [1.0, 2.0, 3.0, 4.0], [0.6, 0.7, 0.81, 0.8])
    lucky = curve("bandit, edge", [0.1, 0.2, 0.3, 0.4], [0.9, 0.7, 0.8, 0.79])
    steady = curve("bandit, best", [0.1, 0.2, 0.3, 0.4], [0.5, 0.798, 0.8, 0.81])
    run = {"rows": 10, "seed": 0, "curves": [exact, lucky, steady]}
    assert target(run) == pytest.approx(0.798)
    assert reached(lucky, 0.798) is None  # never twice in a row
    assert seconds_to_target(run, exact) == 3.0
    assert seconds_to_target(run, steady) == 0.2
    assert speed_up(run, steady) == pytest.approx(15.0)
    assert accuracy_at(exact, 2.5) == 0.7
    assert accuracy_at(exact, 0.5) is None


def test_the_page_and_its_pictures_follow_from_the_committed_results():
    import json

    from boosting_report import put, section

    results = {
        name: json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("tables", "real", "images", "searches")
    }
    page = PAGE.read_text(encoding="utf-8")
    assert put(page, section(results)) == page
    for name in ("accuracy", "seconds", "images"):
        assert f"boosting/{name}.png" in page
        assert (FOLDER / f"{name}.png").stat().st_size > 10_000


def test_the_page_has_a_place_for_the_tables():
    from boosting_report import BEGIN, END, put

    page = PAGE.read_text(encoding="utf-8")
    assert f"{BEGIN}\nnew tables\n{END}" in put(page, "new tables")
    assert put(put(page, "one"), "two") == put(page, "two")
    with pytest.raises(SystemExit, match="must have the lines"):
        put("no place", "text")


def test_weights_of_the_rivals_stay_normal_where_few_rows_are_hard():
    from boosting_data import real
    from boosting_rivals import Exhaustive, boost

    task = real("breast cancer", 0)
    found = boost(task.labels, lambda: Exhaustive(task.train, task.labels), 120, 60.0)
    assert len(found.stumps) == 120
    assert all(0.0 < stump.edge < 1.0 for stump in found.stumps)


def test_what_the_page_says_in_short_is_what_its_tables_say():
    page = PAGE.read_text(encoding="utf-8")
    assert "less than a tenth of the time of the usual exact search" in page
    assert "about a third of the time of a cleverer one" in page
    lines = [line for line in page.splitlines() if line.startswith(("- 1,000,000 rows", "- 2,000,000 rows"))]
    assert len(lines) == 2
    for line in lines:
        clever, usual = (float(number) for number in re.findall(r"([\d.]+) times as fast", line))
        assert 2.5 < clever < 3.5
        assert usual > 10.0
        assert "sampled rows" in line
    few = next(line for line in page.splitlines() if line.startswith("- 3,500 rows"))
    assert len(re.findall("times as slow", few)) == 2
