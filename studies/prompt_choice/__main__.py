"""Choice on a test set, measured: docs/prompt_choice. Needs scikit-learn, for the digits of examples/prompt_choice.py.

    python -m studies.prompt_choice            # measure, and write the tables and the figure (some minutes)
    python -m studies.prompt_choice --write    # write them again from what was measured

Wrong means, in all cases: a score more than epsilon below where the top alpha of the true scores begin.
"""

from __future__ import annotations

import argparse
import heapq
import json
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from examples import prompt_choice
from studies.prompt_choice.page import KEPT, write
from topalpha import ScoreTable, Search, design
from topalpha.algorithms.choices import SHORT_LIST
from topalpha.execution import Calls
from topalpha.randomness import run_seed, streams
from topalpha.running.drive import prepare
from topalpha.simulation import start
from topalpha.testset.naive import Thumb, enough, fixed, race
from topalpha.testset.replays import replays
from topalpha.testset.score_audit import RuleRuns

RUNS, DELTA, PROMPTS = 1000, 0.05, 2000


class Case(NamedTuple):
    """A table, how candidates come from it, and the target."""

    words: str
    table: ScoreTable
    endless: bool
    epsilon: float
    alpha: float | None = None


def digits(prompts: int, shots: int) -> ScoreTable:
    """So many prompts of so many demonstrations, on all questions."""
    rng = np.random.default_rng(0)
    drawn = [prompt_choice.draw(rng, shots) for _ in range(prompts)]
    names = [f"prompt {place}" for place in range(prompts)], [f"q{one}" for one in prompt_choice.QUESTIONS]
    return ScoreTable(*names, prompt_choice.scores(drawn))


def named(matrix: np.ndarray) -> ScoreTable:
    """A table with numbers for names."""
    return ScoreTable([str(row) for row in range(len(matrix))], [str(one) for one in range(matrix.shape[1])], matrix)


def needle() -> ScoreTable:
    """One candidate passes 60 of 100 examples, 19 pass 49: just too few to be within 0.1 of it."""
    rng = np.random.default_rng(0)
    return named(np.array([rng.permutation([1] * count + [0] * (100 - count)) for count in [60] + [49] * 19]))


def twins() -> ScoreTable:
    """A fifth of the candidates pass the same 8 of 40 examples; the others pass 3, among those that these fail."""
    matrix = np.zeros((20, 40), dtype=int)
    matrix[:4, :8] = 1
    matrix[4:, 37:] = 1
    return named(matrix)


def cases() -> dict[str, Case]:
    """What is measured."""
    pool = digits(PROMPTS, 20)
    return {
        "pool": Case("endless pool of prompts of 20 demonstrations", pool, True, 0.05),
        "alike": Case("endless pool of prompts of 50, which are much alike", digits(PROMPTS, 50), True, 0.05),
        "list": Case("the best of a list of 50 prompts", digits(50, 20), False, 0.05),
        "few": Case("the best of a list of 5 prompts", digits(5, 20), False, 0.05),
        "needle": Case("made to be hard: one of 20 is right, by a hair", needle(), False, 0.1),
        "twins": Case("made to be hard: the good ones pass the same examples", twins(), True, 0.1, 0.2),
    }


def with_replacement(case: Case, alpha: float, runs: int) -> tuple[int, np.ndarray, np.ndarray]:
    """The paper's algorithm, on examples that are drawn anew for each evaluation."""
    size = len(case.table.candidates)
    algorithm = design("kl-lucb", alpha, case.epsilon, DELTA, **({} if case.endless else {"pool": size}))
    costs, scores = np.zeros(runs, dtype=np.int64), np.zeros(runs)
    for index in range(runs):
        own = streams(run_seed(0, index))
        rows = own.arms.integers(size, size=algorithm.arms) if case.endless else own.arms.permutation(size)
        means = case.table.means[rows[: algorithm.arms]]
        run = start(algorithm)
        run.add_arms(means)
        run.advance(own.rules, own.rewards)
        costs[index], scores[index] = run.history.t, means[run.recommend()]
    return algorithm.arms, costs, scores


def measure(case: Case, runs: int = RUNS) -> dict[str, Any]:
    """Every rule on one case."""
    table, epsilon = case.table, case.epsilon
    size, items = table.matrix.shape
    target = {"alpha": case.alpha, "epsilon": epsilon, "delta": DELTA, "endless": case.endless}
    alpha = replays(table, algorithm="cc-lucb", **target).algorithm.alpha
    drawn = enough(alpha, DELTA) if case.endless else 0
    own_order = Calls.order
    records = []

    def record(rule: str, candidates: int, costs: np.ndarray, scores: np.ndarray) -> None:
        threshold = table.top(alpha) - epsilon - 1e-9
        records.append(RuleRuns(rule, candidates, costs, scores, threshold, DELTA, candidates * items))

    short = ("paired",) if not case.endless and size <= SHORT_LIST else ()
    for algorithm in ("cc-lucb", "joint-lucb", *short):
        replayed = replays(table, algorithm=algorithm, **target)
        record(f"select ({algorithm})", replayed.algorithm.arms, *replayed.many(runs))
    with mock.patch.object(Calls, "order", lambda self, arm: own_order(self, 0)):  # wrong on purpose
        replayed = replays(table, algorithm="cc-lucb", **target)
        record("select, one order for all", replayed.algorithm.arms, *replayed.many(runs))
    each = min(50, items // 4)
    thumbs = {"full evaluation": fixed(items), f"{each} examples each": fixed(each), "race at 95%": race}
    for rule, choose in thumbs.items():
        record(rule, drawn or size, *Thumb(choose, table.matrix, drawn, 0).many(runs))
    record("kl-lucb, with replacement", *with_replacement(case, alpha, runs))
    return {
        "case": case.words,
        "pool": "endless" if case.endless else "list",
        "candidates": size,
        "examples": items,
        "alpha": alpha,
        "epsilon": epsilon,
        "delta": DELTA,
        "runs": runs,
        "best": float(table.means.max()),
        "top": table.top(alpha),
        "mean": float(table.means.mean()),
        "deviation": float(table.means.std()),
        "rules": [one.to_dict() for one in records],
    }


def one_choice(case: Case, seed: int = 0) -> dict[str, Any]:
    """One choice in full, with the true scores beside what is known about them."""
    table = case.table
    found = table.select(endless=case.endless, alpha=case.alpha, epsilon=case.epsilon, delta=DELTA, seed=seed)
    rows = {name: place for place, name in enumerate(table.candidates)}
    return {
        "evaluations": found.evaluations,
        "full_evaluations": found.full_evaluations,
        "top": table.top(found.certificate.alpha),
        "epsilon": case.epsilon,
        "scores": [
            {
                "evaluations": one.evaluations,
                "score": one.score,
                "low": one.low,
                "high": one.high,
                "true": float(table.means[rows[one.candidate]]),
            }
            for one in found.scores
        ],
    }


def at_a_time(case: Case, width: int, seed: int) -> int:
    """The cost of one choice with so many evaluations in flight, each of random duration, in virtual time."""
    table = case.table
    task, calls = prepare(
        table.candidates, table.evaluate, items=table.examples, alpha=1 / len(table.candidates), seed=seed,
        epsilon=case.epsilon, delta=DELTA, algorithm="cc-lucb",
    )  # fmt: skip
    rng, search = np.random.default_rng(seed), Search(task.design(), seed)
    flying: list[tuple[float, int, Any]] = []
    now = 0.0
    while True:
        for pull in search.ask_many(width - len(flying)):
            heapq.heappush(flying, (now + rng.exponential(), pull.order, pull))
        if search.stopped:
            return search.told + len(flying)
        now, _, pull = heapq.heappop(flying)
        search.tell(pull, calls.evaluation(pull, calls.candidate(pull.arm))())


def main() -> None:
    """Measure unless told not to, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page again from what was measured")
    file = KEPT / "results.json"
    if not parser.parse_args().write:
        found = cases()
        results: dict[str, Any] = {"cases": {}, "choice": one_choice(found["pool"])}
        costs = {width: [at_a_time(found["list"], width, seed) for seed in range(40)] for width in (1, 8, 32)}
        results["widths"] = {width: float(np.mean(some)) for width, some in costs.items()}
        for name, case in found.items():
            results["cases"][name] = measure(case)
            print(f"{case.words}: done", flush=True)
        KEPT.mkdir(exist_ok=True)
        file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write(json.loads(file.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
