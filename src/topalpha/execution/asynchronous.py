"""The same loop for coroutine functions, in the caller's event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, MutableSequence
from math import inf
from typing import Any

from topalpha.ask_tell import Pull, Search
from topalpha.execution.budget import Budget, Meter
from topalpha.execution.calls import Calls, Evaluation
from topalpha.execution.failures import Failure
from topalpha.execution.ledger import Ledger, no_note, no_notice, no_pause
from topalpha.execution.worker import Outcome, attempt
from topalpha.validate import positive, whole

Task = asyncio.Task[Outcome]

#: How long a coroutine that was called off may take to clean up, in seconds, before it is left to itself.
GRACE = 1.0


async def arun(
    search: Search,
    calls: Calls,
    *,
    candidates: MutableSequence[Any],
    new_candidate: Callable[[int], Any],
    limit: int = 1,
    budget: Budget | Meter | None = None,
    on_error: str = "raise",
    retries: int = 3,
    timeout: float | None = None,
    failed: Callable[[Pull, str, str], None] = no_note,
    notice: Callable[[], str | None] = no_notice,
    paused: Callable[[], bool] = no_pause,
    poll: float = 0.1,
) -> str:
    """Evaluate pulls until the search stops, at most ``limit`` at a time; all else is as in :func:`run`.

    A plain function runs in a thread of its own, which is left to itself if it times out. If the task that waits for
    this is cancelled, what has finished is told and the other pulls are cancelled with it.

    Examples
    --------
    >>> import asyncio
    >>> from topalpha import Search, design
    >>> async def pull(mean, rng):
    ...     await asyncio.sleep(0.0)
    ...     return rng.random() < mean
    >>> calls = Calls(lambda rng: rng.random(), pull, seed=0)
    >>> search, arms = Search(design("joint-lucb", 0.2, 0.2, 0.1)), []
    >>> asyncio.run(arun(search, calls, candidates=arms, new_candidate=calls.candidate, limit=8))
    'stopped'
    """
    ledger = Ledger(search, calls, candidates, new_candidate, budget, on_error, retries, failed, paused)
    allowed = inf if timeout is None else positive("timeout", timeout)
    flight = _Flight(ledger, whole("limit", limit), allowed, positive("poll", poll))
    try:
        return await flight.fly(notice)
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        await flight.land()


class _Flight:
    def __init__(self, ledger: Ledger, limit: int, timeout: float, poll: float) -> None:
        self.ledger, self.limit, self.timeout, self.poll = ledger, limit, timeout, poll
        self.tasks: dict[Task, tuple[Pull, float]] = {}
        self.evaluate = _await if ledger.calls.asynchronous else _in_thread

    async def fly(self, notice: Callable[[], str | None]) -> str:
        while (reason := self.ledger.verdict(len(self.tasks))) is None:
            rests = self.ledger.rests()
            if not rests:
                self.launch()
            if rests or self.tasks:
                await self.wait()
                self.ledger.settle(self.finished())
                if (said := notice()) is not None:
                    return said
        return reason

    def launch(self) -> None:
        for pull, evaluation in self.ledger.start(self.limit - len(self.tasks), len(self.tasks)):
            task = asyncio.create_task(self.evaluate(evaluation))
            self.tasks[task] = (pull, time.monotonic() + self.timeout)

    async def wait(self) -> None:
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=self.patience(), return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(self.poll)

    def patience(self) -> float:
        soonest = min(deadline for _, deadline in self.tasks.values()) - time.monotonic()
        return max(0.0, min(self.ledger.patience(self.poll), soonest))

    def finished(self) -> list[tuple[Pull, Outcome]]:
        """What has finished and whose time is over, taken out of the tasks."""
        now = time.monotonic()
        over = [task for task, (_, deadline) in self.tasks.items() if task.done() or deadline <= now]
        return [(self.tasks.pop(task)[0], self.outcome(task)) for task in over]

    def outcome(self, task: Task) -> Outcome:
        if not task.done():
            _call_off(task)
            return Failure.late(self.timeout)
        if task.cancelled():
            return Failure("it was cancelled", RuntimeError("the pull's own task was cancelled"))
        return task.result()

    async def land(self) -> None:
        """Tell what has finished, and call off the rest."""
        done = [(pull, task.result()) for task, (pull, _) in self.tasks.items() if task.done() and not task.cancelled()]
        rest = [task for task in self.tasks if not task.done()]
        self.tasks.clear()
        for task in rest:
            _call_off(task)
        try:
            self.ledger.rescue(done)
        finally:
            if rest:
                await asyncio.wait(rest, timeout=GRACE)


#: An event loop keeps weak references only.
_called_off: set[Task] = set()


def _call_off(task: Task) -> None:
    task.cancel()
    _called_off.add(task)
    task.add_done_callback(_called_off.discard)


async def _await(evaluation: Evaluation) -> Outcome:
    try:
        return await evaluation.wait()
    except (Exception, KeyboardInterrupt, SystemExit) as error:  # the last two would tear the event loop down
        return Failure.of(error)


async def _in_thread(evaluation: Evaluation) -> Outcome:
    """In a daemon thread, which neither a time-out nor the end of the program has to wait for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()

    def deliver(outcome: Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def work() -> None:
        try:
            outcome = attempt(evaluation)
        except BaseException as error:
            outcome = Failure.of(error)
        try:
            loop.call_soon_threadsafe(deliver, outcome)
        except RuntimeError:  # the event loop is closed, and nobody waits
            return

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name="topalpha", daemon=True).start()
    return await future
