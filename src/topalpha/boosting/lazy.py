"""Features that are functions, drawn at random and evaluated only on the rows that a search looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topalpha.boosting.rows import FITTED_ROWS, Stump, WeightedRows, compiled_pass
from topalpha.engine import InterpretedRun
from topalpha.rules.weighted_rows import best_stump
from topalpha.validate import require

#: How many rows a feature is evaluated on at a time, if it is needed on all rows.
BLOCK = 8192


def evaluate(feature: Callable[[Any], Any], table: Any) -> NDArray[np.float64]:
    """The feature's values on these rows, checked.

    Examples
    --------
    >>> evaluate(lambda rows: rows.sum(axis=1), np.ones((2, 3))).tolist()
    [3.0, 3.0]
    >>> evaluate(lambda rows: rows.sum(), np.ones((2, 3)))
    Traceback (most recent call last):
    ValueError: a feature function must return one number for each of the 2 rows, got shape ()
    """
    table = table.view()
    table.flags.writeable = False  # a function that worked in place would change the data
    values = np.asarray(feature(table), dtype=np.float64)
    if values.shape != (len(table),):
        raise ValueError(
            f"a feature function must return one number for each of the {len(table)} rows, got shape {values.shape}"
        )
    require(bool(np.isfinite(values).all()), "a feature function", "return finite numbers", feature)
    return values


def evaluate_all(feature: Callable[[Any], Any], table: Any) -> NDArray[np.float64]:
    """The same in blocks, so that temporary arrays stay small.

    Examples
    --------
    >>> evaluate_all(lambda rows: rows[:, 0], np.zeros((3, 2))).tolist()
    [0.0, 0.0, 0.0]
    """
    blocks = range(0, len(table), BLOCK)
    return np.concatenate([evaluate(feature, table[first : first + BLOCK]) for first in blocks])


class LazyRows(WeightedRows):
    """Rows whose features are functions of rows, drawn by ``draw(rng)``.

    A function must always return the same number for a row, regardless of the other rows.

    Examples
    --------
    >>> table, labels = np.arange(8.0).reshape(4, 2), np.array([0, 0, 1, 1])
    >>> def draw(rng):
    ...     direction = rng.normal(size=2)
    ...     return lambda block: block @ direction
    >>> rows = LazyRows(draw, table, labels, np.ones(4), 2, np.random.default_rng(0))
    >>> world = rows.world(1)
    >>> 0.0 <= world.sample_sum(0.0, 10, rows.rng) <= 10.0
    True
    """

    runner = InterpretedRun

    def __init__(
        self,
        draw: Callable[[Generator], Any],
        table: NDArray[Any],
        labels: NDArray[Any],
        weights: NDArray[np.float64],
        kinds: int,
        rng: Generator,
    ) -> None:
        super().__init__(labels, weights, kinds, rng)
        self.draw = draw
        self.table = table

    def column(self, feature: Any) -> NDArray[np.float64]:
        """The feature's values on every row."""
        return evaluate_all(feature, self.table)

    def world(self, arms: int) -> LazyWorld:
        """An interpreted world."""
        return LazyWorld(self)

    def stump(self, world: LazyWorld, arm: int) -> Stump:
        """The stump, from the world's list."""
        return world.stumps[arm]

    def take(self, count: int) -> NDArray[Any]:
        """The next ``count`` drawn rows."""
        first = compiled_pass("take_rows")(count, self.weights, self.rng, self.spacings, self.rows, self.cursor)
        return self.rows[first : first + count]


class LazyWorld:
    """Pulls of stumps on lazy features: each looks at a new row; see :class:`topalpha.boosting.world`."""

    def __init__(self, data: LazyRows) -> None:
        self.data = data
        self.stumps: list[Stump] = []

    def draw_stump(self) -> Stump:
        """A feature, and the best stump on it for a few new rows."""
        feature = self.data.draw(self.data.rng)
        require(callable(feature), "features", "draw functions of rows", feature)
        rows = self.data.take(FITTED_ROWS)
        values = evaluate(feature, self.data.table[rows])
        order = np.argsort(values, kind="stable")
        classes = self.data.labels[rows][order].tolist()
        return Stump(feature, *best_stump(values[order].tolist(), classes, [0] * (2 * self.data.kinds)))

    def sample_sum(self, mean: float, count: int, rng: Any) -> float:
        """The sum of ``count`` pulls of arm number ``mean``."""
        arm = int(mean)
        if arm == len(self.stumps):
            self.stumps.append(self.draw_stump())
        stump = self.stumps[arm]
        rows = self.data.take(count)
        values = evaluate(stump.feature, self.data.table[rows])
        guesses = np.where(values <= stump.cut, stump.left, stump.right)
        return float(np.count_nonzero(guesses == self.data.labels[rows]))

    def sample(self, mean: float, rng: Any) -> float:
        """One pull."""
        return self.sample_sum(mean, 1, rng)
