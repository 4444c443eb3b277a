"""One cell of a comparison: an algorithm measured on a case, or the reason why it was not."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from topalpha.algorithms import design, entry, prior_knowledge
from topalpha.families import parse_family
from topalpha.randomness import run_seed, streams
from topalpha.research.comparison.configuration import LARGEST_DESIGN, Comparison, ComparisonCase, Contender
from topalpha.reservoirs import Reservoir, parse
from topalpha.rules.protocol import Algorithm
from topalpha.simulation import finish, simulate, start

#: The status of a cell: it was run; its design is too large; it does not apply to this reservoir; it was refused.
MEASURED, TOO_LARGE, NOT_APPLICABLE, REFUSED = "measured", "formula", "does not apply", "refused"

#: The number of runs whose arms are recorded, and of groups of arms by mean.
_WATCHED, _GROUPS = 3, 20


@runtime_checkable
class Planned(Protocol):
    """A design that fixes its number of pulls, or its average."""

    def design_pulls(self) -> float:
        """The number of pulls by formula."""


class ComparisonCell(NamedTuple):
    """A contender on a case, with a budget if it needs one.

    Examples
    --------
    >>> ComparisonCell(Contender("isha"), ComparisonCase("dirac(0.5)", 0.1, 0.1, 0.05), 2000).key
    'isha | dirac(0.5) | 0.1 0.1 0.05 | 2000'
    """

    contender: Contender
    case: ComparisonCase
    budget: int | None = None

    @property
    def key(self) -> str:
        """The identity of the cell within a comparison."""
        parts = [self.contender.label, self.case.reservoir, " ".join(f"{number:.12g}" for number in self.case.target)]
        return " | ".join(parts if self.budget is None else [*parts, str(self.budget)])


def cells(comparison: Comparison) -> list[ComparisonCell]:
    """All cells, case by case.

    Examples
    --------
    >>> case = ComparisonCase("dirac(0.5)", 0.1, 0.1, 0.05)
    >>> [cell.contender.name for cell in cells(Comparison((Contender("cc-lucb"), Contender("kl-lucb")), (case,)))]
    ['cc-lucb', 'kl-lucb']
    """
    return [
        ComparisonCell(contender, case, budget)
        for case in comparison.cases
        for contender in comparison.contenders
        for budget in comparison.budgets_of(contender)
    ]


def evaluate(cell: ComparisonCell, comparison: Comparison, workers: int | None = None) -> dict[str, Any]:
    """The figures of a cell, ready for JSON; ``status`` says whether it was measured, ``reason`` why not.

    Examples
    --------
    >>> case = ComparisonCase("two-point(0.2,0.8,0.3)", 0.3, 0.3, 0.2)
    >>> one = Contender("cc-lucb")
    >>> row = evaluate(ComparisonCell(one, case), Comparison((one,), (case,), runs=20))
    >>> row["status"], row["runs"], row["guarantee"]
    ('measured', 20, 'fixed-confidence')
    """
    contender, case = cell.contender, cell.case
    one = entry(contender.name)
    row: dict[str, Any] = {
        "key": cell.key,
        "algorithm": contender.label,
        "guarantee": one.guarantee,
        "knows": one.knowledge is not None,
        "reservoir": case.reservoir,
        "alpha": case.alpha,
        "epsilon": case.epsilon,
        "delta": case.delta,
        "budget": cell.budget,
    }
    law, family = parse(case.reservoir), parse_family(comparison.family)
    options = dict(contender.options)
    try:
        known = prior_knowledge(contender.name, law, case.alpha, case.epsilon)
    except ValueError as error:
        return {**row, "status": NOT_APPLICABLE, "reason": str(error)}
    if cell.budget is not None:
        known["budget"] = cell.budget
    if told := sorted(set(known) & set(options)):
        reason = f"{told[0]} must not be an option: it follows from the reservoir, got {options[told[0]]!r}"
        return {**row, "status": REFUSED, "reason": reason}
    try:
        algorithm = design(contender.name, *case.target, family, **(options | known))
    except ValueError as error:
        return {**row, "status": REFUSED, "reason": str(error)}
    row |= {"arms": algorithm.arms, "wanted": getattr(algorithm, "k", 1)}
    if one.guarantee == "fixed-confidence" and not algorithm.traits.covered:
        row["guarantee"] = "none"  # no proof covers this design
    planned = algorithm.design_pulls() if isinstance(algorithm, Planned) else None
    if planned is not None and planned > LARGEST_DESIGN:
        reason = f"the design takes {planned:.3g} pulls, by its formula"
        return {**row, "status": TOO_LARGE, "reason": reason, "design_pulls": planned}
    runs = comparison.runs if contender.runs is None else contender.runs
    # Blocks of pulls are drawn as sums: even very many cost almost nothing.
    limit = 2**62 if algorithm.traits.blocks else comparison.limit
    study = simulate(algorithm, law, runs, comparison.seed, workers, limit=limit).to_dict()
    figures = ("runs", "unfinished", "errors", "regret", "pulls", "seconds", "pulls_per_second")
    return {
        **row,
        "status": MEASURED,
        "design_pulls": planned,
        **{name: study[name] for name in figures},
        "allocation": allocation(algorithm, law, min(runs, _WATCHED), comparison.seed, limit),
    }


def allocation(algorithm: Algorithm, law: Reservoir, runs: int, seed: int, limit: int) -> list[list[float]]:
    """The mean and the pulls per arm in groups of arms, which are sorted by their true mean.

    Examples
    --------
    >>> law = parse("two-point(0.2,0.8,0.3)")
    >>> found = allocation(design("cc-lucb", 0.3, 0.3, 0.2), law, 10, 0, 10_000)
    >>> [mean for mean, _ in found], found[-1][1] > found[0][1]
    ([0.2, 0.8], True)
    """
    means, pulls = [], []
    for index in range(runs):
        run = start(algorithm)
        finish(run, law, streams(run_seed(seed, index)), limit=limit)
        seen = run.history.arms
        means.append(run.means[:seen])
        pulls.append(run.pulls[:seen])
    every, spent = np.concatenate(means), np.concatenate(pulls)
    values = np.unique(every)
    if len(values) <= _GROUPS:
        return [[float(value), float(spent[every == value].mean())] for value in values]
    order = np.argsort(every, kind="stable")
    groups = np.array_split(order, _GROUPS)
    return [[float(every[group].mean()), float(spent[group].mean())] for group in groups]
