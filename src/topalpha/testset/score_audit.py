"""The coverage audit on the user's own data: how often choices are wrong, and their cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topalpha.research.audit import FALSE_ALARM
from topalpha.simulation import Count
from topalpha.testset.naive import LOOK, Rule, Thumb, enough, fixed, race
from topalpha.testset.replays import replays
from topalpha.testset.table import ScoreTable
from topalpha.validate import MOST_RUNS, whole

# A score that is epsilon below the top, up to rounding, is right.
_ROUNDING = 1e-9
# The folk rule tries every candidate on this many examples, or on a quarter of a small test set.
_EACH, _QUARTER = 50, 4


@dataclass(frozen=True, eq=False)
class RuleRuns:
    """The results of one rule in all runs.

    Attributes
    ----------
    rule, candidates
        The rule, and the number of candidates that it tries.
    costs, scores
        By run: evaluations, and the true score of the chosen candidate.
    threshold, delta
        A score below the threshold is an error; errors are tested against a probability of delta.
    full
        The cost of evaluating as many candidates on all examples.

    Examples
    --------
    >>> one = RuleRuns("guess", 2, np.array([4, 6]), np.array([0.5, 0.9]), threshold=0.6, delta=0.05, full=10)
    >>> one.errors.count, one.share, one.compatible
    (1, 0.5, True)
    """

    rule: str
    candidates: int
    costs: NDArray[np.int64] = field(repr=False)
    scores: NDArray[np.float64] = field(repr=False)
    threshold: float
    delta: float
    full: int

    @property
    def errors(self) -> Count:
        """The runs whose chosen candidate is more than epsilon below the top."""
        return Count(int(np.sum(self.scores < self.threshold)), len(self.scores))

    @property
    def share(self) -> float:
        """The mean cost as a fraction of full evaluation."""
        return float(self.costs.mean()) / self.full

    @property
    def p_value(self) -> float:
        """P(at least this many errors) if the probability of an error were delta: exact, binomial."""
        return self.errors.excess(self.delta)

    @property
    def compatible(self) -> bool:
        """Whether the p-value is above :data:`topalpha.research.audit.FALSE_ALARM`."""
        return self.p_value > FALSE_ALARM

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return "compatible" if self.compatible else "NOT compatible"

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "rule": self.rule,
            "candidates": self.candidates,
            "errors": self.errors.to_dict(),
            "p_value": self.p_value,
            "verdict": self.verdict,
            "evaluations": {
                "mean": float(self.costs.mean()),
                "least": int(self.costs.min()),
                "median": float(np.median(self.costs)),
                "p90": float(np.quantile(self.costs, 0.9)),
                "most": int(self.costs.max()),
            },
            "full_evaluations": self.full,
            "share": self.share,
            "score": float(self.scores.mean()),
        }


@dataclass(frozen=True, eq=False)
class Audit:
    """Many choices on one table, by ``select`` and by rules of thumb.

    Attributes
    ----------
    candidates, examples
        The size of the table.
    endless
        Whether candidates were drawn with replacement, as from an endless pool; otherwise the table was the list.
    alpha, epsilon, delta
        The target.
    top, best
        The score where the top alpha begins, and the best score.
    select, thumbs
        The results of select, and of the rules of thumb.

    Examples
    --------
    >>> table = ScoreTable(["short", "long"], ["q1", "q2", "q3"], [[1, 0, 1], [1, 1, 1]])
    >>> found = audit(table, runs=20)
    >>> found.passed, found.select.errors.count, [thumb.rule for thumb in found.thumbs]
    (True, 0, ['1 example each'])
    """

    candidates: int
    examples: int
    endless: bool
    alpha: float
    epsilon: float
    delta: float
    algorithm: str
    seed: int
    top: float
    best: float
    select: RuleRuns
    thumbs: tuple[RuleRuns, ...]

    @property
    def passed(self) -> bool:
        """Whether select's errors are compatible with delta, and no choice cost more than full evaluation."""
        return self.select.compatible and int(self.select.costs.max()) <= self.select.full

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "passed": self.passed,
            "candidates": self.candidates,
            "examples": self.examples,
            "pool": "endless" if self.endless else "list",
            "alpha": self.alpha,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "algorithm": self.algorithm,
            "runs": self.select.errors.runs,
            "seed": self.seed,
            "top": self.top,
            "best": self.best,
            "select": self.select.to_dict(),
            "thumbs": [thumb.to_dict() for thumb in self.thumbs],
        }


def audit(
    table: ScoreTable,
    *,
    alpha: float | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    runs: int = 1000,
    seed: int = 0,
    endless: bool = False,
    order: str | None = None,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    """Replay the choice many times, in random orders, and count errors.

    Parameters
    ----------
    table
        Recorded scores of all candidates on all examples, so that the truth is known.
    alpha, epsilon, delta, order, algorithm, options
        As for :func:`topalpha.select`.
    runs, seed
        The number of replays, and their seed.
    endless
        Whether candidates are drawn with replacement, as from an endless pool; otherwise the table is the list.
    workers, progress
        The number of threads, by default one per core; and a function called with 1 after each replay.

    Returns
    -------
    Audit
        Errors with their exact interval, the verdict against delta, costs against full evaluation, and the same for two
        rules of thumb: a fixed number of examples per candidate, and a race that drops candidates that look
        significantly worse, by ordinary 95% intervals.

    Examples
    --------
    >>> table = ScoreTable(["short", "long"], ["q1", "q2", "q3"], [[1, 0, 1], [1, 1, 1]])
    >>> audit(table, runs=20).select.verdict
    'compatible'
    """
    replayed = replays(
        table,
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        seed=seed,
        endless=endless,
        order=order,
        algorithm=algorithm,
        options=options,
    )
    designed, (size, items) = replayed.algorithm, table.matrix.shape
    runs, top = whole("runs", runs, most=MOST_RUNS), table.top(designed.alpha)
    threshold = top - epsilon - _ROUNDING

    def record(rule: str, drawn: int, found: tuple[NDArray[np.int64], NDArray[np.float64]]) -> RuleRuns:
        return RuleRuns(rule, drawn, *found, threshold=threshold, delta=delta, full=drawn * items)

    thumbs = []
    for name, rule in rules_of_thumb(items).items():
        drawn = enough(designed.alpha, delta) if endless else 0
        thumbs.append(record(name, drawn or size, Thumb(rule, table.matrix, drawn, seed).many(runs)))
    return Audit(
        candidates=size,
        examples=items,
        endless=endless,
        alpha=designed.alpha,
        epsilon=epsilon,
        delta=delta,
        algorithm=designed.traits.name,
        seed=seed,
        top=top,
        best=float(table.means.max()),
        select=record("select", designed.arms, replayed.many(runs, workers, progress)),
        thumbs=tuple(thumbs),
    )


def rules_of_thumb(items: int) -> dict[str, Rule]:
    """The rules of thumb for a test set of this size, by name.

    Examples
    --------
    >>> list(rules_of_thumb(200))
    ['50 examples each', 'race at 95%']
    """
    each = max(1, min(_EACH, items // _QUARTER))
    named = f"{each} example{'s' if each > 1 else ''} each"
    return {named: fixed(each)} | ({"race at 95%": race} if items > LOOK else {})
