"""Choices replayed on recorded tables: pass or fail by ``select``, and graded scores by a search with replacement."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topalpha import ScoreTable, design
from topalpha.families import Bernoulli, LowVariance
from topalpha.families.protocols import RewardModel
from topalpha.randomness import run_seed, streams
from topalpha.rules.protocol import Algorithm
from topalpha.simulation import start
from topalpha.testset.naive import Thumb, fixed, race
from topalpha.testset.replays import replays
from topalpha.testset.score_audit import RuleRuns

TABLES = Path(__file__).with_name("tables")
RUNS, EPSILON, DELTA = 1000, 0.05, 0.05
#: The number of examples for each candidate, for the rule of thumb.
EACH = 50
#: How many replays are kept one by one, for a test that repeats them.
KEPT_RUNS = 5
_ROUNDING = 1e-9


class Case(NamedTuple):
    """A table and a target. ``rows``: only so many of the best; ``columns``: only so many of the first; 0 for all.

    A score passes if it is ``passing`` or more; if ``passing`` is None, scores are graded.
    """

    words: str
    file: str
    passing: float | None
    rows: int = 0
    columns: int = 0
    epsilon: float = EPSILON


#: A judge prefers an answer above this probability.
_PREFERRED = float(np.nextafter(np.float32(0.5), np.float32(1.0)))
#: What is measured.
CASES = {
    "models": Case("58 language models on 797 instructions, pass or fail", "alpaca_eval", _PREFERRED),
    "encoder": Case("201 encoder settings on 1,397 videos, pass or fail", "x264", 0.9),
    "finer": Case("the 58 models again, epsilon = 0.01", "alpaca_eval", _PREFERRED, epsilon=0.01),
    "small": Case("the 4 best models on 100 instructions", "alpaca_eval", _PREFERRED, rows=4, columns=100),
    "graded models": Case("58 language models on 797 instructions, graded", "alpaca_eval", None),
    "graded encoder": Case("201 encoder settings on 1,397 videos, graded", "x264", None),
    "graded small": Case("the 4 best models on 100 instructions, graded", "alpaca_eval", None, rows=4, columns=100),
}


def scores_of(case: Case) -> NDArray[np.float64]:
    """The scores: all of the table, or the rows that are best on all columns and the first columns."""
    with np.load(TABLES / f"{case.file}.npz") as stored:
        scores = np.asarray(stored["scores"], dtype=np.float64)
    if case.passing is not None:
        scores = (scores >= case.passing).astype(np.float64)
    if case.rows:
        scores = scores[np.sort(np.argsort(-scores.mean(axis=1), kind="stable")[: case.rows])]
    return scores[:, : case.columns] if case.columns else scores


class Anew(NamedTuple):
    """Rewards of a graded table: an example drawn anew for each evaluation. An arm's "mean" is its row here."""

    scores: NDArray[np.float64]

    def sample(self, mean: float, rng: Generator) -> float:
        """The score of this row on a random example."""
        row = int(mean)
        return float(self.scores[row, int(rng.random() * self.scores.shape[1])])


def with_replacement(
    scores: NDArray[np.float64], family: RewardModel, epsilon: float, runs: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Costs, and scores of the chosen rows, of ``search`` over the list of rows by its default algorithm."""
    size = len(scores)
    algorithm: Algorithm = design("joint-lucb", 1.0 / size, epsilon, DELTA, family, pool=size)
    costs, chosen, means = np.zeros(runs, dtype=np.int64), np.zeros(runs), scores.mean(axis=1)
    for index in range(runs):
        own = streams(run_seed(0, index))
        rows = own.arms.permutation(size)[: algorithm.arms]
        run = start(algorithm, Anew(scores))
        run.add_arms(rows.astype(np.float64))
        run.advance(own.rules, own.rewards)
        costs[index], chosen[index] = run.history.t, means[rows[run.recommend()]]
    return costs, chosen


def measure(case: Case, runs: int = RUNS) -> dict[str, Any]:
    """Every rule on one case."""
    scores = scores_of(case)
    size, items = scores.shape
    best = float(scores.mean(axis=1).max())
    found = []

    def record(rule: str, costs: NDArray[np.int64], chosen: NDArray[np.float64]) -> None:
        one = RuleRuns(rule, size, costs, chosen, best - case.epsilon - _ROUNDING, DELTA, size * items)
        found.append(one.to_dict() | {"first": costs[:KEPT_RUNS].tolist()})

    if case.passing is None:
        for family in (LowVariance(), Bernoulli()):
            name = "low-variance" if isinstance(family, LowVariance) else "bernoulli"
            record(f"search ({name})", *with_replacement(scores, family, case.epsilon, runs))
    else:
        names = [str(row) for row in range(size)], [str(one) for one in range(items)]
        table = ScoreTable(*names, scores.astype(int))
        record("select", *replays(table, epsilon=case.epsilon, delta=DELTA).many(runs))
        each = min(EACH, items // 4)
        for rule, choose in {f"{each} examples each": fixed(each), "race at 95%": race}.items():
            record(rule, *Thumb(choose, table.matrix, 0, 0).many(runs))
    return {
        "case": case.words,
        "file": case.file,
        "passing": case.passing,
        "candidates": size,
        "examples": items,
        "epsilon": case.epsilon,
        "delta": DELTA,
        "runs": runs,
        "best": best,
        "within": int(np.sum(scores.mean(axis=1) >= best - case.epsilon)),
        "rules": found,
    }
