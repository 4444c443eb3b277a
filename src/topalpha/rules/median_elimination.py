"""Contests: a finite set of arms fights it out in rounds of fresh pulls until one is left, close to the best of them.

Two kinds, both for rewards in [0, 1] (docs/field/p2.md, 1 and 2). Median Elimination, Even-Dar, Mannor and Mansour
(2006): round l = 1, 2, ... spends eps_l and d_l, and keeps the upper half. Uniform elimination: one round, and the best
of it. Compiled rules call these functions; what says so runs on the host only.

Powers are products here, and not ``**``: compiled and interpreted runs must agree to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence

from topalpha.rules.elimination import ALIVE, keep_best, new_round, next_blocks, set_size
from topalpha.rules.protocol import History

#: Pulls of an arm in a round of Median Elimination, in units of ln(3/d_l) / eps_l^2: as printed, and what is needed.
PRINTED, TIGHT = 4.0, 2.0


def median_epsilon(epsilon: float, stage: int) -> float:
    """eps_l = (epsilon/4) (3/4)^(l-1) for the round l = ``stage`` + 1; they add up to epsilon.

    Examples
    --------
    >>> [median_epsilon(0.4, stage) for stage in range(2)]
    [0.1, 0.07500000000000001]
    """
    share = epsilon / 4.0
    for _ in range(stage):
        share *= 0.75
    return share


def median_level(delta: float, stage: int) -> float:
    """d_l = delta / 2^l for the round l = ``stage`` + 1; they add up to delta.

    Examples
    --------
    >>> [median_level(0.4, stage) for stage in range(2)]
    [0.2, 0.1]
    """
    share = delta / 2.0
    for _ in range(stage):
        share *= 0.5
    return share


def median_pulls(factor: float, epsilon: float, delta: float, stage: int) -> int:
    """ceil(factor ln(3/d_l) / eps_l^2): pulls of each arm in the round l = ``stage`` + 1 of Median Elimination.

    Examples
    --------
    >>> median_pulls(PRINTED, 0.4, 0.1, 0)  # 4 ln(60) / 0.01
    1638
    """
    share = median_epsilon(epsilon, stage)
    return max(1, math.ceil(factor * math.log(3.0 / median_level(delta, stage)) / (share * share)))


def uniform_pulls(factor: float, epsilon: float, delta: float, size: int) -> int:
    """ceil(factor ln((n-1)/delta) / epsilon^2), one at least: pulls of each of ``size`` arms in uniform elimination.

    Examples
    --------
    >>> uniform_pulls(1.0, 0.2, 0.05, 21)  # ln(400) / 0.04
    150
    """
    return max(1, math.ceil(factor * math.log((size - 1.0) / delta) / (epsilon * epsilon)))


def round_pulls(halving: bool, factor: float, epsilon: float, delta: float, stage: int, size: int) -> int:
    """Pulls of each of ``size`` arms in this round; one to see an arm that fights against none.

    Examples
    --------
    >>> round_pulls(False, 1.0, 0.2, 0.05, 0, 21), round_pulls(True, 4.0, 0.4, 0.1, 0, 1)
    (150, 1)
    """
    if size == 1:
        return 1
    if halving:
        return median_pulls(factor, epsilon, delta, stage)
    return uniform_pulls(factor, epsilon, delta, size)


def play_rounds(
    history: History,
    order: MutableSequence[int],
    halving: bool,
    factor: float,
    epsilon: float,
    delta: float,
    first: int,
    fresh: int,
    place: int,
    batch: MutableSequence[int],
) -> int:
    """Go on with a contest of the arms in the set from ``first`` on, or of ``fresh`` new arms that begin there.

    The answer is how many blocks were written, :data:`~topalpha.rules.protocol.WAIT`, or 0 once a single arm is in the
    set; its next contest then starts from nothing. ``state[place]`` counts the rounds played; ``order`` is scratch.

    Examples
    --------
    >>> batch = [0] * 6
    >>> history = History(0, 0, [], [[], [], [], []], [0.0], [], 0)
    >>> play_rounds(history, [], False, 1.0, 0.2, 0.05, 0, 3, 0, batch), batch  # ln(2/0.05) / 0.04 = 92.2
    (3, [0, 1, 2, 93, 93, 93])
    """
    while True:
        stage = int(history.state[place])
        opening = stage == 0 and fresh > 0
        size = fresh if opening else set_size(history, first)
        if size == 1 and not opening:
            history.state[place] = 0.0
            return 0
        count = round_pulls(halving, factor, epsilon, delta, stage, size)
        written = next_blocks(history, first, fresh, count, batch)
        if written != 0:
            return written
        keep_best(history, order, first, (size + 1) // 2 if halving else 1)
        new_round(history, first)
        history.state[place] = stage + 1.0


def last_arm(history: History, first: int) -> int:
    """The arm that is left in the set from ``first`` on; the first of them where several are.

    Examples
    --------
    >>> last_arm(History(2, 2, [1, 1], [[0.0, 1.0], [0.0, 1.0]], []), 0)
    1
    """
    for arm in range(first, history.arms):
        if history.stats[ALIVE][arm] == 1.0:
            return arm
    return -1


def contest_pulls(halving: bool, factor: float, epsilon: float, delta: float, size: int, fresh: bool) -> float:
    """The pulls that a contest of ``size`` arms takes, exactly; on the host only.

    Examples
    --------
    >>> contest_pulls(True, 4.0, 0.4, 0.1, 2, True), contest_pulls(False, 1.0, 0.2, 0.05, 3, True)
    (3276.0, 279.0)
    """
    total, stage = 0.0, 0
    while size > 1 or (fresh and stage == 0):
        total += float(size) * round_pulls(halving, factor, epsilon, delta, stage, size)
        size = (size + 1) // 2 if halving else 1
        stage += 1
    return total


def arms_to_see(alpha: float, delta: float, tight: bool) -> int:
    """The count of :func:`topalpha.theory.arms_tight`, or of ``arms_paper``, for rules that need it while they run.

    Examples
    --------
    >>> arms_to_see(0.05, 0.05, False), arms_to_see(0.05, 0.05, True)
    (74, 72)
    """
    rate = -math.log1p(-alpha) if tight else alpha
    return max(1, math.ceil(math.log(2.0 / delta) / rate * (1.0 - 1e-14)))
