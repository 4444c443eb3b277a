"""Checks that a writer's files are still the ones it opened, with the contents it wrote."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

from topalpha.storage import schema
from topalpha.storage.files import connect

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
    rows: Sequence[Any] = connection.execute(schema.FAR).fetchall()
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
