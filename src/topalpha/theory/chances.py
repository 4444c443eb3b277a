"""Binomial and hypergeometric chances, by sums of ratios: the same on every machine, as SciPy's are not."""

from __future__ import annotations

import math
from functools import lru_cache

from topalpha.arithmetic import exp, log, log1p, power

__all__ = ["binomial_below", "hypergeometric_log_mean", "least_chance", "root_below", "valid_below"]

# A product that leaves this range is taken into the logarithm.
_HUGE = 1e200
# Terms below this part of a sum are left out.
_NEGLIGIBLE = 1e-20


def _binomial_term(count: int, number: int, chance: float) -> float:
    """P(Bin(number, chance) = count)."""
    odds = chance / (1.0 - chance)
    logarithm, product = number * log1p(-chance), 1.0
    for index in range(count):
        product *= (number - index) / (index + 1) * odds
        if not 1.0 / _HUGE < product < _HUGE:
            logarithm += log(product)
            product = 1.0
    return exp(logarithm + log(product))


def binomial_below(rank: int, number: int, chance: float) -> float:
    """P(Bin(number, chance) < rank), for a positive chance.

    Examples
    --------
    >>> round(binomial_below(1, 10, 0.5) * 2**10, 9), round(binomial_below(3, 4, 0.5) * 2**4, 9)
    (1.0, 11.0)
    """
    if rank > number or chance >= 1.0:
        return 1.0 if rank > number else 0.0
    odds = chance / (1.0 - chance)
    lower = rank - 1 <= number * chance  # sum the tail whose terms fall
    count = rank - 1 if lower else rank
    total = share = 1.0
    while share > _NEGLIGIBLE * total and (count > 0 if lower else count < number):
        share *= count / ((number - count + 1) * odds) if lower else (number - count) * odds / (count + 1)
        total += share
        count += -1 if lower else 1
    tail = _binomial_term(rank - 1 if lower else rank, number, chance) * total
    return tail if lower else 1.0 - tail


def least_chance(rank: int, number: int, level: float) -> float:
    """The least chance with P(Bin(number, chance) < rank) <= level, rounded up by 1e-13 of it at most.

    Examples
    --------
    >>> round(least_chance(1, 2, 0.25), 12), round(binomial_below(5, 76, least_chance(5, 76, 0.001)), 12)
    (0.5, 0.001)
    """
    low, high, target = 0.0, 1.0, log(level)
    chance = rank / (number + 1.0)
    while high - low > 1e-13 * high:
        below = binomial_below(rank, number, chance)
        low, high = (low, chance) if below <= level else (chance, high)
        # Newton's step for the logarithm, whose slope is -rank P(Bin(number, chance) = rank) / (chance below).
        slope = rank * _binomial_term(rank, number, chance) / chance
        step = (log(below) - target) * below / slope if 0.0 < below < 1.0 and slope > 0.0 else math.inf
        # A little further than the root, so that both ends of the interval come close to it.
        chance += step + math.copysign(3e-14 * chance, step)
        if not low < chance < high:
            chance = 0.5 * (low + high)
    return high


def root_below(level: float, top: int) -> float:
    """The ``top``-th root of a level, rounded down: its power is not above the level.

    Examples
    --------
    >>> round(root_below(0.25, 2), 9), root_below(0.25, 2) < 0.5
    (0.5, True)
    """
    return power(level, 1.0 / top) * (1.0 - 1e-12)


def _hypergeometric_logs(pool: int, top: int, drawn: int) -> tuple[int, list[float]]:
    """The least number of top candidates among ``drawn``, and ln of the chances from it on, up to a constant."""
    first = max(0, drawn - (pool - top))
    logarithms = [0.0]
    for count in range(first, min(top, drawn)):
        left = (top - count) * (drawn - count) / ((count + 1) * (pool - top - drawn + count + 1))
        logarithms.append(logarithms[-1] + log(left))
    return first, logarithms


def _log_sum(logarithms: list[float]) -> float:
    """ln of the sum of exp."""
    largest = max(logarithms)
    return largest + log(math.fsum(exp(one - largest) for one in logarithms))


def hypergeometric_log_mean(pool: int, top: int, drawn: int, factor: float) -> float:
    """ln E[factor^J], J the number of top candidates among ``drawn`` of the pool, without replacement.

    Examples
    --------
    >>> round(exp(hypergeometric_log_mean(2, 1, 1, 0.5)), 12)  # J is 0 or 1
    0.75
    """
    first, logarithms = _hypergeometric_logs(pool, top, drawn)
    step = log(factor)
    weighted = [one + (first + index) * step for index, one in enumerate(logarithms)]
    return _log_sum(weighted) - _log_sum(logarithms)


def valid_below(rank: int, pool: int, top: int, drawn: int, chance: float) -> float:
    """P(fewer than ``rank`` valid top candidates among ``drawn``), each top one valid with this chance.

    Examples
    --------
    >>> round(valid_below(1, 2, 1, 1, 0.5), 12), round(valid_below(1, 10, 3, 10, 0.5), 12)
    (0.75, 0.125)
    """
    first, logarithms = _hypergeometric_logs(pool, top, drawn)
    largest = max(logarithms)
    shares = [exp(one - largest) for one in logarithms]
    missing = (_kept_below(rank, count, chance) for count in range(first, first + len(shares)))
    return math.fsum(share * below for share, below in zip(shares, missing, strict=True)) / math.fsum(shares)


#: The same tails are asked for at every step of a bisection.
_kept_below = lru_cache(maxsize=1 << 16)(binomial_below)
