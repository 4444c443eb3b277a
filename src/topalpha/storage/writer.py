"""The writer of a file: a connection that writes whole transactions or nothing, its guard and its pulse.

The guard checks that the files are the ones that were opened. The pulse is a sign of life while a long pull blocks the
thread that writes.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from topalpha.storage import tables
from topalpha.storage.errors import BROKEN, StorageError, afresh, explained, refusal
from topalpha.storage.files import PATIENCE, connect, size

if TYPE_CHECKING:
    from topalpha.storage.record import Record

LOGGER = logging.getLogger("topalpha")

#: Log pages after which SQLite copies them into the file (about 4 MB).
CHECKPOINT_PAGES = 1000
#: Overlapping readers keep SQLite from restarting the log; above this many bytes the writer forces it.
LARGEST_LOG = 32 << 20
#: Transactions between two checks of the log's length: it grows by a few MB between them.
LOOK_EVERY = 1024
#: How many times the writer tries to cut the log, and the milliseconds that it waits for readers each time. SQLite may
#: wait in vain for readers that come and go; a new attempt sees that they are gone.
CUT_ATTEMPTS, CUT_PATIENCE = 4, 50

#: Seconds after which a lost file is reported while a pull still runs.
LONG = 2.0

#: Seconds between two checks.
PERIOD = 1.0
#: The share of time that may go into reading the whole file after a change.
SHARE = 0.02
#: Endings of the file and its companions while it is written: a reader needs all of them.
ENDINGS = ("", "-wal", "-shm")
#: SQLite's codes for a changed or damaged file; other errors, such as a busy file, pass.
DAMAGED = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_IOERR_SHORT_READ,
)

#: A statement and the rows to run it on.
Step = tuple[str, Iterable[Sequence[Any]]]


class Guard:
    """Checks the files of an open connection from outside, as other processes see them.

    A process does not notice that a file it has open is removed, moved, cut or overwritten; what it writes is lost.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage.files import establish
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/searches.db"
    ...     establish(path)
    ...     guard = Guard(path)
    ...     first = guard.finding()
    ...     os.rename(path, folder + "/elsewhere.db")
    ...     first, guard.finding()
    (None, 'it is gone')
    """

    def __init__(self, path: str) -> None:
        self.path = path
        #: When the next check is due.
        self.due = time.monotonic() + PERIOD
        self._known = {ending: _identity(path + ending) for ending in ENDINGS}
        self._size = 0
        self._whole = _state(path)
        self._whole_due = 0.0

    def finding(self, connection: sqlite3.Connection | None = None) -> str | None:
        """A short description of the damage, or None; ``connection`` is the writer's, to compare both views."""
        try:
            for ending, known in self._known.items():
                found = _identity(self.path + ending)
                if found != known and known is not None:
                    which = f"its {ending}" if ending else "it"
                    return f"{which} is gone" if found is None else f"{which} was replaced by another file"
            state = _state(self.path)
            if state is None or state[0] < self._size:
                return "it is gone" if state is None else "it was cut"
            self._size = state[0]
            with closing(connect(self.path, "mode=ro")) as fresh:
                seen = _seen(fresh)
                if connection is not None and seen != _seen(connection):
                    return "it does not hold the data written to it"
                if state != self._whole and time.monotonic() >= self._whole_due:
                    return self._read_whole(fresh, state)
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
            return str(error) if code in DAMAGED or code & 0xFF in DAMAGED[:2] else None
        except UnicodeDecodeError as error:
            return str(error)
        except OSError as error:  # for example a folder without access for now: no finding about the file
            return "it is gone" if error.errno == errno.ESTALE else None
        return None

    def clear(self) -> None:
        """Remove our log and index next to the file, so that a later file of this name is not mixed up with them."""
        for ending in ENDINGS[1:]:
            with suppress(OSError):
                if _identity(self.path + ending) == self._known[ending]:
                    os.unlink(self.path + ending)

    def _read_whole(self, fresh: sqlite3.Connection, state: tuple[int, int] | None) -> str | None:
        began = time.monotonic()
        found = str(fresh.execute("PRAGMA quick_check(1)").fetchone()[0])
        self._whole = state
        self._whole_due = time.monotonic() + (time.monotonic() - began) / SHARE
        return None if found == "ok" else " ".join(found.split())


def _seen(connection: sqlite3.Connection) -> tuple[Any, ...]:
    """The application that wrote the file, and how far each of its searches is."""
    application = connection.execute("PRAGMA application_id").fetchone()
    rows: Sequence[Any] = connection.execute(tables.FAR).fetchall()
    return application, *rows


def _identity(name: str) -> tuple[int, int] | None:
    try:
        status = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _state(name: str) -> tuple[int, int] | None:
    """Figures that change with the content."""
    try:
        status = os.stat(name)
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


class Writer:
    """A connection to a sound file that only this process writes.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage.files import establish
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     establish(folder + "/searches.db")
    ...     writer = Writer(folder + "/searches.db", "NORMAL")
    ...     writer.write([("INSERT INTO progress VALUES (?, ?, ?)", [(1, 0.0, "{}")])])
    ...     writer.connection.execute("SELECT count(*) FROM progress").fetchone()
    ...     writer.close()
    (1,)
    """

    def __init__(self, path: str, synchronous: str) -> None:
        self.path = path
        #: Why a write failed; every further write raises the same.
        self.failure: StorageError | None = None
        self._process = os.getpid()
        self._closed = False
        self._written = 0
        self._largest_log = LARGEST_LOG
        try:
            self.connection = connect(path, "mode=rw")
        except sqlite3.Error as error:
            raise explained(path, error) from error
        try:
            self.connection.execute(f"PRAGMA synchronous = {synchronous}")
            self.connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            self.connection.execute(f"PRAGMA journal_size_limit = {LARGEST_LOG}")
            # A file that cannot be written is reported here, not after the first reward.
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute("DELETE FROM searches WHERE 0")
            self.connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            self.connection.close()
            raise explained(path, error) from error
        self.guard = Guard(path)

    @property
    def is_ours(self) -> bool:
        """Whether this process opened the file; False in a forked child."""
        return self._process == os.getpid()

    @property
    def is_open(self) -> bool:
        """Whether this process has the file open."""
        return self.is_ours and not self._closed

    @property
    def is_sound(self) -> bool:
        """Whether it is open, and no write has failed."""
        return self.failure is None and not self._closed

    def check(self) -> None:
        """Raise if a write has failed, the file was closed, or another process opened it, of which this is a fork."""
        if self.failure is not None:
            raise afresh(self.failure) from self.failure
        if self._closed:
            raise refusal("be open", self.path, "it was closed")
        if not self.is_ours:
            raise StorageError(f"storage must be used by the process that opened it, got process {os.getpid()}")

    def look(self, now: bool = False) -> str | None:
        """A description of damage to the file, or None; checked once a second, or ``now``."""
        if not now and time.monotonic() < self.guard.due:
            return None
        self.guard.due = time.monotonic() + PERIOD
        return self.guard.finding(self.connection) if self.is_ours and self.is_sound else None

    def write(self, steps: Sequence[Step], waiting: Iterable[list[Any]] = ()) -> None:
        """Run all steps in one transaction, on disk when this returns; then empty the ``waiting`` lists."""
        self.check()
        connection = self.connection
        changes = connection.total_changes
        try:
            connection.execute("BEGIN IMMEDIATE")
            for statement, rows in steps:
                connection.executemany(statement, rows)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._undo()
            self.failure = explained(self.path, error)
            raise StorageError(*self.failure.args) from error
        except BaseException:
            # An interrupt may come just after the commit: then the rows are on disk and must not be written again.
            if connection.in_transaction or connection.total_changes == changes:
                self._undo()
            else:
                _empty(waiting)
            raise
        _empty(waiting)
        self._written += 1
        if self._written % LOOK_EVERY == 0 and size(self.path + "-wal") > self._largest_log:
            self._cut()

    def fetch(self, statement: str, search: int) -> list[Any]:
        """All rows of a query for a search."""
        try:
            return self.connection.execute(statement, (search,)).fetchall()
        except BROKEN as error:
            raise explained(self.path, error) from error

    def close(self) -> None:
        """Close the connection; the last connection to close copies the log into the file."""
        if self.is_ours:
            self._closed = True
            self.connection.close()

    def retire(self) -> None:
        """Close the connection to a lost file; a file that was only moved is then complete."""
        # SQLite copies the log into a moved file only on request.
        with suppress(sqlite3.Error):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.close()
        self.guard.clear()

    def _undo(self) -> None:
        # If this fails too, the first error says more, and SQLite rolls back when the file is next opened.
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def _cut(self) -> None:
        """Restart the log, waiting a moment for readers; if one reads on, try again when the log is twice as long.

        If copying fails, everything is still safe in the log, and the next write reports a lasting problem.
        """
        with suppress(sqlite3.Error):
            self.connection.execute(f"PRAGMA busy_timeout = {CUT_PATIENCE}")
            cut = any(
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
                for _ in range(CUT_ATTEMPTS)
            )
            self._largest_log = LARGEST_LOG if cut else 2 * size(self.path + "-wal")
        with suppress(sqlite3.Error):
            self.connection.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")


def _empty(lists: Iterable[list[Any]]) -> None:
    for rows in lists:
        rows.clear()


class Pulse:
    """Confirms the last snapshot of a search every ``period`` seconds, through its own connection.

    While a pull runs in the writer's thread nothing is told and the figures of the arms cannot change. Readers must be
    able to tell such a search from a dead one.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage import Storage, read
    >>> with tempfile.TemporaryDirectory() as folder, Storage(folder + "/searches.db") as storage:
    ...     record = storage.create("first", {})
    ...     record.snapshot([], {"pulls": 0})
    ...     before = read(storage.path).updated
    ...     with Pulse(record, 0.01):
    ...         time.sleep(0.2)
    ...     read(storage.path).updated > before
    True
    """

    def __init__(self, record: Record, period: float) -> None:
        self._record = record
        self._lost = 0.0
        self._said = False
        self._period = period
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="topalpha-pulse", daemon=True)

    def __enter__(self) -> Pulse:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._period):
            if (found := self._record.missing()) is not None:
                # Between two pulls the writer itself notices the loss and saves the search.
                self._lost = self._lost or time.monotonic()
                if not self._said and time.monotonic() - self._lost > LONG:
                    self._said = True
                    LOGGER.warning("topalpha: the record of the search is lost: %s; it ends after this pull", found)
                continue
            # A new connection each time: one that failed is of no use. The writer reports lasting trouble.
            try:
                path, search = self._record.place
                with closing(connect(path, "mode=rw")) as connection:
                    now = time.time()
                    connection.execute(tables.STANDS, (now, search, now - self._period))
            except sqlite3.Error as error:
                LOGGER.debug("topalpha: no sign of life could be written: %s", error)
