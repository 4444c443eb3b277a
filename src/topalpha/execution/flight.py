"""Pulls in flight on a crew of workers: results in any order, timeouts, and workers that die."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from pickle import PicklingError
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from topalpha.ask_tell import Pull
from topalpha.execution.calls import Evaluation, Outcome
from topalpha.execution.endings import Signals, released
from topalpha.execution.executors import Crew, log
from topalpha.execution.failures import NoReward, PullFailed

if TYPE_CHECKING:
    from topalpha.execution.loop import Ledger

#: Why a pull is lost.
DIED = "the process that evaluated it died"


def in_flight(pulls: Sequence[Pull]) -> str:
    """A description of these pulls; empty for none.

    Examples
    --------
    >>> in_flight([Pull(2, 0, 2)])
    '1 pull in flight (pull 0 of arm 2)'
    """
    if not pulls:
        return ""
    first = ", ".join(f"pull {pull.number} of arm {pull.arm}" for pull in pulls[:3])
    more = ", ..." if len(pulls) > 3 else ""
    return f"{len(pulls)} pull{'s' if len(pulls) > 1 else ''} in flight ({first}{more})"


class Job(NamedTuple):
    """A pull that was sent to a worker."""

    pull: Pull
    evaluation: Evaluation
    future: Future[Outcome]
    deadline: float


class Flight:
    """One run on a crew of workers; see :func:`topalpha.execution.run`.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.execution import Budget, Calls, open_executor
    >>> from topalpha.execution.loop import Ledger
    >>> calls = Calls(lambda rng: rng.random(), lambda mean: mean, seed=0)
    >>> ledger = Ledger(Search(design("cc-lucb", 0.3, 0.3, 0.2)), calls, [], calls.candidate, Budget(pulls=3))
    >>> with open_executor("threads", 2) as crew:
    ...     Flight(ledger, crew, width=2, timeout=math.inf, notice=lambda: None, poll=0.1).run()
    'pulls'
    """

    def __init__(
        self,
        ledger: Ledger,
        crew: Crew,
        width: int,
        timeout: float,
        notice: Callable[[], str | None],
        poll: float,
        patience: float = 0.0,
        signals: Signals | None = None,
    ) -> None:
        self.ledger, self.crew, self.width, self.timeout = ledger, crew, width, timeout
        self.notice, self.poll, self.patience = notice, poll, patience
        self.signals = Signals(patience) if signals is None else signals
        self.signals.waits_for = lambda: in_flight([job.pull for job in list(self._jobs.values())])
        self._jobs: dict[int, Job] = {}
        self._finished: SimpleQueue[int] = SimpleQueue()
        self._tickets = 0
        # Pulls in flight when a process died. Any of them may have killed it, so they run alone, in turn.
        self._suspects: deque[tuple[Pull, Evaluation]] = deque()
        self._culprits: set[int] = set()
        self._stuck = math.inf

    def run(self) -> str:
        """Evaluate pulls until there is a reason to end, and return it."""
        patience = 0.0
        try:
            reason = self._fly()
            patience = 0.0 if reason == "stopped" else self.patience
        except KeyboardInterrupt:
            # From our handler this is the second signal, and leaves at once; from another handler it is the first.
            patience = self.patience if self.signals.reason is None else 0.0
            reason = self.signals.heed() or "interrupted"
        except PullFailed:
            patience = self.patience
            raise
        finally:
            self._land(patience)
        return reason

    @property
    def _running(self) -> int:
        return len(self._jobs) + len(self._suspects)

    def _fly(self) -> str:
        while (reason := self.ledger.verdict(self._running)) is None:
            rests = self.ledger.rests()
            if not rests:
                self._launch()
            if rests or self._jobs or self.crew.strays:
                self._collect(self._wait(self.ledger.interval(self.poll)))
                if (said := self.notice()) is not None:
                    return said
        return reason

    def _land(self, patience: float) -> None:
        """Wait for pulls in flight, tell finished ones, and give up the rest."""
        end, reason = time.monotonic() + patience, "it was interrupted"
        lost: list[tuple[Pull, str]] = []
        if self._jobs and patience > 0.0:
            log.info("topalpha waits for %s", self.signals.waits_for())
        try:
            while self._jobs and (left := end - time.monotonic()) > 0.0:
                self._wait(min(self.poll, left))
                lost.extend(self._come_home())
                self.notice()
            reason = f"it was given up, {patience:g} seconds after the search ended"
        except KeyboardInterrupt:
            self.signals.heed()
        lost.extend(self._come_home())
        lost.extend((job.pull, reason) for job in self._jobs.values() if not self.crew.abandon(job.future))
        self._jobs.clear()
        self.ledger.give_up(lost)

    def _come_home(self) -> list[tuple[Pull, str]]:
        """Tell pulls that finished or timed out at the end of a run; return those whose worker died."""
        lost, now = [], time.monotonic()
        outcomes: list[tuple[Pull, Outcome]] = []
        for ticket, job in list(self._jobs.items()):
            if not job.future.done():
                if job.deadline > now:
                    continue
                self.crew.abandon(job.future)
                outcomes.append((job.pull, NoReward.late(self.timeout)))
            elif not job.future.cancelled():  # it began
                error = job.future.exception()
                if isinstance(error, BrokenExecutor):
                    lost.append((job.pull, DIED))
                else:
                    outcomes.append((job.pull, job.future.result() if error is None else NoReward.of(error)))
            del self._jobs[ticket]
        self.ledger.bring_home(outcomes)
        return lost

    def _launch(self) -> None:
        """Start one pull per free worker."""
        if self._suspects:
            if not self._jobs:
                self._submit(*self._suspects.popleft())
            return
        strays = len(self.crew.strays)
        if strays >= self.crew.size:
            self._unstick()
            return
        self._stuck = math.inf
        free = min(self.width, max(self.width, self.crew.size) - strays) - len(self._jobs)
        for pull, evaluation in self.ledger.start(free, self._running):
            if pull.order in self._culprits:
                self._suspects.append((pull, evaluation))
            else:
                self._submit(pull, evaluation)

    def _submit(self, pull: Pull, evaluation: Evaluation) -> None:
        try:
            future = self.crew.submit(evaluation)
        except RuntimeError as error:
            if not (self.crew.owned and isinstance(error, BrokenExecutor)):
                raise self._gone(pull) from error
            self._suspects.append((pull, evaluation))
            self._suspect_all()
            return
        self._tickets += 1
        self._jobs[self._tickets] = Job(pull, evaluation, future, time.monotonic() + self.timeout)
        # The callback holds a number, not the job: a finished future must not be kept alive.
        future.add_done_callback(lambda _, put=self._finished.put, ticket=self._tickets: put(ticket))  # type: ignore[misc]

    def _wait(self, patience: float) -> list[int]:
        """Tickets of finished evaluations; empty if none finishes within ``patience`` seconds."""
        if self.timeout < math.inf and self._jobs:
            patience = min(patience, min(job.deadline for job in self._jobs.values()) - time.monotonic())
        tickets = []
        try:
            with released():
                tickets.append(self._finished.get(timeout=max(0.0, patience)))
            while True:
                tickets.append(self._finished.get_nowait())
        except Empty:
            return tickets

    def _collect(self, tickets: list[int]) -> None:
        """Handle evaluations that finished, timed out or killed a worker."""
        outcomes: dict[int, Outcome] = {}
        broken: tuple[Pull, Exception] | None = None
        for ticket in tickets:
            if ticket not in self._jobs:  # given up earlier
                continue
            job = self._jobs[ticket]
            try:
                outcomes[ticket] = job.future.result()
            except (BrokenExecutor, CancelledError) as error:
                broken = (job.pull, error)
            except Exception as error:  # not from the pull itself: that would be an outcome
                travel = isinstance(error, (ImportError, AttributeError, TypeError, PicklingError))
                outcomes[ticket] = NoReward.of(error)._replace(travel=travel)
        now = time.monotonic()
        for ticket, job in self._jobs.items():
            if job.deadline <= now and ticket not in outcomes and not job.future.done():
                outcomes[ticket] = NoReward.late(self.timeout)
                self.crew.abandon(job.future)
        settled = [(self._jobs.pop(ticket).pull, outcome) for ticket, outcome in outcomes.items()]
        if broken is not None and self.crew.owned:
            if len(self._jobs) == 1 and not self.crew.strays:  # it was alone
                self._jobs.clear()
                self._culprits.add(broken[0].order)
                settled.append((broken[0], NoReward(DIED, broken[1], lost=True)))
                self.crew.renew()
            else:
                self._suspect_all()
        self.ledger.settle(settled)
        if broken is not None and not self.crew.owned:
            raise self._gone(broken[0]) from broken[1]

    def _suspect_all(self) -> None:
        """Replace the workers; pulls that were in flight run again, one at a time, so that only the culprit pays.

        If lost pulls count as such, they are told instead.
        """
        jobs = list(self._jobs.values())
        self._jobs.clear()
        if self.ledger.lose([(job.pull, "a process died while it was evaluated") for job in jobs]):
            self._suspects.extend((job.pull, job.evaluation) for job in jobs)
            log.info("topalpha: a process died; %d pulls were in flight and run one by one", len(self._suspects))
        self.crew.renew()

    def _unstick(self) -> None:
        """Every worker hangs in an abandoned pull: replace them, or wait once more for ``timeout`` seconds."""
        if self.crew.owned:
            self.crew.renew()
            return
        self._stuck = min(self._stuck, time.monotonic())
        if time.monotonic() - self._stuck > self.timeout:
            for pull in self.ledger.search.ask_many(1):
                raise PullFailed(pull, "every worker of the executor hangs in a pull that timed out")

    @staticmethod
    def _gone(pull: Pull) -> PullFailed:
        return PullFailed(pull, "the executor takes no more work or lost a worker; open a new one and go on")
