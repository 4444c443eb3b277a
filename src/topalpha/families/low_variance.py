"""Rewards in [0, 1] of small variance: the bounds adapt to the variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.protocols import ENDLESS
from topalpha.validate import require

if TYPE_CHECKING:
    from numpy.random import Generator

# Half-width of the rewards from `sample` around their mean, cut off at the ends of the range.
_SCATTER = 0.05


class LowVariance(NamedTuple):
    """Rewards anywhere in [0, 1], with no arm's mean above ``highest``; the smaller their variance, the fewer pulls.

    Valid for every law on [0, 1], like Bernoulli's bounds, and tighter where the variance is well below
    mean (1 - mean). No bound for all of [0, 1] can place a mean within epsilon in fewer than about
    ln(1/level) / epsilon pulls: a rare bad outcome cannot be excluded sooner.

    Parameters
    ----------
    highest
        The highest possible mean of an arm.

    Examples
    --------
    >>> LowVariance().check(1.5)
    Traceback (most recent call last):
    ValueError: reward must lie in [0, 1], got 1.5
    """

    highest: float = 1.0

    @property
    def lowest(self) -> float:
        """0, the smallest mean."""
        return 0.0

    @property
    def capacity(self) -> int:
        """No limit."""
        return ENDLESS

    def sample(self, mean: float, rng: Generator) -> float:
        """A uniform reward around the mean, within .05 of it and within the range."""
        width = min(_SCATTER, mean, 1.0 - mean)
        return min(max(mean + width * (2.0 * rng.random() - 1.0), 0.0), 1.0)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward lies in [0, 1]."""
        require(0.0 <= reward <= 1.0, "reward", "lie in [0, 1]", reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``highest`` lies in (0, 1]."""
        inside = isinstance(self.highest, int | float) and 0.0 < self.highest <= 1.0
        require(inside, "highest", "lie in (0, 1]", self.highest)
