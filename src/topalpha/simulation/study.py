"""The results of many runs: counts of errors with their intervals, pulls, and means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topalpha.display.printing import Printed
from topalpha.reservoirs import in_words
from topalpha.validate import share


@dataclass(frozen=True)
class Count:
    """The number of runs with an event, and the exact (Clopper-Pearson) 95% interval of its probability.

    Examples
    --------
    >>> Count(0, 100).rate, [round(end, 4) for end in Count(0, 100).interval]
    (0.0, [0.0, 0.0362])
    """

    count: int
    runs: int

    @property
    def rate(self) -> float:
        """The fraction of runs."""
        return self.count / self.runs

    @property
    def interval(self) -> tuple[float, float]:
        """The exact two-sided 95% interval of the probability."""
        from scipy.stats import binomtest

        low, high = binomtest(self.count, self.runs).proportion_ci(0.95, method="exact")
        return float(low), float(high)

    def excess(self, probability: float) -> float:
        """P(at least this many) if each run has this probability: the p-value of "the error exceeds it".

        Examples
        --------
        >>> Count(10, 10).excess(0.5) == 0.5**10
        True
        """
        from scipy.stats import binom

        return float(binom.sf(self.count - 1, self.runs, probability))

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {"count": self.count, "rate": self.rate, "interval": list(self.interval)}

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.count:,} = {share(self.rate)} (95% interval {share(low)} to {share(high)})"


@dataclass(frozen=True, eq=False)
class Study(Printed):
    """Many runs of one algorithm on one reservoir.

    Attributes
    ----------
    algorithm, family, reservoir
        The settings, as texts for ``design``, ``parse_family`` and ``parse_reservoir``.
    alpha, epsilon, delta
        The target.
    arms
        The most arms that a run may draw.
    seed, seconds
        The seed of all random choices, and the time it took.
    pulls, means, stopped
        By run: rewards spent, the true mean of the returned arm (of several the worst; on a finite set of items its
        score), and whether the algorithm stopped by itself. A run that was cut off is not an error: it claims nothing.
    threshold, threshold_alpha
        An arm with a mean below ``threshold`` is an error under the (alpha, epsilon) criterion, below
        ``threshold_alpha`` under alpha alone; both use the upper quantile.
    supremum
        mu*, from which simple regret is measured.

    Examples
    --------
    >>> from topalpha import design, simulate
    >>> from topalpha.reservoirs import parse
    >>> study = simulate(design("cc-lucb", 0.1, 0.2, 0.1), parse("beta(1,2)", at_most=0.95), runs=20, seed=0)
    >>> study.errors.count, study.arms
    (0, 44)
    """

    algorithm: str
    family: str
    reservoir: str
    alpha: float
    epsilon: float
    delta: float
    arms: int
    seed: int
    seconds: float
    supremum: float
    threshold: float
    threshold_alpha: float
    pulls: NDArray[np.int64] = field(repr=False)
    means: NDArray[np.float64] = field(repr=False)
    stopped: NDArray[np.bool_] = field(repr=False)

    @property
    def unfinished(self) -> int:
        """Runs that were cut off before the algorithm stopped."""
        return int(np.sum(~self.stopped))

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.pulls)

    @property
    def errors(self) -> Count:
        """Runs whose arm is not within epsilon of the top-alpha fraction."""
        return Count(int(np.sum(self.stopped & (self.means < self.threshold))), self.runs)

    @property
    def errors_alpha(self) -> Count:
        """Runs whose arm is not in the top-alpha fraction itself."""
        return Count(int(np.sum(self.stopped & (self.means < self.threshold_alpha))), self.runs)

    @property
    def regrets(self) -> NDArray[np.float64]:
        """Simple regret per run."""
        return self.supremum - self.means

    def summary(self) -> tuple[tuple[str, str], ...]:
        """The figures in words, as pairs of a name and a text; ``print(study)`` shows them.

        Examples
        --------
        >>> from topalpha import design, simulate
        >>> from topalpha.reservoirs import parse
        >>> study = simulate(design("cc-lucb", 0.1, 0.2, 0.1), parse("beta(1,2)", at_most=0.95), runs=20, seed=0)
        >>> dict(study.summary())["errors"]
        '0 = 0% (95% interval 0% to 16.8%)'
        """
        pulls, cut = self.pulls, f", {self.unfinished:,} of them cut off" if self.unfinished else ""
        spread = f"median {np.median(pulls):,.0f}, 90% of runs within {np.quantile(pulls, 0.9):,.0f}"
        speed = f", {pulls.sum() / self.seconds:,.0f} pulls a second" if self.seconds > 0.0 else ""
        return (
            ("algorithm", f"{self.algorithm}, {self.arms:,} arms"),
            ("rewards", self.family),
            ("reservoir", in_words(self.reservoir)),
            ("target", f"within {self.epsilon:g} of the top {share(self.alpha)}"),
            ("errors allowed", f"at most {share(self.delta)}"),
            ("runs", f"{self.runs:,}, seed {self.seed}{cut}"),
            ("errors", str(self.errors)),
            ("errors, alpha alone", str(self.errors_alpha)),
            ("simple regret", f"{self.regrets.mean():.4g}{_give_or_take(self.regrets)}"),
            ("pulls", f"{pulls.mean():,.0f}{_give_or_take(pulls)}; {spread}"),
            ("speed", f"{self.seconds:.2f} s{speed}"),
        )

    def _facts(self) -> Sequence[tuple[str, str]]:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON: figures, not single runs."""
        total = int(self.pulls.sum())
        return {
            "algorithm": self.algorithm,
            "family": self.family,
            "reservoir": self.reservoir,
            "alpha": self.alpha,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "runs": self.runs,
            "unfinished": self.unfinished,
            "seed": self.seed,
            "arms": self.arms,
            "errors": self.errors.to_dict(),
            "errors_alpha": self.errors_alpha.to_dict(),
            "regret": {"mean": float(self.regrets.mean()), "stderr": standard_error(self.regrets)},
            "pulls": {
                "mean": float(self.pulls.mean()),
                "stderr": standard_error(self.pulls),
                "median": float(np.median(self.pulls)),
                "p90": float(np.quantile(self.pulls, 0.9)),
            },
            "seconds": self.seconds,
            "pulls_per_second": total / self.seconds if self.seconds > 0.0 else None,
        }


def standard_error(values: NDArray[Any]) -> float | None:
    """The standard error of the mean; None for a single value.

    Examples
    --------
    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    if len(values) < 2:
        return None
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))


def _give_or_take(values: NDArray[Any]) -> str:
    error = standard_error(values)
    return "" if error is None else f" ± {error:,.2g}" if error < 10.0 else f" ± {error:,.0f}"
