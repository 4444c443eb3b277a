"""How a search runs: on what, for how long, and who watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from topalpha.execution import PATIENCE, Budget
from topalpha.session import LOGGER, PERIOD, STYLES, Progress, Session, Snapshots
from topalpha.storage import CONTINUE, PAUSE, STOP
from topalpha.validate import MOST_WIDTH, MOST_WORKERS, choice, optional, positive, real, require, whole

#: The reason to end when the file was lost that the search is recorded in.
VANISHED = "vanished"

#: What is proved may take long to find where arms are many: this part of the time is spent on it, no more.
PROVING = 0.1


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
        The budget: rewards, wall-clock seconds, or what ``cost_of`` adds up to. When the first is spent no pull is
        started any more, and the search ends with the weaker statements that are proved by then.
    cost_of
        The cost of a pull: a number, or a function of the candidate and the reward.
    retries
        How often a failed pull is tried again with ``on_error="retry"``.
    timeout
        After how many seconds a pull counts as failed.
    patience
        How many seconds pulls in flight are waited for when a budget, Ctrl-C, SIGTERM, SIGHUP or a message ends the
        search, beyond the seconds of the budget. It should exceed the longest pull: one that has not answered by then
        is lost (``on_lost`` says what becomes of it). A second Ctrl-C ends the wait. A pull in the searching thread is
        waited for as long as it takes when a budget ends.
    progress
        ``auto`` (a live line on a terminal, log lines without one), ``live``, ``lines`` or ``none``.
    callbacks
        Functions that are called with a :class:`topalpha.session.Progress` about twice a second.

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
    patience: float = PATIENCE
    progress: str = "auto"
    callbacks: Sequence[Callable[[Progress], None]] = ()

    def __post_init__(self) -> None:
        checked = {
            "workers": optional(whole, "workers", self.workers, most=MOST_WORKERS),
            "width": optional(whole, "width", self.width, most=MOST_WIDTH),
            "pulls": optional(whole, "pulls", self.pulls, least=0),
            "seconds": optional(real, "seconds", self.seconds),
            "cost": optional(real, "cost", self.cost),
            "retries": whole("retries", self.retries, 0),
            "timeout": optional(positive, "timeout", self.timeout),
            "progress": choice("progress", self.progress, STYLES),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        priced = self.cost_of is None or callable(self.cost_of) or real("cost_of", self.cost_of) >= 0.0
        require(priced, "cost_of", "be at least 0, or a function of the candidate and the reward", self.cost_of)
        listed = isinstance(self.callbacks, Sequence) and all(map(callable, self.callbacks))
        require(listed, "callbacks", "be functions", self.callbacks)

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
        self._ending = False
        session.watched = True  # figures are shown here
        if session.snapshots is None:
            session.snapshots = Snapshots(session, session.record)
        self.snapshots = session.snapshots
        self.snapshots.share, self.snapshots.next_proof = PROVING, self._next

    def __call__(self) -> str | None:
        """Do what is due; a reason to end, if someone asked for that."""
        now = time.monotonic()
        if self.session.record is not None and self.session.record.loss is not None:
            return VANISHED
        # Something can be said after the first reward, not before it: until then an end has to wait.
        if self._ending and self.session.history.t > 0:
            return "message"
        if now < self._next:
            return None
        self._next = now + PERIOD
        before = self.paused
        self.obey()
        if self.session.record is not None and self.session.record.loss is not None:
            return VANISHED
        if self.session.history.t > 0:
            # Whoever paused it sees that at once, and what is proved the next time, however rarely that is computed.
            self.look(now, quick=self.paused != before)
            if self.paused and not before:
                self.snapshots.next_proof = 0.0
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
            self.snapshots.write(self.snapshots.progress(time.monotonic(), quick=True))
        elif self.paused:
            record.snapshot([], {"pulls": 0, "in_flight": history.in_flight, "arms": history.arms, "paused": True})
        else:
            record.snapshot([], {})  # nothing is known yet

    def last(self) -> None:
        """The state at the end, whenever the one before was shown."""
        self.paused = False
        if self.session.history.t > 0:
            self.snapshots.next_proof = 0.0
            self.look(time.monotonic())

    def look(self, now: float, quick: bool = False) -> None:
        """Take a snapshot and show where the search is; when it must be quick, with what was proved before."""
        progress = replace(self.snapshots.progress(now, quick), paused=self.paused)
        self.snapshots.write(progress)
        self._show(progress)
        for callback in self.running.callbacks:
            callback(progress)
