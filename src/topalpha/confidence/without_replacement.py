"""Bounds and evidence for pass-fail scores on finitely many items: one-sided mixtures of shifted scores.

The mixtures of :mod:`topalpha.confidence.shifts` increase with the tested score, so the scores that they do not reject
form a half-line: an upper bound. Failures in place of passes give the lower bound.

A score is the double nearest to K/M; all comparisons are between such numbers, so rounding cannot move a score across
a bound. A score that the tried items already rule out is rejected with infinite evidence.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.arithmetic import power
from topalpha.confidence.shifts import first_at_least, log_factorials, log_shifts, shift_grid, shift_upper
from topalpha.rules.columns import LOWER, PULLS_THEN, SUM_THEN, UPPER
from topalpha.rules.protocol import SUM, History

# Shifts for bounds: eight from half of epsilon to half of the items, and 1 and 2, which matter late and for rare
# passes. The weights of these two widen a bound in the middle by a thousandth.
_SIZE, _LARGEST, _SINGLES = 8, 0.5, 0.05
# Shifts for joint evidence, in units of epsilon: as for one-parameter families (confidence/gap.py).
_FIRST_GAP, _GAP_RATIO, _LARGEST_GAP = 0.6, 2.0, 0.6
_LEADER_GAPS = (0.25, 0.5, 1.0, 2.0)
_LEADER_WEIGHTS = (0.2, 0.3, 0.3, 0.2)
# The lower bound is computed and stored once the evidence is within this many nats of the threshold.
_CLOSE = 1.0


class ShiftTables(NamedTuple):
    """ln k! for k up to the number of items, and the shifts: one list for bounds, or one per side for evidence."""

    log_factorials: MutableSequence[float]
    shifts: MutableSequence[int]
    shift_log_weights: MutableSequence[float]
    leader_shifts: MutableSequence[int]
    leader_log_weights: MutableSequence[float]


class WithoutReplacementBounds(NamedTuple):
    """Running bounds of a score on a test set drawn without replacement, with the shifts for ``epsilon``.

    Examples
    --------
    >>> bounds = WithoutReplacementBounds(4, 0.25, 1.0, 5.0)
    >>> history = History(4, 1, [4], [[3.0], [1.0], [0.0]], [])
    >>> bounds.fold(history, bounds.tables(), 0, 1.0)
    >>> history.stats[UPPER][0], bounds.lower_now(history, bounds.tables(), 0)
    (0.75, 0.75)
    """

    items: int
    epsilon: float
    upper_threshold: float
    lower_threshold: float

    @property
    def extra(self) -> int:
        """No further columns."""
        return 0

    def tables(self) -> ShiftTables:
        """Log-factorials, and the shifts of both sides."""
        first = min(0.5 * self.epsilon, _LARGEST)
        ratio = power(_LARGEST / first, 1.0 / (_SIZE - 1))
        gaps = [1.0 / self.items, 2.0 / self.items, *(first * power(ratio, index) for index in range(_SIZE))]
        weights = [_SINGLES, _SINGLES, *([(1.0 - 2.0 * _SINGLES) / _SIZE] * _SIZE)]
        shifts, log_weights = shift_grid(self.items, gaps, weights)
        return ShiftTables(log_factorials(self.items), shifts, log_weights, [0], [0.0])

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound; after the last item both bounds are the score."""
        pulls = history.pulls[arm]
        total = history.stats[SUM][arm]
        if pulls == 1:
            history.stats[UPPER][arm] = 1.0
            history.stats[LOWER][arm] = 0.0
        if pulls == self.items:
            history.stats[UPPER][arm] = total / self.items
            history.stats[LOWER][arm] = total / self.items
        elif reward < 0.5:  # a pass is evidence for a high score, never against one
            before = int(history.stats[UPPER][arm] * self.items + 0.5)
            passes = int(total + 0.5)
            table, shifts, weights = lookup.log_factorials, lookup.shifts, lookup.shift_log_weights
            count = shift_upper(table, shifts, weights, passes, pulls, self.upper_threshold, before)
            history.stats[UPPER][arm] = count / self.items

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the running lower bound is at least ``target``; it is computed and stored only when it is close."""
        if target <= history.stats[LOWER][arm]:
            return True
        count = first_at_least(target, self.items) - 1  # the best score below the target
        if count > self.items - 1:
            return False
        pulls = history.pulls[arm]
        failures = pulls - int(history.stats[SUM][arm] + 0.5)
        table, shifts, weights = lookup.log_factorials, lookup.shifts, lookup.shift_log_weights
        evidence = log_shifts(table, shifts, weights, failures, pulls, 0, 0, self.items - count)
        short = self.lower_threshold - evidence
        if 0.0 < short < _CLOSE:
            history.stats[LOWER][arm] = self.lower_now(history, lookup, arm)
        return short <= 0.0

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far: the upper bound of the failures, reflected."""
        pulls = history.pulls[arm]
        failures = pulls - int(history.stats[SUM][arm] + 0.5)
        before = self.items - int(history.stats[LOWER][arm] * self.items + 0.5)
        table, shifts, weights = lookup.log_factorials, lookup.shifts, lookup.shift_log_weights
        count = shift_upper(table, shifts, weights, failures, pulls, self.lower_threshold, before)
        return (self.items - count) / self.items


class ShiftEvidence(NamedTuple):
    """Evidence about a score on a test set drawn without replacement; ``threshold`` is ln(1/delta_u).

    Examples
    --------
    >>> evidence = ShiftEvidence(10, 0.1, 0.5)
    >>> history = History(1, 1, [1], [[0.0], [0.0], [0.0], [0.0], [0.0]], [])
    >>> evidence.fold(history, evidence.tables(), 0, 0.0)
    >>> history.stats[UPPER][0]
    0.7
    """

    items: int
    epsilon: float
    threshold: float

    @property
    def extra(self) -> int:
        """No further columns."""
        return 0

    def tables(self) -> ShiftTables:
        """Log-factorials, the shifts down for challengers and up for leaders."""
        gaps = [_FIRST_GAP * self.epsilon, _FIRST_GAP * _GAP_RATIO * self.epsilon]
        while gaps[-1] * _GAP_RATIO <= _LARGEST_GAP:
            gaps.append(gaps[-1] * _GAP_RATIO)
        shifts, log_weights = shift_grid(self.items, gaps, [1.0 / gap for gap in gaps])
        leader_gaps = [gap * self.epsilon for gap in _LEADER_GAPS]
        leader_shifts, leader_log_weights = shift_grid(self.items, leader_gaps, _LEADER_WEIGHTS)
        return ShiftTables(log_factorials(self.items), shifts, log_weights, leader_shifts, leader_log_weights)

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound."""
        pulls = history.pulls[arm]
        if pulls == 1:
            history.stats[UPPER][arm] = 1.0
        if reward < 0.5:  # a pass is evidence for a high score, never against one
            before = int(history.stats[UPPER][arm] * self.items + 0.5)
            passes = int(history.stats[SUM][arm] + 0.5)
            table, shifts, weights = lookup.log_factorials, lookup.shifts, lookup.shift_log_weights
            history.stats[UPPER][arm] = (
                shift_upper(table, shifts, weights, passes, pulls, self.threshold, before) / self.items
            )

    def enroll(self, history: History, arm: int) -> None:
        """Store pulls and passes at this moment."""
        history.stats[PULLS_THEN][arm] = history.pulls[arm]
        history.stats[SUM_THEN][arm] = history.stats[SUM][arm]

    def noise(self, history: History, arm: int) -> float:
        """The variance of one draw, times the fraction of items left."""
        pulls = history.pulls[arm]
        share = (history.stats[SUM][arm] + 0.5) / (pulls + 1.0)
        return share * (1.0 - share) * max(self.items - pulls, 0.5) / self.items

    def evidence_below(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln F(x): the null is every score of at least x."""
        passes = int(history.stats[SUM][arm] + 0.5)
        count = first_at_least(x, self.items)
        table, shifts, weights = lookup.log_factorials, lookup.shifts, lookup.shift_log_weights
        return log_shifts(table, shifts, weights, passes, history.pulls[arm], 0, 0, count)

    def evidence_above(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln M(x), from the items since registration: the null is every score below x."""
        pulls, pulls_then = history.pulls[arm], int(history.stats[PULLS_THEN][arm])
        failures = pulls - int(history.stats[SUM][arm] + 0.5)
        failures_then = pulls_then - int(history.stats[SUM_THEN][arm] + 0.5)
        count = self.items + 1 - first_at_least(x, self.items)  # the fewest failures of a score below x
        table, shifts, weights = lookup.log_factorials, lookup.leader_shifts, lookup.leader_log_weights
        return log_shifts(table, shifts, weights, failures, pulls, failures_then, pulls_then, count)
