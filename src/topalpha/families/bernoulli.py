"""Bernoulli rewards; the same bounds hold for any rewards in [0, 1].

For X in [0, 1] with mean mu, x -> (q/mu)^x ((1-q)/(1-mu))^(1-x) is convex, so its expectation is at most the Bernoulli
value 1: Bernoulli likelihood ratios are supermartingales for every [0, 1] reward, and every bound here stays valid.
Only lower bounds on the sample complexity need truly Bernoulli rewards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.arithmetic import exp, expm1, log, log1p, log1p_absolute
from topalpha.families.draws import draw_binomial
from topalpha.families.protocols import FromZero
from topalpha.families.scale import log_gamma
from topalpha.validate import require

if TYPE_CHECKING:
    from numpy.random import Generator

# Relative slack added to the last Newton iterate: larger than its rounding error, far below the tolerance of 1e-9.
_OUTWARD = 4e-15

_LOG_PI = log(math.pi)

# A mean or room below this counts as 0 in the inversion, where products would underflow.
_TINY = 1e-290


class BernoulliParameters(NamedTuple):
    """The highest mean."""

    highest: float = 1.0


class Bernoulli(FromZero, BernoulliParameters):
    """Rewards in {0, 1}, or anywhere in [0, 1], with no arm's mean above ``highest``.

    Parameters
    ----------
    highest
        The highest possible mean of an arm.

    Examples
    --------
    >>> family = Bernoulli()
    >>> round(family.divergence(0.3, 0.5), 9), round(family.upper(0.5, 0.1), 9), round(family.lower(0.5, 0.1), 9)
    (0.082282879, 0.712878631, 0.287121369)
    """

    __slots__ = ()

    def divergence(self, mean: float, other: float) -> float:
        """d(x, y) = x ln(x/y) + (1-x) ln((1-x)/(1-y)), with 0 ln 0 = 0."""
        if mean == other:
            return 0.0
        if other < 0.0 or other > 1.0:
            return math.inf
        gap = other - mean
        result = 0.0
        if mean > 0.0:
            if other <= 0.0:
                return math.inf
            # a ratio far below 1 is lost in the rounding of the gap
            result -= mean * (log1p(gap / mean) if other > 0.5 * mean else log(other / mean))
        if mean < 1.0:
            if other >= 1.0:
                return math.inf
            room = 1.0 - mean
            left = 1.0 - other
            result -= room * (log1p(-gap / room) if left > 0.5 * room else log(left / room))
        return max(result, 0.0)

    def excess(self, mean: float, room: float, level: float) -> float:
        """The rise x in [0, room] with d(mean, mean + x) = level, rounded up; ``room`` is 1 - mean.

        x -> d(mean, mean + x) is convex and increasing: a Newton step from anywhere lands at or above the root, and
        from there the iteration decreases to it. Working with the rise keeps full relative accuracy near x = 0.
        """
        if level <= 0.0 or room <= 0.0:
            return 0.0
        if level < 1e-30 or room < _TINY:
            return min(_OUTWARD, room)
        if mean < _TINY:
            return min(_OUTWARD - expm1(-level), room)  # d(0, q) = -ln(1-q)
        variance = mean * room
        normal = math.sqrt(2.0 * variance * level)
        # d = x^2/(2v) (1 + a x + b x^2 + ...), inverted as a series in sqrt(2 v level)
        ratio = normal / variance
        skew = 2.0 / 3.0 * (mean - room) * ratio
        spread = 0.5 * (1.0 - 3.0 * variance) * ratio * ratio
        rise = normal * (1.0 - 0.5 * skew + 0.625 * skew * skew - 0.5 * spread)
        if not (abs(skew) < 1.0 and spread < 1.0):
            rise = normal if mean < room else normal / (1.0 + 0.5 * skew)
        if rise >= 0.7 * room:  # near the pole at q = 1: d >= -entropy - (1-p) ln(1-q) places the start
            entropy = mean * log(mean) + room * log(room)
            rise = room - exp((entropy - level) / room)
            if rise >= room:
                return room
        for _ in range(100):
            left = room - rise
            value = -mean * log1p(rise / mean) - room * log1p(-rise / room) - level
            step = value * (mean + rise) * left / rise
            following = rise - step
            if following >= room:  # only a first step, taken from below, can overshoot the pole
                following = 0.5 * (rise + room)
                if following >= room or left < 1e-16:
                    return room
            rise = following
            if abs(step) <= 1e-5 * rise and abs(step) <= 1e-5 * (room - rise):
                break  # convergence is quadratic and from above: the error left is about 1e-10 of the rise, outward
        return min(rise + _OUTWARD, room)

    def upper(self, mean: float, level: float) -> float:
        """sup{q : d(mean, q) <= level}, never below it (label ``kl-ub``)."""
        return min(mean + self.excess(mean, 1.0 - mean, level), self.highest)

    def lower(self, mean: float, level: float) -> float:
        """inf{q : d(mean, q) <= level}, never above it (label ``kl-lb``)."""
        return max(mean - self.excess(1.0 - mean, mean, level), 0.0)

    def ceiling(self, mean: float, bound: float, level: float, later: float) -> float:
        """The tangent: d is convex in q, so the bound is concave in the level."""
        if bound <= mean:
            return self.highest
        rise = bound - mean
        # the last term makes up for the outward error of bounds, about 1e-10 of the rise
        return bound + (later - level) * bound * (1.0 - bound) / rise + (1e-9 * rise + _OUTWARD)

    def chernoff_point(self, one: float, other: float) -> float:
        """z* = ln((1-x)/(1-y)) / ln(y(1-x) / (x(1-y))); its limits where a mean is 0 or 1."""
        if one == other:
            return one
        if min(one, other) <= 0.0:
            return 0.0
        if max(one, other) >= 1.0:
            return 1.0
        fall = log1p(-one) - log1p(-other)
        return fall / (log(other) - log(one) + fall)

    def chernoff(self, one: float, other: float) -> float:
        """d*(x, y) = d(z*, x) = d(z*, y)."""
        if min(one, other) <= 0.0 and max(one, other) >= 1.0:
            return math.inf
        point = self.chernoff_point(one, other)
        if min(one, other) <= 0.0:
            return self.divergence(point, max(one, other))
        return self.divergence(point, min(one, other))

    def kappa(self, epsilon: float) -> float:
        """epsilon^2 / 2, by Pinsker's inequality."""
        return 0.5 * epsilon * epsilon

    def redundancy(self, total: float, pulls: int) -> float:
        """R of the Beta(1/2, 1/2) mixture of Krichevsky and Trofimov; at most (1/2) ln N + ln 2.

        S ln p + (N-S) ln(1-p) - ln B(S+1/2, N-S+1/2) + ln pi, with 0 ln 0 = 0.
        """
        failures = pulls - total
        result = log_gamma(pulls + 1.0) - log_gamma(total + 0.5) - log_gamma(failures + 0.5) + _LOG_PI
        if total > 0.0:
            result += total * log(total / pulls)
        if failures > 0.0:
            result += failures * log(failures / pulls)
        return result

    def tilted(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """tilt S - N ln(1 + mean (e^tilt - 1)) (docs/proofs.md, C)."""
        if mean * growth <= -1.0:
            return tilt * (total - pulls)  # at mean 1, where e^tilt is lost in rounding
        return tilt * total - pulls * log1p_absolute(mean * growth)

    def tilted_slope(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The derivative of :meth:`tilted` in the mean."""
        if mean * growth <= -1.0:
            return pulls * exp(min(-tilt, 700.0))
        return -pulls * growth / (1.0 + mean * growth)

    def smallest_tilt(self, epsilon: float) -> float:
        """2 epsilon: a [0, 1] reward has variance at most 1/4."""
        return 2.0 * epsilon

    def largest_tilt(self) -> float:
        """4."""
        return 4.0

    def gap_unit(self, epsilon: float) -> float:
        """Gaps are plain differences of means."""
        return epsilon

    def largest_gap(self) -> float:
        """0.6."""
        return 0.6

    def below(self, mean: float, gap: float) -> float:
        """max(mean - gap, 0)."""
        return max(mean - gap, 0.0)

    def above(self, mean: float, gap: float) -> float:
        """min(mean + gap, 1)."""
        return min(mean + gap, 1.0)

    def below_slope(self, gap: float) -> float:
        """1: gaps are plain differences."""
        return 1.0

    def variance(self, mean: float) -> float:
        """p (1 - p)."""
        return mean * (1.0 - mean)

    def spread(self, total: float, pulls: int) -> float:
        """The variance at (S + 1/2) / (N + 1)."""
        return self.variance((total + 0.5) / (pulls + 1.0))

    def log_ratio(self, alternative: float, mean: float, total: float, pulls: int) -> float:
        """S ln(y/x) + (N-S) ln((1-y)/(1-x)), with 0 ln 0 = 0."""
        failures = pulls - total
        result = 0.0
        if total > 0.0:
            if alternative <= 0.0:
                return -math.inf
            if mean <= 0.0:
                return math.inf
            result += total * log(alternative / mean)
        if failures > 0.0:
            if alternative >= 1.0:
                return -math.inf
            if mean >= 1.0:
                return math.inf
            result += failures * log((1.0 - alternative) / (1.0 - mean))
        return result

    def sample(self, mean: float, rng: Generator) -> float:
        """1 with probability ``mean``, else 0."""
        return 1.0 if rng.random() < mean else 0.0

    def sample_sum(self, mean: float, count: int, rng: Generator) -> float:
        """The number of ones among ``count`` rewards."""
        return draw_binomial(count, mean, rng)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward lies in [0, 1]."""
        require(0.0 <= reward <= 1.0, "reward", "lie in [0, 1]", reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``highest`` lies in (0, 1]."""
        inside = isinstance(self.highest, int | float) and 0.0 < self.highest <= 1.0
        require(inside, "highest", "lie in (0, 1]", self.highest)
