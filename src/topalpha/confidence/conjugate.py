"""Bounds from two-sided conjugate mixtures: N d(p, mu) <= ln(1/level) + R (docs/proofs.md, B.1)."""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.families.protocols import RewardFamily
from topalpha.rules.columns import LOWER, UPPER
from topalpha.rules.protocol import SUM, History

# The lower bound is computed and stored once the evidence is within this many nats of the threshold.
_CLOSE = 1.0


class Nothing(NamedTuple):
    """Conjugate mixtures need no tables; compiled code needs a tuple with one list."""

    unused: MutableSequence[float]


class ConjugateBounds(NamedTuple):
    """Running bounds from the family's conjugate mixture.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> bounds = ConjugateBounds(Bernoulli(), 1.6, 5.0)
    >>> history = History(1, 1, [1], [[0.0], [0.0], [0.0]], [])
    >>> bounds.fold(history, bounds.tables(), 0, 0.0)
    >>> round(history.stats[UPPER][0], 3), bounds.lower_now(history, bounds.tables(), 0)
    (0.899, 0.0)
    """

    family: RewardFamily
    upper_threshold: float
    lower_threshold: float

    @property
    def extra(self) -> int:
        """No further columns."""
        return 0

    def tables(self) -> Nothing:
        """The empty table."""
        return Nothing([0.0])

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound."""
        pulls = history.pulls[arm]
        total = history.stats[SUM][arm]
        if pulls == 1:
            history.stats[UPPER][arm] = self.family.highest
            history.stats[LOWER][arm] = self.family.lowest
        level = (self.upper_threshold + self.family.redundancy(total, pulls)) / pulls
        history.stats[UPPER][arm] = min(history.stats[UPPER][arm], self.family.upper(total / pulls, level))

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the running lower bound is at least ``target``; it is computed and stored only when it is close."""
        if target <= history.stats[LOWER][arm]:
            return True
        total = history.stats[SUM][arm]
        pulls = history.pulls[arm]
        mean = total / pulls
        if target > mean:
            return False
        needed = self.lower_threshold + self.family.redundancy(total, pulls)
        short = needed - pulls * self.family.divergence(mean, target)
        if 0.0 < short < _CLOSE:
            history.stats[LOWER][arm] = self.lower_now(history, lookup, arm)
        return short <= 0.0

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far."""
        total = history.stats[SUM][arm]
        pulls = history.pulls[arm]
        level = (self.lower_threshold + self.family.redundancy(total, pulls)) / pulls
        return max(history.stats[LOWER][arm], self.family.lower(total / pulls, level))
