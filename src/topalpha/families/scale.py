"""What Poisson, Exponential and Gamma share: two roots, and the formulas of a family known up to its scale.

Their divergences are all multiples of r - 1 - ln r, with r the ratio of the two means one way round or the other: the
bounds need the root r > 1 and the root r < 1 of that one function. Free functions of scalars, so that a class per
family stays a plain tuple of numbers and the mathematics is written once.
"""

from __future__ import annotations

import math

# Relative slack added to a root: larger than its rounding error, far below the 1e-9 promised.
OUTWARD = 4e-15

# Relative slack of a ceiling over the bound it foretells: larger than the rounding error of both.
SPARE = 1e-12

# exp of anything larger overflows; Python raises there and compiled code does not.
LARGEST_EXPONENT = 709.782712893384

# With no highest mean, grids of tilts and gaps are laid out for means up to this many epsilons.
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
        return change - math.log1p(change)
    return one / other - 1.0 - (math.log(one) - math.log(other))


def log_gamma(value: float) -> float:
    """ln Gamma(value) for a positive value, by Stirling's series from 10 on.

    ``math.lgamma`` is not the same function in compiled code: the last digit differs, and so would a run.

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
    return (value - 0.5) * math.log(value) - value + 0.5 * math.log(2.0 * math.pi) + series - math.log(product)


def widest_growth(level: float) -> float:
    """The u >= 0 with u - ln(1 + u) = level, to a few units in the last place of 1 + u.

    Convex in u: a Newton step from anywhere lands at or above the root, and from there the iteration decreases to it.

    Examples
    --------
    >>> u = widest_growth(0.5)
    >>> round(u - math.log1p(u), 12)
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
            step = (growth - math.log1p(growth) - level) * (1.0 + growth) / growth
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
            slope = -math.expm1(-shift)
            step = (shift - slope - level) / slope
            shift -= step
            if abs(step) <= 1e-8 * shift:
                break
    return shift


def scale_divergence(shape: float, mean: float, other: float) -> float:
    """d(x, y) = k (x/y - 1 - ln(x/y)); infinite where exactly one mean is 0.

    Examples
    --------
    >>> round(scale_divergence(1.0, 1.0, 2.0), 12)
    0.19314718056
    """
    if mean == other:
        return 0.0
    if mean <= 0.0 or other <= 0.0:
        return math.inf
    return shape * ratio_cost(mean, other)


def scale_upper(shape: float, highest: float, mean: float, level: float) -> float:
    """sup{q : d(mean, q) <= level}, never below it.

    A mean of 0 can only be an underflow, which says nothing about the scale: the bound is then ``highest``.

    Examples
    --------
    >>> round(scale_upper(1.0, math.inf, 2.0, 0.1), 12)
    3.242453670064
    """
    if level <= 0.0:
        return min(mean, highest)
    if mean <= 0.0:
        return highest
    shift = widest_shift(level / shape)
    shift += OUTWARD * (1.0 + shift)
    if shift < 700.0:
        return min(mean * math.exp(shift), highest)
    shift += math.log(mean)
    return min(math.exp(shift), highest) if shift < LARGEST_EXPONENT else highest


def scale_lower(shape: float, mean: float, level: float) -> float:
    """inf{q : d(mean, q) <= level}, never above it.

    Examples
    --------
    >>> round(scale_lower(1.0, 2.0, 0.1), 12)
    1.319068781576
    """
    if level <= 0.0:
        return mean
    return mean / (1.0 + widest_growth(level / shape)) * (1.0 - OUTWARD)


def scale_ceiling(shape: float, highest: float, mean: float, bound: float, more: float) -> float:
    """At least the upper bound at a level higher by ``more``, given the bound at some level.

    With q the bound, s = ln(q / mean) is concave in the level, of slope 1 / (k (1 - mean/q)).

    Examples
    --------
    >>> round(scale_ceiling(1.0, math.inf, 2.0, scale_upper(1.0, math.inf, 2.0, 0.1), 0.01), 3)
    3.328
    >>> round(scale_upper(1.0, math.inf, 2.0, 0.11), 3)
    3.326
    """
    if bound <= mean or bound >= highest:
        return highest
    exponent = more / shape * (bound / (bound - mean))
    exponent += SPARE * (1.0 + exponent)
    return min(bound * math.exp(exponent), highest) if exponent < LARGEST_EXPONENT else highest


def scale_chernoff_point(one: float, other: float) -> float:
    """z* = x y ln(y/x) / (y - x), for any shape; 0 where a mean is 0.

    Examples
    --------
    >>> round(scale_chernoff_point(1.0, 2.0), 12)
    1.38629436112
    """
    low = min(one, other)
    high = max(one, other)
    if low == high or low <= 0.0:
        return low
    return high * (low / (high - low)) * log_quotient(low, high)


def log_quotient(low: float, high: float) -> float:
    """ln(high / low) for 0 < low < high, accurate when they are close.

    Examples
    --------
    >>> round(log_quotient(1.0, 2.0), 12)
    0.69314718056
    """
    if high - low < low:
        return math.log1p((high - low) / low)
    return math.log(high) - math.log(low)


def scale_kappa(shape: float, highest: float, epsilon: float) -> float:
    """inf{d(x, y) : |x - y| >= epsilon / 2} over means of at most ``highest``.

    Only the ratio of the means counts, so the infimum is at the top: with r = epsilon / (2 highest), the pair
    (highest - epsilon/2, highest) costs k (-r - ln(1 - r)), less than the same pair reversed. 0 without a highest mean.

    Examples
    --------
    >>> round(scale_kappa(1.0, 2.0, 0.4), 9)
    0.005360516
    """
    if highest == math.inf:
        return 0.0
    share = 0.5 * epsilon / highest
    if share >= 1.0:
        return math.inf  # no two such means (or one of them is 0)
    return shape * ratio_cost(1.0 - share, 1.0) if share > 1e-3 else shape * share * share * growth_series(share)


def growth_series(share: float) -> float:
    """(-r - ln(1 - r)) / r^2 for a small r, where 1 - r would already be rounded.

    Examples
    --------
    >>> growth_series(0.0)
    0.5
    """
    return 0.5 + share * (1.0 / 3.0 + share * (0.25 + share * (0.2 + share / 6.0)))


def scale_redundancy(shape: float, highest: float, total: float, pulls: int) -> float:
    """R of the mixture of means with an inverse-gamma prior of shape 1/4 and scale highest / 1024.

    The prior is fixed before the first reward, so mixture over likelihood is a martingale of mean 1 under every mean
    and Ville's inequality gives N d(p, mu) <= ln(1/level) + R for all N at once. With n = kN and s = kS,
    R = n ln n - n - ln Gamma(n + a) + ln Gamma(a) + a ln(1 + s/b) + n ln(1 + b/s), about
    (1/2) ln n + 0.37 + (1/4) ln(p/b) for means p above b = highest / 1024: it grows by 0.6 for each factor ten of the
    mean. Means below b are still covered, at the price b/p. A prior centred on the true mean would be free of the
    unit, but its R is a function of p/mu and has no bound. Without a highest mean, 1 takes its place.

    Examples
    --------
    >>> round(scale_redundancy(1.0, math.inf, 100.0, 100), 6)
    4.405621
    """
    if pulls <= 0:
        return 0.0
    if total <= 0.0:
        return math.inf  # an underflow; see scale_upper
    prior_scale = (highest if highest < math.inf else 1.0) / PRIOR_DEPTH
    size = shape * pulls
    amount = shape * total
    result = size * (math.log(size) - 1.0) - log_gamma(size + PRIOR_SHAPE) + log_gamma(PRIOR_SHAPE)
    return result + PRIOR_SHAPE * math.log1p(amount / prior_scale) + size * math.log1p(prior_scale / amount)


def scale_spread(shape: float, total: float, pulls: int) -> float:
    """A positive estimate of the variance mean^2 / k that depends on no unit and errs upward after few rewards.

    Examples
    --------
    >>> scale_spread(1.0, 6.0, 3)
    5.333333333333333
    """
    if pulls <= 0:
        return math.inf
    mean = total / pulls
    return max(mean * mean * (1.0 + 1.0 / pulls) / shape, 1e-300)


def scale_tilted(shape: float, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
    """-k N tilt + (1 - e^-tilt) k S / mean: the alternative is mean * e^tilt, so only S / mean counts.

    Examples
    --------
    >>> round(scale_tilted(1.0, 2.0, 6.0, 3, math.log(2.0), 1.0), 12)
    -0.57944154168
    """
    result = -shape * pulls * tilt
    if total <= 0.0:
        return result
    if mean <= 0.0:
        return math.inf if growth > 0.0 else -math.inf
    return result + growth / (1.0 + growth) * (shape * total / mean)


def scale_tilted_slope(shape: float, mean: float, total: float, growth: float) -> float:
    """The derivative of :func:`scale_tilted` in the mean.

    Examples
    --------
    >>> scale_tilted_slope(1.0, 2.0, 6.0, 1.0)
    -0.75
    """
    if total <= 0.0:
        return 0.0
    if mean <= 0.0:
        return -math.inf if growth > 0.0 else math.inf
    return -growth / (1.0 + growth) * (shape * total / mean / mean)


def scale_log_ratio(shape: float, alternative: float, mean: float, total: float, pulls: int) -> float:
    """k N ln(x/y) - k S (1/y - 1/x), with y the alternative and x the mean.

    Examples
    --------
    >>> round(scale_log_ratio(1.0, 4.0, 2.0, 6.0, 3), 12)
    -0.57944154168
    """
    if alternative == mean or pulls <= 0:
        return 0.0
    if mean <= 0.0:
        return math.inf if total > 0.0 else -math.inf
    if alternative <= 0.0:
        return -math.inf if total > 0.0 else math.inf
    fall = math.log(mean) - math.log(alternative)
    return shape * (pulls * fall + total / alternative * ((alternative - mean) / mean))


def reach(highest: float, epsilon: float) -> float:
    """The largest mean that grids are laid out for: ``highest``, or 1024 epsilon where there is none.

    Examples
    --------
    >>> reach(4.0, 0.1), reach(math.inf, 0.5)
    (4.0, 512.0)
    """
    return highest if highest < math.inf else REACH * epsilon
