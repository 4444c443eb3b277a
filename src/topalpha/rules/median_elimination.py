"""Contests: rounds of fresh pulls eliminate arms of a finite set until one is left, close to the best of them.

There are two kinds, both for rewards in [0, 1] (docs/field/p2.md, 1 and 2). Median Elimination (Even-Dar, Mannor and
Mansour 2006) keeps the better half in round l = 1, 2, ..., with accuracy eps_l and confidence level d_l. Uniform
elimination has one round and keeps the best arm.

Powers are products, not ``**``: compiled and interpreted runs must agree to the last bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from topalpha.arithmetic import log, log1p
from topalpha.rules.elimination import ALIVE, FURTHER, keep_best, new_round, next_blocks, set_size
from topalpha.rules.protocol import History, Integers

#: Pulls of an arm in a round of Median Elimination, in units of ln(3/d_l) / eps_l^2: as printed, and as needed.
PRINTED, TIGHT = 4.0, 2.0


class EliminationContest(NamedTuple):
    """Median Elimination (``halving``) or uniform elimination; ``factor`` scales the number of pulls per arm.

    Examples
    --------
    >>> median = EliminationContest(0.4, 0.1, True, PRINTED)
    >>> median.round_pulls(0, 21), median.most_pulls(2, True)  # 4 ln(60) / 0.01
    (1638, 3276.0)
    >>> uniform = EliminationContest(0.2, 0.05, False, 1.0)
    >>> uniform.round_pulls(0, 21), uniform.most_pulls(3, True)  # ln(400) / 0.04
    (150, 279.0)
    """

    epsilon: float
    delta: float
    halving: bool
    factor: float

    @property
    def statistics(self) -> int:
        """The columns of every elimination."""
        return FURTHER

    def round_epsilon(self, stage: int) -> float:
        """eps_l = (epsilon/4) (3/4)^(l-1) for round l = ``stage`` + 1; they add up to epsilon."""
        return scaled(self.epsilon / 4.0, 0.75, stage)

    def round_level(self, stage: int) -> float:
        """d_l = delta / 2^l for round l = ``stage`` + 1; they add up to delta."""
        return scaled(self.delta / 2.0, 0.5, stage)

    def round_pulls(self, stage: int, size: int) -> int:
        """Pulls of each of ``size`` arms in round l = ``stage`` + 1; a single arm is pulled once.

        Median Elimination: ceil(factor ln(3/d_l) / eps_l^2). Uniform: ceil(factor ln((n-1)/delta) / epsilon^2).
        """
        if size == 1:
            return 1
        if self.halving:
            share = self.round_epsilon(stage)
            return max(1, math.ceil(self.factor * log(3.0 / self.round_level(stage)) / (share * share)))
        return max(1, math.ceil(self.factor * log((size - 1.0) / self.delta) / (self.epsilon * self.epsilon)))

    def contest(self, history: History, order: Integers, first: int, fresh: int, place: int, batch: Integers) -> int:
        """Continue a contest of the arms in the set from ``first`` on, or of ``fresh`` new arms that begin there.

        Returns the number of blocks written, :data:`~topalpha.rules.protocol.WAIT`, or 0 once a single arm is left; the
        next contest then starts anew. ``state[place]`` counts rounds; ``order`` is scratch.
        """
        while True:
            stage = int(history.state[place])
            opening = stage == 0 and fresh > 0
            size = fresh if opening else set_size(history, first)
            if size == 1 and not opening:
                history.state[place] = 0.0
                return 0
            written = next_blocks(history, first, fresh, self.round_pulls(stage, size), batch)
            if written != 0:
                return written
            keep_best(history, order, first, (size + 1) // 2 if self.halving else 1)
            new_round(history, first)
            history.state[place] = stage + 1.0

    def most_pulls(self, size: int, fresh: bool) -> float:
        """The exact number of pulls of a contest of ``size`` arms; on the host only."""
        total, stage = 0.0, 0
        while size > 1 or (fresh and stage == 0):
            total += float(size) * self.round_pulls(stage, size)
            size = (size + 1) // 2 if self.halving else 1
            stage += 1
        return total


def scaled(value: float, factor: float, times: int) -> float:
    """The value times a power of the factor.

    Examples
    --------
    >>> scaled(3.0, 0.5, 2)
    0.75
    """
    for _ in range(times):
        value *= factor
    return value


def last_arm(history: History, first: int) -> int:
    """The arm left in the set from ``first`` on; the first one if several are left.

    Examples
    --------
    >>> last_arm(History(2, 2, [1, 1], [[0.0, 1.0], [0.0, 1.0]], []), 0)
    1
    """
    for arm in range(first, history.arms):
        if history.stats[ALIVE][arm] == 1.0:
            return arm
    return -1


def arms_to_see(alpha: float, delta: float, tight: bool) -> int:
    """The count of :func:`topalpha.theory.arms_tight`, or of ``arms_paper``, in compiled code.

    Examples
    --------
    >>> arms_to_see(0.05, 0.05, False), arms_to_see(0.05, 0.05, True)
    (74, 72)
    """
    rate = -log1p(-alpha) if tight else alpha
    return rounded_up(log(2.0 / delta) / rate)


def rounded_up(number: float) -> int:
    """The number rounded up, at least 1; a whole number blurred by rounding is kept, as in :mod:`topalpha.theory`.

    Examples
    --------
    >>> rounded_up(3.0000000000000004), rounded_up(3.1), rounded_up(0.0)
    (3, 4, 1)
    """
    return max(1, math.ceil(number * (1.0 - 1e-14)))
