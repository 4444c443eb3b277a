"""The configuration of a comparison, ready for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from typing import Any

from topalpha.algorithms import check_epsilon, entry
from topalpha.families import describe, parse_family
from topalpha.reservoirs import parse
from topalpha.simulation import check_means
from topalpha.theory import blocks
from topalpha.validate import MOST_RUNS, choice, fraction, plain, positive, require, seed_number, whole

#: A run ends after this many pulls, stopped or not.
LIMIT = 100_000_000
#: A design that fixes more pulls than this is reported by its formula, not run.
LARGEST_DESIGN = 1e9


@dataclass(frozen=True)
class Contender:
    """An algorithm with its options; ``runs`` if its number of runs differs from the others'.

    Examples
    --------
    >>> Contender("p", {"clock": "N"}).label, Contender("joint-lucb").label
    ('p (clock=N)', 'joint-lucb')
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    runs: int | None = None

    @property
    def label(self) -> str:
        """The name, with the options that differ from their defaults."""
        told = ", ".join(f"{name}={value}" for name, value in sorted(self.options.items()))
        return f"{self.name} ({told})" if told else self.name


@dataclass(frozen=True)
class ComparisonCase:
    """A reservoir, as text, and a target.

    Examples
    --------
    >>> ComparisonCase("dirac(0.5)", 0.1, 0.1, 0.05).target
    (0.1, 0.1, 0.05)
    """

    reservoir: str
    alpha: float
    epsilon: float
    delta: float

    @property
    def target(self) -> tuple[float, float, float]:
        """Alpha, epsilon, delta."""
        return self.alpha, self.epsilon, self.delta

    @classmethod
    def every(
        cls, reservoirs: Sequence[str], alphas: Sequence[float], epsilons: Sequence[float], deltas: Sequence[float]
    ) -> tuple[ComparisonCase, ...]:
        """Every reservoir with every alpha, epsilon and delta.

        Examples
        --------
        >>> len(ComparisonCase.every(["dirac(0.5)"], [0.1, 0.2], [0.1], [0.1, 0.01, 0.001]))
        6
        """
        return tuple(cls(*one) for one in product(reservoirs, alphas, epsilons, deltas))


@dataclass(frozen=True)
class Comparison:
    """Contenders and cases, each contender on each case.

    Attributes
    ----------
    contenders, cases
        The algorithms; the reservoirs with their targets.
    family
        The rewards of all arms, as text.
    budgets
        Pulls for algorithms that need a budget, one cell each.
    runs, seed
        Runs of each cell, and their seed: run r draws the same arms for every algorithm.
    limit
        A run that needs more pulls than this is cut off; the table counts such runs. Algorithms that plan blocks of
        pulls, which cost nothing to simulate, are not cut off.

    Examples
    --------
    >>> cases = ComparisonCase.every(["dirac(0.5)"], [0.1], [0.1], [0.1, 0.01])
    >>> one = Comparison((Contender("cc-lucb"),), cases, runs=50)
    >>> Comparison.from_dict(one.to_dict()) == one
    True
    """

    contenders: tuple[Contender, ...]
    cases: tuple[ComparisonCase, ...]
    family: str = "bernoulli"
    budgets: tuple[int, ...] = ()
    runs: int = 100
    seed: int = 0
    limit: int = LIMIT

    def __post_init__(self) -> None:
        some = _holds(self.contenders, Contender) and len(self.contenders) > 0
        require(some, "contenders", "name an algorithm", self.contenders)
        require(
            _holds(self.cases, ComparisonCase) and len(self.cases) > 0,
            "cases",
            "name a reservoir and a target",
            self.cases,
        )
        require(isinstance(self.budgets, list | tuple), "budgets", "be a list of whole numbers", self.budgets)
        checked = {
            "runs": whole("runs", self.runs, most=MOST_RUNS),
            "seed": seed_number("seed", self.seed),
            "limit": whole("limit", self.limit),
            "budgets": tuple(whole("budget", budget) for budget in self.budgets),
            "cases": tuple(replace(case, **plain(vars(case))) for case in self.cases),
            "contenders": tuple(replace(one, options=plain(one.options)) for one in self.contenders),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        family = parse_family(self.family)
        object.__setattr__(self, "family", describe(family))
        require(len(set(self.budgets)) == len(self.budgets), "budgets", "differ", list(self.budgets))
        for case in self.cases:
            check_epsilon(positive("epsilon", case.epsilon), family)
            fraction("delta", case.delta)
            blocks(case.alpha)  # for the lower bounds in the table
            check_means(parse(case.reservoir), family)
        for contender in self.contenders:
            if contender.runs is not None:
                whole("runs", contender.runs, most=MOST_RUNS)
            self._check(contender)
        seen = [contender.label for contender in self.contenders]
        require(len(set(seen)) == len(seen), "contenders", "differ", ", ".join(seen))
        require(len(set(self.cases)) == len(self.cases), "cases", "differ", self.cases)

    def _check(self, contender: Contender) -> None:
        """Raise if an option does not exist; a target or reservoir that forbids it is reported in the cell."""
        one = entry(contender.name)
        require(isinstance(contender.options, Mapping), "options", "be a mapping of names to values", contender.options)
        allowed = set(one.defaults) - {"pool", "budget"}  # arms are drawn; budgets are separate
        for option, value in contender.options.items():
            known = f"be one of {', '.join(sorted(allowed)) or 'none'}"
            require(option in allowed, f"option of {contender.name}", known, option)
            if option in one.options:
                choice(option, value, one.options[option])
        if one.budgeted:
            require(len(self.budgets) > 0, "budget", f"be given for {contender.name}", None)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Comparison:
        """The comparison from the result of :meth:`to_dict`, or from a dictionary written by hand."""
        known = {one.name for one in fields(cls)}
        whole_mapping = {"contenders", "cases"} <= set(values) <= known
        require(whole_mapping, "comparison", f"have the entries {', '.join(sorted(known))}", sorted(values))
        try:
            contenders = tuple(Contender(**one) for one in values["contenders"])
            cases = tuple(ComparisonCase(**one) for one in values["cases"])
        except TypeError as error:
            raise ValueError(f"comparison must have whole contenders and cases, got {error}") from error
        rest = {name: value for name, value in values.items() if name not in ("contenders", "cases")}
        return cls(contenders, cases, **rest)

    def budgets_of(self, contender: Contender) -> Iterator[int | None]:
        """All budgets, or None for a contender that needs none."""
        yield from self.budgets if entry(contender.name).budgeted else (None,)


def _holds(values: Any, kind: type) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(one, kind) for one in values)
