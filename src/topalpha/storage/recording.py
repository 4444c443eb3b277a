"""Reading the record of a search: from any process, at any time, without a trace."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from topalpha.storage import tables
from topalpha.storage.encoding import decode, from_json
from topalpha.storage.errors import SOUND, StorageError, refusal
from topalpha.storage.files import consult, inspect, resolve, size
from topalpha.validate import require

#: The action for a pull that never came back and counts as lost.
LOST = "lost"


class Failure(NamedTuple):
    """A pull that gave no reward.

    Attributes
    ----------
    order, after
        The pull by its order among all asks, from 0, and the number of rewards told by then.
    reason, action
        Why it failed, and what was done about it.

    Examples
    --------
    >>> Failure(order=7, after=5, reason="timeout", action="retry").action
    'retry'
    """

    order: int
    after: int
    reason: str
    action: str


class Row(NamedTuple):
    """The figures of one arm at the last snapshot; ``mean`` is None without rewards.

    Attributes
    ----------
    arm
        The arm's number, from 0.
    pulls, pending
        Its number of rewards, and its number of pulls in flight.
    mean, lower, upper
        The average of its rewards, and the bounds that the algorithm compares.

    Examples
    --------
    >>> Row(arm=0, pulls=2, mean=0.5, lower=0.1, upper=0.9, pending=1).upper
    0.9
    """

    arm: int
    pulls: int
    mean: float | None
    lower: float
    upper: float
    pending: int


@dataclass(frozen=True)
class Recording:
    """A search as it was on disk at one moment.

    Attributes
    ----------
    name, created, status
        The search's name, when it was created (UTC), and its status.
    config
        The settings that it was created with.
    certificate
        The certificate at its end; None before.
    arms
        Stored candidates, by arm; see :meth:`candidates`.
    asks
        ``(arm, after)`` of each pull, by its order: planned when ``after`` rewards had been told.
    waits
        ``(asked, after)``: the algorithm was asked after this many pulls and rewards, and had to wait.
    tells
        ``(order, reward)`` in order of arrival.
    failures, snapshot
        Pulls without a reward, and the latest figures of each arm.
    progress, updated
        The latest progress that the search wrote, and when (seconds since 1970); None before.
    pickled
        Whether its candidates are stored as pickles, which can run any code when loaded.

    Examples
    --------
    >>> Recording("first", {}, "running", None, "2024-01-01T00:00:00+00:00", arms=['{"rate":0.1}']).candidates()
    [{'rate': 0.1}]
    """

    name: str
    config: dict[str, Any]
    status: str
    certificate: dict[str, Any] | None
    created: str
    arms: list[str | bytes] = field(default_factory=list, repr=False)
    asks: list[tuple[int, int]] = field(default_factory=list, repr=False)
    tells: list[tuple[int, float]] = field(default_factory=list, repr=False)
    waits: list[tuple[int, int]] = field(default_factory=list, repr=False)
    failures: list[Failure] = field(default_factory=list, repr=False)
    snapshot: list[Row] = field(default_factory=list, repr=False)
    progress: dict[str, Any] | None = None
    updated: float | None = None
    pickled: bool = False

    @property
    def lost(self) -> set[int]:
        """Orders of the pulls that never came back and were told as the worst possible reward."""
        if (self.config.get("task") or {}).get("on_lost") != "worst":
            return set()
        return {failure.order for failure in self.failures if failure.action == LOST}

    def candidates(self, allow_pickle: bool | None = False) -> list[Any]:
        """The candidates, by arm. Pickles are loaded only with ``allow_pickle``: they can run any code.

        With ``allow_pickle=None`` pickles are returned as bytes.
        """
        if allow_pickle is None:
            return [raw if isinstance(raw, bytes) else decode(raw, False) for raw in self.arms]
        return [decode(raw, allow_pickle) for raw in self.arms]


def fingerprint(recording: Recording) -> str:
    """A digest of the whole record: the task, the candidates, every ask, wait, tell and failure.

    Parameters
    ----------
    recording
        The search.

    Examples
    --------
    >>> fingerprint(Recording("one", {}, "running", None, "2024-01-01T00:00:00+00:00"))[:8]
    '33473a80'
    """
    digest = hashlib.sha256()

    def add(part: bytes) -> None:
        digest.update(len(part).to_bytes(8, "big"))  # so that the boundaries of parts count
        digest.update(part)

    add(json.dumps(recording.config, sort_keys=True).encode())
    for candidate in recording.arms:
        add(candidate if isinstance(candidate, bytes) else candidate.encode())
    for pairs in (recording.asks, recording.waits):
        add(_packed("q", (number for pair in pairs for number in pair)))
    add(_packed("q", (order for order, _ in recording.tells)))
    add(_packed("d", (reward for _, reward in recording.tells)))
    for failure in recording.failures:
        add(json.dumps(list(failure)).encode())
    return digest.hexdigest()


def _packed(kind: str, numbers: Iterable[float]) -> bytes:
    """The numbers as bytes, the lowest first on every machine."""
    packed = array(kind, numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def read(path: str | os.PathLike[str], name: str | None = None, *, log: bool = True) -> Recording:
    """A search as it is on disk now; without a name, the only one in the file.

    Nothing is created, changed or held up, even while the search runs. ``log=False`` is quick: no arms, asks, tells.

    Parameters
    ----------
    path, name
        The file, and the name of the search if there are several.
    log
        Whether to read arms, asks and tells.

    Examples
    --------
    >>> read("/nowhere.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got '/nowhere.db'
    """
    file = resolve(path)
    inspect(file)
    return consult(file, lambda connection: load(connection, file, name, log))


def names(path: str | os.PathLike[str]) -> list[str]:
    """The names of the searches in a file, in order of creation.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> names("/nowhere.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got '/nowhere.db'
    """
    file = resolve(path)
    inspect(file)
    return consult(file, listed)


def holds(path: str | os.PathLike[str], name: str | None = None) -> bool:
    """Whether the file exists and holds a search of this name, or any search if ``name`` is None.

    Parameters
    ----------
    path, name
        The file, which need not exist, and the name of the search.

    Examples
    --------
    >>> holds("nowhere.db", "first")
    False
    """
    if size(resolve(path)) == 0:
        return False
    known = names(path)
    return bool(known) if name is None else name in known


def listed(connection: sqlite3.Connection) -> list[str]:
    """The names of the searches, through an open connection.

    Examples
    --------
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(tables.TABLES)
    >>> listed(connection)
    []
    >>> connection.close()
    """
    return [name for (name,) in connection.execute(tables.NAMES)]


def find(connection: sqlite3.Connection, path: str, name: str | None) -> tuple[Any, ...]:
    """The row of the search, or of the only search if ``name`` is None.

    Examples
    --------
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(tables.TABLES)
    >>> find(connection, "searches.db", "first")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: name must be a search in the file, got 'first' ('searches.db' holds no search)
    >>> connection.close()
    """
    require(name is None or isinstance(name, str), "name", "be text", name)
    known = listed(connection)
    if name is None and len(known) == 1:
        name = known[0]
    if name not in known:
        raise lacking(path, name, known)
    row: tuple[Any, ...] | None = connection.execute(tables.SEARCH, (name,)).fetchone()
    if row is None:  # in the table but not in its index
        raise refusal(SOUND, path, "a listed search that cannot be found")
    return row


def lacking(path: str, name: str | None, known: Sequence[str]) -> StorageError:
    """The error for a missing search; it lists the searches in the file.

    Examples
    --------
    >>> str(lacking("searches.db", None, []))
    "path must hold a search, got 'searches.db' (none was begun in it: search with storage='searches.db')"
    """
    if name is None and not known:
        return refusal("hold a search", path, f"none was begun in it: search with storage={path!r}")
    held = f"{path!r} holds {', '.join(map(repr, known)) or 'no search'}"
    condition = "be given unless the file holds one search" if name is None else "be a search in the file"
    return StorageError(f"name must {condition}, got {name!r} ({held})")


def audited(connection: sqlite3.Connection, path: str, search: int) -> list[int]:
    """The numbers of arms, asks, waits, tells and failures of a search; raise if a row is missing.

    Examples
    --------
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(tables.TABLES)
    >>> audited(connection, "searches.db", 1)
    [0, 0, 0, 0, 0]
    >>> connection.close()
    """
    counts = []
    for statement in tables.COUNTS:
        count, last = connection.execute(statement, (search,)).fetchone()
        if count != last:
            raise refusal(SOUND, path, f"{count} rows in a log that counts to {last}")
        counts.append(int(count))
    if connection.execute(tables.LAST_TOLD, (search,)).fetchone()[0] >= counts[1]:
        raise refusal(SOUND, path, "a reward of a pull that was not asked for")
    return counts


def belongs(connection: sqlite3.Connection, path: str) -> None:
    """Raise unless every row belongs to a search that the file lists.

    Examples
    --------
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(tables.TABLES)
    >>> _ = connection.execute(tables.ADD_ARM, (1, 0, "{}"))
    >>> belongs(connection, "searches.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must be an undamaged topalpha file, got 'searches.db' (arms of no search)
    >>> connection.close()
    """
    for table, statement in tables.STRAYS.items():
        if connection.execute(statement).fetchone()[0]:
            raise refusal(SOUND, path, f"{table} of no search")


def parsed(path: str, text: str) -> dict[str, Any]:
    """The mapping that a JSON text in the file holds.

    Examples
    --------
    >>> parsed("searches.db", '{"alpha":0.05}')
    {'alpha': 0.05}
    """
    try:
        found = from_json(text)
    except (TypeError, ValueError) as error:
        raise refusal(SOUND, path, f"{error} in what should be JSON") from error
    if not isinstance(found, dict):
        raise refusal(SOUND, path, "a JSON value that is not a mapping")
    return found


def load(connection: sqlite3.Connection, path: str, name: str | None, log: bool = True) -> Recording:
    """The recording, through an open connection.

    Examples
    --------
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(tables.TABLES)
    >>> _ = connection.execute(tables.CREATE, ("first", "2024-01-01T00:00:00+00:00", "{}", 0, "running"))
    >>> load(connection, "searches.db", None).status
    'running'
    >>> connection.close()
    """
    search, name, created, config, pickled, status, certificate = find(connection, path, name)
    belongs(connection, path)
    arms, asks, waits, tells = [], [], [], []
    if log:
        audited(connection, path, search)
        arms = [raw for (raw,) in connection.execute(tables.ARMS, (search,))]
        asks = connection.execute(tables.ASKS, (search,)).fetchall()
        waits = connection.execute(tables.WAITS, (search,)).fetchall()
        tells = connection.execute(tables.TELLS, (search,)).fetchall()
    latest = connection.execute(tables.LATEST, (search,)).fetchone()
    return Recording(
        name=str(name),
        config=parsed(path, config),
        status=status,
        certificate=None if certificate is None else parsed(path, certificate),
        created=created,
        arms=arms,
        asks=asks,
        tells=tells,
        waits=waits,
        failures=[Failure(*row) for row in connection.execute(tables.FAILURES, (search,))],
        snapshot=[Row(*row) for row in connection.execute(tables.SNAPSHOTS, (search,))],
        progress=None if latest is None else parsed(path, latest[1]),
        updated=None if latest is None else latest[0],
        pickled=bool(pickled),
    )
