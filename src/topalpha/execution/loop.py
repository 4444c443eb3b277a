"""The loop: ask for pulls, evaluate them, tell their rewards, until the search stops or a limit is reached."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, MutableSequence
from contextlib import nullcontext
from typing import Any

from topalpha.ask_tell import Pull, Search
from topalpha.execution.calls import Calls, attempt
from topalpha.execution.executors import open_executor
from topalpha.execution.flight import Flight
from topalpha.execution.interrupts import PATIENCE, Signals, held, released
from topalpha.execution.ledger import Budget, Ledger, Meter, in_flight, unset
from topalpha.validate import not_negative, positive, require


def run(
    search: Search,
    calls: Calls,
    *,
    candidates: MutableSequence[Any],
    new_candidate: Callable[[int], Any],
    executor: Any = None,
    width: int | None = None,
    budget: Budget | Meter | None = None,
    on_error: str = "raise",
    retries: int = 3,
    timeout: float | None = None,
    failed: Callable[[Pull, str, str], None] = unset,
    notice: Callable[[], str | None] = unset,
    paused: Callable[[], bool] = unset,
    poll: float = 0.1,
    on_lost: str = "again",
    rest: Callable[[Pull], None] = unset,
    patience: float = PATIENCE,
) -> str:
    """Evaluate pulls until the search stops, and return the reason for the end.

    Parameters
    ----------
    search, calls
        The search that asks for pulls, and the functions that evaluate them.
    candidates, new_candidate
        The candidates drawn so far, by arm, and the function that draws the next; it is appended.
    executor, width
        As in :func:`open_executor`, or its result; ``width`` pulls are in flight at a time.
    budget
        Limits on spending, pulls in flight included. When time or cost run out, pulls in flight are waited for.
    on_error, retries
        What happens to a pull that raises, returns an invalid reward, times out or loses its worker. ``"raise"``:
        :class:`PullFailed`. ``"retry"``: it runs again with the same random numbers, at most ``retries`` times, then
        :class:`PullFailed`. ``"worst"``: it counts as the worst possible reward.
    timeout
        Seconds from the submission of a pull; needs an executor.
    failed
        Called with the pull, the reason and the action taken.
    notice
        Called after every batch of rewards and every ``poll`` seconds while waiting; a returned text ends the run.
    paused
        Called before pulls are started; no pull is started while it returns True. Pulls in flight are told as they
        finish, and the seconds of the budget do not count.
    on_lost
        What happens to a pull that began and never answers, because it is given up at the end, times out, or loses its
        worker. ``"again"``: it is evaluated again (by the next run, or as ``on_error`` says). ``"worst"``: it counts as
        the largest reward in its arm's upper bound and as the smallest in its lower bound.
    rest
        Called at the end for each pull that was asked for and is not being evaluated: the next run begins it.
    patience
        Seconds to wait for pulls in flight when something other than the stopping rule ends the run. A pull that has
        not answered by then is lost. A second Ctrl-C ends the wait.

    Returns
    -------
    str
        ``"stopped"``, ``"pulls"``, ``"seconds"``, ``"cost"``, ``"interrupted"`` after Ctrl-C, ``"terminated"`` after
        SIGTERM, ``"hangup"`` after SIGHUP, ``"lost"`` if too many pulls were lost to go on, or the text of ``notice``.
        The next run evaluates outstanding pulls again, with the same random numbers.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> calls = Calls(lambda rng: rng.random(), lambda mean, rng: rng.random() < mean, seed=0)
    >>> search, arms = Search(design("joint-lucb", 0.2, 0.2, 0.1)), []
    >>> run(search, calls, candidates=arms, new_candidate=calls.candidate, budget=Budget(pulls=50))
    'pulls'
    >>> run(search, calls, candidates=arms, new_candidate=calls.candidate)
    'stopped'
    """
    plain = "be a plain function here: use asearch and aresume for coroutine functions"
    require(not calls.asynchronous, "pull", plain, calls.pull)
    require(timeout is None or executor is not None, "timeout", "be None without an executor", timeout)
    require(executor is not None or width in (None, 1), "width", "be 1 without an executor", width)
    limit = math.inf if timeout is None else positive("timeout", timeout)
    patience = not_negative("patience", patience)
    ledger = Ledger(search, calls, candidates, new_candidate, budget, on_error, retries, failed, paused, on_lost, rest)
    opened = nullcontext() if executor is None else open_executor(executor, width)
    with held(patience) as signals, opened as crew:
        ledger.heed = signals.heed
        if crew is None:
            return _in_turn(ledger, signals, notice, positive("poll", poll))
        return Flight(ledger, crew, width or crew.width, limit, notice, positive("poll", poll), patience, signals).run()


def _in_turn(ledger: Ledger, signals: Signals, notice: Callable[[], str | None], poll: float) -> str:
    begun: list[Pull] = []
    signals.alone = True
    signals.waits_for = lambda: in_flight(begun)
    try:
        while (reason := ledger.verdict(0)) is None:
            if ledger.rests():
                with released():
                    time.sleep(poll)
                if (reason := notice()) is not None:
                    break
                continue
            for pull, evaluation in ledger.start(1, 0):
                begun.append(pull)
                with released():
                    outcome = attempt(evaluation)
                begun.clear()
                ledger.settle([(pull, outcome)])
            if (reason := notice()) is not None:
                break
    except KeyboardInterrupt:
        reason = signals.heed() or "interrupted"
    finally:
        ledger.give_up([(pull, "it was interrupted") for pull in begun])
    return reason
