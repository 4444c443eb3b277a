"""The boosting study: its rivals are exact, its data come back, and its page says what its results say."""

import json
import math
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from folders import ROOT
from marks import quick
from studies.boosting import __main__ as main
from studies.boosting import data, images, methods, passes, rivals
from studies.boosting.curves import Limit, checkpoints
from studies.boosting.data import real
from studies.boosting.measures import (
    EXACT,
    OURS,
    SLACK,
    SORTED,
    accuracy_at,
    by_size,
    reached,
    seconds_to_target,
    target,
    typical,
)
from studies.boosting.methods import ending_after, exhaustive, of_bandit, presorted
from studies.boosting.report import BEGIN, END, put, section
from studies.boosting.rivals import Exhaustive, boost
from studies.boosting.short import at_size, in_short, times_of
from studies.boosting.words import equal_time, figures, percent, ratio, spread, spread_of_all, three
from topalpha.sklearn import BanditAdaBoostClassifier

FOLDER, PAGE = ROOT / "docs" / "boosting", ROOT / "docs" / "boosting.md"


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


def test_generated_table_comes_back_and_grows():
    task, again = data.generated(1_000, 3, 500), data.generated(1_000, 3, 500)
    assert all(np.array_equal(a, b) for a, b in zip(task[1:], again[1:], strict=True))
    longer, other = data.generated(50_500, 3, 500), data.generated(1_000, 4, 500)
    assert np.array_equal(longer.train[:1_000], task.train)
    assert np.array_equal(longer.test, task.test)
    assert not np.array_equal(other.train, task.train)
    assert not np.array_equal(task.train[:500], task.test)
    assert task.train.dtype == np.float32
    assert 0.2 < task.labels.mean() < 0.8


def test_images_come_back_and_test_images_show_other_digits():
    one, labels = images.images(300, 2)
    again, _ = images.images(2_100, 2)
    assert np.array_equal(again[:300], one)
    other, _ = images.images(300, 2, held_out=True)
    assert not np.array_equal(one, other)
    assert set(labels) == {0, 1}


@pytest.mark.slow
def test_filters_on_some_rows_and_by_matrix_products_agree_with_a_plain_sum():

    some, _ = images.images(20, 0)
    filters = images.random_filters(3, np.random.default_rng(0))
    every = images.all_responses(some, filters)
    assert filters.sum(axis=(1, 2)) == pytest.approx(0.0, abs=1e-5)
    for which, weights in enumerate(filters):
        rows = np.array([7, 0, 19])
        found = np.empty(3, dtype=np.float32)
        images.responses(some, rows, weights, found)
        for row, value in zip(rows, found, strict=True):
            places = range(images.PLACES)
            plain = max(
                float((some[row, a : a + images.FILTER, b : b + images.FILTER] * weights).sum())
                for a in places
                for b in places
            )
            assert value == pytest.approx(plain, abs=1e-4)
            assert every[row, which] == pytest.approx(plain, abs=1e-4)
    assert images.all_responses(some, filters, limit=0.0) is None


def test_checkpoints_are_close_and_hold_the_last_round():
    assert checkpoints(1) == [1]
    for rounds in (2, 7, 100, 600):
        found = checkpoints(rounds)
        assert found[-1] == rounds
        assert all(before < after <= max(before + 1, 1.12 * before) for before, after in pairwise(found))


def curve(method, seconds, accuracy):
    rounds = list(range(1, len(seconds) + 1))
    return {"method": method, "rounds": rounds, "seconds": seconds, "accuracy": accuracy, "looked": None}


def a_run(rows, seed, *curves, not_ready=()):
    return {"rows": rows, "seed": seed, "curves": list(curves), "not_ready": list(not_ready)}


def test_the_target_and_when_it_is_reached_by_hand():
    exact = curve("exact", [1.0, 2.0, 3.0, 4.0], [0.6, 0.7, 0.81, 0.8])
    lucky = curve("bandit, edge", [0.1, 0.2, 0.3, 0.4], [0.9, 0.7, 0.8, 0.79])
    steady = curve("bandit, best", [0.1, 0.2, 0.3, 0.4], [0.5, 0.798, 0.8, 0.81])
    run = a_run(10, 0, exact, lucky, steady)
    assert target(run) == pytest.approx(0.798)
    assert reached(lucky, 0.798) is None  # never twice in a row
    assert seconds_to_target(run, exact) == 3.0
    assert seconds_to_target(run, steady) == 0.2
    last = curve("bandit, edge", [0.1, 0.2, 0.3], [0.7, 0.7, 0.8])
    assert reached(last, 0.798) == 2  # the last checkpoint counts alone
    assert accuracy_at(exact, 2.5) == 0.7
    assert accuracy_at(exact, 0.5) is None


def test_the_page_and_its_pictures_follow_from_the_committed_results():
    results = {
        name: json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in ("tables", "real", "images")
    }
    page = PAGE.read_text(encoding="utf-8")
    assert put(page, section(results)) == page
    for name in ("accuracy", "seconds", "images"):
        assert f"boosting/{name}.png" in page
        assert (FOLDER / f"{name}.png").stat().st_size > 10_000


def test_the_readme_quotes_the_results():
    groups = by_size(json.loads((FOLDER / "tables.json").read_text(encoding="utf-8"))["runs"])
    many, few = times_of(groups[1_000_000]), times_of(groups[3_500])
    readme, ours = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split()), OURS[0]
    usual, best, lost = (
        ratio(one) for one in (many[SORTED] / many[ours], many[EXACT] / many[ours], few[EXACT] / few[ours])
    )
    at_many = f"it is {usual} as a compiled exact search over presorted rows and {best} as a quicker one, over bins"
    target = f"100 rounds of exact search, less {100 * SLACK:g} percentage points"
    assert f"{target}, on a generated table of 100 features, at 1,000,000 rows, {at_many}" in readme
    assert f"at 3,500 rows it is {lost} as that one" in readme


def test_the_page_has_a_place_for_the_tables():
    page = PAGE.read_text(encoding="utf-8")
    assert f"{BEGIN}\nnew tables\n{END}" in put(page, "new tables")
    assert put(put(page, "one"), "two") == put(page, "two")
    with pytest.raises(SystemExit, match="must have the lines"):
        put("no place", "text")


def test_weights_of_the_rivals_stay_normal_where_few_rows_are_hard():
    task = real("breast cancer", 0)
    found = boost(task.labels, lambda: Exhaustive(task.train, task.labels), 120, 60.0)
    assert len(found.stumps) == 120
    assert all(0.0 < stump.edge < 1.0 for stump in found.stumps)


def at_once(method, seconds, end=0.9):
    """Reaches every target after so many seconds."""
    return curve(method, [0.5 * seconds, seconds, 2.0 * seconds], [0.1, end, end])


def never(method, seconds=1.0, end=0.5):
    return at_once(method, seconds, end)


def test_what_is_said_in_short_says_losses_and_wins():
    lost = [
        a_run(100, seed, at_once("exact", 1.0), at_once("bandit, edge", 4.0), never("bandit, best"), never("LightGBM"))
        for seed in range(3)
    ]
    won = a_run(
        9000,
        0,
        at_once("exact", 9.0),
        at_once("exact, sorted rows", 30.0),
        at_once("bandit, edge", 3.0, 0.91),
        at_once("bandit, best", 18.0),
        at_once("sampled rows", 2.0, 0.95),
        at_once("LightGBM", 5.0, 0.92),
    )
    images = a_run(50, 0, at_once("exact", 9.0), never("bandit, edge"), at_once("new filters, 2,000 rows", 2.0, 0.95))
    text = in_short({100: lost, 9000: [won]}, {50: [images]})
    words = [" ".join(one.split()) for one in text.removeprefix("- ").split("\n- ")]
    assert words == [
        "**100 rows** (3 seeds): *bandit, edge* needs 4 s. That is 4 times as slow as *exact* (1 s). No other "
        "method is ahead of it.",
        "**9,000 rows** (one seed): *bandit, edge* needs 3 s. That is 3 times as fast as *exact* (9 s) and 10 times as "
        "fast as *exact, sorted rows* (30 s). Ahead of it: *sampled rows* (2 s).",
        "**The other question**: *bandit, best* does not reach the target in every run at 100 rows and needs 18 s at "
        "9,000 rows, 2 times as slow as *exact*.",
        "**The target decides who wins.** At 100 rows, at the end of its rounds or its time, *bandit, edge* classifies "
        "90.0% rightly, *exact* after its fewer rounds 90.0%. No other method is ahead of it.",
        "**Filters on 50 images** (one seed): *bandit, edge* does not reach the target in every run. Those that do: "
        "*new filters, 2,000 rows* (2 s) and *exact* (9 s). At the end of the time: *new filters, 2,000 rows* 95.0%, "
        "*exact* 90.0% and *bandit, edge* 50.0%.",
    ]
    ended = in_short({9000: [won]}, {})
    assert "*sampled rows* 95.0% and *LightGBM* 92.0%" in " ".join(ended.split())


def test_one_seed_that_misses_the_target_is_not_left_out():
    runs = [a_run(100, seed, at_once("exact", 1.0), at_once("bandit, edge", 0.1)) for seed in range(2)]
    assert typical(runs, "bandit, edge") == pytest.approx(0.1)
    runs.append(a_run(100, 2, at_once("exact", 1.0), never("bandit, edge")))
    assert typical(runs, "bandit, edge") is None
    assert "does not reach the target in every run. Those that do: *exact*." in at_size(100, runs)


def test_medians_and_ranges_by_hand():
    assert spread([1.0, 3.0, 2.0], three) == "2 (1–3)"
    assert spread([1.0, 1.0], three) == "1 (1–1)"  # a figure without a range is of one run
    assert spread([1.0], three) == "1"
    assert spread([1.0, None, 3.0], three) == "2 (1–3), 1 of 3 not"
    assert spread([None], three) == "not reached"
    assert spread([], three) == ""
    assert spread_of_all([0.5, 0.7, 0.6], percent) == "60.0 (50.0–70.0)"
    assert spread_of_all([None, 0.7, None], percent) == "– (– to 70.0)"  # not 70
    assert spread_of_all([0.6, None, 0.7], percent) == "60.0 (– to 70.0)"
    assert spread_of_all([None, None], percent) == "–"
    assert spread_of_all([0.6], percent) == "60.0"
    assert spread_of_all([], percent) == ""


def test_a_method_that_is_not_ready_stands_in_the_tables():
    runs = [a_run(100, seed, at_once("exact", 1.0), not_ready=["exact, 1,600 filters"]) for seed in range(2)]
    found = figures({100: runs, 200: [a_run(200, 0, at_once("exact", 1.0))]}, seconds_to_target, three)
    assert "| exact, 1,600 filters | not ready |  |" in found
    assert "| exact, 1,600 filters | – | – |" in equal_time({100: runs}, (0.5, 1.0))


def test_both_exact_searches_take_the_same_rounds():
    task = data.generated(600, 1, 300)
    one, other = (method(task, Limit(12, 60.0), 0) for method in (exhaustive, presorted))
    assert (one.rounds, one.accuracy, one.looked) == (other.rounds, other.accuracy, other.looked)


@pytest.mark.slow
def test_values_looked_at_are_counted_alike():
    """What the rounds read to choose stumps: no preparations, and not the value a row that AdaBoost's step reads."""

    task = data.generated(600, 1, 300)
    each = {
        methods.exhaustive: 600 * 100,
        methods.random_features: 600 * 10,
        methods.random_stumps: 59 * (600 + 128),
        methods.sampled_rows: 10_000 * 100 + 600,
    }
    for method, values in each.items():
        looked = method(task, Limit(5, 60.0), 0).looked
        assert looked == pytest.approx([1e-6 * values * at for at in range(1, 6)], rel=1e-3)


@pytest.mark.parametrize("max_pulls", [2000, None])
def test_passes_of_the_bandit_over_all_rows_are_counted(max_pulls):
    """One a round is AdaBoost's own; rounds whose pulls are spent try some stumps more."""
    task = data.generated(600, 1, 300)
    model = BanditAdaBoostClassifier(20, max_pulls=max_pulls, random_state=0)
    with ending_after(60.0) as passes:
        model.fit(task.train, task.labels)
    assert len(passes) == len(model.estimators_)
    spent = [count for count, one in zip(passes, model.certificates_, strict=True) if not one.proved]
    assert min(passes) == 1
    if max_pulls is None:
        assert not spent
    else:
        assert spent
        assert all(2 <= count <= 10 for count in spent)
    plain = sum(model.pulls_) + 128 * sum(one.arms for one in model.certificates_)
    looked = of_bandit(model, task, np.array(passes) - 1).looked
    assert looked[-1] == pytest.approx(1e-6 * (plain + 600 * (sum(passes) - len(passes))), rel=1e-3)


def test_what_is_missing_is_said_in_one_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(main, "ROOT", tmp_path)
    monkeypatch.setattr(main, "BUILD", tmp_path / "build" / "boosting")
    monkeypatch.setattr(sys, "argv", ["boosting.py", "--quick", "--page"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 2
    sentence = "the page needs all parts, and build/boosting has no results of tables, real, images"
    assert f"{sentence}: measure them first" in capsys.readouterr().err
    monkeypatch.setattr(main, "run", lambda plan, folder, wanted: (folder / f"{wanted[0]}.json").write_text("{}"))
    monkeypatch.setattr(sys, "argv", ["boosting.py", "--quick", "--part", "real"])
    main.main()
    assert "has no results of tables, images: it is not written." in capsys.readouterr().out


COMMANDS = (
    "studies.boosting",
    "studies.boosting.rounds",
    "studies.comparison",
    "studies.reproduction",
    "benchmarks",
)


def run_module(module, *arguments):
    """A module as a program, as the Makefile runs it."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("module", COMMANDS)
def test_scripts_refuse_what_they_do_not_know(module):
    found = run_module(module, "--wrong")
    assert found.returncode == 2
    assert found.stderr.strip().splitlines()[-1].endswith("error: unrecognized arguments: --wrong")


@pytest.mark.slow
def test_benchmarks_say_which_parts_there_are():
    found = run_module("benchmarks", "nope")
    assert found.returncode == 2
    assert "part must be one of start, speed, table, pulls, practice, field, dashboard, page, got nope" in found.stderr
    found = run_module("benchmarks", "--help")
    assert found.returncode == 0
    assert "start, speed, table" in found.stdout
