"""Looking after the file while anyone watches, and telling all of them what changed."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from topalpha.dashboard.channels import Channel, event
from topalpha.dashboard.file_reader import ODD, Reader, Sight
from topalpha.dashboard.states import encode
from topalpha.storage import Row

Answer = TypeVar("Answer")

#: Seconds between two looks at the file.
PERIOD = 0.05
#: Seconds after which a silent stream says that it is still there, in an event: comments do not reach scripts.
HEARTBEAT = 5.0
BEAT = event("beat", b"1")
#: So many may watch at once: more are more likely a mistake than people.
MOST = 256


class Hub:
    r"""What is known about the file, and everyone who watches it.

    All reading happens in one thread, and in turn: no two reads overlap, and the event loop never waits for a disk.

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
        self._summarised: object = None
        self._task: asyncio.Task[None] | None = None

    async def reading(self, work: Callable[[], Answer]) -> Answer:
        """What ``work`` gives, in the thread that reads."""
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
        """What was in the file at the last look, as JSON; encoded once for all."""
        return self._summaries[controls]

    def rows(self, name: str, sight: Sight) -> tuple[list[Row], list[str]]:
        """The figures of the arms of a search and its candidates as text; in the thread that reads."""
        channel = self._channels.get(name)
        followed = channel is not None and channel.seen is not None
        rows = channel.rows if channel is not None and followed else self.reader.recording(name).snapshot
        return rows, self.reader.texts(sight.searches[name], rows[-1].arm + 1 if rows else 0)

    @contextmanager
    def watched(self, name: str | None) -> Iterator[None]:
        """While this is open someone watches, so that the file is looked after."""
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
        """All that a viewer is told, from now on."""
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
                continue  # sending took its time: there may be more
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
        """End all streams, and the thread that reads."""
        self.close()
        if self._task is not None:
            await asyncio.wait([self._task])
        self._thread.shutdown()

    async def _run(self) -> None:
        """Look and wait, until nobody watches any more."""
        while self.viewers and not self.closed:
            began = time.monotonic()
            await self.refresh()
            # However long a look takes, as much time is left to others.
            await asyncio.sleep(max(PERIOD, time.monotonic() - began))

    def _check(self) -> None:
        """Raise what ended the looking, so that the stream ends too: the viewer comes again, and it begins anew."""
        if self._task is not None and self._task.done() and (error := self._task.exception()) is not None:
            raise RuntimeError("the file is not looked after") from error

    def _look(self, names: list[str]) -> tuple[Sight, bool]:
        """What is in the file, and whether anyone has to be told."""
        sight = self.reader.look()
        anything = self._summarise(sight)
        self._channels = {name: self._channels.get(name) or Channel() for name in names}
        for name, channel in self._channels.items():
            anything |= self._follow(name, channel, sight)
        return sight, anything

    def _summarise(self, sight: Sight) -> bool:
        """Bring the list of searches up to date; whether anything changed. Who is alive changes with time alone."""
        summarised = (sight, [one.alive() for one in sight.searches.values()])
        if summarised == self._summarised:
            return False
        summaries = {controls: encode(sight.summary(controls)) for controls in (False, True)}
        anything = summaries != self._summaries
        self._summaries, self._summarised = summaries, summarised
        return anything

    def _follow(self, name: str, channel: Channel, sight: Sight) -> bool:
        """Bring a search up to date; whether anything changed."""
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
