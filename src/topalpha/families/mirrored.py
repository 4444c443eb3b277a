"""A family with the sign of its rewards reversed, to minimise Poisson, exponential or gamma costs.

Gaussian rewards and rewards in [0, 1] are flipped within their own class. The other families are not symmetric, so
every answer here is the mirror image of the family's answer. ``0.0 - x`` negates and never gives -0.0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.arithmetic import expm1
from topalpha.families.protocols import RewardFamily
from topalpha.families.scale import LARGEST_EXPONENT
from topalpha.validate import require

if TYPE_CHECKING:
    from numpy.random import Generator


class Mirrored(NamedTuple):
    """Rewards -X, where X is a reward of ``family``; the bounds are valid wherever those of the family are.

    Parameters
    ----------
    family
        The family of X.

    Examples
    --------
    >>> from topalpha.families.poisson import Poisson
    >>> family = Mirrored(Poisson(4.0))
    >>> family.lowest, family.highest
    (-4.0, 0.0)
    >>> family.upper(-3.0, 0.1) == -Poisson(4.0).lower(3.0, 0.1)
    True
    """

    family: RewardFamily

    @property
    def highest(self) -> float:
        """Minus the family's lowest mean."""
        return 0.0 - self.family.lowest

    @property
    def lowest(self) -> float:
        """Minus the family's highest mean."""
        return 0.0 - self.family.highest

    @property
    def capacity(self) -> int:
        """The family's own."""
        return self.family.capacity

    @property
    def largest_threshold(self) -> float:
        """The family's own."""
        return self.family.largest_threshold

    def divergence(self, mean: float, other: float) -> float:
        """d(-x, -y) of the family."""
        return self.family.divergence(0.0 - mean, 0.0 - other)

    def upper(self, mean: float, level: float) -> float:
        """Minus the family's lower bound (label ``kl-ub``)."""
        return 0.0 - self.family.lower(0.0 - mean, level)

    def lower(self, mean: float, level: float) -> float:
        """Minus the family's upper bound (label ``kl-lb``)."""
        return 0.0 - self.family.upper(0.0 - mean, level)

    def ceiling(self, mean: float, bound: float, level: float, later: float) -> float:
        """The later bound itself: families have no tangents for lower bounds."""
        return self.upper(mean, later)

    def chernoff_point(self, one: float, other: float) -> float:
        """Minus the family's z*."""
        return 0.0 - self.family.chernoff_point(0.0 - one, 0.0 - other)

    def chernoff(self, one: float, other: float) -> float:
        """d*(-x, -y) of the family."""
        return self.family.chernoff(0.0 - one, 0.0 - other)

    def kappa(self, epsilon: float) -> float:
        """The family's own: distances do not change."""
        return self.family.kappa(epsilon)

    def redundancy(self, total: float, pulls: int) -> float:
        """R of the family."""
        return self.family.redundancy(0.0 - total, pulls)

    def tilted(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The family's term with the opposite tilt: tilting a mean down tilts its mirror image up."""
        opposite = expm1(min(-tilt, LARGEST_EXPONENT))
        return self.family.tilted(0.0 - mean, 0.0 - total, pulls, -tilt, opposite)

    def tilted_slope(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The derivative of :meth:`tilted` in the mean."""
        opposite = expm1(min(-tilt, LARGEST_EXPONENT))
        return -self.family.tilted_slope(0.0 - mean, 0.0 - total, pulls, -tilt, opposite)

    def smallest_tilt(self, epsilon: float) -> float:
        """The family's own: the size of a tilt has no sign."""
        return self.family.smallest_tilt(epsilon)

    def largest_tilt(self) -> float:
        """The family's own."""
        return self.family.largest_tilt()

    def gap_unit(self, epsilon: float) -> float:
        """The family's own."""
        return self.family.gap_unit(epsilon)

    def largest_gap(self) -> float:
        """The family's own."""
        return self.family.largest_gap()

    def below(self, mean: float, gap: float) -> float:
        """Minus the family's alternative above."""
        return 0.0 - self.family.above(0.0 - mean, gap)

    def above(self, mean: float, gap: float) -> float:
        """Minus the family's alternative below."""
        return 0.0 - self.family.below(0.0 - mean, gap)

    def below_slope(self, gap: float) -> float:
        """The slope of the family's ``above``, the inverse of its ``below``."""
        return 1.0 / self.family.below_slope(gap)

    def variance(self, mean: float) -> float:
        """The family's own at -mean, kept above 0: the mean 0 is the highest here, and alternatives may come close."""
        return max(self.family.variance(0.0 - mean), 1e-300)

    def spread(self, total: float, pulls: int) -> float:
        """The family's own."""
        return self.family.spread(0.0 - total, pulls)

    def log_ratio(self, alternative: float, mean: float, total: float, pulls: int) -> float:
        """The family's own between -alternative and -mean; infinite if the rewards rule out the highest mean."""
        if mean >= self.highest and total < 0.0:
            return math.inf  # the family itself never tests its lowest mean as the null
        return self.family.log_ratio(0.0 - alternative, 0.0 - mean, 0.0 - total, pulls)

    def log_ratio_since(
        self, alternative: float, mean: float, total: float, pulls: int, total_then: float, pulls_then: int
    ) -> float:
        """The same for the rewards after the first ``pulls_then``."""
        if mean >= self.highest and total < 0.0:
            return math.inf
        return self.family.log_ratio_since(
            0.0 - alternative, 0.0 - mean, 0.0 - total, pulls, 0.0 - total_then, pulls_then
        )

    def sample(self, mean: float, rng: Generator) -> float:
        """Minus a reward of the family."""
        return 0.0 - self.family.sample(0.0 - mean, rng)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless minus the reward can come from the family."""
        try:
            self.family.check(0.0 - reward)
        except ValueError:
            name = type(self.family).__name__
            raise ValueError(f"reward must be minus a reward that {name} can have, got {reward!r}") from None

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``family`` is a valid reward family that is not mirrored itself."""
        single = isinstance(self.family, RewardFamily) and not isinstance(self.family, Mirrored)
        require(single, "family", "be a reward family that is not mirrored itself", self.family)
        self.family.check_parameters()
