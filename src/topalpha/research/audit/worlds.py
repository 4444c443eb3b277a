"""Rewards outside the family whose bounds are audited: still valid, or wrong on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.draws import draw_binomial

if TYPE_CHECKING:
    from numpy.random import Generator


class PlusMinus(NamedTuple):
    """The mean plus or minus ``swing``, with equal probability; means must stay this far from 0 and 1.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> PlusMinus(0.25).sample(0.5, default_rng(0)) in (0.25, 0.75)
    True
    """

    swing: float

    def sample(self, mean: float, rng: Generator) -> float:
        """One reward."""
        return mean + self.swing if rng.random() < 0.5 else mean - self.swing

    def sample_sum(self, mean: float, count: int, rng: Generator) -> float:
        """The sum of ``count`` rewards, in one draw: eliminations ask for millions at a time."""
        return count * mean + self.swing * (2.0 * draw_binomial(count, 0.5, rng) - count)


class Thirds(NamedTuple):
    """Bernoulli rewards of which a fraction ``unsure`` is replaced by their mean.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> Thirds(1.0).sample(0.5, default_rng(0))
    0.5
    """

    unsure: float

    def sample(self, mean: float, rng: Generator) -> float:
        """One reward."""
        if rng.random() < self.unsure:
            return mean
        return 1.0 if rng.random() < mean else 0.0

    def sample_sum(self, mean: float, count: int, rng: Generator) -> float:
        """The sum of ``count`` rewards: how many are replaced, then how many of the others are 1."""
        unsure = draw_binomial(count, self.unsure, rng)
        return unsure * mean + draw_binomial(int(count - unsure), mean, rng)


class Jackpots(NamedTuple):
    """Normal noise around 0, plus mean / ``share`` in a fraction ``share`` of the pulls: rewards that are not normal.

    The bounds for normal rewards are wrong here: an arm that has not won yet looks like an arm that never wins.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> abs(Jackpots(0.01).sample(1.0, default_rng(0))) < 1.0
    True
    """

    share: float

    def sample(self, mean: float, rng: Generator) -> float:
        """One reward."""
        won = mean / self.share if rng.random() < self.share else 0.0
        return won + rng.normal(0.0, 0.1)
