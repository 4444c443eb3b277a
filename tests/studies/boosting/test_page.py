"""The page about boosting and the README say what the study measured, in words that are worked out by hand here."""

import json
import sys

import pytest

from studies.boosting import __main__ as main
from studies.boosting.measures import (
    EXACT,
    OURS,
    accuracy_at,
    by_size,
    reached,
    seconds_to_target,
    target,
    typical,
)
from studies.boosting.report import BEGIN, END, put, section
from studies.boosting.short import at_size, in_short, times_of
from studies.boosting.words import equal_time, figures, percent, ratio, spread, spread_of_all, three
from tests.support.folders import ROOT

FOLDER, PAGE = ROOT / "docs" / "boosting", ROOT / "docs" / "boosting.md"


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
    best, lost = (ratio(one) for one in (many[EXACT] / many[ours], few[EXACT] / few[ours]))
    at_many = f"at 1,000,000 rows it is {best} as a compiled exact search over bins"
    assert f"{at_many}, at 3,500 rows {lost}." in readme


def test_the_page_has_a_place_for_the_tables():
    page = PAGE.read_text(encoding="utf-8")
    assert f"{BEGIN}\nnew tables\n{END}" in put(page, "new tables")
    assert put(put(page, "one"), "two") == put(page, "two")
    with pytest.raises(SystemExit, match="must have the lines"):
        put("no place", "text")


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
