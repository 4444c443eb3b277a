"""The contents of a file for frequent readers: without the logs, and only after a change."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import Any

from topalpha.storage import tables
from topalpha.storage.encoding import shown
from topalpha.storage.errors import explained
from topalpha.storage.files import consult, inspect, resolve
from topalpha.storage.recording import find, parsed

#: A running search is alive if its last sign of life is younger than this many seconds: several of its periods.
SILENCE = 5.0


@dataclass(frozen=True)
class Overview:
    """One search of a file, in a few figures.

    Attributes
    ----------
    name, status, created, config
        As in :class:`topalpha.storage.Recording`.
    progress, updated
        The latest progress that the search wrote, and when (seconds since 1970); None before.

    Examples
    --------
    >>> Overview("first", "running", "2024-01-01T00:00:00+00:00", {}, {"paused": True}, time.time() - 1.0).alive()
    True
    """

    name: str
    status: str
    created: str
    config: dict[str, Any]
    progress: dict[str, Any] | None
    updated: float | None

    def alive(self, now: float | None = None) -> bool:
        """Whether a process works on the search: it has not ended, and its last sign of life is recent."""
        if self.status != "running" or self.updated is None:
            return False
        return (time.time() if now is None else now) - self.updated < SILENCE

    @property
    def paused(self) -> bool:
        """Whether the search is paused, by its latest progress; False after its end."""
        return self.status == "running" and (self.progress or {}).get("paused") is True


def listing(path: str | os.PathLike[str]) -> list[Overview]:
    """All searches in a file, in order of creation; quick even for long searches.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage import Storage
    >>> with tempfile.TemporaryDirectory() as folder, Storage(folder + "/searches.db") as storage:
    ...     record = storage.create("first", {"alpha": 0.05})
    ...     [(one.name, one.status, one.progress) for one in listing(storage.path)]
    [('first', 'running', None)]
    """
    file = resolve(path)
    inspect(file)

    def look(connection: sqlite3.Connection) -> list[Overview]:
        return [
            Overview(name, status, created, parsed(file, config), None if data is None else parsed(file, data), at)
            for name, status, created, config, data, at in connection.execute(tables.OVERVIEW)
        ]

    return consult(file, look)


def candidates(path: str | os.PathLike[str], name: str | None, arms: Iterable[int]) -> dict[int, str]:
    """Candidates of these arms as text, by arm. Pickles are not loaded: their plain values are shown, or "(pickled)".

    A range is read in one query. Unknown arms are left out.

    Parameters
    ----------
    path, name
        The file, and which search in it; None for the only one.
    arms
        Numbers of arms.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage import Storage
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Storage(folder + "/searches.db") as storage:
    ...         record = storage.create("first", {})
    ...         for arm in range(3):
    ...             record.add_arm(arm, {"rate": arm})
    ...     candidates(folder + "/searches.db", "first", range(1, 9))
    {1: '{"rate":1}', 2: '{"rate":2}'}
    """
    file = resolve(path)
    inspect(file)
    wanted = arms if isinstance(arms, range) and arms.step == 1 else [index(arm) for arm in arms]

    def look(connection: sqlite3.Connection) -> dict[int, str]:
        search = find(connection, file, name)[0]
        if isinstance(wanted, range):
            rows = connection.execute(tables.RANGE_OF_ARMS, (search, wanted.start, wanted.stop))
            return {arm: shown(raw) for arm, raw in rows}
        found = (connection.execute(tables.ONE_ARM, (search, arm)).fetchone() for arm in wanted)
        return {row[0]: shown(row[1]) for row in found if row is not None}

    return consult(file, look)


#: The value of :func:`stamp`, to be compared only.
Stamp = tuple[object, ...]


def stamp(path: str | os.PathLike[str]) -> Stamp | None:
    """A value that changes when the file changes; None if there is no file.

    Take it before reading: a change in between then shows the next time. File times are coarse: of two changes within
    a few milliseconds the second may not show, so do not rely on a stamp for longer than about a second. Nothing is
    opened, because closing a database file drops the locks that this process holds on it.

    Parameters
    ----------
    path
        The file, which need not exist.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage import Storage
    >>> with tempfile.TemporaryDirectory() as folder, Storage(folder + "/searches.db") as storage:
    ...     before = stamp(storage.path)
    ...     same = stamp(storage.path) == before
    ...     record = storage.create("first", {})
    ...     same, stamp(storage.path) == before, stamp(folder + "/none.db")
    (True, False, None)
    """
    name = os.path.realpath(os.fspath(path))
    whole = _status(name)
    if whole is None:
        return None
    return whole, _status(name + "-wal")


def _status(name: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(name)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explained(name, error) from error
    return status.st_ino, status.st_size, status.st_mtime_ns
