"""Rewards in [0, 1] with the noise of a pilot."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numpy.random import Generator


class Softened(NamedTuple):
    """A Bernoulli reward moved towards its mean: rewards in [0, 1] of variance factor^2 mean (1 - mean).

    Bounds depend only on sums of rewards, and a sum of many rewards on their mean and variance: these agree with the
    pilot's. For every mean the rewards stay in [0, 1].

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> Softened(0.5).sample(0.6, default_rng(0)) in (0.3, 0.8)
    True
    """

    factor: float

    def sample(self, mean: float, rng: Generator) -> float:
        """One reward."""
        return mean + self.factor * ((1.0 if rng.random() < mean else 0.0) - mean)
