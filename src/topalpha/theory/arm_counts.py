"""How many arms must be drawn so that one of them is in the top alpha fraction.

n arms all miss the top alpha fraction with probability at most (1-alpha)^n, with equality where G is continuous
(errata E19). All versions of n solve such an inequality; they differ in the share of delta that it may use.
"""

from __future__ import annotations

import math

from topalpha.validate import fraction, positive, require, whole


def _ceil(number: float) -> int:
    """The number rounded up; a whole number blurred by rounding is kept."""
    require(number < 1e15, "alpha", "be large enough that fewer than 1e15 arms are needed", f"{number:.3g} arms")
    return max(1, math.ceil(number * (1.0 - 1e-14)))


def _rate(chance: float) -> float:
    """-ln(1 - chance), never 0, even for a tiny chance."""
    return max(-math.log1p(-chance), math.ulp(0.0))


def arms_paper(alpha: float, delta: float) -> int:
    """ceil(ln(2/delta) / alpha), the number of arms of the paper's Algorithm 2, rounded up (errata E4).

    Examples
    --------
    >>> arms_paper(0.05, 0.05)
    74
    """
    return _ceil(math.log(2.0 / fraction("delta", delta)) / fraction("alpha", alpha))  # label alg-alpha-kl-lucb


def arms_tight(alpha: float, delta: float) -> int:
    """ceil(ln(2/delta) / -ln(1-alpha)), the least n with (1-alpha)^n <= delta/2 (errata E4).

    Examples
    --------
    >>> arms_tight(0.05, 0.05)
    72
    """
    return _ceil(math.log(2.0 / fraction("delta", delta)) / _rate(fraction("alpha", alpha)))


def arms_table(alpha: float, delta: float) -> int:
    """ceil(ln(1/delta) / alpha), the number that produced the paper's table; its proof does not cover it.

    Examples
    --------
    >>> arms_table(0.05, 0.05)
    60
    """
    return _ceil(-math.log(fraction("delta", delta)) / fraction("alpha", alpha))


def arms_constant_confidence(alpha: float, delta_a: float, delta_u: float) -> int:
    """ceil(ln(1/delta_a) / -ln(1 - alpha (1-delta_u))): one top arm whose upper bound, of level delta_u, never fails.

    ``delta_a`` is the share of delta for drawing the arms.

    Examples
    --------
    >>> arms_constant_confidence(0.05, 0.9 * 0.05, 0.2)
    76
    """
    good = fraction("alpha", alpha) * (1.0 - fraction("delta_u", delta_u))
    return _ceil(-math.log(fraction("delta_a", delta_a)) / _rate(good))


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
    return _ceil(-math.log(weight * fraction("delta", delta)) / _rate(good))


def arms_of_rank(rank: int, chance: float, level: float) -> int:
    """The fewest arms of which at least ``rank`` are good with probability 1 - ``level``; each is with ``chance``.

    The smallest n with P(Bin(n, chance) < rank) <= level; for rank 1 the logarithms above.

    Examples
    --------
    >>> arms_of_rank(1, 0.05, 0.025) == arms_tight(0.05, 0.05), arms_of_rank(2, 0.05, 0.025)
    (True, 110)
    """
    rank, chance, level = whole("rank", rank), fraction("chance", chance), fraction("level", level)
    from scipy.special import bdtr

    short, enough = rank - 1, rank
    while bdtr(rank - 1, enough, chance) > level:
        short, enough = enough, 2 * enough
        require(enough < 2**31, "alpha", "be large enough that fewer than 2^31 arms are needed", f"{enough:.3g} arms")
    while enough - short > 1:
        middle = (short + enough) // 2
        if bdtr(rank - 1, middle, chance) <= level:
            enough = middle
        else:
            short = middle
    return enough
