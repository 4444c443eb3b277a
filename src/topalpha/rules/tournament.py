"""A tournament tree: the arm of largest key, in O(log n) per changed key.

Ties go to the arm with fewer pulls, then to the lower index, everywhere. The tree is a list ``winner`` of twice a power
of two entries: leaf ``size + arm`` holds ``arm`` (or -1 past the last arm), node k holds the winner of 2k and 2k+1.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence


def empty_tree(arms: int) -> list[int]:
    """A tree for this many arms before any match.

    Examples
    --------
    >>> empty_tree(3)
    [-1, -1, -1, -1, -1, -1, -1, -1]
    """
    size = 1
    while size < arms:
        size *= 2
    return [-1] * (2 * size)


def beats(key: float, pulls: int, arm: int, other_key: float, other_pulls: int, other: int) -> bool:
    """Whether ``arm`` goes before ``other``: larger key, then fewer pulls, then lower index.

    Examples
    --------
    >>> beats(0.5, 3, 1, 0.5, 4, 0)
    True
    """
    if key != other_key:
        return key > other_key
    if pulls != other_pulls:
        return pulls < other_pulls
    return arm < other


def better(first: int, second: int, keys: Sequence[float], pulls: Sequence[int]) -> int:
    """The better of two arms; -1 stands for no arm.

    Examples
    --------
    >>> better(0, 1, [0.2, 0.7], [1, 1])
    1
    """
    if first < 0:
        return second
    if second < 0:
        return first
    if beats(keys[first], pulls[first], first, keys[second], pulls[second], second):
        return first
    return second


def play(winner: MutableSequence[int], keys: Sequence[float], pulls: Sequence[int], arm: int) -> None:
    """Replay the arm's matches after its key or its pulls changed.

    Examples
    --------
    >>> tree, keys = empty_tree(2), [0.5, 0.7]
    >>> play(tree, keys, [1, 1], 0), play(tree, keys, [1, 1], 1), tree[1]
    (None, None, 1)
    """
    node = len(winner) // 2 + arm
    winner[node] = arm
    champion = arm
    while node > 1:
        rival = winner[node ^ 1]
        node //= 2
        # Most matches are decided by the keys: asking `better` each time would double their cost.
        if rival >= 0 and not keys[champion] > keys[rival]:
            champion = better(champion, rival, keys, pulls)
        if champion == winner[node] and champion != arm:
            return  # the arm neither wins nor won here: nothing above changes
        winner[node] = champion


def rebuild(winner: MutableSequence[int], keys: Sequence[float], pulls: Sequence[int], arms: int) -> None:
    """Play all matches of the first ``arms`` arms, from the leaves to the root.

    Examples
    --------
    >>> tree = empty_tree(3)
    >>> rebuild(tree, [0.5, 0.9, 0.7], [1, 1, 1], 3)
    >>> tree[1]
    1
    """
    size = len(winner) // 2
    for arm in range(size):
        winner[size + arm] = arm if arm < arms else -1
    for node in range(size - 1, 0, -1):
        winner[node] = better(winner[2 * node], winner[2 * node + 1], keys, pulls)


def runner_up(winner: Sequence[int], keys: Sequence[float], pulls: Sequence[int], arm: int) -> int:
    """The best arm other than ``arm``; -1 if there is none.

    Examples
    --------
    >>> tree, keys = empty_tree(3), [0.5, 0.9, 0.7]
    >>> rebuild(tree, keys, [1, 1, 1], 3)
    >>> runner_up(tree, keys, [1, 1, 1], 1)
    2
    """
    if winner[1] != arm:
        return winner[1]
    node = len(winner) // 2 + arm
    best = -1
    while node > 1:
        rival = winner[node ^ 1]
        if rival >= 0 and (best < 0 or not keys[best] > keys[rival]):
            best = better(best, rival, keys, pulls)
        node //= 2
    return best
