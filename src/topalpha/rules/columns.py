"""The parts of an algorithm that depend on the reward model: bounds for cc-lucb, evidence for joint-lucb.

Both are ``NamedTuple`` classes of scalars whose methods stay in the compiled subset; an algorithm holds one as a field.
Per-arm values are columns of ``History.stats``. ``tables()`` returns constants: a NamedTuple of non-empty lists that is
built with the scratch memory.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from topalpha.rules.protocol import History

#: Columns of ``History.stats`` after the sum of rewards: the running bounds. Further columns start at ``EXTRA``.
UPPER, LOWER, EXTRA = 1, 2, 3

#: Columns of an algorithm that registers leaders: the place j in the order of registration (0: not registered); pulls
#: and sum of rewards that are not evidence; and the pulls asked for before registration, which are not either. Further
#: columns start at ``AFTER``.
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
        """The number of columns from ``EXTRA`` on."""

    def tables(self) -> Any:
        """The constants."""

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the arm's running upper bound with this reward, which pulls and sum already count.

        At the first reward both running bounds start from the ends of the range of means.
        """

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the arm's running lower bound is at least ``target``; it may update that bound."""

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far."""


@runtime_checkable
class JointEvidence(Protocol):
    """Supermartingales against every mean x at once, for the joint certificate (docs/proofs.md, E.1)."""

    @property
    def extra(self) -> int:
        """The number of columns from ``AFTER`` on."""

    def tables(self) -> Any:
        """The constants."""

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the arm's running upper bound and the other columns with this reward."""

    def enroll(self, history: History, arm: int) -> None:
        """Begin (again) to collect the arm's own evidence, from the rewards after those counted now."""

    def noise(self, history: History, arm: int) -> float:
        """An estimate of the variance of the arm's rewards, positive even after one reward."""

    def evidence_below(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln F(x): evidence from the arm's rewards that its mean is less than x; increases with x."""

    def evidence_above(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln M(x): evidence from its rewards since registration that its mean exceeds x; decreases with x."""
