"""Limits on the spending of a search, and the amounts spent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from topalpha.validate import real, require, whole


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
