"""Expected pulls by simulation, within a budget of simulated pulls.

If the target itself is too costly to simulate, a coarser one is simulated: alpha is doubled while there are many arms,
then epsilon, until a run fits. Pulls are proportional to the number of arms. When epsilon is halved they grow at most
fourfold, up to logarithms: fourfold if arms are alike, less if they differ. So the figures, scaled by the ratio of the
arms and of 1/epsilon^2, are right for arms that are alike and too high for others; they are marked.
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

# A target is simulated directly if this many runs fit into the budget.
_FEWEST_RUNS = 8
# With more arms than this, drawing fewer makes a run shorter; with fewer arms, a larger epsilon does.
_ENOUGH_ARMS = 500
# How many times the target is made coarser before the simulation is given up.
_DOUBLINGS = 20
# The reference range of means for a family without a scale, in epsilons.
_RANGE_IN_EPSILONS = 20.0


class Case(NamedTuple):
    """A reservoir to plan for, as a description and as a law; ``rewards`` as for ``simulate``.

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
    """Pulls in simulated runs; None if no run stopped within the budget.

    Attributes
    ----------
    case, law
        The reservoir, as a description and as text.
    mean, stderr, median, p90
        Statistics of the pulls of a run.
    runs
        The number of simulated runs.
    alpha, epsilon, scale
        The simulated target, and the factor that its pulls were multiplied by: 1 unless extrapolated.

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
        """A dictionary for JSON."""
        return {**asdict(self), "extrapolated": self.extrapolated}


def references(family: RewardModel, epsilon: float) -> tuple[Case, Case]:
    """A hard reservoir (all candidates alike) and an easy one (spread evenly over the family's range of means).

    Examples
    --------
    >>> from topalpha.families import Bernoulli, Gaussian, Poisson
    >>> [case.law.expression for case in references(Bernoulli(), 0.05)]
    ['dirac(0.5)', 'uniform(0,1)']
    >>> [case.law.expression for case in references(Gaussian(sigma=2.0), 0.05)]
    ['dirac(0)', 'uniform(-2,2)']
    >>> references(Poisson(), 0.5)[1].note
    'Means span 20 epsilon, because the family has no range of means.'
    """
    low, high, note = family.lowest, family.highest, ""
    width = _RANGE_IN_EPSILONS * epsilon
    if isinstance(family, (Gaussian, Normal)):
        width = 2.0 * (family.sigma if isinstance(family, Gaussian) else 1.0)
        note = "Means span two standard deviations of a reward, as for rewards in [0, 1]."
        note += " The standard deviation of rewards is assumed to be 1." if isinstance(family, Normal) else ""
    elif high - low == math.inf:
        note = f"Means span {_RANGE_IN_EPSILONS:g} epsilon, because the family has no range of means."
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
    """The pulls of the algorithm ``make(alpha, epsilon)``, simulated with about ``budget`` pulls in all.

    ``finest`` is the smallest alpha and epsilon worth trying, because a similar target was too costly.

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
    # More arms than a run may have pulls would only fill memory.
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
    # No run on a test set is longer than this.
    scaled = np.minimum(scale * np.array(pulls, dtype=np.float64), float(target.arms) * target.family.capacity)
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
    """Pulls of as many runs as the budget allows; None if the first run shows that it allows too few.

    Later runs may be longer, because some reservoirs have a heavy tail of costs, but they are limited too. The number
    of runs depends on pulls alone, never on the clock or the number of threads, so that plans are reproducible.
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
