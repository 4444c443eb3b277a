"""The joint stopping rule: the evidence of the leader and of the challengers, joined (docs/proofs.md, E).

``rule`` is an algorithm with the fields of :class:`topalpha.algorithms.joint_lucb.JointLUCB`. The evidence from drawing
the arms, n ln c, is the argument ``log_draws``, because not every algorithm knows n in advance.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.arithmetic import exp, log
from topalpha.rules.columns import ASKED_THEN, PLACE, PULLS_THEN, UPPER
from topalpha.rules.protocol import SUM, WAIT, History
from topalpha.rules.sampling import fill_means, has_room, leads_blindly, next_challenger, told_leader
from topalpha.rules.tournament import empty_tree, play, rebuild

#: Entries of ``History.state``: number of registered arms, the leader's credit, the time of the next check, the
#: leader's share of pulls, and the leader, counted from 1. Further entries start at ``STATE``.
REGISTERED, CREDIT, NEXT_CHECK, SHARE, LEADER, STATE = 0, 1, 2, 3, 4, 5

# Constants of the sampling rule. The guarantee does not depend on them; docs/reproduction.md says how they were chosen.
_PATIENCE = 0.6  # a leader is registered after .6 variance / epsilon^2 pulls
_IN_FLIGHT = 2.0  # with pulls in flight: once 2 variance / epsilon^2 of its pulls are asked for
_LEAD, _CROWD = 1.3, 4.0  # the leader's share of pulls is 1.3 / (1 + sqrt(open challengers / 4))
_CELLS = 16
# If the family has no lowest mean, the bound from the leader's evidence is searched this many epsilons down.
_FARTHEST = 2.0**40


class JointMemory(NamedTuple):
    """Scratch: trees of leaders and challengers, tables, and the point x where the stop condition is tried first.

    ``kept`` is each arm's evidence at that point, computed when the arm had ``kept_at`` pulls.
    """

    ready: MutableSequence[int]
    means: MutableSequence[float]
    leaders: MutableSequence[int]
    challengers: MutableSequence[int]
    lookup: Any
    stack: MutableSequence[int]
    suspect: MutableSequence[float]
    kept: MutableSequence[float]
    kept_at: MutableSequence[int]


def fresh_memory(rule: Any, arms: int) -> JointMemory:
    """Empty trees and the tables of the evidence; on the host only."""
    return JointMemory(
        ready=[0],
        means=[0.0] * arms,
        leaders=empty_tree(arms),
        challengers=empty_tree(arms),
        lookup=rule.evidence.tables(),
        stack=[0] * 128,
        suspect=[-math.inf],
        kept=[0.0] * arms,
        kept_at=[0] * arms,
    )


def fold_reward(rule: Any, history: History, memory: Any, arm: int, reward: float) -> None:
    """Update N_a, the sum and the running upper bound of the arm, and the trees if they are up to date."""
    history.pulls[arm] += 1
    history.stats[SUM][arm] += reward
    rule.evidence.fold(history, memory.lookup, arm, reward)
    if history.stats[PLACE][arm] > 0.0 and history.pulls[arm] <= history.stats[ASKED_THEN][arm]:
        rule.evidence.enroll(history, arm)  # the pull was asked for before registration
    if memory.ready[0] == 1:
        memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
        play(memory.leaders, memory.means, history.pulls, arm)
        play(memory.challengers, history.stats[UPPER], history.pulls, arm)


def recall(history: History, memory: Any, seen: int) -> None:
    """Bring the trees up to date with the history; the first ``seen`` arms have a reward."""
    fill_means(memory.means, history.stats[SUM], history.pulls, seen)
    rebuild(memory.leaders, memory.means, history.pulls, seen)
    rebuild(memory.challengers, history.stats[UPPER], history.pulls, seen)
    memory.ready[0] = 1


def seen_arms(history: History) -> int:
    """The number of arms with a reward: rewards count in the order of all pulls, so arms without one come last."""
    seen = history.arms
    while seen > 0 and history.pulls[seen - 1] == 0:
        seen -= 1
    return seen


def check_due(history: History) -> bool:
    """Whether the stop condition is due for a check; if so, set the time of the next check."""
    if history.t < history.state[NEXT_CHECK]:
        return False
    history.state[NEXT_CHECK] = history.t + max(4, history.t // 250)
    return True


def update_share(rule: Any, history: History, memory: Any, leader: int) -> None:
    """Set the leader's share of pulls from the number of challengers open half an epsilon above its mean."""
    crowd = open_above(history, memory, leader, memory.means[leader] + 0.5 * rule.epsilon)
    history.state[SHARE] = _LEAD / (1.0 + math.sqrt(max(crowd, 1) / _CROWD))


def leader_or_challenger(
    rule: Any,
    history: History,
    memory: Any,
    leader: int,
    challenger: int,
    log_draws: float,
    batch: MutableSequence[int],
) -> int:
    """The plan: pull the leader as often as its share says, else the challenger."""
    history.state[CREDIT] += history.state[SHARE]
    if history.in_flight > 0:
        register_tied(rule, history, memory, leader)
        leader = told_leader(history, leader)  # for sampling only; the recommendation does not change
        challenger = next_challenger(history, history.stats[UPPER], leader, rule.family.capacity, challenger)
    lead = history.state[CREDIT] >= 1.0
    if lead:
        history.state[CREDIT] -= 1.0
    first = leader if lead and not leads_blindly(history, leader) else challenger
    if not has_room(history, first, rule.family.capacity):
        first = leader if first == challenger else challenger
    batch[0] = first
    if has_room(history, first, rule.family.capacity):
        return 1
    # Leader and challenger are exhausted: only pulls in flight can change the evidence.
    settled = history.in_flight == 0 and certificate(rule, history, memory, leader, challenger, log_draws)
    return 0 if settled else WAIT


def register(rule: Any, history: History, leader: int) -> None:
    """Register a leader that looks settled: pulls asked for later are its own evidence.

    Pulls in flight are not: that they have not come back yet may depend on their rewards.
    """
    pulls = history.pulls[leader]
    asked, patience = pulls, _PATIENCE
    if history.in_flight > 0:
        asked, patience = pulls + history.pending[leader], _IN_FLIGHT
    if history.stats[PLACE][leader] > 0.0 or asked < min(3, rule.family.capacity):
        return
    patience *= rule.evidence.noise(history, leader) / (rule.epsilon * rule.epsilon)
    if asked < patience and pulls < rule.family.capacity:
        return
    history.state[REGISTERED] += 1.0
    history.stats[PLACE][leader] = history.state[REGISTERED]
    history.stats[ASKED_THEN][leader] = asked
    rule.evidence.enroll(history, leader)


def register_tied(rule: Any, history: History, memory: Any, leader: int) -> None:
    """With pulls in flight, also register arms that were pulled often and look as good as the leader.

    While rewards wait to be counted, several arms have a perfect record, and any of them may turn out to lead.
    Registration uses only the rewards that count and the number of pulls asked for.
    """
    for arm in range(history.arms):
        if history.pending[arm] > 0 and memory.means[arm] >= memory.means[leader]:
            register(rule, history, arm)


def open_above(history: History, memory: Any, leader: int, level: float) -> int:
    """The number of challengers whose upper bound exceeds ``level``."""
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


def leader_evidence(rule: Any, history: History, memory: Any, leader: int, x: float) -> float:
    """ln(v_j M_j(x)): evidence, since registration, that the leader's mean exceeds x - epsilon."""
    place = history.stats[PLACE][leader]
    weight = 0.95 / (place * (place + 1.0)) + 0.05 / rule.arms
    mean = x - rule.epsilon
    if mean <= rule.family.lowest:
        return math.inf  # no arm's mean is below x - epsilon: no error is possible at this x
    own: float = rule.evidence.evidence_above(history, memory.lookup, leader, mean)
    return log(weight) + own


def joined(rule: Any, leader: float, challengers: float) -> bool:
    """w1 v M + w2 C + w3 v M C >= 1/delta, in logs."""
    one = rule.log_leader + leader
    two = rule.log_challengers + challengers
    three = rule.log_both + leader + challengers
    largest = max(one, two, three)
    if largest >= 0.0:
        return True
    if largest < -1.0986122886681098:  # -ln 3: even three equal terms would fall short
        return False
    return exp(one) + exp(two) + exp(three) >= 1.0


def certificate(rule: Any, history: History, memory: Any, leader: int, challenger: int, log_draws: float) -> bool:
    """Whether the stop condition holds for every x, cell by cell."""
    high = history.stats[UPPER][challenger]
    if high == math.inf:
        return False
    if history.pulls[leader] <= history.stats[PULLS_THEN][leader] and history.pulls[leader] < rule.family.capacity:
        return False  # no reward since registration
    low = rule.family.lowest + rule.epsilon
    # If the condition fails at one point, it fails on the cell around it: begin with a point where it likely fails.
    if low < memory.suspect[0] < high and not cell_certificate(
        rule, history, memory, leader, memory.suspect[0], memory.suspect[0], log_draws
    ):
        return False
    if high <= low or rule.log_leader + leader_evidence(rule, history, memory, leader, high) >= 0.0:
        return True
    # The largest x that the leader's own evidence covers, from below.
    edge = high
    if low == -math.inf:
        step = rule.epsilon
        low = high - step
        while rule.log_leader + leader_evidence(rule, history, memory, leader, low) < 0.0:
            edge = low
            step *= 2.0
            low = high - step
            if step > _FARTHEST * rule.epsilon:
                return False  # the leader has too few rewards to exclude even means this far below
    for _ in range(30):
        middle = 0.5 * (low + edge)
        if rule.log_leader + leader_evidence(rule, history, memory, leader, middle) >= 0.0:
            low = middle
        else:
            edge = middle
        if edge - low < 1e-3 * rule.epsilon:
            break
    width = (high - low) / _CELLS
    for cell in range(_CELLS):
        left = low + cell * width
        right = high if cell == _CELLS - 1 else low + (cell + 1) * width
        if not cell_certificate(rule, history, memory, leader, left, right, log_draws):
            # The next check begins well above this cell, where the leader has less evidence and fails for longer.
            suspect_at(memory, 0.5 * (left + high))
            return False
    return True


def suspect_at(memory: Any, x: float) -> None:
    """Try the stop condition at x first from now on, and discard the evidence kept for another point."""
    memory.suspect[0] = x
    for arm in range(len(memory.kept_at)):
        memory.kept_at[arm] = 0


def kept_evidence(rule: Any, history: History, memory: Any, arm: int, x: float) -> float:
    """The arm's evidence at x; at the point that is tried first, it is computed once per reward."""
    if x != memory.suspect[0]:
        fresh: float = rule.evidence.evidence_below(history, memory.lookup, arm, x)
        return fresh
    if memory.kept_at[arm] != history.pulls[arm]:
        memory.kept[arm] = rule.evidence.evidence_below(history, memory.lookup, arm, x)
        memory.kept_at[arm] = history.pulls[arm]
    kept: float = memory.kept[arm]
    return kept


def cell_certificate(
    rule: Any, history: History, memory: Any, leader: int, left: float, right: float, log_draws: float
) -> bool:
    """The stop condition on [left, right]: M decreases and C increases with x."""
    own = leader_evidence(rule, history, memory, leader, right)
    others = log_draws
    winner = memory.challengers
    memory.stack[0] = 1
    height = 1
    while height > 0:
        height -= 1
        node = memory.stack[height]
        arm = winner[node]
        if arm < 0 or history.stats[UPPER][arm] <= left:
            continue  # D_b = 1 for all arms below this node
        if 2 * node < len(winner):
            # The largest bounds first: they have the least evidence, so a cell that fails does so early.
            first = 2 * node if winner[2 * node] == arm else 2 * node + 1
            memory.stack[height] = first ^ 1
            memory.stack[height + 1] = first
            height += 2
            continue
        if arm == leader:
            continue
        evidence = kept_evidence(rule, history, memory, arm, left)
        others += min(rule.log_delta_u + evidence, 0.0)  # D_b <= 1
        if not joined(rule, own, others):
            return False
    return joined(rule, own, others)
