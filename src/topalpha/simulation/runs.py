"""The runs of a study: one run, a chunk, or all of them on threads or an executor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from topalpha.randomness import Streams, run_seed, streams
from topalpha.reservoirs import Reservoir
from topalpha.rules.protocol import Algorithm

if TYPE_CHECKING:
    from topalpha.engine import Run

# The compiled loop returns this often, so that Ctrl-C works.
_SLICE = 5_000_000
# If sums of rewards are drawn, one block may be that long, and returning costs more than thousands of blocks.
_BLOCK_SLICE = 100_000 * _SLICE
# Concurrent first compilations would race on the disk cache.
_COMPILING = threading.Lock()


class RunOutcome(NamedTuple):
    """The result of a run.

    Parameters
    ----------
    pulls
        The number of rewards spent.
    mean
        The true mean of the returned arm, or its score on a finite set of items; of several, the smallest.
    stopped
        Whether the algorithm stopped by itself, not at a limit.

    Examples
    --------
    >>> RunOutcome(120, 0.5, True).stopped
    True
    """

    pulls: int
    mean: float
    stopped: bool


#: Receives a run's number and its outcome.
Keep = Callable[[int, RunOutcome], None]


class Repeatable(Protocol):
    """An experiment with numbered runs."""

    def run(self, index: int, cancelled: threading.Event | None = None) -> RunOutcome:
        """Run number ``index``: the same in any order, on any worker."""


def start(algorithm: Algorithm, rewards: Any = None) -> Run:
    """A new run; the first in a process compiles the loop, or loads it from the cache."""
    from topalpha.engine import Run

    return Run(algorithm, rewards)


def finish(
    run: Run, reservoir: Reservoir, streams: Streams, cancelled: threading.Event | None = None, limit: int = 2**62
) -> bool:
    """Drive a run to its end, or to ``limit`` pulls, with arms from the reservoir; return whether it stopped."""
    from topalpha.engine import OUT_OF_ARMS, STOPPED

    run.add_arms(reservoir.sample(run.algorithm.arms, streams.arms))
    slice_pulls = _BLOCK_SLICE if run.draws_sums else _SLICE
    status = -1
    while status != STOPPED and run.history.t < limit and not (cancelled is not None and cancelled.is_set()):
        status = run.advance(streams.rules, streams.rewards, min(int(run.history.t) + slice_pulls, limit))
        if status == OUT_OF_ARMS:
            run.add_arms(reservoir.sample(max(run.history.arms, 1), streams.arms))
    return status == STOPPED


class Experiment(NamedTuple):
    """The settings of all runs of a study; it can be pickled if its parts can.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Dirac
    >>> Experiment(design("lucb++", 0.3, 0.3, 0.2), Dirac(0.5), None, 0).run(1)[1]
    0.5
    """

    algorithm: Algorithm
    reservoir: Reservoir
    rewards: Any
    seed: int
    limit: int = 2**62

    def compile(self) -> None:
        """Compile the loop in this process, and store it in the disk cache for others."""
        with _COMPILING:
            start(self.algorithm, self.rewards).advance(*streams(0)[1:], 0)

    def run(self, index: int, cancelled: threading.Event | None = None) -> RunOutcome:
        """Run number ``index``: the same in any order, on any worker."""
        run = start(self.algorithm, self.rewards)
        source = streams(run_seed(self.seed, index))
        stopped = finish(run, self.reservoir, source, cancelled, self.limit)
        worst = min(run.truth(arm, source.rewards) for arm in run.returned())
        return RunOutcome(int(run.history.t), worst, stopped)


def run_chunk(experiment: Experiment, first: int, last: int) -> list[RunOutcome]:
    """The runs ``first`` to ``last - 1``, as one task for an executor.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Dirac
    >>> experiment = Experiment(design("lucb++", 0.3, 0.3, 0.2), Dirac(0.5), None, 0)
    >>> run_chunk(experiment, 1, 3) == [experiment.run(1), experiment.run(2)]
    True
    """
    experiment.compile()
    return [experiment.run(index) for index in range(first, last)]


def run_on_threads(
    experiment: Repeatable, runs: int, workers: int, keep: Keep, progress: Callable[[int], None] | None
) -> None:
    """Do all runs on this many threads of this process, and keep each outcome."""
    cancelled = threading.Event()

    def one(index: int) -> None:
        if cancelled.is_set():
            return
        keep(index, experiment.run(index, cancelled))
        if progress is not None:
            progress(1)

    with ThreadPoolExecutor(workers) as pool:
        try:
            for _ in pool.map(one, range(runs)):
                pass
        except BaseException:
            cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise


def run_on_executor(
    experiment: Experiment,
    runs: int,
    chunks: int,
    keep: Keep,
    progress: Callable[[int], None] | None,
    executor: Executor,
) -> None:
    """Do all runs on the executor, in this many chunks; if one fails, chunks that have not begun are cancelled."""
    edges = [runs * part // chunks for part in range(chunks + 1)]
    places: dict[Future[list[RunOutcome]], int] = {}
    try:
        for first, last in pairwise(edges):
            if first < last:
                places[executor.submit(run_chunk, experiment, first, last)] = first
        for done in as_completed(places):
            outcomes = done.result()
            for index, outcome in enumerate(outcomes, places[done]):
                keep(index, outcome)
            if progress is not None:
                progress(len(outcomes))
    except BaseException:
        for future in places:
            future.cancel()
        raise
