"""Gaussian rewards of known variance; the same bounds hold for any sigma-sub-Gaussian rewards.

For a reward with E exp(h (X - mu)) <= exp(sigma^2 h^2 / 2) for all h, every Gaussian likelihood ratio is a
supermartingale, and every bound here stays valid. Only lower bounds on the sample complexity need truly Gaussian
rewards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.arithmetic import log1p
from topalpha.families.protocols import Independent
from topalpha.families.scale import OUTWARD, SPARE
from topalpha.validate import positive, real, require

if TYPE_CHECKING:
    from numpy.random import Generator

# `redundancy` is valid at levels down to exp(-_NATS); its prior has the weight of 1 / _NATS pulls.
_NATS = 64.0


class GaussianParameters(NamedTuple):
    """The largest standard deviation of an arm, and the highest mean."""

    sigma: float = 1.0
    highest: float = math.inf


class Gaussian(Independent, GaussianParameters):
    """Rewards of standard deviation ``sigma``, or sigma-sub-Gaussian rewards, with no arm's mean above ``highest``.

    Parameters
    ----------
    sigma
        The standard deviation of rewards, or their sub-Gaussian parameter.
    highest
        The highest possible mean of an arm.

    Examples
    --------
    >>> family = Gaussian(sigma=0.5)
    >>> round(family.divergence(0.3, 0.5), 9), round(family.upper(0.5, 0.1), 9), round(family.lower(0.5, 0.1), 9)
    (0.08, 0.723606798, 0.276393202)
    """

    __slots__ = ()

    @property
    def lowest(self) -> float:
        """-inf: means are not bounded below."""
        return -math.inf

    @property
    def largest_threshold(self) -> float:
        """64: the redundancy is valid at levels down to e^-64 (docs/proofs.md, B.1)."""
        return 64.0

    def divergence(self, mean: float, other: float) -> float:
        """d(x, y) = (x - y)^2 / (2 sigma^2)."""
        distance = (mean - other) / self.sigma
        return 0.5 * distance * distance

    def half_width(self, level: float) -> float:
        """sigma sqrt(2 level)."""
        return self.sigma * math.sqrt(2.0 * level) if level > 0.0 else 0.0

    def upper(self, mean: float, level: float) -> float:
        """sup{q : d(mean, q) <= level}, never below it (label ``kl-ub``)."""
        rise = self.half_width(level)
        if rise > 0.0:
            rise += OUTWARD * (abs(mean) + rise)
        return min(mean + rise, self.highest)

    def lower(self, mean: float, level: float) -> float:
        """inf{q : d(mean, q) <= level}, never above it (label ``kl-lb``)."""
        fall = self.half_width(level)
        if fall > 0.0:
            fall += OUTWARD * (abs(mean) + fall)
        return mean - fall

    def ceiling(self, mean: float, bound: float, level: float, later: float) -> float:
        """The tangent: the bound is concave in the level."""
        if bound <= mean or bound >= self.highest:
            return self.highest
        ceiling = bound + (later - level) * self.sigma * self.sigma / (bound - mean)
        return min(ceiling + SPARE * (abs(mean) + abs(ceiling)), self.highest)

    def chernoff_point(self, one: float, other: float) -> float:
        """z* = (x + y) / 2."""
        return 0.5 * (one + other)

    def chernoff(self, one: float, other: float) -> float:
        """d*(x, y) = (x - y)^2 / (8 sigma^2)."""
        return 0.25 * self.divergence(one, other)

    def kappa(self, epsilon: float) -> float:
        """epsilon^2 / (8 sigma^2)."""
        return self.divergence(0.0, 0.5 * epsilon)

    def redundancy(self, total: float, pulls: int) -> float:
        """R of the normal mixture: 1/N + (1/2)(1 + r/N) ln(1 + N/r), r = 1/64 of a pull; a function of N only.

        Mixing the alternatives mu + theta over theta ~ N(0, sigma^2 / r) gives a martingale under every mu, and by
        Ville N d(p, mu) <= (1 + r/N)(x + (1/2) ln(1 + N/r)), x = ln(1/level). The excess over x + R, r x/N - 1/N, is at
        most 0 while x <= 64: the statement holds at every level of at least e^-64 (1.6e-28). A prior with a fixed
        centre would not need that limit, but its R grows as the square of the distance to that centre.
        """
        if pulls <= 0:
            return 0.0
        return 1.0 / pulls + 0.5 * (1.0 + 1.0 / (_NATS * pulls)) * log1p(_NATS * pulls)

    def tilted(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """tilt S - N (mean tilt + sigma^2 tilt^2 / 2) (docs/proofs.md, C)."""
        return tilt * total - pulls * tilt * (mean + 0.5 * self.sigma * self.sigma * tilt)

    def tilted_slope(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The derivative of :meth:`tilted` in the mean."""
        return -pulls * tilt

    def smallest_tilt(self, epsilon: float) -> float:
        """epsilon / (2 sigma^2)."""
        return 0.5 * epsilon / (self.sigma * self.sigma)

    def largest_tilt(self) -> float:
        """2 / sigma."""
        return 2.0 / self.sigma

    def gap_unit(self, epsilon: float) -> float:
        """Gaps are plain differences of means."""
        return epsilon

    def largest_gap(self) -> float:
        """2 sigma, the shift of the mean by the largest tilt."""
        return 2.0 * self.sigma

    def below(self, mean: float, gap: float) -> float:
        """mean - gap."""
        return mean - gap

    def above(self, mean: float, gap: float) -> float:
        """mean + gap."""
        return mean + gap

    def below_slope(self, gap: float) -> float:
        """1."""
        return 1.0

    def variance(self, mean: float) -> float:
        """sigma^2."""
        return self.sigma * self.sigma

    def spread(self, total: float, pulls: int) -> float:
        """sigma^2, which is known."""
        return self.sigma * self.sigma

    def log_ratio(self, alternative: float, mean: float, total: float, pulls: int) -> float:
        """(y - x)(S - N (x + y)/2) / sigma^2."""
        middle = 0.5 * (alternative + mean)
        return (alternative - mean) * (total - pulls * middle) / (self.sigma * self.sigma)

    def sample(self, mean: float, rng: Generator) -> float:
        """A normal reward."""
        return rng.normal(mean, self.sigma)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward is finite."""
        require(-math.inf < reward < math.inf, "reward", "be finite", reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless sigma is positive and ``highest`` is above -inf."""
        sigma = positive("sigma", self.sigma)
        require(1e-100 <= sigma <= 1e100, "sigma", "lie between 1e-100 and 1e100: its square must be finite", sigma)
        require(real("highest", self.highest) > -math.inf, "highest", "be above -inf", self.highest)
