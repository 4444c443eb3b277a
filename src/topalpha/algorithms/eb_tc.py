"""eb-tc: EB-TC_eps0 of Jourdan, Degenne and Kaufmann (NeurIPS 2023), a top two algorithm without randomness.

The leader is the empirical best arm (EB), the challenger the arm of least transportation cost with slack eps0 (TC).
Each leader keeps its own account, so that half of the rounds it leads go to itself and half to its challengers. It
stops on generalised likelihood ratios with conjugate mixtures: (alpha, epsilon, delta)-correct for every reservoir
(docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.pair_design import pair_claims, pair_target
from topalpha.core import WAIT, Claim, Entry, History, Traits
from topalpha.glr import PairMemory, closest_rival, count_reward, pair_memory, recall, separated
from topalpha.rewards import RewardFamily, RewardModel
from topalpha.rules import query_fresh, recall_leader, settled_leader, unseen
from topalpha.validate import positive

if TYPE_CHECKING:
    from numpy.random import Generator

# The column that counts the rounds in which an arm led and was pulled, less those in which its challenger was.
_AHEAD = 1
# The one number of the state: the leader, from 1.
_LEADER = 0


class EBTC(NamedTuple):
    """Top two, deterministic; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir (docs/field/finite_solvers.md, 2).
    ``slack`` is eps0, with which the sampling rule compares arms.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    threshold: float
    slack: float

    @property
    def traits(self) -> Traits:
        """Columns: the sum of rewards and each leader's account. State: the leader. The order of pulls counts."""
        return Traits("eb-tc", columns=2, numbers=1, global_order=True)

    def scratch(self, arms: int) -> PairMemory:
        """Fresh memory: nothing known yet."""
        return pair_memory(arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum, and what follows from them."""
        count_reward(self.family, history, memory, arm, reward)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull the leader or its challenger in turn until it is separated."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            recall(self.family, history, memory)
        leader = settled_leader(memory.leaders[1], memory.means, history.state, _LEADER)
        if separated(self.family, history, memory, leader, self.epsilon, self.threshold):
            return 0
        if history.stats[_AHEAD][leader] <= 0.0:
            history.stats[_AHEAD][leader] += 1.0
            batch[0] = leader
        else:
            history.stats[_AHEAD][leader] -= 1.0
            batch[0] = closest_rival(self.family, history, memory, leader, self.slack, 0.0)
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
    slack: float | None = None,
    pool: int = 0,
) -> EBTC:
    """EB-TC on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on the whole of a finite list of ``pool`` candidates.

    ``slack`` is eps0 of the sampling rule, epsilon unless given.

    Examples
    --------
    >>> design(0.05, 0.1, 0.05).arms, design(0.05, 0.1, 0.05).slack
    (72, 0.1)
    """
    target = pair_target(alpha, epsilon, delta, family, pool)
    return EBTC(*target, slack=target.epsilon if slack is None else positive("slack", slack))


ENTRY = Entry(
    name="eb-tc",
    design=design,
    guarantee="fixed-confidence",
    reference="Jourdan, Degenne, Kaufmann (NeurIPS 2023), EB-TC with slack eps0",
    proof="docs/field/finite_solvers.md, 2",
    options={},
)
