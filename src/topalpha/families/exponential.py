"""Exponential rewards, by their mean: waiting times. The bounds are for exponential rewards only."""

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

    Without a ``highest`` the tilts are laid out for means up to 1024 epsilon. A run among means far above that may not
    stop; what it returns is covered all the same.

    Parameters
    ----------
    highest
        No arm's mean is above it.

    Examples
    --------
    >>> family = Exponential()
    >>> round(family.divergence(1.0, 2.0), 12)
    0.19314718056
    >>> round(family.upper(2.0, 0.1), 12), round(family.lower(2.0, 0.1), 12)
    (3.242453670064, 1.319068781576)
    """

    @property
    def shape(self) -> float:
        """1: of a gamma law."""
        return 1.0

    def sample(self, mean: float, rng: Generator) -> float:
        """An exponential reward."""
        return rng.exponential(mean)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless ``highest`` is positive."""
        require(real("highest", self.highest) > 0.0, "highest", "be positive", self.highest)
