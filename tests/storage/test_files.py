"""Storage: files that are not ours are never touched, places that cannot be written are refused."""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.support.storing import a_search, child, contents, fill, kill
from topalpha.storage import Storage, StorageError, files, names, post, read, writer
from topalpha.storage.tables import TABLES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and resource limits of POSIX")


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
        with pytest.raises(StorageError, match=r"path must be .* \(no table 'searches'\)"):
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
    words = r"path must have room left on its disk, got .* \(No space left on device\)"
    with Storage(path) as storage, pytest.raises(StorageError, match=words):
        storage.create("first", {})
    assert contents(path) == {}
