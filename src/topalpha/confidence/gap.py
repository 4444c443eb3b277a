"""Evidence from mixtures of likelihood ratios at several gaps, for rewards of a one-parameter family."""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.confidence.gap_evidence import gap_grid, gap_upper, log_above, log_below
from topalpha.families.protocols import EvidenceFamily
from topalpha.rules.columns import PULLS_THEN, SUM_THEN, UPPER
from topalpha.rules.protocol import SUM, History

# The grids. None of these affects the guarantee. docs/reproduction.md explains how they were chosen, and how little
# that matters beyond the rows it was done on.
_FIRST_GAP, _GAP_RATIO = 0.6, 2.0  # gaps below x: .6 epsilon, doubled up to the family's largest; weights 1/gap
_LEADER_GAPS = (0.25, 0.5, 1.0, 2.0)  # gaps above x - epsilon, in units of epsilon
_LEADER_WEIGHTS = (0.2, 0.3, 0.3, 0.2)


class Gaps(NamedTuple):
    """The grids of gaps, below for challengers and above for leaders."""

    gaps: MutableSequence[float]
    log_weights: MutableSequence[float]
    leader_gaps: MutableSequence[float]
    leader_log_weights: MutableSequence[float]


class GapEvidence(NamedTuple):
    """Likelihood ratios against every mean, with the grid for ``epsilon``; ``threshold`` is ln(1/delta_u).

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> evidence = GapEvidence(Bernoulli(), 0.1, 0.5)
    >>> history = History(1, 1, [1], [[0.0], [0.0], [0.0], [0.0], [0.0]], [])
    >>> evidence.fold(history, evidence.tables(), 0, 0.0)
    >>> 0.0 < history.stats[UPPER][0] < 1.0
    True
    """

    family: EvidenceFamily
    epsilon: float
    threshold: float

    @property
    def extra(self) -> int:
        """No further columns."""
        return 0

    def tables(self) -> Gaps:
        """The grids of gaps."""
        unit = self.family.gap_unit(self.epsilon)
        gaps = [_FIRST_GAP * unit, _FIRST_GAP * _GAP_RATIO * unit]
        while gaps[-1] * _GAP_RATIO <= self.family.largest_gap():
            gaps.append(gaps[-1] * _GAP_RATIO)
        leader_gaps = [gap * unit for gap in _LEADER_GAPS]
        if unit == self.epsilon or (math.isfinite(self.family.highest) and math.isfinite(self.family.lowest)):
            grid = gap_grid(gaps, [1.0 / gap for gap in gaps])
            leader = gap_grid(leader_gaps, _LEADER_WEIGHTS)
        else:  # the scale of the means is unknown, and so is epsilon's in the family's gaps
            grid = gap_grid(gaps, [1.0] * len(gaps))
            while leader_gaps[-1] * _GAP_RATIO <= self.family.largest_gap():
                leader_gaps.append(leader_gaps[-1] * _GAP_RATIO)
            leader = gap_grid(leader_gaps, [1.0] * len(leader_gaps))
        return Gaps(grid.gaps, grid.log_weights, leader.gaps, leader.log_weights)

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound."""
        pulls = history.pulls[arm]
        before = history.stats[UPPER][arm] if pulls > 1 else self.family.highest
        if reward < before:  # a reward at or above the bound is evidence for it
            total = history.stats[SUM][arm]
            before = gap_upper(self.family, total, pulls, self.threshold, lookup.gaps, lookup.log_weights, before)
        history.stats[UPPER][arm] = before

    def enroll(self, history: History, arm: int) -> None:
        """Store pulls and sum of rewards at this moment."""
        history.stats[PULLS_THEN][arm] = history.pulls[arm]
        history.stats[SUM_THEN][arm] = history.stats[SUM][arm]

    def noise(self, history: History, arm: int) -> float:
        """The family's estimate from pulls and sum of rewards."""
        return self.family.spread(history.stats[SUM][arm], history.pulls[arm])

    def evidence_below(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln F(x)."""
        total, pulls = history.stats[SUM][arm], history.pulls[arm]
        return log_below(self.family, x, total, pulls, lookup.gaps, lookup.log_weights)[0]

    def evidence_above(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln M(x), from the rewards since registration."""
        return log_above(
            self.family,
            x,
            history.stats[SUM][arm],
            history.pulls[arm],
            history.stats[SUM_THEN][arm],
            int(history.stats[PULLS_THEN][arm]),
            lookup.leader_gaps,
            lookup.leader_log_weights,
        )
