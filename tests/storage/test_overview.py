"""Looking at a file often: all of it from one moment, no pickle loaded, and every change noticed."""

from __future__ import annotations

import os
import pickle
import sqlite3
import time
from pathlib import Path

import pytest

from tests.support.storing import a_search, child, contents, kill
from topalpha.storage import Storage, StorageError, candidates, listing, names, post, read, stamp


class Trap:
    """What leaves a file behind when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_listing_says_what_reading_each_search_says(path):
    assert not path.exists()
    with Storage(path) as storage:
        for name in ("b", "a"):
            record = storage.create(name, {"alpha": 0.05, "name": name})
            record.add_arm(0, name)
            record.ask(0, 0, 0)
            record.tell(0, 0.5)
        record.snapshot([(0, 1, 0.5, 0.0, 1.0, 0)], {"pulls": 1})
        record.finish("stopped", {"arm": 0})
    before = contents(path)
    found = listing(path)
    assert [one.name for one in found] == names(path) == ["b", "a"]
    for one in found:
        recording = read(path, one.name, log=False)
        for part in ("status", "created", "config", "progress", "updated"):
            assert getattr(one, part) == getattr(recording, part), part
    assert contents(path) == before, "nothing is left behind"


def test_a_search_is_alive_while_it_runs_and_speaks(path):
    with Storage(path) as storage:
        record = storage.create("first", {})
        assert not listing(path)[0].alive(), "it has said nothing"
        record.snapshot([], {"pulls": 3})
        assert listing(path)[0].alive()
        assert not listing(path)[0].alive(time.time() + 6.0)
        assert not listing(path)[0].paused, "older files do not say"
        record.snapshot([], {"pulls": 3, "paused": True})
        assert listing(path)[0].paused
        record.finish("failed", None)
        assert not listing(path)[0].alive()
        assert not listing(path)[0].paused


def test_candidates_come_by_range_and_by_arm(path):
    a_search(path)
    before = contents(path)
    assert candidates(path, "first", range(2, 4)) == {2: "[2]", 3: "[3]"}
    assert candidates(path, None, [6, 0, 99]) == {6: "[6]", 0: "[0]"}
    assert candidates(path, None, range(6, -1, -3)) == {6: "[6]", 3: "[3]", 0: "[0]"}
    assert candidates(path, None, range(7, 9)) == candidates(path, None, []) == {}
    assert contents(path) == before
    with pytest.raises(StorageError, match="name must be a search in the file, got 'other'"):
        candidates(path, "other", [0])


def test_candidates_are_legible_and_stay_text(path):
    odd = ["<script>alert(1)</script>", "café ☃ 𝄞", "lone \udcff", "back\\slash \\u00e9", 'quote "']
    with Storage(path) as storage:
        record = storage.create("first", {})
        for arm, candidate in enumerate(odd):
            record.add_arm(arm, candidate)
    found = candidates(path, None, range(9))
    assert found[0] == '"<script>alert(1)</script>"'
    assert found[1] == '"café ☃ 𝄞"'
    assert found[2] == '"lone \\udcff"'
    assert found[3] == '"back\\\\slash \\\\u00e9"'
    assert found[4] == '"quote \\""'
    assert all(text.encode("utf-8") for text in found.values())


def test_no_pickle_is_loaded(path, tmp_path):
    trap = tmp_path / "sprung"
    with Storage(path) as storage:
        storage.create("first", {}, pickle=True).add_arm(0, Trap(str(trap)))
    assert candidates(path, None, range(1)) == candidates(path, None, [0]) == {0: "(pickled)"}
    assert not trap.exists()
    pickle.loads(read(path).arms[0])
    assert trap.exists(), "the trap works"


def test_every_transaction_changes_the_stamp(path):
    assert stamp(path) is None
    with Storage(path) as storage:
        record = storage.create("first", {})
        seen = [stamp(path)]
        for number in range(300):
            record.snapshot([], {"pulls": number % 2})
            seen.append(stamp(path))
        assert len(set(seen)) == 301
        reading = stamp(path)
        for _ in range(3):
            read(path)
            listing(path)
        assert stamp(path) == reading, "reading is no change"
        post(path, None, "stop")
        assert stamp(path) != reading
        reading = stamp(path)
    assert stamp(path) != reading, "the log was folded into the file"
    assert stamp(path) == stamp(Path(path))


def test_the_stamp_changes_when_others_write_and_when_they_are_killed(path):
    a_search(path)
    before = stamp(path)
    process = child(
        "with Storage(path) as storage:\n"
        "    record = storage.open()\n"
        "    record.ask(20, 0, 20)\n"
        "    record.tell(20, 0.5)\n"
        "    print('told', flush=True)\n"
        "    time.sleep(60)\n",
        path,
    )
    assert process.stdout.readline() == "told\n"
    told = stamp(path)
    assert told != before
    kill(process)
    assert len(read(path).tells) == 21
    steady = stamp(path)
    assert steady == stamp(path)
    os.unlink(path)
    assert stamp(path) is None


def test_what_is_no_file_of_ours_is_refused_in_a_sentence(tmp_path):
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE one (two)")
    connection.close()
    for call in (listing, lambda file: candidates(file, None, [0])):
        with pytest.raises(StorageError, match="path must be a topalpha file"):
            call(foreign)
        with pytest.raises(StorageError, match="path must exist"):
            call(tmp_path / "none.db")
