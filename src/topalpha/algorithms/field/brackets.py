"""The brackets of bucb: bracket r has 2^r arms, bracket l + 1 opens at pull l 2^l, and open brackets take turns."""

from __future__ import annotations

import math


def bracket_alpha(bracket: int, draw_level: float, delta_u: float) -> float:
    """The alpha with (1 - alpha (1 - delta_u))^(2^r) = delta_A / (r (r + 1)): what bracket r can prove.

    Examples
    --------
    >>> [round(bracket_alpha(bracket, 0.09, 0.1), 4) for bracket in (3, 5, 7)]
    [0.5084, 0.1845, 0.0545]
    """
    level = draw_level / (bracket * (bracket + 1.0))
    return -math.expm1(math.log(level) / 2**bracket) / (1.0 - delta_u)


def brackets_opened(budget: int) -> int:
    """How many brackets open within this many pulls: one at the start, and bracket l + 1 at pull l 2^l.

    Examples
    --------
    >>> [brackets_opened(budget) for budget in (1, 2, 7, 8, 23, 24)]
    [1, 2, 2, 3, 3, 4]
    """
    opened = 1
    while opened * 2**opened <= budget:
        opened += 1
    return opened


def arms_drawn(budget: int) -> int:
    """How many arms the schedule draws within this many pulls.

    Examples
    --------
    >>> [arms_drawn(budget) for budget in (1, 2, 3, 4, 5, 24)]
    [1, 2, 3, 4, 4, 12]
    """
    visits: list[int] = []
    turn, done = 0, 0
    while done < budget:
        visits.append(0)
        opened = len(visits)
        last = min(budget, opened * 2**opened - 1)  # the next bracket opens at the pull after
        for offset in range(opened):
            # turns after this one are turn + 1, ..., opened, 1, 2, ...
            visits[(turn + offset) % opened] += (last - done - offset + opened - 1) // opened
        turn = (turn + last - done - 1) % opened + 1
        done = last
    return sum(min(count, 2**bracket) for bracket, count in enumerate(visits, 1))
