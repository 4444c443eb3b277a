"""Reservoirs without atoms: Beta, Uniform, and any continuous law of scipy.stats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from topalpha.reservoirs.base import SAME_HEIGHT, Numbers, Reservoir, finite, number, probability
from topalpha.validate import positive, require


def _special() -> Any:
    # Importing scipy takes a quarter of a second, and neither Beta(1, b) nor Beta(a, 1) needs it.
    return import_module("scipy.special")


@dataclass(frozen=True)
class Beta(Reservoir):
    """Beta(a, b) on [0, 1]; the paper's reservoirs are Beta(1, b) conditioned on mean <= 0.95.

    Examples
    --------
    >>> round(Beta(1, 2).top(0.25), 12)
    0.5
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", positive("a", self.a))
        object.__setattr__(self, "b", positive("b", self.b))

    @property
    def infimum(self) -> float:
        """0."""
        return 0.0

    @property
    def supremum(self) -> float:
        """1."""
        return 1.0

    @property
    def expression(self) -> str:
        """beta(a,b)."""
        return f"beta({number(self.a)},{number(self.b)})"

    def cdf(self, x: float) -> float:
        """The regularised incomplete beta function."""
        if x <= 0.0:
            return 0.0
        if x >= 1.0:
            return 1.0
        if self.b == 1.0:
            return math.pow(x, self.a)
        if self.a == 1.0:
            return -math.expm1(self.b * math.log1p(-x))
        return float(_special().betainc(self.a, self.b, x))

    def lower_quantile(self, p: float) -> float:
        """The quantile; G increases strictly on [0, 1], so there is only one."""
        return float(self.transport(np.array([probability(p)]))[0])

    def upper_quantile(self, p: float) -> float:
        """The lower quantile."""
        return self.lower_quantile(p)

    def transport(self, uniforms: Numbers) -> Numbers:
        """G^{-1}, in closed form if a or b is 1."""
        if self.b == 1.0:
            result = np.power(uniforms, 1.0 / self.a)
        elif self.a == 1.0:
            with np.errstate(divide="ignore"):  # p = 1 gives log 0 = -inf and the quantile 1
                result = -np.expm1(np.log1p(-uniforms) / self.b)
        else:
            result = _special().betaincinv(self.a, self.b, uniforms)
        return np.asarray(result, dtype=np.float64)


@dataclass(frozen=True)
class Uniform(Reservoir):
    """Uniform on [low, high].

    Examples
    --------
    >>> Uniform(0.0, 0.5).cdf(0.125)
    0.25
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", finite("low", self.low))
        object.__setattr__(self, "high", finite("high", self.high))
        require(self.low < self.high, "high", f"be above low = {number(self.low)}", self.high)
        require(self.high - self.low < math.inf, "high", "be a finite distance above low", self.high)

    @property
    def infimum(self) -> float:
        """The low end."""
        return self.low

    @property
    def supremum(self) -> float:
        """The high end."""
        return self.high

    @property
    def expression(self) -> str:
        """uniform(low,high)."""
        return f"uniform({number(self.low)},{number(self.high)})"

    def cdf(self, x: float) -> float:
        """(x - low) / (high - low), clipped to [0, 1]."""
        return min(1.0, max(0.0, (x - self.low) / (self.high - self.low)))

    def lower_quantile(self, p: float) -> float:
        """low + p (high - low)."""
        return min(self.high, self.low + probability(p) * (self.high - self.low))

    def upper_quantile(self, p: float) -> float:
        """The lower quantile."""
        return self.lower_quantile(p)

    def transport(self, uniforms: Numbers) -> Numbers:
        """low + u (high - low)."""
        return np.minimum(self.low + uniforms * (self.high - self.low), self.high)


@dataclass(frozen=True)
class Scipy(Reservoir):
    """A frozen continuous law of scipy.stats.

    Examples
    --------
    >>> from scipy.stats import triang
    >>> round(Scipy(triang(0.5)).top(0.5), 12)
    0.5
    """

    law: Any

    def __post_init__(self) -> None:
        known = all(hasattr(self.law, name) for name in ("cdf", "ppf", "pdf", "support"))
        require(known, "law", "be a frozen continuous law of scipy.stats", self.law)

    @property
    def infimum(self) -> float:
        """The low end of the support."""
        return float(self.law.support()[0])

    @property
    def supremum(self) -> float:
        """The high end of the support."""
        return float(self.law.support()[1])

    def cdf(self, x: float) -> float:
        """The law's cdf."""
        return float(self.law.cdf(x))

    def lower_quantile(self, p: float) -> float:
        """The law's ppf, or the near end of the gap if G is flat at p (a histogram with empty bins)."""
        here, near = float(self.law.ppf(probability(p))), float(self.law.ppf(max(0.0, p - SAME_HEIGHT)))
        if p in (0.0, 1.0) or near == -math.inf:
            return here
        flat = self.cdf(0.5 * (near + here)) >= p - 0.25 * SAME_HEIGHT
        return near if flat else here

    def upper_quantile(self, p: float) -> float:
        """The law's ppf, or the far end of the gap if G is flat at p; which end ppf returns depends on the law."""
        here, far = float(self.law.ppf(probability(p))), float(self.law.ppf(min(1.0, p + SAME_HEIGHT)))
        if p in (0.0, 1.0) or far == math.inf:
            return here
        flat = self.cdf(0.5 * (here + far)) <= p + 0.25 * SAME_HEIGHT
        return far if flat else here

    def supremum_at_most(self, bound: float) -> float:
        """``bound``, or the near end of the gap around it."""
        if bound >= self.supremum:
            return self.supremum
        return bound if self.law.pdf(bound) > 0.0 else min(bound, self.lower_quantile(self.cdf(bound)))

    def transport(self, uniforms: Numbers) -> Numbers:
        """The law's ppf."""
        return np.asarray(self.law.ppf(uniforms), dtype=np.float64)
