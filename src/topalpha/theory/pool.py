"""A finite list of candidates, drawn without replacement: its length, and claims by rank (docs/proofs.md, D.4).

For an endless pool, ``pool=0``, the binomial law answers the same questions.
"""

from __future__ import annotations

import math
from functools import cache

from topalpha.theory.arm_counts import arms_of_pool, log_all_fail, top_size  # noqa: F401 - version 0.2.0 had them here
from topalpha.theory.chances import least_chance, valid_below
from topalpha.validate import whole


def fewest(arms: int, pool: int) -> int:
    """The number of arms, limited by the length of the list.

    Examples
    --------
    >>> fewest(74, 50), fewest(74, 0)
    (50, 74)
    """
    return min(arms, pool) if whole("pool", pool, 0) > 0 else arms


@cache
def rank_alpha(rank: int, level: float, arms: int, pool: int, delta_u: float) -> float:
    """The smallest alpha such that fewer than ``rank`` valid top arms are drawn with probability at most ``level``.

    It is at least 1 if there is none.

    Examples
    --------
    >>> round(rank_alpha(1, 0.045, 76, 0, 0.2), 3), round(rank_alpha(5, 0.001, 76, 0, 0.2), 3)
    (0.05, 0.227)
    >>> rank_alpha(1, 0.045, 74, 1000, 0.2)
    0.05
    """
    if rank > arms:
        return math.inf
    if pool == 0:
        return least_chance(rank, arms, level) / (1.0 - delta_u)
    short, enough = 0, pool + 1
    while enough - short > 1:
        top = (short + enough) // 2
        if valid_below(rank, pool, top, arms, 1.0 - delta_u) <= level:
            enough = top
        else:
            short = top
    return enough / pool if enough <= pool else math.inf
