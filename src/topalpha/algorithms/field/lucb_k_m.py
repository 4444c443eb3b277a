"""lucb-k-m: k of the best m arms; Chaudhuri and Kalyanakrishnan (ICML 2019), on arms drawn from a reservoir.

So many arms are drawn that with probability 1 - delta/2 at least m of them are in the top alpha fraction: the smallest
n with P(Bin(n, alpha) < m) <= delta/2. Then LUCB-k-m finds k arms that are within epsilon of the m-th best of them, at
delta/2. Its bounds are as printed (``bounds="hoeffding"``), or Chernoff bounds with the same rate (``bounds="kl"``).

Guarantee: every one of the k arms is within epsilon of the top alpha fraction, all with probability at least 1 - delta,
for every reservoir and even with dependent rewards across arms (docs/field/lucb.md, 1).

The rate grows with every round, so every bound would move in every round. Where bounds are dear, with ``"kl"``, the
clock is rounded up a little (docs/field/lucb.md, 1.3).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.families import Bernoulli, checked, describe
from topalpha.families.protocols import RewardFamily, RewardModel
from topalpha.rules.protocol import SUM, WAIT, Claim, Entry, History, Traits
from topalpha.rules.ranking import best_ranked, rank_all, rerank
from topalpha.rules.sampling import fill_means, leads_enough, query_fresh, unseen
from topalpha.rules.tournament import beats
from topalpha.theory.arm_counts import arms_of_rank
from topalpha.validate import choice, fraction, positive, require, whole

if TYPE_CHECKING:
    from numpy.random import Generator

# The one number of the state: how many rounds were planned after the first pull of every arm.
_ROUNDS = 0
# Chernoff bounds take the clock rounded up to a power of e^.02, so that they stay as they are for a while: .08 nats of
# forty at most, and one inversion a pull instead of n.
_STEP = 0.02


class Memory(NamedTuple):
    """Scratch: means, the ranking by them, and the upper bounds that are known at a rate; infinite if not."""

    ready: MutableSequence[int]
    means: MutableSequence[float]
    order: MutableSequence[int]
    place: MutableSequence[int]
    uppers: MutableSequence[float]
    rate_then: MutableSequence[float]


class LUCBkm(NamedTuple):
    """k of the best m arms; build it with :func:`design`.

    Guarantee: all k arms are (alpha, epsilon)-good with probability at least 1 - delta (docs/field/lucb.md, 1).
    ``wanted`` is k and ``good_enough`` m; ``offset`` is ln(5n/(4 delta_B)), delta_B = delta/2.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    wanted: int
    good_enough: int
    offset: float
    hoeffding: bool

    @property
    def traits(self) -> Traits:
        """Column: the sum of rewards, which may depend on each other across arms. State: the number of rounds."""
        return Traits("lucb-k-m", columns=1, numbers=1, width=3, independent=False)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: nothing known yet."""
        return Memory(
            ready=[0],
            means=[0.0] * arms,
            order=[0] * arms,
            place=[0] * arms,
            uppers=[math.inf] * arms,
            rate_then=[0.0],
        )

    def rate(self, clock: float) -> float:
        """ln((5/4) n t^4 / delta_B)."""
        return self.offset + 4.0 * math.log(clock)

    def round_clock(self, history: History) -> float:
        """t: n + 1 in the first round, and one more in every following one; no arm ever has more rewards."""
        clock = self.arms + 1.0 + history.state[_ROUNDS]
        return clock if self.hoeffding else math.exp(_STEP * math.ceil(math.log(clock) / _STEP))

    def ceiling_at(self, mean: float, pulls: int, rate: float) -> float:
        """The upper bound at this rate."""
        if self.hoeffding:
            return mean + math.sqrt(rate / (2.0 * pulls))
        return self.family.upper(mean, rate / pulls)

    def floor_at(self, mean: float, pulls: int, rate: float) -> float:
        """The lower bound at this rate."""
        if self.hoeffding:
            return mean - math.sqrt(rate / (2.0 * pulls))
        return self.family.lower(mean, rate / pulls)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the ranking."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        if memory.ready[0] == 1:
            memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
            memory.uppers[arm] = math.inf
            rerank(memory.order, memory.place, memory.means, history.pulls, history.arms, arm)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Pull the weakest of the k best, the least pulled of the next m - k and the strongest of the rest.

        Stop once the lower bounds of the k reach all upper bounds of the rest, up to epsilon.
        """
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
            rank_all(memory.order, memory.place, memory.means, history.pulls, history.arms)
            memory.rate_then[0] = 0.0
            memory.ready[0] = 1
        if self.good_enough == self.arms:
            return 0  # there is no rest
        now = self.rate(self.round_clock(history))
        weakest = -1
        lower = math.inf
        for index in range(self.wanted):
            arm = memory.order[index]
            pulls = history.pulls[arm]
            bound = self.floor_at(memory.means[arm], pulls, now)
            if weakest < 0 or beats(-bound, pulls, arm, -lower, history.pulls[weakest], weakest):
                weakest = arm
                lower = bound
        strongest = self.strongest_of_rest(history, memory, now)
        if memory.uppers[strongest] - lower <= self.epsilon:
            return 0
        middle = -1
        for index in range(self.wanted, self.good_enough):
            arm = memory.order[index]
            if middle < 0 or history.pulls[arm] < history.pulls[middle]:
                middle = arm
        count = 0
        if not leads_enough(history, weakest):
            batch[count] = weakest
            count += 1
        if middle >= 0 and not leads_enough(history, middle):
            batch[count] = middle
            count += 1
        if not leads_enough(history, strongest):
            batch[count] = strongest
            count += 1
        if count == 0:
            return WAIT
        history.state[_ROUNDS] += 1.0
        return count

    def strongest_of_rest(self, history: History, memory: Any, now: float) -> int:
        """Of the arms behind the m best, the one with the largest upper bound; leaves that in ``memory.uppers``."""
        if memory.rate_then[0] != now:
            memory.rate_then[0] = now
            for arm in range(history.arms):
                memory.uppers[arm] = math.inf
        best = -1
        for index in range(self.good_enough, history.arms):
            arm = memory.order[index]
            pulls = history.pulls[arm]
            if memory.uppers[arm] == math.inf:
                memory.uppers[arm] = self.ceiling_at(memory.means[arm], pulls, now)
            bound = memory.uppers[arm]
            if best < 0 or beats(bound, pulls, arm, memory.uppers[best], history.pulls[best], best):
                best = arm
        return best

    def recommend(self, history: History, memory: Any) -> int:
        """The first of the k arms: the empirical best."""
        return (best_ranked(history.stats[SUM], history.pulls, history.arms, 1) or [0])[0]

    def selection(self, history: History, memory: Any) -> list[int]:
        """The k arms with the largest means, the best first."""
        return best_ranked(history.stats[SUM], history.pulls, history.arms, self.wanted)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's lower bound in this round."""
        pulls = history.pulls[arm]
        bound = self.floor_at(history.stats[SUM][arm] / pulls, pulls, self.rate(self.round_clock(history)))
        return max(bound, self.family.lowest)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's upper bound in this round."""
        pulls = history.pulls[arm]
        bound = self.ceiling_at(history.stats[SUM][arm] / pulls, pulls, self.rate(self.round_clock(history)))
        return min(bound, self.family.highest)

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now: all but m - 1 of the others are at most so far above it."""
        if history.arms < self.arms or unseen(history.pulls, history.arms):
            return []
        others = [self.upper_bound(history, memory, other) for other in range(history.arms) if other != arm]
        above = sorted(others, reverse=True)[self.good_enough - 1 :]
        distance = above[0] - self.lower_bound(history, memory, arm) if above else 0.0
        return [Claim(self.alpha, max(0.0, distance))]


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    k: int = 1,
    m: int = 0,
    bounds: str = "kl",
) -> LUCBkm:
    """LUCB-k-m on the fewest arms of which m are in the top alpha fraction with probability 1 - delta/2.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: means within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        The reward family, Bernoulli by default.
    k
        How many arms to return.
    m
        How many of the drawn arms are good enough, k at least; k unless given.
    bounds
        ``"kl"``, Chernoff bounds; or ``"hoeffding"``, as printed, for rewards in [0, 1].

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms, design(0.05, 0.05, 0.05, m=2).arms
    (72, 110)
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    wanted = whole("k", k)
    best = whole("m", m, 0) or wanted
    require(best >= wanted, "m", f"be at least k = {wanted}", m)
    law = checked(family)
    hoeffding = choice("bounds", bounds, ("kl", "hoeffding")) == "hoeffding"
    if hoeffding and not isinstance(law, Bernoulli):
        require(False, "family", "be bernoulli, rewards in [0, 1], with bounds 'hoeffding'", describe(law))
    number = arms_of_rank(best, alpha, 0.5 * delta)
    return LUCBkm(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        wanted=wanted,
        good_enough=best,
        offset=math.log(2.5 * number / delta),
        hoeffding=hoeffding,
    )


ENTRY = Entry(
    name="lucb-k-m",
    design=design,
    guarantee="fixed-confidence",
    reference="Chaudhuri, Kalyanakrishnan (ICML 2019), LUCB-k-m",
    proof="docs/field/lucb.md, 1",
    options={"bounds": ("kl", "hoeffding")},
)
