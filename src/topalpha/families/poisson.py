"""Poisson rewards: counts. The bounds hold for Poisson rewards only, and not under overdispersion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.arithmetic import exp, log, log1p
from topalpha.families.draws import draw_poisson
from topalpha.families.protocols import FromZero
from topalpha.families.scale import (
    OUTWARD,
    SPARE,
    growth_series,
    log_gamma,
    log_quotient,
    ratio_cost,
    reach,
    widest_growth,
    widest_shift,
)
from topalpha.validate import real, require

if TYPE_CHECKING:
    from numpy.random import Generator

# Stands in for the highest mean in priors and gaps if there is none.
_USUAL = 64.0


class PoissonParameters(NamedTuple):
    """The highest mean."""

    highest: float = math.inf


class Poisson(FromZero, PoissonParameters):
    """Counts (0, 1, 2 and so on) with no arm's mean above ``highest``.

    Without a ``highest`` the grid of tilts covers means up to 1024 epsilon. With means far above that a run may not
    stop; the guarantee holds all the same.

    Parameters
    ----------
    highest
        The highest possible mean of an arm.

    Examples
    --------
    >>> family = Poisson()
    >>> round(family.divergence(1.0, 2.0), 9), round(family.upper(3.0, 0.1), 9), round(family.lower(3.0, 0.1), 9)
    (0.306852819, 3.842649235, 2.290585438)
    """

    __slots__ = ()

    def divergence(self, mean: float, other: float) -> float:
        """d(x, y) = y - x + x ln(x/y), with 0 ln 0 = 0."""
        if mean == other:
            return 0.0
        if other < 0.0 or (other == 0.0 and mean > 0.0):
            return math.inf
        if mean <= 0.0:
            return other
        if other - mean > mean:  # other / mean might overflow, and nothing cancels
            return other - mean - mean * (log(other) - log(mean))
        return mean * ratio_cost(other, mean)

    def upper(self, mean: float, level: float) -> float:
        """sup{q : d(mean, q) <= level}, never below it (label ``kl-ub``)."""
        if level <= 0.0:
            return min(mean, self.highest)
        if mean <= 0.0:
            return min(level, self.highest)  # d(0, q) = q
        if level >= 1e300 * mean:
            return min(level * (1.0 + OUTWARD), self.highest)  # the same, up to rounding
        return min(mean * (1.0 + widest_growth(level / mean)) * (1.0 + OUTWARD), self.highest)

    def lower(self, mean: float, level: float) -> float:
        """inf{q : d(mean, q) <= level}, never above it (label ``kl-lb``)."""
        if level <= 0.0 or mean <= 0.0:
            return mean
        shift = widest_shift(level / mean)
        bound = mean * exp(-shift - OUTWARD * (1.0 + shift))
        return bound if bound > 1e-300 else 0.0  # smaller numbers are too coarse to round outward

    def ceiling(self, mean: float, bound: float, level: float, later: float) -> float:
        """The tangent: d is convex in q, so the bound is concave in the level."""
        if bound <= mean or bound >= self.highest:
            return self.highest
        return min((bound + (later - level) * bound / (bound - mean)) * (1.0 + SPARE), self.highest)

    def chernoff_point(self, one: float, other: float) -> float:
        """z* = (y - x) / ln(y/x); 0 where a mean is 0."""
        low = min(one, other)
        high = max(one, other)
        if low == high or low <= 0.0:
            return low
        return (high - low) / log_quotient(low, high)

    def chernoff(self, one: float, other: float) -> float:
        """d*(x, y) = d(z*, x) = d(z*, y)."""
        return self.divergence(self.chernoff_point(one, other), max(one, other))

    def kappa(self, epsilon: float) -> float:
        """``inf{d(x, y) : |x - y| >= epsilon / 2}`` over means of at most ``highest``; 0 without a highest mean.

        At a fixed distance the divergence decreases in the means, so the infimum is at the top: with M = highest and
        r = epsilon / (2M), the pair (M - epsilon/2, M) costs M (r + (1-r) ln(1-r)), less than the reversed pair.
        """
        if self.highest == math.inf:
            return 0.0
        share = 0.5 * epsilon / self.highest
        if share > 1.0:
            return math.inf  # no two means differ by that much
        if share < 1e-3:  # r + (1-r) ln(1-r) = r^2 (1 - (1-r) g) with g = (-r - ln(1-r)) / r^2, without cancellation
            return self.highest * share * share * (1.0 - (1.0 - share) * growth_series(share))
        return self.divergence(self.highest * (1.0 - share), self.highest)

    def redundancy(self, total: float, pulls: int) -> float:
        """R of the mixture of means with a Gamma(1/2, b) prior, b = 1 / (2 highest); 64 replaces an infinite mean.

        The prior is fixed before the first reward, so mixture over likelihood is a martingale of mean 1 under every
        mean and Ville's inequality gives N d(p, mu) <= ln(1/level) + R for all N at once.
        R = S ln p - S - (1/2) ln b - ln Gamma(S + 1/2) + ln Gamma(1/2) + (S + 1/2) ln(N + b), about
        (1/2) ln(N/(2b)) + b p: at most slightly more than (1/2) ln(N highest) + 1/2 for the allowed means.
        """
        if pulls <= 0:
            return 0.0
        rate = 0.5 / (self.highest if self.highest < math.inf else _USUAL)
        result = 0.5 * log(math.pi / rate) - log_gamma(total + 0.5) + 0.5 * log(pulls + rate)
        if total > 0.0:
            result += total * (log(total) - 1.0 + log1p(rate / pulls))
        return result

    def tilted(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """tilt S - N mean (e^tilt - 1) (docs/proofs.md, C)."""
        return tilt * total - pulls * mean * growth

    def tilted_slope(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The derivative of :meth:`tilted` in the mean."""
        return -pulls * growth

    def smallest_tilt(self, epsilon: float) -> float:
        """epsilon / (2M): a Poisson reward's variance is its mean, at most M."""
        return 0.5 * epsilon / reach(self.highest, epsilon)

    def largest_tilt(self) -> float:
        """2: an alternative about seven times the mean."""
        return 2.0

    def gap_unit(self, epsilon: float) -> float:
        """Gaps are plain differences of means."""
        return epsilon

    def largest_gap(self) -> float:
        """Two standard deviations at the highest mean, but at most that mean; 64 replaces an infinite highest mean."""
        highest = self.highest if self.highest < math.inf else _USUAL
        return min(2.0 * math.sqrt(highest), highest)

    def below(self, mean: float, gap: float) -> float:
        """max(mean - gap, 0)."""
        return max(mean - gap, 0.0)

    def above(self, mean: float, gap: float) -> float:
        """mean + gap."""
        return mean + gap

    def below_slope(self, gap: float) -> float:
        """1."""
        return 1.0

    def variance(self, mean: float) -> float:
        """The mean itself."""
        return mean

    def spread(self, total: float, pulls: int) -> float:
        """(S + 1) / (N + 1)."""
        return (total + 1.0) / (pulls + 1.0)

    def log_ratio(self, alternative: float, mean: float, total: float, pulls: int) -> float:
        """S ln(y/x) - N (y - x), with 0 ln 0 = 0."""
        if alternative == mean:
            return 0.0
        result = pulls * (mean - alternative)
        if total > 0.0:
            if alternative <= 0.0:
                return -math.inf
            if mean <= 0.0:
                return math.inf
            result += total * (log(alternative) - log(mean))
        return result

    def sample(self, mean: float, rng: Generator) -> float:
        """A Poisson count."""
        return draw_poisson(mean, rng)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward is a whole number of at least 0."""
        whole = 0.0 <= reward < math.inf and reward == math.floor(reward)
        require(whole, "reward", "be a whole number of at least 0", reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``highest`` is positive."""
        require(real("highest", self.highest) > 0.0, "highest", "be positive", self.highest)
