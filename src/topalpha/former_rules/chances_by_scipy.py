"""Binomial and hypergeometric chances as of rules 1, by SciPy."""

from __future__ import annotations

import math

__all__ = ["binomial_below", "hypergeometric_log_mean", "least_chance", "root_below", "valid_below"]


def binomial_below(rank: int, number: int, chance: float) -> float:
    """P(Bin(number, chance) < rank).

    Examples
    --------
    >>> binomial_below(1, 2, 0.5)
    0.25
    """
    from scipy.special import bdtr

    return float(bdtr(rank - 1, number, chance))


def least_chance(rank: int, number: int, level: float) -> float:
    """The least chance with P(Bin(number, chance) < rank) <= level.

    Examples
    --------
    >>> round(least_chance(1, 2, 0.25), 12)
    0.5
    """
    from scipy.stats import beta

    return float(beta.ppf(1.0 - level, rank, number - rank + 1))


def hypergeometric_log_mean(pool: int, top: int, drawn: int, factor: float) -> float:
    """ln E[factor^J], J the number of top candidates among ``drawn`` of the pool.

    Examples
    --------
    >>> round(hypergeometric_log_mean(2, 1, 1, 0.5), 12) == round(math.log(0.75), 12)
    True
    """
    from scipy.special import logsumexp
    from scipy.stats import hypergeom

    counts = range(max(0, drawn - (pool - top)), min(top, drawn) + 1)
    terms = hypergeom.logpmf(counts, pool, top, drawn)
    return float(logsumexp([term + count * math.log(factor) for term, count in zip(terms, counts, strict=True)]))


def root_below(level: float, top: int) -> float:
    """The ``top``-th root of a level.

    Examples
    --------
    >>> root_below(0.25, 2)
    0.5
    """
    return float(level ** (1.0 / top))


def valid_below(rank: int, pool: int, top: int, drawn: int, chance: float) -> float:
    """P(fewer than ``rank`` valid top candidates among ``drawn``), each top one valid with this chance.

    Examples
    --------
    >>> round(valid_below(1, 2, 1, 1, 0.5), 12)
    0.75
    """
    from scipy.stats import binom, hypergeom

    counts = range(min(top, drawn) + 1)
    return float(hypergeom.pmf(counts, pool, top, drawn) @ binom.cdf(rank - 1, counts, chance))
