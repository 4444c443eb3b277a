"""Rules of thumb for the same choice, without a proof, as a comparison for the coverage audit.

All candidates go through the examples in the same random order, as when people try them by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topalpha.randomness import run_seed

#: The quantile of the normal law for 95% intervals, and the number of examples between two looks of a race.
NORMAL_95, LOOK = 1.959963984540054, 10

#: Takes outcomes (a row per candidate, examples in the order of evaluation); returns the chosen row and the cost.
Rule = Callable[[NDArray[Any], Generator], tuple[int, int]]


def fixed(each: int) -> Rule:
    """Try every candidate on the same number of examples, and take the best; ties are broken at random.

    Examples
    --------
    >>> fixed(2)(np.array([[1, 0, 1], [1, 1, 0]], dtype=bool), np.random.default_rng(0))
    (1, 4)
    """

    def rule(outcomes: NDArray[Any], rng: Generator) -> tuple[int, int]:
        return _best(outcomes[:, :each].sum(axis=1), rng), each * len(outcomes)

    return rule


def race(outcomes: NDArray[Any], rng: Generator) -> tuple[int, int]:
    """Look every ten examples, and drop candidates that are significantly worse than the leader, until one is left.

    "Significantly" is by the ordinary 95% interval for a difference of two shares, as if there were only one look and
    one comparison. If several are left at the end of the test set, the best of them wins.

    Examples
    --------
    >>> race(np.array([[True] * 40, [False] * 40]), np.random.default_rng(0))
    (0, 20)
    """
    items = outcomes.shape[1]
    totals = outcomes.cumsum(axis=1)
    left, cost, before = np.arange(len(outcomes)), 0, 0
    for tried in (*range(LOOK, items, LOOK), items):
        cost += len(left) * (tried - before)
        before = tried
        passes = totals[left, tried - 1]
        if tried == items:
            break
        leader = passes.argmax()
        shares = (passes + 1.0) / (tried + 2.0)  # never 0 or 1, whose intervals have no width
        noise = shares * (1.0 - shares)
        worse = (passes[leader] - passes) / tried > NORMAL_95 * np.sqrt((noise + noise[leader]) / tried)
        left, passes = left[~worse], passes[~worse]
        if len(left) == 1:
            break
    return int(left[_best(passes, rng)]), cost


def _best(passes: NDArray[Any], rng: Generator) -> int:
    return int(rng.choice(np.flatnonzero(passes == passes.max())))


def enough(alpha: float, delta: float) -> int:
    """The number of random candidates that contain one of the top alpha with probability 1 - delta: the rule of 60.

    Examples
    --------
    >>> enough(0.05, 0.05)
    59
    """
    return math.ceil(math.log(delta) / math.log1p(-alpha))


class Thumb(NamedTuple):
    """A rule of thumb on a table of outcomes.

    ``drawn`` candidates are drawn from the table with replacement; 0 takes all of them.

    Examples
    --------
    >>> costs, scores = Thumb(fixed(1), np.array([[True, True], [False, False]]), 0, 0).many(3)
    >>> costs.tolist(), scores.tolist()
    ([2, 2, 2], [1.0, 1.0, 1.0])
    """

    rule: Rule
    matrix: NDArray[Any]
    drawn: int
    seed: int

    def many(self, runs: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The costs of ``runs`` choices, and the scores of the chosen candidates."""
        size, items = self.matrix.shape
        costs, scores, means = np.zeros(runs, dtype=np.int64), np.zeros(runs), self.matrix.mean(axis=1)
        for index in range(runs):
            rng = np.random.default_rng(run_seed(self.seed, index))
            rows = rng.integers(size, size=self.drawn) if self.drawn else np.arange(size)
            row, costs[index] = self.rule(self.matrix[rows][:, rng.permutation(items)], rng)
            scores[index] = means[rows[row]]
        return costs, scores
