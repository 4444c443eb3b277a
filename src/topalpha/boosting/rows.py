"""Training rows with their weights, and searches for a stump on them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topalpha.boosting.world import StumpWorld
from topalpha.engine import STOPPED, Run
from topalpha.engine.compile import compiled
from topalpha.rules.protocol import SUM, Algorithm, History
from topalpha.rules.weighted_rows import mark_errors, reweigh, take_rows, tally, thin_rows

#: How many stumps a search remembers, for a round that ends without an answer.
REMEMBERED = 8
#: How many new rows a stump is fitted to when it is drawn.
FITTED_ROWS = 128
# The fewest and the most rows drawn at once; no block of pulls exceeds the fewest. In between it is this part of all
# rows: every draw makes a pass over the weights, and every round a pass over the remaining draws.
_FEWEST, _MOST, _PART = 1 << 13, 1 << 19, 1 / 8
# Rounds between two normalisations of the weights; one every round would take as long as AdaBoost's own pass.
_RENEW = 8
_PASSES = {one.__name__: one for one in (mark_errors, reweigh, take_rows, tally, thin_rows)}


@cache
def compiled_pass(name: str) -> Any:
    """One of the passes of :mod:`topalpha.rules.weighted_rows`, compiled.

    Examples
    --------
    >>> weights = np.ones(3)
    >>> compiled_pass("reweigh")(weights, np.array([0.0, 1.0, 0.0]), 0.5, 2.0)
    >>> weights.tolist()
    [0.5, 2.0, 0.5]
    """
    return compiled(_PASSES[name])


class Stump(NamedTuple):
    """A stump: class ``left`` if the feature is at most ``cut``, else class ``right``.

    ``feature`` is a column's number, or a function of rows.

    Examples
    --------
    >>> Stump(2, 0.5, left=0, right=1).cut
    0.5
    """

    feature: Any
    cut: float
    left: int
    right: int


class Found(NamedTuple):
    """The end of a search: the stump, whether the stopping rule was met, the algorithm's state, and the cost.

    ``known()`` returns the stumps most likely to beat guessing, each with its score: the distance of its mean reward
    from that of guessing, in standard deviations of a guess. It proves nothing.
    """

    stump: Stump
    stopped: bool
    state: tuple[float, ...]
    arms: int
    pulls: int
    known: Callable[[], tuple[tuple[float, Stump], ...]]


class WeightedRows(ABC):
    """Rows with classes 0, ..., ``kinds`` - 1 and weights, which are scaled to add up to 1.

    Draws by weight wait in ``rows``, from ``cursor[0]`` on. When the weights change, some of them are dropped at
    random, so that the others are draws by the new weights.
    """

    #: The class that runs a search: compiled, unless worlds are not parameter tuples.
    runner: type[Run] = Run

    def __init__(self, labels: NDArray[Any], weights: NDArray[np.float64], kinds: int, rng: Generator) -> None:
        self.labels = labels.astype(np.int16 if kinds < 2**15 else np.int64)
        self.weights = weights / weights.max()  # first, because the sum of huge weights may be infinite
        self.weights /= self.weights.sum()
        self.kinds = kinds
        self.rng = rng
        self.wrong: NDArray[np.float64] = np.zeros(len(labels))
        self.marked = 0.0
        self.boosts = 0
        at_once = min(max(int(_PART * len(labels)), _FEWEST), _MOST)
        self.rows: NDArray[Any] = np.zeros(at_once, dtype=np.int32 if len(labels) < 2**31 else np.int64)
        self.spacings: NDArray[np.float64] = np.zeros(at_once)
        self.cursor: NDArray[np.int64] = np.full(1, at_once)

    @abstractmethod
    def column(self, feature: Any) -> NDArray[Any]:
        """A feature's values on all rows."""

    @abstractmethod
    def world(self, arms: int) -> Any:
        """A world with this many arms, which are drawn at their first pull."""

    @abstractmethod
    def stump(self, world: Any, arm: int) -> Stump:
        """The stump of this arm of the world."""

    def search(self, algorithm: Algorithm, most_pulls: int) -> Found:
        """Run the algorithm on new stumps; it is cut off after ``most_pulls`` and the block that is running then."""
        world = self.world(algorithm.arms)
        run = self.runner(algorithm, world)
        run.add_arms(np.arange(algorithm.arms, dtype=np.float64))
        status = run.advance(self.rng, self.rng, most_pulls)
        history = run.history
        state = tuple(float(number) for number in history.state)
        stump = self.stump(world, run.recommend())
        return Found(stump, status == STOPPED, state, history.arms, history.t, partial(self.known, world, history))

    def known(self, world: Any, history: History) -> tuple[tuple[float, Stump], ...]:
        """The stumps most likely to beat guessing, with their scores."""
        pulls, totals = (np.asarray(one[: history.arms], dtype=float) for one in (history.pulls, history.stats[SUM]))
        guess = 1.0 / self.kinds
        scores = (totals - guess * pulls) / np.sqrt(np.maximum(pulls, 1.0) * guess * (1.0 - guess))
        best = np.argsort(-scores, kind="stable")[:REMEMBERED]
        return tuple((float(scores[arm]), self.stump(world, int(arm))) for arm in best if pulls[arm] > 0.0)

    def error(self, stump: Stump) -> float:
        """The weight of the rows that the stump classifies wrongly; also marks these rows."""
        column = self.column(stump.feature)
        compiled_pass("mark_errors")(column, self.labels, self.weights, *stump[1:], self.wrong)
        self.marked = float(self.wrong.sum())
        return self.marked

    def boost(self, estimator_weight: float) -> None:
        """Apply AdaBoost's update for a stump of this weight, the last one whose error was computed."""
        growth = math.exp(estimator_weight)
        whole = (1.0 - self.marked) + self.marked * growth
        compiled_pass("reweigh")(self.weights, self.wrong, 1.0 / whole, growth / whole)
        self.boosts += 1
        if self.boosts % _RENEW == 0:
            self.weights /= self.weights.sum()  # 1 up to rounding
        # No search has seen the remaining draws: they are independent of the stump, and so of the new weights.
        self.cursor[0] = compiled_pass("thin_rows")(self.rows, self.cursor[0], self.wrong, 1.0 / growth, self.rng)


class ColumnRows(WeightedRows):
    """Rows of a table; ``columns[f, i]`` is feature f of row i.

    Examples
    --------
    >>> columns, labels = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([0, 1, 1, 0])
    >>> rows = ColumnRows(columns, labels, np.ones(4), 2, np.random.default_rng(0))
    >>> rows.error(Stump(0, 1.5, 0, 1))
    0.25
    >>> rows.boost(math.log(3.0))  # (1 - error) / error: AdaBoost's
    >>> [round(weight, 3) for weight in rows.weights.tolist()]
    [0.167, 0.167, 0.167, 0.5]
    """

    def __init__(
        self, columns: NDArray[Any], labels: NDArray[Any], weights: NDArray[np.float64], kinds: int, rng: Generator
    ) -> None:
        super().__init__(labels, weights, kinds, rng)
        self.columns = columns

    def column(self, feature: Any) -> NDArray[Any]:
        """The row of ``columns`` with this number."""
        column: NDArray[Any] = self.columns[feature]
        return column

    def world(self, arms: int) -> StumpWorld:
        """A compiled world."""
        return StumpWorld(
            columns=self.columns,
            labels=self.labels,
            weights=self.weights,
            rows=self.rows,
            spacings=self.spacings,
            cursor=self.cursor,
            features=np.full(arms, -1),
            cuts=np.zeros(arms),
            left=np.zeros(arms, dtype=np.int64),
            right=np.zeros(arms, dtype=np.int64),
            values=np.zeros(FITTED_ROWS),
            classes=np.zeros(FITTED_ROWS, dtype=np.int64),
            counts=np.zeros(2 * self.kinds, dtype=np.int64),
        )

    def stump(self, world: StumpWorld, arm: int) -> Stump:
        """The stump, from the world's tables."""
        return Stump(int(world.features[arm]), float(world.cuts[arm]), int(world.left[arm]), int(world.right[arm]))
