"""Exponential rewards, by their mean: waiting times. The bounds are for exponential rewards only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.protocols import ENDLESS
from topalpha.families.scale import (
    reach,
    scale_ceiling,
    scale_chernoff_point,
    scale_divergence,
    scale_kappa,
    scale_log_ratio,
    scale_lower,
    scale_redundancy,
    scale_spread,
    scale_tilted,
    scale_tilted_slope,
    scale_upper,
)
from topalpha.validate import real, require

if TYPE_CHECKING:
    from numpy.random import Generator


class Exponential(NamedTuple):
    """Positive rewards of density exp(-x / mean) / mean, with no arm's mean above ``highest``.

    Without a ``highest`` the tilts are laid out for means up to 1024 epsilon. A run among means far above that may not
    stop; what it returns is covered all the same.

    Parameters
    ----------
    highest
        No arm's mean is above it.

    Examples
    --------
    >>> family = Exponential()
    >>> round(family.divergence(1.0, 2.0), 12)
    0.19314718056
    >>> round(family.upper(2.0, 0.1), 12), round(family.lower(2.0, 0.1), 12)
    (3.242453670064, 1.319068781576)
    """

    highest: float = math.inf

    @property
    def lowest(self) -> float:
        """0, the smallest mean."""
        return 0.0

    @property
    def capacity(self) -> int:
        """No limit."""
        return ENDLESS

    @property
    def largest_threshold(self) -> float:
        """Infinite: the redundancy is valid at every level."""
        return math.inf

    def divergence(self, mean: float, other: float) -> float:
        """d(x, y) = x/y - 1 - ln(x/y); infinite where exactly one mean is 0."""
        return scale_divergence(1.0, mean, other)

    def upper(self, mean: float, level: float) -> float:
        """sup{q : d(mean, q) <= level}, never below it (label ``kl-ub``); ``highest`` for a mean of 0, an underflow."""
        return scale_upper(1.0, self.highest, mean, level)

    def lower(self, mean: float, level: float) -> float:
        """inf{q : d(mean, q) <= level}, never above it (label ``kl-lb``)."""
        return scale_lower(1.0, mean, level)

    def ceiling(self, mean: float, bound: float, level: float, later: float) -> float:
        """The tangent on a logarithmic scale: ln of the bound is concave in the level, the bound is not."""
        return scale_ceiling(1.0, self.highest, mean, bound, later - level)

    def chernoff_point(self, one: float, other: float) -> float:
        """z* = x y ln(y/x) / (y - x); 0 where a mean is 0."""
        return scale_chernoff_point(one, other)

    def chernoff(self, one: float, other: float) -> float:
        """d*(x, y) = d(z*, x) = d(z*, y)."""
        return scale_divergence(1.0, scale_chernoff_point(one, other), max(one, other))

    def kappa(self, epsilon: float) -> float:
        """-r - ln(1 - r), r = epsilon / (2 highest); 0 without a highest mean."""
        return scale_kappa(1.0, self.highest, epsilon)

    def redundancy(self, total: float, pulls: int) -> float:
        """R of a mixture with a fixed inverse-gamma prior; see ``topalpha.families.scale.scale_redundancy``."""
        return scale_redundancy(1.0, self.highest, total, pulls)

    def tilted(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """-N tilt + (1 - e^-tilt) S / mean: the alternative is mean * e^tilt (docs/proofs.md, C)."""
        return scale_tilted(1.0, mean, total, pulls, tilt, growth)

    def tilted_slope(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The derivative of :meth:`tilted` in the mean."""
        return scale_tilted_slope(1.0, mean, total, growth)

    def smallest_tilt(self, epsilon: float) -> float:
        """ln(1 + epsilon / (2M)), M the highest mean: tilts are logarithms of ratios of means."""
        return math.log1p(0.5 * epsilon / reach(self.highest, epsilon))

    def largest_tilt(self) -> float:
        """ln 8."""
        return math.log(8.0)

    def gap_unit(self, epsilon: float) -> float:
        """epsilon / M, M the highest mean: gaps are relative."""
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
        """mean^2."""
        return mean * mean

    def spread(self, total: float, pulls: int) -> float:
        """p^2 (1 + 1/N); a tiny number where all rewards underflowed."""
        return scale_spread(1.0, total, pulls)

    def log_ratio(self, alternative: float, mean: float, total: float, pulls: int) -> float:
        """N ln(x/y) - S (1/y - 1/x), with y the alternative and x the mean."""
        return scale_log_ratio(1.0, alternative, mean, total, pulls)

    def log_ratio_since(
        self, alternative: float, mean: float, total: float, pulls: int, total_then: float, pulls_then: int
    ) -> float:
        """The same from later rewards only: they are independent of the earlier ones."""
        return self.log_ratio(alternative, mean, total - total_then, pulls - pulls_then)

    def sample(self, mean: float, rng: Generator) -> float:
        """An exponential reward."""
        return rng.exponential(mean)

    def check(self, reward: float) -> None:
        """Finite numbers of at least 0 (0 can only be an underflow)."""
        require(0.0 <= reward < math.inf, "reward", "be at least 0 and finite", reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``highest`` is positive."""
        require(real("highest", self.highest) > 0.0, "highest", "be positive", self.highest)
