"""Two phases with a likelihood-ratio stop: one algorithm for any sampling rule.

With delta/2 for the draw of n arms and delta/2 for the stop, whose threshold is ln(2 (n-1) / delta), a run is
(alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.arithmetic import log
from topalpha.families.protocols import RewardFamily
from topalpha.rules.claims import least_shown
from topalpha.rules.generic import Recalled, Rounds
from topalpha.rules.likelihood_ratio import PairMemory, count_reward, pair_memory, recall, separated, separation
from topalpha.rules.parameters import Named, Parameters
from topalpha.rules.protocol import Claim, Generator, History, Integers, Traits
from topalpha.rules.registration import Target
from topalpha.rules.sampling import settled_leader, unseen
from topalpha.theory import arms_tight
from topalpha.theory.pool import fewest
from topalpha.validate import require

#: The entry of the state that every sampling rule keeps: the answer, counted from 1.
ANSWER = 0

# If a redundancy is valid only up to a threshold (Gaussian), the sum of two is valid up to this much less.
_RESERVE = 25.0


class PairStop(Recalled, Rounds, Parameters):
    """A sampling rule with this stop. (alpha, epsilon, delta)-correct (docs/field/finite_solvers.md, 2).

    ``rule`` has ``traits``; ``answer_now(target, history, memory)``, which returns the current answer and stores it in
    the state; and ``next_pulls(target, history, memory, rng, answer, batch)``, where ``target`` is the algorithm.
    """

    family: RewardFamily
    threshold: float
    rule: Any

    @property
    def traits(self) -> Traits:
        """Traits of the rule. The evidence of two arms is multiplied, so rewards count in the order of all pulls."""
        traits: Traits = self.rule.traits
        return traits._replace(global_order=True)

    def scratch(self, arms: int) -> PairMemory:
        """Fresh memory."""
        return pair_memory(arms)

    def prepare(self, history: History, memory: Any) -> None:
        """Fill fresh memory from the history."""
        recall(self.family, history, memory)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum, and the memory."""
        count_reward(self.family, history, memory, arm, reward)

    def contenders(self, history: History, memory: Any) -> int:
        """The answer of the rule; its rivals are all other arms."""
        answer: int = self.rule.answer_now(self, history, memory)
        return answer

    def stopping(self, history: History, memory: Any, contenders: int) -> bool:
        """Whether the answer is separated from all other arms."""
        return separated(self.family, history, memory, contenders, self.epsilon, self.threshold)

    def sampling(self, history: History, memory: Any, rng: Generator, contenders: int, batch: Integers) -> int:
        """The pulls of the rule."""
        count: int = self.rule.next_pulls(self, history, memory, rng, contenders, batch)
        return count

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The lowest possible mean: the evidence compares arms, and does not bound one alone."""
        return self.family.lowest

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The highest possible mean."""
        return self.family.highest

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """The smallest epsilon for which the run could stop now with this arm, by bisection from above."""
        if history.arms < self.arms or unseen(history.pulls, history.arms):
            return []
        fresh = pair_memory(history.arms)
        recall(self.family, history, fresh)
        epsilon = 0.0
        for rival in range(history.arms):
            if rival != arm and epsilon < math.inf:
                epsilon = self.enough(history, fresh, arm, rival, epsilon)
        return [Claim(self.alpha, epsilon)] if epsilon < math.inf else []

    def shown(self, history: History, memory: Any, arm: int) -> float:
        """The same epsilon; infinite before all arms have a reward."""
        claims = self.claims(history, memory, arm)
        return claims[0].epsilon if claims else math.inf

    def enough(self, history: History, memory: Any, arm: int, rival: int, least: float) -> float:
        """An epsilon of at least ``least`` by which the rival is not better; the evidence grows with epsilon."""

        def shown(epsilon: float) -> bool:
            return separation(self.family, history, memory, arm, rival, epsilon) >= self.threshold

        return least_shown(shown, least, max(least, self.epsilon), 1e300, 0.0)


class LeadingAnswer(Named):
    """The empirical best arm as the answer."""

    def answer_now(self, target: Any, history: History, memory: Any) -> int:
        """The empirical best arm; ties go to the previous leader."""
        return settled_leader(memory.leaders[1], memory.means, history.state, ANSWER)


def pair_stop(target: Target, pool: int, rule: Any) -> PairStop:
    """The rule on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on all of a finite list of ``pool`` candidates.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> made = pair_stop(Target(0.05, 0.05, 0.05, Bernoulli()), 0, None)
    >>> made.arms, round(math.exp(made.threshold))
    (72, 2840)
    >>> two = pair_stop(Target(0.6, 0.1, 0.1, Bernoulli()), 2, None)
    >>> history = History(400, 2, [200, 200], [[150.0, 100.0]], [])
    >>> [round(two.claims(history, None, arm)[0].epsilon, 4) for arm in (0, 1)]
    [0.0, 0.4378]
    """
    number = fewest(arms_tight(target.alpha, target.delta), pool)
    threshold = log(2.0 * max(number - 1, 1) / target.delta)
    valid = threshold + _RESERVE <= target.family.largest_threshold
    require(valid, "delta", "be larger for this family", target.delta)
    return PairStop(*target.on(number), threshold, rule)
