"""The loop: ask for pulls, evaluate them, tell their rewards, until the search stops or a limit is reached.

Its ledger is the account of one run, which runs on executors and in event loops share.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from contextlib import nullcontext
from typing import Any

from topalpha.ask_tell import Pull, Search
from topalpha.execution.calls import Calls, Evaluation, Outcome, attempt
from topalpha.execution.endings import PATIENCE, Budget, Meter, Signals, held, released
from topalpha.execution.executors import cannot_travel, open_executor
from topalpha.execution.failures import LOSSES, POLICIES, NoReward, PullFailed
from topalpha.execution.flight import Flight, in_flight
from topalpha.validate import choice, not_negative, positive, require, whole

log = logging.getLogger("topalpha")


def unset(*_: Any) -> Any:
    """The default of every callback of a run: it does nothing, and gives no reason to end or to pause.

    Examples
    --------
    >>> unset() is None
    True
    """


class Ledger:
    """The account of one run of a search: pulls asked for, told, failed, and what they spend of its budget.

    Parameters
    ----------
    search, calls
        The search that asks for pulls, and the functions that evaluate them.
    candidates, new_candidate
        The candidates drawn so far, by arm, and the function that draws the next; it is appended.
    budget
        Limits on spending, pulls in flight included. When time or cost run out, pulls in flight are waited for.
    on_error, retries
        What happens to a pull that raises, returns an invalid reward, times out or loses its worker. ``"raise"``:
        :class:`PullFailed`. ``"retry"``: it runs again with the same random numbers, at most ``retries`` times, then
        :class:`PullFailed`. ``"worst"``: it counts as the worst possible reward.
    failed
        Called with the pull, the reason and the action taken.
    paused
        Called before pulls are started; no pull is started while it returns True. Pulls in flight are told as they
        finish, and the seconds of the budget do not count.
    on_lost
        What happens to a pull that began and never answers, because it is given up at the end, times out, or loses its
        worker. ``"again"``: it is evaluated again (by the next run, or as ``on_error`` says). ``"worst"``: it counts as
        the largest reward in its arm's upper bound and as the smallest in its lower bound.
    rest
        Called at the end for each pull that was asked for and is not being evaluated: the next run begins it.

    Examples
    --------
    >>> from topalpha import design
    >>> calls = Calls(lambda rng: rng.random(), lambda mean: mean, seed=0)
    >>> ledger = Ledger(Search(design("cc-lucb", 0.3, 0.3, 0.2)), calls, [], calls.candidate)
    >>> ledger.settle([(pull, evaluation()) for pull, evaluation in ledger.start(2, 0)])
    >>> ledger.search.told, ledger.verdict(0)
    (2, None)
    """

    def __init__(
        self,
        search: Search,
        calls: Calls,
        candidates: MutableSequence[Any],
        new_candidate: Callable[[int], Any],
        budget: Budget | Meter | None = None,
        on_error: str = "raise",
        retries: int = 3,
        failed: Callable[[Pull, str, str], None] = unset,
        paused: Callable[[], bool] = unset,
        on_lost: str = "again",
        rest: Callable[[Pull], None] = unset,
    ) -> None:
        self.search, self.calls, self.candidates, self.new_candidate = search, calls, candidates, new_candidate
        self.meter = budget if isinstance(budget, Meter) else Meter(budget)
        self.on_error = choice("on_error", on_error, POLICIES)
        self.retries = whole("retries", retries, 0)
        self.failed = failed
        self.paused = paused
        self.on_lost = choice("on_lost", on_lost, LOSSES)
        counts = on_lost == "again" or search.endures
        require(counts, "on_lost", "be again for an algorithm that does not count lost pulls", on_lost)
        self.rest = rest
        #: Returns the reason to end the run, or None.
        self.heed: Callable[[], str | None] = unset
        self.worst = search.model.worst
        possible = on_error != "worst" or self.worst is not None
        require(possible, "on_error", "be raise or retry for rewards without a worst value", on_error)
        self._tries: dict[int, int] = {}
        self._take_over()

    def _take_over(self) -> None:
        """Mark pulls that an earlier run left outstanding to be evaluated again."""
        if not self.search.stopped:
            for pull in self.search.outstanding:
                self.search.again(pull)

    def verdict(self, running: int) -> str | None:
        """The reason to end the run now, or None, while ``running`` pulls run."""
        if self.search.stopped:
            return "stopped"
        if (said := self.heed()) is not None:
            return said
        if (over := self.meter.over()) is not None:
            return over
        if running == 0 and self.search.exhausted:
            return "lost"
        if running == 0 and self.meter.pulls_left == 0:
            # Only an ask shows whether the last reward was enough; its pull rests until the next run.
            for pull in self.search.ask_many(1):
                self.search.again(pull)
            return "stopped" if self.search.stopped else "pulls"
        return None

    def rests(self) -> bool:
        """Whether the run is paused; the clock of the budget stops meanwhile."""
        still = self.paused()
        self.meter.hold(still)
        return still

    def interval(self, poll: float) -> float:
        """Seconds to wait before the next check: ``poll``, or less if time runs out."""
        return poll if self.meter.held else min(poll, self.meter.seconds_left)

    def start(self, free: int, running: int) -> Iterator[tuple[Pull, Evaluation]]:
        """Pulls to start now: at most ``free``, and within the budget together with ``running`` ones."""
        room = min(free, self.meter.pulls_left - running)
        for pull in self.search.ask_many(max(0, int(room))):
            while pull.arm >= len(self.candidates):
                self.candidates.append(self.new_candidate(len(self.candidates)))
            yield pull, self.calls.evaluation(pull, self.candidates[pull.arm])

    def settle(self, outcomes: Iterable[tuple[Pull, Outcome]]) -> None:
        """Tell all rewards at once, then handle the failures."""
        for pull, failure in self._told(outcomes):
            self._see_to(pull, failure)

    def bring_home(self, outcomes: Iterable[tuple[Pull, Outcome]]) -> None:
        """As :meth:`settle`, at the end of a run: failures are noted, and wait for the next run."""
        for pull, failure in self._told(outcomes):
            if failure.of_the_pull and not self.search.stopped:
                self._note(pull, failure.reason, "raise")

    def give_up(self, lost: Sequence[tuple[Pull, str]]) -> None:
        """At the end of a run, lose these pulls, which were being evaluated; all other outstanding pulls rest."""
        if self.search.stopped:
            return
        self.lose(lost)
        given_up = {pull.order for pull, _ in lost}
        for pull in self.search.outstanding:
            if pull.order not in given_up:
                self.rest(pull)

    def lose(self, pulls: Sequence[tuple[Pull, str]]) -> bool:
        """Handle pulls that began and will not answer; return whether they are to be evaluated again."""
        for pull, reason in pulls:
            if self.on_lost == "again":
                self._note(pull, reason, "again")
            elif not self.search.stopped:
                self.search.lose(pull, reason)
                self._tries.pop(pull.order, None)
                self.meter.pulls += 1
        return self.on_lost == "again"

    def _told(self, outcomes: Iterable[tuple[Pull, Outcome]]) -> list[tuple[Pull, NoReward]]:
        """Tell all rewards, and failures that count as rewards; return the other failures."""
        rewards: list[tuple[Pull, float]] = []
        lost: list[tuple[Pull, str]] = []
        failures: list[tuple[Pull, NoReward]] = []
        for pull, outcome in outcomes:
            judged = self._judged(outcome)
            if not isinstance(judged, NoReward):
                rewards.append((pull, judged))
            elif self.on_error == "worst" and self.worst is not None and judged.of_the_pull and not judged.refused:
                self._note(pull, judged.reason, "worst")
                rewards.append((pull, self.worst))
            elif self.on_lost == "worst" and judged.lost:
                lost.append((pull, judged.reason))
            else:
                failures.append((pull, judged))
        self._tell(rewards)
        self.lose(lost)
        return failures

    def _judged(self, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, NoReward):
            try:
                self.search.check(outcome)
            except ValueError as error:
                return NoReward.of(error)._replace(refused=not math.isnan(outcome))
        return outcome

    def _tell(self, rewards: list[tuple[Pull, float]]) -> None:
        if self.search.stopped or not rewards:
            return
        self.search.tell_many(rewards, checked=True)
        for pull, reward in rewards:
            self._tries.pop(pull.order, None)
            self.meter.add(self.candidates[pull.arm], reward)

    def _see_to(self, pull: Pull, failure: NoReward) -> None:
        if failure.travel:
            raise cannot_travel(self.calls.pull, failure.error) from failure.error
        if not failure.of_the_pull:
            raise failure.error
        tries = self._tries.get(pull.order, 0)
        if self.on_error == "retry" and tries < self.retries and not failure.refused:
            self._tries[pull.order] = tries + 1
            self._note(pull, failure.reason, "retry")
            self.search.again(pull)
            return
        self._note(pull, failure.reason, "raise")
        raise PullFailed(pull, failure.reason) from failure.error

    def _note(self, pull: Pull, reason: str, action: str) -> None:
        log.debug("topalpha: pull %d of arm %d failed, %s: %s", pull.number, pull.arm, action, reason)
        self.failed(pull, reason, action)


def run(
    search: Search,
    calls: Calls,
    *,
    executor: Any = None,
    width: int | None = None,
    timeout: float | None = None,
    notice: Callable[[], str | None] = unset,
    poll: float = 0.1,
    patience: float = PATIENCE,
    **account: Any,
) -> str:
    """Evaluate pulls until the search stops, and return the reason for the end.

    Parameters
    ----------
    search, calls
        The search that asks for pulls, and the functions that evaluate them.
    executor, width
        As in :func:`open_executor`, or its result; ``width`` pulls are in flight at a time.
    timeout
        Seconds from the submission of a pull; needs an executor.
    notice
        Called after every batch of rewards and every ``poll`` seconds while waiting; a returned text ends the run.
    patience
        Seconds to wait for pulls in flight when something other than the stopping rule ends the run. A pull that has
        not answered by then is lost. A second Ctrl-C ends the wait.
    **account
        All other arguments of :class:`topalpha.execution.loop.Ledger`: the candidates, the budget, what happens to
        pulls that fail or are lost, and what to call meanwhile.

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
    ledger = Ledger(search, calls, **account)
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
