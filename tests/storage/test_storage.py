"""Storage: what was acknowledged is on disk, and comes back."""

from __future__ import annotations

import math
import pickle
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.storing import a_search, child, contents, fill
from topalpha.storage import Storage, StorageError, names, post, read
from topalpha.storage.encoding import decode, encode

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and resource limits of POSIX")


# What goes in comes out


def test_everything_comes_back(path):
    with Storage(path) as storage:
        record = storage.create("first", {"alpha": 0.05, "family": {"name": "bernoulli"}})
        assert (record.name, record.status, record.certificate) == ("first", "running", None)
        record.add_arm(0, {"rate": 0.1})
        record.add_arm(1, "two")
        record.ask(0, 0, 0)
        record.ask(1, 1, 0)
        record.tell(1, 0.25)
        record.ask(2, 1, 1)
        record.fail(0, 1, "no file \udcff", "retry")
        record.tell_many([(2, -1.5), (0, 1e-300)])
        rows = [(0, 1, 0.5, -math.inf, math.inf, 0), (1, 2, None, 0.25, 0.75, 3)]
        before = time.time()
        record.snapshot([(0, 9, 9.0, 9.0, 9.0, 9), *rows], {"pulls": 3})
        record.finish("stopped", {"arm": 1})
        within = record.recording()
    seen = read(path)
    assert seen == within
    assert (seen.name, seen.config, seen.status) == (
        "first",
        {"alpha": 0.05, "family": {"name": "bernoulli"}},
        "stopped",
    )
    assert seen.certificate == {"arm": 1}
    assert seen.candidates() == [{"rate": 0.1}, "two"]
    assert seen.asks == [(0, 0), (1, 0), (1, 1)]
    assert seen.tells == [(1, 0.25), (2, -1.5), (0, 1e-300)]
    assert seen.failures == [(0, 1, "no file \\udcff", "retry")]
    assert seen.snapshot == rows
    assert seen.progress == {"pulls": 3}
    assert before <= seen.updated <= time.time()
    assert seen.created.endswith("+00:00")
    assert list(contents(path)) == ["searches.db"], "a clean end leaves one file"


def test_a_search_goes_on_where_it_was(path):
    a_search(path)
    with Storage(path) as storage:
        record = storage.open()
        assert record is storage.open("first")
        assert (record.config, record.asked, record.told) == ({"alpha": 0.05}, 20, 20)
        with pytest.raises(ValueError, match="order must name a pull asked for and not yet told, got 19"):
            record.tell(19, 0.0)
        record.add_arm(7, "next")
        fill(record, 5, start=20)
        record.fail(3, 0, "late", "none")
    seen = read(path)
    assert [order for order, _ in seen.tells] == list(range(25))
    assert len(seen.arms) == 8


def test_several_searches_share_a_file(path):
    with Storage(path) as storage:
        one, two = storage.create("one", {}), storage.create("two", {})
        fill(one, 3)
        fill(two, 5)
        assert storage.names() == names(path) == ["one", "two"]
        with pytest.raises(StorageError, match=r"name must be new in '.*', got 'two'"):
            storage.create("two", {})
        for call in (storage.open, lambda: read(path), lambda: post(path, None, "stop")):
            with pytest.raises(StorageError, match=r"name must be given .* got None \('.*' holds 'one', 'two'\)"):
                call()
        with pytest.raises(StorageError, match=r"name must be a search in the file, got 'three'"):
            storage.open("three")
    assert [len(read(path, name).tells) for name in ("one", "two")] == [3, 5]
    assert read(path, "two", log=False).tells == []


def test_an_empty_file_is_used_and_keeps_its_permissions(path):
    path.touch(mode=0o600)
    with pytest.raises(StorageError, match=r"path must be a topalpha file, got '.*' \(empty\)"):
        read(path)
    a_search(path)
    assert len(read(path).tells) == 20
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_leads_to_the_same_file(path, tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(path)
    a_search(link)
    assert names(path) == names(link) == ["first"]
    with Storage(path), pytest.raises(StorageError, match="this process is writing it"):
        Storage(link)


# Refusals that leave everything as it was


def test_each_pull_counts_once_and_in_order(path):
    with Storage(path) as storage:
        record = storage.create("first", {})
        fill(record, 2)
        record.ask(2, 0, 1)
        record.ask(3, 0, 1)
        before = record.recording()
        refused = [
            (lambda: record.tell(1, 0.5), "order must name a pull asked for and not yet told, got 1"),
            (lambda: record.tell(4, 0.5), "order must name a pull asked for and not yet told, got 4"),
            (lambda: record.tell(-1, 0.5), "order must name a pull asked for and not yet told, got -1"),
            (lambda: record.tell(2, math.nan), "reward must be a real number, got nan"),
            (lambda: record.tell_many([(2, 0.5), (1, 0.5)]), "order must name a pull asked for and not yet told"),
            (lambda: record.tell_many([(2, 0.5), (2, 0.5)]), "order must name a pull asked for and not yet told"),
            (lambda: record.tell_many([(2, 0.5), (3, math.inf)]), "reward must be finite, got inf"),
            (lambda: record.ask(3, 0, 0), "order must be the next one, 4, got 3"),
            (lambda: record.ask(4, -1, 0), "arm must be an index, got -1"),
            (lambda: record.ask(4, 2**63, 0), "arm must be an index, got"),
            (lambda: record.ask(4, 0, 3), "after must be at most the number of rewards told, 2, got 3"),
            (lambda: record.add_arm(1, "x"), "arm must be the next one, 0, got 1"),
            (lambda: record.fail(4, 0, "x", "y"), "order must name a pull asked for, got 4"),
            (lambda: record.fail(0, 9, "x", "y"), "after must be at most"),
            (lambda: record.finish("stopped", {"arm": (1, 2)}), "certificate must come back from JSON as it is"),
            (lambda: record.snapshot([(0, 1, 0.5, math.nan, 1.0, 0)], {}), "bounds must be numbers"),
            (lambda: storage.create("", {}), "name must be text"),
            (lambda: storage.create("x", {"seeds": (1, 2)}), "config must come back from JSON as it is"),
        ]
        for call, message in refused:
            with pytest.raises(ValueError, match=message):
                call()
        assert record.recording() == before
        record.tell_many([(3, 0.5), (2, 0.25)])
    assert read(path).tells[2:] == [(3, 0.5), (2, 0.25)]


def test_the_file_itself_counts_a_pull_once(path):
    a_search(path)
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        connection.execute('INSERT INTO tells (search, "order", sequence, reward) VALUES (1, 3, 99, 0.5)')


def test_options_are_checked(path):
    with pytest.raises(ValueError, match="durable must be one of process, power, got 'disk'"):
        Storage(path, durable="disk")
    with pytest.raises(ValueError, match="interval must be at least 0, got -1"):
        Storage(path, interval=-1)
    assert contents(path) == {}


def test_nothing_is_done_once_closed(path):
    storage = Storage(path)
    record = storage.create("first", {})
    record.ask(0, 0, 0)
    storage.close()
    storage.close()
    calls = (
        lambda: record.tell(0, 1.0),
        lambda: record.ask(1, 0, 0),
        record.commit,
        record.recording,
        record.take_messages,
        storage.names,
        storage.open,
    )
    for call in calls:
        with pytest.raises(StorageError, match="path must be open, got"):
            call()
    assert read(path).asks == [(0, 0)], "closing commits"
    with Storage(path) as other:
        storage.close()
        with pytest.raises(StorageError, match="this process is writing it"):
            Storage(path)
        other.open().tell(0, 1.0)


# Candidates

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
CHANGED = st.one_of(
    st.tuples(PLAIN),
    st.frozensets(st.integers()),
    st.binary(),
    st.dictionaries(st.integers(), PLAIN, min_size=1),
    st.sampled_from([math.nan, math.inf, -math.inf, object(), 1j, "\ud83d\ude00"]),
)


def test_plain_candidates_come_back_as_they_are():
    with tempfile.TemporaryDirectory() as folder, Storage(Path(folder) / "searches.db") as storage:
        record, kept = storage.create("first", {}), []

        @settings(max_examples=50)
        @given(PLAIN)
        @example("\ud800")
        @example([-0.0, 1.0, 1, True, "\x00"])
        def keep(candidate):
            record.add_arm(len(kept), candidate)
            kept.append(candidate)

        keep()
        assert list(map(repr, record.recording().candidates())) == list(map(repr, kept))


@given(CHANGED, st.sampled_from([lambda value: value, lambda value: [1, value], lambda value: {"key": value}]))
def test_a_candidate_that_json_would_change_is_refused(candidate, wrap):
    with pytest.raises(
        ValueError, match=r"candidate must come back from JSON as it is unless .* new name or file .* pickle=True, got"
    ):
        encode(wrap(candidate), pickled=False)


def test_a_circle_is_refused():
    circle = []
    circle.append(circle)
    with pytest.raises(ValueError, match="pickle=True"):
        encode(circle, pickled=False)


def test_pickles_are_loaded_only_where_that_is_allowed(path):
    with Storage(path) as storage:
        record = storage.create("first", {}, pickle=True)
        record.add_arm(0, (1, {2}))
        record.add_arm(1, encode)
        with pytest.raises(ValueError, match="candidate must be something that pickle can store, got <function"):
            record.add_arm(2, lambda: None)
    with Storage(path) as storage:
        record = storage.open()
        record.add_arm(2, (3,))
        assert all(isinstance(raw, bytes) for raw in record.recording().arms)
    with pytest.raises(ValueError, match="allow_pickle must be True to load pickled candidates"):
        read(path).candidates()
    assert read(path).candidates(allow_pickle=True) == [(1, {2}), encode, (3,)]


def test_a_pickle_smuggled_into_a_plain_search_is_not_loaded(path):
    a_search(path)
    poison = b"cbuiltins\nexec\n(S'raise SystemExit'\ntR."
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE arms SET candidate = ? WHERE arm = 3", (poison,))
    with pytest.raises(ValueError, match="allow_pickle must be True"):
        read(path).candidates()
    with pytest.raises(ValueError, match="allow_pickle must be True"):
        decode(pickle.dumps(1), allow_pickle="yes")
    with pytest.raises(SystemExit):
        read(path).candidates(allow_pickle=True)


# Messages


def test_messages_reach_a_running_search_once_and_in_order(path):
    with Storage(path) as storage:
        record, other = storage.create("first", {}), storage.create("other", {})
        assert record.take_messages() == []
        record.ask(0, 0, 0)  # an ask must not keep others out
        post(path, "first", "pause")
        post(path, "other", "for the other")
        output = child("post(path, 'first', 'stop \\udcff')", path)
        output.communicate()
        assert record.take_messages() == ["pause", "stop \\udcff"]
        assert record.take_messages() == []
        post(path, "first", "again")
        assert record.take_messages() == ["again"]
        assert other.take_messages() == ["for the other"]
    post(path, "first", "while nobody runs")
    assert list(contents(path)) == ["searches.db"]
    with Storage(path) as storage:
        assert storage.open("first").take_messages() == ["while nobody runs"]
    with pytest.raises(StorageError, match="name must be a search in the file, got 'none'"):
        post(path, "none", "stop")
