"""The two drivers on one trajectory: interpreted by ask and tell, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from topalpha.algorithms import ALGORITHMS, design
from topalpha.core import Algorithm
from topalpha.families import describe, parse_family
from topalpha.reservoirs import Reservoir, parse
from topalpha.search import Search
from topalpha.simulation import start
from topalpha.streams import Seed, streams


class Interpreted(NamedTuple):
    """A search on simulated arms, and the true means of those arms."""

    search: Search
    means: list[float]


def interpret(
    algorithm: Algorithm,
    reservoir: Reservoir,
    seed: Seed = 0,
    rewards: Any = None,
    budget: int = 2**62,
    watch: Callable[[Search], None] | None = None,
) -> Interpreted:
    """One run by ask and tell, on the arms and the rewards that ``simulate`` would draw from this seed.

    ``watch`` is called after each reward.

    Examples
    --------
    >>> run = interpret(design("joint-lucb", 0.2, 0.2, 0.1), parse("beta(1,1)"), seed=3)
    >>> run.search.result.stopped, run.means[run.search.result.arm] > 0.6
    (True, True)
    """
    random = streams(seed)
    search = Search(algorithm, seed)
    means: list[float] = []
    world = algorithm.family if rewards is None else rewards
    while search.history.t < budget and (pull := search.ask()) is not None:
        if pull.arm >= len(means):
            means.extend(reservoir.sample(max(algorithm.arms, len(means)), random.arms).tolist())
        search.tell(pull, world.sample(means[pull.arm], random.rewards))
        if watch is not None:
            watch(search)
    return Interpreted(search, means[: search.history.arms])


@dataclass(frozen=True)
class Equality:
    """Whether the compiled run repeated the interpreted one to the last bit; ``difference`` names what did not.

    Examples
    --------
    >>> Equality("kl-lucb", "bernoulli", "dirac(0.5)", 120, "pulls").identical
    False
    """

    algorithm: str
    family: str
    reservoir: str
    pulls: int
    difference: str

    @property
    def identical(self) -> bool:
        """Whether nothing differed."""
        return not self.difference

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "algorithm": self.algorithm,
            "family": self.family,
            "reservoir": self.reservoir,
            "pulls": self.pulls,
            "identical": self.identical,
            "difference": self.difference or None,
        }


def equality(
    algorithm: Algorithm, reservoir: Reservoir, seed: Seed = 0, rewards: Any = None, budget: int = 20_000
) -> Equality:
    """Run both drivers on identical arms and rewards, up to ``budget`` pulls, and compare all that rules can see.

    Examples
    --------
    >>> equality(design("kl-lucb", 0.3, 0.4, 0.2), parse("two-point(0.2,0.8,0.3)"), seed=5).difference
    ''
    """
    search = interpret(algorithm, reservoir, seed, rewards, budget).search
    random = streams(seed)
    run = start(algorithm, rewards)
    run.add_arms(reservoir.sample(algorithm.arms, random.arms))
    status = run.advance(random.rules, random.rewards, search.history.t + 1 if search.result.stopped else budget)
    from topalpha.engine import OUT_OF_BUDGET, STOPPED

    seen, compiled = search.history, run.history
    arms = seen.arms
    pairs: list[tuple[str, bool]] = [
        ("end of the run", status == (STOPPED if search.result.stopped else OUT_OF_BUDGET)),
        ("number of pulls", seen.t == compiled.t),
        ("number of arms", arms == compiled.arms),
        ("pulls per arm", _same(seen.pulls[:arms], compiled.pulls[:arms])),
        *(
            (f"statistic {index}", _same(one[:arms], two[:arms]))
            for index, (one, two) in enumerate(zip(seen.stats, compiled.stats, strict=True))
        ),
        ("state", _same(seen.state, compiled.state)),
        ("recommendation", search.result.arm == run.recommend()),
    ]
    return Equality(
        algorithm=algorithm.name,
        family=describe(algorithm.family),
        reservoir=reservoir.expression or type(reservoir).__name__,
        pulls=seen.t,
        difference=", ".join(name for name, same in pairs if not same),
    )


def _same(one: Any, two: Any) -> bool:
    """Equal to the last bit as floats, NaN included; a list may hold whole numbers where an array cannot."""
    return np.asarray(one, dtype=np.float64).tobytes() == np.asarray(two, dtype=np.float64).tobytes()


#: One cheap reservoir per family for the full matrix.
_PAIRS = {
    "bernoulli": ("beta(1,2)", 0.25),
    "gaussian(0.5)": ("uniform(-1,1)", 0.5),
    "poisson(3)": ("uniform(0.5,2.5)", 0.8),
    "exponential(3)": ("uniform(0.5,2.5)", 1.0),
    "gamma(2,3)": ("uniform(0.5,2.5)", 0.8),
}


def matrix(full: bool = False) -> Iterator[tuple[Algorithm, Reservoir]]:
    """Every algorithm on every family; with ``full`` also every option of every algorithm.

    Examples
    --------
    >>> len(list(matrix())) == 5 * len(ALGORITHMS)
    True
    """
    for entry in ALGORITHMS:
        choices: list[dict[str, str]] = [{}]
        if full:
            choices += [{name: one} for name, values in entry.options.items() for one in values[1:]]
        for text, (reservoir, epsilon) in _PAIRS.items():
            for options in choices:
                yield design(entry.name, 0.15, epsilon, 0.1, parse_family(text), **options), parse(reservoir)
