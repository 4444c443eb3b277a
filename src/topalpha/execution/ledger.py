"""The books between a search and whoever evaluates its pulls: what is asked for, told, failed and spent."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, MutableSequence
from typing import Any

from topalpha.ask_tell import Pull, Search
from topalpha.execution.budget import Budget, Meter
from topalpha.execution.calls import Calls, Evaluation
from topalpha.execution.executors import cannot_travel
from topalpha.execution.failures import POLICIES, Failure, PullFailed
from topalpha.execution.worker import Outcome
from topalpha.validate import choice, require, whole

log = logging.getLogger("topalpha")


def no_note(pull: Pull, reason: str, action: str) -> None:
    """What is called for a failed pull unless the caller has something better.

    Examples
    --------
    >>> no_note(Pull(0, 0, 0), "ValueError: no", "retry")
    """


def no_notice() -> str | None:
    """What is called between rewards unless the caller has something better: a reason to leave off, or None.

    Examples
    --------
    >>> no_notice() is None
    True
    """
    return None


def no_pause() -> bool:
    """What is called before pulls are started unless the caller has something better: whether to hold them back.

    Examples
    --------
    >>> no_pause()
    False
    """
    return False


class Ledger:
    """One run's account of one search; see :func:`topalpha.execution.run` for the parameters.

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
        failed: Callable[[Pull, str, str], None] = no_note,
        paused: Callable[[], bool] = no_pause,
    ) -> None:
        self.search, self.calls, self.candidates, self.new_candidate = search, calls, candidates, new_candidate
        self.meter = budget if isinstance(budget, Meter) else Meter(budget)
        self.on_error = choice("on_error", on_error, POLICIES)
        self.retries = whole("retries", retries, 0)
        self.failed = failed
        self.paused = paused
        self.worst = search.model.worst
        possible = on_error != "worst" or self.worst is not None
        require(possible, "on_error", "be raise or retry where no reward is the worst", on_error)
        self._tries: dict[int, int] = {}
        self._take_over()

    def _take_over(self) -> None:
        """Whatever was in flight before is evaluated again."""
        if not self.search.stopped:
            for pull in self.search.outstanding:
                self.search.again(pull)

    def verdict(self, running: int) -> str | None:
        """Why the run ends now, if it does, while this many pulls run."""
        if self.search.stopped:
            return "stopped"
        if (over := self.meter.over()) is not None:
            return over
        if running == 0 and self.meter.pulls_left == 0:
            # Only an ask finds out that the last reward was enough; what it asks for goes back.
            for pull in self.search.ask_many(1):
                self.search.again(pull)
            return "stopped" if self.search.stopped else "pulls"
        return None

    def rests(self) -> bool:
        """Whether no pull is to be started now; the clock of the budget stands still meanwhile."""
        still = self.paused()
        self.meter.hold(still)
        return still

    def patience(self, poll: float) -> float:
        """How long to wait at most before looking again: ``poll`` seconds, or until time runs out."""
        return poll if self.meter.held else min(poll, self.meter.seconds_left)

    def start(self, free: int, running: int) -> Iterator[tuple[Pull, Evaluation]]:
        """Pulls to start now: at most ``free``, and no more than the budget has left beside those that run."""
        room = min(free, self.meter.pulls_left - running)
        for pull in self.search.ask_many(max(0, int(room))):
            while pull.arm >= len(self.candidates):
                self.candidates.append(self.new_candidate(len(self.candidates)))
            yield pull, self.calls.evaluation(pull, self.candidates[pull.arm])

    def settle(self, outcomes: Iterable[tuple[Pull, Outcome]]) -> None:
        """Tell all rewards at once, then see to the failures."""
        rewards: list[tuple[Pull, float]] = []
        failures: list[tuple[Pull, Failure]] = []
        for pull, outcome in outcomes:
            judged = self._judged(outcome)
            if not isinstance(judged, Failure):
                rewards.append((pull, judged))
            elif self.on_error == "worst" and self.worst is not None and judged.of_the_pull and not judged.refused:
                self._note(pull, judged, "worst")
                rewards.append((pull, self.worst))
            else:
                failures.append((pull, judged))
        self._tell(rewards)
        for pull, failure in failures:
            self._see_to(pull, failure)

    def rescue(self, outcomes: Iterable[tuple[Pull, Outcome]]) -> None:
        """Tell the rewards among these, at the end of a run; failures stay outstanding."""
        judged = [(pull, self._judged(outcome)) for pull, outcome in outcomes]
        self._tell([(pull, outcome) for pull, outcome in judged if not isinstance(outcome, Failure)])

    def _judged(self, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Failure):
            try:
                self.search.model.check(outcome)
            except ValueError as error:
                return Failure.of(error)._replace(refused=not math.isnan(outcome))
        return outcome

    def _tell(self, rewards: list[tuple[Pull, float]]) -> None:
        if self.search.stopped or not rewards:
            return
        self.search.tell_many(rewards)
        for pull, reward in rewards:
            self._tries.pop(pull.order, None)
            self.meter.add(self.candidates[pull.arm], reward)

    def _see_to(self, pull: Pull, failure: Failure) -> None:
        if failure.travel:
            raise cannot_travel(self.calls.pull, failure.error) from failure.error
        if not failure.of_the_pull:
            raise failure.error
        tries = self._tries.get(pull.order, 0)
        if self.on_error == "retry" and tries < self.retries and not failure.refused:
            self._tries[pull.order] = tries + 1
            self._note(pull, failure, "retry")
            self.search.again(pull)
            return
        self._note(pull, failure, "raise")
        raise PullFailed(pull, failure.reason) from failure.error

    def _note(self, pull: Pull, failure: Failure, action: str) -> None:
        log.debug("topalpha: pull %d of arm %d failed, %s: %s", pull.number, pull.arm, action, failure.reason)
        self.failed(pull, failure.reason, action)
