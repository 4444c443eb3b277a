"""Normal rewards of unknown variance. The bounds are exact under normality only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.protocols import ENDLESS
from topalpha.validate import positive, require

if TYPE_CHECKING:
    from numpy.random import Generator


class Normal(NamedTuple):
    """Normal rewards; each arm has its own unknown variance. For cc-lucb and lucb++ only.

    Exact under normality only: for other rewards the error is not controlled. (Lognormal rewards, exp(1.5 Z), break an
    upper bound of level .2 in six runs of ten.) Two heuristic guards help with nearly normal rewards: no bound is
    finite before ``least_pulls`` rewards of an arm, or while all rewards are equal. Rewards rounded to a lattice should
    be dithered over one step of it. ``topalpha.confidence.student`` says why joint-lucb does not take them.

    Parameters
    ----------
    prior_pulls
        The weight of the prior on the effect, in pulls: bounds are narrowest for differences of about
        1/sqrt(prior_pulls) standard deviations.
    least_pulls
        The number of rewards of an arm before its bounds are finite.

    Examples
    --------
    >>> Normal().highest, Normal().prior_pulls, Normal().least_pulls
    (inf, 10.0, 10.0)
    """

    prior_pulls: float = 10.0
    least_pulls: float = 10.0

    @property
    def highest(self) -> float:
        """inf: means are not bounded."""
        return math.inf

    @property
    def lowest(self) -> float:
        """-inf: means are not bounded."""
        return -math.inf

    @property
    def capacity(self) -> int:
        """No limit."""
        return ENDLESS

    def sample(self, mean: float, rng: Generator) -> float:
        """A normal reward of standard deviation 1: the bounds do not depend on the unit."""
        return rng.normal(mean, 1.0)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward is finite."""
        require(-math.inf < reward < math.inf, "reward", "be finite", reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless the prior is proper and an arm needs at least two rewards."""
        positive("prior_pulls", self.prior_pulls)
        require(2.0 <= self.least_pulls < math.inf, "least_pulls", "be at least 2", self.least_pulls)
