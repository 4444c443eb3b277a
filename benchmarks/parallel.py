"""Sixteen pulls at a time: how busy the workers are, and how many pulls more than one at a time it takes."""

from __future__ import annotations

import heapq
import threading
import time
from typing import Any

import numpy as np

from topalpha import Pull, Search, design
from topalpha.execution import Calls, run

#: The targets: what the README uses, and an easy one, whose searches are over after a few hundred pulls.
TARGETS = {"usual": (0.05, 0.05, 0.05), "easy": (0.1, 0.1, 0.1)}
ALGORITHMS = ("cc-lucb", "joint-lucb")
WIDTH = 16
#: Seconds a pull takes on average; durations are exponential.
MEAN = 0.015


def draw(rng: np.random.Generator) -> float:
    """A success probability."""
    return 0.95 * rng.random()


class Sleep:
    """A pull that takes a random time, and adds up how long pulls took."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()

    def __call__(self, mean: float, rng: np.random.Generator) -> float:
        """A reward of 0 or 1."""
        begin = time.perf_counter()
        reward = float(rng.random() < mean)
        time.sleep(rng.exponential(MEAN))
        with self._lock:
            self.seconds += time.perf_counter() - begin
        return reward


def coin(mean: float, rng: np.random.Generator) -> float:
    """The same rewards at once."""
    return float(rng.random() < mean)


def real(name: str, seed: int) -> tuple[int, float]:
    """Pulls told by a run on threads, and the share of the workers' time that was spent in pulls."""
    pull = Sleep()
    calls = Calls(draw, pull, seed=seed)
    search = Search(design(name, *TARGETS["usual"]), seed)
    begin = time.perf_counter()
    run(search, calls, candidates=[], new_candidate=calls.candidate, executor="threads", width=WIDTH)
    wall = time.perf_counter() - begin
    return search.told, pull.seconds / (WIDTH * wall)


def virtual(name: str, target: tuple[float, float, float], seed: int, width: int) -> int:
    """Pulls told by the same run in virtual time: results arrive in the order of their random durations."""
    calls = Calls(draw, coin, seed=seed)
    search = Search(design(name, *target), seed)
    arms: list[float] = []
    clock, flying = 0.0, list[tuple[float, int, Pull]]()
    durations = np.random.default_rng(seed)
    while True:
        for pull in search.ask_many(width - len(flying)):
            if pull.arm == len(arms):
                arms.append(calls.candidate(pull.arm))
            heapq.heappush(flying, (clock + durations.exponential(MEAN), pull.order, pull))
        if search.stopped:
            return search.told
        clock, _, pull = heapq.heappop(flying)
        search.tell(pull, calls.evaluation(pull, arms[pull.arm])())


def grown(name: str, target: tuple[float, float, float], seeds: int) -> dict[str, float]:
    """Mean pulls one at a time, and the ratio of means with the standard error of its paired differences."""
    alone = np.array([virtual(name, target, seed, 1) for seed in range(seeds)])
    wide = np.array([virtual(name, target, seed, WIDTH) for seed in range(seeds)])
    return ratio_of_means(wide, alone)


def ratio_of_means(wide: Any, alone: Any) -> dict[str, float]:
    """With its standard error, from paired runs."""
    ratio = wide.mean() / alone.mean()
    error = (wide - ratio * alone).std(ddof=1) / alone.mean() / len(alone) ** 0.5
    return {"one_at_a_time": float(alone.mean()), "ratio": float(ratio), "standard_error": float(error)}


def parallel(seeds: int = 12, virtual_seeds: int = 150) -> dict[str, Any]:
    """Utilisation of sixteen threads, and how pulls grow over one at a time, as a ratio of means."""
    result: dict[str, Any] = {"width": WIDTH, "mean_seconds_a_pull": MEAN}
    for name in ALGORITHMS:
        runs = [real(name, seed) for seed in range(seeds)]
        alone = [virtual(name, TARGETS["usual"], seed, 1) for seed in range(seeds)]
        result[name] = {
            "growth": {target: grown(name, numbers, virtual_seeds) for target, numbers in TARGETS.items()},
            "growth_on_threads": ratio_of_means(np.array([told for told, _ in runs]), np.array(alone)),
            "utilisation": float(np.mean([share for _, share in runs])),
            "least_utilisation": min(share for _, share in runs),
        }
    return result


if __name__ == "__main__":
    import json

    print(json.dumps(parallel(), indent=1))
