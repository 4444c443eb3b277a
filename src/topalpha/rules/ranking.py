"""A ranking of all arms by their means, updated after each pull: for rules about the k best arms.

``order`` lists the arms, best first; ``place`` is each arm's place in it. Ties go to the arm with more pulls: arms with
a perfect record that have been pulled stay in front, instead of taking turns with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableSequence, Sequence


def ranks_before(one: int, other: int, means: Sequence[float], pulls: Sequence[int]) -> bool:
    """Whether ``one`` goes before ``other``: larger mean, then more pulls, then lower index.

    Examples
    --------
    >>> ranks_before(0, 1, [0.5, 0.5], [3, 4])
    False
    """
    if means[one] != means[other]:
        return means[one] > means[other]
    if pulls[one] != pulls[other]:
        return pulls[one] > pulls[other]
    return one < other


def rerank(
    order: MutableSequence[int],
    place: MutableSequence[int],
    means: Sequence[float],
    pulls: Sequence[int],
    arms: int,
    arm: int,
) -> None:
    """Move the arm to its place among the first ``arms`` of the list after its mean or its pulls changed.

    Examples
    --------
    >>> order, place = [0, 1, 2], [0, 1, 2]
    >>> rerank(order, place, [0.2, 0.5, 0.4], [2, 1, 1], 3, 0)
    >>> order, place
    ([1, 2, 0], [2, 0, 1])
    """
    here = place[arm]
    while here > 0 and ranks_before(arm, order[here - 1], means, pulls):
        order[here] = order[here - 1]
        place[order[here]] = here
        here -= 1
    while here < arms - 1 and ranks_before(order[here + 1], arm, means, pulls):
        order[here] = order[here + 1]
        place[order[here]] = here
        here += 1
    order[here] = arm
    place[arm] = here


def rank_all(
    order: MutableSequence[int],
    place: MutableSequence[int],
    means: Sequence[float],
    pulls: Sequence[int],
    arms: int,
) -> None:
    """Rank the first ``arms`` arms from scratch.

    Examples
    --------
    >>> order, place = [0, 0, 0], [0, 0, 0]
    >>> rank_all(order, place, [0.2, 0.5, 0.4], [1, 1, 1], 3)
    >>> order
    [1, 2, 0]
    """
    for arm in range(arms):
        order[arm] = arm
        place[arm] = arm
        rerank(order, place, means, pulls, arm + 1, arm)


def best_ranked(totals: Sequence[float], pulls: Sequence[int], arms: int, count: int) -> list[int]:
    """The ``count`` best arms with a reward, best first, from the statistics alone; on the host only.

    Examples
    --------
    >>> best_ranked([1.0, 3.0, 1.0, 0.0], [2, 4, 1, 0], 4, 2)
    [2, 1]
    """
    seen = [arm for arm in range(arms) if pulls[arm] > 0]
    return sorted(seen, key=lambda arm: (-totals[arm] / pulls[arm], -pulls[arm], arm))[:count]


def best_by(value: Callable[[int], float], arms: Iterable[int], pulls: Sequence[int], otherwise: int) -> int:
    """The arm of largest value, ties to fewer pulls, then to the lower index; ``otherwise`` if there are no arms.

    On the host only.

    Examples
    --------
    >>> best_by(lambda arm: arm % 2, range(4), [2, 4, 1, 3], -1)
    3
    """
    return min(arms, key=lambda arm: (-value(arm), pulls[arm], arm), default=otherwise)
