"""Numerics of Poisson, exponential and gamma rewards: two roots, and accurate differences of logarithms.

Their divergences are all multiples of r - 1 - ln r, where r is the ratio of the two means or its inverse. The bounds
need the root r > 1 and the root r < 1 of that function.
"""

from __future__ import annotations

import math

from topalpha.arithmetic import expm1, log, log1p

# Relative slack added to a root: larger than its rounding error, far below the tolerance of 1e-9.
OUTWARD = 4e-15

# Relative slack of a ceiling over the bound: larger than the rounding error of both.
SPARE = 1e-12

# exp of anything larger overflows, where Python raises and compiled code does not.
LARGEST_EXPONENT = 709.782712893384

_HALF_LOG_TWO_PI = 0.5 * log(2.0 * math.pi)

# Without a highest mean, the grids of tilts and gaps cover means up to this many epsilons.
REACH = 1024.0

# The mixture of `redundancy`: an inverse-gamma prior of this shape, and of scale highest / PRIOR_DEPTH.
PRIOR_SHAPE = 0.25
PRIOR_DEPTH = 1024.0


def ratio_cost(one: float, other: float) -> float:
    """r - 1 - ln r for r = one / other, both positive, accurate when they are close.

    Examples
    --------
    >>> round(ratio_cost(2.0, 1.0), 12), round(ratio_cost(1.0, 2.0), 12)
    (0.30685281944, 0.19314718056)
    """
    change = (one - other) / other
    if abs(change) < 1e-3:  # the difference below would cancel
        return change * change * (0.5 - change * (1.0 / 3.0 - change * (0.25 - change * (0.2 - change / 6.0))))
    if abs(change) < 0.5:
        return change - log1p(change)
    return one / other - 1.0 - (log(one) - log(other))


def log_gamma(value: float) -> float:
    """ln Gamma(value) for a positive value, by Stirling's series from 10 on; ``math.lgamma`` differs when compiled.

    Examples
    --------
    >>> round(log_gamma(0.5), 12), round(log_gamma(100.0), 9)
    (0.572364942925, 359.13420537)
    """
    product = 1.0
    while value < 10.0:
        product *= value
        value += 1.0
    inverse = 1.0 / (value * value)
    series = 1.0 / 156.0 - inverse * 3617.0 / 122400.0
    series = 1.0 / 1188.0 - inverse * (691.0 / 360360.0 - inverse * series)
    series = 1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse * series)
    series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * series)) / value
    result = (value - 0.5) * log(value) - value + _HALF_LOG_TWO_PI + series
    return result - log(product) if product != 1.0 else result


def widest_growth(level: float) -> float:
    """The u >= 0 with u - ln(1 + u) = level, to a few units in the last place of 1 + u.

    Convex in u: a Newton step from anywhere lands at or above the root, and from there the iteration decreases to it.

    Examples
    --------
    >>> u = widest_growth(0.5)
    >>> round(u - log1p(u), 12)
    0.5
    """
    if level <= 0.0:
        return 0.0
    if level > 1e18:
        return level  # ln(1 + u) is below the rounding of u
    width = math.sqrt(2.0 * level)
    growth = width * (1.0 + width * (1.0 / 3.0 + width / 36.0))
    if width >= 1e-4:  # below, the series is exact to rounding, and Newton's value would cancel
        for _ in range(60):
            step = (growth - log1p(growth) - level) * (1.0 + growth) / growth
            growth -= step
            if abs(step) <= 1e-8 * growth:
                break  # convergence is quadratic
    return growth


def widest_shift(level: float) -> float:
    """The s >= 0 with exp(-s) - 1 + s = level, to a few units in the last place of 1 + s.

    The ratio exp(-s) solves r - 1 - ln r = level below 1. In s the function is convex (in 1 / r it is not beyond 2), so
    Newton is as safe as in :func:`widest_growth`.

    Examples
    --------
    >>> s = widest_shift(0.5)
    >>> round(math.exp(-s) - 1.0 + s, 12)
    0.5
    """
    if level <= 0.0:
        return 0.0
    if level > 40.0:
        return level + 1.0  # exp(-s) is below the rounding of s
    width = math.sqrt(2.0 * level)
    shift = width * (1.0 + width * (1.0 / 6.0 + width / 36.0)) if level < 1.0 else level + 1.0
    if width >= 1e-4:
        for _ in range(60):
            slope = -expm1(-shift)
            step = (shift - slope - level) / slope
            shift -= step
            if abs(step) <= 1e-8 * shift:
                break
    return shift


def log_quotient(low: float, high: float) -> float:
    """ln(high / low) for 0 < low < high, accurate when they are close.

    Examples
    --------
    >>> round(log_quotient(1.0, 2.0), 12)
    0.69314718056
    """
    if high - low < low:
        return log1p((high - low) / low)
    return log(high) - log(low)


def growth_series(share: float) -> float:
    """(-r - ln(1 - r)) / r^2 for a small r, where computing 1 - r would lose digits.

    Examples
    --------
    >>> growth_series(0.0)
    0.5
    """
    return 0.5 + share * (1.0 / 3.0 + share * (0.25 + share * (0.2 + share / 6.0)))


def reach(highest: float, epsilon: float) -> float:
    """The largest mean covered by grids: ``highest``, or 1024 epsilon if that is infinite.

    Examples
    --------
    >>> reach(4.0, 0.1), reach(math.inf, 0.5)
    (4.0, 512.0)
    """
    return highest if highest < math.inf else REACH * epsilon
