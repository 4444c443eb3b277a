"""What every command prints fits the terminal: lines, words, markup, with and without colours."""

from __future__ import annotations

import io
import logging
import os
import re
import subprocess
import sys
import time
from contextlib import closing, suppress
from importlib import import_module

import pytest
from rich.cells import cell_len

from topalpha import search
from topalpha.cli import main
from topalpha.cli.output import console, facts
from topalpha.cli.program import say
from topalpha.cli.run import _Stderr
from topalpha.research.audit import FALSE_ALARM, cells, controls, judge
from topalpha.research.audit.survival import Survival
from topalpha.storage import Storage, listing

audit_page, demo_page = import_module("topalpha.cli.audit"), import_module("topalpha.cli.demo")
NARROW, WIDE = (40, 60, 80), 120
CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
CHEAP = ("--alpha", ".2", "--epsilon", ".3", "--delta", ".2")
LAW = ("--reservoir", "beta(1,2)", "--at-most", "0.95")

#: Commands that print a page; FILE and SCORES stand for files of the test.
PAGES = {
    "list": ("list",),
    "demo": ("demo", "--seed", "3"),
    "plan": ("plan", *CHEAP, "--runs", "5"),
    "bounds": ("bounds", *LAW, *CHEAP),
    "show": ("show", "FILE", "--name", "done"),
    "show all": ("show", "FILE"),
    "verify": ("verify", "FILE", "--name", "done"),
    "scores": ("scores", "SCORES", "--runs", "20", "--epsilon", ".3"),
    "simulate": ("simulate", *LAW, *CHEAP, "--runs", "5"),
    "compare": ("compare", *LAW[:2], *CHEAP, "--runs", "5", "--algorithm", "joint-lucb", "--algorithm", "jhr"),
    "table1": ("table1", "--rows", "1", "--runs", "2"),
}
#: Speeds differ from run to run.
TIMED = ("simulate", "compare")


class Terminal(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminals")
    file, scores = folder / "searches.db", folder / "scores.csv"

    def pull(candidate, rng):
        return float(rng.random() < candidate)

    settings = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none", "storage": file}
    search(lambda rng: rng.random(), pull, name="done", **settings)
    search(lambda rng: rng.random(), pull, name="out of pulls", pulls=9, **settings)
    with Storage(file) as storage:
        record = storage.create("killed", {})
        record.snapshot([], {"pulls": 3, "arms": 2})
    rows = [[int((row + place) % 3 == 0) for place in range(30)] for row in range(5)]
    lines = ["candidate," + ",".join(f"q{place}" for place in range(30))]
    lines += [f"prompt {row}," + ",".join(map(str, marks)) for row, marks in enumerate(rows)]
    scores.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"FILE": str(file), "SCORES": str(scores)}


@pytest.fixture
def printed(monkeypatch, files):
    """What a call prints on a terminal of this width, or into a pipe."""
    monkeypatch.setattr(demo_page, "_SLOW_SECONDS", 0.0)
    monkeypatch.setattr(demo_page, "PAPER_RUNS", 1)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(action, width: int | None) -> str:
        stream = io.StringIO() if width is None else Terminal()
        with monkeypatch.context() as patch:
            patch.setenv("COLUMNS", str(width or 80))
            patch.setenv("TERM", "xterm-256color")
            patch.setattr(sys, "stdout", stream)
            if callable(action):
                action()
            else:
                with suppress(SystemExit):
                    main([files.get(word, word) for word in action], prog_name="topalpha", standalone_mode=False)
        text = stream.getvalue()
        assert text.strip()
        assert width is not None or "\x1b" not in text
        return text

    return call


def words(text: str, timed: bool = False) -> set[str]:
    """The words of a page, without signs around them; of timed pages without their numbers."""
    plain = CONTROL.sub("", text).replace("─", " ").replace("█", " ")
    found = {word.strip(",.") for word in plain.split()}
    return {re.sub(r"[\d.,]+", "0", word) for word in found} if timed else found


def faults(text: str, width: int, whole: set[str], timed: bool = False) -> list[str]:
    """Lines that are too long, words that are cut, and markup that is not for readers."""
    plain = CONTROL.sub("", text)
    found = [f"too long: {line}" for line in plain.splitlines() if cell_len(line) > width]
    found += [f"cut: {word}" for word in words(plain, timed) - whole]
    return found + [sign for sign in ("`", ":func:", ":class:", "None", "[bold", "[/") if sign in plain]


@pytest.mark.parametrize("name", [None, *main.commands], ids=str)
def test_help_is_whole_at_every_width(printed, name):
    action = ("--help",) if name is None else (name, "--help")
    widest = printed(action, 1_000)
    assert max(map(len, widest.splitlines())) <= WIDE
    for width in (*NARROW, WIDE):
        text = printed(action, width)
        assert faults(text, width, words(widest)) == []
        assert words(text) == words(widest)
        assert not re.search(r"\w\.\.\.", text)
    assert printed(action, None) == printed(action, 80)
    if name is None:
        assert len(main.commands) == sum(map(len, main.sections.values()))
        sentences = [(main.commands[one].help or "").partition("\n\n")[0] for one in main.commands]
        assert all(one.endswith(".") and len(one) <= 66 for one in sentences)


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_and_lose_no_word(printed, name):
    timed = name in TIMED
    whole = words(printed(PAGES[name], None), timed)
    more = words("Left out for want of room:")
    for width in (*NARROW, WIDE):
        text = printed(PAGES[name], width)
        if name == "demo":  # before this stands the live view, which a pipe has not
            text = text[text.rindex("Found") :]
        assert faults(text, width, whole | more, timed) == []
    if name != "table1":  # it needs 126 columns
        assert "Left out" not in text
        assert whole <= words(text, timed) or name == "demo"


def test_the_live_view_of_the_demo_fits(printed):
    for width in (*NARROW, WIDE):
        text = CONTROL.sub("", printed(PAGES["demo"], width))
        assert max(map(cell_len, re.split(r"[\r\n]", text))) <= width
        assert "leader" in text


def test_the_pages_of_an_audit_and_of_a_result_fit(printed):
    checked = [judge(cell, 3, 0, 1) for cell in (*list(cells(False))[:2], *list(controls())[:1])]
    survival = Survival("cc-lucb", "threads", 0, kills=3, pulls=900, repeated=2, difference="")

    def page() -> None:
        audit_page.show(checked, [], [survival], FALSE_ALARM, False)

    whole = words(printed(page, None)) | words("Left out for want of room:")
    for width in (*NARROW, WIDE):
        assert faults(printed(page, width), width, whole) == []


def test_sentences_on_stderr_fit_a_terminal_and_are_one_line_elsewhere(monkeypatch):
    sentence = "function must be in a module that can be imported, got 'a.py' (SyntaxError: joint-lucb, line 3)"
    for stream, width in ((Terminal(), 40), (io.StringIO(), None)):
        monkeypatch.setenv("COLUMNS", str(width or 40))
        monkeypatch.setattr(sys, "stderr", stream)
        say(sentence)
        lines = stream.getvalue().splitlines()
        assert " ".join(" ".join(lines).split()) == f"topalpha: {sentence}"
        assert (len(lines) == 1) if width is None else all(len(line) <= width for line in lines)


def test_names_and_texts_stand_side_by_side(printed):
    text = printed(lambda: facts(console(), [("proved", "with probability 0.95, near the best"), ("by", "me")]), 30)
    assert CONTROL.sub("", text) == "proved  with probability 0.95,\n        near the best\nby      me\n"


@pytest.mark.parametrize(
    ("seconds", "said"), [(7.2, "for 7 seconds"), (600.0, "for 10 minutes"), (2.6e5, "for 3 days"), (1.0, None)]
)
def test_a_killed_search_shows_that_it_gives_no_sign_of_life(printed, files, monkeypatch, seconds, said):
    (last,) = [one.updated for one in listing(files["FILE"]) if one.name == "killed"]
    monkeypatch.setattr(time, "time", lambda: last + seconds)
    text = printed(("show", "FILE", "--name", "killed"), None)
    assert ("It has not ended: topalpha resume goes on with it." in text) == (said is not None)
    state = "running" if said is None else f"no sign of life {said} (killed, or left by its program)"
    assert f"killed: {state}, 3 evaluations of 2 candidates" in text


def test_messages_of_a_search_go_above_its_live_line(monkeypatch):
    handler = _Stderr()
    above = io.StringIO()
    monkeypatch.setattr(sys, "stderr", above)  # as a live line does while it is shown
    handler.emit(logging.LogRecord("topalpha", logging.WARNING, "", 0, "Ctrl-C: waiting", (), None))
    assert above.getvalue() == "Ctrl-C: waiting\n"


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
@pytest.mark.parametrize(
    ("settings", "colours"), [({"TERM": "xterm-256color"}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, None)]
)
def test_a_real_terminal_has_its_own_width(settings, colours):
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 66, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    code = "from topalpha.cli import main; main(prog_name='topalpha')"
    with closing(os.fdopen(ours, "rb", buffering=0)) as screen:
        process = subprocess.Popen(
            [sys.executable, "-c", code, "list"], stdout=theirs, env={**environment, "TERM": "xterm", **settings}
        )
        os.close(theirs)
        read = bytearray()
        with suppress(OSError):  # the other end is closed
            while part := screen.read(4096):
                read += part
        assert process.wait() == 0
    text = read.decode()
    assert 60 < max(map(cell_len, CONTROL.sub("", text).splitlines())) <= 66
    if colours is not None:
        assert ("\x1b" in text) == colours
    assert "\x1b[3" not in text
