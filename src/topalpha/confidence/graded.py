"""Bounds and evidence for scores in [0, 1] on finitely many items tried without replacement (docs/proofs.md, C.8).

The bets are those of :mod:`topalpha.confidence.bernstein`, each on the mean of the items that are left: if the mean of
all M items is at least x, and the first N - 1 of them have the sum S, that of the others is at least
(M x - S) / (M - N + 1). What the items that were tried already rule out is rejected at once, so that after the last
item both bounds are the score.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.confidence.bernstein import CLOSE, SUMS, Bets, bet_bound, bet_grid, log_bets, place_bets
from topalpha.rules.columns import AFTER, EXTRA, LOWER, PULLS_THEN, SUM_THEN, UPPER
from topalpha.rules.protocol import SUM, History

# Sums of scores are rounded: a mean is ruled out if it is this far beyond the possible ones.
_ROUNDING = 1e-12


def largest_possible(total: float, pulls: int, items: int) -> float:
    """The mean over all items if every item left gives 1; exactly the score once none is left.

    Examples
    --------
    >>> largest_possible(1.5, 2, 4), largest_possible(1.5, 4, 4)
    (0.875, 0.375)
    """
    return min((total + (items - pulls)) / items, 1.0)


class GradedBounds(NamedTuple):
    """Running bounds of the mean score on a test set drawn without replacement, with the gaps for ``epsilon``.

    Examples
    --------
    >>> bounds = GradedBounds(4, 0.25, 1.0, 5.0)
    >>> history = History(0, 1, [0], [[0.0] for _ in range(16)], [])
    >>> for score in (0.5, 0.75, 1.0, 0.25):
    ...     history.pulls[0] += 1
    ...     history.stats[SUM][0] += score
    ...     bounds.fold(history, bounds.tables(), 0, score)
    >>> history.stats[UPPER][0], bounds.lower_now(history, bounds.tables(), 0)
    (0.625, 0.625)
    """

    items: int
    epsilon: float
    upper_threshold: float
    lower_threshold: float

    @property
    def extra(self) -> int:
        """The columns for the sum of squared deviations, and three sums per gap."""
        return 1 + SUMS

    def tables(self) -> Bets:
        """The gaps."""
        return Bets(bet_grid(self.epsilon))

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the sums and the running upper bound."""
        pulls = history.pulls[arm]
        if pulls == 1:
            history.stats[UPPER][arm] = 1.0
            history.stats[LOWER][arm] = 0.0
        place_bets(history.stats, EXTRA, arm, pulls, reward, lookup.bet_gaps, self.items)
        ceiling = largest_possible(history.stats[SUM][arm], pulls, self.items)
        if pulls < self.items:
            before = history.stats[UPPER][arm]
            ceiling = min(ceiling, bet_bound(history.stats, EXTRA, arm, 1.0, self.upper_threshold, before))
        history.stats[UPPER][arm] = ceiling

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the running lower bound is at least ``target``; it is computed and stored only when it is close."""
        if target <= max(history.stats[LOWER][arm], history.stats[SUM][arm] / self.items):
            return True
        short = self.lower_threshold - log_bets(history.stats, EXTRA, 0, arm, -1.0, target)[0]
        if 0.0 < short < CLOSE:
            history.stats[LOWER][arm] = self.lower_now(history, lookup, arm)
        return short <= 0.0

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far."""
        least = max(history.stats[LOWER][arm], history.stats[SUM][arm] / self.items)
        if history.pulls[arm] == self.items:
            return history.stats[SUM][arm] / self.items
        return bet_bound(history.stats, EXTRA, arm, -1.0, self.lower_threshold, least)


class GradedEvidence(NamedTuple):
    """Evidence about a mean score on a test set drawn without replacement; ``threshold`` is ln(1/delta_u).

    Examples
    --------
    >>> evidence = GradedEvidence(10, 0.1, 0.5)
    >>> history = History(1, 1, [1], [[0.0] for _ in range(30)], [])
    >>> evidence.fold(history, evidence.tables(), 0, 0.0)
    >>> 0.0 < history.stats[UPPER][0] <= 0.9
    True
    """

    items: int
    epsilon: float
    threshold: float

    @property
    def extra(self) -> int:
        """The columns for the sum of squared deviations, three sums per gap, and their values at registration."""
        return 1 + 2 * SUMS

    def tables(self) -> Bets:
        """The gaps."""
        return Bets(bet_grid(self.epsilon))

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the sums and the running upper bound."""
        pulls = history.pulls[arm]
        before = history.stats[UPPER][arm] if pulls > 1 else 1.0
        place_bets(history.stats, AFTER, arm, pulls, reward, lookup.bet_gaps, self.items)
        ceiling = largest_possible(history.stats[SUM][arm], pulls, self.items)
        history.stats[UPPER][arm] = min(ceiling, bet_bound(history.stats, AFTER, arm, 1.0, self.threshold, before))

    def enroll(self, history: History, arm: int) -> None:
        """Store all sums at this moment: their later growth is evidence from later rewards only."""
        history.stats[PULLS_THEN][arm] = history.pulls[arm]
        history.stats[SUM_THEN][arm] = history.stats[SUM][arm]
        for index in range(SUMS):
            history.stats[AFTER + 1 + SUMS + index][arm] = history.stats[AFTER + 1 + index][arm]

    def noise(self, history: History, arm: int) -> float:
        """The variance that bets are based on, times the fraction of items left."""
        pulls = history.pulls[arm]
        return (history.stats[AFTER][arm] + 0.25) / (pulls + 1.0) * max(self.items - pulls, 0.5) / self.items

    def evidence_below(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln F(x): the null is every mean of at least x."""
        total, pulls = history.stats[SUM][arm], history.pulls[arm]
        if x > (total + (self.items - pulls)) / self.items + _ROUNDING:
            return math.inf
        return log_bets(history.stats, AFTER, 0, arm, 1.0, x)[0]

    def evidence_above(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln M(x), from the items since registration: the null is every mean of at most x."""
        if x < history.stats[SUM][arm] / self.items - _ROUNDING:
            return math.inf
        return log_bets(history.stats, AFTER, AFTER + 1 + SUMS, arm, -1.0, x)[0]
