"""One search as all its viewers see it: computed once per change, however many they are and however slow."""

from __future__ import annotations

from collections import deque
from typing import Any

from topalpha.dashboard.states import cells, changed, encode, state
from topalpha.storage import Recording, Row

#: How many changes a viewer may be behind before it is sent everything anew.
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

    A viewer remembers the number of the last state that it was sent, and asks for what came since: nothing waits in
    memory for those who are slow.

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
        #: What the file said when it was last read; only good for being compared.
        self.seen: object = None
        self._figures: dict[str, Any] = {}
        self._contesting: frozenset[int] = frozenset()
        self._trouble: str | None = None
        #: How many rows each update has, and the update.
        self._updates: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._whole: bytes | None = None

    def show(self, recording: Recording) -> bool:
        """Take a new state; whether it differs from the one before."""
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
        """The search cannot be shown, and why; whether that is new."""
        if sentence == self._trouble:
            return False
        self._figures, self.rows, self._trouble = {}, [], sentence
        self._next(None)
        return True

    def revive(self, alive: bool) -> bool:
        """Say whether someone works on the search, which changes with time alone; whether that is new."""
        if not self._figures or self._figures["alive"] == alive:
            return False
        self._figures = {**self._figures, "alive": alive}
        self._next([])
        return True

    def since(self, version: int) -> tuple[int, list[bytes]]:
        """The present version, and the events that lead to it from that one."""
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
        """Everything in one event; whatever in the file is not for JSON is said, and ends no stream."""
        trouble = self._trouble
        if trouble is None:
            try:
                return self._state(self.rows, full=True)
            except (TypeError, ValueError, RecursionError) as error:
                trouble = f"The search cannot be shown: {error}."
        return event("missing", " ".join(trouble.split()).encode(errors="backslashreplace"))

    def _next(self, fresh: list[Row] | None) -> None:
        """The next version, which differs in these rows; None if everyone is to be sent the whole."""
        self.version += 1
        self._whole = None
        if fresh is None:
            self._updates.clear()
        else:
            self._updates.append((len(fresh), self._state(fresh, full=False)))

    def _state(self, rows: list[Row], full: bool) -> bytes:
        return event("state", encode({**self._figures, "full": full, "rows": cells(rows, self._contesting)}))
