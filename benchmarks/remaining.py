"""How good the estimate of the pulls left is: of many searches, at moments from a third of the way on.

The pools, targets and seeds here are not those that the constants of ``topalpha.ask_tell.forecast`` were fitted on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from topalpha import Search, parse_reservoir
from topalpha.ask_tell import Task
from topalpha.standing import timeline

#: How many moments of each search are looked at, evenly spaced in pulls; the share of the way from which on they count;
#: and how far off an estimate may be.
LOOKS, BEGIN, FACTOR = 24, 1.0 / 3.0, 2.0
SEEDS = 4
#: A search that takes more pulls is not looked at.
MOST = 100_000
#: Algorithms, and by how much the epsilons of those that need more pulls are larger.
ALGORITHMS = {"joint-lucb": 1.0, "cc-lucb": 1.0, "lucb++": 1.25, "kl-lucb": 1.6}


class Case(NamedTuple):
    """A task, the pool's distribution of means, and how a reward is drawn from a mean."""

    kind: str
    task: Task
    pool: str
    reward: Callable[[float, random.Random], float]


def coin(mean: float, rng: random.Random) -> float:
    """0 or 1."""
    return float(rng.random() < mean)


def near(mean: float, rng: random.Random) -> float:
    """Within 0.1 of the mean, in [0, 1]."""
    return min(max(mean + 0.2 * (rng.random() - 0.5), 0.0), 1.0)


def bell(mean: float, rng: random.Random) -> float:
    """Gaussian, of standard deviation 1."""
    return rng.gauss(2.0 * mean, 1.0)


def counted(mean: float, rng: random.Random) -> float:
    """Poisson, with a mean between 1 and 3."""
    return float(np.random.default_rng(rng.getrandbits(64)).poisson(1.0 + 2.0 * mean))


def cases() -> Iterator[Case]:
    """Several families, targets and pools for each algorithm; lists and test sets as ``select`` asks for them."""
    for name, wider in ALGORITHMS.items():
        families = {"gaussian": (0.35, bell, "gaussian(1)"), "poisson": (0.3, counted, "poisson")}
        if name != "kl-lucb":  # which has no bounds for these
            families |= {"low variance": (0.08, near, "low-variance"), "test set": (0.05, coin, "pass-fail")}
        for pool in ("beta(1,5)", "beta(2,3)", "two-point(0.45,0.7,0.1)"):
            for alpha, epsilon, delta in ((0.12, 0.09, 0.05), (0.06, 0.1, 0.02), (0.2, 0.07, 0.1)):
                yield Case("0 or 1", Task(alpha, wider * epsilon, delta, algorithm=name), pool, coin)
        for pool in ("beta(1,5)", "beta(2,3)"):
            yield Case("costs", Task(0.1, wider * 0.08, 0.05, algorithm=name, minimise=True), pool, coin)
            yield Case("list", Task(0.02, wider * 0.08, 0.05, algorithm=name, pool=50), pool, coin)
            for kind, (epsilon, reward, family) in families.items():
                more = {"items": 400, "pool": 30} if kind == "test set" else {}
                alpha = 0.03 if kind == "test set" else 0.1
                task = Task(alpha, wider * epsilon, 0.05, algorithm=name, family=family, **more)
                yield Case(kind, task, pool, reward)


def run(case: Case, seed: int) -> Search | None:
    """The search to its end; None if it takes too long."""
    law, rng = parse_reservoir(case.pool), random.Random(seed)
    means: list[float] = []
    search = Search(case.task.design(), model=case.task.model)
    while (pull := search.ask()) is not None:
        if search.told >= MOST:
            return None
        if pull.number == 0:
            means.append(law.lower_quantile(rng.random()))
        search.tell(pull, case.reward(means[pull.arm], rng))
    return search


class Look(NamedTuple):
    """One moment of a search: whether it counts, and the estimate over the truth, if there is an estimate."""

    algorithm: str
    kind: str
    late: bool
    ratio: float | None


def looks(case: Case, search: Search) -> Iterator[Look]:
    """The moments of a search before its end."""
    whole = search.history.t
    for now in timeline(search, points=LOOKS, arms=0)[:-1]:
        ratio = None if now.left is None else now.left / (whole - now.total)
        yield Look(case.task.algorithm, case.kind, now.total >= BEGIN * whole, ratio)


def summary(some: list[Look]) -> dict[str, Any]:
    """How often there is an estimate, how often it is close, and its spread over the truth."""
    found = [one.ratio for one in some if one.ratio is not None]
    close = [1.0 / FACTOR <= ratio <= FACTOR for ratio in found]
    spread = np.quantile(found, [0.1, 0.5, 0.9]).tolist() if found else None
    return {
        "looks": len(some),
        "shown": len(found) / len(some),
        "within a factor of 2": sum(close) / len(close) if close else None,
        "estimate over truth, 10%, 50%, 90%": spread,
    }


def measure(seeds: int = SEEDS) -> dict[str, Any]:
    """All figures."""
    every: list[Look] = []
    searches = 0
    for number, case in enumerate(cases()):
        for seed in range(seeds):
            found = run(case, 6_000_000 + 1000 * number + seed)
            if found is not None:
                searches += 1
                every += looks(case, found)
    late = [one for one in every if one.late]
    return {
        "searches": searches,
        "from a third of the way on": summary(late),
        "before": summary([one for one in every if not one.late]),
        "by algorithm": {name: summary([one for one in late if one.algorithm == name]) for name in ALGORITHMS},
        "by rewards": {
            kind: summary([one for one in late if one.kind == kind]) for kind in sorted({one.kind for one in late})
        },
    }
