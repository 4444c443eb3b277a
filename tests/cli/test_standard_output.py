"""Standard output that is full, closed or left by its reader: one sentence on stderr, a code, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.marks import quick
from topalpha import search
from topalpha.storage import read

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a file that is always full, as on Linux")

FULL = "topalpha: standard output must be writable, got No space left on device\n"
CLOSED = "topalpha: standard output must be open, got a closed one\n"
MODULE = (
    "def draw(rng):\n    return rng.random()\ndef pull(candidate, rng):\n    return float(rng.random() < candidate)\n"
)
EASY = ("--alpha", ".3", "--epsilon", ".3", "--delta", ".2", "--progress", "none")


def draw(rng):
    return rng.random()


def pull(candidate, rng):
    return float(rng.random() < candidate)


@pytest.fixture
def folder(tmp_path):
    search(draw, pull, alpha=0.3, epsilon=0.3, delta=0.2, storage=tmp_path / "search.db", progress="none")
    (tmp_path / "mine.py").write_text(MODULE)
    return tmp_path


def run(folder, words, stdout=None, close=()):
    """The process that the command ran in, with these of its descriptors closed."""

    def prepare():
        for descriptor in close:
            os.close(descriptor)

    command = [sys.executable, "-m", "topalpha", *words]
    pipe = None if 2 in close else subprocess.PIPE
    return subprocess.run(command, stdout=stdout, stderr=pipe, text=True, cwd=folder, preexec_fn=prepare)


COMMANDS = {
    "help": ("--help",),
    "version": ("--version",),
    "list": ("list",),
    "list as JSON": ("list", "--json", "-"),
    "show": ("show", "search.db"),
    "verify": ("verify", "search.db"),
    "export": ("export", "search.db", "--csv", "-"),
    "figure": ("figure", "search.db", "-o", "race.png"),
    "run": ("run", "mine.py:pull", *EASY, "--storage", "new.db"),
}


@pytest.mark.parametrize("name", quick(COMMANDS, ["run", "verify", "list as JSON", "figure"]))
def test_a_full_output_is_one_sentence(folder, name):
    with open("/dev/full", "w") as full:
        done = run(folder, COMMANDS[name], full)
    assert (done.stderr, done.returncode) == (FULL, 1)
    if name == "run":
        assert read(folder / "new.db").status == "stopped", "what was found is in the file"


@pytest.mark.parametrize("name", ["help", "list", "run"])
def test_a_closed_output_is_one_sentence_before_the_work(folder, name):
    done = run(folder, COMMANDS[name], close=(1,))
    assert (done.stderr, done.returncode) == (CLOSED, 2)
    assert sorted(os.listdir(folder)) == ["mine.py", "search.db"], "the next file opened would have been the output"


def test_closed_errors_do_not_end_a_command(folder):
    """Without stderr there is nobody to complain to; what was asked for is done all the same."""
    done = run(folder, ("run", "mine.py:pull", *EASY[:-1], "auto", "--json", "found.json"), subprocess.PIPE, close=(2,))
    assert done.returncode == 0
    assert "With probability at least" in done.stdout
    assert (folder / "found.json").exists()
    assert run(folder, ("show", "none.db"), subprocess.PIPE, close=(2,)).returncode == 2
    assert run(folder, ("show", "none.db"), close=(1, 2)).returncode == 2


def test_a_reader_that_has_gone_is_told_nothing(folder):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(folder, ("export", "search.db", "--csv", "-"), writing)
    finally:
        os.close(writing)
    assert (done.stderr, done.returncode) == ("", 1)


def test_an_output_file_without_room_says_so_and_shows_what_was_found(folder):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from topalpha.cli import main\n"
        "def full(*given, **named): raise OSError(28, 'No space left on device')\n"
        "Path.write_text = full\n"
        "main(sys.argv[1:], prog_name='topalpha')\n"
    )
    words = ("run", "mine.py:pull", *EASY, "--json", "found.json")
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=folder)
    said = "topalpha: json must name a file that can be written, got 'found.json' (No space left on device)\n"
    assert (done.stderr, done.returncode) == (said, 2)
    assert "With probability at least" in done.stdout
    assert not [name for name in os.listdir(folder) if "found" in name], "no draft is left"
