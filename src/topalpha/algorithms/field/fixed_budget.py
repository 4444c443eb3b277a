"""Shared parts of algorithms with a budget: its check, its division by halving, and a bound on the error.

The bound is proved in docs/field/budget.md, A, for independent rewards in [0, 1] and rounds that use only their own
pulls.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from topalpha.arithmetic import exp
from topalpha.rules.elimination import ALIVE, FURTHER, ROUND_PULLS, Blocks, keep_best, new_round, next_blocks, survivor
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, History, Integers, Traits
from topalpha.rules.ranking import best_by
from topalpha.validate import whole

#: The most arms in one plan of an elimination: rounds of thousands of arms are planned in few scans.
WIDEST = 256

#: The first entry of the state: completed rounds.
ROUND = 0


class BudgetRounds(Blocks, Parameters):
    """Elimination rounds within ``budget`` pulls, without fixed confidence; the state has ``entries`` numbers."""

    budget: int
    title, entries = "", 0

    @property
    def traits(self) -> Traits:
        """Blocks of pulls."""
        width = min(self.arms, WIDEST)
        return Traits(self.title, columns=FURTHER, numbers=self.entries, width=width, blocks=True, covered=False)

    def next_round(self: Any, history: History, order: Integers, first: int, bracket: int, batch: Integers) -> int:
        """The next blocks of rounds 0, ..., ``bracket``; 0 after the last, whose statistics its arms keep."""
        while True:
            stage = int(history.state[ROUND])
            fresh, count = self.bracket_arms(bracket, 0), self.bracket_pulls(bracket, stage)
            written: int = next_blocks(history, first, fresh, count, batch)
            if written != 0 or stage == bracket:
                return written
            keep_best(history, order, first, self.bracket_arms(bracket, stage + 1))
            new_round(history, first)
            history.state[ROUND] += 1.0

    def recommend(self, history: History, memory: Any) -> int:
        """The arm of the set with the largest mean in its last round."""
        return best_of_set(history)


def checked_budget(budget: int | None) -> int:
    """The budget in pulls, which has no default.

    Examples
    --------
    >>> checked_budget(None)
    Traceback (most recent call last):
    ValueError: budget must be given, as a whole number of pulls, got None
    """
    if budget is None:
        raise ValueError("budget must be given, as a whole number of pulls, got None")
    return whole("budget", budget)


def halvings(arms: int) -> int:
    """The number of rounds that halve this many arms to one: ceil(log2 n), and one round for a single arm.

    Examples
    --------
    >>> [halvings(arms) for arms in (1, 2, 3, 4, 5, 8, 9)]
    [1, 1, 2, 2, 3, 3, 4]
    """
    return max(1, (arms - 1).bit_length())


def most_arms(budget: int) -> int:
    """The largest n with n ceil(log2 n) <= budget: halving can then pull each arm in its first round.

    Examples
    --------
    >>> [most_arms(budget) for budget in (1, 2, 3, 6, 8, 24, 1000)]
    [1, 2, 2, 3, 4, 8, 128]
    """
    numbers = range(1, min(budget, 2**62) + 1)  # n ceil(log2 n) increases with n
    return bisect_right(numbers, budget, key=lambda arms: arms * halvings(arms))


def drop_bound(rounds: Iterable[tuple[int, int, int]], epsilon: float) -> float:
    """An upper bound on the probability that elimination rounds lose more than ``epsilon`` of the best mean.

    A round is a triple: the number of arms, the number of arms kept, and the pulls of each arm. The bound is
    sum_r (1 + (m_r - 1)/k_r) exp(-epsilon^2 / (2 (sum_r t_r^(-1/2))^2)); a round that keeps all arms loses nothing.

    Examples
    --------
    >>> round(drop_bound([(2, 1, 200)], 0.2), 6) == round(2 * exp(-200 * 0.2**2 / 2), 6)
    True
    """
    parts, width = 0.0, 0.0
    for size, kept, pulls in rounds:
        if kept < size:
            parts += 1.0 + (size - 1.0) / kept
            width += 1.0 / math.sqrt(pulls)
    return min(1.0, parts * exp(-0.5 * (epsilon / width) * (epsilon / width))) if width > 0.0 else 0.0


def best_of_set(history: History) -> int:
    """The arm of the set with the largest mean in this round, or over all pulls if an arm has none in this round.

    Examples
    --------
    >>> early = History(3, 2, [1, 2], [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0]], [])
    >>> best_of_set(early), best_of_set(History(4, 2, [2, 2], [[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0]], []))
    (0, 1)
    """
    alive = [arm for arm in range(history.arms) if history.stats[ALIVE][arm] == 1.0]
    if all(history.stats[ROUND_PULLS][arm] > 0.0 for arm in alive):
        return survivor(history, 0)
    return best_by(lambda arm: history.stats[SUM][arm] / history.pulls[arm], alive, history.pulls, -1)
