"""The file as last read: one reader for all viewers."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from topalpha.dashboard.states import is_bounded, overview
from topalpha.storage import Overview, Recording, Row, StorageError, candidates, listing, read, stamp
from topalpha.storage.parameters import Candidates

#: Characters of a candidate that are kept, for searching and sorting.
KEPT = 4000
#: Seconds after which the file is read although it looks unchanged: file times are coarse.
TRUST = 1.0
#: Errors from odd contents that SQLite accepts.
ODD = (TypeError, ValueError, KeyError, RecursionError, OSError)


@dataclass(frozen=True)
class Sight:
    """The searches of the file at one moment.

    Attributes
    ----------
    file
        Its name, without the folder, which is not for the network.
    missing, problem
        Whether there was no file, and its fault, in one sentence.
    searches
        By name, in order of creation.

    Examples
    --------
    >>> Sight("searches.db", missing=True).trouble("first")
    "There is no file 'searches.db' yet; it is shown as soon as it exists."
    """

    file: str
    missing: bool = False
    problem: str | None = None
    searches: Mapping[str, Overview] = field(default_factory=dict)

    def trouble(self, name: str | None) -> str | None:
        """Why a search cannot be shown, in one sentence; None if it can."""
        if self.missing:
            return f"There is no file {self.file!r} yet; it is shown as soon as it exists."
        if self.problem is not None:
            return f"The file cannot be read: {self.problem}."
        if name is not None and name not in self.searches:
            return f"There is no search {name!r} in {self.file!r}."
        return None

    def summary(self, controls: bool) -> dict[str, Any]:
        """The contents of ``/api/searches``."""
        head = {"file": self.file, "missing": self.missing, "problem": self.problem, "controls": controls}
        return head | {"searches": [overview(one) for one in self.searches.values()]}


class Reader:
    """Reads one file of searches. Calls must not overlap: the dashboard makes them all in one thread.

    Examples
    --------
    >>> Reader("/nowhere.db").look()
    Sight(file='nowhere.db', missing=True, problem=None, searches={})
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = Path(path).name
        self._last: tuple[object, float, Sight] | None = None
        self._candidates: dict[tuple[object, str, str], Candidates] = {}

    def look(self) -> Sight:
        """The file now; it is read if it looks changed, or after a while."""
        state, now = self._stamp(), time.monotonic()
        if self._last is None or self._last[0] != state or now - self._last[1] > TRUST:
            self._last = (state, now, self._read())
        return self._last[2]

    def recording(self, name: str) -> Recording:
        """A search and the figures of its arms; if the algorithm has no bounds, they are infinite."""
        found = read(self.path, name, log=False)
        return found if is_bounded(found.progress) else replace(found, snapshot=[_open(row) for row in found.snapshot])

    def candidates(self, one: Overview, arms: int) -> Candidates:
        """The candidates of the first arms; each is read once."""
        key = (self._identity(), one.name, one.created)
        self._candidates = {other: known for other, known in self._candidates.items() if other[0] == key[0]}
        known = self._candidates.setdefault(key, Candidates(longest=KEPT + 1))
        if (place := len(known.texts)) < arms:
            found = candidates(self.path, one.name, range(place, arms))
            while (place := len(known.texts)) in found:
                known.add(found[place])
        return known

    def spoken(self, error: BaseException) -> str:
        """A sentence about the error, without the folder of the file."""
        if not isinstance(error, ValueError | OSError):
            error = StorageError(f"path must be an undamaged topalpha file, got {self.path!r} ({error!r})")
        text = str(error)
        for whole in (os.path.realpath(self.path), self.path):
            text = text.replace(whole, self.file)
        return " ".join(text.split())

    def _read(self) -> Sight:
        if not os.path.exists(self.path):
            return Sight(self.file, missing=True)
        try:
            found = listing(self.path)
        except ODD as error:
            if not os.path.exists(self.path):
                return Sight(self.file, missing=True)
            return Sight(self.file, problem=self.spoken(error))
        return Sight(self.file, searches={one.name: one for one in found})

    def _identity(self) -> object:
        """The identity of the file: another one may take its name."""
        try:
            return os.stat(self.path).st_ino
        except OSError:
            return None

    def _stamp(self) -> object:
        try:
            return stamp(self.path)
        except StorageError:  # reading it will report why
            return None


def _open(row: Row) -> Row:
    return row._replace(lower=-inf, upper=inf)
