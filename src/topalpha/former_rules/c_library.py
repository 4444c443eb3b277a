"""The arithmetic of rules 1: the C library's functions, and bounds as Newton's iteration left them."""

from __future__ import annotations

from math import cbrt as cube_root
from math import exp, expm1, log, log1p
from operator import pow as power

__all__ = [
    "CANONICAL",
    "cube_root",
    "exact_sum",
    "exp",
    "expm1",
    "known_place",
    "log",
    "log1p",
    "log1p_absolute",
    "outward",
    "power",
    "slack",
    "step_to_root",
    "unknown_bounds",
]

CANONICAL = False
log1p_absolute = log1p
exact_sum = sum


def known_place(total: float, pulls: int) -> int:
    """-1: no bound was kept for other arms with the same record.

    Examples
    --------
    >>> known_place(0.0, 1)
    -1
    """
    return -1


def outward(outer: float, inner: float) -> tuple[float, float]:
    """The bound itself, which was not rounded.

    Examples
    --------
    >>> outward(0.3, 0.2)
    (0.3, 0.3)
    """
    return outer, outer


def slack(x: float) -> float:
    """How far above its root an iteration may end near x.

    Examples
    --------
    >>> slack(1.0)
    2e-11
    """
    return 1e-11 * (1.0 + abs(x))


def step_to_root(
    excess: float, slope: float, room: float, spare: float, apart: float, other_excess: float, other_slope: float
) -> float:
    """Newton's step.

    Examples
    --------
    >>> step_to_root(1.0, 2.0, -1.0, 0.1, 0.4, 1.25, 3.0)
    -0.5
    """
    return -excess / slope


def unknown_bounds() -> list[float]:
    """An empty list.

    Examples
    --------
    >>> unknown_bounds()
    []
    """
    return []
