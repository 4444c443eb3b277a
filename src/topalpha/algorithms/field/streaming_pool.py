"""LUCB on a pool of a few arms, of which those are discarded for good that can be: cc-lucb-streaming and p2-batched.

L* is the largest lower bound that any arm ever had, a* its arm. An arm whose running upper bound is at most L* + slack
is discarded; fresh arms are drawn once the pool is small enough. Once n arms were drawn and all but a* are discarded,
a* is returned. All decisions are functions of the pool's statistics, of L* and of a*.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.families.protocols import RewardModel
from topalpha.rules.claims import rank_claims
from topalpha.rules.columns import EXTRA, LOWER, UPPER, ConfidenceBounds
from topalpha.rules.generic import RunningBounds
from topalpha.rules.protocol import SUM, WAIT, Claim, Generator, History, Integers, Traits
from topalpha.rules.sampling import has_room, leads_enough
from topalpha.rules.tournament import beats

# The state: whether L* is known, L*, a*, the leader, how many fresh arms are due, how many arms are in the pool, and
# these, in no particular order. Arms are counted from 1.
_KNOWN, _FLOOR, _HOLDER, _LEADER, _DUE, _COUNT, _SLOTS = 0, 1, 2, 3, 4, 5, 6


class StreamingLUCBMemory(NamedTuple):
    """Scratch: what the bounds look up."""

    lookup: Any


class StreamingLUCBParameters(NamedTuple):
    """The target, its bounds, and the pool.

    ``pool_size`` is the size of the pool, ``refill_at`` how many arms are left when fresh ones are drawn; arms are
    discarded once they are within ``discard_slack`` of L*, which is forgotten at every refill if ``chained``.
    ``draw_level`` is delta_A, ``upper_level`` delta_u; ``pool`` is the size of a finite list of candidates, or 0.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardModel
    confidence: ConfidenceBounds
    pool_size: int
    refill_at: int
    discard_slack: float
    chained: bool
    batched: bool
    draw_level: float
    upper_level: float
    pool: int


class StreamingLUCB(RunningBounds, StreamingLUCBParameters):
    """LUCB on a pool of arms; build it with ``design`` of cc-lucb-streaming or of p2-batched.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir (docs/field/lucb.md, 2 and 3).
    """

    @property
    def traits(self) -> Traits:
        """Columns: the sum of rewards, the running bounds and what else those keep. State: the pool, L* and a*."""
        name = "p2-batched" if self.batched else "cc-lucb-streaming"
        columns, numbers = EXTRA + self.confidence.extra, _SLOTS + self.pool_size
        return Traits(name, columns=columns, numbers=numbers, width=2, independent=not self.chained)

    def scratch(self, arms: int) -> StreamingLUCBMemory:
        """Fresh memory: the tables of the bounds."""
        return StreamingLUCBMemory(lookup=self.confidence.tables())

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        self.confidence.fold(history, memory.lookup, arm, reward)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Discard what can be discarded, draw arms where there is room, else pull leader and challenger."""
        leader = self.settle_pool(history, memory)
        fresh = self.refill_pool(history, batch)
        if fresh > 0:
            return fresh
        if history.arms >= self.arms and history.state[_COUNT] == 1.0:
            return 0 if leader >= 0 else WAIT
        challenger = self.strongest_but(history, leader)
        count = 0
        if leader >= 0 and has_room(history, leader, self.family.capacity) and not leads_enough(history, leader):
            batch[count] = leader
            count += 1
        if challenger >= 0:
            batch[count] = challenger
            count += 1
        return count if count > 0 else WAIT

    def settle_pool(self, history: History, memory: Any) -> int:
        """Discard arms until nothing more follows from what is known; the answer is the leader, -1 if none has rewards.

        The leader's lower bound is computed only where it discards an arm: one evaluation says whether it does.
        """
        state = history.state
        if state[_KNOWN] == 1.0:
            self.discard_arms(history)
        leader = self.leader_of_pool(history)
        while leader >= 0:
            target = self.useful_target(history, leader)
            if target == math.inf or not self.confidence.reaches(history, memory.lookup, leader, target):
                break
            state[_FLOOR] = max(target, self.confidence.lower_now(history, memory.lookup, leader))
            state[_HOLDER] = leader + 1.0
            state[_KNOWN] = 1.0
            history.stats[LOWER][leader] = state[_FLOOR]
            self.discard_arms(history)
            leader = self.leader_of_pool(history)
        return leader

    def discard_arms(self, history: History) -> None:
        """Drop every arm but a* from the pool whose running upper bound is at most L* + slack."""
        state = history.state
        place = 0
        while place < state[_COUNT]:
            slot = state[_SLOTS + place]
            arm = int(slot) - 1
            stays = slot == state[_HOLDER] or history.pulls[arm] == 0
            # the very expression of useful_target: a rounding between the two would leave an arm that must go
            if stays or history.stats[UPPER][arm] - self.discard_slack > state[_FLOOR]:
                place += 1
                continue
            state[_COUNT] -= 1.0
            last = _SLOTS + int(state[_COUNT])
            state[_SLOTS + place] = state[last]
            state[last] = 0.0
            if state[_LEADER] == slot:
                state[_LEADER] = 0.0

    def leader_of_pool(self, history: History) -> int:
        """The arm of the pool with the largest mean, of tied ones the one that led before; -1 if none has a reward."""
        state = history.state
        best = -1
        best_mean = -math.inf
        for place in range(int(state[_COUNT])):
            arm = int(state[_SLOTS + place]) - 1
            pulls = history.pulls[arm]
            if pulls > 0:
                mean = history.stats[SUM][arm] / pulls
                if best < 0 or beats(mean, pulls, arm, best_mean, history.pulls[best], best):
                    best = arm
                    best_mean = mean
        before = int(state[_LEADER]) - 1
        if before >= 0 and history.stats[SUM][before] / history.pulls[before] == best_mean:
            best = before
        state[_LEADER] = best + 1.0
        return best

    def useful_target(self, history: History, leader: int) -> float:
        """The least lower bound of the leader that would discard another arm of the pool; infinite if none would.

        To discard a*, the leader must take its place.
        """
        state = history.state
        target = math.inf
        for place in range(int(state[_COUNT])):
            arm = int(state[_SLOTS + place]) - 1
            if arm == leader or history.pulls[arm] == 0:
                continue
            needed = history.stats[UPPER][arm] - self.discard_slack
            if state[_KNOWN] == 1.0 and arm == int(state[_HOLDER]) - 1:
                needed = max(needed, state[_FLOOR])
            target = min(target, needed)
        return target

    def refill_pool(self, history: History, batch: Integers) -> int:
        """Draw fresh arms once the pool is small enough, until it is full; the answer is how many now."""
        state = history.state
        count = int(state[_COUNT])
        if state[_DUE] == 0.0 and count <= self.refill_at and history.arms < self.arms:
            state[_DUE] = float(min(self.pool_size - count, self.arms - history.arms))
            if self.chained:
                state[_KNOWN] = 0.0  # the arm that is left must prove itself anew
        fresh = min(len(batch), int(state[_DUE]))
        for index in range(fresh):
            batch[index] = history.arms + index
            state[_SLOTS + count + index] = history.arms + index + 1.0
        state[_COUNT] += fresh
        state[_DUE] -= fresh
        return fresh

    def strongest_but(self, history: History, leader: int) -> int:
        """The arm of the pool other than the leader with the largest upper bound that may be pulled; -1 if none may."""
        state = history.state
        best = -1
        for place in range(int(state[_COUNT])):
            arm = int(state[_SLOTS + place]) - 1
            pulls = history.pulls[arm]
            if arm == leader or pulls == 0 or not has_room(history, arm, self.family.capacity):
                continue
            if leads_enough(history, arm):
                continue
            bound = history.stats[UPPER][arm]
            if best < 0 or beats(bound, pulls, arm, history.stats[UPPER][best], history.pulls[best], best):
                best = arm
        return best

    def in_slots(self, history: History) -> list[int]:
        """The arms of the pool, with or without a reward; on the host only."""
        return [int(slot) - 1 for slot in history.state[_SLOTS : _SLOTS + int(history.state[_COUNT])]]

    def in_pool(self, history: History) -> list[int]:
        """The arms of the pool that have a reward; on the host only."""
        return [arm for arm in self.in_slots(history) if arm < history.arms and history.pulls[arm] > 0]

    def recommend(self, history: History, memory: Any) -> int:
        """a*; before there is one, the pool's arm of the largest mean."""
        if history.state[_HOLDER] > 0.0:
            return int(history.state[_HOLDER]) - 1
        totals, pulls = history.stats[SUM], history.pulls
        return min(self.in_pool(history), key=lambda arm: (-totals[arm] / pulls[arm], pulls[arm], arm), default=0)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running lower bound; of a discarded arm nothing is remembered."""
        return super().lower_bound(history, memory, arm) if arm in self.in_pool(history) else self.family.lowest

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound; of a discarded arm it is known to be at most L* + slack."""
        if arm in self.in_pool(history):
            return history.stats[UPPER][arm]
        discarded = not self.chained and arm < history.arms and arm not in self.in_slots(history)
        return history.state[_FLOOR] + self.discard_slack if discarded else self.family.highest

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about an arm of the pool now (docs/proofs.md, D.4): the discarded ones are below L* + slack.

        Nothing, where L* is forgotten now and then.
        """
        pool = self.in_pool(history)
        if self.chained or arm not in pool:
            return []
        slots = self.in_slots(history)  # some may have no reward yet, or not even be asked for
        gone = max(history.arms, max(slots) + 1) - len(slots)
        others = [history.stats[UPPER][other] for other in pool if other != arm]
        others += [history.state[_FLOOR] + self.discard_slack] * gone
        others += [math.inf] * (self.arms - 1 - len(others))
        lower = self.lower_bound(history, memory, arm)
        return rank_claims(self.alpha, lower, others, self.draw_level, self.arms, self.pool, self.upper_level)
