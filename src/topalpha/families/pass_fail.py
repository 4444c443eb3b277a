"""Pass or fail on a finite set of items, each tried at most once: sampling without replacement.

The mean is the score on these items, K of M, not a property of a larger population. After N of the M items the score is
known better than after N independent draws, and after all M it is known exactly: a search never costs more than trying
all items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.draws import draw_binomial
from topalpha.validate import MOST_ITEMS, require, whole

if TYPE_CHECKING:
    from numpy.random import Generator


class ItemsParameters(NamedTuple):
    """The size of the test set."""

    items: int


class OnItems(ItemsParameters):
    """Base of models of scores from 0 to 1 on a finite test set, on which every arm tries each item at most once."""

    __slots__ = ()

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

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``items`` is a whole number small enough for a table."""
        items = whole("items", self.items)
        require(items <= MOST_ITEMS, "items", f"be at most {MOST_ITEMS}", items)


class PassFail(OnItems):
    """Rewards 0 or 1 from a test set of ``items`` items; every arm tries them in its own random order.

    The bounds are exact for this sampling and need no other assumption. Orders must be uniformly random and independent
    between arms: with one order for all arms the proofs of cc-lucb and joint-lucb do not hold.

    Parameters
    ----------
    items
        The size of the test set.

    Examples
    --------
    >>> family = PassFail(200)
    >>> family.capacity, family.lowest, family.highest
    (200, 0.0, 1.0)
    """

    __slots__ = ()

    def sample(self, mean: float, rng: Generator) -> float:
        """1 with probability ``mean``, else 0: one item, for an arm whose pass rate in the population is ``mean``.

        These draws do not depend on earlier ones, so the score on the items is random, Binomial(items, mean) / items.
        The bounds are about that score, not about ``mean``, and ``simulate`` judges by the score.
        """
        return 1.0 if rng.random() < mean else 0.0

    def sample_sum(self, mean: float, count: int, rng: Generator) -> float:
        """The number of passes among ``count`` items."""
        return draw_binomial(count, mean, rng)

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward is 0 or 1."""
        require(reward == 0.0 or reward == 1.0, "reward", "be 0 or 1", reward)
