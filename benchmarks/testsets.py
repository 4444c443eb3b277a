"""Choices and duels on recorded test sets: evaluations against orders of their own, and the time of a decision.

The tables are those of docs/recorded_tables.md. The rules were tuned on the models (pass or fail); the encoder settings
and the graded scores were only looked at to report them.
"""

from __future__ import annotations

import statistics
import time
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.speed import spread
from studies.recorded_tables.measuring import CASES, Case, scores_of
from topalpha import ScoreTable, Search, design
from topalpha.families import PassFail
from topalpha.testset.replays import replays

#: Replays of each list; lists of two are all pairs among the ten best, each with fewer replays.
RUNS, PAIR_RUNS = 200, 10
#: By the name of a table: its file, and what passes.
TABLES = {
    "models": ("alpaca_eval", CASES["models"].passing),
    "encoder": ("x264", CASES["encoder"].passing),
    "encoder, stricter": ("x264", 0.95),
}


def evaluations(table: ScoreTable, order: str, runs: int) -> float:
    """The mean number of evaluations of a choice."""
    return float(replays(table, order=order).many(runs)[0].mean())


def named(scores: Any) -> ScoreTable:
    """A table of these scores."""
    return ScoreTable([str(row) for row in range(len(scores))], [str(one) for one in range(scores.shape[1])], scores)


def shared_over_own(file: str, passing: float | None) -> dict[str, Any]:
    """Evaluations with one order for all over those with an order for each, by the length of the list."""
    best = scores_of(Case("", file, passing, rows=30))
    best = best[np.argsort(-best.mean(axis=1), kind="stable")]
    lists = {
        "2": [list(pair) for pair in combinations(range(10), 2)],
        "5": [list(range(5)), list(range(5, 10))],
        "10": [list(range(10))],
        "20": [list(range(20))],
        "30": [list(range(30))],
    }
    found = {}
    for length, rows in lists.items():
        runs = PAIR_RUNS if length == "2" else RUNS
        tables = [named(best[one]) for one in rows]
        ratios = [evaluations(one, "shared", runs) / evaluations(one, "own", runs) for one in tables]
        found[length] = {"geometric_mean": statistics.geometric_mean(ratios), "least": min(ratios), "most": max(ratios)}
    return found


def graded_share(case: Case) -> float:
    """Evaluations of a choice among graded scores, as a fraction of full evaluation."""
    scores = scores_of(case)
    return evaluations(named(scores), "own", RUNS) / scores.size


def decision(examples: int = 10_000, asked: int = 4_000) -> float:
    """Median microseconds of one ask and one tell of a duel."""
    rng, search = np.random.default_rng(0), Search(design("duel", 0.5, 0.001, 0.05, PassFail(examples)))
    table, clock, spent = (rng.random((2, examples)) < 0.7).astype(float).tolist(), time.perf_counter, []
    for _ in range(asked):
        begin = clock()
        pull = search.ask()
        middle = clock()
        assert pull is not None, "the target must be hard enough"
        reward = table[pull.arm][pull.number]
        again = clock()
        search.tell(pull, reward)
        spent.append(middle - begin + clock() - again)
    return 1e6 * statistics.median(spent)


def measure(repeat: int = 3) -> dict[str, Any]:
    """All figures."""
    return {
        "shared_over_own": {name: shared_over_own(*table) for name, table in TABLES.items()},
        "graded_share": {name: graded_share(CASES[name]) for name in ("graded models", "graded encoder")},
        "microseconds_duel": spread([decision() for _ in range(repeat)]),
    }


def targets(found: dict[str, Any]) -> dict[str, bool]:
    """Which of the targets are met."""
    most = {"2": 0.4, "5": 0.6, "10": 0.95}
    tables = found["shared_over_own"].values()
    over = {length: statistics.geometric_mean([one[length]["geometric_mean"] for one in tables]) for length in most}
    met = {
        f"test sets: lists of {length} with one order at most {limit:g} of the evaluations": over[length] <= limit
        for length, limit in most.items()
    }
    for name, limit in (("graded models", 0.25), ("graded encoder", 0.05)):
        met[f"test sets: {name} at most {limit:.0%} of full evaluation"] = found["graded_share"][name] <= limit
    return met | {"duel: one ask and tell under 100 us": found["microseconds_duel"]["median"] < 100.0}
