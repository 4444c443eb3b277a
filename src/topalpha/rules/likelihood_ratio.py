"""Generalised likelihood ratios of two arms: the evidence that no rival is more than epsilon better than the leader.

The transportation cost W = min{N_i d(p_i, x) + N_j d(p_j, y) : y >= x + epsilon} is the evidence of arms i and j
against every pair of means in which j is more than epsilon better. Once W exceeds ln((n-1)/level) plus the redundancies
of both arms, for every rival j, the leader i may be returned (docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.families.protocols import RewardFamily
from topalpha.rules.protocol import SUM, History
from topalpha.rules.sampling import fill_means
from topalpha.rules.tournament import beats, empty_tree, play, rebuild

# A cost is scaled by this, far more than the rounding error of the divergences.
_SHRINK = 1.0 - 1e-9
# Width of the interval around the minimiser, relative to its range.
_ENCLOSURE = 1e-9
# Epsilon is reduced by this fraction of the means, more than their rounding error.
_ROUNDING = 4e-15
# Rounding error of a redundancy, per pull of the two arms.
_PER_PULL = 1e-14


class PairMemory(NamedTuple):
    """Scratch: means with their tree, redundancies, the rival that last prevented the stop, and one number per arm."""

    ready: MutableSequence[int]
    means: MutableSequence[float]
    redundancies: MutableSequence[float]
    leaders: MutableSequence[int]
    rival: MutableSequence[int]
    draws: MutableSequence[float]


def pair_memory(arms: int) -> PairMemory:
    """Fresh memory.

    Examples
    --------
    >>> pair_memory(2).ready
    [0]
    """
    return PairMemory(
        ready=[0],
        means=[0.0] * arms,
        redundancies=[0.0] * arms,
        leaders=empty_tree(arms),
        rival=[0],
        draws=[0.0] * arms,
    )


def recall(family: RewardFamily, history: History, memory: Any) -> None:
    """Fill the memory from the history; every arm must have a reward.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> memory = pair_memory(2)
    >>> recall(Bernoulli(), History(2, 2, [1, 1], [[0.0, 1.0]], []), memory)
    >>> memory.means, memory.leaders[1]
    ([0.0, 1.0], 1)
    """
    fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
    for arm in range(history.arms):
        memory.redundancies[arm] = family.redundancy(history.stats[SUM][arm], history.pulls[arm])
    rebuild(memory.leaders, memory.means, history.pulls, history.arms)
    memory.rival[0] = 0
    memory.ready[0] = 1


def count_reward(family: RewardFamily, history: History, memory: Any, arm: int, reward: float) -> None:
    """Fold a reward into the counts and the sum, and update the memory.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> history = History(1, 1, [0], [[0.0]], [])
    >>> count_reward(Bernoulli(), history, pair_memory(1), 0, 1.0)
    >>> history.pulls, history.stats
    ([1], [[1.0]])
    """
    history.pulls[arm] += 1
    history.stats[SUM][arm] += reward
    if memory.ready[0] == 1:
        total = history.stats[SUM][arm]
        memory.means[arm] = total / history.pulls[arm]
        memory.redundancies[arm] = family.redundancy(total, history.pulls[arm])
        play(memory.leaders, memory.means, history.pulls, arm)


def slope(
    family: RewardFamily, point: float, mean: float, pulls: float, rival_mean: float, rival_pulls: float, gap: float
) -> float:
    """The derivative of N_i d(p_i, x) + N_j d(p_j, x + gap) in x, times both variances: d' = (x - p) / V(x).

    Examples
    --------
    >>> from topalpha.families import Gaussian
    >>> slope(Gaussian(1.0), 0.5, 1.0, 4, 0.0, 2, 0.5)
    0.0
    """
    moved = point + gap
    return pulls * (point - mean) * family.variance(moved) + rival_pulls * (moved - rival_mean) * family.variance(point)


def enclose(
    family: RewardFamily,
    low: float,
    high: float,
    mean: float,
    pulls: float,
    rival_mean: float,
    rival_pulls: float,
    gap: float,
) -> tuple[float, float]:
    """An interval in [low, high] around the minimiser of N_i d(p_i, x) + N_j d(p_j, x + gap), by regula falsi.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> left, right = enclose(Bernoulli(), 0.1, 0.7, 0.7, 50, 0.3, 50, 0.2)
    >>> left <= 0.4 <= right, right - left < 1e-8
    (True, True)
    """
    below = slope(family, low, mean, pulls, rival_mean, rival_pulls, gap)
    above = slope(family, high, mean, pulls, rival_mean, rival_pulls, gap)
    # The variance, and so the slope, may vanish at an end: an end is the minimiser only if the sign says so.
    if above < 0.0:
        return high, high
    if below > 0.0:
        return low, low
    left = low
    right = high
    span = high - low
    tolerance = _ENCLOSURE * span
    side = 0
    point = low
    slow = False
    for index in range(100):
        if index % 4 == 3:  # halve the range if chords shrink it too slowly
            slow = right - left > 0.25 * span
            span = right - left
        before = point
        point = 0.5 * (left + right)
        if above > below and not slow:
            chord = (left * above - right * below) / (above - below)
            if left < chord < right:
                point = chord
        value = slope(family, point, mean, pulls, rival_mean, rival_pulls, gap)
        if value <= 0.0:
            left = point
            below = value
            above *= 0.5 if side < 0 else 1.0  # Illinois: an end that stays put gets half its weight
            side = -1
        else:
            right = point
            above = value
            below *= 0.5 if side > 0 else 1.0
            side = 1
        # One end is close to the minimiser: move the other one.
        if abs(point - before) <= 0.25 * tolerance and right - left > 2.0 * tolerance:
            probe = left + tolerance if side < 0 else right - tolerance
            value = slope(family, probe, mean, pulls, rival_mean, rival_pulls, gap)
            if value <= 0.0:
                left = probe
                below = value
            else:
                right = probe
                above = value
            slow = True
        if right - left <= 2.0 * tolerance:
            break
    return left, right


def transport(
    family: RewardFamily, mean: float, pulls: float, rival_mean: float, rival_pulls: float, epsilon: float
) -> float:
    """W = min{N_i d(p_i, x) + N_j d(p_j, y) : y >= x + epsilon} over the family's means, rounded down.

    On the relevant range of x the first term decreases and the second increases. The first term is evaluated at the
    upper end of an interval around the minimiser, the second at its lower end.

    Examples
    --------
    >>> from topalpha.families import Bernoulli, Gaussian
    >>> round(transport(Gaussian(1.0), 1.0, 4, 0.0, 2, 0.5), 6), 1.5**2 / (2 * (1 / 4 + 1 / 2))
    (1.5, 1.5)
    >>> round(transport(Bernoulli(), 0.8, 50, 0.6, 30, 0.1), 6), transport(Bernoulli(), 0.5, 50, 0.7, 30, 0.1)
    (4.235524, 0.0)
    """
    gap = epsilon - _ROUNDING * (abs(mean) + abs(rival_mean))
    if rival_mean >= mean + gap:
        return 0.0
    low = max(family.lowest, rival_mean - gap)
    high = min(mean, family.highest - gap)
    if high < family.lowest:
        return math.inf  # no two means differ by that much
    left = high
    right = high
    if low < high:
        left, right = enclose(family, low, high, mean, pulls, rival_mean, rival_pulls, gap)
    cost = pulls * family.divergence(mean, right)
    # Rounded down, but not below the rival's mean. At the highest mean the divergence is infinite: a sum rounded up to
    # it would make one reward a proof.
    moved = max(left + gap - _ROUNDING * (abs(left) + abs(gap)), min(rival_mean, family.highest))
    cost += rival_pulls * family.divergence(rival_mean, min(moved, family.highest))
    return _SHRINK * cost


def separation(family: RewardFamily, history: History, memory: Any, leader: int, rival: int, epsilon: float) -> float:
    """ln of the evidence that the rival is at most epsilon better than the leader: W - R_i - R_j.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> history, memory = History(80, 2, [50, 30], [[40.0, 18.0]], []), pair_memory(2)
    >>> recall(Bernoulli(), history, memory)
    >>> round(separation(Bernoulli(), history, memory, 0, 1, 0.1), 6)
    0.111895
    """
    spent: float = memory.redundancies[leader] + memory.redundancies[rival]
    if spent == math.inf:
        return -math.inf
    pulls = history.pulls[leader]
    others = history.pulls[rival]
    cost = transport(family, memory.means[leader], pulls, memory.means[rival], others, epsilon)
    return cost - spent - _PER_PULL * (pulls + others)


def separated(
    family: RewardFamily, history: History, memory: Any, leader: int, epsilon: float, threshold: float
) -> bool:
    """The stopping rule: whether the evidence against every rival of the leader reaches the threshold.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> history, memory = History(80, 2, [50, 30], [[40.0, 18.0]], []), pair_memory(2)
    >>> recall(Bernoulli(), history, memory)
    >>> separated(Bernoulli(), history, memory, 0, 0.1, 0.1), separated(Bernoulli(), history, memory, 0, 0.1, 0.2)
    (True, False)
    """
    rival = memory.rival[0]  # the rival that failed last time mostly fails again
    if rival != leader and not separation(family, history, memory, leader, rival, epsilon) >= threshold:
        return False
    for arm in range(history.arms):
        if arm != leader and not separation(family, history, memory, leader, arm, epsilon) >= threshold:
            memory.rival[0] = arm
            return False
    return True


def closest_rival(
    family: RewardFamily, history: History, memory: Any, leader: int, epsilon: float, share: float
) -> int:
    """The rival of least W - share * R_j, pulls in flight counted at their mean; ties to fewer pulls, then lower index.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> history, memory = History(90, 3, [50, 30, 10], [[40.0, 18.0, 2.0]], []), pair_memory(3)
    >>> recall(Bernoulli(), history, memory)
    >>> closest_rival(Bernoulli(), history, memory, 0, 0.1, 1.0)
    1
    """
    best = -1
    best_key = -math.inf
    best_spent = 0
    pulls = history.pulls[leader]
    if history.in_flight > 0:
        pulls += history.pending[leader]
    for arm in range(history.arms):
        if arm == leader:
            continue
        spent = history.pulls[arm]
        if history.in_flight > 0:
            spent += history.pending[arm]
        key = math.inf
        redundancy = share * memory.redundancies[arm]
        if redundancy < math.inf:
            key = redundancy - transport(family, memory.means[leader], pulls, memory.means[arm], spent, epsilon)
        if best < 0 or beats(key, spent, arm, best_key, best_spent, best):
            best = arm
            best_key = key
            best_spent = spent
    return best
