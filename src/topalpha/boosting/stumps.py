"""Weighted rows, and searches among stumps on them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topalpha.boosting.world import StumpWorld
from topalpha.core import Algorithm
from topalpha.engine import STOPPED, Run
from topalpha.engine.compile import compiled
from topalpha.weighted import mark_errors, reweigh

#: How many rows a stump is fitted to when it is drawn.
FITTED_ROWS = 32
# Rows are drawn so many at once at least, and at most.
_FEWEST, _MOST = 1 << 14, 1 << 19


class Stump(NamedTuple):
    """Class number ``left`` where the feature is at most ``cut``, class number ``right`` where it is more."""

    feature: int
    cut: float
    left: int
    right: int


class Found(NamedTuple):
    """How a search ended: with which stump, whether its stopping rule was met, the state it ended in, and its cost."""

    stump: Stump
    stopped: bool
    state: list[float]
    arms: int
    pulls: int


@cache
def _mark_errors() -> Any:
    return compiled(mark_errors)


@cache
def _reweigh() -> Any:
    return compiled(reweigh)


class StumpRows:
    """The training rows with their weights; ``columns[f, i]`` is feature f of row i."""

    def __init__(
        self, columns: NDArray[Any], labels: NDArray[np.int16], weights: NDArray[np.float64], kinds: int, rng: Any
    ) -> None:
        self.columns = columns
        self.labels = labels
        self.weights = weights / weights.sum()
        self.kinds = kinds
        self.rng = rng
        self.wrong: NDArray[np.float64] = np.zeros(len(labels))
        self.draw_at_once(_FEWEST)
        self._room = np.zeros(FITTED_ROWS), np.zeros(FITTED_ROWS, dtype=np.int64), np.zeros(2 * kinds, np.int64)

    def draw_at_once(self, count: int) -> None:
        """Draw about so many rows at a time from now on."""
        count = min(max(count, _FEWEST), _MOST)
        self.rows: NDArray[np.int32] = np.zeros(count, dtype=np.int32)
        self.spacings: NDArray[np.float64] = np.zeros(count)

    def search(self, algorithm: Algorithm, most_pulls: int) -> Found:
        """Run the algorithm on fresh stumps, with at most about so many pulls."""
        count = algorithm.arms
        world = StumpWorld(
            self.columns,
            self.labels,
            self.weights,
            self.rows,
            self.spacings,
            np.full(1, len(self.rows)),
            np.full(count, -1),
            np.zeros(count),
            np.zeros(count, dtype=np.int64),
            np.zeros(count, dtype=np.int64),
            *self._room,
        )
        run = Run(algorithm, world)
        run.add_arms(np.arange(count, dtype=np.float64))
        status = run.advance(self.rng, self.rng, most_pulls)
        arm, history = run.recommend(), run.history
        stump = Stump(int(world.features[arm]), float(world.cuts[arm]), int(world.left[arm]), int(world.right[arm]))
        return Found(stump, status == STOPPED, [float(one) for one in history.state], history.arms, history.t)

    def edge(self, stump: Stump) -> float:
        """The stump's weighted accuracy less that of guessing, 1/K; remembers where it errs."""
        _mark_errors()(self.columns[stump.feature], self.labels, self.weights, *stump[1:], self.wrong)
        return float(1.0 - self.wrong.sum() - 1.0 / self.kinds)

    def boost(self, estimator_weight: float) -> None:
        """AdaBoost's weights after a stump of this weight, the last whose edge was asked for; they add up to 1."""
        error = float(self.wrong.sum())
        growth = float(np.exp(estimator_weight))
        whole = (1.0 - error) + error * growth
        _reweigh()(self.weights, self.wrong, 1.0 / whole, growth / whole)
        self.weights /= self.weights.sum()
