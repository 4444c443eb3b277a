"""Scores in [0, 1] on a finite set of items, each tried at most once: sampling without replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topalpha.families.low_variance import LowVariance
from topalpha.families.pass_fail import OnItems

if TYPE_CHECKING:
    from numpy.random import Generator


class Graded(OnItems):
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

    __slots__ = ()

    def sample(self, mean: float, rng: Generator) -> float:
        """A score around ``mean``, as of :class:`LowVariance`: one item, whatever the others gave.

        So the mean over the items is random. The bounds are about that one, not about ``mean``.
        """
        return LowVariance(1.0).sample(mean, rng)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward lies in [0, 1]."""
        LowVariance(1.0).check(reward)
