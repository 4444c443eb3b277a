"""Draws that allocate memory when compiled; the engine compiles only these with an allocator."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator


def draw_poisson(mean: float, rng: Generator) -> float:
    """One Poisson count.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> draw_poisson(0.0, default_rng(0))
    0.0
    """
    return float(rng.poisson(mean))


def draw_binomial(count: int, mean: float, rng: Generator) -> float:
    """The number of successes in ``count`` trials.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> draw_binomial(7, 1.0, default_rng(0))
    7.0
    """
    return float(rng.binomial(count, mean))
