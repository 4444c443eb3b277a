"""Likelihood ratios between scores on finitely many items tried without replacement (docs/proofs.md, C.4).

After N of M items with S passes, the likelihood of K passes in all is K (K-1) ... (K-S+1) (M-K) ... (M-K-N+S+1), up to
a factor. A mixture of likelihood ratios of K - g to K, over shifts g fixed in advance, is a supermartingale from 1
under every score of at least K, and increases with K. With failures in place of passes it serves the other side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from topalpha.arithmetic import exact_sum, exp, log
from topalpha.confidence.tilt import NEGLIGIBLE

# Relative error of a table entry, times the number of entries in a term: evidence is reduced by this much.
_ROUNDING = 2e-15


def log_factorials(items: int) -> list[float]:
    """ln 0!, ln 1!, ..., ln M!, by compensated summation, so that each is accurate to about the last digit.

    Examples
    --------
    >>> [round(value, 12) for value in log_factorials(3)]
    [0.0, 0.0, 0.69314718056, 1.791759469228]
    """
    return list(_log_factorials(items))


@cache
def _log_factorials(items: int) -> tuple[float, ...]:
    """Every run of a simulation asks for the same ones."""
    table = [0.0]
    lost = 0.0
    for count in range(1, items + 1):
        added = log(count) - lost
        following = table[-1] + added
        lost = (following - table[-1]) - added
        table.append(following)
    return tuple(table)


def shift_grid(items: int, gaps: Sequence[float], weights: Sequence[float]) -> tuple[list[int], list[float]]:
    """Gaps between scores as whole shifts of at least 1, equal ones merged, with log-weights that sum to 1.

    Examples
    --------
    >>> shifts, log_weights = shift_grid(10, [0.01, 0.1, 0.3], [1.0, 1.0, 2.0])
    >>> shifts, log_weights == [log(0.5)] * 2
    ([1, 3], True)
    """
    whole = exact_sum(weights)
    merged: dict[int, float] = {}
    for gap, weight in zip(gaps, weights, strict=True):
        shift = max(1, round(items * gap))
        merged[shift] = merged.get(shift, 0.0) + weight / whole
    shifts = sorted(merged)
    return shifts, [log(merged[shift]) for shift in shifts]


def first_at_least(x: float, items: int) -> int:
    """The smallest K with K/M >= x, as doubles; M + 1 if there is none.

    Examples
    --------
    >>> first_at_least(0.3, 10), first_at_least(0.1 + 0.2, 10), first_at_least(1.5, 10)
    (3, 4, 11)
    """
    if x <= 0.0:
        return 0
    if x > 1.0:
        return items + 1
    count = math.ceil(x * items - 0.5)
    while count / items < x:
        count += 1
    return count


def log_shifts(
    table: Sequence[float],
    shifts: Sequence[int],
    log_weights: Sequence[float],
    passes: int,
    pulls: int,
    passes_then: int,
    pulls_then: int,
    count: int,
) -> float:
    """ln of the mixture's evidence that fewer than ``count`` items pass, from the items after the first ``pulls_then``.

    ``passes`` of the first ``pulls`` items passed, ``passes_then`` of the first ``pulls_then``. A shifted score that
    the earlier items already rule out is replaced by the smallest possible one. Shifts must increase.

    Examples
    --------
    >>> table = log_factorials(10)
    >>> round(exp(log_shifts(table, [2], [0.0], 1, 4, 0, 0, 5)), 9)  # (3 * 7 * 6 * 5) / (5 * 5 * 4 * 3)
    2.1
    >>> log_shifts(table, [2], [0.0], 1, 7, 0, 0, 5)
    inf
    """
    items = len(table) - 1
    failures = pulls - passes
    failures_then = pulls_then - passes_then
    if items - count < failures:
        return math.inf
    count = max(count, passes_then)
    if count < passes:
        return -math.inf
    base = table[count - passes] - table[count - passes_then]
    base += table[items - count - failures] - table[items - count - failures_then]
    largest = -math.inf
    scaled = 0.0
    for index in range(len(shifts)):
        other = max(count - shifts[index], passes_then)
        if other < passes:
            break  # larger shifts are ruled out, too
        left = items - other
        term = table[other - passes_then] - table[other - passes] + table[left - failures_then] - table[left - failures]
        term += base + log_weights[index]
        if term < largest - NEGLIGIBLE:
            break  # log-concave in the shift: from here on terms only get smaller
        if term > largest:
            scaled = scaled * exp(largest - term) + 1.0
            largest = term
        else:
            scaled += exp(term - largest)
    if largest == -math.inf:
        return largest
    return largest + log(scaled) - _ROUNDING * table[items]


def shift_upper(
    table: Sequence[float],
    shifts: Sequence[int],
    log_weights: Sequence[float],
    passes: int,
    pulls: int,
    threshold: float,
    start: int,
) -> int:
    """The largest K up to ``start``, the previous bound, whose evidence is below the threshold.

    Examples
    --------
    >>> shifts, weights = shift_grid(1000, [0.025, 0.05, 0.1, 0.2, 0.4], [1.0] * 5)
    >>> shift_upper(log_factorials(1000), shifts, weights, 125, 250, -log(0.4), 1000)
    553
    """
    high = min(start, len(table) - 1 - (pulls - passes))
    if log_shifts(table, shifts, log_weights, passes, pulls, 0, 0, high) < threshold:
        return high
    step = 1
    low = max(high - 1, passes)
    while low > passes and log_shifts(table, shifts, log_weights, passes, pulls, 0, 0, low) >= threshold:
        high = low
        step *= 2
        low = max(high - step, passes)
    while high - low > 1:
        middle = (low + high) // 2
        if log_shifts(table, shifts, log_weights, passes, pulls, 0, 0, middle) < threshold:
            low = middle
        else:
            high = middle
    return low
