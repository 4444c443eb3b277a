"""Two phases with a likelihood-ratio stop: one algorithm for every rule of sampling.

With delta/2 for the draw of n arms and delta/2 for the stop, whose threshold is ln(2 (n-1) / delta), a run is
(alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.families import checked
from topalpha.families.protocols import RewardFamily, RewardModel
from topalpha.rules.likelihood_ratio import PairMemory, count_reward, pair_memory, recall, separated, separation
from topalpha.rules.protocol import WAIT, Claim, History, Traits
from topalpha.rules.sampling import query_fresh, recall_leader, unseen
from topalpha.theory import arms_tight
from topalpha.theory.pool import fewest
from topalpha.validate import fraction, positive, require

if TYPE_CHECKING:
    from numpy.random import Generator

#: The number of the state that every rule of sampling keeps: the answer, from 1.
ANSWER = 0

# Where a redundancy is valid up to a threshold only (Gaussian), the sum of two is valid up to this much less.
_RESERVE = 25.0


class PairTarget(NamedTuple):
    """A target, checked: the numbers that every such algorithm has."""

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    threshold: float


class PairStop(NamedTuple):
    """A finite solver as second phase: a rule that samples, and the likelihood-ratio stop.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir (docs/field/finite_solvers.md, 2). ``rule`` is a
    NamedTuple with ``traits``; ``answer_now(target, history, memory)``, the arm that would be returned, which the state
    remembers; and ``next_pulls(target, history, memory, rng, answer, batch)``, where ``target`` is this tuple.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    threshold: float
    rule: Any

    @property
    def traits(self) -> Traits:
        """Those of the rule. Evidence of two arms is multiplied, so the order of all pulls counts."""
        traits: Traits = self.rule.traits
        return traits._replace(global_order=True)

    def scratch(self, arms: int) -> PairMemory:
        """Fresh memory: nothing known yet."""
        return pair_memory(arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum, and what follows from them."""
        count_reward(self.family, history, memory, arm, reward)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull what the rule says until the answer is separated from all others."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            recall(self.family, history, memory)
        answer: int = self.rule.answer_now(self, history, memory)
        if separated(self.family, history, memory, answer, self.epsilon, self.threshold):
            return 0
        count: int = self.rule.next_pulls(self, history, memory, rng, answer, batch)
        return count

    def recommend(self, history: History, memory: Any) -> int:
        """The answer of the last round; before the first round the empirical best arm."""
        return recall_leader(history, ANSWER)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The lowest mean there is: the evidence compares arms, and says nothing about one alone."""
        return self.family.lowest

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The highest mean there is."""
        return self.family.highest

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now: the smallest epsilon for the target's alpha, once all arms were pulled."""
        return pair_claims(self, history, arm)


def pair_target(alpha: float, epsilon: float, delta: float, family: RewardModel | None, pool: int) -> PairTarget:
    """Check a target; n = ceil(ln(2/delta) / -ln(1 - alpha)) arms or ``pool``, and the threshold of the stop.

    Examples
    --------
    >>> target = pair_target(0.05, 0.05, 0.05, None, 0)
    >>> target.arms, round(math.exp(target.threshold))
    (72, 2840)
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    number = fewest(arms_tight(alpha, delta), pool)
    law = checked(family)
    threshold = math.log(2.0 * max(number - 1, 1) / delta)
    require(threshold + _RESERVE <= law.largest_threshold, "delta", "not be so small for this family", delta)
    return PairTarget(alpha, epsilon, delta, number, law, threshold)


def pair_claims(target: Any, history: History, arm: int) -> list[Claim]:
    """The smallest epsilon for which the run could stop now and return this arm, for the target's alpha.

    ``target`` is the algorithm. It is found by bisection, from above, since the evidence grows with epsilon.

    Examples
    --------
    >>> target = pair_target(0.6, 0.1, 0.1, None, 2)
    >>> history = History(400, 2, [200, 200], [[150.0, 100.0]], [])
    >>> [(claim.alpha, round(claim.epsilon, 4)) for claim in pair_claims(target, history, 0)]
    [(0.6, 0.0)]
    >>> [(claim.alpha, round(claim.epsilon, 4)) for claim in pair_claims(target, history, 1)]
    [(0.6, 0.4378)]
    """
    target = PairTarget(*target[: len(PairTarget._fields)])
    if history.arms < target.arms or unseen(history.pulls, history.arms):
        return []
    memory = pair_memory(history.arms)
    recall(target.family, history, memory)
    epsilon = 0.0
    for rival in range(history.arms):
        if rival != arm:
            epsilon = _enough(target, history, memory, arm, rival, epsilon)
    return [Claim(target.alpha, epsilon)] if epsilon < math.inf else []


def _enough(target: PairTarget, history: History, memory: Any, arm: int, rival: int, least: float) -> float:
    """At least ``least``, and so much that the rival is not that much better."""

    def shown(epsilon: float) -> bool:
        return separation(target.family, history, memory, arm, rival, epsilon) >= target.threshold

    if least == math.inf or shown(least):
        return least
    low, high = least, max(least, target.epsilon)
    while not shown(high):
        low, high = high, 2.0 * high
        if high > 1e300:
            return math.inf
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high
