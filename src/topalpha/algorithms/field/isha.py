"""isha: sequential halving of as many arms as the budget can pull once; Aziz, Jamieson and Aslam (2018).

n arms are drawn. In each of ceil(log2 n) rounds every remaining arm gets the same number of pulls,
floor(B / (|S| ceil(log2 n))), and the better half by this round's means stays. At most B pulls are spent.

Fixed budget: the error is bounded by :func:`error_bound` (docs/field/budget.md, A and C). The bound is trivial if the
first round has one or two pulls per arm; ``number="bound"`` chooses the number of arms that makes it smallest.
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms.field.fixed_budget import BudgetRounds, checked_budget, drop_bound, halvings, most_arms
from topalpha.arithmetic import log1p, power
from topalpha.families import unit_rewards
from topalpha.rules.protocol import Generator, History, Integers
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import choice, require, whole


class SequentialHalving(BudgetRounds):
    """Sequential halving; build it with :func:`design`. Error at most :func:`error_bound` (docs/field/budget.md, C)."""

    rounds: int
    title, entries = "isha", 1

    def bracket_arms(self, bracket: int, stage: int) -> int:
        """ceil(n / 2^i), the number of arms in round i."""
        return ((self.arms - 1) >> stage) + 1

    def bracket_pulls(self, bracket: int, stage: int) -> int:
        """The pulls of each of these arms."""
        return self.budget // (self.bracket_arms(bracket, stage) * self.rounds)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Round after round, until one arm is left: one bracket."""
        return self.next_round(history, memory.order, 0, self.rounds - 1, batch)


def schedule(arms: int, budget: int) -> list[tuple[int, int, int]]:
    """The rounds: arms, arms kept, pulls of each.

    Examples
    --------
    >>> schedule(8, 24)
    [(8, 4, 1), (4, 2, 2), (2, 1, 4)]
    """
    rounds, size = [], arms
    for _ in range(halvings(arms)):
        keep = (size + 1) // 2
        rounds.append((size, keep, budget // (size * halvings(arms))))
        size = keep
    return rounds


def error_bound(arms: int, budget: int, alpha: float, epsilon: float) -> float:
    """An upper bound on P(the arm returned is not within epsilon of the top alpha fraction), for every reservoir.

    Examples
    --------
    >>> round(error_bound(32, 1_000_000, 0.1, 0.2), 4), error_bound(128, 1000, 0.1, 0.2)
    (0.0343, 1.0)
    """
    return min(1.0, power(1.0 - alpha, arms) + drop_bound(schedule(arms, budget), epsilon))


def bounded_arms(budget: int, alpha: float, epsilon: float) -> int:
    """The number of arms for which :func:`error_bound` is smallest; ties go to the largest number.

    Examples
    --------
    >>> bounded_arms(1_000_000, 0.1, 0.2), bounded_arms(1000, 0.1, 0.2)
    (48, 2)
    """
    # this many arms miss the top fraction with probability at most 1e-18: more would only cost pulls
    enough = min(most_arms(budget), math.ceil(41.5 / -log1p(-alpha)))
    return min(range(enough, 0, -1), key=lambda arms: error_bound(arms, budget, alpha, epsilon))


@algorithm(
    "isha",
    "Aziz, Jamieson, Aslam (2018), sequential halving from one pull (arXiv 1811.06149)",
    "docs/field/budget.md, A and C",
    family=unit_rewards,
    guarantee="fixed-budget",
    options={"number": ("single", "bound")},
)
def design(target: Target, *, budget: int | None = None, arms: int = 0, number: str = "single") -> SequentialHalving:
    """Sequential halving within ``budget`` pulls; only ``number="bound"`` depends on the target.

    ``arms`` is the number of arms to draw; 0 leaves it to ``number``: ``"single"``, as many arms as can have one pull
    each in the first round, n ceil(log2 n) <= budget; or ``"bound"``, the number with the smallest proved error.

    Examples
    --------
    >>> design(0.1, 0.1, 0.1, budget=24).arms, design(0.1, 0.2, 0.1, budget=1_000_000, number="bound").arms
    (8, 48)
    >>> design(0.1, 0.1, 0.1, budget=24, arms=9)
    Traceback (most recent call last):
    ValueError: arms must be at most 8 for a budget of 24 pulls, got 9
    """
    pulls = checked_budget(budget)
    most, wanted = most_arms(pulls), whole("arms", arms, 0)
    require(wanted <= most, "arms", f"be at most {most} for a budget of {pulls} pulls", wanted)
    if choice("number", number, ("single", "bound")) == "bound" and wanted == 0:
        wanted = bounded_arms(pulls, target.alpha, target.epsilon)
    return SequentialHalving(*target.on(wanted or most), pulls, halvings(wanted or most))
