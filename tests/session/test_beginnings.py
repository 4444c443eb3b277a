"""A search and its file begin at once: wherever a process is killed, what exists can be resumed."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing

import pytest
from click.testing import CliRunner

from tests.support.storing import child, contents
from topalpha import resume, search, select
from topalpha.ask_tell import Task
from topalpha.cli import main
from topalpha.session import Session
from topalpha.storage import Storage, StorageError, holds, listing, names, read
from topalpha.storage.tables import TABLES

EASY = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")


def draw(rng):
    return rng.random()


def pull(candidate, rng):
    return float(rng.random() < candidate)


def passes(candidate, example):
    return candidate == "good"


# Forked, so that nothing is imported again: a process dies before its n-th step, for every n until it gets through.
# Steps are what the interpreter reports to audit hooks about files: opened, locked, renamed, removed, given to SQLite.
STEPS = """
import signal
from topalpha import resume, search

def draw(rng):
    return rng.random()

def pull(candidate, rng):
    return float(rng.random() < candidate)

def begin(path):
    how = {"pulls": 3, "progress": "none"}
    if os.path.exists(path):
        return resume(path, draw, pull, **how)
    return search(draw, pull, alpha=0.3, epsilon=0.3, delta=0.2, storage=path, **how)

def dying(step):
    left = step
    def count(event, arguments):
        nonlocal left
        left -= event.startswith(("open", "os.", "fcntl.", "sqlite3."))
        if left == -1:  # the kill is itself a step
            os.kill(os.getpid(), signal.SIGKILL)
    class Told(Exception):
        pass
    def told(candidate, rng):
        raise Told  # the search is begun
    sys.addaudithook(count)
    try:
        search(draw, told, alpha=0.3, epsilon=0.3, delta=0.2, storage=path, progress="none")
    except BaseException:
        pass
    os._exit(0)

begin(path + "-imported")  # all that is needed is there now
step, kept = 0, set()
while True:
    process = os.fork()
    if process == 0:
        dying(step)
    status = os.waitpid(process, 0)[1]
    there = os.path.exists(path)
    kept.add(there)
    begin(path)
    print(step, there, names(path), len(read(path).tells) >= 3, flush=True)
    for name in os.listdir(os.path.dirname(path)):
        os.unlink(os.path.join(os.path.dirname(path), name))
    if os.WIFEXITED(status):
        break
    step += 1
print("THROUGH", sorted(kept))
"""


@posix
def test_killed_at_any_step_of_its_beginning_a_search_is_resumed_or_begun(path):
    process = child(STEPS, path)
    *lines, last = process.communicate()[0].splitlines()
    assert process.returncode == 0
    assert last == "THROUGH [False, True]", "kills before the file was there, and after"
    assert len(lines) > 10
    for line in lines:
        assert line.endswith("['search'] True"), line


def test_there_is_no_file_without_a_search(path):
    with Storage(path) as storage:
        assert not path.exists()
        assert storage.names() == []
        with pytest.raises(StorageError, match="path must hold a search, got"):
            storage.open()
        with pytest.raises(
            StorageError, match=r"name must be a search in the file, got 'first' \('.*' holds no search"
        ):
            storage.open("first")
        with pytest.raises(StorageError, match="this process is writing it"):
            Storage(path)
    assert contents(path) == {}
    for call in (storage.names, storage.open, lambda: storage.create("first", {})):
        with pytest.raises(StorageError, match="path must be open, got"):
            call()
    storage.close()
    with Storage(path) as storage:
        storage.create("first", {})
        assert names(path) == ["first"]
        storage.create("second", {})
    assert names(path) == ["first", "second"]


@posix
def test_a_forked_copy_does_not_begin(path):
    code = "s = Storage(path)\nif os.fork() == 0:\n    try: s.create('x', {})\n    except StorageError as e: print(e)\n"
    code += "    s.close(); os._exit(0)\nos.wait(); print(os.listdir(os.path.dirname(path)), flush=True); s.close()"
    said, there = child(code, path).communicate()[0].splitlines()
    assert "path must be open, got" in said
    assert there == "['searches.db-writer']"


def bare(path):
    """What a version that made the file before the search left when it was killed in between."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA journal_mode = WAL;" + TABLES)


def empty(path):
    path.touch()


@pytest.mark.parametrize("left", [bare, empty])
def test_a_file_without_a_search_is_begun_in(path, left):
    left(path)
    assert not holds(path)
    if left is bare:
        assert listing(path) == names(path) == []
        with pytest.raises(StorageError, match=r"path must hold a search, got .* \(none was begun in it: search with"):
            resume(path, draw, pull)
        outcome = CliRunner().invoke(main, ["resume", str(path)])
        assert (outcome.exit_code, outcome.stderr.count("\n")) == (2, 1)
    assert search(draw, pull, **EASY, storage=path).stopped
    assert resume(path, draw, pull).stopped
    path.unlink()
    left(path)
    for _ in range(2):
        chosen = select(["bad", "good"], range(30), passes, storage=path, resume=True, progress="none")
        assert chosen.candidate == "good"
    assert names(path) == ["selection"]


@pytest.mark.parametrize("left", [bare, empty])
def test_a_model_search_begins_in_a_file_without_a_search(path, left):
    pytest.importorskip("sklearn")
    from sklearn.datasets import make_classification
    from sklearn.tree import DecisionTreeClassifier

    from topalpha.sklearn import TopAlphaSearchCV

    left(path)
    X, y = make_classification(60, random_state=0)
    for _ in range(2):
        found = TopAlphaSearchCV(
            DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, storage=path, max_fits=4, random_state=0
        ).fit(X, y)
        assert found.n_fits_ >= 4
    assert len(names(path)) == 1


@posix
def test_the_log_of_a_file_that_is_gone_is_not_taken_for_the_new_one_s(path):
    """SQLite would write the old search into the new file, over the new one."""
    code = "s = Storage(path); r = s.create('old', {})\nfor k in range(5): r.ask(k, 0, k); r.tell(k, 0.5)\n"
    process = child(code + "os.kill(os.getpid(), 9)", path)
    process.communicate()
    path.unlink()
    before = contents(path)
    assert before["searches.db-wal"]
    with pytest.raises(StorageError, match=r"path must have no log of a file that is gone beside it, got .* \(move"):
        search(draw, pull, **EASY, storage=path)
    assert {name: text for name, text in contents(path).items() if name.endswith("-wal")} == {
        "searches.db-wal": before["searches.db-wal"]
    }
    os.unlink(f"{path}-wal")
    assert search(draw, pull, **EASY, storage=path).stopped
    assert names(path) == ["search"]


def test_a_session_that_is_begun_is_on_disk_before_its_first_pull(path):
    with Session.start(Task(0.3, 0.3, 0.2), path):
        assert read(path).status == "running"
    with Session.resume(path) as session:
        assert session.told == 0
