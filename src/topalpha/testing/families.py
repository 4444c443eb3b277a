"""Checks of a reward family: whether its methods fit together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from topalpha.families.protocols import RewardFamily
from topalpha.testing.algorithms import check_parameters
from topalpha.testing.ensure import ensure


def check_family(family: RewardFamily, means: Sequence[float], seed: int = 0, draws: int = 2000) -> None:
    """Raise unless the family's methods fit together at these means.

    Checked: parameters, divergence, bounds (outward, within 1e-9), Chernoff point, likelihood ratios, gaps and tilts of
    the right sign, and that samples pass ``check`` and have the stated mean and variance.

    Parameters
    ----------
    family
        The family, with parameters.
    means
        The means to check it at.
    seed, draws
        The seed and the number of rewards drawn at each mean.

    Examples
    --------
    >>> from topalpha.families import Poisson
    >>> check_family(Poisson(), (0.5, 2.0))
    """
    check_parameters(family)
    ensure(isinstance(family, RewardFamily), f"{type(family).__name__} must have every member of RewardFamily")
    for value in (math.nan, math.inf, -math.inf):
        try:
            family.check(value)
        except ValueError:
            continue
        raise AssertionError(f"check must refuse the reward {value}")
    rng = np.random.default_rng(seed)
    for mean in means:
        ensure(family.lowest <= mean <= family.highest, f"the mean {mean} must lie between lowest and highest")
        _check_bounds(family, mean)
        _check_ratios(family, mean)
        rewards = np.array([family.sample(mean, rng) for _ in range(draws)])
        for reward in rewards[:100]:
            family.check(float(reward))
        error = math.sqrt(family.variance(mean) / draws)
        ensure(abs(rewards.mean() - mean) <= 6.0 * error, f"samples at {mean} have mean {rewards.mean()}")
    for one in means:
        for other in means:
            _check_pair(family, one, other)


def _check_bounds(family: RewardFamily, mean: float) -> None:
    above, below = mean, mean
    ensure(family.divergence(mean, mean) == 0.0, f"d({mean}, {mean}) must be 0")
    for level in (1e-6, 1e-3, 0.1, 1.0):
        upper, lower = family.upper(mean, level), family.lower(mean, level)
        where = f"at mean {mean} and level {level}"
        ensure(
            lower <= below <= mean <= above <= upper, f"bounds must widen with the level, got {lower, upper} {where}"
        )
        for bound, limit in ((upper, family.highest), (lower, family.lowest)):
            tolerance = 1e-9 * max(1.0, abs(bound))
            inside = bound + math.copysign(min(tolerance, abs(bound - mean)), mean - bound)
            ensure(bound == limit or family.divergence(mean, bound) >= level * (1.0 - 1e-12), f"{bound} inside {where}")
            ensure(family.divergence(mean, inside) <= level * (1.0 + 1e-9), f"{bound} too far out {where}")
        ensure(family.ceiling(mean, upper, level, 1.5 * level) >= family.upper(mean, 1.5 * level), f"ceiling {where}")
        above, below = upper, lower


def _check_ratios(family: RewardFamily, mean: float) -> None:
    total, pulls = 10.0 * mean, 10
    ensure(family.log_ratio(mean, mean, total, pulls) == 0.0, "a likelihood ratio of equal means must be 1")
    gap = family.gap_unit(0.1)
    ensure(family.below(mean, gap) < mean < family.above(mean, gap), f"gaps must lead away from the mean {mean}")
    ensure(family.largest_gap() > 0.0, "the largest gap must be positive")
    for alternative in (family.below(mean, gap), family.above(mean, gap)):
        ratio = family.log_ratio(alternative, mean, total, pulls)
        ensure(ratio <= 1e-9, f"no mean is likelier than the empirical one, {mean}, got ln ratio {ratio}")
    ensure(min(family.smallest_tilt(0.1), family.largest_tilt()) > 0.0, "tilts must be positive")
    for tilt in (-family.smallest_tilt(0.1), family.smallest_tilt(0.1)):
        slope = family.tilted_slope(mean, total, pulls, tilt, math.expm1(tilt))
        ensure(slope * tilt < 0.0, "the tilt mixture must increase with the mean for tilts down, decrease for tilts up")
    ensure(family.variance(mean) >= 0.0 and family.spread(mean, 1) > 0.0, "variance and spread must be positive")
    ensure(family.redundancy(total, pulls) >= 0.0, "no mixture is likelier than the likeliest mean")


def _check_pair(family: RewardFamily, one: float, other: float) -> None:
    point, value = family.chernoff_point(one, other), family.chernoff(one, other)
    where = f"between {one} and {other}"
    ensure(min(one, other) <= point <= max(one, other), f"z* must lie {where}, got {point}")
    for mean in (one, other):
        divergence = family.divergence(point, mean)
        ensure(abs(divergence - value) <= 1e-9 * max(1.0, value), f"d(z*, {mean}) must be {value}, got {divergence}")
    ensure((family.divergence(one, other) > 0.0) == (one != other), f"d must be positive {where}")
