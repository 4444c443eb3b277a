"""How many arms must be drawn so that one of them is in the top alpha fraction.

n arms all miss the top alpha fraction with probability at most (1-alpha)^n, with equality where G is continuous
(errata E19). All versions of n solve such an inequality; they differ in the share of delta that it may use. From a
finite list arms are drawn without replacement, and fewer are enough (docs/proofs.md, D.4).
"""

from __future__ import annotations

import math

from topalpha.arithmetic import log, log1p
from topalpha.theory.chances import binomial_below, hypergeometric_log_mean, root_below
from topalpha.validate import LONGEST_LIST, fraction, positive, require, whole


def _ceil(number: float) -> int:
    """The number rounded up; a whole number blurred by rounding is kept."""
    require(number < 1e15, "alpha", "be large enough that fewer than 1e15 arms are needed", f"{number:.3g} arms")
    return max(1, math.ceil(number * (1.0 - 1e-14)))


def _rate(chance: float) -> float:
    """-ln(1 - chance), never 0, even for a tiny chance."""
    return max(-log1p(-chance), math.ulp(0.0))


def arms_paper(alpha: float, delta: float) -> int:
    """ceil(ln(2/delta) / alpha), the number of arms of the paper's Algorithm 2, rounded up (errata E4).

    Examples
    --------
    >>> arms_paper(0.05, 0.05)
    74
    """
    return _ceil(log(2.0 / fraction("delta", delta)) / fraction("alpha", alpha))  # label alg-alpha-kl-lucb


def arms_tight(alpha: float, delta: float) -> int:
    """ceil(ln(2/delta) / -ln(1-alpha)), the least n with (1-alpha)^n <= delta/2 (errata E4).

    Examples
    --------
    >>> arms_tight(0.05, 0.05)
    72
    """
    return _ceil(log(2.0 / fraction("delta", delta)) / _rate(fraction("alpha", alpha)))


def arms_table(alpha: float, delta: float) -> int:
    """ceil(ln(1/delta) / alpha), the number that produced the paper's table; its proof does not cover it.

    Examples
    --------
    >>> arms_table(0.05, 0.05)
    60
    """
    return _ceil(-log(fraction("delta", delta)) / fraction("alpha", alpha))


def arms_constant_confidence(alpha: float, delta_a: float, delta_u: float) -> int:
    """ceil(ln(1/delta_a) / -ln(1 - alpha (1-delta_u))): one top arm whose upper bound, of level delta_u, never fails.

    ``delta_a`` is the share of delta for drawing the arms.

    Examples
    --------
    >>> arms_constant_confidence(0.05, 0.9 * 0.05, 0.2)
    76
    """
    good = fraction("alpha", alpha) * (1.0 - fraction("delta_u", delta_u))
    return _ceil(-log(fraction("delta_a", delta_a)) / _rate(good))


def arms_joint(alpha: float, delta: float, delta_u: float, w2: float) -> int:
    """ceil(ln(1/(w2 delta)) / -ln(1 - alpha (1-delta_u))): joint-lucb (docs/proofs.md, E).

    ``w2`` is the weight, in (0, 1], of the challengers' evidence.

    Examples
    --------
    >>> arms_joint(0.05, 0.05, 0.2, 1.0)
    74
    """
    weight = positive("w2", w2)
    require(weight <= 1.0, "w2", "be at most 1", w2)
    good = fraction("alpha", alpha) * (1.0 - fraction("delta_u", delta_u))
    return _ceil(-log(weight * fraction("delta", delta)) / _rate(good))


def arms_of_rank(rank: int, chance: float, level: float) -> int:
    """The fewest arms of which at least ``rank`` are good with probability 1 - ``level``; each is with ``chance``.

    The smallest n with P(Bin(n, chance) < rank) <= level; for rank 1 the logarithms above.

    Examples
    --------
    >>> arms_of_rank(1, 0.05, 0.025) == arms_tight(0.05, 0.05), arms_of_rank(2, 0.05, 0.025)
    (True, 110)
    """
    rank, chance, level = whole("rank", rank), fraction("chance", chance), fraction("level", level)
    short, enough = rank - 1, rank
    while binomial_below(rank, enough, chance) > level:
        short, enough = enough, 2 * enough
        require(enough < 2**31, "alpha", "be large enough that fewer than 2^31 arms are needed", f"{enough:.3g} arms")
    while enough - short > 1:
        middle = (short + enough) // 2
        if binomial_below(rank, middle, chance) <= level:
            enough = middle
        else:
            short = middle
    return enough


def top_size(pool: int, alpha: float) -> int:
    """The number of candidates at least as good as the list's top-alpha quantile: ceil(alpha K).

    Examples
    --------
    >>> top_size(40, 0.05), top_size(41, 0.05)
    (2, 3)
    """
    return max(1, math.ceil(pool * alpha * (1.0 - 1e-14)))


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
        return drawn * log1p(-alpha * (1.0 - delta_u))
    return hypergeometric_log_mean(pool, top_size(pool, alpha), drawn, delta_u)


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
    target, top = log(level), top_size(pool, alpha)
    if log_all_fail(pool, alpha, pool, delta_u) > target:
        return pool, root_below(level, top)
    # As many as an endless pool needs are enough: drawing without replacement only helps (Hoeffding 1963).
    short, enough = 0, min(pool, _ceil(target / -_rate(top / pool * (1.0 - delta_u)) * (1.0 + 1e-12)))
    while enough - short > 1:
        middle = (short + enough) // 2
        if log_all_fail(pool, alpha, middle, delta_u) <= target:
            enough = middle
        else:
            short = middle
    return enough, delta_u
