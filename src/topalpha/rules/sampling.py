"""Rules that two or more algorithms share."""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence

from topalpha.rules.protocol import SUM, WAIT, History
from topalpha.rules.tournament import beats


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
    """The arm of largest empirical mean, among arms with a reward; ties go to fewer pulls, then to the lower index.

    Examples
    --------
    >>> empirical_best([1.0, 3.0, 1.0, 0.0], [2, 4, 1, 0], 4)
    2
    """
    best = 0
    best_mean = -math.inf
    for arm in range(arms):
        if pulls[arm] == 0:
            continue
        mean = totals[arm] / pulls[arm]
        if best_mean == -math.inf or beats(mean, pulls[arm], arm, best_mean, pulls[best], best):
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
    """The arm of largest mean; ties go to the previous leader, which ``state[place]`` stores, counted from 1.

    Without this rule, arms with a perfect record would take turns, and none would be pulled often enough.

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


def recall_leader(history: History, place: int) -> int:
    """The leader stored in ``history.state[place]`` (counted from 1), or the empirical best arm if none is stored.

    Examples
    --------
    >>> [recall_leader(History(2, 2, [1, 1], [[0.0, 1.0]], [stored]), 0) for stored in (1.0, 0.0)]
    [0, 1]
    """
    if history.state[place] > 0.0:
        return int(history.state[place]) - 1
    return empirical_best(history.stats[SUM], history.pulls, history.arms)


def unseen(pulls: Sequence[int], arms: int) -> bool:
    """Whether any of the first ``arms`` arms has no reward yet.

    Examples
    --------
    >>> unseen([1, 0], 2), unseen([1, 0], 1)
    (True, False)
    """
    missing = False
    for arm in range(arms):
        missing = missing or pulls[arm] == 0
    return missing


def has_room(history: History, arm: int, capacity: int) -> bool:
    """Whether the arm has pulls left, counting pulls in flight.

    Examples
    --------
    >>> history = History(3, 1, [3], [[1.0]], [], [2], 2)
    >>> has_room(history, 0, 6), has_room(history, 0, 5)
    (True, False)
    """
    spent = history.pulls[arm]
    if history.in_flight > 0:
        spent += history.pending[arm]
    return spent < capacity


def next_challenger(history: History, uppers: Sequence[float], leader: int, capacity: int, otherwise: int) -> int:
    """The challenger while pulls are in flight: the arm of largest predicted upper bound.

    The prediction is that a pull in flight narrows the bound as one more reward does on average; a reward that has come
    back but does not count yet moves the mean. So pulls spread over the arms that need them, instead of piling up on
    one arm that a single reward may settle. With nothing in flight this is the arm of largest upper bound. The answer
    is ``otherwise`` if only the leader has pulls left.

    Examples
    --------
    >>> history = History(3, 3, [1, 1, 1], [[1.0, 0.0, 0.0]], [], [0, 1, 0], 1, [0, 0, 0], [0.0, 0.0, 0.0])
    >>> next_challenger(history, [1.0, 0.9, 0.8], 0, 100, 1)
    2
    """
    best = -1
    best_bound = -math.inf
    best_spent = 0
    for arm in range(history.arms):
        if arm == leader or history.pulls[arm] == 0 or not has_room(history, arm, capacity):
            continue
        pulls = history.pulls[arm]
        spent = pulls + history.pending[arm]
        bound = uppers[arm]
        if history.pending[arm] > 0:
            total = history.stats[SUM][arm]
            width = bound - total / pulls
            mean = (total + history.early_sums[arm]) / (pulls + history.early[arm])
            bound = mean + width * math.sqrt(pulls / spent)
        if best < 0 or beats(bound, spent, arm, best_bound, best_spent, best):
            best = arm
            best_bound = bound
            best_spent = spent
    return best if best >= 0 else otherwise


def second_pull(history: History, uppers: Sequence[float], capacity: int, batch: MutableSequence[int]) -> int:
    """A second pull of the most promising arm with one reward, while some arm has none and nothing can be compared.

    Nearly every arm needs a second pull anyway, so idle workers are put to use; a third pull may be wasted.

    Examples
    --------
    >>> batch = [0, 0]
    >>> history = History(2, 3, [1, 1, 0], [[0.0, 1.0, 0.0]], [], [0, 0, 1], 1, [0, 0, 0], [0.0, 0.0, 0.0])
    >>> second_pull(history, [0.5, 1.0, 0.0], 100, batch), batch[0]
    (1, 1)
    """
    arm = next_challenger(history, uppers, -1, min(capacity, 2), -1)
    if arm < 0:
        return WAIT
    batch[0] = arm
    return 1


def leads_enough(history: History, leader: int) -> bool:
    """Whether the leader has as many pulls in flight as rewards: more are risky, because it may not lead for long.

    Examples
    --------
    >>> leads_enough(History(3, 2, [2, 1], [[1.0, 0.0]], [], [2, 0], 2, [0, 0], [0.0, 0.0]), 0)
    True
    """
    if history.in_flight == 0:
        return False
    return history.pending[leader] >= history.pulls[leader]


def leads_blindly(history: History, leader: int) -> bool:
    """As :func:`leads_enough`, with :func:`told_leader`: outstanding pulls against half of all rewards, counted or not.

    Examples
    --------
    >>> leads_blindly(History(3, 2, [2, 1], [[1.0, 0.0]], [], [3, 0], 3, [2, 0], [2.0, 0.0]), 0)
    False
    """
    if history.in_flight == 0:
        return False
    return 2 * (history.pending[leader] - history.early[leader]) >= history.pulls[leader] + history.early[leader]


def told_leader(history: History, leader: int) -> int:
    """The leader to pull while pulls are in flight: the arm of largest mean over all rewards that have come back.

    Rewards that wait for an earlier pull are used here only, for sampling. Ties go to ``leader``, then to the lower
    index. Every arm must have a reward.

    Examples
    --------
    >>> some = ([2, 1], [[2.0, 0.0]]), ([1, 1], [[1.0, 1.0]])
    >>> [told_leader(History(3, 2, pulls, stats, [], [1, 1], 2, [1, 0], [0.0, 0.0]), 0) for pulls, stats in some]
    [0, 1]
    """
    best = leader
    best_mean = -math.inf
    for arm in range(history.arms):
        mean = (history.stats[SUM][arm] + history.early_sums[arm]) / (history.pulls[arm] + history.early[arm])
        if mean > best_mean or (mean == best_mean and arm == leader):
            best = arm
            best_mean = mean
    return best


def write_round(history: History, leader: int, challenger: int, capacity: int, batch: MutableSequence[int]) -> int:
    """Write leader and challenger into the batch, each if it has pulls left; return how many, or :data:`WAIT`.

    Examples
    --------
    >>> batch, history = [0, 0], History(2, 2, [1, 1], [[1.0, 0.0]], [])
    >>> write_round(history, 0, 1, 100, batch), batch, write_round(history, 0, 1, 1, batch) == WAIT
    (2, [0, 1], True)
    """
    count = 0
    leader_has_room = has_room(history, leader, capacity)
    challenger_has_room = has_room(history, challenger, capacity)
    if leader_has_room and not (challenger_has_room and leads_enough(history, leader)):
        batch[count] = leader
        count += 1
    if challenger_has_room:
        batch[count] = challenger
        count += 1
    return count if count > 0 else WAIT


def may_pull(history: History, arm: int, capacity: int) -> bool:
    """Whether the arm has pulls left, and fewer in flight than rewards.

    Examples
    --------
    >>> history = History(3, 2, [2, 1], [[1.0, 0.0]], [], [2, 0], 2, [0, 0], [0.0, 0.0])
    >>> may_pull(history, 0, 100), may_pull(history, 1, 100), may_pull(history, 1, 1)
    (False, True, False)
    """
    return has_room(history, arm, capacity) and not leads_enough(history, arm)


def write_free(history: History, arms: Sequence[int], capacity: int, batch: MutableSequence[int]) -> int:
    """Write those of the arms that may be pulled into the batch; return how many, or :data:`WAIT`. -1 is no arm.

    Examples
    --------
    >>> batch, history = [0, 0], History(3, 2, [2, 1], [[1.0, 0.0]], [], [2, 0], 2, [0, 0], [0.0, 0.0])
    >>> write_free(history, (-1, 0, 1), 100, batch), batch, write_free(history, (-1, 0), 100, batch) == WAIT
    (1, [1, 0], True)
    """
    count = 0
    for arm in arms:
        if arm >= 0 and may_pull(history, arm, capacity):
            batch[count] = arm
            count += 1
    return count if count > 0 else WAIT
