"""paired: a short list on a test set whose order all candidates share; their differences on the same items decide.

A candidate is returned once the wealth of bets on its differences from every other candidate has reached
(K - 1)/delta: it is then within epsilon of the best of the K candidates with probability at least 1 - delta, whatever
decides which candidate goes on (docs/proofs.md, H). One that was named beforehand, the incumbent, may need less.

The leader and all that are not yet settled against it go through the items side by side. This pays for short lists;
with many candidates each does better with an order of its own, and cc-lucb.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.arithmetic import log
from topalpha.confidence import bounds_for
from topalpha.confidence.pairs import bet, growth, known, least_margin
from topalpha.families import Graded, PassFail, checked_model, describe
from topalpha.families.protocols import RewardModel
from topalpha.rules.columns import EXTRA, UPPER, ConfidenceBounds
from topalpha.rules.generic import Rounds
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Claim, Generator, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import empirical_best, has_room
from topalpha.theory.arm_counts import top_size
from topalpha.validate import fraction, require, whole

#: Scores that are kept in memory, at most: the number of candidates times that of the items.
MOST_SCORES = 10_000_000


class SharedOrder(Rounds, Parameters):
    """Candidates that go through the items in one order, and whose scores are all kept."""

    confidence: ConfidenceBounds
    items: int

    def observe(self: Any, history: History, memory: Any, arm: int, reward: float) -> None:
        """Store the score, and take it into account in every pair whose other candidate has the item, too."""
        place = history.pulls[arm]
        history.pulls[arm] = place + 1
        history.stats[SUM][arm] += reward
        history.state[arm * self.items + place] = reward
        self.confidence.fold(history, memory.lookup, arm, reward)
        if memory.ready[0] == 1:
            for other in range(self.arms):
                if other != arm and history.pulls[other] > place:
                    self.compare(history, memory, arm, other, place)
                    self.compare(history, memory, other, arm, place)

    def prepare(self: Any, history: History, memory: Any) -> None:
        """Compare all pairs on the items that both have."""
        for one in range(self.arms):
            for other in range(self.arms):
                if other != one:
                    for place in range(min(history.pulls[one], history.pulls[other])):
                        self.compare(history, memory, one, other, place)

    def difference(self, history: History, one: int, other: int, place: int) -> float:
        """How much better the other candidate is than the one on the item at this place of the order."""
        return history.state[other * self.items + place] - history.state[one * self.items + place]

    def differences(self, history: History, one: int, other: int) -> list[float]:
        """The same on all items that both have, in their order; on the host only."""
        common = min(history.pulls[one], history.pulls[other])
        return [self.difference(history, one, other, place) for place in range(common)]

    def leader(self, history: History) -> int:
        """The candidate of the largest mean; ties go to more items, then to the lower number."""
        best = 0
        for arm in range(1, self.arms):
            mean, largest = history.stats[SUM][arm] / history.pulls[arm], history.stats[SUM][best] / history.pulls[best]
            if mean > largest or (mean == largest and history.pulls[arm] > history.pulls[best]):
                best = arm
        return best

    def meanwhile(self, history: History, batch: Integers) -> int:
        """While a candidate has no score yet, the one with the fewest items."""
        chosen = 0
        for arm in range(1, self.arms):
            if history.pulls[arm] + history.pending[arm] < history.pulls[chosen] + history.pending[chosen]:
                chosen = arm
        batch[0] = chosen
        return 1 if has_room(history, chosen, self.items) else WAIT

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The candidate's own running lower bound, at level delta/2K."""
        return self.confidence.lower_now(history, memory.lookup, arm)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The candidate's own running upper bound, at level delta/2K."""
        return history.stats[UPPER][arm]


class PairedMemory(NamedTuple):
    """Scratch, by pair: the differences so far, their squares, the wealth, and whether it has been enough.

    Pair (a, b) is at a K + b.
    """

    ready: Integers
    totals: MutableSequence[float]
    squares: MutableSequence[float]
    wealth: MutableSequence[float]
    settled: Integers
    lookup: Any


class Paired(SharedOrder):
    """Side by side on one order; build it with :func:`design`. Within epsilon of the best (docs/proofs.md, H)."""

    needed: float
    needed_incumbent: float
    incumbent: int  # counted from 1; 0 if there is none
    pool: int

    @property
    def traits(self) -> Traits:
        """Columns: sums and running bounds, which are only shown. State: all scores, by arm and place in the order."""
        columns = EXTRA + self.confidence.extra
        return Traits("paired", columns=columns, numbers=self.arms * self.items, width=1, independent=False)

    def scratch(self, arms: int) -> PairedMemory:
        """Nothing seen yet by any pair."""
        pairs = arms * arms
        return PairedMemory([0], [0.0] * pairs, [0.0] * pairs, [1.0] * pairs, [0] * pairs, self.confidence.tables())

    def compare(self, history: History, memory: Any, one: int, other: int, place: int) -> None:
        """Bet on the difference of two candidates on the item at this place of the order."""
        pair = one * self.arms + other
        if memory.settled[pair] == 1:
            return
        total, squares = memory.totals[pair], memory.squares[pair]
        difference = self.difference(history, one, other, place)
        size = bet(self.epsilon, total, squares, place, self.items)
        wealth = memory.wealth[pair] * growth(size, self.epsilon, total, place, self.items, difference)
        memory.wealth[pair] = wealth
        memory.totals[pair] = total + difference
        memory.squares[pair] = squares + difference * difference
        if wealth >= self.enough(one) or known(self.epsilon, total + difference, place + 1, self.items):
            memory.settled[pair] = 1

    def enough(self, arm: int) -> float:
        """The wealth that settles a pair of this candidate."""
        return self.needed_incumbent if arm == self.incumbent - 1 else self.needed

    def open_pairs(self, memory: Any, arm: int) -> int:
        """How many others this candidate is not settled against."""
        left = 0
        for other in range(self.arms):
            if other != arm and memory.settled[arm * self.arms + other] == 0:
                left += 1
        return left

    def contenders(self, history: History, memory: Any) -> tuple[int]:
        """A candidate that is settled against all others, if there is one; else the leader."""
        leader = self.leader(history)
        if self.open_pairs(memory, leader) > 0:
            for arm in range(self.arms):
                if self.open_pairs(memory, arm) == 0:
                    return (arm,)
        return (leader,)

    def stopping(self, history: History, memory: Any, contenders: tuple[int]) -> bool:
        """Whether the candidate is settled against all others."""
        return self.open_pairs(memory, contenders[0]) == 0

    def sampling(self, history: History, memory: Any, rng: Generator, contenders: tuple[int], batch: Integers) -> int:
        """Of the leader and all that are open against it, the one with the fewest items."""
        leader = contenders[0]
        chosen, fewest = -1, self.items
        for arm in range(self.arms):
            if arm == leader or memory.settled[leader * self.arms + arm] == 0:
                count = history.pulls[arm] + (history.pending[arm] if history.in_flight > 0 else 0)
                if count < fewest:
                    chosen, fewest = arm, count
        if chosen < 0:
            return WAIT
        batch[0] = chosen
        return 1

    def recommend(self, history: History, memory: Any) -> int:
        """The candidate that is settled against all others, or the leader of those that have a score."""
        if memory.ready[0] == 0:
            return empirical_best(history.stats[SUM], history.pulls, history.arms)
        return self.contenders(history, memory)[0]

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """The smallest epsilon proved, from the pairs of this candidate (docs/proofs.md, H)."""
        others = [other for other in range(history.arms) if other != arm]
        if history.arms < self.arms:
            return []
        needed = self.enough(arm)
        margins = [
            least_margin(self.differences(history, arm, other), {self.epsilon: 1.0}, needed, self.items)
            for other in others
        ]
        epsilon = max(margins, default=0.0)
        return [Claim(self.alpha, max(epsilon, 0.0))] if epsilon < 1.0 else []


def on_items(family: RewardModel | None) -> RewardModel:
    """The model, checked; raise unless it is of scores on a test set.

    Examples
    --------
    >>> on_items(PassFail(20))
    PassFail(items=20)
    """
    model = checked_model(family)
    wanted = isinstance(model, PassFail | Graded)
    require(wanted, "family", "be pass-fail or graded for paired, which needs a test set", describe(model))
    return model


@algorithm(
    "paired",
    "bets on the differences of candidates on a shared order of items",
    "docs/proofs.md, H",
    family=on_items,
    joint=True,
    shared_order=True,
)
def design(target: Target, *, pool: int = 0, incumbent: int = 0, share: float = 0.5) -> Paired:
    """Side by side on one order.

    ``pool`` is the number of candidates. ``incumbent`` is the number of the arm, counted from 1, that was named before
    the first evaluation, and ``share`` the part of delta for returning it wrongly; without one, all have the same part.

    Examples
    --------
    >>> design(0.2, 0.05, 0.05, PassFail(100), pool=5).needed, design(0.2, 0.05, 0.05, Graded(100), pool=5).arms
    (80.0, 5)
    """
    number, incumbent = whole("pool", pool, 1), whole("incumbent", incumbent, 0)
    family: Any = target.family
    require(number * family.items <= MOST_SCORES, "pool", f"have at most {MOST_SCORES:,} scores", number * family.items)
    require(incumbent <= number, "incumbent", f"be at most {number}, the number of candidates", incumbent)
    aims = top_size(number, target.alpha) == 1
    require(aims, "alpha", f"aim at the best one of {number} candidates, as {1.0 / number:.4g} does", target.alpha)
    others = max(number - 1, 1)
    level = 1.0 / others
    named = max(fraction("share", share), level) if incumbent else level
    # If the best is another one, at most K - 2 others and the incumbent can be returned wrongly; else K - 1 others.
    rest = min((1.0 - named) / (others - 1), level) if incumbent and others > 1 else level
    own = log(2.0 * number / target.delta)
    return Paired(
        *target.on(number),
        confidence=bounds_for(family, "tilt", target.epsilon, own, own),
        items=family.items,
        needed=1.0 / (rest * target.delta),
        needed_incumbent=1.0 / (named * target.delta),
        incumbent=incumbent,
        pool=number,
    )
