"""Exponential rewards, such as waiting times. The bounds hold for exponential rewards only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topalpha.families.gamma import ScaleFamily
from topalpha.validate import real, require

if TYPE_CHECKING:
    from numpy.random import Generator


class ExponentialParameters(NamedTuple):
    """The highest mean."""

    highest: float = math.inf


class Exponential(ScaleFamily, ExponentialParameters):
    """Positive rewards of density exp(-x / mean) / mean, with no arm's mean above ``highest``.

    Without a ``highest`` the grid of tilts covers means up to 1024 epsilon. With means far above that a run may not
    stop; the guarantee holds all the same.

    Parameters
    ----------
    highest
        The highest possible mean of an arm.

    Examples
    --------
    >>> family = Exponential()
    >>> round(family.divergence(1.0, 2.0), 9), round(family.upper(2.0, 0.1), 9), round(family.lower(2.0, 0.1), 9)
    (0.193147181, 3.24245367, 1.319068782)
    """

    __slots__ = ()

    @property
    def shape(self) -> float:
        """1, the shape of an exponential law among gamma laws."""
        return 1.0

    def sample(self, mean: float, rng: Generator) -> float:
        """An exponential reward."""
        return rng.exponential(mean)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``highest`` is positive."""
        require(real("highest", self.highest) > 0.0, "highest", "be positive", self.highest)
