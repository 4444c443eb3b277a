"""Storage: what was acknowledged is on disk, whatever happens, and what is not ours is never touched."""

from __future__ import annotations

import math
import os
import pickle
import random
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topalpha.storage import Storage, StorageError, files, names, post, read, writer
from topalpha.storage.encoding import decode, encode
from topalpha.storage.schema import APPLICATION, TABLES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and resource limits of POSIX")


CHILDREN = []


@pytest.fixture
def path(tmp_path):
    return tmp_path / "searches.db"


def fill(record, pulls, start=0):
    for order in range(start, start + pulls):
        record.ask(order, order % 7, order)
        record.tell(order, order / 8)


def a_search(path, pulls=20):
    with Storage(path) as storage:
        record = storage.create("first", {"alpha": 0.05})
        for arm in range(7):
            record.add_arm(arm, [arm])
        fill(record, pulls)


def contents(path):
    """Every file next to the path, by name."""
    return {file.name: file.read_bytes() for file in Path(path).parent.iterdir()}


def child(code, *arguments):
    """A process that runs ``code`` with the names of this file's imports; it says what it does on its output."""
    head = "import os, sys, time\nfrom topalpha.storage import *\npath = sys.argv[1]\n"
    command = [sys.executable, "-c", head + code, *map(str, arguments)]
    CHILDREN.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    return CHILDREN[-1]


@pytest.fixture(autouse=True)
def _no_child_outlives_its_test():
    yield
    while CHILDREN:
        process = CHILDREN.pop()
        process.kill()
        process.wait()
        process.stdout.close()


def kill(process):
    process.send_signal(signal.SIGKILL)
    output, _ = process.communicate()
    return output


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
    assert abs(seen.updated - time.time()) < 600.0
    assert seen.created.endswith("+00:00")
    assert list(contents(path)) == ["searches.db"], "a clean end leaves one file"


def test_a_search_goes_on_where_it_was(path):
    a_search(path)
    with Storage(path) as storage:
        record = storage.open()
        assert record is storage.open("first")
        assert (record.config, record.asked, record.told) == ({"alpha": 0.05}, 20, 20)
        with pytest.raises(ValueError, match="order must be of a pull asked for and not yet told, got 19"):
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
            (lambda: record.tell(1, 0.5), "order must be of a pull asked for and not yet told, got 1"),
            (lambda: record.tell(4, 0.5), "order must be of a pull asked for and not yet told, got 4"),
            (lambda: record.tell(-1, 0.5), "order must be of a pull asked for and not yet told, got -1"),
            (lambda: record.tell(2, math.nan), "reward must be finite, got nan"),
            (lambda: record.tell_many([(2, 0.5), (1, 0.5)]), "order must be of a pull asked for and not yet told"),
            (lambda: record.tell_many([(2, 0.5), (2, 0.5)]), "order must be of a pull asked for and not yet told"),
            (lambda: record.tell_many([(2, 0.5), (3, math.inf)]), "reward must be finite, got inf"),
            (lambda: record.ask(3, 0, 0), "order must be the next one, 4, got 3"),
            (lambda: record.ask(4, -1, 0), "arm must be an index, got -1"),
            (lambda: record.ask(4, 2**63, 0), "arm must be an index, got"),
            (lambda: record.ask(4, 0, 3), "after must be at most the number of rewards told, 2, got 3"),
            (lambda: record.add_arm(1, "x"), "arm must be the next one, 0, got 1"),
            (lambda: record.fail(4, 0, "x", "y"), "order must be of a pull asked for, got 4"),
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
    with pytest.raises(ValueError, match=r"candidate must come back from JSON as it is unless .* pickle=True, got"):
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


# Files that are not ours


def not_sqlite(path):
    path.write_bytes(b"rate,reward\n0.1,0.75\n" * 400)


def short_text(path):
    path.write_bytes(b"x")


def foreign(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE customers (name TEXT)")


def foreign_that_runs(path):
    """Another application's file whose log has not been folded in."""
    foreign(path)
    code = "import sqlite3; c = sqlite3.connect(path); c.execute('INSERT INTO customers VALUES (1)'); c.commit()\n"
    process = child(code + "print('ready', flush=True); time.sleep(60)", path)
    process.stdout.readline()
    kill(process)
    assert path.with_name(path.name + "-wal").stat().st_size > 0


def newer(path):
    a_search(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")


def older(path):
    a_search(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 0")


def cut_short(path):
    a_search(path, pulls=5000)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwritten(path):
    a_search(path, pulls=5000)
    content = bytearray(path.read_bytes())
    content[4096 * 3 : -4096] = b"\xa5" * len(content[4096 * 3 : -4096])
    path.write_bytes(content)


def without_tables(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
        connection.executescript("DROP TABLE searches")


NOT_OURS = {
    not_sqlite: r"path must be an undamaged topalpha file, got '.*' \(file is not a database\)",
    short_text: r"path must be an undamaged topalpha file, got '.*' \(file is not a database\)",
    foreign: r"path must be a topalpha file, got '.*' \(a SQLite file of another application\)",
    foreign_that_runs: r"path must be a topalpha file, got '.*' \(a SQLite file of another application\)",
    newer: r"path must have schema version 1, got '.*' \(version 2, of a newer topalpha\)",
    older: r"path must be an undamaged topalpha file, got '.*' \(schema version 0\)",
    cut_short: r"path must be an undamaged topalpha file, got",
    overwritten: r"path must be an undamaged topalpha file, got",
}


@pytest.mark.parametrize("make", NOT_OURS, ids=lambda make: make.__name__)
def test_what_is_not_ours_is_refused_and_left_alone(path, make):
    make(path)
    before = contents(path)
    calls = [lambda: Storage(path), lambda: read(path)]
    if make not in (cut_short, overwritten):
        calls += [lambda: names(path), lambda: post(path, "first", "stop")]
    for call in calls:
        with pytest.raises(StorageError, match=NOT_OURS[make]):
            call()
        assert contents(path) == before, "files appeared or changed"


def test_a_file_that_lacks_a_table_is_refused(path):
    without_tables(path)
    before = contents(path)
    for call in (names, read, Storage):
        with pytest.raises(StorageError, match=r"path must be .* \(no such table: searches\)"):
            call(path)
    assert path.read_bytes() == before[path.name]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ('DELETE FROM asks WHERE "order" = 3', "19 rows in a log that counts to 20"),
        ('DELETE FROM asks WHERE "order" = 19', "a reward of a pull that was not asked for"),
        ("DELETE FROM tells WHERE sequence = 3", "19 rows in a log that counts to 20"),
        ("UPDATE searches SET config = 'x'", "in what should be JSON"),
    ],
)
def test_a_log_with_a_gap_is_refused(path, damage, message):
    a_search(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    before = path.read_bytes()
    with pytest.raises(StorageError, match=message):
        read(path)
    with Storage(path) as storage, pytest.raises(StorageError, match=message):
        storage.open()
    assert path.read_bytes() == before


def test_damage_is_refused_or_harmless_never_anything_else(path):
    a_search(path, pulls=600)
    sound, draw, refused = path.read_bytes(), random.Random(5), 0
    for _ in range(150):
        content = bytearray(sound)
        for _ in range(draw.choice((1, 8, 64))):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        try:
            Storage(path).close()
        except StorageError:
            refused += 1
            assert contents(path) == {path.name: content}
        path.write_bytes(content)
        with suppress(StorageError):
            read(path)
        assert contents(path) == {path.name: content}
    assert refused > 20


# Places that cannot be written


def test_a_missing_or_wrong_place_is_refused(tmp_path):
    missing = tmp_path / "nowhere" / "searches.db"
    for call in (Storage, read, names):
        with pytest.raises(StorageError, match="path must lie in an existing directory, got"):
            call(missing)
        with pytest.raises(StorageError, match=r"path must name a file, got '.*' \(a directory\)"):
            call(tmp_path)
    for call in (read, names, lambda file: post(file, "first", "stop")):
        with pytest.raises(StorageError, match="path must exist, got"):
            call(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


AS_NOBODY = """
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
for call in (Storage, lambda path: post(path, "first", "stop")):
    try:
        call(path)
        print("written")
    except StorageError as error:
        print(error)
print(len(read(path).tells), names(path))
"""


@pytest.mark.parametrize("bound", ["file", "directory"])
def test_what_is_read_only_is_refused_and_can_be_read(bound):
    # Not tmp_path: if this is root, permissions bind only another user, who must be able to get there.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "searches.db"
        a_search(path)
        before = contents(path)
        path.chmod(0o444 if bound == "file" else 0o666)
        folder.chmod(0o777 if bound == "file" else 0o555)
        process = child(AS_NOBODY, path)
        first, second, last = process.communicate()[0].splitlines()
        folder.chmod(0o755)
        assert first.startswith("path must be writable, and so its directory, got")
        assert second.startswith("path must be")
        assert last == "20 ['first']"
        assert contents(path) == before


def test_a_file_that_turns_read_only_is_refused(path, monkeypatch):
    a_search(path)
    connect = files.connect
    monkeypatch.setattr(writer, "connect", lambda path, options: connect(path, "mode=ro"))
    with pytest.raises(StorageError, match=r"path must be writable, and so its directory, got .*readonly"):
        Storage(path)
    monkeypatch.undo()
    Storage(path).close()


def exhaust(storage, record):
    """Tell until there is no room; how many rewards were acknowledged."""
    order, message = record.asked, ""
    while not message:
        record.ask(order, 0, order)
        try:
            record.tell(order, order / 7)
            order += 1
        except StorageError as error:
            message = str(error)
    refused = (
        lambda: record.tell(order, 0.5),
        lambda: record.ask(order + 1, 0, 0),
        lambda: record.add_arm(0, "x"),
        lambda: record.tell_many([]),
        lambda: record.fail(0, 0, "x", "y"),
        lambda: record.snapshot([], {}),
        lambda: record.finish("stopped", None),
        record.commit,
        lambda: storage.create("second", {}),
    )
    for call in refused:
        with pytest.raises(StorageError) as caught:
            call()
        assert str(caught.value) == message
    return order, message


def test_a_full_file_loses_nothing_and_refuses_the_rest(path):
    with Storage(path) as storage:
        record = storage.create("first", {})
        storage._writer.connection.execute("PRAGMA max_page_count = 20")
        acknowledged, message = exhaust(storage, record)
        assert message.startswith("path must have room left on its disk, got")
        assert acknowledged > 100
        assert len(record.recording().tells) == len(read(path).tells) == acknowledged
    seen = read(path)
    assert seen.tells == [(order, order / 7) for order in range(acknowledged)]
    with Storage(path) as storage:
        fill(storage.open(), 500, start=storage.open().asked)
    assert len(read(path).tells) == acknowledged + 500


FULL_DISK = """
import resource
storage = Storage(path)
record = storage.create("first", {})
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
order = 0
try:
    while True:
        record.ask(order, 0, order)
        record.tell(order, 0.5)
        order += 1
        print(order, flush=True)
except StorageError as error:
    print(error, flush=True)
try:
    record.tell(order, 0.5)
except StorageError as error:
    print(error, flush=True)
storage.close()
"""


def test_a_disk_without_room_loses_nothing(path):
    process = child(FULL_DISK, path)
    *orders, first, second = process.communicate()[0].splitlines()
    assert process.returncode == 0
    assert first == second
    assert first.startswith("path must ")
    assert len(orders) > 10
    assert len(read(path).tells) == len(orders)


def test_a_failed_creation_leaves_nothing(path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(StorageError, match=r"path must have room left on its disk, got .* \(No space left on device\)"):
        Storage(path)
    assert contents(path) == {}


# Several processes

APPEND = """
storage = Storage(path, interval=float(sys.argv[2]))
record = storage.open() if storage.names() else storage.create("first", {})
order = record.asked
for pending in range(order):
    try:
        record.tell(pending, 0.5)
    except ValueError:
        pass
while True:
    record.ask(order, order % 5, record.told)
    if order % 3 == 2:
        record.tell_many([(order, 0.25)])
    else:
        record.tell(order, 0.25)
    if not storage._interval:
        os.write(1, b"%d\\n" % order)
    elif order % 50 == 49:
        record.commit()
        os.write(1, b"%d\\n" % order)
    order += 1
"""


@pytest.mark.parametrize("interval", [0.0, 10.0])
def test_what_was_acknowledged_survives_kill_9(path, interval):
    draw, last = random.Random(2), -1
    for _ in range(8):
        process = child(APPEND, path, interval)
        assert select.select([process.stdout], [], [], 30.0)[0]
        time.sleep(draw.random() * 0.06)
        lines = kill(process).splitlines(keepends=True)
        acknowledged = [int(line) for line in lines if line.endswith("\n")]
        assert acknowledged[0] > last
        seen = read(path)
        last = len(seen.tells) - 1
        assert last >= acknowledged[-1], "an acknowledged reward is gone"
        assert [order for order, _ in seen.tells] == list(range(last + 1)), "each once"
        assert all(after <= order for order, (_, after) in enumerate(seen.asks))
    assert not any(name.endswith("-new") for name in contents(path))


def test_creation_survives_kill_9(path):
    draw = random.Random(3)
    for _ in range(12):
        process = child("print(flush=True)\nwhile True: Storage(path).close(); os.unlink(path)", path)
        process.stdout.readline()
        time.sleep(draw.random() * 0.03)
        kill(process)
        Storage(path).close()
        assert names(path) == []


HOLD = "s = Storage(path); r = s.create('first', {}); print('ready', flush=True); time.sleep(60)"


def test_a_second_writer_is_refused_until_the_first_is_killed(path):
    process = child(HOLD, path)
    process.stdout.readline()
    for _ in range(2):
        with pytest.raises(StorageError, match=rf"path must have no other writer, got .*process {process.pid} is"):
            Storage(path)
    with pytest.raises(StorageError, match="no other writer"):
        Storage(path, durable="power")
    kill(process)
    with Storage(path) as storage:
        fill(storage.open(), 3)


def test_workers_that_outlive_a_killed_parent_do_not_hold_the_lock(path):
    fork = "s = Storage(path)\nif os.fork() == 0: os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)\ntime.sleep(60)"
    process = child(fork, path)
    worker = int(process.stdout.readline())
    try:
        with pytest.raises(StorageError, match="no other writer"):
            Storage(path)
        process.kill()
        process.wait()
        Storage(path).close()
    finally:
        os.kill(worker, signal.SIGKILL)
        process.communicate()


def test_a_forked_copy_is_refused(path):
    code = """
with Storage(path) as storage:
    record = storage.create("first", {})
    record.ask(0, 0, 0)
    if os.fork() == 0:
        try:
            record.tell(0, 1.0)
        except StorageError as error:
            os.write(1, str(error).encode())
        storage.close()
        os._exit(0)
    os.wait()
    record.tell(0, 0.5)
"""
    output = child(code, path).communicate()[0]
    assert output.startswith("storage must be used by the process that opened it, got process")
    assert read(path).tells == [(0, 0.5)]


def test_a_file_that_another_program_locks_is_refused(path, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    with Storage(path) as storage:
        record = storage.create("first", {})
        fill(record, 3)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            record.ask(3, 0, 3)
            with pytest.raises(StorageError, match=r"path must have no other writer, got .* \(database is locked\)"):
                record.tell(3, 1.0)
            with pytest.raises(StorageError, match="database is locked"):
                post(path, "first", "stop")
        with pytest.raises(StorageError, match="database is locked"):
            record.commit()
    assert len(read(path).tells) == 3
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="path must have no other writer"):
            Storage(path)


def test_readers_see_a_running_search_and_do_not_stop_it(path):
    with pytest.raises(StorageError, match="exist"):
        read(path)
    process = child(APPEND, path, 0.0)
    process.stdout.readline()
    drain = threading.Thread(target=process.stdout.read, daemon=True)
    drain.start()
    counts = []
    for _ in range(60):
        seen = read(path)
        assert [order for order, _ in seen.tells] == list(range(len(seen.tells)))
        assert len(seen.asks) >= len(seen.tells)
        assert names(path) == ["first"]
        counts.append(len(seen.tells))
    process.kill()
    drain.join()
    process.communicate()
    assert counts == sorted(counts)
    assert counts[-1] > counts[0] + 100


def test_reading_in_the_writers_process_keeps_its_locks(path):
    """Closing a descriptor of a file drops the locks that the process holds on it; SQLite knows, plain files do not."""
    if not Path("/proc/locks").exists():
        pytest.skip("only Linux lists its locks")

    def locks():
        inodes = {str(os.stat(f"{path}{end}").st_ino) for end in ("", "-shm", "-writer")}
        lines = map(str.split, Path("/proc/locks").read_text().splitlines())
        return sorted(tuple(line[1:]) for line in lines if line[5].rpartition(":")[2] in inodes)

    with Storage(path) as storage:
        record = storage.create("first", {})
        fill(record, 3)
        before = locks()
        assert len(before) >= 3
        read(path)
        names(path)
        post(path, "first", "stop")
        with pytest.raises(StorageError, match="no other writer"):
            Storage(path)
        assert locks() == before


def test_a_killed_search_is_read_without_touching_its_log(path):
    process = child(APPEND, path, 0.0)
    for _ in range(50):
        process.stdout.readline()
    kill(process)
    before = {name: content for name, content in contents(path).items() if not name.endswith("-shm")}
    assert before["searches.db-wal"]
    assert len(read(path).tells) >= 50
    assert {name: content for name, content in contents(path).items() if not name.endswith("-shm")} == before


def test_reading_a_file_at_rest_leaves_no_trace(path):
    a_search(path)
    before, status = contents(path), path.stat()
    read(path)
    names(path)
    assert contents(path) == before
    assert path.stat().st_mtime_ns == status.st_mtime_ns


def test_a_reader_starts_again_when_a_writer_comes_along(path):
    a_search(path)
    visits = []

    def work(connection):
        count = connection.execute("SELECT count(*) FROM tells").fetchone()[0]
        if not visits:
            with Storage(path) as storage:
                fill(storage.open(), 2000, start=20)
        visits.append(count)
        return count

    assert files.consult(os.path.realpath(path), work) == 2020
    assert len(visits) == 2


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


# When it is on disk, how much, and how fast


def test_rewards_are_on_disk_at_once_or_after_the_interval(path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("topalpha.storage.record.time.monotonic", lambda: now[0])
    with Storage(path, interval=2.0) as storage:
        record = storage.create("first", {})
        fill(record, 3)
        assert read(path).tells == []
        now[0] += 2.5
        fill(record, 1, start=3)
        assert len(read(path).tells) == 4
        fill(record, 1, start=4)
        assert len(read(path).tells) == 4
        record.commit()
        assert len(read(path).tells) == 5
        fill(record, 1, start=5)
        assert len(read(path).tells) == 5
    assert len(read(path).tells) == 6
    with Storage(path, durable="power") as storage:
        assert storage._writer.connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert storage._writer.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert storage._writer.connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        record = storage.open()
        fill(record, 1, start=6)
        assert len(read(path).tells) == 7


def test_an_interrupt_around_the_commit_loses_and_repeats_nothing(path):
    with Storage(path) as storage:
        record = storage.create("first", {})
        real = storage._writer.connection

        class Interrupted:
            """The connection, interrupted before or after one statement."""

            def __init__(self, word, late):
                self.word, self.late = word, late

            def __getattr__(self, name):
                return getattr(real, name)

            def execute(self, statement):
                if self.late:
                    real.execute(statement)
                if statement.startswith(self.word):
                    raise KeyboardInterrupt
                return None if self.late else real.execute(statement)

        for order, (word, late) in enumerate([("BEGIN", False), ("BEGIN", True), ("COMMIT", False), ("COMMIT", True)]):
            record.ask(order, 0, order)
            storage._writer.connection = Interrupted(word, late)
            with pytest.raises(KeyboardInterrupt):
                record.tell(order, 0.5)
            storage._writer.connection = real
            assert not real.in_transaction
            assert len(read(path).tells) == order + (word == "COMMIT" and late)
            record.commit()
            assert read(path).tells == [(number, 0.5) for number in range(order + 1)]


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "never cut"])
def test_the_log_is_cut_although_readers_overlap(path, monkeypatch, cut):
    monkeypatch.setattr(writer, "LARGEST_LOG", 5 << 20 if cut else 1 << 40)
    monkeypatch.setattr(writer, "CUT_PATIENCE", 10_000)  # on a busy machine a reader may not get on for a while
    monkeypatch.setattr(writer, "LOOK_EVERY", 16)
    log, largest, done = Path(f"{path}-wal"), 0, threading.Event()

    def look():
        """One reader after another; each comes before the last one goes, so there is always one."""
        last = None
        while not done.is_set():
            reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM searches").fetchone()
            if last is not None:
                last.close()
            last = reader
            time.sleep(0.001)
        last.close()

    with Storage(path) as storage:
        record = storage.create("first", {})
        thread = threading.Thread(target=look)
        thread.start()
        try:
            for start in range(0, 3000, 100):
                fill(record, 100, start)
                largest = max(largest, log.stat().st_size)
        finally:
            done.set()
            thread.join()
    assert len(read(path).tells) == 3000
    assert (largest < 10 << 20) is cut, largest


def test_a_reader_that_stays_does_not_stop_the_search(path, monkeypatch):
    monkeypatch.setattr(writer, "LARGEST_LOG", 1 << 20)
    monkeypatch.setattr(writer, "LOOK_EVERY", 16)
    monkeypatch.setattr(writer, "CUT_PATIENCE", 5)
    with Storage(path) as storage:
        record = storage.create("first", {})
        fill(record, 10)
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM tells").fetchone() == (10,)
            fill(record, 2000, start=10)
            assert reader.execute("SELECT count(*) FROM tells").fetchone() == (10,)
        fill(record, 2000, start=2010)
        assert Path(f"{path}-wal").stat().st_size < 40 << 20
    assert len(read(path).tells) == 4010


def test_a_million_pulls_are_small_and_quick(path):
    pulls, draw = 100_000, random.Random(0)
    with Storage(path, interval=0.05) as storage:
        record = storage.create("first", {})
        start = time.perf_counter()
        for order in range(pulls):
            record.ask(order, draw.randrange(5000), order)
            record.tell(order, draw.random())
        record.commit()
        each = (time.perf_counter() - start) / pulls
    assert path.stat().st_size * 10 < 45_000_000
    start = time.perf_counter()
    assert len(read(path).tells) == pulls
    assert (time.perf_counter() - start) * 10 < 6.0, "2 seconds, with room for a busy machine"
    assert each < 40e-6, "10 microseconds, with room for a busy machine"


def test_a_commit_per_reward_is_quick(path):
    with Storage(path) as storage:
        record = storage.create("first", {})
        start = time.perf_counter()
        fill(record, 3000)
        assert (time.perf_counter() - start) / 3000 < 240e-6, "60 microseconds, with room for a busy machine"


def test_waits_come_back_in_order_and_must_say_where_they_were(path):
    with Storage(path) as storage:
        record = storage.create("first", {})
        record.ask(0, 0, 0)
        record.wait(1, 0)
        with pytest.raises(ValueError, match="asked must be the number of pulls asked for, 1, got 2"):
            record.wait(2, 0)
        with pytest.raises(ValueError, match="after must be the number of rewards told, 0, got 1"):
            record.wait(1, 1)
        record.tell(0, 1.0)
        record.wait(1, 1)
        record.commit()
        assert read(path).waits == [(1, 0), (1, 1)]
    with Storage(path) as storage:
        record = storage.open("first")
        record.wait(1, 1)
        assert record.recording().waits == [(1, 0), (1, 1), (1, 1)]
