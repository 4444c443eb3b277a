"""Choices on a recorded table, replayed by the compiled engine: a run equals ``select`` with the same seed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topalpha.algorithms import design, entry
from topalpha.algorithms.choices import chosen_algorithm, chosen_order, target_alpha
from topalpha.execution import Calls
from topalpha.families import Graded, PassFail
from topalpha.randomness import run_seed, streams
from topalpha.rules.protocol import Algorithm
from topalpha.simulation import RunOutcome, run_on_threads, start
from topalpha.testset.table import ScoreTable
from topalpha.validate import MOST_RUNS, MOST_WORKERS, require, seed_number, whole

#: The most candidates of a choice; replays hold the outcomes of all of them.
MOST_CANDIDATES = 100_000


class Tapes(NamedTuple):
    """Recorded outcomes in place of simulated rewards: those of each arm, in its own order.

    The engine's "mean" of an arm is its number here.

    Examples
    --------
    >>> tapes = Tapes(np.array([[True, False]]), np.zeros(1, dtype=np.int64))
    >>> tapes.sample(0.0, None), tapes.sample(0.0, None)
    (1.0, 0.0)
    """

    outcomes: NDArray[Any]
    tried: NDArray[np.int64]

    def sample(self, mean: float, rng: Any) -> float:
        """The arm's next outcome."""
        arm = int(mean)
        place = self.tried[arm]
        self.tried[arm] = place + 1
        return float(self.outcomes[arm, place])


def replay_seed(seed: int, index: int) -> int:
    """The seed of replay ``index``: ``table.select(seed=...)`` with it makes the same choice.

    Examples
    --------
    >>> replay_seed(0, 1) != replay_seed(0, 2)
    True
    """
    return int(run_seed(seed, index).generate_state(1, np.uint64)[0] >> np.uint64(11))  # 53 bits: exact as a double


class Replays(NamedTuple):
    """Settings of all replays; run ``index`` is ``table.select`` with the seed of :func:`replay_seed`.

    Examples
    --------
    >>> table = ScoreTable(["short", "long"], ["q1", "q2", "q3"], [[1, 0, 1], [1, 1, 1]])
    >>> replays(table).run(0).mean
    1.0
    """

    table: ScoreTable
    algorithm: Algorithm
    endless: bool
    seed: int

    def run(self, index: int, cancelled: threading.Event | None = None) -> RunOutcome:
        """One choice: its cost, and the score of the chosen candidate."""
        from topalpha.engine import STOPPED

        matrix = (
            self.table.matrix if self.table.graded else self.table.matrix.view(np.uint8)
        )  # numbers, for the compiler
        size, items = matrix.shape
        seed = replay_seed(self.seed, index)

        def draw(rng: Generator) -> int:  # the random numbers of ScoreTable.draw
            return int(rng.integers(size))

        shared = entry(self.algorithm.traits.name).shared_order
        calls = Calls(draw if self.endless else range(size), max, seed=seed, items=range(items), shared=shared)
        rows = [calls.candidate(arm) for arm in range(self.algorithm.arms)]
        outcomes = np.array([matrix[row, calls.order(arm)] for arm, row in enumerate(rows)])
        run = start(self.algorithm, Tapes(outcomes, np.zeros(len(rows), dtype=np.int64)))
        run.add_arms(np.arange(len(rows), dtype=np.float64))
        own = streams(seed)
        status = run.advance(own.rules, own.rewards)
        if status != STOPPED or int(run.pulls.max()) > items:
            raise RuntimeError(f"a choice on a finite test set must stop by itself, got status {status}")
        return RunOutcome(int(run.history.t), float(self.table.means[rows[run.recommend()]]), True)

    def many(
        self, runs: int, workers: int | None = None, progress: Callable[[int], None] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The costs of ``runs`` replays, and the scores of the chosen candidates."""
        costs, scores = np.zeros(whole("runs", runs, most=MOST_RUNS), dtype=np.int64), np.zeros(runs)

        def keep(index: int, outcome: RunOutcome) -> None:
            costs[index], scores[index] = outcome.pulls, outcome.mean

        self.run(0)  # compile before fanning out
        threads = whole("workers", os.cpu_count() or 1 if workers is None else workers, most=MOST_WORKERS)
        run_on_threads(self, runs, threads, keep, progress)
        return costs, scores


def replays(
    table: ScoreTable,
    *,
    alpha: float | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    seed: int = 0,
    endless: bool = False,
    order: str | None = None,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Replays:
    """Replays of choices on this table for this target; see :func:`topalpha.select`.

    Examples
    --------
    >>> table = ScoreTable(["short", "long"], ["q1", "q2", "q3"], [[1, 0, 1], [1, 1, 1]])
    >>> replays(table, endless=True, alpha=0.3).algorithm.arms
    18
    """
    size, items = table.matrix.shape
    pool = {} if endless else {"pool": size}
    name = chosen_algorithm(algorithm, chosen_order(order, pool.get("pool", 0), alpha=alpha, algorithm=algorithm))
    alpha = target_alpha(alpha, 0 if endless else size)
    family = Graded(items) if table.graded else PassFail(items)
    designed = design(name, alpha, epsilon, delta, family, **pool, **(options or {}))
    condition = f"be large enough for at most {MOST_CANDIDATES:,} candidates"
    require(designed.arms <= MOST_CANDIDATES, "alpha", condition, alpha)
    return Replays(table, designed, endless, seed_number("seed", seed))
