"""Watching the file while there are viewers, and sending them changes, each computed once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from topalpha.dashboard.file_reader import ODD, Reader, Sight
from topalpha.dashboard.states import cells, changed, encode, state
from topalpha.storage import Recording, Row
from topalpha.storage.parameters import Candidates

Answer = TypeVar("Answer")

#: Seconds between two looks at the file.
PERIOD = 0.05
#: Seconds after which a silent stream sends an event to show that it is alive: comments do not reach scripts.
HEARTBEAT = 5.0
#: The most viewers at once: more are probably a mistake.
MOST = 256
#: How many changes a viewer may be behind before everything is sent again.
KEPT = 16


def event(kind: str, data: bytes) -> bytes:
    r"""A server-sent event.

    Examples
    --------
    >>> event("missing", b"gone")
    b'event: missing\ndata: gone\n\n'
    """
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"


class Channel:
    """The state of one search, numbered by its changes.

    A viewer remembers the version that it was sent last, and asks for the changes since: nothing waits in memory for
    slow viewers.

    Examples
    --------
    >>> channel = Channel()
    >>> rows = [Row(0, 1, 1.0, 0.0, 1.0, 0)]
    >>> one = Recording("first", {}, "running", None, "2024-01-01T00:00:00+00:00", snapshot=rows)
    >>> channel.show(one)
    True
    >>> channel.show(one), channel.version
    (False, 1)
    >>> version, messages = channel.since(0)
    >>> version, [message[:12] for message in messages], channel.since(1)
    (1, [b'event: state'], (1, []))
    """

    def __init__(self) -> None:
        self.version = 0
        self.rows: list[Row] = []
        #: The state of the file at the last reading; only for comparison.
        self.seen: object = None
        self._figures: dict[str, Any] = {}
        self._contesting: frozenset[int] = frozenset()
        self._trouble: str | None = None
        #: The number of rows of each update, and the update.
        self._updates: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._whole: bytes | None = None

    def show(self, recording: Recording) -> bool:
        """Take a new state; return whether it differs from the one before."""
        said, contesting = state(recording)
        same = self._trouble is None and self.version > 0 and self._figures.get("created") == said["created"]
        fresh = changed(self.rows, recording.snapshot) if same else None
        if fresh is not None and (turned := contesting ^ self._contesting):
            sent = {row.arm for row in fresh}
            fresh += [row for row in recording.snapshot if row.arm in turned and row.arm not in sent]
        if fresh == [] and said == self._figures:
            return False
        self._figures, self._contesting, self.rows, self._trouble = said, contesting, recording.snapshot, None
        self._next(fresh)
        return True

    def fail(self, sentence: str) -> bool:
        """Note why the search cannot be shown; return whether that is new."""
        if sentence == self._trouble:
            return False
        self._figures, self.rows, self._trouble = {}, [], sentence
        self._next(None)
        return True

    def revive(self, alive: bool) -> bool:
        """Note whether a process works on the search, which changes with time; return whether that is new."""
        if not self._figures or self._figures["alive"] == alive:
            return False
        self._figures = {**self._figures, "alive": alive}
        self._next([])
        return True

    def since(self, version: int) -> tuple[int, list[bytes]]:
        """The current version, and the events that lead to it."""
        behind = self.version - version
        if behind == 0:
            return self.version, []
        if version > 0 and 0 < behind <= len(self._updates):
            updates = list(self._updates)[-behind:]
            if behind == 1 or sum(rows for rows, _ in updates) <= len(self.rows):
                return self.version, [update for _, update in updates]
        if self._whole is None:
            self._whole = self._all()
        return self.version, [self._whole]

    def _all(self) -> bytes:
        """Everything in one event; values that JSON cannot hold are reported, and end no stream."""
        trouble = self._trouble
        if trouble is None:
            try:
                return self._state(self.rows, full=True)
            except (TypeError, ValueError, RecursionError) as error:
                trouble = f"The search cannot be shown: {error}."
        return event("missing", " ".join(trouble.split()).encode(errors="backslashreplace"))

    def _next(self, fresh: list[Row] | None) -> None:
        """Start the next version, which differs in these rows; None if everything is to be sent."""
        self.version += 1
        self._whole = None
        if fresh is None:
            self._updates.clear()
        else:
            self._updates.append((len(fresh), self._state(fresh, full=False)))

    def _state(self, rows: list[Row], full: bool) -> bytes:
        return event("state", encode({**self._figures, "full": full, "rows": cells(rows, self._contesting)}))


BEAT = event("beat", b"1")


class Hub:
    r"""The file as it was last read, and its viewers.

    All reading happens in one thread, one read at a time, and the event loop never waits for a disk.

    Examples
    --------
    >>> async def first(hub):
    ...     return [event async for event in hub.events(None, False)]
    >>> hub = Hub("/nowhere.db")
    >>> hub.close()
    >>> asyncio.run(first(hub))
    [b'retry: 1000\n\n']
    """

    def __init__(self, path: str) -> None:
        self.reader = Reader(path)
        self.viewers: Counter[str | None] = Counter()
        self.closed = False
        self._channels: dict[str, Channel] = {}
        self._thread = ThreadPoolExecutor(1, "topalpha-dashboard")
        self._changed = asyncio.Event()
        self._summaries: dict[bool, bytes] = {}
        self._seen: tuple[Sight, list[bool]] | None = None
        self._task: asyncio.Task[None] | None = None

    async def reading(self, work: Callable[[], Answer]) -> Answer:
        """The result of ``work``, run in the reading thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def refresh(self) -> Sight:
        """Look at the file once, and wake everyone who waits for a change."""
        names = [name for name in self.viewers if name is not None]
        sight, anything = await self.reading(partial(self._look, names))
        if anything:
            before, self._changed = self._changed, asyncio.Event()
            before.set()
        return sight

    def summary(self, controls: bool) -> bytes:
        """The list of searches at the last look, as JSON; encoded once for all viewers."""
        return self._summaries[controls]

    def rows(self, name: str, sight: Sight) -> tuple[list[Row], Candidates]:
        """The figures of a search's arms, and its candidates; called in the reading thread."""
        channel = self._channels.get(name)
        followed = channel is not None and channel.seen is not None
        rows = channel.rows if channel is not None and followed else self.reader.recording(name).snapshot
        return rows, self.reader.candidates(sight.searches[name], rows[-1].arm + 1 if rows else 0)

    @contextmanager
    def watched(self, name: str | None) -> Iterator[None]:
        """A context with one more viewer, during which the file is watched."""
        self.viewers[name] += 1
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self.viewers[name] -= 1
            if not self.viewers[name]:
                del self.viewers[name]

    async def events(self, name: str | None, controls: bool) -> AsyncIterator[bytes]:
        """All events for a viewer, from now on."""
        yield b"retry: 1000\n\n"
        if not self.closed:
            await self.refresh()
        summary, version = b"", 0
        while not self.closed:
            change = self._changed
            messages: list[bytes] = []
            if summary != self.summary(controls):
                summary = self.summary(controls)
                messages.append(event("searches", summary))
            if name is not None:
                version, states = await self.reading(partial(self._since, name, version))
                messages += states
            for message in messages:
                yield message
            if messages:
                continue  # sending took time: there may be more
            try:
                await asyncio.wait_for(change.wait(), HEARTBEAT)
            except TimeoutError:
                self._check()
                yield BEAT

    def close(self) -> None:
        """End all streams."""
        self.closed = True
        self._changed.set()

    async def aclose(self) -> None:
        """End all streams, and the reading thread."""
        self.close()
        if self._task is not None:
            await asyncio.wait([self._task])
        self._thread.shutdown()

    async def _run(self) -> None:
        """Look and wait, until there are no viewers."""
        while self.viewers and not self.closed:
            began = time.monotonic()
            await self.refresh()
            # After a long look, leave as much time to others.
            await asyncio.sleep(max(PERIOD, time.monotonic() - began))

    def _check(self) -> None:
        """Raise the error that ended the watching, so that the stream ends too and the viewer reconnects."""
        if self._task is not None and self._task.done() and (error := self._task.exception()) is not None:
            raise RuntimeError("the file is not looked after") from error

    def _look(self, names: list[str]) -> tuple[Sight, bool]:
        """Read the file; return its contents, and whether viewers must be told."""
        sight, anything = self._summarise(self.reader.look())
        self._channels = {name: self._channels.get(name) or Channel() for name in names}
        for name, channel in self._channels.items():
            anything |= self._follow(name, channel, sight)
        return sight, anything

    def _summarise(self, sight: Sight) -> tuple[Sight, bool]:
        """Update the list of searches; return the contents of the file, or its fault, and whether they are new."""
        try:
            seen = (sight, [one.alive() for one in sight.searches.values()])  # being alive changes with time alone
            if seen == self._seen:
                return sight, False
            summaries = {controls: encode(sight.summary(controls)) for controls in (False, True)}
        except ODD as error:
            sight = Sight(sight.file, problem=self.reader.spoken(error))
            seen, summaries = (sight, []), {controls: encode(sight.summary(controls)) for controls in (False, True)}
        anything = summaries != self._summaries
        self._summaries, self._seen = summaries, seen
        return sight, anything

    def _follow(self, name: str, channel: Channel, sight: Sight) -> bool:
        """Update a search; return whether anything changed."""
        trouble = sight.trouble(name)
        if trouble is not None:
            channel.seen = None
            return channel.fail(trouble)
        one = sight.searches[name]
        seen = (one.created, one.status, one.updated)
        if seen == channel.seen:
            return channel.revive(one.alive())
        try:
            anything = channel.show(self.reader.recording(name))
        except ODD as error:
            channel.seen = None
            return channel.fail(f"The search cannot be read: {self.reader.spoken(error)}.")
        channel.seen = seen
        return anything

    def _since(self, name: str, version: int) -> tuple[int, list[bytes]]:
        channel = self._channels.get(name)
        return (version, []) if channel is None else channel.since(version)
