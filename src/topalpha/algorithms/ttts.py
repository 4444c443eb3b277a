"""ttts: top two Thompson sampling, Russo (COLT 2016), with a stop that is proved.

A sample from the posterior of all means has a best arm, the leader of the round. With probability beta it is pulled;
otherwise samples are drawn until another arm is best, and that one is pulled. Posteriors are Beta(1 + S, 1 + N - S);
rewards inside (0, 1) count as parts of a success, which changes the sampling rule only. The stop, on generalised
likelihood ratios, makes the run (alpha, epsilon, delta)-correct for every reservoir
(docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.pair_design import pair_claims, pair_target
from topalpha.core import SUM, WAIT, Claim, Entry, History, Traits
from topalpha.families import unit_rewards
from topalpha.glr import PairMemory, closest_rival, count_reward, pair_memory, recall, separated
from topalpha.rewards import RewardFamily, RewardModel
from topalpha.rules import query_fresh, recall_leader, settled_leader, unseen
from topalpha.validate import fraction, whole

if TYPE_CHECKING:
    from numpy.random import Generator

# The one number of the state: the empirical best arm, from 1.
_LEADER = 0


class TTTS(NamedTuple):
    """Top two Thompson sampling; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir (docs/field/finite_solvers.md, 2).
    ``leader_share`` is beta; ``resamples`` is how many samples are tried for a challenger before the rival of least
    transportation cost is taken.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    threshold: float
    leader_share: float
    resamples: int

    @property
    def traits(self) -> Traits:
        """The sum of rewards; the leader. Evidence of two arms is multiplied, so the order of all pulls counts."""
        return Traits("ttts", numbers=1, global_order=True)

    def scratch(self, arms: int) -> PairMemory:
        """Fresh memory: nothing known yet."""
        return pair_memory(arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum, and what follows from them."""
        count_reward(self.family, history, memory, arm, reward)

    def posterior_best(self, history: History, rng: Generator) -> int:
        """The best arm of one sample of all means."""
        best = -1
        best_draw = -1.0
        for arm in range(history.arms):
            total = history.stats[SUM][arm]
            draw = rng.beta(1.0 + total, 1.0 + history.pulls[arm] - total)
            if draw > best_draw:
                best = arm
                best_draw = draw
        return best

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull a top arm of a posterior sample until the best one is separated."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            recall(self.family, history, memory)
        leader = settled_leader(memory.leaders[1], memory.means, history.state, _LEADER)
        if separated(self.family, history, memory, leader, self.epsilon, self.threshold):
            return 0
        first = self.posterior_best(history, rng)
        batch[0] = first
        if rng.random() >= self.leader_share:
            second = first
            tries = 0
            while second == first and tries < self.resamples:
                second = self.posterior_best(history, rng)
                tries += 1
            if second == first:
                second = closest_rival(self.family, history, memory, first, self.epsilon, 0.0)
            batch[0] = second
        return 1

    def recommend(self, history: History, memory: Any) -> int:
        """The empirical best arm, of tied ones the one that has led."""
        return recall_leader(history, _LEADER)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The lowest mean there is: the evidence compares arms, and says nothing about one alone."""
        return self.family.lowest

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The highest mean there is."""
        return self.family.highest

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now: the smallest epsilon for the target's alpha, once all arms were pulled."""
        return pair_claims(self, history, arm)


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    beta: float = 0.5,
    resamples: int = 2,
    pool: int = 0,
) -> TTTS:
    """TTTS on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on the whole of a finite list of ``pool`` candidates.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        The reward model: rewards in [0, 1], Bernoulli.
    beta
        How often the leader of a sample is pulled.
    resamples
        How many samples are tried for a challenger before the rival of least transportation cost is taken; the source
        tries for ever, which takes long once one arm is clearly best.
    pool
        The size of a finite list of candidates that arms are drawn from without replacement; 0 for an endless pool.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    target = pair_target(alpha, epsilon, delta, unit_rewards(family), pool)
    return TTTS(*target, leader_share=fraction("beta", beta), resamples=whole("resamples", resamples))


ENTRY = Entry(
    name="ttts",
    design=design,
    guarantee="fixed-confidence",
    reference="Russo (COLT 2016), top two Thompson sampling; GLR stopping",
    proof="docs/field/finite_solvers.md, 2",
    options={},
    rewards="unit",
)
