"""Comparisons: what is measured is what simulate measures, nothing is lost, and nothing is measured twice."""

import csv
import io
import json
import math

import pytest
from click.testing import CliRunner

from topalpha import design, simulate
from topalpha.algorithms import ALGORITHMS, entry
from topalpha.cli import main
from topalpha.comparison import Case, Comparison, Contender, compare
from topalpha.comparison import running as running_module
from topalpha.comparison.cells import cells
from topalpha.comparison.ledger import CELLS, CONFIGURATION, Ledger, load
from topalpha.comparison.report import by_case, flat, limits, rivals, spent, to_csv
from topalpha.reservoirs import parse
from topalpha.theory import worst_case_lower_bound

LAW = "two-point(0.2,0.8,0.3)"
CASES = Case.every([LAW], [0.3], [0.3], [0.2, 0.1])
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


def test_allocations_add_up_to_the_pulls(rows):
    for row in rows:
        assert [mean for mean, _ in row["allocation"]] == [0.2, 0.8]
        light, heavy = (pulls for _, pulls in row["allocation"])
        assert min(light, heavy) * row["arms"] < 1.2 * row["pulls"]["mean"] < 1.5 * max(light, heavy) * row["arms"]


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
    Ledger(tmp_path, SMALL)
    assert load(tmp_path) == SMALL == load(tmp_path / CONFIGURATION)
    assert timeless(compare(load(tmp_path))) == timeless(rows)


def test_a_folder_of_another_comparison_is_refused_and_left_alone(tmp_path):
    Ledger(tmp_path, SMALL).add({"key": "one"})
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    other = Comparison(SMALL.contenders, SMALL.cases, runs=31, seed=4)
    with pytest.raises(ValueError, match="folder must hold this comparison"):
        Ledger(tmp_path, other)
    assert before == {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    (tmp_path / CELLS).write_text('{"key": "one"\n{"key": "two"}\n')
    with pytest.raises(ValueError, match=r"cells.jsonl must hold one JSON object a line"):
        Ledger(tmp_path, SMALL)


def test_runs_that_do_not_stop_are_cut_off_and_no_errors():
    short = Comparison((Contender("kl-lucb"),), (Case("dirac(0.5)", 0.3, 0.05, 0.2),), runs=4, limit=500)
    (row,) = compare(short)
    assert row["unfinished"] == 4
    assert row["errors"]["count"] == 0
    assert row["pulls"]["mean"] == pytest.approx(500, abs=1)


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
        ({"cases": (Case("uniform(0,2)", 0.1, 0.1, 0.1),)}, "reservoir must have means between 0 and 1"),
        ({"cases": (Case(LAW, 1.5, 0.1, 0.1),)}, "alpha must"),
        ({"cases": CASES + CASES}, "cases must differ"),
        ({"budgets": (0,)}, "budget must"),
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


def test_what_does_not_apply_and_what_is_refused_is_said_in_its_row():
    knowing = [one.name for one in ALGORITHMS if one.knowledge is not None]
    case = Case("beta(1,2)", 0.1, 0.1, 0.1)
    for row in compare(Comparison(tuple(Contender(name) for name in knowing), (case,), runs=2)) if knowing else []:
        assert row["knows"]
        assert row["status"] in ("measured", "does not apply", "formula")
        assert row["status"] == "measured" or row["reason"]


def test_the_table_has_every_row_and_the_cheapest_come_first(rows):
    read = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [row["algorithm"] for row in read] == [row["algorithm"] for row in rows]
    assert [float(row["pulls"]) for row in read] == [row["pulls"]["mean"] for row in rows]
    for some in by_case(rows).values():
        assert [spent(row) for row in some] == sorted(spent(row) for row in some)
    assert flat(rows[0])["error_high"] == rows[0]["errors"]["interval"][1]


def test_lower_bounds_stand_beside():
    named = {
        name: value for name, value, _ in limits(Case("conditioned(beta(1,1),0.95)", 0.05, 0.05, 0.05), "bernoulli")
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


def test_the_command_writes_tables_and_pictures(tmp_path):
    folder = tmp_path / "study"
    arguments = ["compare", "--algorithm", "cc-lucb:bounds=kt", "--algorithm", "lucb++", "--reservoir", LAW]
    arguments += ["--alpha", 0.3, "--epsilon", 0.3, "--delta", 0.2, "--delta", 0.1, "--runs", 10, "--output", folder]
    found = call(*arguments)
    assert found.exit_code == 0, found.output
    assert "cc-lucb (bounds=kt)" in found.output
    assert "lower bound, Theorem 1: void" in found.output
    names = {file.name for file in folder.iterdir()}
    assert names >= {CONFIGURATION, CELLS, "table.csv", "table.json", "pulls-against-delta.png", "pulls-per-arm.png"}
    assert (folder / "pulls-against-delta.png").read_bytes().startswith(b"\x89PNG")
    again = json.loads(call("compare", "--config", folder, "--output", folder, "--json", "-", "--no-figures").output)
    assert timeless(again["rows"]) == timeless(json.loads((folder / "table.json").read_text()))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "reservoir must be given, or a config, got neither"),
        (["--reservoir", LAW, "--algorithm", "best"], "algorithm must be one of"),
        (["--reservoir", LAW, "--algorithm", "cc-lucb:bounds=wide"], "bounds must be one of tilt, kt, got 'wide'"),
        (["--config", "nowhere.json"], "comparison must be a folder or a JSON file that exists, got 'nowhere.json'"),
        (["--reservoir", LAW, "--delta", "2"], "delta"),
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
