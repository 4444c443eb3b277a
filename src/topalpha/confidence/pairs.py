"""Evidence that one candidate is at most a margin better than another, on items in one order for both.

The differences of their scores on the same items vary less than the scores. If b's score on all M items is at least
``margin`` above a's, and the first t - 1 differences have the sum D, the mean of the others is at least
m = (M margin - D) / (M - t + 1), and the wealth of somebody who bets l (m - d) on every item, with 0 <= l < 1 / (1 - m)
chosen from the differences before it, is a supermartingale from 1 (docs/proofs.md, H).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from topalpha.arithmetic import exact_sum, log

# A bet is at most this part of the largest possible one, which could lose everything.
_BOLDNESS = 0.9
# Before the first item the variance of a difference counts as this; it is the weight of one item later.
_PRIOR_VARIANCE = 0.25
#: Sums are rounded: a mean of the items left counts as impossible, and a margin as exceeded, beyond this much.
ROUNDING = 1e-9


#: In the place of a margin: a bet that no margin in particular is aimed at, for the ends of an interval.
STEADY = math.inf
# Such a bet would be best for an interval of this level, in nats, if the evaluation ended now.
_NATS = 3.7


def bet(margin: float, total: float, squares: float, seen: int, items: int) -> float:
    """The bet on the next difference, from the sum of the first ``seen`` ones and that of their squares.

    g / (v + g^2) with g how far the mean of the differences so far is below that of the items left, if the margin is
    true, and v their variance: what would have grown fastest. For ``STEADY`` it is sqrt(2 nats / (v t ln t)) or so.

    Examples
    --------
    >>> round(bet(0.05, 0.0, 0.0, 0, 100), 3), round(bet(0.05, -20.0, 20.0, 50, 100), 3)
    (0.198, 0.748)
    """
    variance = (squares + _PRIOR_VARIANCE) / (seen + 1.0)
    if margin == STEADY:
        return math.sqrt(2.0 * _NATS / (max(variance, 1e-9) * (seen + 1.0) * log(seen + 3.0)))
    mean = total / (seen + 1.0)
    gap = min((items * margin - total) / (items - seen), 1.0) - mean
    gap = max(gap, 0.5 * abs(margin), 1.0 / items)
    return gap / (variance + gap * gap)


def growth(size: float, margin: float, total: float, seen: int, items: int, difference: float) -> float:
    """The factor of the wealth by one difference with a bet of this size; infinite if the margin is impossible.

    It increases with the margin.

    Examples
    --------
    >>> growth(0.5, 0.1, 0.0, 0, 10, -1.0), growth(0.5, 0.1, -9.0, 9, 10, 0.0)
    (1.55, inf)
    """
    mean = (items * margin - total) / (items - seen)
    if mean > 1.0 + ROUNDING:
        return math.inf
    if mean < 1.0:
        size = min(size, _BOLDNESS / (1.0 - mean))
    return 1.0 + size * (mean - difference)


def known(margin: float, total: float, seen: int, items: int) -> bool:
    """Whether all items were tried, and the difference is at most the margin.

    Examples
    --------
    >>> known(0.5, 5.0, 10, 10), known(0.5, 6.0, 10, 10), known(0.5, 0.0, 9, 10)
    (True, False, False)
    """
    return seen == items and total <= items * margin + ROUNDING


def largest_wealth(differences: Sequence[float], parts: Mapping[float, float], margin: float, items: int) -> float:
    """The largest wealth against ``margin`` so far; ``parts`` of it are bet against these targets. On the host only.

    Examples
    --------
    >>> largest_wealth([-1.0, 0.0, -1.0], {0.1: 1.0}, 0.1, 10) < largest_wealth([-1.0, 0.0, -1.0], {0.1: 1.0}, 0.3, 10)
    True
    """
    wealth, largest, total, squares = list(parts.values()), 1.0, 0.0, 0.0
    for seen, difference in enumerate(differences):
        for place, target in enumerate(parts):
            size = bet(target, total, squares, seen, items)
            wealth[place] *= growth(size, margin, total, seen, items, difference)
        largest = max(largest, exact_sum(wealth))
        total += difference
        squares += difference * difference
    return math.inf if known(margin, total, len(differences), items) else largest


def least_margin(differences: Sequence[float], parts: Mapping[float, float], needed: float, items: int) -> float:
    """The least margin, up to 1e-6, against which the wealth has reached ``needed``; 1 if there is none below.

    With probability at least 1 - 1/needed, b is at most this much better than a, at all times at once.

    Examples
    --------
    >>> round(least_margin([0.0] * 30, {0.05: 1.0}, 20.0, 100), 2)
    0.09
    >>> round(least_margin([-1.0, 0.0] * 5, {0.05: 1.0}, 20.0, 10), 3)
    -0.5
    """
    if len(differences) == items:
        return exact_sum(differences) / items  # it is known
    low, high = -1.0 - 1e-6, 1.0
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        if largest_wealth(differences, parts, middle, items) >= needed:
            high = middle
        else:
            low = middle
    return high
