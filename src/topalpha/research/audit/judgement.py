"""The judgement: whether the number of errors is compatible with a probability of at most delta."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from topalpha.families import describe
from topalpha.randomness import run_seed
from topalpha.research.audit.cell import AuditCell
from topalpha.reservoirs import parse
from topalpha.simulation import Count, simulate
from topalpha.validate import whole

#: The probability that a sound algorithm is called incompatible, per cell.
FALSE_ALARM = 1e-6

#: The fewest runs of a control, so that it is always detected; by ask and tell fewer, as controls err more often.
CONTROL_RUNS, CONTROL_TRIALS = 300, 100


@dataclass(frozen=True)
class Judgement:
    """The audit's result for one cell.

    Examples
    --------
    >>> from topalpha.research.audit.cases import cells
    >>> bad = Judgement(next(cells()), Count(50, 100), 1000.0)
    >>> bad.compatible, bad.as_expected, bad.verdict
    (False, False, 'NOT compatible')
    """

    cell: AuditCell
    errors: Count
    pulls: float

    @property
    def p_value(self) -> float:
        """P(at least this many errors) if the probability of an error were delta: exact, binomial."""
        return self.errors.excess(self.cell.case.delta)

    @property
    def compatible(self) -> bool:
        """Whether the p-value is above :data:`FALSE_ALARM`."""
        return self.p_value > FALSE_ALARM

    @property
    def as_expected(self) -> bool:
        """Whether the cell is compatible, or for a control incompatible."""
        return self.compatible != bool(self.cell.control)

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return "compatible" if self.compatible else "NOT compatible"

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        case, algorithm = self.cell.case, self.cell.algorithm
        return {
            "algorithm": algorithm.traits.name,
            "control": self.cell.control or None,
            "case": case.name,
            "reservoir": case.reservoir,
            "family": describe(algorithm.family),
            "rewards": repr(case.rewards) if case.rewards is not None else None,
            "trial": repr(case.trial) if case.trial is not None else None,
            "alpha": case.alpha,
            "epsilon": case.epsilon,
            "delta": case.delta,
            "arms": algorithm.arms,
            "runs": self.errors.runs,
            "errors": self.errors.to_dict(),
            "pulls": {"mean": self.pulls},
            "p_value": self.p_value,
            "verdict": self.verdict,
            "as_expected": self.as_expected,
        }


def judge(
    cell: AuditCell, runs: int, seed: int = 0, workers: int | None = None, progress: Callable[[int], None] | None = None
) -> Judgement:
    """Run the cell's algorithm and judge its errors.

    There are ``runs`` runs, for a slow trial a fraction of them; only compiled runs use ``workers``.

    Examples
    --------
    >>> from topalpha.research.audit.cases import controls
    >>> judge(next(controls()), runs=300).verdict
    'NOT compatible'
    """
    case, law = cell.case, parse(cell.case.reservoir)
    if case.trial is None:
        runs = max(runs, CONTROL_RUNS) if cell.control else runs
        study = simulate(cell.algorithm, law, runs, seed, workers, case.rewards, progress)
        return Judgement(cell, study.errors, float(study.pulls.mean()))
    runs = max(1, whole("runs", runs) // case.thin)
    wrong = pulls = 0
    for index in range(max(runs, CONTROL_TRIALS) if cell.control else runs):
        verdict = case.trial.run(cell.algorithm, law, case.rewards, run_seed(seed, index))
        wrong, pulls, runs = wrong + verdict.wrong, pulls + verdict.pulls, index + 1
        if progress is not None:
            progress(1)
    return Judgement(cell, Count(wrong, runs), pulls / runs)
