"""joint-lucb: the leader's and the challengers' evidence joined in one supermartingale.

Separate intervals waste evidence: the leader's lower bound and every challenger's upper bound must hold at their own
levels. Here one statement is tested instead, "the top-alpha quantile is x and the leader's mean is below x - epsilon",
for every x at once, by the product of what the leader and the challengers say about that x. Guarantee:
(alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, E).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.joint_claims import joint_claims, leader_lower
from topalpha.claims import FIRST_SHARE
from topalpha.confidence import evidence_for
from topalpha.confidence.base import AFTER, ASKED_THEN, PLACE, PULLS_THEN, UPPER, JointEvidence
from topalpha.core import SUM, WAIT, Claim, Entry, History, Traits
from topalpha.families import checked_model
from topalpha.rewards import RewardModel
from topalpha.rules import (
    empirical_best,
    fill_means,
    has_room,
    leads_blindly,
    next_challenger,
    query_fresh,
    settled_leader,
    told_leader,
    unseen,
)
from topalpha.theory import arms_joint
from topalpha.theory.pool import arms_of_pool, log_all_fail
from topalpha.tournament import empty_tree, play, rebuild, runner_up
from topalpha.validate import fraction, positive, require, whole

if TYPE_CHECKING:
    from numpy.random import Generator

# The sampling rule. None of these touches the guarantee; how they were chosen, and how little that is worth beyond the
# rows it was done on, is in docs/reproduction.md.
_PATIENCE = 0.6  # a leader is registered after .6 variance / epsilon^2 pulls
_IN_FLIGHT = 2.0  # with pulls in flight, once 2 variance / epsilon^2 of its pulls are asked for, back or not
_LEAD, _CROWD = 1.3, 4.0  # the leader's share of pulls is 1.3 / (1 + sqrt(open challengers / 4))
_CELLS = 16
# Where means have no lowest value, what the leader's evidence excludes is looked for this many epsilons down.
_FARTHEST = 2.0**40
# Numbers of the state: arms registered, the leader's credit, the time of the next check, the leader's share of pulls,
# and the leader, from 1.
_REGISTERED, _CREDIT, _NEXT_CHECK, _SHARE, _LEADER = 0, 1, 2, 3, 4


class Memory(NamedTuple):
    """Scratch: trees of leaders and challengers, what evidence looks up, and where the stop condition failed last."""

    ready: MutableSequence[int]
    means: MutableSequence[float]
    leaders: MutableSequence[int]
    challengers: MutableSequence[int]
    lookup: Any
    stack: MutableSequence[int]
    failed: MutableSequence[float]


class JointLUCB(NamedTuple):
    """LUCB with the joint certificate; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, E).
    ``log_draws`` is n ln c, c = 1/(1 - alpha (1 - delta_u)); ``log_leader``, ``log_challengers`` and ``log_both`` are
    ln(.95 w delta) for the three weights. ``pool`` is the size of a finite list, or 0.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardModel
    evidence: JointEvidence
    log_delta_u: float
    log_draws: float
    log_leader: float
    log_challengers: float
    log_both: float
    pool: int

    @property
    def traits(self) -> Traits:
        """Columns: the sum, the running upper bound, registrations, evidence. Rewards count in the order of all pulls.

        State: arms registered, credit, next check, share, leader. For the order see docs/proofs.md, E.2.
        """
        return Traits("joint-lucb", columns=AFTER + self.evidence.extra, numbers=5, width=1, global_order=True)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: empty trees and the tables of the evidence."""
        return Memory(
            ready=[0],
            means=[0.0] * arms,
            leaders=empty_tree(arms),
            challengers=empty_tree(arms),
            lookup=self.evidence.tables(),
            stack=[0] * 128,
            failed=[-math.inf],
        )

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        self.evidence.fold(history, memory.lookup, arm, reward)
        if history.stats[PLACE][arm] > 0.0 and history.pulls[arm] <= history.stats[ASKED_THEN][arm]:
            self.evidence.enroll(history, arm)  # this pull was asked for before the arm was registered
        if memory.ready[0] == 1:
            memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
            play(memory.leaders, memory.means, history.pulls, arm)
            play(memory.challengers, history.stats[UPPER], history.pulls, arm)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then leader or challenger, by a credit, until the certificate holds."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
            rebuild(memory.leaders, memory.means, history.pulls, history.arms)
            rebuild(memory.challengers, history.stats[UPPER], history.pulls, history.arms)
            memory.ready[0] = 1
        if self.arms == 1:
            return 0
        leader = settled_leader(memory.leaders[1], memory.means, history.state, _LEADER)
        challenger = runner_up(memory.challengers, history.stats[UPPER], history.pulls, leader)
        self.register(history, leader)
        if history.t >= history.state[_NEXT_CHECK]:
            history.state[_NEXT_CHECK] = history.t + max(4, history.t // 250)
            if history.stats[PLACE][leader] > 0.0 and self.certified(history, memory, leader, challenger):
                return 0
            crowd = self.open_above(history, memory, leader, memory.means[leader] + 0.5 * self.epsilon)
            history.state[_SHARE] = _LEAD / (1.0 + math.sqrt(max(crowd, 1) / _CROWD))
        history.state[_CREDIT] += history.state[_SHARE]
        if history.in_flight > 0:
            self.register_tied(history, memory, leader)
            leader = told_leader(history, leader)  # to pull; the one that is returned is the one that counts
            challenger = next_challenger(history, history.stats[UPPER], leader, self.family.capacity, challenger)
        lead = history.state[_CREDIT] >= 1.0
        if lead:
            history.state[_CREDIT] -= 1.0
        first = leader if lead and not leads_blindly(history, leader) else challenger
        if not has_room(history, first, self.family.capacity):
            first = leader if first == challenger else challenger
        batch[0] = first
        if has_room(history, first, self.family.capacity):
            return 1
        # Leader and challenger are exhausted: whatever comes back may settle it, and if nothing will, it is settled.
        settled = history.in_flight == 0 and self.certified(history, memory, leader, challenger)
        return 0 if settled else WAIT

    def register(self, history: History, leader: int) -> None:
        """Register a leader that looks settled: pulls that are asked for from now on are evidence of its own.

        Those in flight are not: that they have not come back yet may say something about their rewards.
        """
        pulls = history.pulls[leader]
        asked, patience = pulls, _PATIENCE
        if history.in_flight > 0:
            asked, patience = pulls + history.pending[leader], _IN_FLIGHT
        if history.stats[PLACE][leader] > 0.0 or asked < min(3, self.family.capacity):
            return
        patience *= self.evidence.noise(history, leader) / (self.epsilon * self.epsilon)
        if asked < patience and pulls < self.family.capacity:
            return
        history.state[_REGISTERED] += 1.0
        history.stats[PLACE][leader] = history.state[_REGISTERED]
        history.stats[ASKED_THEN][leader] = asked
        self.evidence.enroll(history, leader)

    def register_tied(self, history: History, memory: Any, leader: int) -> None:
        """With pulls in flight, register also those that are asked for often and look as good as the leader.

        While rewards wait to be counted several arms have a perfect record, and any may turn out to lead. Like every
        registration this rests on the rewards that count and on how many pulls were asked for.
        """
        for arm in range(history.arms):
            if history.pending[arm] > 0 and memory.means[arm] >= memory.means[leader]:
                self.register(history, arm)

    def open_above(self, history: History, memory: Any, leader: int, level: float) -> int:
        """How many challengers have an upper bound above ``level``."""
        winner = memory.challengers
        count = 0
        memory.stack[0] = 1
        height = 1
        while height > 0:
            height -= 1
            node = memory.stack[height]
            arm = winner[node]
            if arm < 0 or history.stats[UPPER][arm] <= level:
                continue
            if 2 * node >= len(winner):
                if arm != leader:
                    count += 1
                continue
            memory.stack[height] = 2 * node
            memory.stack[height + 1] = 2 * node + 1
            height += 2
        return count

    def log_leader_evidence(self, history: History, memory: Any, leader: int, x: float) -> float:
        """ln(v_j M_j(x)): evidence, since registration, that the leader's mean exceeds x - epsilon."""
        place = history.stats[PLACE][leader]
        weight = 0.95 / (place * (place + 1.0)) + 0.05 / self.arms
        mean = x - self.epsilon
        if mean <= self.family.lowest:
            return math.inf  # no arm's mean is below x - epsilon: no error is possible at this x
        return math.log(weight) + self.evidence.evidence_above(history, memory.lookup, leader, mean)

    def passes(self, leader_evidence: float, challenger_evidence: float) -> bool:
        """w1 v M + w2 C + w3 v M C >= 1/delta, in logs."""
        one = self.log_leader + leader_evidence
        two = self.log_challengers + challenger_evidence
        three = self.log_both + leader_evidence + challenger_evidence
        largest = max(one, two, three)
        if largest >= 0.0:
            return True
        if largest < -1.0986122886681098:  # -ln 3: even three equal terms would fall short
            return False
        return math.exp(one) + math.exp(two) + math.exp(three) >= 1.0

    def certified(self, history: History, memory: Any, leader: int, challenger: int) -> bool:
        """Whether the stop condition holds for every x, cell by cell."""
        high = history.stats[UPPER][challenger]
        if high == math.inf:
            return False
        if history.pulls[leader] <= history.stats[PULLS_THEN][leader] and history.pulls[leader] < self.family.capacity:
            return False  # no evidence of its own yet
        low = self.family.lowest + self.epsilon
        # Where the condition fails at one point it fails on the cell around it; it mostly fails where it failed before.
        if low < memory.failed[0] < high and not self.cell_passes(
            history, memory, leader, memory.failed[0], memory.failed[0]
        ):
            return False
        if high <= low or self.log_leader + self.log_leader_evidence(history, memory, leader, high) >= 0.0:
            return True
        # The largest x that the leader's own evidence covers, from below.
        edge = high
        if low == -math.inf:
            step = self.epsilon
            low = high - step
            while self.log_leader + self.log_leader_evidence(history, memory, leader, low) < 0.0:
                edge = low
                step *= 2.0
                low = high - step
                if step > _FARTHEST * self.epsilon:
                    return False  # nothing that is so far off is told apart: the leader has too few rewards yet
        for _ in range(30):
            middle = 0.5 * (low + edge)
            if self.log_leader + self.log_leader_evidence(history, memory, leader, middle) >= 0.0:
                low = middle
            else:
                edge = middle
            if edge - low < 1e-3 * self.epsilon:
                break
        width = (high - low) / _CELLS
        for cell in range(_CELLS):
            left = low + cell * width
            right = high if cell == _CELLS - 1 else low + (cell + 1) * width
            if not self.cell_passes(history, memory, leader, left, right):
                memory.failed[0] = 0.5 * (left + right)
                return False
        return True

    def cell_passes(self, history: History, memory: Any, leader: int, left: float, right: float) -> bool:
        """The stop condition on [left, right]: M decreases and C increases with x."""
        leader_evidence = self.log_leader_evidence(history, memory, leader, right)
        challenger_evidence = self.log_draws
        winner = memory.challengers
        memory.stack[0] = 1
        height = 1
        while height > 0:
            height -= 1
            node = memory.stack[height]
            arm = winner[node]
            if arm < 0 or history.stats[UPPER][arm] <= left:
                continue  # D_b = 1 here and below
            if 2 * node < len(winner):
                # The largest bounds first: they say least, so that a cell which fails fails early.
                first = 2 * node if winner[2 * node] == arm else 2 * node + 1
                memory.stack[height] = first ^ 1
                memory.stack[height + 1] = first
                height += 2
                continue
            if arm == leader:
                continue
            evidence = self.evidence.evidence_below(history, memory.lookup, arm, left)
            challenger_evidence += min(self.log_delta_u + evidence, 0.0)  # D_b <= 1
            if not self.passes(leader_evidence, challenger_evidence):
                return False
        return self.passes(leader_evidence, challenger_evidence)

    def recommend(self, history: History, memory: Any) -> int:
        """The leader: the empirical best arm, of tied ones the one that has led."""
        if history.state[_LEADER] > 0.0:
            return int(history.state[_LEADER]) - 1
        return empirical_best(history.stats[SUM], history.pulls, history.arms)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """What the arm's own evidence proves, if it is registered."""
        return leader_lower(self, history, memory, arm)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound, at level delta_u."""
        return history.stats[UPPER][arm]

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now, for the target's alpha and for larger ones (docs/proofs.md, E.6)."""
        return joint_claims(self, history, arm)


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    delta_u: float = 0.65,
    leader_weight: float = 0.15,
    challenger_weight: float = 0.7,
    pool: int = 0,
) -> JointLUCB:
    """LUCB with the joint certificate.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        The reward family, Bernoulli by default.
    delta_u
        How sure each challenger's evidence must be, on its own, to count in full: constant, whatever delta is.
    leader_weight, challenger_weight
        w1 and w2, the shares of the certificate that rest on the leader's evidence alone and on the challengers' alone;
        the rest, w3, is for both together. A twentieth of delta pays for what can be said about larger alphas before
        the stop.
    pool
        The size of a finite list of candidates that arms are drawn from without replacement; 0 for an endless pool.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    193
    >>> design(0.05, 0.05, 0.05, pool=100).arms
    100
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    delta_u = fraction("delta_u", delta_u)
    one, two = fraction("leader_weight", leader_weight), fraction("challenger_weight", challenger_weight)
    require(one + two < 1.0, "leader_weight + challenger_weight", "be less than 1", one + two)
    share = FIRST_SHARE * delta
    pool = whole("pool", pool, 0)
    if pool > 0:
        number, delta_u = arms_of_pool(pool, alpha, two * share, delta_u)
    else:
        number = arms_joint(alpha, share, delta_u, two)
    law = checked_model(family)
    return JointLUCB(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        evidence=evidence_for(law, epsilon, -math.log(delta_u)),
        log_delta_u=math.log(delta_u),
        log_draws=-log_all_fail(pool, alpha, number, delta_u),
        log_leader=math.log(one * share),
        log_challengers=math.log(two * share),
        log_both=math.log((1.0 - one - two) * share),
        pool=pool,
    )


ENTRY = Entry(
    name="joint-lucb",
    design=design,
    guarantee="fixed-confidence",
    reference="LUCB sampling with a joint supermartingale certificate",
    proof="docs/proofs.md, E",
    options={},
)
