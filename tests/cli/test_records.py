"""``topalpha show``: candidates by their names."""

import logging
import re

import pytest
from click.testing import CliRunner

from tests.support import records
from topalpha import Session, Task, search
from topalpha.cli import main
from topalpha.report import html
from topalpha.session import progress

QUIET = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}


def shown(path):
    outcome = CliRunner().invoke(main, ["show", str(path), "--arms", "3"])
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def test_the_candidates_stand_in_the_table(tmp_path):
    path = tmp_path / "one.db"
    result = search(records.draw, records.toss, **QUIET, storage=path)
    name = f"{{rate: {result.candidate['rate']:.4g}, word: café}}"
    assert f"With probability at least 0.8, {name} is within" in shown(path).replace("\n", " ").replace("  ", " ")
    (row,) = [line for line in shown(path).splitlines() if line.split()[:1] == [str(result.arm)]]
    assert row.rstrip().endswith(name)


def test_the_leader_of_a_running_search_is_named_and_markup_is_not_obeyed(tmp_path):
    path = tmp_path / "one.db"
    with Session.start(Task(0.3, 0.3, 0.2), path) as session:
        for pull in session.ask_many(5):
            session.keep(pull.arm, f"[bold]prompt {pull.arm}[/bold]")
            session.tell(pull, float(pull.arm == 3))
        session.snapshots.take()
        assert "“[bold]prompt 3[/bold]” leads, contested by " in shown(path)
        assert "[bold]prompt 1[/bold]" in shown(path)


def test_candidates_of_a_list_have_their_places_in_it(tmp_path):
    names = [f"prompt {one}" for one in "abcdef"]
    path = tmp_path / "searches.db"
    found = search(names, lambda name, rng: float(name[-1] == "d"), epsilon=0.3, storage=path, progress="none")
    shown = CliRunner().invoke(main, ["show", str(path)]).stdout
    heading, *rows = re.findall(r"^ *(?:arm|\d+)  .*$", shown, re.MULTILINE)
    assert heading.split()[:2] == ["arm", "index"]
    assert len(rows) == found.arms
    for row in rows:
        assert names[int(row.split()[1])] in row
    page = html(path)
    assert f"Candidate (index {found.index} in the list, arm {found.arm})" in page


def test_a_pickle_is_not_loaded_to_be_shown(tmp_path):
    search(records.pair, records.toss_pair, **QUIET, pulls=40, storage=tmp_path / "one.db", pickle=True)
    lines = shown(tmp_path / "one.db").splitlines()
    assert sum(bool(re.search(r"  \[1, 0\.\d+\]$", line)) for line in lines) == 3, (
        "plain values are read without loading"
    )


def test_the_line_of_progress_names_the_leader(caplog, monkeypatch):
    monkeypatch.setattr(progress, "LINE_PERIOD", 0.0)
    caplog.set_level(logging.INFO, "topalpha")
    result = search(records.draw, records.toss, **(QUIET | {"progress": "lines"}))
    assert f"leader {{rate: {result.candidate['rate']:.4g}, word: café}}: " in caplog.records[-1].getMessage()


def test_the_line_of_progress_has_the_leaders_place_in_a_list(caplog, monkeypatch):
    monkeypatch.setattr(progress, "LINE_PERIOD", 0.0)
    caplog.set_level(logging.INFO, "topalpha")
    found = search(["ant", "bee", "cat"], lambda name, rng: float(name == "cat"), epsilon=0.3, progress="lines")
    assert found.index == 2
    assert "leader “cat” (index 2): " in caplog.records[-1].getMessage()


@pytest.mark.parametrize("budget", [12, None])
def test_a_search_that_ended_early_says_what_goes_on_with_it(budget, tmp_path):
    search(records.draw, records.toss, **QUIET, pulls=budget, storage=tmp_path / "one.db")
    said = "It ended before its target was proved: topalpha resume goes on with it."
    assert (said in shown(tmp_path / "one.db")) == (budget is not None)
