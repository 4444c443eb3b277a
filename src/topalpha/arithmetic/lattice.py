"""The lattice that running bounds are rounded to, outward, so that arms with the same record have the same bound."""

from __future__ import annotations

import math
from array import array
from collections.abc import MutableSequence
from math import frexp, ldexp

__all__ = ["CANONICAL", "known_place", "lattice_above", "outward", "slack", "step_to_root"]

#: Whether bounds are rounded at all: they were not in records of rules 1.
CANONICAL = True

#: Of arms with up to this many rewards, all of them 0 or 1, bounds are computed once in a search.
KNOWN = 40

# From each power of 2 to the next there are 2^30 points.
_POINTS = 2147483648.0
# Beyond it the next point may overflow.
_FAR = 1e308


def lattice_above(x: float) -> float:
    """The least point of the lattice of bounds that is not below x: at most 1e-9 of x away.

    Examples
    --------
    >>> lattice_above(0.5), 0.0 < lattice_above(0.3) - 0.3 < 1.5e-10
    (0.5, True)
    """
    if not -_FAR < x < _FAR:
        return x
    m, e = frexp(x)
    return ldexp(math.ceil(m * _POINTS) / _POINTS, e)


def slack(x: float) -> float:
    """How far above its root an iteration may end near x: an eighth of the way to the next point, or less.

    Examples
    --------
    >>> slack(0.5) < 3e-11
    True
    """
    return abs(x) / (8.0 * _POINTS)


def step_to_root(
    excess: float, slope: float, room: float, spare: float, apart: float, other_excess: float, other_slope: float
) -> float:
    """How far to go from a point, where a function is ``excess`` and has this slope, to come to its root.

    Newton's step, or, with a second point ``apart`` from the first, the step to the root of the cubic through both (of
    the inverse function, by value and slope), half of ``spare`` outside; its error is of the order of the squares of
    both points' errors. Newton's again if that leaves the interval, which ends ``room`` away. An ``other_slope`` of 0
    says that there is no second point.

    Examples
    --------
    >>> newton = step_to_root(0.21, 2.2, -1.1, 0.0, 0.0, 0.0, 0.0)  # x^2 - 1 at 1.1
    >>> curved = step_to_root(0.21, 2.2, -1.1, 0.0, 0.1, 0.44, 2.4)  # and at 1.2
    >>> round(1.1 + newton, 5), round(1.1 + curved, 5)
    (1.00455, 1.00015)
    """
    newton = -excess / slope
    if other_slope == 0.0 or other_excess == excess:
        return newton
    rise = other_excess - excess
    share = excess / rise
    own, other, secant = 1.0 / slope, 1.0 / other_slope, apart / rise
    curved = newton - share * (excess * (own - secant) + share * other_excess * (own + other - 2.0 * secant))
    curved -= math.copysign(0.5 * spare, room)
    return curved if 0.0 < curved * room < room * room else newton


def outward(outer: float, inner: float) -> tuple[float, float]:
    """The point of the lattice beyond ``outer`` as seen from ``inner``, and the one beyond ``outer`` less its slack.

    Where the two differ, ``outer`` is too close to a point of the lattice to say on which side of it the bound is.

    Examples
    --------
    >>> edge, near = outward(0.3, 0.2)
    >>> 0.3 < edge < 0.3 + 1.5e-10, near == edge
    (True, True)
    >>> outward(0.25 - 1e-13, 0.3)[1]
    0.25
    """
    if outer > inner:
        return lattice_above(outer), lattice_above(outer - slack(outer))
    return -lattice_above(-outer), -lattice_above(-(outer + slack(outer)))


def known_place(total: float, pulls: int) -> int:
    """The place of a record in a list of bounds of short records of rewards 0 or 1; -1 for others.

    Examples
    --------
    >>> known_place(0.0, 1), known_place(1.0, 1), known_place(0.0, 2), known_place(0.5, 2), known_place(0.0, 41)
    (0, 1, 2, -1, -1)
    """
    if not CANONICAL or pulls > KNOWN or not 0.0 <= total <= pulls or total != math.floor(total):
        return -1
    return (pulls * (pulls + 1)) // 2 - 1 + int(total)


def unknown_bounds() -> MutableSequence[float]:
    """Such a list, with nothing known; every run begins with one, and compiled code takes an array much sooner.

    Examples
    --------
    >>> len(unknown_bounds()), unknown_bounds()[0]
    (860, nan)
    """
    return array("d", [math.nan]) * ((KNOWN + 1) * (KNOWN + 2) // 2 - 1)
