"""Arms on weighted rows: draws of rows that pulls use up, and stumps that are drawn when an algorithm wants them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topalpha.boosting.passes import compiled_pass
from topalpha.boosting.world import StumpWorld, best_stump, draw_stumps, sort_values
from topalpha.engine.compile import compiled

#: How many rows a stump is fitted to when it is drawn.
FITTED_ROWS = 32


class Stump(NamedTuple):
    """Class number ``left`` where the feature is at most ``cut``, class number ``right`` where it is more."""

    feature: int
    cut: float
    left: int
    right: int


class WeightedRows:
    """The training rows with their weights, and draws of them.

    ``columns[f, i]`` is feature f of row i.
    """

    def __init__(
        self, columns: NDArray[Any], labels: NDArray[np.int16], weights: NDArray[np.float64], kinds: int, rng: Any
    ) -> None:
        self.columns = columns
        self.labels = labels
        self.weights = weights / weights.sum()
        self.kinds = kinds
        self.rng = rng
        self.wrong: NDArray[np.float64] = np.zeros(len(labels))
        self.rows: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.spacings: NDArray[np.float64] = np.zeros(0)
        self.cursor: NDArray[np.int64] = np.zeros(1, dtype=np.int64)

    @property
    def left(self) -> int:
        """How many draws are not used up."""
        return len(self.rows) - int(self.cursor[0])

    def refill(self, count: int) -> None:
        """Draw ``count`` fresh rows by the present weights; what is left of earlier draws is dropped."""
        if len(self.rows) != count:
            self.rows = np.zeros(count, dtype=np.int64)
            self.spacings = np.zeros(count)
        compiled_pass("draw_rows")(self.weights, float(self.weights.sum()), self.rng, self.spacings, self.rows)
        self.cursor[0] = 0

    def edge(self, stump: Stump) -> float:
        """The stump's weighted accuracy less that of guessing, 1/K; remembers where it errs."""
        mark = compiled_pass("mark_errors")
        mark(self.columns[stump.feature], self.labels, self.weights, *stump[1:], self.wrong)
        return float(1.0 - self.wrong.sum() - 1.0 / self.kinds)

    def boost(self, estimator_weight: float) -> None:
        """AdaBoost's weights after a stump of this weight, the last whose edge was asked for; they add up to 1."""
        error = float(self.wrong.sum())
        growth = float(np.exp(estimator_weight))
        whole = (1.0 - error) + error * growth
        compiled_pass("reweigh")(self.weights, self.wrong, 1.0 / whole, growth / whole)
        self.weights /= self.weights.sum()


@cache
def _draw() -> Any:
    return compiled(draw_stumps, (StumpWorld,), (sort_values, best_stump))


class StumpPool:
    """Stumps drawn from weighted rows, as arms of a compiled world."""

    def __init__(self, data: WeightedRows, most: int) -> None:
        self.data = data
        self.drawn = 0
        self.world = StumpWorld(
            data.columns,
            data.labels,
            data.rows,
            data.cursor,
            np.zeros(most, dtype=np.int64),
            np.zeros(most),
            np.zeros(most, dtype=np.int64),
            np.zeros(most, dtype=np.int64),
        )
        self._room = np.zeros(FITTED_ROWS), np.zeros(FITTED_ROWS, dtype=np.int64), np.zeros(2 * data.kinds, np.int64)

    def draw(self, count: int) -> NDArray[np.float64]:
        """Draw so many further arms; the answer is their numbers, which are their means to the engine."""
        first, self.drawn = self.drawn, self.drawn + count
        _draw()(self.world, first, self.drawn, FITTED_ROWS, *self._room, self.data.rng)
        return np.arange(first, self.drawn, dtype=np.float64)

    def refill(self, count: int) -> None:
        """Fresh rows for further pulls."""
        self.data.refill(count)
        self.world = self.world._replace(rows=self.data.rows)

    def stump(self, arm: int) -> Stump:
        """The stump that is this arm."""
        world = self.world
        return Stump(int(world.features[arm]), float(world.cuts[arm]), int(world.left[arm]), int(world.right[arm]))
