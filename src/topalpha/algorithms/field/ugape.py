"""ugape: UGapEc of Gabillon, Ghavamzadeh and Lazaric (NIPS 2012), with the bounds of lucb++.

Each arm k has a gap index B_k = max_{i != k} U_i - L_k, an upper bound on its regret. The candidate J has the least,
the rival u is the other arm of largest U; the one of the two with the wider interval is pulled. B_J <= epsilon is the
certificate of lucb++, so the same levels and the same proof serve: (alpha, epsilon, delta)-correct for every
reservoir and any sampling rule, even with dependent rewards across arms (docs/proofs.md, B; docs/field/
finite_solvers.md, 1).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms import lucb_pp
from topalpha.families import checked
from topalpha.families.protocols import ENDLESS, RewardFamily, RewardModel
from topalpha.rules.claims import target_claim
from topalpha.rules.protocol import SUM, WAIT, Claim, Entry, History, Traits
from topalpha.rules.sampling import next_challenger, query_fresh, recall_leader, unseen
from topalpha.rules.tournament import beats, empty_tree, play, rebuild, runner_up

if TYPE_CHECKING:
    from numpy.random import Generator

# The one number of the state: the candidate J, from 1.
_CANDIDATE = 0


class Memory(NamedTuple):
    """Scratch: bounds, and their trees."""

    ready: MutableSequence[int]
    uppers: MutableSequence[float]
    lowers: MutableSequence[float]
    tops: MutableSequence[int]
    safest: MutableSequence[int]


class UGapE(NamedTuple):
    """UGapEc; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir (docs/field/finite_solvers.md, 1).
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    upper_threshold: float
    lower_threshold: float

    @property
    def traits(self) -> Traits:
        """The sum of rewards; the candidate. Rewards may depend on each other across arms."""
        return Traits("ugape", numbers=1, independent=False)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: nothing known yet."""
        return Memory(
            ready=[0],
            uppers=[0.0] * arms,
            lowers=[0.0] * arms,
            tops=empty_tree(arms),
            safest=empty_tree(arms),
        )

    def set_bounds(self, history: History, memory: Any, arm: int) -> None:
        """U_a at level delta/4 and L_a at level delta/(4n), from the arm's rewards."""
        total = history.stats[SUM][arm]
        pulls = history.pulls[arm]
        redundancy = self.family.redundancy(total, pulls)
        memory.uppers[arm] = self.family.upper(total / pulls, (self.upper_threshold + redundancy) / pulls)
        memory.lowers[arm] = self.family.lower(total / pulls, (self.lower_threshold + redundancy) / pulls)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum, and what follows from them."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        if memory.ready[0] == 1:
            self.set_bounds(history, memory, arm)
            play(memory.tops, memory.uppers, history.pulls, arm)
            play(memory.safest, memory.lowers, history.pulls, arm)

    def candidate(self, history: History, memory: Any) -> int:
        """J = argmin B_k: the arm of largest U, or else that of largest L; ties to fewer pulls, then the lower index.

        B_k is max U - L_k for every arm but the one of largest U, so no other arm than those two can have the least.
        """
        top = memory.tops[1]
        second = runner_up(memory.tops, memory.uppers, history.pulls, top)
        safe = runner_up(memory.safest, memory.lowers, history.pulls, top)
        gap = memory.uppers[second] - memory.lowers[top]
        other = memory.uppers[top] - memory.lowers[safe]
        return top if beats(-gap, history.pulls[top], top, -other, history.pulls[safe], safe) else safe

    def wider(self, history: History, memory: Any, one: int, other: int) -> int:
        """The arm of wider interval; pulls in flight are taken to narrow theirs as one more reward will on average."""
        width = memory.uppers[one] - memory.lowers[one]
        other_width = memory.uppers[other] - memory.lowers[other]
        if history.in_flight > 0:
            width *= math.sqrt(history.pulls[one] / (history.pulls[one] + history.pending[one]))
            other_width *= math.sqrt(history.pulls[other] / (history.pulls[other] + history.pending[other]))
        return one if beats(width, history.pulls[one], one, other_width, history.pulls[other], other) else other

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull the wider of candidate and rival until B_J <= epsilon."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            for arm in range(history.arms):
                self.set_bounds(history, memory, arm)
            rebuild(memory.tops, memory.uppers, history.pulls, history.arms)
            rebuild(memory.safest, memory.lowers, history.pulls, history.arms)
            memory.ready[0] = 1
        if self.arms == 1:
            return 0
        candidate = self.candidate(history, memory)
        history.state[_CANDIDATE] = candidate + 1.0
        rival = runner_up(memory.tops, memory.uppers, history.pulls, candidate)
        if memory.uppers[rival] - memory.lowers[candidate] <= self.epsilon:
            return 0
        arm = self.wider(history, memory, candidate, rival)
        if history.in_flight > 0 and history.pending[arm] >= history.pulls[arm]:
            arm = next_challenger(history, memory.uppers, candidate, ENDLESS, arm)
        batch[0] = arm
        return 1

    def recommend(self, history: History, memory: Any) -> int:
        """The candidate of the last round; before the first round the empirical best arm."""
        return recall_leader(history, _CANDIDATE)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """L_a at level delta/(4n)."""
        total, pulls = history.stats[SUM][arm], history.pulls[arm]
        return self.family.lower(total / pulls, (self.lower_threshold + self.family.redundancy(total, pulls)) / pulls)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """U_a at level delta/4."""
        total, pulls = history.stats[SUM][arm], history.pulls[arm]
        return self.family.upper(total / pulls, (self.upper_threshold + self.family.redundancy(total, pulls)) / pulls)

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now: the smallest epsilon for the target's alpha, once all arms were pulled."""
        if history.arms < self.arms or unseen(history.pulls, history.arms):
            return []
        others = [self.upper_bound(history, memory, other) for other in range(history.arms) if other != arm]
        return target_claim(self.alpha, self.lower_bound(history, memory, arm), others)


def design(alpha: float, epsilon: float, delta: float, family: RewardModel | None = None, *, pool: int = 0) -> UGapE:
    """UGapEc on the arms and at the levels of lucb++; on the whole of a finite list of ``pool`` candidates.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    return UGapE(**lucb_pp.design(alpha, epsilon, delta, checked(family), pool=pool)._asdict())


ENTRY = Entry(
    name="ugape",
    design=design,
    guarantee="fixed-confidence",
    reference="Gabillon, Ghavamzadeh, Lazaric (NIPS 2012), UGapEc; bounds of LUCB++",
    proof="docs/field/finite_solvers.md, 1",
    options={},
)
