"""Normal rewards of unknown variance. The bounds are exact under normality only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.protocols import ENDLESS
from topalpha.validate import positive, require

if TYPE_CHECKING:
    from numpy.random import Generator


class Normal(NamedTuple):
    """Normal rewards, each arm with a variance of its own that nobody needs to know.

    Exact under normality only: for other rewards the error is not controlled. (Lognormal rewards, exp(1.5 Z), break an
    upper bound of level .2 in six runs of ten.) For nearly normal rewards there are guards, as a heuristic: no bound is
    finite before ``least_pulls`` rewards, or while all rewards are equal; rewards rounded to a lattice should be
    dithered over one step of it. ``prior_pulls`` is how many pulls the prior on the effect is worth: bounds are
    narrowest for differences of about 1/sqrt(prior_pulls) standard deviations.

    For cc-lucb and lucb++ only: see ``topalpha.confidence.student`` for why.

    Parameters
    ----------
    prior_pulls
        How many pulls the prior on the effect is worth.
    least_pulls
        No bound is finite before so many rewards of an arm.

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
        """A normal reward of standard deviation 1: bounds do not change with the unit."""
        return rng.normal(mean, 1.0)

    def check(self, reward: float) -> None:
        """Any finite number will do."""
        require(-math.inf < reward < math.inf, "reward", "be finite", reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless the prior is proper and there is a deviation to speak of."""
        positive("prior_pulls", self.prior_pulls)
        require(2.0 <= self.least_pulls < math.inf, "least_pulls", "be at least 2", self.least_pulls)
