"""Bounds from one-sided tilt mixtures: the tightest for rewards of a one-parameter family (docs/proofs.md, C)."""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.confidence.tilt_bounds import log_mixture, tilt_bound, tilt_grid
from topalpha.families.protocols import RewardFamily
from topalpha.rules.columns import LOWER, UPPER
from topalpha.rules.protocol import SUM, History

# The lower bound is computed and stored once the evidence is within this many nats of the threshold.
_CLOSE = 1.0


class Tilts(NamedTuple):
    """The grids of tilts, with the values that the inner loop needs."""

    down_tilts: MutableSequence[float]
    down_growths: MutableSequence[float]
    up_tilts: MutableSequence[float]
    up_growths: MutableSequence[float]
    log_weights: MutableSequence[float]


class TiltBounds(NamedTuple):
    """Running bounds from tilt mixtures with the grid for ``epsilon``.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> bounds = TiltBounds(Bernoulli(), 0.05, 1.0, 5.0)
    >>> history = History(1, 1, [1], [[0.0], [0.0], [0.0]], [])
    >>> bounds.fold(history, bounds.tables(), 0, 0.0)
    >>> round(history.stats[UPPER][0], 3), bounds.lower_now(history, bounds.tables(), 0)
    (0.865, 0.0)
    """

    family: RewardFamily
    epsilon: float
    upper_threshold: float
    lower_threshold: float

    @property
    def extra(self) -> int:
        """No further columns."""
        return 0

    def tables(self) -> Tilts:
        """The grids of tilts, down for the upper bound and up for the lower one."""
        down = tilt_grid(self.family, self.epsilon, -1)
        up = tilt_grid(self.family, self.epsilon, 1)
        return Tilts(down.tilts, down.growths, up.tilts, up.growths, up.log_weights)

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound."""
        pulls = history.pulls[arm]
        if pulls == 1:
            history.stats[UPPER][arm] = self.family.highest
            history.stats[LOWER][arm] = self.family.lowest
        before = history.stats[UPPER][arm]
        # A reward fits best with the mean equal to it: a reward at or above the bound is evidence for the bound against
        # everything below it, so the mixture cannot lower it.
        if reward < before:
            history.stats[UPPER][arm] = tilt_bound(
                self.family,
                history.stats[SUM][arm],
                pulls,
                self.upper_threshold,
                lookup.down_tilts,
                lookup.down_growths,
                lookup.log_weights,
                before,
            )

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the running lower bound is at least ``target``.

        One evaluation of the evidence against ``target`` decides. The bound itself is computed and stored only when the
        evidence is close to the threshold, because only then can an earlier bound matter.
        """
        if target <= history.stats[LOWER][arm]:
            return True
        total = history.stats[SUM][arm]
        pulls = history.pulls[arm]
        if target > total / pulls:
            return False
        up, growths, weights = lookup.up_tilts, lookup.up_growths, lookup.log_weights
        short = self.lower_threshold - log_mixture(self.family, target, total, pulls, up, growths, weights)[0]
        if 0.0 < short < _CLOSE:
            history.stats[LOWER][arm] = self.lower_now(history, lookup, arm)
        return short <= 0.0

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far."""
        return tilt_bound(
            self.family,
            history.stats[SUM][arm],
            history.pulls[arm],
            self.lower_threshold,
            lookup.up_tilts,
            lookup.up_growths,
            lookup.log_weights,
            history.stats[LOWER][arm],
        )
