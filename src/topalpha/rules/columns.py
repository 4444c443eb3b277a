"""What an algorithm asks of a reward model beside its means: bounds for cc-lucb, evidence for joint-lucb.

Both are ``NamedTuple`` classes of scalars whose methods stay inside the compiled subset, like the algorithms that hold
them as a field. What they keep per arm lives in columns of ``History.stats``; what they look up lives in ``tables()``,
a NamedTuple of non-empty lists that is made afresh with the scratch memory and never changes a decision.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from topalpha.rules.protocol import History

#: Columns of ``History.stats`` beside the sum of rewards: the running bounds. Further ones start at ``EXTRA``.
UPPER, LOWER, EXTRA = 1, 2, 3

#: Columns of an algorithm that registers leaders: the place j in the order of registration (0: not registered); pulls
#: and sum of rewards that are no evidence; and how many pulls had been asked for at registration, all of which are
#: none. Further columns start at ``AFTER``.
PLACE, PULLS_THEN, SUM_THEN, ASKED_THEN, AFTER = 2, 3, 4, 5, 6


@runtime_checkable
class ConfidenceBounds(Protocol):
    """Time-uniform bounds of one arm's mean, intersected over time (docs/proofs.md, D.1: H2 and H3)."""

    @property
    def upper_threshold(self) -> float:
        """ln(1/level) of the upper bound."""

    @property
    def lower_threshold(self) -> float:
        """ln(1/level) of the lower bound."""

    @property
    def extra(self) -> int:
        """How many columns from ``EXTRA`` on it keeps."""

    def tables(self) -> Any:
        """What it looks up."""

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Bring the arm's running upper bound up to date with this reward, which pulls and sum already count.

        At the first reward both running bounds start from the ends of the range of means.
        """

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the arm's running lower bound is at least ``target``; it may update that bound."""

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, with what the rewards so far say."""


@runtime_checkable
class JointEvidence(Protocol):
    """Supermartingales against every mean x at once, for the joint certificate (docs/proofs.md, E.1)."""

    @property
    def extra(self) -> int:
        """How many columns from ``AFTER`` on it keeps."""

    def tables(self) -> Any:
        """What it looks up."""

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Bring the arm's running upper bound, and what else it keeps, up to date with this reward."""

    def enroll(self, history: History, arm: int) -> None:
        """Begin, or begin again, to collect evidence of the arm's own: from the rewards after those that count now."""

    def noise(self, history: History, arm: int) -> float:
        """An estimate of the variance of the arm's rewards, positive even after one."""

    def evidence_below(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln F(x): how strongly the arm's rewards say that its mean is less than x; increases with x."""

    def evidence_above(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln M(x): how strongly its rewards since registration say that its mean exceeds x; decreases with x."""
