"""bucb: upper confidence bounds in brackets of growing size; Katz-Samuels and Jamieson (AISTATS 2020).

Bracket r has 2^r arms; bracket l + 1 opens at the first pull t with t >= l 2^l. Brackets take turns. In its turn a
bracket pulls an arm that was never pulled, else the arm of largest upper bound at the constant level delta. The arm of
largest lower bound at level delta / (2^r r^2) is recommended at any time.

There is no guarantee at the end of the budget: the quality of the arm cannot be verified. But the bounds prove claims
at any time, for fractions alpha that the brackets and not the target fix (docs/field/budget.md, E). Bounds are
two-sided conjugate mixtures: N d(p, mu) <= ln(1/level) + R(S, N), R the family's redundancy.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

from topalpha.algorithms.field.fixed_budget import checked_budget
from topalpha.arithmetic import expm1, log
from topalpha.families import checked
from topalpha.families.protocols import RewardFamily
from topalpha.rules.generic import Counting, MixtureBounds
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Claim, Generator, History, Integers, Reals, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.tournament import beats, play
from topalpha.validate import fraction, require

# Entries of the clock: the current pull, open brackets, whose turn it is, and arms drawn (including this pull).
_PULL, _OPEN, _TURN, _DRAWN = 0, 1, 2, 3


class BracketingUCBMemory(NamedTuple):
    """Scratch: the schedule, a function of time alone, and the bounds with their tree.

    The arms of bracket r have the slots from 2^r to 2^(r+1) - 1, so each bracket is one branch of the tree.
    """

    ready: Integers
    clock: Integers
    filled: Integers
    slot_of: Integers
    arm_at: Integers
    uppers: Reals
    counts: Integers
    tree: Integers


class BracketingUCB(Counting, MixtureBounds, Parameters):
    """UCB in brackets; build it with :func:`design`. No guarantee at the end, but claims (docs/field/budget.md, E)."""

    family: RewardFamily
    budget: int
    slots: int
    draw_level: float  # delta_A of the claims
    lower_level: float  # delta_L of the claims
    traits = Traits("bucb", columns=1, width=1, covered=False)

    def scratch(self, arms: int) -> BracketingUCBMemory:
        """Fresh memory with the clock at 0."""
        size = self.slots
        per_slot = [0] * size, [0] * size, [0.0] * size, [0] * size
        return BracketingUCBMemory([0], [0] * 4, [0] * size.bit_length(), *per_slot, [-1] * (2 * size))

    @property
    def upper_threshold(self) -> float:
        """ln(1/delta): upper bounds are at level delta."""
        return -log(self.delta)

    def turn_clock(self, memory: Any, pull: int) -> None:
        """Advance the schedule to this pull."""
        clock = memory.clock
        while clock[_PULL] < pull:
            clock[_PULL] += 1
            if clock[_PULL] >= clock[_OPEN] * 2 ** clock[_OPEN]:
                clock[_OPEN] += 1
            turn = clock[_TURN] + 1 if clock[_TURN] < clock[_OPEN] else 1
            clock[_TURN] = turn
            if memory.filled[turn] < 2**turn:
                slot = 2**turn + memory.filled[turn]
                memory.filled[turn] += 1
                memory.slot_of[clock[_DRAWN]] = slot
                memory.arm_at[slot] = clock[_DRAWN]
                clock[_DRAWN] += 1

    def renew(self, history: History, memory: Any, arm: int) -> None:
        """Store the arm's bound in the slot of its bracket."""
        slot = memory.slot_of[arm]
        memory.counts[slot] = history.pulls[arm]
        memory.uppers[slot] = self.mixture_upper(history.stats[SUM][arm], history.pulls[arm])
        play(memory.tree, memory.uppers, memory.counts, slot)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """The bracket in turn draws an arm or pulls its arm of largest upper bound; with pulls in flight it waits."""
        asked = history.t + history.in_flight
        if asked >= self.budget:
            return WAIT if history.in_flight > 0 else 0
        if memory.ready[0] == 0:
            self.turn_clock(memory, asked)
            for arm in range(history.arms):
                if history.pulls[arm] > 0:
                    self.renew(history, memory, arm)
            memory.ready[0] = 1
        self.turn_clock(memory, asked + 1)
        turn = memory.clock[_TURN]
        batch[0] = history.arms
        if memory.clock[_DRAWN] > history.arms:
            return 1
        if history.in_flight > 0:
            for slot in range(2**turn, 2 ** (turn + 1)):
                if history.pending[memory.arm_at[slot]] > 0:
                    return WAIT
        batch[0] = memory.arm_at[memory.tree[self.slots // 2**turn + 1]]
        return 1

    def recommend(self, history: History, memory: Any) -> int:
        """The arm of largest lower bound at level delta / (2^r r^2), r its bracket."""
        brackets = arm_brackets(self)
        best, best_lower = -1, -math.inf
        for arm in range(history.arms):
            pulls, bracket = history.pulls[arm], brackets[arm]
            if pulls > 0 and history.stats[SUM][arm] / pulls >= best_lower:  # a lower bound is at most the mean
                threshold = bracket * log(2.0) + 2.0 * log(bracket) - log(self.delta)
                lower = self.mixture_lower(history.stats[SUM][arm], pulls, threshold)
                if best < 0 or beats(lower, pulls, arm, best_lower, history.pulls[best], best):
                    best, best_lower = arm, lower
        return best

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """L_a at level delta_L / (r (r + 1) 2^r), r its bracket."""
        bracket = arm_brackets(self)[arm]
        threshold = bracket * log(2.0) + log(bracket * (bracket + 1.0) / self.lower_level)
        return self.mixture_lower(history.stats[SUM][arm], history.pulls[arm], threshold)

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """The claims proved so far: for each bracket the alpha that its size proves (docs/field/budget.md, E)."""
        brackets = arm_brackets(self)
        lower = self.lower_bound(history, memory, arm)
        curve: list[Claim] = []
        for bracket in range(self.slots.bit_length() - 2, 0, -1):
            alpha = bracket_alpha(bracket, self.draw_level, self.delta)
            members = [one for one in range(history.arms) if brackets[one] == bracket]
            if alpha >= 1.0 or len(members) < 2**bracket or any(history.pulls[one] == 0 for one in members):
                continue
            highest = max(self.upper_bound(history, memory, one) for one in members if one != arm)
            epsilon = max(0.0, highest - lower)
            if not curve or epsilon < curve[-1].epsilon:
                curve.append(Claim(alpha, epsilon))
        return curve


@lru_cache(maxsize=8)
def arm_brackets(algorithm: BracketingUCB) -> tuple[int, ...]:
    """The bracket of every arm of the schedule, in the order of the draws.

    Examples
    --------
    >>> arm_brackets(design(0.1, 0.1, 0.1, budget=24))
    (1, 2, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3)
    """
    memory = algorithm.scratch(1)
    algorithm.turn_clock(memory, algorithm.budget)
    return tuple(slot.bit_length() - 1 for slot in memory.slot_of[: memory.clock[_DRAWN]])


def bracket_alpha(bracket: int, draw_level: float, delta_u: float) -> float:
    """The alpha that bracket r can prove: (1 - alpha (1 - delta_u))^(2^r) = delta_A / (r (r + 1)).

    Examples
    --------
    >>> [round(bracket_alpha(bracket, 0.09, 0.1), 4) for bracket in (3, 5, 7)]
    [0.5084, 0.1845, 0.0545]
    """
    level = draw_level / (bracket * (bracket + 1.0))
    return -expm1(log(level) / 2**bracket) / (1.0 - delta_u)


def brackets_opened(budget: int) -> int:
    """The number of brackets that open within this many pulls: one at the start, and bracket l + 1 at pull l 2^l.

    Examples
    --------
    >>> [brackets_opened(budget) for budget in (1, 2, 7, 8, 23, 24)]
    [1, 2, 2, 3, 3, 4]
    """
    opened = 1
    while opened * 2**opened <= budget:
        opened += 1
    return opened


def arms_drawn(budget: int) -> int:
    """The number of arms that the schedule draws within this many pulls.

    Examples
    --------
    >>> [arms_drawn(budget) for budget in (1, 2, 3, 4, 5, 24)]
    [1, 2, 3, 4, 4, 12]
    """
    visits: list[int] = []
    turn, done = 0, 0
    while done < budget:
        visits.append(0)
        opened = len(visits)
        last = min(budget, opened * 2**opened - 1)  # the next bracket opens one pull later
        for offset in range(opened):
            # turns after this one are turn + 1, ..., opened, 1, 2, ...
            visits[(turn + offset) % opened] += (last - done - offset + opened - 1) // opened
        turn = (turn + last - done - 1) % opened + 1
        done = last
    return sum(min(count, 2**bracket) for bracket, count in enumerate(visits, 1))


@algorithm(
    "bucb",
    "Katz-Samuels, Jamieson (AISTATS 2020), bracketing UCB",
    "docs/field/budget.md, E",
    family=checked,
    guarantee="none",
)
def design(target: Target, *, budget: int | None = None, draw_share: float = 0.9) -> BracketingUCB:
    """Upper confidence bounds in brackets, for ``budget`` pulls; the bounds use only delta of the target.

    ``draw_share`` is delta_A / delta in the claims: the part of delta for brackets without a good arm.

    Examples
    --------
    >>> design(0.1, 0.1, 0.1, budget=24).arms
    12
    """
    delta = target.delta
    pulls, draw_level = checked_budget(budget), fraction("draw_share", draw_share) * delta
    opened = brackets_opened(pulls)
    threshold = opened * log(2.0) + log(opened * (opened + 1.0) / (delta - draw_level))
    require(threshold <= target.family.largest_threshold, "delta", "be larger for this family", delta)
    return BracketingUCB(*target.on(arms_drawn(pulls)), pulls, 2 ** (opened + 1), draw_level, delta - draw_level)
