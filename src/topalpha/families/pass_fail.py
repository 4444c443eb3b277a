"""Pass or fail on a finite set of items, each tried at most once: sampling without replacement.

The mean is the score on these items, K of M, and not a property of a larger population. After N of the M items the
score is known better than after N independent draws, and after all of them it is known exactly: a search never costs
more than trying everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.draws import draw_binomial
from topalpha.validate import require, whole

if TYPE_CHECKING:
    from numpy.random import Generator

# Bounds look up ln k! for every k up to the number of items, and make that table afresh now and then.
_MOST_ITEMS = 1_000_000


class PassFail(NamedTuple):
    """Rewards 0 or 1 from a test set of ``items`` items, which every arm goes through in its own random order.

    The bounds are exact for this sampling and need nothing else; orders must be uniformly random and independent
    between arms (with one order for all arms the proofs of cc-lucb and joint-lucb do not hold).

    Parameters
    ----------
    items
        The size of the test set.

    Examples
    --------
    >>> family = PassFail(200)
    >>> family.capacity, family.lowest, family.highest
    (200, 0.0, 1.0)
    >>> family.check(0.5)
    Traceback (most recent call last):
    ValueError: reward must be 0 or 1, got 0.5
    """

    items: int

    @property
    def highest(self) -> float:
        """1: every item passed."""
        return 1.0

    @property
    def lowest(self) -> float:
        """0: none passed."""
        return 0.0

    @property
    def capacity(self) -> int:
        """The number of items."""
        return self.items

    def sample(self, mean: float, rng: Generator) -> float:
        """1 with probability ``mean``, else 0: what one item says of an arm that passes so many of all items there are.

        Draws that know of no earlier ones make the score on these items random, Binomial(items, mean) / items: bounds
        are right about that score, not about ``mean``, and ``simulate`` judges by it.
        """
        return 1.0 if rng.random() < mean else 0.0

    def sample_sum(self, mean: float, count: int, rng: Generator) -> float:
        """How many of ``count`` items are passed."""
        return draw_binomial(count, mean, rng)

    def check(self, reward: float) -> None:
        """Pass or fail, nothing between."""
        require(reward == 0.0 or reward == 1.0, "reward", "be 0 or 1", reward)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``items`` is a whole number that a table can have."""
        items = whole("items", self.items)
        require(items <= _MOST_ITEMS, "items", f"be at most {_MOST_ITEMS}", items)
