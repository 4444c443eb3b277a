"""Bounds that allow for pulls that never came back, on the host only (docs/proofs.md, G).

A lost pull counts as a reward of 1 in its arm's upper bound and as a reward of 0 in its lower bound. All bounds and
evidence here are monotone in each reward, so their statements follow from those for the unknown reward.

The sum of rewards counts a lost pull as 0; a separate column counts the lost pulls of each arm.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from topalpha.rules.columns import AFTER, EXTRA, LOWER, ConfidenceBounds, JointEvidence
from topalpha.rules.protocol import SUM, History


def _with_largest(history: History, arm: int, column: int) -> Any:
    """The history in which each lost pull of this arm, but of no other, gave the largest reward."""
    lost = history.stats[column][arm]
    if lost == 0.0:
        return history
    total: Any = {arm: history.stats[SUM][arm] + lost}
    return history._replace(stats=[total, *history.stats[1:]])


class LostBounds(NamedTuple):
    """A lost pull counts as the largest reward from above and as the smallest from below.

    The running bounds are those of ``bounds``, for rewards between 0 and 1.

    Examples
    --------
    >>> from topalpha.confidence.tilt import TiltBounds
    >>> from topalpha.families import Bernoulli
    >>> bounds = LostBounds(TiltBounds(Bernoulli(), 0.05, 1.0, 5.0))
    >>> history = History(1, 1, [1], [[0.0], [0.0], [0.0], [1.0]], [])
    >>> bounds.fold(history, bounds.tables(), 0, 0.0)
    >>> history.stats[1][0], bounds.lower_now(history, bounds.tables(), 0)
    (1.0, 0.0)
    """

    bounds: ConfidenceBounds

    @property
    def column(self) -> int:
        """The column that counts lost pulls: the last one."""
        return EXTRA + self.bounds.extra

    @property
    def upper_threshold(self) -> float:
        """ln(1/level) of the upper bound."""
        return self.bounds.upper_threshold

    @property
    def lower_threshold(self) -> float:
        """ln(1/level) of the lower bound."""
        return self.bounds.lower_threshold

    @property
    def extra(self) -> int:
        """The columns of ``bounds``, and one more."""
        return self.bounds.extra + 1

    def tables(self) -> Any:
        """The tables of ``bounds``."""
        return self.bounds.tables()

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound; the stored lower bound is kept, because it rests on other rewards."""
        seen = _with_largest(history, arm, self.column)
        lower = history.stats[LOWER][arm] if history.pulls[arm] > 1 else 0.0
        self.bounds.fold(seen, lookup, arm, reward)
        if seen is not history:
            history.stats[LOWER][arm] = lower

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the running lower bound is at least ``target``."""
        return self.bounds.reaches(history, lookup, arm, target)

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far."""
        return self.bounds.lower_now(history, lookup, arm)


class LostEvidence(NamedTuple):
    """A lost pull counts as the largest reward where the arm may be low and as the smallest where it may be high.

    The evidence is that of ``evidence``, for rewards between 0 and 1.

    Examples
    --------
    >>> from topalpha.confidence.gap import GapEvidence
    >>> from topalpha.families import Bernoulli
    >>> evidence = LostEvidence(GapEvidence(Bernoulli(), 0.1, 0.5))
    >>> evidence.extra, evidence.column
    (1, 6)
    """

    evidence: JointEvidence

    @property
    def column(self) -> int:
        """The column that counts lost pulls: the last one."""
        return AFTER + self.evidence.extra

    @property
    def extra(self) -> int:
        """The columns of ``evidence``, and one more."""
        return self.evidence.extra + 1

    def tables(self) -> Any:
        """The tables of ``evidence``."""
        return self.evidence.tables()

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound."""
        self.evidence.fold(_with_largest(history, arm, self.column), lookup, arm, reward)

    def enroll(self, history: History, arm: int) -> None:
        """Start to collect the arm's own evidence."""
        self.evidence.enroll(history, arm)

    def noise(self, history: History, arm: int) -> float:
        """An estimate of the variance of the arm's rewards."""
        return self.evidence.noise(history, arm)

    def evidence_below(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln F(x), with lost pulls as the largest reward."""
        return self.evidence.evidence_below(_with_largest(history, arm, self.column), lookup, arm, x)

    def evidence_above(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln M(x), with lost pulls as the smallest reward."""
        return self.evidence.evidence_above(history, lookup, arm, x)


def lost_column(algorithm: Any) -> int:
    """The column in which this algorithm counts lost pulls; 0 if it does not.

    Examples
    --------
    >>> lost_column(None)
    0
    """
    part = getattr(algorithm, "evidence", None) or getattr(algorithm, "confidence", None)
    return getattr(part, "column", 0)
