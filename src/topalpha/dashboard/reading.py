"""The file as it was last read, and read again only if it changed: one reader for everyone who looks."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from topalpha.dashboard.interim import Overview, candidates, listing
from topalpha.dashboard.states import overview
from topalpha.storage import Recording, StorageError, read

#: Characters of a candidate that are kept, to be searched and sorted by.
KEPT = 4000
#: What a file that is not what it should be may lead to, once SQLite is content with it.
ODD = (TypeError, ValueError, KeyError, RecursionError, OSError)


@dataclass
class Reader:
    """One file of searches. Calls must not overlap: the dashboard makes them all in one thread.

    Attributes
    ----------
    missing, problem
        Whether there is no file, and what is wrong with the one that is there, in one sentence.
    searches
        By name, in the order in which they were created.

    Examples
    --------
    >>> reader = Reader("/nowhere.db")
    >>> reader.look()
    >>> reader.missing, reader.problem, reader.searches
    (True, None, {})
    """

    path: str
    missing: bool = False
    problem: str | None = None
    searches: dict[str, Overview] = field(default_factory=dict)
    _texts: dict[tuple[str, str], list[str]] = field(default_factory=dict, repr=False)

    @property
    def file(self) -> str:
        """The name of the file, without where it lies."""
        return Path(self.path).name

    def look(self) -> None:
        """Find out what is there now."""
        self.missing, self.problem = not os.path.exists(self.path), None
        found: list[Overview] = []
        if not self.missing:
            try:
                found = listing(self.path)
                for one in found:
                    overview(one)  # whatever is odd about it shall be said here
            except ODD as error:
                found = []
                self.missing = not os.path.exists(self.path)
                self.problem = None if self.missing else self.spoken(error)
        self.searches = {one.name: one for one in found}

    def recording(self, name: str) -> Recording:
        """A search and the figures of its arms."""
        return read(self.path, name, log=False)

    def texts(self, one: Overview, arms: int) -> list[str]:
        """The candidates of the first arms, as text; those that were read before are not read again."""
        known = self._texts.setdefault((one.name, one.created), [])
        if len(known) < arms:
            found = candidates(self.path, one.name, range(len(known), arms))
            for arm in range(len(known), arms):
                if arm not in found:
                    break
                known.append(found[arm][: KEPT + 1])
        return known

    def spoken(self, error: BaseException) -> str:
        """What went wrong, without the folder that the file lies in: that is nobody's business on a network."""
        if not isinstance(error, ValueError | OSError):
            error = StorageError(f"path must be an undamaged topalpha file, got {self.path!r} ({error!r})")
        text = str(error)
        for whole in {self.path, os.path.realpath(self.path)}:
            text = text.replace(repr(whole), repr(self.file)).replace(whole, self.file)
        return " ".join(text.split())

    def trouble(self, name: str | None) -> str | None:
        """Why a search cannot be shown, in one sentence; None if it can."""
        if self.missing:
            return f"There is no file {self.file!r} yet; it is shown as soon as it is there."
        if self.problem is not None:
            return f"The file cannot be read: {self.problem}."
        if name is not None and name not in self.searches:
            return f"There is no search {name!r} in {self.file!r}."
        return None

    def summary(self, controls: bool) -> dict[str, Any]:
        """What ``/api/searches`` says."""
        return {
            "file": self.file,
            "missing": self.missing,
            "problem": self.problem,
            "controls": controls,
            "searches": [overview(one) for one in self.searches.values()],
        }
