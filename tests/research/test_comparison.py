"""Comparisons: what is measured is what simulate measures, nothing is lost, and nothing is measured twice."""

import csv
import io
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from tests.support.folders import ROOT
from tests.support.marks import quick
from tests.support.pictures import faults
from topalpha import design, simulate
from topalpha.algorithms import ALGORITHMS, entry
from topalpha.cli import main
from topalpha.cli.compare import contenders
from topalpha.figures import new_axes
from topalpha.figures.style import ALGORITHMS as LOOKS
from topalpha.randomness import run_seed
from topalpha.research.comparison import Comparison, ComparisonCase, Contender, compare
from topalpha.research.comparison import finished_cells as ledger_module
from topalpha.research.comparison import measuring as running_module
from topalpha.research.comparison.cells import allocation, cells
from topalpha.research.comparison.finished_cells import CELLS, CONFIGURATION, FinishedCells, load
from topalpha.research.comparison.pictures import SINGLE, dots, draw
from topalpha.research.comparison.tables import by_case, flat, limits, ranked, rivals, spent, to_csv
from topalpha.reservoirs import parse
from topalpha.simulation import interpret
from topalpha.theory import worst_case_lower_bound

LAW = "two-point(0.2,0.8,0.3)"
CASES = ComparisonCase.every([LAW], [0.3], [0.3], [0.2, 0.1])
SMALL = Comparison((Contender("cc-lucb"), Contender("lucb++")), CASES, runs=30, seed=4)


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def rows():
    return compare(SMALL)


def timeless(rows):
    return [{name: value for name, value in row.items() if "second" not in name} for row in rows]


def test_a_row_is_what_simulate_measures(rows):
    assert [row["key"] for row in rows] == [cell.key for cell in cells(SMALL)]
    for row, cell in zip(rows, cells(SMALL), strict=True):
        study = simulate(design(cell.contender.name, *cell.case.target), parse(LAW), 30, seed=4).to_dict()
        assert row["pulls"] == study["pulls"]
        assert row["errors"] == study["errors"]
        assert row["regret"] == study["regret"]
        assert row["arms"] == study["arms"]


def test_allocations_are_the_pulls_of_the_first_runs(rows):
    for row, cell in zip(rows, cells(SMALL), strict=True):
        algorithm, means, pulls = design(cell.contender.name, *cell.case.target), [], []
        for index in range(3):
            run = interpret(algorithm, parse(LAW), run_seed(4, index))
            means += run.means
            pulls += run.search.history.pulls[: len(run.means)]
        assert [mean for mean, _ in row["allocation"]] == [0.2, 0.8]
        for mean, average in row["allocation"]:
            chosen = [spent for spent, true in zip(pulls, means, strict=True) if true == mean]
            assert average == pytest.approx(sum(chosen) / len(chosen))


def test_many_means_are_cut_into_groups_of_arms():
    law, algorithm = parse("uniform(0,1)"), design("cc-lucb", 0.1, 0.3, 0.2)
    found = allocation(algorithm, law, 3, 0, 10**6)
    total = sum(interpret(algorithm, law, run_seed(0, index)).search.history.t for index in range(3))
    assert len(found) == 20
    assert [mean for mean, _ in found] == sorted(mean for mean, _ in found)
    sizes = [len(group) for group in np.array_split(np.arange(3 * algorithm.arms), 20)]
    assert sum(size * pulls for size, (_, pulls) in zip(sizes, found, strict=True)) == pytest.approx(total)


def test_a_comparison_goes_on_where_it_was(tmp_path, monkeypatch, rows):
    done, evaluate = [], running_module.evaluate

    def failing(cell, comparison, workers):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(cell.key)
        return evaluate(cell, comparison, workers)

    monkeypatch.setattr(running_module, "evaluate", failing)
    with pytest.raises(KeyboardInterrupt):
        compare(SMALL, tmp_path)
    # A crash in the middle of a line: that cell is lost, and no other.
    with (tmp_path / CELLS).open("ab") as file:
        file.write(b'{"key": "cc-l')
    again = []
    monkeypatch.setattr(running_module, "evaluate", lambda cell, *rest: again.append(cell.key) or evaluate(cell, *rest))
    assert timeless(compare(SMALL, tmp_path)) == timeless(rows)
    assert again == [cell.key for cell in cells(SMALL)][2:]
    again.clear()
    compare(SMALL, tmp_path)
    assert again == []


def test_a_recorded_comparison_is_reproduced_from_its_folder(tmp_path, rows):
    with FinishedCells(tmp_path, SMALL):
        pass
    assert load(tmp_path) == SMALL == load(tmp_path / CONFIGURATION)
    assert timeless(compare(load(tmp_path))) == timeless(rows)


def test_a_folder_of_another_comparison_is_refused_and_left_alone(tmp_path):
    with FinishedCells(tmp_path, SMALL) as ledger:
        ledger.add({"key": "one"})
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    other = Comparison(SMALL.contenders, SMALL.cases, runs=31, seed=4)
    with pytest.raises(ValueError, match="folder must hold this comparison"):
        FinishedCells(tmp_path, other)
    assert before == {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    (tmp_path / CELLS).write_text('{"key": "one"\n{"key": "two"}\n')
    with pytest.raises(ValueError, match=r"cells.jsonl must hold one JSON object per line"):
        FinishedCells(tmp_path, SMALL)
    (tmp_path / CELLS).write_text('{"name": "one"}\n')
    with pytest.raises(ValueError, match=r"cells.jsonl must hold cells with their keys"):
        FinishedCells(tmp_path, SMALL)


def test_runs_that_do_not_stop_are_cut_off_and_no_errors():
    short = Comparison(
        (Contender("kl-lucb"),), (ComparisonCase("two-point(0.1,0.9,0.1)", 0.1, 0.05, 0.2),), runs=30, limit=30
    )
    (row,) = compare(short)
    algorithm, law = design("kl-lucb", 0.1, 0.05, 0.2), parse("two-point(0.1,0.9,0.1)")
    wrong = [interpret(algorithm, law, run_seed(0, index), budget=30) for index in range(30)]
    assert sum(run.means[run.search.best] < 0.8 for run in wrong) > 3, "they would return wrong arms, had they stopped"
    assert row["unfinished"] == 30
    assert row["errors"]["count"] == 0
    assert row["pulls"]["mean"] == 30


@pytest.mark.slow
def test_a_run_that_ends_with_its_last_pull_is_not_cut_off():
    budgets = Comparison((Contender("bucb"),), CASES[:1], budgets=(100,), runs=5, limit=100)
    (row,) = compare(budgets)
    assert (row["unfinished"], row["pulls"]["mean"]) == (0, 100)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"contenders": ()}, "contenders must name an algorithm"),
        ({"cases": ()}, "cases must name a reservoir and a target"),
        ({"runs": 0}, "runs must"),
        ({"limit": 0}, "limit must"),
        ({"contenders": (Contender("no-such"),)}, "algorithm must be one of"),
        ({"contenders": (Contender("cc-lucb", {"size": 3}),)}, "option of cc-lucb must be one of"),
        ({"contenders": (Contender("cc-lucb"), Contender("cc-lucb"))}, "contenders must differ"),
        ({"contenders": (Contender("cc-lucb", runs=0),)}, "runs must"),
        ({"cases": (ComparisonCase("uniform(0,2)", 0.1, 0.1, 0.1),)}, "reservoir must have means between 0 and 1"),
        ({"cases": (ComparisonCase(LAW, 1.5, 0.1, 0.1),)}, "alpha must"),
        ({"cases": CASES + CASES}, "cases must differ"),
        ({"budgets": (0,)}, "budget must"),
        ({"budgets": (5, 5)}, "budgets must differ"),
        ({"contenders": (Contender("cc-lucb", {"pool": 9}),)}, "option of cc-lucb must be one of"),
        ({"contenders": (Contender("cc-lucb", {"bounds": "wide"}),)}, "bounds must be one of tilt, kt"),
        ({"contenders": (Contender("cc-lucb", [1]),)}, "options must be a mapping"),
    ],
)
def test_bad_comparisons_are_refused(change, sentence):
    values = {"contenders": SMALL.contenders, "cases": CASES, **change}
    with pytest.raises(ValueError, match=sentence):
        Comparison(**values)


def test_algorithms_with_a_budget_need_one():
    for one in ALGORITHMS:
        if one.budgeted:
            with pytest.raises(ValueError, match=f"budget must be given for {one.name}"):
                Comparison((Contender(one.name),), CASES)


def test_what_cannot_be_measured_is_said_in_its_row():
    chosen = tuple(Contender(name) for name in ("likelihood-toss", "al-q-iu", "lucb++"))
    case, hard = ComparisonCase("beta(1,2)", 0.1, 0.1, 0.1), ComparisonCase("beta(1,2)", 0.1, 1e-8, 0.1)
    found = {row["algorithm"]: row for row in compare(Comparison(chosen, (case,), runs=2))}
    assert found["likelihood-toss"]["status"] == "does not apply"
    assert "two-point" in found["likelihood-toss"]["reason"]
    large = found["al-q-iu"]
    assert (large["status"], large["design_pulls"]) == ("formula", design("al-q-iu", *case.target).design_pulls())
    assert large["design_pulls"] > 1e9
    assert "pulls" not in large
    assert found["lucb++"]["status"] == "measured"
    (refused,) = compare(Comparison((Contender("p2"),), (hard,), runs=2))
    assert refused["status"] == "refused"
    assert refused["reason"].startswith("epsilon must be large enough")


def test_only_covered_designs_carry_the_guarantee():
    chosen = (Contender("kl-lucb", {"arms": "table"}), Contender("kl-lucb"))
    bare, covered = compare(Comparison(chosen, CASES[:1], runs=2))
    assert (bare["guarantee"], covered["guarantee"]) == ("none", "fixed-confidence")


def test_options_that_follow_from_the_reservoir_are_refused():
    (row,) = compare(Comparison((Contender("likelihood-toss", {"low": 0.1}),), CASES[:1], runs=2))
    assert row["status"] == "refused"
    assert row["reason"].startswith("low must not be an option")


def test_two_cannot_write_one_folder(tmp_path):
    with FinishedCells(tmp_path, SMALL), pytest.raises(ValueError, match="writ"):
        FinishedCells(tmp_path, SMALL)
    with FinishedCells(tmp_path, SMALL) as ledger:
        assert ledger.rows == {}


def test_cells_of_another_version_are_refused(tmp_path, monkeypatch):
    with FinishedCells(tmp_path, SMALL):
        pass
    monkeypatch.setattr(ledger_module, "__version__", "9.9.9")
    with pytest.raises(ValueError, match="by this version of the package"):
        FinishedCells(tmp_path, SMALL)


def test_dots_show_the_means_of_each_algorithm_in_its_row(rows):
    pytest.importorskip("matplotlib")
    axes = new_axes()
    values = sorted({row["delta"] for row in rows})
    shapes = dict(zip(values, "os^", strict=False))
    places = {"lucb++": 0, "cc-lucb": 1}
    dots(axes, rows, "delta", shapes, places)
    shown = {
        (line.get_label(), line.get_marker(), *line.get_xdata(), *line.get_ydata(), line.get_color())
        for line in axes.lines
        if line.get_marker() != "None"
    }
    assert shown == {
        (name, shapes[row["delta"]], row["pulls"]["mean"], places[name], LOOKS[name].colour)
        for row in rows
        if (name := row["algorithm"]) in places
    }
    # A line joins dots of one row only.
    assert all(len(set(line.get_ydata())) == 1 for line in axes.lines)


def test_dots_are_hollow_where_runs_were_cut_off(rows):
    pytest.importorskip("matplotlib")
    some = sorted((row for row in rows if row["algorithm"] == "cc-lucb"), key=lambda row: row["delta"])
    axes = new_axes()
    shapes = {row["delta"]: "o" for row in some}
    dots(axes, [{**some[0], "unfinished": 1}, *some[1:]], "delta", shapes, {"cc-lucb": 0})
    hollow = [line for line in axes.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white"]
    assert [list(line.get_xdata()) for line in hollow] == [[some[0]["pulls"]["mean"]]]


def test_algorithms_are_ranked_by_their_pulls_over_the_least_of_each_case(rows):
    assert ranked(rows)[0] == "cc-lucb"
    dear = [{**row, "pulls": {**row["pulls"], "mean": 10.0 * row["pulls"]["mean"]}} for row in rows
            if row["algorithm"] == "cc-lucb"]  # fmt: skip
    others = [row for row in rows if row["algorithm"] != "cc-lucb"]
    assert ranked([*dear, *others])[-1] == "cc-lucb"
    refused = [{**row, "status": "refused", "algorithm": "p2"} for row in dear]
    assert ranked([*refused, *rows])[-1] == "p2"


@pytest.mark.parametrize("name", ["field", "budget"])
def test_the_pictures_of_the_study_cut_nothing_off_and_name_pools_in_words(tmp_path, monkeypatch, name):
    figure = pytest.importorskip("matplotlib.figure")
    drawn = []
    monkeypatch.setattr(figure.Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    lines = (ROOT / "docs" / "comparison" / name / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    files = draw([json.loads(line) for line in lines], tmp_path)
    assert len(drawn) == len(files) == {"field": 4, "budget": 2}[name]
    for one in drawn:
        assert faults(one.axes[0]) == []
        titles = [axes.get_title(loc="left") for axes in one.axes]
        assert all("conditioned" not in title and "\n" in title for title in titles)
        assert any(title.startswith("Beta(1,1) up to 0.95\n") for title in titles)
        for text in one.axes[0].get_yticklabels():
            look = LOOKS.get(text.get_text())
            assert text.get_color() == (look.colour if look else "black")


def test_one_target_gives_one_picture_of_pulls(tmp_path, rows):
    pytest.importorskip("matplotlib")
    one = [row for row in rows if row["delta"] == rows[0]["delta"]]
    assert SINGLE in {file.name for file in draw(one, tmp_path)}
    assert SINGLE not in {file.name for file in draw(rows, tmp_path)}


def test_the_table_has_every_row_and_the_cheapest_come_first(rows):
    read = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [row["algorithm"] for row in read] == [row["algorithm"] for row in rows]
    assert [float(row["pulls"]) for row in read] == [row["pulls"]["mean"] for row in rows]
    for some in by_case(rows).values():
        assert [spent(row) for row in some] == sorted(spent(row) for row in some)
    assert flat(rows[0])["error_high"] == rows[0]["errors"]["interval"][1]


def test_lower_bounds_stand_beside():
    named = {
        name: value
        for name, value, _ in limits(ComparisonCase("conditioned(beta(1,1),0.95)", 0.05, 0.05, 0.05), "bernoulli")
    }
    assert named["Theorem 1"] == pytest.approx(141.628086016)
    worst = named["Chaudhuri and Kalyanakrishnan, worst case"]
    assert worst == pytest.approx(math.log(5.0) / (18375 * 0.05 * 0.0025))
    assert worst_case_lower_bound(0.05, 0.05, 0.3) == 0.0


def test_rivals_are_those_who_win_by_more_than_noise(rows):
    assert {(ours["algorithm"], row["algorithm"]) for _, row, ours in rivals(rows, ["lucb++"])} == {
        ("lucb++", "cc-lucb")
    }
    assert rivals(rows, ["cc-lucb"]) == []


@pytest.mark.parametrize("option", quick(["draw_share=0.5", "bounds=kt"], ["draw_share=0.5"]))
def test_the_command_writes_tables_and_pictures(tmp_path, option):
    folder = tmp_path / "study"
    arguments = ["compare", "--algorithm", f"cc-lucb:{option}", "--algorithm", "lucb++", "--reservoir", LAW]
    arguments += ["--alpha", 0.3, "--epsilon", 0.3, "--delta", 0.2, "--delta", 0.1, "--runs", 10, "--output", folder]
    found = call(*arguments)
    assert found.exit_code == 0, found.output
    assert f"cc-lucb ({option})" in found.output
    assert "lower bound, Theorem 1: void" in found.output
    names = {file.name for file in folder.iterdir()}
    assert names >= {CONFIGURATION, CELLS, "table.csv", "table.json", "pulls-against-delta.png", "pulls-per-arm.png"}
    assert (folder / "pulls-against-delta.png").read_bytes().startswith(b"\x89PNG")
    again = json.loads(call("compare", "--config", folder, "--output", folder, "--json", "-", "--no-figures").output)
    assert timeless(again["rows"]) == timeless(json.loads((folder / "table.json").read_text()))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"budgets": 5}, "budgets must be a list"),
        ({"family": 3}, "family must be text"),
        ({"contenders": [{"nme": "cc-lucb"}]}, "comparison must have whole contenders and cases"),
        ({"colour": "red"}, "comparison must have the entries"),
    ],
)
def test_a_wrong_configuration_is_one_sentence(tmp_path, values, sentence):
    file = tmp_path / "comparison.json"
    file.write_text(json.dumps({**SMALL.to_dict(), **values}))
    found = call("compare", "--config", file)
    assert found.exit_code == 2
    assert sentence in found.output
    assert len(found.output.splitlines()) == 1


def test_without_names_all_that_can_run_are_compared(tmp_path):
    names = [one.name for one in contenders((), (), "gaussian")]
    assert names == [one.name for one in ALGORITHMS if one.rewards == "any" and not one.budgeted]
    assert len(contenders((), (100,))) == len(ALGORITHMS)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "reservoir must be given, or a config, got neither"),
        (["--reservoir", LAW, "--algorithm", "best"], "algorithm must be one of"),
        (["--reservoir", LAW, "--algorithm", "cc-lucb:bounds=wide"], "bounds must be one of tilt, kt, got 'wide'"),
        (["--config", "nowhere.json"], "comparison must be a folder or a JSON file that exists, got 'nowhere.json'"),
        (["--reservoir", LAW, "--delta", "2"], "delta"),
        (["--config", "nowhere.json", "--runs", "5"], "config must be given alone, because it sets runs, got both"),
        (
            ["--reservoir", LAW, "--algorithm", "cc-lucb", "--output", "/proc/none"],
            "folder must be writable",
        ),
    ],
)
def test_wrong_input_is_one_sentence_and_code_2(arguments, sentence):
    found = call("compare", *arguments)
    assert found.exit_code == 2
    assert sentence in found.output
    assert len(found.output.splitlines()) == 1


def test_every_entry_says_its_guarantee_in_one_word():
    for one in ALGORITHMS:
        assert one.guarantee in ("fixed-confidence", "fixed-budget", "none")
        assert bool(one.proof) or one.guarantee != "fixed-confidence"
        assert entry(one.name) is one
