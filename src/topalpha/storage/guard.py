"""Whether the files that a writer works on are still the ones that it opened, and hold what it wrote."""

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

#: Seconds between two looks.
PERIOD = 1.0
#: Which part of the time may go into reading the whole file, where it has changed.
SHARE = 0.02
#: The file, and what lies next to it while it is written: a reader needs all of them.
ENDINGS = ("", "-wal", "-shm")
#: What SQLite says about a file that is not what it was; others, such as that of a file in use, pass.
DAMAGED = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_IOERR_SHORT_READ,
)


class Guard:
    """Looks at the files of an open connection from outside, as every other process sees them.

    Whoever removes, moves, cuts or overwrites a file does not disturb a process that has it open: what that process
    writes from then on is lost when it ends.

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
        #: When the next look is due.
        self.due = time.monotonic() + PERIOD
        self._known = {ending: _identity(path + ending) for ending in ENDINGS}
        self._size = 0
        self._whole = _state(path)
        self._whole_due = 0.0

    def finding(self, connection: sqlite3.Connection | None = None) -> str | None:
        """What is wrong, in a few words; None if nothing is. With the writer's connection what both see is compared."""
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
                    return "it does not hold what was written to it"
                if state != self._whole and time.monotonic() >= self._whole_due:
                    return self._read_whole(fresh, state)
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
            return str(error) if code in DAMAGED or code & 0xFF in DAMAGED[:2] else None
        except UnicodeDecodeError as error:
            return str(error)
        except OSError as error:  # a folder that may not be entered for now, for example, says nothing about the file
            return "it is gone" if error.errno == errno.ESTALE else None
        return None

    def clear(self) -> None:
        """Remove what lies next to the file, if it is ours: a file that is put there later must not be taken for it."""
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
    """Who wrote the file, and how far each of its searches is."""
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
    """What changes with the content."""
    try:
        status = os.stat(name)
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns
