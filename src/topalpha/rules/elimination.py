"""Elimination rounds: every arm of a set gets a block of pulls, then the best arms are kept.

The set and the rewards of the current round are columns of ``History.stats``, so a run can be resumed anywhere. Fresh
arms join the set with their first reward; other arms join when they are marked alive.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import Any, NamedTuple

from topalpha.rules.protocol import SUM, WAIT, History, Integers

#: Columns after the sum of rewards: whether the arm is in the set, and its rewards and pulls in the current round.
#: Further columns start at ``FURTHER``.
ALIVE, ROUND_SUM, ROUND_PULLS, FURTHER = 1, 2, 3, 4

#: Below this, sums of whole rewards and numbers of pulls are exact in floating point.
EXACT = 2.0**53


class SortingRoom(NamedTuple):
    """Scratch: a list to sort arms in."""

    order: Integers


class Blocks:
    """Rewards arrive in blocks and count in the current round; an arm joins the set with its first block."""

    __slots__ = ()

    def scratch(self, arms: int) -> SortingRoom:
        """Fresh memory."""
        return SortingRoom([0] * max(arms, 1))

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Fold in a block of one reward."""
        self.observe_block(history, memory, arm, 1, reward)

    def observe_block(self, history: History, memory: Any, arm: int, count: int, total: float) -> None:
        """Fold in a block of rewards."""
        fold_block(history, arm, count, total)


def fold_block(history: History, arm: int, count: int, total: float) -> None:
    """Count a block of rewards; an arm joins the set with its first block.

    Examples
    --------
    >>> history = History(5, 1, [0], [[0.0], [0.0], [0.0], [0.0]], [])
    >>> fold_block(history, 0, 5, 3.0)
    >>> history.pulls[0], [column[0] for column in history.stats]
    (5, [3.0, 1.0, 3.0, 5.0])
    """
    if history.pulls[arm] == 0:
        history.stats[ALIVE][arm] = 1.0
    history.pulls[arm] += count
    history.stats[SUM][arm] += total
    history.stats[ROUND_SUM][arm] += total
    history.stats[ROUND_PULLS][arm] += count


def next_blocks(history: History, first: int, fresh: int, count: int, batch: MutableSequence[int]) -> int:
    """Write blocks that bring every arm of the set, from ``first`` on, to ``count`` pulls in this round.

    Fresh arms are drawn until the set has ``fresh`` arms from ``first`` on. The answer is the number of blocks written,
    :data:`WAIT` if all blocks are in flight, or 0 once the round is complete.

    Examples
    --------
    >>> batch = [0] * 4
    >>> history = History(5, 2, [5, 0], [[3.0, 0.0], [1.0, 0.0], [3.0, 0.0], [5.0, 0.0]], [], [0, 0], 0)
    >>> next_blocks(history, 0, 3, 5, batch), batch
    (2, [1, 2, 5, 5])
    """
    width = len(batch) // 2
    written = 0
    for arm in range(first, history.arms):
        if written == width:
            return written
        if history.pulls[arm] > 0 and history.stats[ALIVE][arm] == 0.0:
            continue
        missing = count - int(history.stats[ROUND_PULLS][arm])
        if history.in_flight > 0:
            missing -= history.pending[arm]
        if missing > 0:
            batch[written] = arm
            batch[width + written] = missing
            written += 1
    arm = history.arms
    while arm < first + fresh and written < width:
        batch[written] = arm
        batch[width + written] = count
        written += 1
        arm += 1
    if written == 0 and history.in_flight > 0:
        return WAIT
    return written


def new_round(history: History, first: int) -> None:
    """Clear the round's rewards and pulls of the arms from ``first`` on.

    Examples
    --------
    >>> history = History(5, 1, [5], [[3.0], [1.0], [3.0], [5.0]], [])
    >>> new_round(history, 0)
    >>> [column[0] for column in history.stats]
    [3.0, 1.0, 0.0, 0.0]
    """
    for arm in range(first, history.arms):
        if history.stats[ALIVE][arm] == 1.0:
            history.stats[ROUND_SUM][arm] = 0.0
            history.stats[ROUND_PULLS][arm] = 0.0


def set_size(history: History, first: int) -> int:
    """The number of arms in the set, from ``first`` on.

    Examples
    --------
    >>> set_size(History(2, 2, [1, 1], [[0.0, 0.0], [1.0, 0.0]], []), 0)
    1
    """
    count = 0
    for arm in range(first, history.arms):
        if history.stats[ALIVE][arm] == 1.0:
            count += 1
    return count


def keep_best(history: History, order: MutableSequence[int], first: int, keep: int) -> float:
    """Keep the ``keep`` arms of largest mean in this round; ties go to the lower index.

    Returns the largest mean among the eliminated arms, minus infinity if there are none. ``order`` is scratch.

    Examples
    --------
    >>> history = History(6, 3, [2, 2, 2], [[1.0, 2.0, 0.0], [1.0, 1.0, 1.0], [1.0, 2.0, 0.0], [2.0, 2.0, 2.0]], [])
    >>> keep_best(history, [0, 0, 0], 0, 2), history.stats[ALIVE]
    (0.0, [1.0, 1.0, 0.0])
    """
    count = 0
    for arm in range(first, history.arms):
        if history.stats[ALIVE][arm] == 1.0:
            order[count] = arm
            count += 1
    sort_by_round_mean(history, order, count)
    dropped = -math.inf
    for place in range(keep, count):
        arm = order[place]
        history.stats[ALIVE][arm] = 0.0
        dropped = max(dropped, round_mean(history, arm))
    return dropped


def round_mean(history: History, arm: int) -> float:
    """The arm's mean over this round.

    Examples
    --------
    >>> round_mean(History(4, 1, [4], [[3.0], [1.0], [1.0], [2.0]], []), 0)
    0.5
    """
    return history.stats[ROUND_SUM][arm] / history.stats[ROUND_PULLS][arm]


def survivor(history: History, first: int) -> int:
    """The arm of the set, from ``first`` on, with the largest mean in this round; ties go to the lower index.

    Examples
    --------
    >>> survivor(History(4, 2, [2, 2], [[1.0, 2.0], [1.0, 1.0], [1.0, 2.0], [2.0, 2.0]], []), 0)
    1
    """
    best = -1
    for arm in range(first, history.arms):
        if history.stats[ALIVE][arm] == 1.0 and (best < 0 or round_mean(history, arm) > round_mean(history, best)):
            best = arm
    return best


def sort_by_round_mean(history: History, order: MutableSequence[int], count: int) -> None:
    """Heap-sort the first ``count`` arms of ``order`` in place by their round mean, largest first, then lowest index.

    Examples
    --------
    >>> order = [2, 1, 0]
    >>> history = History(3, 3, [1, 1, 1], [[0.0] * 3, [1.0] * 3, [0.5, 0.9, 0.5], [1.0] * 3], [])
    >>> sort_by_round_mean(history, order, 3)
    >>> order
    [1, 0, 2]
    """
    for root in range(count // 2 - 1, -1, -1):
        _sift(history, order, root, count)
    for last in range(count - 1, 0, -1):
        order[0], order[last] = order[last], order[0]
        _sift(history, order, 0, last)


def _sift(history: History, order: MutableSequence[int], root: int, count: int) -> None:
    """Sift the arm at ``root`` down; the worst arm is at the top of the heap."""
    while True:
        child = 2 * root + 1
        if child >= count:
            return
        if child + 1 < count and _precedes(history, order, child, child + 1):
            child += 1
        if not _precedes(history, order, root, child):
            return
        order[root], order[child] = order[child], order[root]
        root = child


def _precedes(history: History, order: Sequence[int], one: int, other: int) -> bool:
    """Whether the arm at place ``one`` is better than the arm at place ``other``."""
    left, right = round_mean(history, order[one]), round_mean(history, order[other])
    return left > right or (left == right and order[one] < order[other])
