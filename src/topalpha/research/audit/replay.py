"""Every way to run an algorithm on one trajectory: interpreted, searched, replayed, compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from topalpha.algorithms import ALGORITHMS, design, prior_knowledge
from topalpha.families import describe, parse_family
from topalpha.reservoirs import Reservoir, parse
from topalpha.rules.protocol import Algorithm
from topalpha.rules.registration import Entry
from topalpha.testing import check_algorithm


@dataclass(frozen=True)
class Equality:
    """Whether every way to run an algorithm gave the same run to the last bit; ``difference`` describes a failure.

    ``pulls`` is the length of that run, None if the ways differ.

    Examples
    --------
    >>> Equality("kl-lucb", "bernoulli", "dirac(0.5)", None, "interpreted and compiled differ in t: 1 and 2").identical
    False
    """

    algorithm: str
    family: str
    reservoir: str
    pulls: int | None
    difference: str

    @property
    def identical(self) -> bool:
        """Whether there is no difference."""
        return not self.difference

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "algorithm": self.algorithm,
            "family": self.family,
            "reservoir": self.reservoir,
            "pulls": self.pulls,
            "identical": self.identical,
            "difference": self.difference or None,
        }


def equality(algorithm: Algorithm, reservoir: Reservoir, seed: int = 0) -> Equality:
    """Run ``topalpha.testing.check_algorithm`` on the first run of the study with this seed, and record the result.

    Examples
    --------
    >>> equality(design("kl-lucb", 0.3, 0.4, 0.2), parse("two-point(0.2,0.8,0.3)"), seed=5).difference
    ''
    """
    pulls, difference = None, ""
    try:
        pulls = check_algorithm(algorithm, reservoir, seed).t
    except AssertionError as error:
        difference = str(error) or "an assertion without words"
    return Equality(
        algorithm=algorithm.traits.name,
        family=describe(algorithm.family),
        reservoir=reservoir.expression or type(reservoir).__name__,
        pulls=pulls,
        difference=difference,
    )


#: One cheap reservoir per family for the full matrix.
_PAIRS = {
    "bernoulli": ("beta(1,2)", 0.25),
    "gaussian(0.5)": ("uniform(-1,1)", 0.5),
    "poisson(3)": ("uniform(0.5,2.5)", 0.8),
    "exponential(3)": ("uniform(0.5,2.5)", 1.0),
    "gamma(2,3)": ("uniform(0.5,2.5)", 0.8),
}


#: Two-point laws, for algorithms that must know the reservoir and may support only such laws.
_KNOWN = {
    "bernoulli": "two-point(0.3,0.7,0.15)",
    "gaussian(0.5)": "two-point(-0.5,0.5,0.15)",
    "poisson(3)": "two-point(0.5,2,0.15)",
    "exponential(3)": "two-point(0.5,2,0.15)",
    "gamma(2,3)": "two-point(0.5,2,0.15)",
}
#: Pulls of algorithms that need a budget.
BUDGET = 3_000
#: The most pulls of algorithms that fix their number in advance.
AFFORDABLE = 20_000


def matrix(full: bool = False) -> Iterator[tuple[Algorithm, Reservoir]]:
    """Every algorithm on every family; with ``full`` also every option of every algorithm.

    Examples
    --------
    >>> len(list(matrix())) >= len(ALGORITHMS)
    True
    """
    for entry in ALGORITHMS:
        choices: list[dict[str, Any]] = [{}]
        if full:
            choices += [{name: one} for name, values in entry.options.items() for one in values[1:]]
        budget = {"budget": BUDGET} if entry.budgeted else {}
        for text, (reservoir, epsilon) in _PAIRS.items():
            if entry.rewards == "unit" and text != "bernoulli":
                continue
            law = parse(reservoir if entry.knowledge is None else _KNOWN[text])
            for options in choices:
                try:
                    algorithm = _affordable(entry, law, epsilon, parse_family(text), options | budget)
                except ValueError:
                    if not options or text == "bernoulli":
                        raise
                    continue  # an option for rewards in [0, 1] only
                yield algorithm, law


def _affordable(entry: Entry, law: Reservoir, epsilon: float, family: Any, options: dict[str, Any]) -> Algorithm:
    """The algorithm at this epsilon, doubled until a fixed number of pulls is affordable.

    Interpreted runs evaluate every pull.
    """
    while True:
        known = prior_knowledge(entry.name, law, 0.15, epsilon)
        algorithm: Any = design(entry.name, 0.15, epsilon, 0.1, family, **options, **known)
        if not hasattr(algorithm, "design_pulls") or algorithm.design_pulls() <= AFFORDABLE:
            made: Algorithm = algorithm
            return made
        epsilon *= 2.0
