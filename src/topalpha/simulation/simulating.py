"""Runs on a reservoir: ``simulate`` many, compiled, on all cores; ``interpret`` one, to watch it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from topalpha.ask_tell import Pull, Search
from topalpha.families import describe
from topalpha.families.protocols import ENDLESS, RewardFamily, RewardModel
from topalpha.randomness import Seed, streams
from topalpha.reservoirs import Reservoir, Scores
from topalpha.rules.protocol import Algorithm
from topalpha.simulation.runs import Experiment, RunOutcome, finish, run_on_executor, run_on_threads, start
from topalpha.simulation.study import Study
from topalpha.validate import MOST_RUNS, MOST_WORKERS, require, seed_number, whole

__all__ = ["Interpreted", "Means", "check_means", "finish", "interpret", "judged_law", "simulate", "start"]


def check_means(reservoir: Reservoir, family: RewardModel) -> None:
    """Raise ``ValueError`` unless every mean of the reservoir is a mean of the family.

    Examples
    --------
    >>> from topalpha import parse_family, parse_reservoir
    >>> check_means(parse_reservoir("uniform(0,2)"), parse_family("bernoulli"))
    Traceback (most recent call last):
    ValueError: reservoir must have means between 0 and 1 for bernoulli, got 'uniform(0,2)'
    """
    require(isinstance(reservoir, Reservoir), "reservoir", "be a Reservoir (parse_reservoir reads text)", reservoir)
    name = reservoir.expression or type(reservoir).__name__
    lowest, highest = family.lowest, family.highest
    inside = lowest <= reservoir.infimum and reservoir.supremum <= highest
    span = f"have means between {lowest:g} and {highest:g} for {describe(family)}"
    require(inside, "reservoir", span, name)
    # An exponential law, for example, cannot have mean 0.
    if isinstance(family, RewardFamily) and lowest > -math.inf:
        degenerate = family.divergence(lowest, lowest + 0.5) == math.inf
        atom = degenerate and reservoir.cdf(lowest) > 0.0
        require(not atom, "reservoir", f"have means above {lowest:g} for {describe(family)}", name)


def judged_law(reservoir: Reservoir, family: RewardModel) -> Reservoir:
    """The law that a claim is about: that of the means, or of the scores on a finite set of items.

    Examples
    --------
    >>> from topalpha import parse_family, parse_reservoir
    >>> law = parse_reservoir("dirac(0.5)")
    >>> judged_law(law, parse_family("bernoulli")).top(0.25), judged_law(law, parse_family("pass-fail(2)")).top(0.25)
    (0.5, 1.0)
    """
    return reservoir if family.capacity == ENDLESS else Scores(reservoir, family.capacity)


def simulate(
    algorithm: Algorithm,
    reservoir: Reservoir,
    runs: int = 100,
    seed: int = 0,
    workers: int | None = None,
    rewards: Any = None,
    progress: Callable[[int], None] | None = None,
    executor: Executor | None = None,
    limit: int | None = None,
) -> Study:
    """Run the algorithm many times on arms from the reservoir.

    Parameters
    ----------
    algorithm
        The result of ``design``.
    reservoir
        The law of the arms' means. On a finite set of items (``pass-fail``) it is the law of their probabilities to
        pass an item. An arm's score on the set scatters around that, and claims and errors are about scores: see
        :class:`topalpha.reservoirs.Scores`.
    runs, seed
        The number of runs, and their seed; run r does not depend on ``runs`` and ``workers``.
    workers
        The number of threads, by default one per core. The results do not depend on it.
    rewards
        The source of rewards: any object with ``sample(mean, rng)``, by default the algorithm's family.
    progress
        Called with 1 after each run; with an executor after each chunk, with the number of its runs.
    executor
        Runs them in place of threads: any object whose ``submit`` returns futures of ``concurrent.futures``, for
        example a process pool or a cluster's executor. Then ``workers`` is the number of chunks; for other
        processes all arguments must be picklable.
    limit
        A run that needs more pulls than this is cut off, after its current block if it plans blocks.
        ``Study.unfinished`` counts such runs; they are not errors.

    Examples
    --------
    >>> from topalpha import design, simulate
    >>> from topalpha.reservoirs import Beta, Conditioned
    >>> study = simulate(design("kl-lucb", 0.1, 0.2, 0.1), Conditioned(Beta(1, 1), 0.95), runs=10, seed=1)
    >>> study.runs, study.errors.count
    (10, 0)
    """
    require(isinstance(algorithm, Algorithm), "algorithm", "be the result of design", algorithm)
    require(executor is None or hasattr(executor, "submit"), "executor", "have a submit method", executor)
    check_means(reservoir, algorithm.family)
    runs = whole("runs", runs, most=MOST_RUNS)
    seed = seed_number("seed", seed)
    workers = whole("workers", os.cpu_count() or 1 if workers is None else workers, most=MOST_WORKERS)
    experiment = Experiment(algorithm, reservoir, rewards, seed, 2**62 if limit is None else whole("limit", limit))
    experiment.compile()  # before fanning out

    pulls = np.zeros(runs, dtype=np.int64)
    means = np.zeros(runs)
    stopped = np.zeros(runs, dtype=np.bool_)

    def keep(index: int, outcome: RunOutcome) -> None:
        pulls[index], means[index], stopped[index] = outcome

    begin = time.perf_counter()
    if executor is None:
        run_on_threads(experiment, runs, workers, keep, progress)
    else:
        run_on_executor(experiment, runs, workers, keep, progress, executor)
    law = judged_law(reservoir, algorithm.family)
    return Study(
        algorithm=algorithm.traits.name,
        family=describe(algorithm.family),
        reservoir=reservoir.expression or type(reservoir).__name__,
        alpha=algorithm.alpha,
        epsilon=algorithm.epsilon,
        delta=algorithm.delta,
        arms=algorithm.arms,
        seed=seed,
        seconds=time.perf_counter() - begin,
        supremum=law.supremum,
        threshold=law.threshold(algorithm.alpha, algorithm.epsilon),
        threshold_alpha=law.threshold(algorithm.alpha),
        pulls=pulls,
        means=means,
        stopped=stopped,
    )


class Means:
    """The means of a run's arms, drawn as in compiled runs: n at first, then doubled whenever they run out.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Dirac
    >>> means = Means(design("kl-lucb", 0.3, 0.3, 0.2), Dirac(0.5), streams(0).arms)
    >>> means[0], len(means.drawn)
    (0.5, 8)
    """

    def __init__(self, algorithm: Algorithm, reservoir: Reservoir, rng: np.random.Generator) -> None:
        self.reservoir = reservoir
        self.rng = rng
        self.drawn: list[float] = reservoir.sample(algorithm.arms, rng).tolist()

    def __getitem__(self, arm: int) -> float:
        if arm == len(self.drawn):
            self.drawn.extend(self.reservoir.sample(max(arm, 1), self.rng).tolist())
        return self.drawn[arm]


class Interpreted(NamedTuple):
    """A search on simulated arms, and their true means; on finitely many items these are their rates of passing.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Dirac
    >>> run = interpret(design("kl-lucb", 0.3, 0.3, 0.2), Dirac(0.5))
    >>> set(run.means), len(run.means) == run.search.history.arms
    ({0.5}, True)
    """

    search: Search
    means: list[float]


def interpret(
    algorithm: Algorithm,
    reservoir: Reservoir,
    seed: Seed = 0,
    budget: int = 2**62,
    watch: Callable[[Search, Pull, float], None] | None = None,
) -> Interpreted:
    """One run by ask and tell, with the arms and rewards that a compiled run with this seed would draw.

    Parameters
    ----------
    algorithm, reservoir
        As for ``simulate``.
    seed
        Seed of this run; ``topalpha.randomness.run_seed`` gives the seed of a run of a study.
    budget
        The run ends after this many pulls even if the algorithm has not stopped.
    watch
        Called after each reward with the search, the pull and its reward.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Uniform
    >>> algorithm, reservoir = design("joint-lucb", 0.2, 0.2, 0.1), Uniform(0.0, 1.0)
    >>> run = interpret(algorithm, reservoir, seed=3)
    >>> run.search.result.stopped, run.means[run.search.result.arm] > 0.6
    (True, True)
    >>> arms = []
    >>> run = interpret(algorithm, reservoir, seed=3, budget=5, watch=lambda search, pull, _: arms.append(pull.arm))
    >>> arms, run.search.result.stopped
    ([0, 1, 2, 3, 4], False)
    """
    source = streams(seed)
    means = Means(algorithm, reservoir, source.arms)
    search = Search(algorithm, seed)
    while search.history.t < budget and (pull := search.ask()) is not None:
        reward = algorithm.family.sample(means[pull.arm], source.rewards)
        search.tell(pull, reward)
        if watch is not None:
            watch(search, pull, reward)
    return Interpreted(search, means.drawn[: search.history.arms])
