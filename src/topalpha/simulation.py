"""simulate: many independent runs of an algorithm on a reservoir, compiled, on all cores."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from topalpha.core import Algorithm
from topalpha.families import describe
from topalpha.reservoirs import Reservoir
from topalpha.result import Study
from topalpha.streams import Streams, run_seed, streams
from topalpha.validate import whole

if TYPE_CHECKING:
    from topalpha.engine import Run

# The compiled loop comes back this often, so that Ctrl-C is heard.
_SLICE = 5_000_000


def start(algorithm: Algorithm, rewards: Any = None) -> Run:
    """A run that has not begun; the first one in a process compiles the loop (or loads it from the cache)."""
    from topalpha.engine import Run

    return Run(algorithm, rewards)


def finish(run: Run, reservoir: Reservoir, streams: Streams, cancelled: threading.Event | None = None) -> None:
    """Drive a run to its end, with arms from the reservoir."""
    from topalpha.engine import OUT_OF_ARMS, STOPPED

    run.add_arms(reservoir.sample(run.algorithm.arms, streams.arms))
    status = -1
    while status != STOPPED and not (cancelled is not None and cancelled.is_set()):
        status = run.advance(streams.rules, streams.rewards, int(run.history.t) + _SLICE)
        if status == OUT_OF_ARMS:
            run.add_arms(reservoir.sample(max(run.history.arms, 1), streams.arms))


def simulate(
    algorithm: Algorithm,
    reservoir: Reservoir,
    runs: int = 100,
    seed: int = 0,
    workers: int | None = None,
    rewards: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Study:
    """Run the algorithm many times on arms from the reservoir.

    Parameters
    ----------
    algorithm
        What ``design`` returned.
    reservoir
        The law of the arms' means.
    runs, seed
        How many runs, and the seed they all come from; run r is the same whatever ``runs`` and ``workers`` are.
    workers
        Threads; all cores unless given. The results do not depend on it.
    rewards
        What draws a reward, if not the algorithm's own family: anything with ``sample(mean, rng)``.
    progress
        Called with 1 after each run.

    Examples
    --------
    >>> from topalpha import design, simulate
    >>> from topalpha.reservoirs import Beta, Conditioned
    >>> study = simulate(design("kl-lucb", 0.1, 0.2, 0.1), Conditioned(Beta(1, 1), 0.95), runs=10, seed=1)
    >>> study.runs, study.errors.count
    (10, 0)
    """
    runs = whole("runs", runs)
    seed = whole("seed", seed, 0)
    workers = whole("workers", os.cpu_count() or 1 if workers is None else workers)
    # Compile before fanning out: concurrent first compilations would race on the disk cache.
    start(algorithm, rewards).advance(*streams(0)[1:], 0)

    pulls = np.zeros(runs, dtype=np.int64)
    means = np.zeros(runs)
    cancelled = threading.Event()

    def one(index: int) -> None:
        if cancelled.is_set():
            return
        run = start(algorithm, rewards)
        finish(run, reservoir, streams(run_seed(seed, index)), cancelled)
        pulls[index] = run.history.t
        means[index] = run.means[run.recommend()]
        if progress is not None:
            progress(1)

    begin = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for _ in pool.map(one, range(runs)):
                pass
        except BaseException:
            cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Study(
        algorithm=algorithm.name,
        family=describe(algorithm.family),
        reservoir=reservoir.expression or type(reservoir).__name__,
        alpha=algorithm.alpha,
        epsilon=algorithm.epsilon,
        delta=algorithm.delta,
        arms=algorithm.arms,
        seed=seed,
        seconds=time.perf_counter() - begin,
        supremum=reservoir.supremum,
        threshold=reservoir.threshold(algorithm.alpha, algorithm.epsilon),
        threshold_alpha=reservoir.threshold(algorithm.alpha),
        pulls=pulls,
        means=means,
    )
