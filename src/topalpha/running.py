"""How a search runs: on what, for how long, and who watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from topalpha.core import SUM
from topalpha.execution import Budget
from topalpha.progress import LOGGER, Progress, survey
from topalpha.session import Session
from topalpha.storage import CONTINUE, PAUSE, STOP

#: Snapshots, callbacks and control messages are looked after this often, in seconds.
PERIOD = 0.4


@dataclass(frozen=True)
class Running:
    """How a search runs. None of this changes what is proved, only how soon and from how many pulls.

    Attributes
    ----------
    executor
        ``None`` for one pull at a time in this thread; ``"threads"``, ``"processes"``; any executor with ``submit``; or
        a Dask ``Client``.
    workers
        How many threads or processes, where this opens them; threads, if no executor is named.
    width
        How many pulls are in flight at once; as many as there are workers unless given.
    pulls, seconds, cost
        The budget: rewards, wall-clock seconds, or what ``cost_of`` adds up to. The search ends when the first is
        spent, with the weaker statements that are proved by then.
    cost_of
        The cost of a pull: a number, or a function of the candidate and the reward.
    retries
        How often a failed pull is tried again with ``on_error="retry"``.
    timeout
        After how many seconds a pull counts as failed.
    progress
        ``auto`` (a live line on a terminal, log lines without one), ``live``, ``lines`` or ``none``.
    callbacks
        Functions that are called with a :class:`topalpha.progress.Progress` about twice a second.

    Examples
    --------
    >>> Running(pulls=1000).budget.pulls
    1000
    """

    executor: Any = None
    workers: int | None = None
    width: int | None = None
    pulls: int | None = None
    seconds: float | None = None
    cost: float | None = None
    cost_of: float | Callable[[Any, float], float] | None = None
    retries: int = 3
    timeout: float | None = None
    progress: str = "auto"
    callbacks: Sequence[Callable[[Progress], None]] = ()

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Running:
        """From settings by name; one that there is not gets the error of a call with a wrong name.

        Examples
        --------
        >>> Running.of({"width": 4}).width
        4
        """
        for name in settings:
            if name not in cls.__dataclass_fields__:
                raise TypeError(f"got an unexpected keyword argument {name!r}")
        return cls(**settings)

    @property
    def where(self) -> Any:
        """The executor, or the kind of it: a number of workers alone means threads."""
        return "threads" if self.executor is None and self.workers is not None else self.executor

    @property
    def budget(self) -> Budget:
        """When to end before the stopping rule is met."""
        return Budget(self.pulls, self.seconds, self.cost, self.cost_of)


class Watch:
    """What happens a few times a second beside the pulls: snapshots, progress, callbacks, control messages.

    Attributes
    ----------
    paused
        Whether someone wants no new pulls to be started for now.
    """

    def __init__(self, session: Session, running: Running, show: Callable[[Progress], None]) -> None:
        self.session = session
        self.running = running
        self.paused = False
        self._show = show
        self._next = time.monotonic() + PERIOD
        self._next_proof = self._next
        self._latest: Progress | None = None
        self._fresh = False
        self._seen: tuple[int, ...] = ()
        self._known: list[tuple[int, int]] = []
        self._ending = False
        #: Whether anyone reads the claims, which a line on a terminal does not show.
        self._read = session.record is not None or bool(running.callbacks)

    def __call__(self) -> str | None:
        """Do what is due; a reason to end, if someone asked for that."""
        now = time.monotonic()
        # Something can be said after the first reward, not before it: until then an end has to wait.
        if self._ending and self.session.history.t > 0:
            return "message"
        if now < self._next:
            return None
        self._next = now + PERIOD
        before = self.paused
        self.obey()
        if self.session.history.t > 0:
            # Whoever paused it sees that at once, and what is proved the next time, however rarely that is computed.
            self.look(now, quick=self.paused != before)
            self._next_proof = 0.0 if self.paused and not before else self._next_proof
        else:
            self.begin()
        return "message" if self._ending and self.session.history.t > 0 else None

    def obey(self) -> None:
        """Do what messages ask for, in the order in which they came."""
        if self.session.record is None:
            return
        for message in self.session.record.take_messages():
            if message == STOP:
                self._ending, self.paused = True, False
            elif message in (PAUSE, CONTINUE):
                self.paused = message == PAUSE and not self._ending
            else:
                LOGGER.warning("a control message was not understood: %r", message)

    def begin(self) -> None:
        """Say that someone works on the search, before its first reward or when it is taken up again."""
        record, history = self.session.record, self.session.history
        if record is None:
            return
        if history.t > 0:
            self.snapshot(survey(self.session, proved=False))
        elif self.paused:
            record.snapshot([], {"pulls": 0, "in_flight": history.in_flight, "arms": history.arms, "paused": True})
        else:
            record.snapshot([], {})  # nothing is known yet

    def last(self) -> None:
        """The state at the end, whenever the one before was shown."""
        self.paused = False
        if self.session.history.t > 0:
            self._next_proof = 0.0
            self.look(time.monotonic())

    def look(self, now: float, quick: bool = False) -> None:
        """Take a snapshot and show where the search is; when it must be quick, with what was proved before."""
        progress = replace(self.progress(now, quick), paused=self.paused)
        self.snapshot(progress)
        self._show(progress)
        for callback in self.running.callbacks:
            callback(progress)

    def progress(self, now: float, quick: bool = False) -> Progress:
        """Where the search is; the same as before as long as nothing happens."""
        history, before = self.session.history, self._latest
        seen = (history.t, history.in_flight, history.arms, self.session.told, int(self.session.stopped))
        # What is proved may take long to find where arms are many: a tenth of the time is spent on it, no more.
        due = now >= self._next_proof and not quick
        if before is not None and seen == self._seen and (self._fresh or not due):
            return before
        found = survey(self.session, proved=due, curve=self._read)
        if due:
            # The first time loads what proofs need, which says nothing about how long the next one will take.
            taken = 0.0 if before is None else time.monotonic() - now
            self._next_proof = now + 10.0 * taken
        elif before is not None and not self.session.stopped:
            found = replace(found, gap=before.gap, left=before.left, claims=before.claims)
        self._latest, self._seen, self._fresh = found, seen, due
        return found

    def snapshot(self, progress: Progress) -> None:
        """Write down the figures of arms that changed since the last snapshot."""
        record, session = self.session.record, self.session
        if record is None:
            return
        history, model = session.history, session.model
        rows: list[tuple[int, int, float | None, float, float, int]] = []
        for arm in range(history.arms):
            counts = (history.pulls[arm], history.pending[arm])
            if arm < len(self._known) and self._known[arm] == counts:
                continue
            if counts[0]:
                low, high = sorted((model.to_user(session.lower(arm)), model.to_user(session.upper(arm))))
                rows.append((arm, counts[0], model.to_user(history.stats[SUM][arm] / counts[0]), low, high, counts[1]))
            else:
                ends = sorted((model.to_user(session.model.family.lowest), model.to_user(session.model.family.highest)))
                rows.append((arm, 0, None, ends[0], ends[1], counts[1]))
        record.snapshot(rows, progress.to_dict())
        self._known = [(history.pulls[arm], history.pending[arm]) for arm in range(history.arms)]
