"""lucb-k-m: k of the best m arms; Chaudhuri and Kalyanakrishnan (ICML 2019), on arms drawn from a reservoir.

n is the smallest number with P(Bin(n, alpha) < m) <= delta/2: with probability 1 - delta/2, at least m of the n arms
are in the top alpha fraction. Then LUCB-k-m finds k arms within epsilon of the m-th best of them, at delta/2. Its
bounds are as printed (``bounds="hoeffding"``), or Chernoff bounds with the same rate (``bounds="kl"``).

Each of the k arms is within epsilon of the top alpha fraction, all with probability at least 1 - delta, for every
reservoir and even with dependent rewards across arms (docs/field/lucb.md, 1).

The rate grows with every round, so every bound would change in every round. With ``"kl"``, where bounds are expensive,
the clock is rounded up a little (docs/field/lucb.md, 1.3).
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.arithmetic import exp, log
from topalpha.families import Bernoulli, checked, describe
from topalpha.families.protocols import RewardFamily
from topalpha.rules.generic import BestOfRanking, Counting, RankingMemory, Rounds, TargetClaims
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Generator, History, Integers, Pair, Reals, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import write_free
from topalpha.rules.tournament import better
from topalpha.theory.arm_counts import arms_of_rank
from topalpha.validate import choice, require, whole

# The only entry of the state: the number of rounds planned after the first pull of every arm.
_ROUNDS = 0
# Chernoff bounds round the clock up to a power of e^.02, so that they stay constant for a while: this costs at most .08
# of forty nats, and needs one inversion per pull instead of n.
_STEP = 0.02


class LUCBkmMemory(RankingMemory):
    """Scratch: the ranking, lower and upper bounds, and the number of pulls and the rate of each upper bound."""

    lowers: Reals
    uppers: Reals
    counted: Integers
    rates: Reals


class LUCBkm(BestOfRanking, Counting, TargetClaims, Rounds, Parameters):
    """k of the best m arms; build it with :func:`design`. All k arms are correct (docs/field/lucb.md, 1)."""

    family: RewardFamily
    wanted: int  # k
    good_enough: int  # m
    offset: float  # ln(5n/(4 delta_B)), delta_B = delta/2
    hoeffding: bool
    traits = Traits("lucb-k-m", columns=1, numbers=1, width=3, independent=False)

    @property
    def claim_rank(self) -> int:
        """m."""
        return self.good_enough

    def scratch(self, arms: int) -> LUCBkmMemory:
        """Fresh memory."""
        ranking = self.no_ranking(arms)._asdict()
        lowers, uppers, rates = [0.0] * arms, [0.0] * arms, [0.0] * arms
        return LUCBkmMemory(**ranking, lowers=lowers, uppers=uppers, counted=[0] * arms, rates=rates)

    def rate_now(self, history: History) -> float:
        """ln((5/4) n t^4 / delta_B): t is n + 1 at first, one more in each round; no arm ever has more rewards."""
        clock = self.arms + 1.0 + history.state[_ROUNDS]
        if not self.hoeffding:
            clock = exp(_STEP * math.ceil(log(clock) / _STEP))
        return self.offset + 4.0 * log(clock)

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

    def contenders(self, history: History, memory: Any) -> Pair:
        """The weakest of the k best arms and the strongest of the others, -1 if there are no others."""
        if self.good_enough == self.arms:
            return -1, -1
        now = self.rate_now(history)
        for index in range(self.wanted):
            arm = memory.order[index]
            memory.lowers[arm] = self.floor_at(memory.means[arm], history.pulls[arm], now)
        return self.weakest_of_best(history, memory, memory.lowers), self.strongest_of_rest(history, memory, now)

    def stopping(self, history: History, memory: Any, pair: Pair) -> bool:
        """Whether the lower bounds of the k arms reach all upper bounds of the others, up to epsilon."""
        weakest, strongest = pair
        return strongest < 0 or memory.uppers[strongest] - memory.lowers[weakest] <= self.epsilon

    def sampling(self, history: History, memory: Any, rng: Generator, pair: Pair, batch: Integers) -> int:
        """The weakest of the k best arms, the least pulled of the next m - k and the strongest of the others."""
        weakest, strongest = pair
        middle = -1
        for index in range(self.wanted, self.good_enough):
            arm = memory.order[index]
            if middle < 0 or history.pulls[arm] < history.pulls[middle]:
                middle = arm
        count = write_free(history, (weakest, middle, strongest), self.family.capacity, batch)
        if count != WAIT:
            history.state[_ROUNDS] += 1.0
        return count

    def strongest_of_rest(self, history: History, memory: Any, now: float) -> int:
        """The arm after the m best with the largest upper bound, which is then in ``memory.uppers``."""
        best = -1
        for index in range(self.good_enough, history.arms):
            arm = memory.order[index]
            pulls = history.pulls[arm]
            if memory.counted[arm] != pulls or memory.rates[arm] != now:
                memory.uppers[arm] = self.ceiling_at(memory.means[arm], pulls, now)
                memory.counted[arm] = pulls
                memory.rates[arm] = now
            best = better(best, arm, memory.uppers, history.pulls)
        return best

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's lower bound in this round."""
        pulls = history.pulls[arm]
        bound = self.floor_at(history.stats[SUM][arm] / pulls, pulls, self.rate_now(history))
        return max(bound, self.family.lowest)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's upper bound in this round."""
        pulls = history.pulls[arm]
        bound = self.ceiling_at(history.stats[SUM][arm] / pulls, pulls, self.rate_now(history))
        return min(bound, self.family.highest)


@algorithm(
    "lucb-k-m",
    "Chaudhuri, Kalyanakrishnan (ICML 2019), LUCB-k-m",
    "docs/field/lucb.md, 1",
    family=checked,
    options={"bounds": ("kl", "hoeffding")},
)
def design(target: Target, *, k: int = 1, m: int = 0, bounds: str = "kl") -> LUCBkm:
    """LUCB-k-m on the fewest arms of which m are in the top alpha fraction with probability 1 - delta/2.

    It returns ``k`` arms, each as good as the ``m``-th best up to epsilon; m is at least k, which is the default.
    ``bounds`` is ``"kl"``, Chernoff bounds, or ``"hoeffding"``, as printed, for rewards in [0, 1].

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms, design(0.05, 0.05, 0.05, m=2).arms
    (72, 110)
    """
    wanted = whole("k", k)
    best = whole("m", m, 0) or wanted
    require(best >= wanted, "m", f"be at least k = {wanted}", m)
    hoeffding = choice("bounds", bounds, ("kl", "hoeffding")) == "hoeffding"
    if hoeffding and not isinstance(target.family, Bernoulli):
        require(False, "family", "be bernoulli, rewards in [0, 1], with bounds 'hoeffding'", describe(target.family))
    number = arms_of_rank(best, target.alpha, 0.5 * target.delta)
    return LUCBkm(*target.on(number), wanted, best, log(2.5 * number / target.delta), hoeffding)
