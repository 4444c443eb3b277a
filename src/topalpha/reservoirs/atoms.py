"""Reservoirs made of atoms: finitely many possible means."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from topalpha.reservoirs.base import SAME_HEIGHT, Numbers, Reservoir, finite, number, probability, shares
from topalpha.validate import fraction, require


class Atomic(Reservoir):
    """Base class of finite laws: sorted means and the heights of G at them.

    Examples
    --------
    >>> TwoPoint(0.5, 0.7, 0.1).atoms
    (0.5, 0.7)
    """

    @abstractmethod
    def table(self) -> tuple[Numbers, Numbers]:
        """Possible means, strictly increasing, and G at each; the last height is 1."""

    @cached_property
    def _table(self) -> tuple[Numbers, Numbers]:
        return self.table()

    @property
    def atoms(self) -> tuple[float, ...]:
        """All possible means."""
        return tuple(self._table[0].tolist())

    @property
    def infimum(self) -> float:
        """The lowest mean."""
        return float(self._table[0][0])

    @property
    def supremum(self) -> float:
        """The highest mean."""
        return float(self._table[0][-1])

    def _height(self, below: int) -> float:
        return float(self._table[1][below - 1]) if below else 0.0

    def cdf(self, x: float) -> float:
        """The mass of the means up to x."""
        return self._height(int(np.searchsorted(self._table[0], x, side="right")))

    def cdf_left(self, x: float) -> float:
        """The mass of the means below x."""
        return self._height(int(np.searchsorted(self._table[0], x, side="left")))

    def _mean(self, index: int) -> float:
        means = self._table[0]
        return float(means[min(index, len(means) - 1)])

    def lower_quantile(self, p: float) -> float:
        """The first mean whose height is p or more; heights within :data:`SAME_HEIGHT` of p count as p."""
        return self._mean(int(np.searchsorted(self._table[1], probability(p) - SAME_HEIGHT, side="left")))

    def upper_quantile(self, p: float) -> float:
        """The first mean whose height exceeds p by more than :data:`SAME_HEIGHT`."""
        return self._mean(int(np.searchsorted(self._table[1], probability(p) + SAME_HEIGHT, side="right")))

    def supremum_at_most(self, bound: float) -> float:
        """The last mean that is <= bound."""
        return self._mean(max(0, int(np.searchsorted(self._table[0], bound, side="right")) - 1))

    def transport(self, uniforms: Numbers) -> Numbers:
        """Inversion of G without the quantiles' tolerance: every mean has exactly its own mass."""
        means, heights = self._table
        return means[np.minimum(np.searchsorted(heights, uniforms, side="right"), len(means) - 1)]


@dataclass(frozen=True)
class Dirac(Atomic):
    """Every arm has the same mean.

    Examples
    --------
    >>> Dirac(0.4).top(0.05), Dirac(0.4).acceptable(0.05)
    (0.4, 1.0)
    """

    at: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", finite("at", self.at))

    @property
    def expression(self) -> str:
        """dirac(at)."""
        return f"dirac({number(self.at)})"

    def table(self) -> tuple[Numbers, Numbers]:
        """One mean."""
        return np.array([self.at]), np.array([1.0])


@dataclass(frozen=True)
class TwoPoint(Atomic):
    """The most biased coin: an arm's mean is ``high`` with this probability, else ``low``.

    Examples
    --------
    >>> TwoPoint(0.5, 0.7, 0.1).top(0.1)
    0.7
    """

    low: float
    high: float
    probability: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", finite("low", self.low))
        object.__setattr__(self, "high", finite("high", self.high))
        object.__setattr__(self, "probability", fraction("probability", self.probability))
        require(self.low < self.high, "high", f"be above low = {number(self.low)}", self.high)

    @property
    def expression(self) -> str:
        """two-point(low,high,probability)."""
        return f"two-point({number(self.low)},{number(self.high)},{number(self.probability)})"

    def table(self) -> tuple[Numbers, Numbers]:
        """Two means."""
        return np.array([self.low, self.high]), np.array([1.0 - self.probability, 1.0])


@dataclass(frozen=True)
class Discrete(Atomic):
    """Finitely many means, equally likely unless weights are given; a mean listed twice counts twice.

    Examples
    --------
    >>> Discrete((0.1, 0.5, 0.9)).cdf(0.5) == 2 / 3
    True
    >>> Discrete((0.1, 0.9), (0.75, 0.25)).top(0.25)
    0.9
    """

    values: tuple[float, ...]
    weights: tuple[float, ...] | None = None

    def __init__(self, values: Sequence[float], weights: Sequence[float] | None = None) -> None:
        numbers = tuple(finite("values", value) for value in values)
        require(len(numbers) > 0, "values", "hold at least one mean", values)
        object.__setattr__(self, "values", numbers)
        if weights is not None:
            weights = shares("weights", tuple(weights))
            require(len(weights) == len(numbers), "weights", f"have length {len(numbers)}", weights)
        object.__setattr__(self, "weights", weights)

    @property
    def expression(self) -> str:
        """discrete(x:p,...), or discrete(x,...) if all are equally likely."""
        if self.weights is None:
            return f"discrete({','.join(map(number, self.values))})"
        pairs = zip(self.values, self.weights, strict=True)
        return f"discrete({','.join(f'{number(value)}:{number(weight)}' for value, weight in pairs)})"

    def table(self) -> tuple[Numbers, Numbers]:
        """Equal means are merged; without weights the masses are whole numbers, so heights are exact."""
        means, where = np.unique(np.array(self.values), return_inverse=True)
        masses: Numbers = np.bincount(where.ravel(), weights=self.weights).astype(np.float64)
        heights = np.cumsum(masses)
        return means, heights / heights[-1]


@dataclass(frozen=True)
class Empirical(Atomic):
    """Means observed elsewhere, each equally likely: the law of a finite list of arms.

    Examples
    --------
    >>> Empirical([0.2, 0.9, 0.4, 0.4]).lower_quantile(0.75)
    0.4
    """

    data: tuple[float, ...]

    def __init__(self, data: Sequence[float]) -> None:
        numbers = np.array(data, dtype=np.float64).ravel()
        require(len(numbers) > 0, "data", "hold at least one mean", data)
        require(bool(np.isfinite(numbers).all()), "data", "be finite", data)
        object.__setattr__(self, "data", tuple(numbers.tolist()))

    def table(self) -> tuple[Numbers, Numbers]:
        """Distinct means and the fraction of the data up to each."""
        means, counts = np.unique(np.array(self.data), return_counts=True)
        return means, np.cumsum(counts) / math.fsum(counts)
