"""Choices and duels replayed on recorded tables, of pass or fail and of graded scores."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topalpha import ScoreTable, design
from topalpha.algorithms.choices import SHORT_LIST
from topalpha.families import Bernoulli, Graded, LowVariance, PassFail
from topalpha.families.protocols import RewardModel
from topalpha.randomness import run_seed, streams
from topalpha.rules.protocol import Algorithm
from topalpha.simulation import Count, start
from topalpha.testset.naive import Thumb, fixed, race
from topalpha.testset.replays import Tapes, replays
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
    "ten": Case("the 10 best models on 797 instructions", "alpaca_eval", _PREFERRED, rows=10),
    "five": Case("the 5 best models", "alpaca_eval", _PREFERRED, rows=5),
    "five settings": Case("the 5 best encoder settings on 1,397 videos", "x264", 0.9, rows=5),
    "two": Case("the 2 best models", "alpaca_eval", _PREFERRED, rows=2),
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


class Pairs(NamedTuple):
    """Duels of all pairs among the best rows of a table; with a margin they are gates."""

    words: str
    file: str
    passing: float | None
    margin: float | None = None


#: What is measured of duels, each pair in both directions.
DUELS = {
    "models": Pairs("the 10 best models, pass or fail", "alpaca_eval", _PREFERRED),
    "encoder": Pairs("the 10 best encoder settings, pass or fail", "x264", 0.9),
    "graded encoder": Pairs("the 10 best encoder settings, graded", "x264", None),
    "gate": Pairs("the 10 best models, a gate with margin 0.02", "alpaca_eval", _PREFERRED, 0.02),
}
#: Duels of each pair in each direction.
EACH_PAIR = 12


def duels(pairs: Pairs, runs: int = EACH_PAIR) -> dict[str, Any]:
    """What duels cost, how they end, and how many are wrong."""
    scores = scores_of(Case(pairs.words, pairs.file, pairs.passing, rows=10))
    size, items = scores.shape
    family = Graded(items) if pairs.passing is None else PassFail(items)
    algorithm: Any = design("duel", 0.5, EPSILON, DELTA, family, margin=pairs.margin)
    costs, ends, wrong = [], dict.fromkeys(("first", "second", "equal"), 0), 0
    for place, (first, second) in enumerate(permutations(range(size), 2)):
        rows = scores[[first, second]]
        ahead = rows[1].mean() - rows[0].mean()
        for index in range(runs):
            own = streams(run_seed(place, index))
            outcomes = np.ascontiguousarray(rows[:, own.arms.permutation(items)])
            run = start(algorithm, Tapes(outcomes, np.zeros(2, dtype=np.int64)))
            run.add_arms(np.arange(2.0))
            run.advance(own.rules, own.rewards)
            end = ("open", "first", "second", "equal")[algorithm.found(run.history)]
            costs.append(run.history.t)
            ends[end] += 1
            if pairs.margin is not None:
                wrong += (ahead < -pairs.margin - _ROUNDING) if end == "second" else ahead >= -pairs.margin
            else:
                wrong += {"first": ahead >= 0.0, "second": ahead <= 0.0, "equal": abs(ahead) > EPSILON + _ROUNDING}[end]
    count = Count(int(wrong), len(costs))
    return {
        "case": pairs.words,
        "file": pairs.file,
        "margin": pairs.margin,
        "examples": items,
        "epsilon": EPSILON,
        "delta": DELTA,
        "evaluations": {"mean": float(np.mean(costs)), "most": int(max(costs))},
        "share": float(np.mean(costs)) / (2 * items),
        "ends": ends,
        "errors": count.to_dict() | {"runs": len(costs)},
    }


def measure(case: Case, runs: int = RUNS) -> dict[str, Any]:
    """Every rule on one case."""
    scores = scores_of(case)
    size, items = scores.shape
    best = float(scores.mean(axis=1).max())
    found = []

    def record(rule: str, costs: NDArray[np.int64], chosen: NDArray[np.float64]) -> None:
        one = RuleRuns(rule, size, costs, chosen, best - case.epsilon - _ROUNDING, DELTA, size * items)
        found.append(one.to_dict() | {"first": costs[:KEPT_RUNS].tolist()})

    names = [str(row) for row in range(size)], [str(one) for one in range(items)]
    table = ScoreTable(*names, scores)
    record("select", *replays(table, epsilon=case.epsilon, delta=DELTA).many(runs))
    if size <= SHORT_LIST:
        record("select, own orders", *replays(table, epsilon=case.epsilon, delta=DELTA, order="own").many(runs))
    if case.passing is None:
        for family in (LowVariance(), Bernoulli()):
            name = "low-variance" if isinstance(family, LowVariance) else "bernoulli"
            record(f"search ({name})", *with_replacement(scores, family, case.epsilon, runs))
    else:
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
