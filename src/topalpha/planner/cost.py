"""Expected pulls by simulation, within a budget of simulated pulls.

Where the target itself is too costly to simulate, a coarser one is: alpha is doubled while there are many arms, then
epsilon, until a run fits. Pulls are proportional to the number of arms, and when epsilon is halved they grow four times
at most, up to logarithms: four times where arms are alike, less where they differ. So the figures, scaled by the ratio
of the arms and of 1/epsilon^2, are right for arms that are alike and too high for others; they are marked.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from topalpha.families import Gaussian, Normal
from topalpha.families.protocols import RewardModel
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Dirac, Reservoir, Uniform
from topalpha.rules.protocol import Algorithm
from topalpha.simulation import Experiment, finish, standard_error, start

# A target is simulated as it is if this many runs of it fit into the budget.
_FEWEST_RUNS = 8
# While there are more arms than this, a run is made shorter by drawing fewer, else by a larger epsilon.
_ENOUGH_ARMS = 500
# How often the target is made coarser before the simulation is given up.
_DOUBLINGS = 20
# The reference range of a family that has no scale of its own, in epsilons.
_RANGE_IN_EPSILONS = 20.0


class Case(NamedTuple):
    """A reservoir to plan for, in words and as a law; ``rewards`` as for ``simulate``.

    Examples
    --------
    >>> Case("all candidates are alike", Dirac(0.5)).law.expression
    'dirac(0.5)'
    """

    words: str
    law: Reservoir
    rewards: Any = None
    note: str = ""


@dataclass(frozen=True)
class Cost:
    """Pulls in a number of simulated runs; None where no run stopped within the budget.

    Attributes
    ----------
    case, law
        The reservoir, in words and as text.
    mean, stderr, median, p90
        Of the pulls of a run.
    runs
        How many runs were simulated.
    alpha, epsilon, scale
        The target that was simulated, and what its pulls were multiplied by: 1 unless extrapolated.

    Examples
    --------
    >>> Cost("pilot", "Empirical", 2000.0, 9.0, 1980.0, 2300.0, 100, 0.05, 0.05, 1.0).extrapolated
    False
    """

    case: str
    law: str
    mean: float | None
    stderr: float | None
    median: float | None
    p90: float | None
    runs: int
    alpha: float
    epsilon: float
    scale: float

    @property
    def extrapolated(self) -> bool:
        """Whether a coarser target was simulated."""
        return self.scale != 1.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "extrapolated": self.extrapolated}


def references(family: RewardModel, epsilon: float) -> tuple[Case, Case]:
    """A hard reservoir, all candidates alike, and an easy one, spread evenly over the family's range of means.

    Examples
    --------
    >>> from topalpha.families import Bernoulli, Gaussian, Poisson
    >>> [case.law.expression for case in references(Bernoulli(), 0.05)]
    ['dirac(0.5)', 'uniform(0,1)']
    >>> [case.law.expression for case in references(Gaussian(sigma=2.0), 0.05)]
    ['dirac(0)', 'uniform(-2,2)']
    >>> references(Poisson(), 0.5)[1].note
    'Means are 20 epsilon wide, for want of a range of means.'
    """
    low, high, note = family.lowest, family.highest, ""
    width = _RANGE_IN_EPSILONS * epsilon
    if isinstance(family, (Gaussian, Normal)):
        width = 2.0 * (family.sigma if isinstance(family, Gaussian) else 1.0)
        note = "Means are two standard deviations of a reward wide, as those of [0, 1] rewards are."
        note += " Rewards are taken to have standard deviation 1." if isinstance(family, Normal) else ""
    elif high - low == math.inf:
        note = f"Means are {_RANGE_IN_EPSILONS:g} epsilon wide, for want of a range of means."
    if high == math.inf:
        low = -0.5 * width if low == -math.inf else low
        high = low + width
    elif low == -math.inf:
        low = high - width
    alike = Case("all candidates are alike", Dirac(0.5 * (low + high)), note=note)
    return alike, Case("candidates are spread evenly", Uniform(low, high), note=note)


def expect(
    case: Case,
    make: Callable[[float, float], Algorithm],
    alpha: float,
    epsilon: float,
    runs: int = 100,
    seed: int = 0,
    workers: int | None = None,
    budget: int = 4_000_000,
    finest: tuple[float, float] = (0.0, 0.0),
) -> Cost:
    """The pulls of the algorithm that ``make(alpha, epsilon)`` gives, simulated with about ``budget`` pulls in all.

    ``finest`` is an alpha and an epsilon below which nothing need be tried, because a like target was too costly.

    Examples
    --------
    >>> from topalpha import design
    >>> make = lambda alpha, epsilon: design("lucb++", alpha, epsilon, 0.1)
    >>> expect(Case("alike", Dirac(0.5)), make, 0.2, 0.3, runs=10).extrapolated
    False
    >>> coarse = expect(Case("alike", Dirac(0.5)), make, 0.2, 0.01, runs=10, budget=30_000)
    >>> coarse.epsilon > 0.01, coarse.scale == (coarse.epsilon / 0.01) ** 2
    (True, True)
    """
    target = make(alpha, epsilon)
    coarse_alpha, coarse_epsilon = alpha, epsilon
    # About as many arms as a run may have pulls: memory would be filled in vain.
    while make(coarse_alpha, epsilon).arms > budget // (4 * _FEWEST_RUNS) and coarse_alpha < 0.25:
        coarse_alpha *= 2.0
    while coarse_alpha < finest[0]:
        coarse_alpha *= 2.0
    while coarse_epsilon < finest[1]:
        coarse_epsilon *= 2.0
    pulls = None
    for _ in range(_DOUBLINGS + 1):
        algorithm = make(coarse_alpha, coarse_epsilon)
        pulls = _spend(Experiment(algorithm, case.law, case.rewards, seed), runs, budget, workers)
        if pulls is not None:
            break
        if algorithm.arms > _ENOUGH_ARMS:
            coarse_alpha = min(2.0 * coarse_alpha, 0.5)
        else:
            coarse_epsilon *= 2.0
    name = case.law.expression or type(case.law).__name__
    if pulls is None:
        return Cost(case.words, name, None, None, None, None, 0, coarse_alpha, coarse_epsilon, 1.0)
    scale = (coarse_epsilon / epsilon) ** 2 * (target.arms / algorithm.arms)
    scaled = scale * np.array(pulls, dtype=np.float64)
    return Cost(
        case=case.words,
        law=name,
        mean=float(scaled.mean()),
        stderr=standard_error(scaled),
        median=float(np.median(scaled)),
        p90=float(np.quantile(scaled, 0.9)),
        runs=len(pulls),
        alpha=coarse_alpha,
        epsilon=coarse_epsilon,
        scale=scale,
    )


def _spend(experiment: Experiment, runs: int, budget: int, workers: int | None) -> list[int] | None:
    """Pulls of as many runs as the budget allows; None if the first one shows that it allows too few.

    Later runs may be longer, since some reservoirs have a heavy tail of costs, but not without end. What is run depends
    on pulls alone, never on the clock or the number of threads: a plan is the same every time.
    """
    experiment.compile()
    cancelled = threading.Event()
    pulls: list[int] = []

    def one(index: int) -> int | None:
        run = start(experiment.algorithm, experiment.rewards)
        limit = budget // (2 if index else _FEWEST_RUNS)
        stopped = finish(run, experiment.reservoir, streams(run_seed(experiment.seed, index)), cancelled, limit)
        return int(run.history.t) if stopped else None

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        try:
            while len(pulls) < runs:
                spent = sum(pulls)
                room = (budget - spent) * len(pulls) // spent if pulls else 1
                block = min(_FEWEST_RUNS, room, runs - len(pulls))
                if block < 1:
                    break
                for count in pool.map(one, range(len(pulls), len(pulls) + block)):
                    if count is None:
                        cancelled.set()
                        return None
                    pulls.append(count)
        except BaseException:
            cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
    return pulls
