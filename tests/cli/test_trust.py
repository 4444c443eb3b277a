"""Nobody is let in: code that a file names, and pickles that it holds, run only if a person allows it."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from click.testing import CliRunner

from topalpha import resume, search, verify
from topalpha.cli import main
from topalpha.cli.code import whereabouts

TASK = """
from pathlib import Path

Path(__file__).with_name("ran").touch()


def draw(rng):
    return float(rng.random())


def pull(candidate, rng):
    return float(rng.random() < candidate)
"""
EASY = ("--alpha", ".3", "--epsilon", ".3", "--delta", ".2", "--progress", "none")
REFUSAL = "topalpha: allow-code must be given to run code that 'one.db' asks for, got no consent to "


class Trap:
    """Leaves a folder where it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.makedirs, (self.path, 0o700, True)


def call(*arguments, code=0):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def refused(*arguments):
    """The one sentence with which the command line refuses."""
    result = call(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def alter(**entries):
    """Have the file name other code."""
    with closing(sqlite3.connect("one.db")) as connection, connection:
        config = json.loads(connection.execute("SELECT config FROM searches").fetchone()[0])
        config["code"] = {**(config["code"] or {}), **entries}
        connection.execute("UPDATE searches SET config = ?", (json.dumps(config),))


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that leaves a trace when it is imported, and a search in a file that names it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"task_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(TASK)
    kept = {"pull": f"{name}.py:pull", "draw": f"{name}.py:draw", "candidates": None, "items": None}
    target = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "pulls": 12, "progress": "none"}
    search(
        lambda rng: float(rng.random()),
        lambda one, rng: float(rng.random() < one),
        **target,
        storage="one.db",
        code=kept,
    )
    yield name
    sys.modules.pop(name, None)


def test_code_that_a_file_names_does_not_run_in_a_script_unless_allowed(module, tmp_path):
    line = refused("resume", "one.db", "--progress", "none")
    place = tmp_path / f"{module}.py"
    wishes = [
        f"run '{one}' of '{module}.py' as {two}, from '{place}'" for one, two in (("pull", "function"), ("draw",) * 2)
    ]
    assert line == REFUSAL + "; ".join(wishes)
    assert not (tmp_path / "ran").exists()
    assert "stopping rule was met" in call("resume", "one.db", "--allow-code", "--progress", "none").stdout
    assert (tmp_path / "ran").exists()


def test_code_that_a_person_names_needs_no_leave(module, tmp_path):
    own = ("--function", f"{module}.py:pull")
    assert "run 'draw' of" in refused("resume", "one.db", *own)
    assert not (tmp_path / "ran").exists()
    call("resume", "one.db", *own, "--draw", f"{module}:draw", "--progress", "none")


@pytest.mark.parametrize("named", ["os:system", "shutil:rmtree", "package.inner:pull", "no_such_module:pull"])
def test_nothing_is_imported_to_say_what_would_be(module, tmp_path, named):
    """To find a module within a package, importlib would import the package."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("raise SystemExit('imported')")
    (tmp_path / "package" / "inner.py").write_text("")
    alter(pull=named, draw=named)
    before = list(sys.path)
    line = refused("resume", "one.db")
    where, attribute = named.split(":")
    assert f"run {attribute!r} of {where!r} as function, from {whereabouts(where)!r}" in line
    assert ("package" in sys.modules, sys.path) == (False, before)


def test_a_name_with_control_characters_is_spelled_out(module):
    alter(pull="\x1b[2Jharmless:pull", draw="os:\nsystem")
    line = refused("resume", "one.db")
    assert "\x1b" not in line
    assert r"\x1b[2Jharmless" in line


@pytest.mark.parametrize("kept", [{"pull": 3}, {"pull": "os"}, {"draw": ["os:system"]}, {"items": {}}])
def test_odd_places_of_code_are_refused(module, kept):
    alter(**kept)
    refused("resume", "one.db", "--allow-code")


def test_whoever_sits_at_a_terminal_is_asked(module, tmp_path):
    for answer, code, ran in (("n\n", 2, False), ("y\n", 0, True)):
        ours, theirs = pty.openpty()
        program = "from topalpha.cli import main; main(prog_name='topalpha')"
        process = subprocess.Popen(
            [sys.executable, "-c", program, "resume", "one.db", "--progress", "none"],
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.DEVNULL,
        )
        try:
            os.write(ours, answer.encode())
            assert process.wait(timeout=120) == code
            os.set_blocking(ours, False)
            shown = " ".join(os.read(ours, 10_000).decode().split())  # its lines fit the terminal
        finally:
            process.kill()
            process.wait()
            os.close(ours)
            os.close(theirs)
        assert f"run 'pull' of '{module}.py' as function, from '{tmp_path / module}.py'" in shown
        assert "Do you trust this file and code? [y/N]" in shown
        assert (tmp_path / "ran").exists() == ran


def test_pickles_are_loaded_by_nobody_who_was_not_told_to(module, tmp_path):
    trap = tmp_path / "sprung"
    (tmp_path / "one.db").unlink()
    target = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}
    found = search(lambda: Trap(str(trap)), lambda one, rng: 0.5, **target, pulls=9, storage="one.db", pickle=True)
    trap.rmdir()  # the search itself loads the candidate that it quotes: what is stored, not the object
    assert verify("one.db").claims == found.certificate.claims
    for command in ("show", "verify"):
        call(command, "one.db")
    call("export", "one.db", "--csv", "-", "--what", "arms")
    with pytest.raises(ValueError, match="allow_pickle must be True to load pickled candidates"):
        resume("one.db", lambda: 1, lambda one, rng: 0.5, progress="none")
    own = ("--function", f"{module}.py:pull", "--draw", f"{module}.py:draw")
    assert refused("resume", "one.db", *own) == REFUSAL + "load pickled candidates, which can run any code"
    assert not trap.exists()
    call("resume", "one.db", *own, "--allow-pickle", "--progress", "none", code=1)  # what it loads is no candidate
    assert trap.exists()


def test_a_pickle_among_plain_candidates_is_refused_and_not_loaded(module, tmp_path):
    with closing(sqlite3.connect("one.db")) as connection, connection:
        connection.execute(
            "UPDATE arms SET candidate = ? WHERE arm = 1", (b"cbuiltins\nexec\n(S'raise SystemExit'\ntR.",)
        )
    assert (
        "candidates must be pickles where the search was created with pickle" in call("verify", "one.db", code=1).stderr
    )
    refused("resume", "one.db", "--allow-code")


BROKEN = {
    "a syntax error": ("x = = 3\n", "SyntaxError: invalid syntax, line 1 of "),
    "a missing module": (
        "\nimport no_such_module_at_all\n",
        "ModuleNotFoundError: No module named 'no_such_module_at_all', line 2",
    ),
    "an error of its own": ("def f():\n    return 1 / 0\n\n\nf()\n", "ZeroDivisionError: division by zero, line 2 of "),
    "an end of the program": ("import sys\nsys.exit(3)\n", "SystemExit: 3, line 2 of "),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_module_that_does_not_import_is_refused_in_one_sentence(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    text, words = BROKEN[kind]
    name = f"broken_{abs(hash(kind))}"
    (tmp_path / f"{name}.py").write_text(text)
    for written in (f"{name}.py", name):
        line = refused("run", f"{written}:pull", *EASY)
        assert line.startswith(f"topalpha: function must be in a module that can be imported, got '{written}' ({words}")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--candidates", "list.json", "--draw", "task:draw"),
            "draw must not be given together with candidates, got 'task:draw'",
        ),
        (("--name", "x"), "name must be given together with --storage, got 'x'"),
        (("--pickle",), "pickle must be given together with --storage, got True"),
        (("--retries", "3"), "retries must be given together with --on-error retry, got 3"),
        (("--cost-of", "3"), "cost_of must be given together with --cost, got 3.0"),
    ],
)
def test_options_that_would_be_ignored_are_refused(options, words):
    assert refused("run", "math:sqrt", *EASY, *options) == f"topalpha: {words}"


def test_options_of_other_commands_that_would_be_ignored_are_refused(module):
    call("run", f"{module}.py:pull", *EASY, "--storage", "one.db", "--name", "two", "--pulls", "9")
    assert refused("show", "one.db", "--arms", "3").endswith("--name, where there are several searches, got 3")
    assert "retries must be given" in refused("resume", "one.db", "--name", "two", "--allow-code", "--retries", "2")
    assert "cost_of must be given" in refused("resume", "one.db", "--name", "two", "--allow-code", "--cost-of", "2")
    comparing = ("compare", "--reservoir", "dirac(0.5)", "--algorithm", "cc-lucb", "--figures")
    assert refused(*comparing) == "topalpha: figures must be given together with --output, got True"


def test_draw_is_not_ignored_where_candidates_are_listed(module, tmp_path):
    (tmp_path / "list.json").write_text("[1, 2]")
    alter(candidates="list.json")
    words = "topalpha: draw must be left out, because candidates come from 'list.json', got 'math:sqrt'"
    assert refused("resume", "one.db", "--allow-code", "--draw", "math:sqrt") == words


@pytest.mark.parametrize(
    "line",
    [
        ("plan", "--runs", "99999999999999999999"),
        ("plan", "--workers", "99999999999999999999"),
        ("simulate", "--reservoir", "dirac(0.5)", "--runs", "99999999999999999999"),
        ("audit", "--runs", "99999999999999999999"),
        ("run", "math:sqrt", "--width", "99999999999999999999"),
        ("run", "math:sqrt", "--pulls", "99999999999999999999"),
        ("demo", "--seed", "9" * 100),
        ("bounds", "--reservoir", "beta(1,2)", "--alpha", "1e-9"),
    ],
    ids=lambda line: f"{line[0]} {line[-2]}",
)
def test_absurd_sizes_are_refused_before_work_starts(line):
    assert " must be at " in refused(*line)
