"""hyperband: sequential halvings, from many arms with few pulls to few arms with many; Li et al. (2018).

Bracket s = s_max, ..., 0 has its share b = floor(B / (s_max + 1)) of the budget and its own fresh arms:
n_s = floor((s_max + 1)/(s + 1) eta^s). In each of its s + 1 rounds the remaining arms share b/(s + 1) pulls, and the
best 1/eta of them by this round's means stay. The arm of largest mean in the last round of its bracket is returned.
s_max is the largest number for which every arm is pulled at least once: (s_max + 1)^2 eta^s_max <= B.

Fixed budget: the error is bounded by :func:`error_bound` (docs/field/budget.md, A and D).
"""

from __future__ import annotations

from typing import Any

from topalpha.algorithms.field.fixed_budget import ROUND, BudgetRounds, checked_budget, drop_bound
from topalpha.arithmetic import power
from topalpha.families import unit_rewards
from topalpha.rules.protocol import Generator, History, Integers
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import whole

# Entries of the state beside the rounds of the current bracket: completed brackets, and the first arm of this one.
_BRACKET, _FIRST = ROUND + 1, ROUND + 2


class Hyperband(BudgetRounds):
    """Hyperband; build it with :func:`design`. Error at most :func:`error_bound` (docs/field/budget.md, D)."""

    eta: int
    largest: int  # s_max
    title, entries = "hyperband", 3

    def bracket_arms(self, bracket: int, stage: int) -> int:
        """floor(n_s / eta^i), the number of arms of bracket s in round i."""
        return int((self.largest + 1) * self.eta**bracket // (bracket + 1) // self.eta**stage)

    def bracket_pulls(self, bracket: int, stage: int) -> int:
        """The pulls of each of these arms."""
        share = self.budget // (self.largest + 1)
        return share // ((bracket + 1) * self.bracket_arms(bracket, stage))

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Bracket after bracket."""
        while history.state[_BRACKET] <= self.largest:
            first, bracket = int(history.state[_FIRST]), self.largest - int(history.state[_BRACKET])
            written = self.next_round(history, memory.order, first, bracket, batch)
            if written != 0:
                return written
            history.state[ROUND] = 0.0
            history.state[_BRACKET] += 1.0
            history.state[_FIRST] = float(history.arms)
        return 0


def largest_bracket(budget: int, eta: int) -> int:
    """s_max, the largest s with (s + 1)^2 eta^s <= budget.

    Examples
    --------
    >>> [largest_bracket(budget, 3) for budget in (1, 11, 12, 80, 81)]
    [0, 0, 1, 1, 2]
    """
    largest = 0
    while (largest + 2) ** 2 * eta ** (largest + 1) <= budget:
        largest += 1
    return largest


def schedule(algorithm: Hyperband) -> list[list[tuple[int, int, int]]]:
    """The rounds of each bracket, in order: arms, arms kept, pulls of each.

    Examples
    --------
    >>> schedule(design(0.1, 0.1, 0.1, budget=12))
    [[(3, 1, 1), (1, 1, 3)], [(2, 2, 3)]]
    """
    arms, pulls = algorithm.bracket_arms, algorithm.bracket_pulls
    return [
        [(arms(bracket, i), arms(bracket, min(i + 1, bracket)), pulls(bracket, i)) for i in range(bracket + 1)]
        for bracket in range(algorithm.largest, -1, -1)
    ]


def error_bound(algorithm: Hyperband) -> float:
    """An upper bound, for every reservoir, on P(the arm returned is not within epsilon of the top alpha fraction).

    A bracket errs if no such arm is among its n_s, or if one of its rounds loses it; the bound is the smallest of all
    brackets.

    Examples
    --------
    >>> error_bound(design(0.1, 0.2, 0.1, budget=1000)), error_bound(design(0.1, 0.2, 0.1, budget=10**7)) < 0.01
    (1.0, True)
    """
    brackets = schedule(algorithm)
    last = [rounds[-1] for rounds in brackets]
    choice = (sum(kept for _, kept, _ in last), 1, min(pulls for _, _, pulls in last))
    bounds = (
        power(1.0 - algorithm.alpha, rounds[0][0]) + drop_bound([*rounds[:-1], choice], algorithm.epsilon)
        for rounds in brackets
    )
    return min(1.0, *bounds)


@algorithm(
    "hyperband",
    "Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar (JMLR 2018), Hyperband",
    "docs/field/budget.md, A and D",
    family=unit_rewards,
    guarantee="fixed-budget",
)
def design(target: Target, *, budget: int | None = None, eta: int = 3) -> Hyperband:
    """Hyperband within ``budget`` pulls: one arm in ``eta`` survives a round.

    Examples
    --------
    >>> made = design(0.1, 0.1, 0.1, budget=81)
    >>> made.largest, made.arms
    (2, 16)
    """
    pulls, ratio = checked_budget(budget), whole("eta", eta, 2)
    largest = largest_bracket(pulls, ratio)
    arms = sum((largest + 1) * ratio**bracket // (bracket + 1) for bracket in range(largest + 1))
    return Hyperband(*target.on(arms), pulls, ratio, largest)
