"""Speed: microseconds a pull, against two plain programs, and at ten thousand arms. Ratios are taken within one run."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from benchmarks.baselines import compiled_run, numpy_run
from topalpha import design
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Beta, Conditioned, Reservoir
from topalpha.rules.protocol import Algorithm
from topalpha.simulation import finish, start

#: The row on which speed is compared: Beta(1,1) conditioned on <= .95, as the paper's first row.
RESERVOIR: Reservoir = Conditioned(Beta(1, 1), 0.95)
TARGET = (0.025, 0.024, 0.05)


def microseconds(algorithm: Algorithm, runs: int, seed: int = 0) -> float:
    """Wall time a pull of the compiled simulator on one core, setting up each run included."""
    finish(start(algorithm), RESERVOIR, streams(0))  # compile, or load from the cache
    pulls = 0
    begin = time.perf_counter()
    for run in range(runs):
        one = start(algorithm)
        finish(one, RESERVOIR, streams(run_seed(seed, run)))
        pulls += one.history.t
    return 1e6 * (time.perf_counter() - begin) / pulls


def baseline_microseconds(run: Any, algorithm: Any, budget: int) -> float:
    """Wall time a pull of a plain program of the paper's algorithm, over a run of at most ``budget`` pulls.

    The NumPy loop does the same work in every round, so its first thousand pulls stand for all.
    """
    means = RESERVOIR.sample(algorithm.arms, np.random.default_rng(0))
    arguments = (algorithm.epsilon, algorithm.offset, algorithm.gamma, np.random.default_rng(1))
    run(means, *arguments, algorithm.arms + 2)  # compile
    begin = time.perf_counter()
    spent = run(means, *arguments, budget)
    return 1e6 * (time.perf_counter() - begin) / (spent - algorithm.arms)


def spread(values: list[float]) -> dict[str, float]:
    """Median and range over repetitions."""
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def many_arms(name: str, arms: int) -> Algorithm:
    """The algorithm for the same epsilon and delta, with alpha chosen so that it draws about ``arms`` arms."""
    _, epsilon, delta = TARGET
    low, high = 1e-9, 0.5
    while high - low > 1e-3 * high:
        middle = (low * high) ** 0.5
        if design(name, middle, epsilon, delta).arms > arms:
            low = middle
        else:
            high = middle
    return design(name, high, epsilon, delta)


def measure(repeat: int = 5) -> dict[str, Any]:
    """All speed figures; baselines and algorithms alternate, so that a busy moment hits both."""
    paper = design("kl-lucb", *TARGET)
    samples: dict[str, list[float]] = {}
    for turn in range(repeat):
        for name, runs in (("kl-lucb", 20), ("lucb++", 20), ("cc-lucb", 60), ("joint-lucb", 60)):
            samples.setdefault(name, []).append(microseconds(design(name, *TARGET), runs, turn))
        for name in ("cc-lucb", "joint-lucb"):
            samples.setdefault(f"{name}, 10,000 arms", []).append(microseconds(many_arms(name, 10_000), 2, turn))
        samples.setdefault("plain compiled loop", []).append(baseline_microseconds(compiled_run, paper, 10**9))
        samples.setdefault("plain NumPy loop", []).append(baseline_microseconds(numpy_run, paper, 1_000))
    ratios = {
        f"{name} / kl-lucb": spread([a / b for a, b in zip(samples[name], samples["kl-lucb"], strict=True)])
        for name in ("plain NumPy loop", "plain compiled loop")
    } | {
        f"{name}, 10,000 arms / {name}": spread(
            [a / b for a, b in zip(samples[f"{name}, 10,000 arms"], samples[name], strict=True)]
        )
        for name in ("cc-lucb", "joint-lucb")
    }
    return {"microseconds_a_pull": {name: spread(values) for name, values in samples.items()}, "ratios": ratios}
