"""cc-lucb-streaming: constant-confidence LUCB in one phase, with a pool of a few arms in memory.

Arms are drawn while the pool has room. L* is the largest lower bound that any arm ever had, a* its arm. An arm whose
running upper bound is at most L* + slack is discarded for good. Once n arms were drawn and all but a* are discarded, a*
is returned. This is the stopping rule of cc-lucb with a memory of ``keep`` arms: (alpha, epsilon, delta)-correct for
every reservoir and any sampling rule (docs/field/lucb.md, 3). All decisions are functions of the pool's statistics, of
L* and of a*.
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms import cc_lucb
from topalpha.rules.claims import rank_claims
from topalpha.rules.columns import EXTRA, LOWER, UPPER, ConfidenceBounds
from topalpha.rules.generic import RunningBounds
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Claim, Generator, History, Integers, Traits
from topalpha.rules.ranking import best_by
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import may_pull, query_fresh, write_free
from topalpha.rules.tournament import beats, better
from topalpha.validate import whole

# The state: whether L* is known, L*, a*, the leader, the number of fresh arms due, the size of the pool, and the arms
# of the pool, in no particular order. Arms are counted from 1.
_KNOWN, _FLOOR, _HOLDER, _LEADER, _DUE, _COUNT, _SLOTS = 0, 1, 2, 3, 4, 5, 6


class StreamingLUCB(RunningBounds, Parameters):
    """LUCB on a pool of arms, for cc-lucb-streaming and p2-batched. Correct (docs/field/lucb.md, 2 and 3)."""

    confidence: ConfidenceBounds
    pool_size: int  # fresh arms are drawn up to this number
    refill_at: int  # once so many arms are left
    discard_slack: float  # an arm is discarded once its upper bound is within this of L*
    chained: bool  # L* is reset at every refill
    batched: bool
    draw_level: float  # delta_A
    upper_level: float  # delta_u
    pool: int  # the size of a finite list of candidates, or 0

    @property
    def traits(self) -> Traits:
        """Columns: the sum of rewards, the running bounds and their further columns. State: the pool, L* and a*."""
        name = "p2-batched" if self.batched else "cc-lucb-streaming"
        columns, numbers = EXTRA + self.confidence.extra, _SLOTS + self.pool_size
        return Traits(name, columns=columns, numbers=numbers, width=2, independent=not self.chained)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Discard arms, draw arms if there is room, else pull leader and challenger."""
        leader = self.settle_pool(history, memory)
        fresh = self.refill_pool(history, batch)
        if fresh > 0:
            return fresh
        if history.arms >= self.arms and history.state[_COUNT] == 1.0:
            return 0 if leader >= 0 else WAIT
        return write_free(history, (leader, self.strongest_but(history, leader)), self.family.capacity, batch)

    def settle_pool(self, history: History, memory: Any) -> int:
        """Discard all arms that the bounds allow; return the leader, -1 if no arm has a reward."""
        state = history.state
        while True:
            if state[_KNOWN] == 1.0:
                self.discard_arms(history)
            leader = self.leader_of_pool(history)
            target = self.useful_target(history, leader)
            # one evaluation decides whether the bound discards an arm; only then is it computed
            if target == math.inf or not self.confidence.reaches(history, memory.lookup, leader, target):
                return leader
            state[_FLOOR] = max(target, self.confidence.lower_now(history, memory.lookup, leader))
            state[_HOLDER] = leader + 1.0
            state[_KNOWN] = 1.0
            history.stats[LOWER][leader] = state[_FLOOR]

    def discard_arms(self, history: History) -> None:
        """Discard every arm except a* whose running upper bound is at most L* + slack."""
        state = history.state
        place = 0
        while place < state[_COUNT]:
            slot = state[_SLOTS + place]
            arm = int(slot) - 1
            stays = slot == state[_HOLDER] or history.pulls[arm] == 0
            # the same expression as in useful_target: a rounding difference would keep an arm that must go
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
        """The arm of the pool with the largest mean (ties go to the previous leader); -1 if none has a reward."""
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
        """The least lower bound with which the leader discards an arm, or replaces and discards a*; else infinite."""
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
        """Draw fresh arms once the pool is small enough, until it is full; return how many now."""
        state = history.state
        count = int(state[_COUNT])
        if state[_DUE] == 0.0 and count <= self.refill_at and history.arms < self.arms:
            state[_DUE] = float(min(self.pool_size - count, self.arms - history.arms))
            if self.chained:
                state[_KNOWN] = 0.0  # the bound of the remaining arm starts anew
        fresh = query_fresh(history.arms, history.arms + int(state[_DUE]), batch)
        for index in range(fresh):
            state[_SLOTS + count + index] = batch[index] + 1.0
        state[_COUNT] += fresh
        state[_DUE] -= fresh
        return fresh

    def strongest_but(self, history: History, leader: int) -> int:
        """The arm of the pool, except the leader, of largest upper bound that may be pulled; -1 if there is none."""
        best = -1
        for place in range(int(history.state[_COUNT])):
            arm = int(history.state[_SLOTS + place]) - 1
            if arm != leader and history.pulls[arm] > 0 and may_pull(history, arm, self.family.capacity):
                best = better(best, arm, history.stats[UPPER], history.pulls)
        return best

    def in_slots(self, history: History) -> list[int]:
        """The arms of the pool, with or without a reward; on the host only."""
        return [int(slot) - 1 for slot in history.state[_SLOTS : _SLOTS + int(history.state[_COUNT])]]

    def in_pool(self, history: History) -> list[int]:
        """The arms of the pool that have a reward; on the host only."""
        return [arm for arm in self.in_slots(history) if arm < history.arms and history.pulls[arm] > 0]

    def recommend(self, history: History, memory: Any) -> int:
        """a*; if there is none yet, the pool's arm of largest mean."""
        if history.state[_HOLDER] > 0.0:
            return int(history.state[_HOLDER]) - 1
        totals, pulls = history.stats[SUM], history.pulls
        return best_by(lambda arm: totals[arm] / pulls[arm], self.in_pool(history), pulls, 0)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running lower bound; nothing is known about a discarded arm."""
        return super().lower_bound(history, memory, arm) if arm in self.in_pool(history) else self.family.lowest

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound; for a discarded arm, L* + slack."""
        if arm in self.in_pool(history):
            return history.stats[UPPER][arm]
        discarded = not self.chained and arm < history.arms and arm not in self.in_slots(history)
        return history.state[_FLOOR] + self.discard_slack if discarded else self.family.highest

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """The claims about an arm of the pool (docs/proofs.md, D.4); none if L* is reset at refills."""
        pool = self.in_pool(history)
        if self.chained or arm not in pool:
            return []
        slots = self.in_slots(history)  # some may have no reward yet, or no pull
        gone = max(history.arms, max(slots) + 1) - len(slots)
        others = [history.stats[UPPER][other] for other in pool if other != arm]
        others += [history.state[_FLOOR] + self.discard_slack] * gone
        others += [math.inf] * (self.arms - 1 - len(others))
        lower = self.lower_bound(history, memory, arm)
        return rank_claims(self.alpha, lower, others, self.draw_level, self.arms, self.pool, self.upper_level)


@algorithm(
    "cc-lucb-streaming",
    "cc-lucb in one phase, with a bounded pool of arms",
    "docs/field/lucb.md, 3",
    options=cc_lucb.BOUNDS,
    models=cc_lucb.MODELS,
)
def design(
    target: Target,
    *,
    keep: int = 32,
    bounds: str = "tilt",
    delta_u: float | None = None,
    draw_share: float = 0.9,
    pool: int = 0,
) -> StreamingLUCB:
    """Constant-confidence LUCB with ``keep`` arms in memory, at least 2; other options as for cc-lucb.

    Examples
    --------
    >>> made = design(0.05, 0.05, 0.05, keep=8)
    >>> made.arms, made.traits.numbers
    (114, 14)
    """
    keep = whole("keep", keep, 2)
    base = cc_lucb.parameters(target, bounds, delta_u, draw_share, pool)._asdict()
    slack = target.epsilon
    return StreamingLUCB(**base, pool_size=keep, refill_at=keep - 1, discard_slack=slack, chained=False, batched=False)
