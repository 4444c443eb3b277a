"""glr: LUCB-type sampling that stops on generalised likelihood ratios of pairs of arms.

Sampling as in LUCB (Kalyanakrishnan et al., ICML 2012), but the challenger is the arm against which the evidence is
weakest; stopping as in Garivier and Kaufmann (COLT 2016), with conjugate mixtures in the place of their threshold.
With delta/2 for the draw of n arms and delta/2 for the stop, the run is (alpha, epsilon, delta)-correct for every
reservoir and any sampling rule (docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.pair_design import pair_claims, pair_target
from topalpha.core import WAIT, Claim, Entry, History, Traits
from topalpha.glr import PairMemory, closest_rival, count_reward, pair_memory, recall, separated
from topalpha.rewards import ENDLESS, RewardFamily, RewardModel
from topalpha.rules import query_fresh, recall_leader, settled_leader, unseen, write_round

if TYPE_CHECKING:
    from numpy.random import Generator

# The one number of the state: the leader, from 1.
_LEADER = 0


class GLR(NamedTuple):
    """LUCB-type sampling with a likelihood-ratio stop; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir (docs/field/finite_solvers.md, 2).
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    threshold: float

    @property
    def traits(self) -> Traits:
        """The sum of rewards; the leader. Evidence of two arms is multiplied, so the order of all pulls counts."""
        return Traits("glr", numbers=1, width=2, global_order=True)

    def scratch(self, arms: int) -> PairMemory:
        """Fresh memory: nothing known yet."""
        return pair_memory(arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum, and what follows from them."""
        count_reward(self.family, history, memory, arm, reward)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull leader and closest rival until all rivals are separated."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            recall(self.family, history, memory)
        leader = settled_leader(memory.leaders[1], memory.means, history.state, _LEADER)
        if separated(self.family, history, memory, leader, self.epsilon, self.threshold):
            return 0
        rival = closest_rival(self.family, history, memory, leader, self.epsilon, 1.0)
        return write_round(history, leader, rival, ENDLESS, batch)

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


def design(alpha: float, epsilon: float, delta: float, family: RewardModel | None = None, *, pool: int = 0) -> GLR:
    """GLR on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on the whole of a finite list of ``pool`` candidates.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    return GLR(*pair_target(alpha, epsilon, delta, family, pool))


ENTRY = Entry(
    name="glr",
    design=design,
    guarantee="fixed-confidence",
    reference="Garivier, Kaufmann (COLT 2016), GLR stopping; LUCB sampling; conjugate mixtures",
    proof="docs/field/finite_solvers.md, 2",
    options={},
)
