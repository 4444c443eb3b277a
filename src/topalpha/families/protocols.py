"""The protocols of reward models, from the range of means to one-parameter families."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy.random import Generator

#: The capacity of an arm without a limit on its pulls.
ENDLESS = 2**62


@runtime_checkable
class RewardModel(Protocol):
    """Assumptions about the rewards of one arm: the range of the means, and the possible rewards.

    Methods stay in the compiled subset, scalars in and scalars out; ``check`` and ``check_parameters`` run on the host.
    """

    @property
    def highest(self) -> float:
        """No arm's mean exceeds this (the supremum of Theta)."""

    @property
    def lowest(self) -> float:
        """No arm's mean is below this (the infimum of Theta)."""

    @property
    def capacity(self) -> int:
        """The largest number of pulls of an arm: :data:`ENDLESS`, or the size of a finite set of items."""

    def sample(self, mean: float, rng: Generator) -> float:
        """One reward of an arm with this mean."""

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless the parameters are valid."""

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward can come from this family."""


@runtime_checkable
class EvidenceFamily(RewardModel, Protocol):
    """Rewards with known likelihood ratios, for joint-lucb; ``gap_unit`` and ``largest_gap`` run on the host only."""

    def gap_unit(self, epsilon: float) -> float:
        """A difference of ``epsilon`` between means, in the family's own scale of gaps."""

    def largest_gap(self) -> float:
        """The largest gap of the grid."""

    def below(self, mean: float, gap: float) -> float:
        """The alternative ``gap`` below the mean, in the family's own scale of gaps."""

    def above(self, mean: float, gap: float) -> float:
        """The alternative ``gap`` above the mean, in the family's own scale of gaps."""

    def below_slope(self, gap: float) -> float:
        """The derivative of :meth:`below` in the mean, where it is not cut off."""

    def variance(self, mean: float) -> float:
        """The variance of a reward with this mean."""

    def spread(self, total: float, pulls: int) -> float:
        """A smoothed estimate of the variance from ``pulls`` rewards of sum ``total``, positive even after one."""

    def log_ratio(self, alternative: float, mean: float, total: float, pulls: int) -> float:
        """ln of the likelihood of ``alternative`` over that of ``mean`` after ``pulls`` rewards of sum ``total``."""

    def log_ratio_since(
        self, alternative: float, mean: float, total: float, pulls: int, total_then: float, pulls_then: int
    ) -> float:
        """The same for the rewards after the first ``pulls_then``, whose sum was ``total_then``."""


@runtime_checkable
class RewardFamily(EvidenceFamily, Protocol):
    """A one-parameter family in the mean parameterisation (or rewards that one dominates).

    ``upper`` and ``lower`` are rounded outward: never inside the true bound, and within 1e-9 of it.
    ``smallest_tilt`` and ``largest_tilt``, which choose grids, run on the host only.
    """

    def divergence(self, mean: float, other: float) -> float:
        """d(mean, other), the Kullback-Leibler divergence between the rewards of two means."""

    def upper(self, mean: float, level: float) -> float:
        """sup{q >= mean : d(mean, q) <= level} (label ``kl-ub``)."""

    def lower(self, mean: float, level: float) -> float:
        """inf{q <= mean : d(mean, q) <= level} (label ``kl-lb``)."""

    def ceiling(self, mean: float, bound: float, level: float, later: float) -> float:
        """A cheap upper bound of ``upper(mean, later)``, given bound = upper(mean, level) and later >= level."""

    def chernoff_point(self, one: float, other: float) -> float:
        """z*, the point with d(z*, one) = d(z*, other)."""

    def chernoff(self, one: float, other: float) -> float:
        """d*(one, other) = d(z*, one), the Chernoff information."""

    def kappa(self, epsilon: float) -> float:
        """inf{d(x, y) : |x - y| >= epsilon / 2}, which replaces epsilon^2 / 2 outside [0, 1] rewards."""

    def redundancy(self, total: float, pulls: int) -> float:
        """R: maximal log-likelihood minus log conjugate mixture, so that N d(p, mu) <= ln(1/level) + R."""

    def tilted(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """ln of one likelihood-ratio term of the tilt mixture; ``growth`` is exp(tilt) - 1, tabulated by callers.

        The alternative is the mean tilted by ``tilt``: down (negative) in M-, up (positive) in M+. As a function of the
        mean the term increases for a negative tilt and decreases for a positive one.
        """

    def tilted_slope(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The derivative of :meth:`tilted` in the mean."""

    def smallest_tilt(self, epsilon: float) -> float:
        """The tilt epsilon / (2 v), v the variance proxy, which makes a run with tied means stop."""

    def largest_tilt(self) -> float:
        """The largest tilt of the grid."""

    @property
    def largest_threshold(self) -> float:
        """The redundancy is valid for ln(1/level) up to this."""


class Independent:
    """Base of families with independent rewards and no limit on pulls."""

    __slots__ = ()

    @property
    def capacity(self) -> int:
        """No limit."""
        return ENDLESS

    def log_ratio_since(
        self: Any, alternative: float, mean: float, total: float, pulls: int, total_then: float, pulls_then: int
    ) -> float:
        """The likelihood ratio of the later rewards, which are independent of the earlier ones."""
        ratio: float = self.log_ratio(alternative, mean, total - total_then, pulls - pulls_then)
        return ratio


class FromZero(Independent):
    """Base of families with rewards of at least 0, whose redundancy is valid at every level."""

    __slots__ = ()

    @property
    def lowest(self) -> float:
        """0, the smallest mean."""
        return 0.0

    @property
    def largest_threshold(self) -> float:
        """Infinite: the redundancy is valid at every level."""
        return math.inf
