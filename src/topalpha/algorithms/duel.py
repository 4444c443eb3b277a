"""duel: which of two candidates is better on a test set, by how much, or that it does not matter.

Both go through the items in one random order. Bets on the differences of their scores give an interval for the
difference of their means that holds at all times with probability at least 1 - delta. The duel ends when the interval
leaves out 0, when it lies within epsilon of 0, and at the latest when all items were tried: then the answer is exact.

With a margin it is a gate: is the second candidate worse than the first by more than the margin? (docs/proofs.md, H.3)
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.algorithms.paired import SharedOrder, on_items
from topalpha.arithmetic import log
from topalpha.confidence import bounds_for
from topalpha.confidence.pairs import STEADY, bet, growth, known, least_margin
from topalpha.rules.columns import EXTRA
from topalpha.rules.protocol import SUM, WAIT, Claim, Generator, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import empirical_best
from topalpha.validate import real, require, whole

#: What a duel may find: the first or the second candidate is better, or they are as good as equal; of a gate: the
#: second is worse by more than the margin, or it is not.
OPEN, FIRST, SECOND, EQUAL = 0, 1, 2, 3

# The candidates' own bounds, which are only shown, are tightest at about this width or more.
_SHOWN = 0.01
# Parts of the wealth that are bet against each of the two margins, and for the ends of the interval.
_AIMED, _STEADY = 0.4, 0.2


class DuelMemory(NamedTuple):
    """Scratch, by direction: differences so far, their squares, wealth by margin and target, and margins rejected."""

    ready: Integers
    totals: MutableSequence[float]
    squares: MutableSequence[float]
    wealth: MutableSequence[float]
    rejected: Integers
    lookup: Any


class Duel(SharedOrder):
    """Two candidates on one order; build it with :func:`design`. Wrong with probability delta (docs/proofs.md, H.3)."""

    needed: float
    gate: bool
    margin: float
    first: int  # the arm of the first candidate, counted from 1
    pool: int

    @property
    def traits(self) -> Traits:
        """Columns: sums and running bounds, which are only shown. State: all scores, by arm and place in the order."""
        columns = EXTRA + self.confidence.extra
        return Traits("duel", columns=columns, numbers=2 * self.items, width=1, independent=False)

    def scratch(self, arms: int) -> DuelMemory:
        """Nothing seen yet."""
        wealth = [_AIMED, _AIMED, _STEADY] * 4
        return DuelMemory([0], [0.0] * 2, [0.0] * 2, wealth, [0] * 4, self.confidence.tables())

    def margin_of(self, one: int, which: int) -> float:
        """The margins that the other candidate's advantage over this one is tested against.

        0 and epsilon; of a gate, both times: the margin if this is the second candidate, and minus that if it is the
        first.
        """
        if self.gate:
            return -self.margin if one == self.first - 1 else self.margin
        return self.epsilon if which == 1 else 0.0

    def target_of(self, one: int, which: int) -> float:
        """What bets are aimed at: the two margins, and the ends of the interval."""
        return STEADY if which == 2 else self.margin_of(one, which)

    def compare(self, history: History, memory: Any, one: int, other: int, place: int) -> None:
        """Bet on the difference of the candidates on the item at this place of the order, in one direction."""
        total, squares = memory.totals[one], memory.squares[one]
        difference = self.difference(history, one, other, place)
        for which in range(2):
            margin = self.margin_of(one, which)
            wealth = 0.0
            for target in range(3):
                size = bet(self.target_of(one, target), total, squares, place, self.items)
                entry = 6 * one + 3 * which + target
                memory.wealth[entry] *= growth(size, margin, total, place, self.items, difference)
                wealth += memory.wealth[entry]
            if wealth >= self.needed or known(margin, total + difference, place + 1, self.items):
                memory.rejected[2 * one + which] = 1
        memory.totals[one] = total + difference
        memory.squares[one] = squares + difference * difference

    def finding(self, memory: Any) -> int:
        """What is found so far: ``OPEN``, ``FIRST``, ``SECOND`` or ``EQUAL``."""
        first, second = self.first - 1, 2 - self.first
        if memory.rejected[2 * first] == 1 and memory.rejected[2 * second] == 1:
            return SECOND if self.gate else EQUAL  # exactly the margin; exactly equal
        if memory.rejected[2 * first] == 1:
            return FIRST
        if memory.rejected[2 * second] == 1:
            return SECOND
        both = not self.gate and memory.rejected[1] == 1 and memory.rejected[3] == 1
        return EQUAL if both else OPEN

    def contenders(self, history: History, memory: Any) -> tuple[int]:
        """The finding."""
        return (self.finding(memory),)

    def stopping(self, history: History, memory: Any, contenders: tuple[int]) -> bool:
        """Whether there is a finding."""
        return contenders[0] != OPEN

    def sampling(self, history: History, memory: Any, rng: Generator, contenders: tuple[int], batch: Integers) -> int:
        """The candidate with fewer items."""
        counts = history.pulls[0], history.pulls[1]
        if history.in_flight > 0:
            counts = counts[0] + history.pending[0], counts[1] + history.pending[1]
        batch[0] = 0 if counts[0] <= counts[1] else 1
        return 1 if min(counts[0], counts[1]) < self.items else WAIT

    def recommend(self, history: History, memory: Any) -> int:
        """The candidate that is found to be better, or not worse; else the one of the larger mean."""
        if memory.ready[0] == 0:
            return empirical_best(history.stats[SUM], history.pulls, history.arms)
        found = self.finding(memory)
        if found == FIRST:
            return self.first - 1
        if found == SECOND:
            return 2 - self.first
        return self.leader(history)

    def selection(self, history: History, memory: Any) -> list[int]:
        """Both candidates if they are as good as equal."""
        best = self.recommend(history, memory)
        both = memory.ready[0] == 1 and self.finding(memory) == EQUAL
        return [best, 1 - best] if both else [best]

    def parts(self, one: int) -> dict[float, float]:
        """What parts of the wealth are bet against which margins of the other candidate over this one."""
        parts = {self.margin_of(one, 0): 0.0, self.margin_of(one, 1): 0.0, STEADY: _STEADY}
        for which in range(2):
            parts[self.margin_of(one, which)] += _AIMED
        return parts

    def advantage(self, history: History, one: int, share: float = 1.0) -> float:
        """How much better the other candidate than this one may be, at most; on the host only.

        It holds at the level of this direction, or at this share of it.
        """
        return least_margin(self.differences(history, one, 1 - one), self.parts(one), self.needed / share, self.items)

    def found(self, history: History) -> int:
        """The finding, worked out again; on the host only."""
        memory = self.scratch(2)
        if history.arms == 2:
            self.prepare(history, memory)
        return self.finding(memory)

    def interval(self, history: History) -> tuple[float, float]:
        """The interval for the second candidate's advantage over the first; on the host only."""
        first = self.first - 1
        return -self.advantage(history, 1 - first), self.advantage(history, first)

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """How far the candidate is below the other one, at most; negative if it is better."""
        if history.arms < 2 or min(history.pulls[0], history.pulls[1]) == 0:
            return []
        # Whom a claim is about is decided by the results, so both directions of a gate must hold, too.
        share = 0.5 if self.gate else 1.0
        most = max(self.advantage(history, one, share) for one in {arm, *self.selection(history, memory)})
        return [Claim(self.alpha, most)] if most < 1.0 else []


@algorithm(
    "duel",
    "bets on the differences of two candidates",
    "docs/proofs.md, H.3",
    family=on_items,
    joint=True,
    shared_order=True,
)
def design(target: Target, *, pool: int = 2, first: int = 1, margin: float | None = None) -> Duel:
    """Two candidates side by side.

    ``first`` is the arm of the first candidate, counted from 1. ``margin`` makes it a gate, which asks whether the
    second candidate is worse than the first by more than this.

    Examples
    --------
    >>> from topalpha.families import PassFail
    >>> design(0.5, 0.05, 0.05, PassFail(100)).needed, design(0.5, 0.05, 0.05, PassFail(100), margin=0.02).needed
    (40.0, 20.0)
    """
    pool, first = whole("pool", pool, 2, 2), whole("first", first, 1, 2)
    require(target.alpha <= 0.5, "alpha", "be at most 0.5: a duel is about the better one of two", target.alpha)
    gate = margin is not None
    margin = real("margin", 0.0 if margin is None else margin)
    require(0.0 <= margin < 1.0, "margin", "lie in [0, 1)", margin)
    family: Any = target.family
    own = log(4.0 / target.delta)
    return Duel(
        *target.on(2),
        confidence=bounds_for(family, "tilt", max(target.epsilon, _SHOWN), own, own),
        items=family.items,
        # Of the two answers of a gate only one can be wrong.
        needed=(1.0 if gate else 2.0) / target.delta,
        gate=gate,
        margin=margin,
        first=first,
        pool=pool,
    )
