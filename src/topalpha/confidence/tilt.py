"""Bounds from one-sided tilt mixtures: the tightest for rewards of a one-parameter family (docs/proofs.md, C)."""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.confidence.tilt_bounds import log_mixture, tilt_bound, tilt_grid
from topalpha.families.protocols import RewardFamily
from topalpha.rules.columns import LOWER, UPPER
from topalpha.rules.protocol import SUM, History

# How many nats short of the threshold the evidence is when the lower bound begins to be remembered.
_CLOSE = 1.0


class Tilts(NamedTuple):
    """The grids of tilts with what the inner loop needs of them."""

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
        """None."""
        return 0

    def tables(self) -> Tilts:
        """The grids of tilts, down for the upper bound and up for the lower one."""
        down = tilt_grid(self.family, self.epsilon, -1)
        up = tilt_grid(self.family, self.epsilon, 1)
        return Tilts(down.tilts, down.growths, up.tilts, up.growths, up.log_weights)

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Bring the running upper bound up to date."""
        pulls = history.pulls[arm]
        if pulls == 1:
            history.stats[UPPER][arm] = self.family.highest
            history.stats[LOWER][arm] = self.family.lowest
        before = history.stats[UPPER][arm]
        # No mean fits a reward better than the one equal to it: a reward at or above the bound speaks for the bound
        # against everything below it, so the mixture cannot lower it.
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

        One evaluation of the evidence against ``target`` decides; the bound itself is computed, and remembered, only
        when that comes close, since an earlier bound can matter only then.
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
        """The running lower bound, with what the rewards so far say."""
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
