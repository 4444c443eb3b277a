"""Claims about an arm at any time: statements weaker than the target, which all hold together with it.

For algorithms with separate bounds U and L (docs/proofs.md, A, B and D.4); joint-lucb has its own claims (E.6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from topalpha.rules.protocol import Claim
from topalpha.theory.pool import rank_alpha

#: The target's share of the level for draws; the rest is for larger alphas.
FIRST_SHARE = 0.95


def target_claim(alpha: float, lower: float, others: Sequence[float]) -> list[Claim]:
    """The claim for the target's own alpha, from the arm's lower bound and all other arms' upper bounds.

    Examples
    --------
    >>> target_claim(0.05, 0.5, [0.25, 0.75])
    [Claim(alpha=0.05, epsilon=0.25)]
    """
    return rank_claim(alpha, lower, others, 1)


def rank_claim(alpha: float, lower: float, others: Sequence[float], rank: int) -> list[Claim]:
    """The claim in which all but ``rank`` - 1 of the other arms are at most epsilon above the arm.

    Examples
    --------
    >>> rank_claim(0.05, 0.5, [0.25, 1.0, 0.75], 2)
    [Claim(alpha=0.05, epsilon=0.25)]
    """
    above = sorted(others, reverse=True)[rank - 1 :]
    distance = above[0] - lower if above else 0.0
    return [Claim(alpha, max(0.0, distance))] if distance < math.inf else []


def least_shown(shown: Callable[[float], bool], low: float, high: float, most: float, near: float) -> float:
    """``low`` if it is shown; else the least epsilon that is, at most ``near`` too large, or infinite beyond ``most``.

    Whatever exceeds an epsilon that is shown is shown too; ``high`` is the first guess.

    Examples
    --------
    >>> [least_shown(lambda epsilon: epsilon >= 3.0, 0.0, 1.0, most, 0.25) for most in (100.0, 2.0)]
    [3.0, inf]
    """
    if shown(low):
        return low
    while not shown(high):
        low, high = high, 2.0 * high
        if high > most:
            return math.inf
    for _ in range(60):
        if high - low <= near:
            break
        middle = 0.5 * (low + high)
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def rank_level(rank: int, level: float) -> float:
    """d_r of Theorem D': .95 of the level for the first rank, the rest divided by 1/(r (r+1)).

    Examples
    --------
    >>> rank_level(1, 1.0), sum(rank_level(rank, 1.0) for rank in range(1, 10_000)) <= 1.0
    (0.95, True)
    """
    if rank == 1:
        return FIRST_SHARE * level
    return 2.0 * (1.0 - FIRST_SHARE) * level / (rank * (rank + 1.0))


def rank_claims(
    alpha: float, lower: float, others: Sequence[float], level: float, arms: int, pool: int, delta_u: float
) -> list[Claim]:
    """The curve of Theorem D', the target's alpha first; ``others`` are the other arms' upper bounds, or infinite.

    Examples
    --------
    >>> curve = rank_claims(0.05, 0.5, [0.9, 0.8, 0.7, 0.6] + [0.5] * 71, 0.045, 76, 0, 0.2)
    >>> [(round(claim.alpha, 3), round(claim.epsilon, 3)) for claim in curve]
    [(0.05, 0.4), (0.149, 0.3), (0.19, 0.2), (0.227, 0.1), (0.26, 0.0)]
    """
    descending = sorted(others, reverse=True)
    curve: list[Claim] = []
    for rank in range(1, arms + 1):
        epsilon = max(0.0, descending[rank - 1] - lower) if rank <= len(descending) else 0.0
        if epsilon == math.inf or (curve and epsilon >= curve[-1].epsilon):
            continue
        fraction = alpha if rank == 1 else rank_alpha(rank, rank_level(rank, level), arms, pool, delta_u)
        if fraction >= 1.0:
            break
        if fraction > alpha or rank == 1:
            curve.append(Claim(fraction, epsilon))
        if epsilon == 0.0:
            break
    return curve
