"""The calls and commands that a report gives to repeat a search: they repeat it."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from tests.support.reports import EASY, QUIET, draw, reward
from topalpha import search, select
from topalpha.cli import main
from topalpha.report.contents import gather
from topalpha.report.sentences import check_commands, headline, repetition
from topalpha.storage import read


def pair(rng):
    return (round(float(rng.random()), 3), "a tuple, which JSON does not give back")


def reward_of_pair(candidate, rng):
    return float(rng.random() < candidate[0])


def passes(candidate, item):
    return (candidate["rate"] * 7919 + item * 31) % 1.0 < candidate["rate"]


def repeated(path, monkeypatch, tmp_path, **names):
    """What the printed call gives, in a folder of its own, and the record that it leaves."""
    import topalpha

    (tmp_path / "again").mkdir()
    monkeypatch.chdir(tmp_path / "again")
    call, needs = repetition(gather(path))
    again = eval(call, {"topalpha": topalpha, **names})
    return again, read("again.db"), needs


@pytest.mark.parametrize(
    ("functions", "settings"),
    [
        ((draw, reward), {"about": "its law"}),
        ((draw, reward), {"minimise": True, "algorithm": "cc-lucb"}),
        ((draw, reward), {"pulls": 40}),
        ((draw, reward), {"algorithm": "jhr", "options": {"generous": True}, "pulls": 60}),
        ((pair, reward_of_pair), {"pickle": True}),
        ((draw, passes), {"items": list(range(60))}),
    ],
)
def test_the_call_to_repeat_a_search_repeats_it(path, tmp_path, monkeypatch, functions, settings):
    first = search(*functions, **EASY, **{"algorithm": "cc-lucb", **settings}, storage=path)
    names = {"draw": functions[0], "pull": functions[1], "items": settings.get("items")}
    again, record, needs = repeated(path, monkeypatch, tmp_path, **names)
    assert again.certificate.to_dict() | {"reason": None} == first.certificate.to_dict() | {"reason": None}
    assert record.tells == read(path).tells
    assert "at once" not in needs


def test_the_call_to_repeat_a_selection_repeats_it_and_one_that_failed_ends_where_it_did(path, tmp_path, monkeypatch):
    candidates, examples = [{"rate": rate / 10} for rate in range(1, 9)], range(50)

    def fails(candidate, example):
        if fails.left == 0:
            raise RuntimeError("no more")
        fails.left -= 1
        return passes(candidate, example)

    fails.left = 20
    with pytest.raises(RuntimeError):
        select(candidates, examples, fails, epsilon=0.05, storage=path, **QUIET)
    fails.left = 20
    names = {"candidates": candidates, "examples": examples, "evaluate": fails}
    _, record, _ = repeated(path, monkeypatch, tmp_path, **names)
    assert record.tells == read(path).tells
    assert len(record.tells) == 20


CODE = """
def draw(rng):
    return float(rng.random())
def pairs(rng):
    return (float(rng.random()), 0)
def pull(p, rng):
    return float(rng.random() < p)
def pull_of_pair(pair, rng):
    return float(rng.random() < pair[0])
def passes(p, item):
    return (p * 7919 + item * 31) % 1.0 < p
"""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("pull", ("--about", "it's")),
        ("pull", ("--minimise", "--family", "range(0,1)")),
        ("pull", ("--algorithm", "jhr", "--option", "generous=true", "--pulls", "60")),
        ("pull", ("--algorithm", "cc-lucb", "--pulls", "50", "--on-error", "worst")),
        ("pull", ("--candidates", "list.json")),
        ("passes", ("--items", "list.json")),
        ("pull_of_pair", ("--draw", "my task.py:pairs", "--pickle")),
    ],
)
def test_the_command_to_repeat_a_run_repeats_it(tmp_path, monkeypatch, function, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my task", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "my task.py").write_text(CODE)
    (tmp_path / "list.json").write_text("[" + ", ".join(str(one / 40) for one in range(40)) + "]")
    words = ["run", f"my task.py:{function}", "--alpha", "0.2", "--epsilon", "0.3", "--seed", "4", *words]
    words += ["--progress", "none", "--storage", "one.db"]
    assert CliRunner().invoke(main, words).exit_code == 0
    contents = gather("one.db")
    import shlex

    command, needs = repetition(contents)
    assert needs == "It needs the same code."
    again = shlex.split(command)
    assert again[0] == "topalpha"
    assert CliRunner().invoke(main, [*again[1:], "--progress", "none"]).exit_code == 0
    assert read("again.db").tells == read("one.db").tells
    assert read("again.db").certificate == read("one.db").certificate
    for line in check_commands(contents):
        assert CliRunner().invoke(main, shlex.split(line)[1:]).exit_code == 0
    early = "--pulls" in words
    assert headline(contents).startswith("The search ended early" if early else "The target is proved.")
