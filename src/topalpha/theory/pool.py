"""A finite list of candidates, drawn without replacement: how many to draw, and claims by rank (docs/proofs.md, D.4).

For an endless pool, ``pool=0``, the binomial law answers the same questions.
"""

from __future__ import annotations

import math
from functools import cache

from topalpha.validate import LONGEST_LIST, fraction, whole


def top_size(pool: int, alpha: float) -> int:
    """The number of candidates at least as good as the list's top-alpha quantile: ceil(alpha K).

    Examples
    --------
    >>> top_size(40, 0.05), top_size(41, 0.05)
    (2, 3)
    """
    return max(1, math.ceil(pool * alpha * (1.0 - 1e-14)))


def fewest(arms: int, pool: int) -> int:
    """The number of arms, limited by the length of the list.

    Examples
    --------
    >>> fewest(74, 50), fewest(74, 0)
    (50, 74)
    """
    return min(arms, pool) if whole("pool", pool, 0) > 0 else arms


def log_all_fail(pool: int, alpha: float, drawn: int, delta_u: float) -> float:
    """ln E[delta_u^J], J the number of top arms among ``drawn``: the chance that every drawn top arm's bound fails.

    Examples
    --------
    >>> round(math.exp(log_all_fail(0, 0.05, 100, 0.4)), 4) == round((1 - 0.05 * 0.6) ** 100, 4)
    True
    >>> round(math.exp(log_all_fail(10, 0.2, 10, 0.5)), 4)
    0.25
    """
    if pool == 0:
        return drawn * math.log1p(-alpha * (1.0 - delta_u))
    from scipy.special import logsumexp
    from scipy.stats import hypergeom

    top = top_size(pool, alpha)
    counts = range(max(0, drawn - (pool - top)), min(top, drawn) + 1)
    terms = hypergeom.logpmf(counts, pool, top, drawn)
    return float(logsumexp([term + count * math.log(delta_u) for term, count in zip(terms, counts, strict=True)]))


def arms_of_pool(pool: int, alpha: float, level: float, delta_u: float) -> tuple[int, float]:
    """The fewest arms to draw from the list, and delta_u, which is lowered if even the whole list requires it.

    Examples
    --------
    >>> arms_of_pool(1000, 0.05, 0.045, 0.2)
    (74, 0.2)
    >>> arms, delta_u = arms_of_pool(10, 0.1, 0.045, 0.2)
    >>> arms, round(delta_u, 3)
    (10, 0.045)
    """
    pool, alpha, level = whole("pool", pool, most=LONGEST_LIST), fraction("alpha", alpha), fraction("level", level)
    delta_u = fraction("delta_u", delta_u)
    target = math.log(level)
    if log_all_fail(pool, alpha, pool, delta_u) > target:
        return pool, level ** (1.0 / top_size(pool, alpha))
    short, enough = 0, pool
    while enough - short > 1:
        middle = (short + enough) // 2
        if log_all_fail(pool, alpha, middle, delta_u) <= target:
            enough = middle
        else:
            short = middle
    return enough, delta_u


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
    from scipy.stats import beta, binom, hypergeom

    if pool == 0:
        return float(beta.ppf(1.0 - level, rank, arms - rank + 1) / (1.0 - delta_u))
    short, enough = 0, pool + 1
    while enough - short > 1:
        top = (short + enough) // 2
        counts = range(min(top, arms) + 1)
        missing = hypergeom.pmf(counts, pool, top, arms) @ binom.cdf(rank - 1, counts, 1.0 - delta_u)
        if missing <= level:
            enough = top
        else:
            short = top
    return enough / pool if enough <= pool else math.inf
