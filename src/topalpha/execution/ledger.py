"""The account of a run: pulls asked for, told, failed, and what they spend of its budget."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from typing import Any, NamedTuple

from topalpha.ask_tell import Pull, Search
from topalpha.execution.calls import Calls, Evaluation, Outcome
from topalpha.execution.executors import cannot_travel
from topalpha.execution.failures import LOSSES, POLICIES, NoReward, PullFailed
from topalpha.validate import choice, real, require, whole

log = logging.getLogger("topalpha")


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


def unset(*_: Any) -> Any:
    """The default of every callback of a run: it does nothing, and gives no reason to end or to pause.

    Examples
    --------
    >>> unset() is None
    True
    """


class Budget(NamedTuple):
    """Limits on spending; None is no limit.

    Parameters
    ----------
    pulls
        Rewards told; a pull evaluated again after a failure counts once.
    seconds
        Wall-clock time.
    cost
        The sum of ``cost_of`` over rewards told, in any unit. The search ends once it is reached.
    cost_of
        The cost of one pull: a number, or a function of the candidate and its reward.

    Examples
    --------
    >>> Budget(pulls=1000, cost=5.0, cost_of=lambda prompt, reward: 1e-4 * len(prompt)).pulls
    1000
    """

    pulls: int | None = None
    seconds: float | None = None
    cost: float | None = None
    cost_of: float | Callable[[Any, float], float] | None = None


class Meter:
    """The amounts spent of a budget; pass it to several runs, one after another, and it goes on counting.

    Examples
    --------
    >>> meter = Meter(Budget(pulls=3, cost=1.0, cost_of=0.5))
    >>> meter.add("candidate", 1.0)
    >>> meter.pulls_left, meter.cost, meter.over()
    (2, 0.5, None)
    >>> meter.add("candidate", 0.0)
    >>> meter.over()
    'cost'
    """

    def __init__(
        self, budget: Budget | None = None, *, pulls: int = 0, seconds: float = 0.0, cost: float = 0.0
    ) -> None:
        self.budget = Budget() if budget is None else budget
        limits = self.budget
        if limits.pulls is not None:
            whole("pulls", limits.pulls, 0)
        for name, limit in (("seconds", limits.seconds), ("cost", limits.cost)):
            require(limit is None or real(name, limit) >= 0.0, name, "be at least 0", limit)
        require(limits.cost is None or limits.cost_of is not None, "cost_of", "be given with cost", limits.cost_of)
        self.pulls = pulls
        self.cost = cost
        self._began = time.monotonic() - seconds
        self._held: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds that it has run, without the time on hold."""
        return (time.monotonic() if self._held is None else self._held) - self._began

    @property
    def held(self) -> bool:
        """Whether the clock is on hold."""
        return self._held is not None

    def hold(self, still: bool) -> None:
        """Stop the clock, or let it go on; repeating a call does no harm."""
        if still and self._held is None:
            self._held = time.monotonic()
        elif not still and self._held is not None:
            self._began += time.monotonic() - self._held
            self._held = None

    @property
    def seconds_left(self) -> float:
        """Seconds left, perhaps infinitely many."""
        return math.inf if self.budget.seconds is None else max(0.0, self.budget.seconds - self.seconds)

    @property
    def pulls_left(self) -> float:
        """Pulls left, perhaps infinitely many."""
        return math.inf if self.budget.pulls is None else max(0, self.budget.pulls - self.pulls)

    def add(self, candidate: Any, reward: float) -> None:
        """Count one reward."""
        self.pulls += 1
        price = self.budget.cost_of
        if price is not None:
            cost = real("cost", price(candidate, reward) if callable(price) else price)
            require(0.0 <= cost < math.inf, "cost", "be at least 0 and finite", cost)
            self.cost += cost

    def over(self) -> str | None:
        """The limit that is reached, "seconds" or "cost"; None if neither is."""
        if self.seconds_left <= 0.0:
            return "seconds"
        return "cost" if self.budget.cost is not None and self.cost >= self.budget.cost else None


class Ledger:
    """The account of one run of a search; see :func:`topalpha.execution.run` for the parameters.

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
                self.search.model.check(outcome)
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
