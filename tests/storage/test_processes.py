"""Storage: killed, forked and rival processes; when rewards are on disk, and how fast."""

from __future__ import annotations

import os
import random
import select
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.storing import a_search, child, contents, fill, kill
from tests.support.waiting import PATIENCE
from topalpha.storage import Storage, StorageError, files, names, post, read, writer
from topalpha.storage.tables import APPLICATION

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and resource limits of POSIX")


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
    assert not any(name.startswith(".") for name in contents(path)), "no draft is left"


CREATE = """
print(flush=True)
while True:
    with Storage(path) as storage:
        storage.create("first", {})
    os.unlink(path)
"""


def test_creation_survives_kill_9(path):
    draw = random.Random(3)
    for _ in range(12):
        process = child(CREATE, path)
        process.stdout.readline()
        time.sleep(draw.random() * 0.03)
        kill(process)
        if path.exists():
            assert names(path) == ["first"], "there is a whole file with its search, or none"
        with Storage(path) as storage:
            if not storage.names():
                storage.create("first", {})
        assert names(path) == ["first"]
        path.unlink()


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


def reader_of(path):
    """A reader that holds on to what the file has now."""
    reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM searches").fetchone()
    return reader


def filled_log(path, between=lambda: None):
    """The largest that the log ever was while 3000 rewards were told."""
    log, largest = Path(f"{path}-wal"), 0
    with Storage(path) as storage:
        record = storage.create("first", {})
        for start in range(0, 3000, 100):
            between()
            fill(record, 100, start)
            largest = max(largest, log.stat().st_size)
    assert len(read(path).tells) == 3000
    return largest


def test_the_log_is_cut_although_readers_overlap(path, monkeypatch):
    monkeypatch.setattr(writer, "LARGEST_LOG", 5 << 20)
    monkeypatch.setattr(writer, "CUT_ATTEMPTS", 100)
    monkeypatch.setattr(writer, "LOOK_EVERY", 16)
    begun, done = threading.Event(), threading.Event()

    def look():
        """One reader after another; each comes before the last one goes, so there is always one."""
        assert begun.wait(PATIENCE)
        last = reader_of(path)
        while not done.is_set():
            last, former = reader_of(path), last
            former.close()
            time.sleep(0.001)
        last.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        largest = filled_log(path, begun.set)
    finally:
        begun.set()
        done.set()
        thread.join()
    assert largest < 10 << 20


def test_control_without_a_cut_the_log_of_overlapping_readers_grows(path, monkeypatch):
    monkeypatch.setattr(writer, "LARGEST_LOG", 1 << 40)
    readers = []

    def overlap():
        readers.append(reader_of(path))
        if len(readers) > 1:
            readers.pop(0).close()

    try:
        assert filled_log(path, overlap) > 20 << 20
    finally:
        readers.pop().close()


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


def test_a_million_pulls_are_small(path):
    pulls, draw = 20_000, random.Random(0)
    with Storage(path, interval=0.05) as storage:
        record = storage.create("first", {})
        for order in range(pulls):
            record.ask(order, draw.randrange(5000), order)
            record.tell(order, draw.random())
    assert path.stat().st_size * (1_000_000 / pulls) < 45_000_000
    assert len(read(path).tells) == pulls


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
