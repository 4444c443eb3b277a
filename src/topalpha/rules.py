"""Rules that two or more algorithms share."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from topalpha.tournament import beats


def query_fresh(seen: int, wanted: int, batch: MutableSequence[int]) -> int:
    """Fill the batch with fresh arms until ``wanted`` are queried; return how many were written.

    Examples
    --------
    >>> batch = [0, 0]
    >>> query_fresh(3, 10, batch), batch
    (2, [3, 4])
    """
    fresh = min(wanted - seen, len(batch))
    for index in range(fresh):
        batch[index] = seen + index
    return fresh


def empirical_best(totals: Sequence[float], pulls: Sequence[int], arms: int) -> int:
    """The arm with the largest empirical mean; ties to fewer pulls, then to the lower index.

    Examples
    --------
    >>> empirical_best([1.0, 3.0, 1.0], [2, 4, 1], 3)
    2
    """
    best = 0
    best_mean = totals[0] / pulls[0]
    for arm in range(1, arms):
        mean = totals[arm] / pulls[arm]
        if beats(mean, pulls[arm], arm, best_mean, pulls[best], best):
            best = arm
            best_mean = mean
    return best


def fill_means(means: MutableSequence[float], totals: Sequence[float], pulls: Sequence[int], arms: int) -> None:
    """Write every arm's empirical mean.

    Examples
    --------
    >>> means = [0.0, 0.0]
    >>> fill_means(means, [1.0, 3.0], [2, 4], 2)
    >>> means
    [0.5, 0.75]
    """
    for arm in range(arms):
        means[arm] = totals[arm] / pulls[arm]


def settled_leader(best: int, means: Sequence[float], state: MutableSequence[float], place: int) -> int:
    """The arm with the largest mean; of tied ones the one that led before, which ``state[place]`` remembers (from 1).

    Without this, arms that all have a perfect record would take turns, and none would be pulled often enough.

    Examples
    --------
    >>> state = [2.0]
    >>> settled_leader(0, [1.0, 1.0], state, 0), settled_leader(0, [1.0, 0.5], state, 0), state
    (1, 0, [1.0])
    """
    before = int(state[place]) - 1
    leader = before if before >= 0 and means[before] == means[best] else best
    state[place] = leader + 1.0
    return leader
