"""The writer's handle of one search."""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Callable, Iterable, Mapping
from math import isfinite, isnan
from operator import index
from typing import Any

from topalpha.storage import tables
from topalpha.storage.encoding import encode, legible, settings
from topalpha.storage.errors import BROKEN, RecordLost, StorageError, explained
from topalpha.storage.files import verify
from topalpha.storage.recording import Failure, Recording, audited, find, load, parsed, read
from topalpha.storage.writer import Step, Writer
from topalpha.validate import LARGEST, real, require


class Record:
    """One search, open for writing; made by :meth:`Storage.create` and :meth:`Storage.open`.

    Arms and asks wait in memory until :meth:`settle` or the next reward, so that no transaction stays open between two
    calls and no other process has to wait. A reward is on disk when :meth:`tell` returns, unless the storage has an
    ``interval``. Arms, asks and rewards come in order and once: anything else is refused before it is written.

    About once a second, when something is written or messages are taken, the file is checked from outside. If it is
    gone or damaged, the whole search is written to a new file, and all further writes go there.

    Attributes
    ----------
    name, config
        The arguments of :meth:`Storage.create`.
    status, certificate
        "running" and None, until :meth:`finish`.
    loss
        The error that says why the file was lost and where the search was saved; None if the file is intact.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage import Storage
    >>> with tempfile.TemporaryDirectory() as folder, Storage(folder + "/searches.db") as storage:
    ...     record = storage.create("first", {"alpha": 0.05})
    ...     record.ask(0, arm=0, after=0)
    ...     record.tell(0, 0.5)
    ...     record.finish("stopped", {"arm": 0})
    ...     record.asked, record.told, record.recording().certificate
    (1, 1, {'arm': 0})
    """

    def __init__(
        self, writer: Writer, name: str, interval: float = 0.0, move: Callable[[str], None] | None = None
    ) -> None:
        connection, path = writer.connection, writer.path
        self._search, self.name, self.created, config, pickled, self.status, certificate = find(connection, path, name)
        self.loss: RecordLost | None = None
        self._move = move
        self.config = parsed(path, config)
        self.certificate = None if certificate is None else parsed(path, certificate)
        self._pickled = bool(pickled)
        self._writer = writer
        self._interval = interval
        self._committed = time.monotonic()
        self._arms, self._asked, self._waited, self._told, self._failed = audited(connection, path, self._search)
        #: One byte per pull: whether its reward was told.
        self._is_told = bytearray(self._asked)
        # Keep everything in memory, too: the file may be lost.
        self._stored: list[str | bytes] = [raw for (raw,) in connection.execute(tables.ARMS, (self._search,))]
        self._arm_of, self._after_of, self._orders, self._rewards = array("q"), array("q"), array("q"), array("d")
        for arm, after in connection.execute(tables.ASKS, (self._search,)):
            self._arm_of.append(arm)
            self._after_of.append(after)
        for order, reward in connection.execute(tables.TELLS, (self._search,)):
            self._is_told[order] = 1
            self._orders.append(order)
            self._rewards.append(reward)
        self._waits: list[tuple[int, int]] = connection.execute(tables.WAITS, (self._search,)).fetchall()
        self._failures = [Failure(*row) for row in connection.execute(tables.FAILURES, (self._search,))]
        self._new_arms: list[tuple[int, int, str | bytes]] = []
        self._new_asks: list[tuple[int, int, int, int]] = []
        self._new_waits: list[tuple[int, int, int, int]] = []
        self._new_tells: list[tuple[int, int, int, float]] = []
        self._new_failures: list[tuple[int, int, int, int, str, str]] = []

    @property
    def place(self) -> tuple[str, int]:
        """The path of the file, and the number of the search in it."""
        return self._writer.path, self._search

    @property
    def asked(self) -> int:
        """The number of pulls asked for, which is the order of the next one."""
        return self._asked

    @property
    def told(self) -> int:
        """The number of rewards told."""
        return self._told

    def add_arm(self, arm: int, candidate: Any) -> None:
        """Store the candidate of the next arm."""
        self._writer.check()
        require(arm == self._arms, "arm", f"be the next one, {self._arms}", arm)
        self._stored.append(encode(candidate, self._pickled))
        self._new_arms.append((self._search, self._arms, self._stored[-1]))
        self._arms += 1

    def ask(self, order: int, arm: int, after: int) -> None:
        """Log the next pull: its arm, and the number of rewards told when it was planned."""
        self._writer.check()
        order, arm, after = index(order), index(arm), index(after)
        require(order == self._asked, "order", f"be the next one, {self._asked}", order)
        require(0 <= arm <= LARGEST, "arm", "be an index", arm)
        require(0 <= after <= self._told, "after", f"be at most the number of rewards told, {self._told}", after)
        self._new_asks.append((self._search, order, arm, after))
        self._arm_of.append(arm)
        self._after_of.append(after)
        self._is_told.append(0)
        self._asked += 1

    def wait(self, asked: int, after: int) -> None:
        """Log that the algorithm had to wait, after ``asked`` pulls and ``after`` rewards."""
        self._writer.check()
        asked, after = index(asked), index(after)
        require(asked == self._asked, "asked", f"be the number of pulls asked for, {self._asked}", asked)
        require(after == self._told, "after", f"be the number of rewards told, {self._told}", after)
        self._new_waits.append((self._search, self._waited, asked, after))
        self._waits.append((asked, after))
        self._waited += 1

    def tell(self, order: int, reward: float) -> None:
        """Log the reward of a pull."""
        self._writer.check()
        order, reward = index(order), real("reward", reward)
        if not 0 <= order < self._asked or self._is_told[order]:
            require(False, "order", "name a pull asked for and not yet told", order)
        if not isfinite(reward):
            require(False, "reward", "be finite", reward)
        self._add(order, reward)
        self.settle()

    def tell_many(self, rewards: Iterable[tuple[int, float]]) -> None:
        """Log several rewards, in this order of arrival: all of them or none."""
        self._writer.check()
        pairs = [(index(order), real("reward", reward)) for order, reward in rewards]
        seen: set[int] = set()
        for order, reward in pairs:
            known = 0 <= order < self._asked and not self._is_told[order] and order not in seen
            require(known, "order", "name a pull asked for and not yet told", order)
            require(isfinite(reward), "reward", "be finite", reward)
            seen.add(order)
        for order, reward in pairs:
            self._add(order, reward)
        self.settle()

    def fail(self, order: int, after: int, reason: str, action: str) -> None:
        """Log that a pull gave no reward, why, and the action taken; on disk with the next reward or commit."""
        self._writer.check()
        order, after = index(order), index(after)
        require(0 <= order < self._asked, "order", "name a pull asked for", order)
        require(0 <= after <= self._told, "after", f"be at most the number of rewards told, {self._told}", after)
        row = (self._search, self._failed, order, after, legible(reason), legible(action))
        self._new_failures.append(row)
        self._failures.append(Failure(*row[2:]))
        self._failed += 1

    def commit(self) -> None:
        """Write everything that waits in memory to disk."""
        self._write([])

    def settle(self) -> None:
        """Commit, unless the storage has an ``interval`` that is not over."""
        if self._interval <= 0.0 or time.monotonic() - self._committed >= self._interval:
            self._write([])

    def finish(self, status: str, certificate: Mapping[str, Any] | None) -> None:
        """Store the final status and the certificate; on disk when this returns."""
        text = None if certificate is None else settings("certificate", certificate)
        self._write([(tables.FINISH, [(legible(status), text, self._search)])])
        self.status = legible(status)
        self.certificate = None if text is None else parsed(self._writer.path, text)

    def snapshot(
        self,
        rows: Iterable[tuple[int, int, float | None, float, float, int]],
        progress: Mapping[str, Any],
    ) -> None:
        """Replace the figures of these arms, ``(arm, pulls, mean, lower, upper, pending)``, and the progress."""
        search, figures = self._search, []
        for arm, pulls, mean, lower, upper, pending in rows:
            require(not isnan(lower) and not isnan(upper), "bounds", "be numbers", (lower, upper))
            mean = None if mean is None else float(mean)
            figures.append((search, index(arm), index(pulls), mean, float(lower), float(upper), index(pending)))
        state = (search, time.time(), settings("progress", progress))
        self._write([(tables.SNAPSHOT, figures), (tables.PROGRESS, [state])])

    def take_messages(self) -> list[str]:
        """New messages from other processes, oldest first."""
        self._writer.check()
        self.look()
        waiting = self._writer.fetch(tables.MESSAGES, self._search)
        if waiting:
            self._write([(tables.HANDLED, [(self._search, number) for number, _ in waiting])])
        return [text for _, text in waiting]

    def recording(self) -> Recording:
        """The whole search as it is on disk, after a commit."""
        if self._writer.is_sound:
            self.commit()
        try:
            return load(self._writer.connection, self._writer.path, self.name)
        except BROKEN as error:
            raise explained(self._writer.path, error) from error

    def candidate(self, arm: int) -> str | bytes:
        """The stored candidate of an arm."""
        return self._stored[arm]

    def remembered(self) -> Recording:
        """The search from memory, without the snapshot; independent of the file."""
        return Recording(
            name=self.name,
            config=self.config,
            status=self.status,
            certificate=self.certificate,
            created=self.created,
            arms=list(self._stored),
            asks=list(zip(self._arm_of, self._after_of, strict=True)),
            tells=list(zip(self._orders, self._rewards, strict=True)),
            waits=list(self._waits),
            failures=list(self._failures),
        )

    def look(self, now: bool = False) -> None:
        """Check the file once a second, or ``now``; if it is lost, continue in a new one."""
        if (found := self._writer.look(now)) is not None:
            self._elsewhere(found)

    def missing(self) -> str | None:
        """A description of damage to the file, or None; takes no action. For other threads."""
        return self._writer.guard.finding()

    def read_back(self) -> None:
        """Read the whole search from the file again; if it differs, save the search elsewhere."""
        found = misread(self._writer.path, self.remembered())
        if found is not None:
            self._elsewhere(found)

    def rows(self) -> list[Step]:
        """The whole search as statements for an empty file, with the same number."""
        certificate = None if self.certificate is None else json.dumps(self.certificate, separators=(",", ":"))
        config = json.dumps(self.config, separators=(",", ":"))
        head = (self._search, self.name, self.created, config, int(self._pickled), self.status, certificate)
        return [(tables.RESTORE, [head]), *log_of(self._search, self.remembered())]

    def moved_to(self, writer: Writer, loss: RecordLost) -> None:
        """Continue in another file, which already holds the whole search."""
        self._writer, self.loss = writer, loss
        for waiting in (self._new_arms, self._new_asks, self._new_waits, self._new_tells, self._new_failures):
            waiting.clear()

    def _elsewhere(self, found: str) -> None:
        if self._move is None:
            raise RecordLost(self._writer.path, found, trouble="no storage manages it")
        self._move(found)

    def _add(self, order: int, reward: float) -> None:
        self._new_tells.append((self._search, order, self._told, reward))
        self._orders.append(order)
        self._rewards.append(reward)
        self._is_told[order] = 1
        self._told += 1

    def _write(self, more: list[Step]) -> None:
        self.look()
        try:
            self._put(more)
        except StorageError:
            # SQLite may answer anything for a file that was cut or overwritten while it was open.
            if not self._writer.is_open or (found := self._writer.guard.finding()) is None:
                raise
            self._elsewhere(found)
            self._put(more)

    def _put(self, more: list[Step]) -> None:
        waiting = (self._new_arms, self._new_asks, self._new_waits, self._new_tells, self._new_failures)
        steps: list[Step] = []
        if self._new_arms:
            steps.append((tables.ADD_ARM, self._new_arms))
        if self._new_asks:
            steps.append((tables.ASK, self._new_asks))
        if self._new_waits:
            steps.append((tables.WAIT, self._new_waits))
        if self._new_tells:
            steps.append((tables.TELL, self._new_tells))
        if self._new_failures:
            steps.append((tables.FAIL, self._new_failures))
        steps.extend(more)
        if steps:
            self._writer.write(steps, waiting)
        else:
            self._writer.check()
        if self._interval > 0.0:
            self._committed = time.monotonic()


def log_of(search: int, recording: Recording) -> list[Step]:
    """The rows of a search's logs and figures, as statements.

    Examples
    --------
    >>> recording = Recording("one", {}, "running", None, "2024-01-01T00:00:00+00:00", asks=[(0, 0)], tells=[(0, 0.5)])
    >>> [list(rows) for _, rows in log_of(7, recording)]
    [[], [(7, 0, 0, 0)], [], [(7, 0, 0, 0.5)], [], [], []]
    """
    said = [] if recording.progress is None else [(search, recording.updated, settings("progress", recording.progress))]
    return [
        (tables.ADD_ARM, [(search, arm, raw) for arm, raw in enumerate(recording.arms)]),
        (tables.ASK, [(search, order, *pair) for order, pair in enumerate(recording.asks)]),
        (tables.WAIT, [(search, place, *pair) for place, pair in enumerate(recording.waits)]),
        (tables.TELL, [(search, order, place, reward) for place, (order, reward) in enumerate(recording.tells)]),
        (tables.FAIL, [(search, place, *failure) for place, failure in enumerate(recording.failures)]),
        (tables.SNAPSHOT, [(search, *row) for row in recording.snapshot]),
        (tables.PROGRESS, said),
    ]


def misread(path: str, known: Recording) -> str | None:
    """The first difference between the file and ``known``; None if they agree.

    Examples
    --------
    >>> misread("/nowhere.db", Recording("one", {}, "running", None, "2024-01-01T00:00:00+00:00"))
    "path must exist, got '/nowhere.db'"
    """
    try:
        verify(path)
        found = read(path, known.name)
    except StorageError as error:
        return str(error)
    for part in ("created", "config", "status", "certificate", "arms", "asks", "waits", "tells", "failures"):
        if getattr(found, part) != getattr(known, part):
            return f"its {part} differ from those written"
    return None
