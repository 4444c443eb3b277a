"""Gamma rewards of known shape k. The bounds hold for gamma rewards of that shape only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.arithmetic import exp, log, log1p
from topalpha.families.protocols import FromZero
from topalpha.families.scale import (
    LARGEST_EXPONENT,
    OUTWARD,
    PRIOR_DEPTH,
    PRIOR_SHAPE,
    SPARE,
    growth_series,
    log_gamma,
    log_quotient,
    ratio_cost,
    reach,
    widest_growth,
    widest_shift,
)
from topalpha.validate import positive, real, require

if TYPE_CHECKING:
    from numpy.random import Generator


_LOG_GAMMA_PRIOR = log_gamma(PRIOR_SHAPE)


class ScaleFamily(FromZero):
    """A family known up to its scale. Tilts are log ratios of means, gaps are relative: the shape drops out of both."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> float:
            """K."""

        @property
        def highest(self) -> float:
            """No arm's mean is above it."""

    def divergence(self, mean: float, other: float) -> float:
        """d(x, y) = k (x/y - 1 - ln(x/y)); infinite where exactly one mean is 0."""
        if mean == other:
            return 0.0
        if mean <= 0.0 or other <= 0.0:
            return math.inf
        return self.shape * ratio_cost(mean, other)

    def upper(self, mean: float, level: float) -> float:
        """sup{q : d(mean, q) <= level}, never below it (label ``kl-ub``)."""
        if level <= 0.0:
            return min(mean, self.highest)
        if mean <= 0.0:
            return self.highest  # an underflow, which does not say anything about the scale
        shift = widest_shift(level / self.shape)
        shift += OUTWARD * (1.0 + shift)
        if shift < 700.0:
            return min(mean * exp(shift), self.highest)
        shift += log(mean)
        return min(exp(shift), self.highest) if shift < LARGEST_EXPONENT else self.highest

    def lower(self, mean: float, level: float) -> float:
        """inf{q : d(mean, q) <= level}, never above it (label ``kl-lb``)."""
        if level <= 0.0:
            return mean
        return mean / (1.0 + widest_growth(level / self.shape)) * (1.0 - OUTWARD)

    def ceiling(self, mean: float, bound: float, level: float, later: float) -> float:
        """The tangent of s = ln(q / mean), concave in the level, of slope 1 / (k (1 - mean/q)); the bound q is not."""
        if bound <= mean or bound >= self.highest:
            return self.highest
        exponent = (later - level) / self.shape * (bound / (bound - mean))
        exponent += SPARE * (1.0 + exponent)
        return min(bound * exp(exponent), self.highest) if exponent < LARGEST_EXPONENT else self.highest

    def chernoff_point(self, one: float, other: float) -> float:
        """z* = x y ln(y/x) / (y - x), for any shape; 0 where a mean is 0."""
        low = min(one, other)
        high = max(one, other)
        if low == high or low <= 0.0:
            return low
        return high * (low / (high - low)) * log_quotient(low, high)

    def chernoff(self, one: float, other: float) -> float:
        """d*(x, y) = d(z*, x) = d(z*, y)."""
        return self.divergence(self.chernoff_point(one, other), max(one, other))

    def kappa(self, epsilon: float) -> float:
        """inf{d(x, y) : |x - y| >= epsilon / 2} over means of at most ``highest``; 0 without a highest mean.

        d depends on the ratio of the means only, so the infimum is at the top: with r = epsilon / (2 highest), the pair
        (highest - epsilon/2, highest) costs k (-r - ln(1 - r)), less than the reversed pair.
        """
        if self.highest == math.inf:
            return 0.0
        share = 0.5 * epsilon / self.highest
        if share >= 1.0:
            return math.inf  # no two means differ by that much (or one of them is 0)
        return (
            self.shape * ratio_cost(1.0 - share, 1.0)
            if share > 1e-3
            else self.shape * share * share * growth_series(share)
        )

    def redundancy(self, total: float, pulls: int) -> float:
        """R of the mixture of means with an inverse-gamma prior of shape 1/4 and scale highest / 1024.

        The prior is fixed before the first reward, so mixture over likelihood is a martingale of mean 1 under every
        mean and Ville's inequality gives N d(p, mu) <= ln(1/level) + R for all N at once. With n = kN and s = kS,
        R = n ln n - n - ln Gamma(n + a) + ln Gamma(a) + a ln(1 + s/b) + n ln(1 + b/s), about
        (1/2) ln n + 0.37 + (1/4) ln(p/b) for means p above b = highest / 1024: it grows by 0.6 for each factor ten of
        the mean. Means below b are still covered, at the cost b/p. A prior centred on the true mean would not depend on
        the unit, but its R is an unbounded function of p/mu. Without a highest mean, 1 takes its place.
        """
        if pulls <= 0:
            return 0.0
        if total <= 0.0:
            return math.inf  # an underflow; see upper
        prior_scale = (self.highest if self.highest < math.inf else 1.0) / PRIOR_DEPTH
        size = self.shape * pulls
        amount = self.shape * total
        result = size * (log(size) - 1.0) - log_gamma(size + PRIOR_SHAPE) + _LOG_GAMMA_PRIOR
        return result + PRIOR_SHAPE * log1p(amount / prior_scale) + size * log1p(prior_scale / amount)

    def tilted(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """-k N tilt + (1 - e^-tilt) k S / mean: the alternative is mean * e^tilt (docs/proofs.md, C)."""
        result = -self.shape * pulls * tilt
        if total <= 0.0:
            return result
        if mean <= 0.0:
            return math.inf if growth > 0.0 else -math.inf
        return result + growth / (1.0 + growth) * (self.shape * total / mean)

    def tilted_slope(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The derivative of :meth:`tilted` in the mean."""
        if total <= 0.0:
            return 0.0
        if mean <= 0.0:
            return -math.inf if growth > 0.0 else math.inf
        return -growth / (1.0 + growth) * (self.shape * total / mean / mean)

    def smallest_tilt(self, epsilon: float) -> float:
        """ln(1 + epsilon / (2M)), M the highest mean."""
        return log1p(0.5 * epsilon / reach(self.highest, epsilon))

    def largest_tilt(self) -> float:
        """ln 8."""
        return log(8.0)

    def gap_unit(self, epsilon: float) -> float:
        """epsilon / M, M the highest mean."""
        return epsilon / reach(self.highest, epsilon)

    def largest_gap(self) -> float:
        """7: an alternative at an eighth of the mean, or eight times it."""
        return 7.0

    def below(self, mean: float, gap: float) -> float:
        """mean / (1 + gap)."""
        return mean / (1.0 + gap)

    def above(self, mean: float, gap: float) -> float:
        """mean (1 + gap)."""
        return mean * (1.0 + gap)

    def below_slope(self, gap: float) -> float:
        """1 / (1 + gap)."""
        return 1.0 / (1.0 + gap)

    def variance(self, mean: float) -> float:
        """mean^2 / k."""
        return mean * mean / self.shape

    def spread(self, total: float, pulls: int) -> float:
        """A positive estimate of the variance mean^2 / k: independent of the unit, and too large after few rewards."""
        if pulls <= 0:
            return math.inf
        mean = total / pulls
        return max(mean * mean * (1.0 + 1.0 / pulls) / self.shape, 1e-300)

    def log_ratio(self, alternative: float, mean: float, total: float, pulls: int) -> float:
        """k N ln(x/y) - k S (1/y - 1/x), with y the alternative and x the mean."""
        if alternative == mean or pulls <= 0:
            return 0.0
        if mean <= 0.0:
            return math.inf if total > 0.0 else -math.inf
        if alternative <= 0.0:
            return -math.inf if total > 0.0 else math.inf
        fall = log(mean) - log(alternative)
        return self.shape * (pulls * fall + total / alternative * ((alternative - mean) / mean))

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward is at least 0 and finite (0 can only be an underflow)."""
        require(0.0 <= reward < math.inf, "reward", "be at least 0 and finite", reward)


class GammaParameters(NamedTuple):
    """The shape of all arms, and the highest mean."""

    shape: float
    highest: float = math.inf


class Gamma(ScaleFamily, GammaParameters):
    """Positive rewards of density proportional to x^(k-1) exp(-k x / mean), k the ``shape``, means up to ``highest``.

    Without a ``highest`` the grid of tilts covers means up to 1024 epsilon. With means far above that a run may not
    stop; the guarantee holds all the same.

    Parameters
    ----------
    shape
        The shape of all arms; 1 is exponential.
    highest
        The highest possible mean of an arm.

    Examples
    --------
    >>> family = Gamma(shape=2.0)
    >>> round(family.divergence(1.0, 2.0), 9), round(family.upper(2.0, 0.2), 9), round(family.lower(2.0, 0.2), 9)
    (0.386294361, 3.24245367, 1.319068782)
    """

    __slots__ = ()

    def sample(self, mean: float, rng: Generator) -> float:
        """A gamma reward."""
        return rng.gamma(self.shape, mean / self.shape)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless the shape is positive and finite, and ``highest`` positive."""
        positive("shape", self.shape)
        require(real("highest", self.highest) > 0.0, "highest", "be positive", self.highest)
