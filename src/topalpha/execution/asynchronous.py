"""The run loop for coroutine functions, in the caller's event loop."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import Callable
from math import inf
from typing import Any

from topalpha.ask_tell import Pull, Search
from topalpha.execution.calls import Calls, Evaluation, Outcome, attempt
from topalpha.execution.endings import PATIENCE
from topalpha.execution.failures import NoReward, PullFailed
from topalpha.execution.flight import in_flight
from topalpha.execution.loop import Ledger, unset
from topalpha.validate import not_negative, positive, whole

log = logging.getLogger("topalpha")

Task = asyncio.Task[Outcome]

#: Seconds that a cancelled coroutine has to clean up before it is closed.
GRACE = 1.0


async def arun(
    search: Search,
    calls: Calls,
    *,
    width: int = 1,
    timeout: float | None = None,
    notice: Callable[[], str | None] = unset,
    poll: float = 0.1,
    patience: float = PATIENCE,
    leave: Callable[[], bool] = unset,
    **account: Any,
) -> str:
    """Evaluate at most ``width`` pulls at a time until the search stops; see :func:`run` for the other parameters.

    A plain function runs in its own thread, which is abandoned if it times out. If the waiting task is cancelled,
    finished pulls are told and the others are cancelled with it: they are lost. A coroutine that ignores its
    cancellation is closed. ``leave`` returns whether to stop waiting for pulls in flight at the end.

    Examples
    --------
    >>> import asyncio
    >>> from topalpha import Search, design
    >>> async def pull(mean, rng):
    ...     await asyncio.sleep(0.0)
    ...     return rng.random() < mean
    >>> calls = Calls(lambda rng: rng.random(), pull, seed=0)
    >>> search, arms = Search(design("joint-lucb", 0.2, 0.2, 0.1)), []
    >>> asyncio.run(arun(search, calls, candidates=arms, new_candidate=calls.candidate, width=8))
    'stopped'
    """
    ledger = Ledger(search, calls, **account)
    allowed = inf if timeout is None else positive("timeout", timeout)
    patience = not_negative("patience", patience)
    flight = _Flight(ledger, whole("width", width), allowed, positive("poll", poll), notice, leave)
    wait = 0.0
    try:
        reason = await flight.fly()
        wait = 0.0 if reason == "stopped" else patience
    except KeyboardInterrupt:
        reason, wait = "interrupted", patience
    except PullFailed:
        wait = patience
        raise
    finally:
        await flight.land(wait)
    return reason


class _Flight:
    def __init__(
        self,
        ledger: Ledger,
        width: int,
        timeout: float,
        poll: float,
        notice: Callable[[], str | None],
        leave: Callable[[], bool],
    ) -> None:
        self.ledger, self.width, self.timeout, self.poll = ledger, width, timeout, poll
        self.notice, self.leave = notice, leave
        self.tasks: dict[Task, tuple[Pull, float]] = {}
        self.called_off: set[Task] = set()
        self.evaluate = _await if ledger.calls.asynchronous else _in_thread

    async def fly(self) -> str:
        while (reason := self.ledger.verdict(len(self.tasks))) is None:
            rests = self.ledger.rests()
            if not rests:
                self.launch()
            if rests or self.tasks:
                await self.wait()
                self.ledger.settle(self.finished())
                if (said := self.notice()) is not None:
                    return said
        return reason

    def launch(self) -> None:
        for pull, evaluation in self.ledger.start(self.width - len(self.tasks), len(self.tasks)):
            task = asyncio.create_task(self.evaluate(evaluation))
            self.tasks[task] = (pull, time.monotonic() + self.timeout)

    async def wait(self) -> None:
        if self.tasks:
            soonest = min(deadline for _, deadline in self.tasks.values()) - time.monotonic()
            await self.wait_for_one(min(self.ledger.interval(self.poll), soonest))
        else:
            await asyncio.sleep(self.poll)

    async def wait_for_one(self, seconds: float) -> None:
        await asyncio.wait(self.tasks, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)

    def finished(self) -> list[tuple[Pull, Outcome]]:
        """Remove the tasks that have finished or timed out, and return their outcomes."""
        now = time.monotonic()
        over = [task for task, (_, deadline) in self.tasks.items() if task.done() or deadline <= now]
        return [(self.tasks.pop(task)[0], self.outcome(task)) for task in over]

    def outcome(self, task: Task) -> Outcome:
        if not task.done():
            self.call_off(task)
            return NoReward.late(self.timeout)
        if task.cancelled():
            return NoReward("it was cancelled", RuntimeError("the pull's own task was cancelled"))
        return task.result()

    async def land(self, patience: float) -> None:
        """Wait for pulls in flight, tell finished ones, and cancel the rest."""
        end, reason = time.monotonic() + patience, f"it was given up, {patience:g} seconds after the search ended"
        if self.tasks and patience > 0.0:
            log.info("topalpha waits for %s", self.in_words())
        try:
            while self.tasks and (left := end - time.monotonic()) > 0.0 and not self.leave():
                await self.wait_for_one(min(self.poll, left))
                self.ledger.bring_home(self.finished())
                self.notice()
            reason = "it was interrupted" if self.leave() else reason
        finally:
            await self.give_up(reason)

    def in_words(self) -> str:
        return in_flight([pull for pull, _ in self.tasks.values()])

    async def give_up(self, reason: str) -> None:
        """Tell finished pulls, and cancel the rest."""
        done = [(pull, self.outcome(task)) for task, (pull, _) in self.tasks.items() if task.done()]
        rest = [(task, pull) for task, (pull, _) in self.tasks.items() if not task.done()]
        self.tasks.clear()
        for task, _ in rest:
            self.call_off(task)
        try:
            self.ledger.bring_home(done)
            self.ledger.give_up([(pull, reason) for _, pull in rest])
        finally:
            await self.dismiss()

    def call_off(self, task: Task) -> None:
        """Cancel the task, and keep a reference: an event loop holds weak references only."""
        task.cancel()
        self.called_off.add(task)
        task.add_done_callback(self.called_off.discard)

    async def dismiss(self) -> None:
        """Wait until all cancelled tasks have ended: the event loop could not be closed otherwise."""
        if self.called_off:
            await asyncio.wait(self.called_off, timeout=GRACE)
        if self.called_off:
            stubborn = len(self.called_off)
            log.warning("topalpha closes %d pulls in flight: a coroutine must not swallow CancelledError", stubborn)
            for task in list(self.called_off):
                _close(task)
            await asyncio.wait(self.called_off, timeout=GRACE)


def _close(task: Task) -> None:
    """End a coroutine that ignores its cancellation."""
    coroutine: Any = task.get_coro()
    try:
        coroutine.close()
    except (RuntimeError, ValueError) as error:  # it awaits again regardless, or is running now
        log.warning("topalpha: a pull cannot be closed, and the event loop waits for it: %s", error)
        return
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # retrieve its exception
    task.cancel()


async def _await(evaluation: Evaluation) -> Outcome:
    try:
        return await evaluation.wait()
    except (Exception, KeyboardInterrupt, SystemExit) as error:  # the last two would end the event loop
        return NoReward.of(error)


async def _in_thread(evaluation: Evaluation) -> Outcome:
    """Evaluate in a daemon thread, so that neither a time-out nor the end of the program waits for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()

    def deliver(outcome: Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def work() -> None:
        try:
            outcome = attempt(evaluation)
        except BaseException as error:
            outcome = NoReward.of(error)
        try:
            loop.call_soon_threadsafe(deliver, outcome)
        except RuntimeError:  # the event loop is closed
            return

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name="topalpha", daemon=True).start()
    return await future
