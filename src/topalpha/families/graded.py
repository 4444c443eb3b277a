"""Scores in [0, 1] on a finite set of items, each tried at most once: sampling without replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.low_variance import LowVariance
from topalpha.families.pass_fail import PassFail

if TYPE_CHECKING:
    from numpy.random import Generator


class Graded(NamedTuple):
    """Rewards anywhere in [0, 1] from a test set of ``items`` items; every arm tries them in its own random order.

    The mean is that over these items, which is known exactly once all of them were tried. Bounds adapt to the variance
    of the scores. For rewards 0 or 1 those of :class:`PassFail` are exact, and narrower.

    Parameters
    ----------
    items
        The size of the test set.

    Examples
    --------
    >>> family = Graded(200)
    >>> family.capacity, family.lowest, family.highest
    (200, 0.0, 1.0)
    """

    items: int

    @property
    def highest(self) -> float:
        """1: the best score on all items."""
        return 1.0

    @property
    def lowest(self) -> float:
        """0: the worst score on all items."""
        return 0.0

    @property
    def capacity(self) -> int:
        """The number of items."""
        return self.items

    def sample(self, mean: float, rng: Generator) -> float:
        """A score around ``mean``, as of :class:`LowVariance`: one item, whatever the others gave.

        So the mean over the items is random. The bounds are about that one, not about ``mean``.
        """
        return LowVariance(1.0).sample(mean, rng)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward lies in [0, 1]."""
        LowVariance(1.0).check(reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``items`` is a whole number that is not too large."""
        PassFail(self.items).check_parameters()
