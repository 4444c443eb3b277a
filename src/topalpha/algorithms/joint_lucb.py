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

from topalpha.core import SUM, Entry, History, RewardFamily
from topalpha.evidence import gap_grid, gap_upper, log_above, log_below
from topalpha.families import checked
from topalpha.rules import empirical_best, fill_means, query_fresh, settled_leader
from topalpha.theory import arms_joint
from topalpha.tournament import empty_tree, play, rebuild, runner_up
from topalpha.validate import fraction, positive, require

if TYPE_CHECKING:
    from numpy.random import Generator

# The sampling rule and the grids. None of these touches the guarantee; how they were chosen, and how little that is
# worth beyond the rows it was done on, is in docs/reproduction.md.
_FIRST_GAP, _GAP_RATIO = 0.6, 2.0  # gaps below x: .6 epsilon, doubled up to the family's largest, weights 1/gap
_LEADER_GAPS = (0.25, 0.5, 1.0, 2.0)  # gaps above x - epsilon, in units of epsilon
_LEADER_WEIGHTS = (0.2, 0.3, 0.3, 0.2)
_PATIENCE = 0.6  # a leader is registered after .6 variance / epsilon^2 pulls
_LEAD, _CROWD = 1.3, 4.0  # the leader's share of pulls is 1.3 / (1 + sqrt(open challengers / 4))
_CELLS = 16
# Columns of the statistics beside the sum of rewards: the running upper bound; the place j in the order of registration
# (0: not registered); pulls and sum of rewards at registration.
_UPPER, _PLACE, _PULLS_THEN, _SUM_THEN = 1, 2, 3, 4
# Numbers of the state: arms registered, the leader's credit, the time of the next check, the leader's share of pulls,
# and the leader, from 1.
_REGISTERED, _CREDIT, _NEXT_CHECK, _SHARE, _LEADER = 0, 1, 2, 3, 4


class Memory(NamedTuple):
    """Scratch: trees of leaders and challengers, grids, and where the stop condition failed last."""

    ready: MutableSequence[int]
    means: MutableSequence[float]
    leaders: MutableSequence[int]
    challengers: MutableSequence[int]
    gaps: MutableSequence[float]
    log_weights: MutableSequence[float]
    leader_gaps: MutableSequence[float]
    leader_log_weights: MutableSequence[float]
    stack: MutableSequence[int]
    failed: MutableSequence[float]


class JointLUCB(NamedTuple):
    """LUCB with the joint certificate; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, E).
    ``log_draws`` is n ln c, c = 1/(1 - alpha (1 - delta_u)); ``log_leader``, ``log_challengers`` and ``log_both`` are
    ln(w delta) for the three weights.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    log_delta_u: float
    log_draws: float
    log_leader: float
    log_challengers: float
    log_both: float

    @property
    def name(self) -> str:
        """The name it is registered under."""
        return "joint-lucb"

    @property
    def covered(self) -> bool:
        """Whether the proof covers this design: always."""
        return True

    @property
    def columns(self) -> int:
        """The sum of rewards, the running upper bound and what is kept of a registration."""
        return 5

    @property
    def numbers(self) -> int:
        """Arms registered, credit, next check, share, leader."""
        return 5

    @property
    def width(self) -> int:
        """One pull at a time."""
        return 1

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: empty trees and the grids of gaps."""
        unit = self.family.gap_unit(self.epsilon)
        gaps = [_FIRST_GAP * unit, _FIRST_GAP * _GAP_RATIO * unit]
        while gaps[-1] * _GAP_RATIO <= self.family.largest_gap():
            gaps.append(gaps[-1] * _GAP_RATIO)
        leader_gaps = [gap * unit for gap in _LEADER_GAPS]
        if unit == self.epsilon or self.family.highest < math.inf:
            grid = gap_grid(gaps, [1.0 / gap for gap in gaps])
            leader = gap_grid(leader_gaps, _LEADER_WEIGHTS)
        else:  # the scale of the means is unknown: what epsilon is in the family's gaps, too
            grid = gap_grid(gaps, [1.0] * len(gaps))
            while leader_gaps[-1] * _GAP_RATIO <= self.family.largest_gap():
                leader_gaps.append(leader_gaps[-1] * _GAP_RATIO)
            leader = gap_grid(leader_gaps, [1.0] * len(leader_gaps))
        return Memory(
            ready=[0],
            means=[0.0] * arms,
            leaders=empty_tree(arms),
            challengers=empty_tree(arms),
            gaps=grid.gaps,
            log_weights=grid.log_weights,
            leader_gaps=leader.gaps,
            leader_log_weights=leader.log_weights,
            stack=[0] * 128,
            failed=[-math.inf],
        )

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        pulls = history.pulls[arm]
        total = history.stats[SUM][arm]
        before = history.stats[_UPPER][arm] if pulls > 1 else self.family.highest
        if reward < before:  # a reward at or above the bound is evidence for it, against everything below it
            before = gap_upper(self.family, total, pulls, -self.log_delta_u, memory.gaps, memory.log_weights, before)
        history.stats[_UPPER][arm] = before
        if memory.ready[0] == 1:
            memory.means[arm] = total / pulls
            play(memory.leaders, memory.means, history.pulls, arm)
            play(memory.challengers, history.stats[_UPPER], history.pulls, arm)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then leader or challenger, by a credit, until the certificate holds."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if self.arms == 1:
            return 0
        if memory.ready[0] == 0:
            fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
            rebuild(memory.leaders, memory.means, history.pulls, history.arms)
            rebuild(memory.challengers, history.stats[_UPPER], history.pulls, history.arms)
            memory.ready[0] = 1
        leader = settled_leader(memory.leaders[1], memory.means, history.state, _LEADER)
        challenger = runner_up(memory.challengers, history.stats[_UPPER], history.pulls, leader)
        self.register(history, leader)
        if history.t >= history.state[_NEXT_CHECK]:
            history.state[_NEXT_CHECK] = history.t + max(4, history.t // 250)
            if history.stats[_PLACE][leader] > 0.0 and self.certified(history, memory, leader, challenger):
                return 0
            crowd = self.open_above(history, memory, leader, memory.means[leader] + 0.5 * self.epsilon)
            history.state[_SHARE] = _LEAD / (1.0 + math.sqrt(max(crowd, 1) / _CROWD))
        history.state[_CREDIT] += history.state[_SHARE]
        if history.state[_CREDIT] >= 1.0:
            history.state[_CREDIT] -= 1.0
            batch[0] = leader
        else:
            batch[0] = challenger
        return 1

    def register(self, history: History, leader: int) -> None:
        """Register a leader that looks settled: from its next pull on it collects evidence of its own."""
        pulls = history.pulls[leader]
        if history.stats[_PLACE][leader] > 0.0 or pulls < 3:
            return
        total = history.stats[SUM][leader]
        if pulls < _PATIENCE * self.family.spread(total, pulls) / (self.epsilon * self.epsilon):
            return
        history.state[_REGISTERED] += 1.0
        history.stats[_PLACE][leader] = history.state[_REGISTERED]
        history.stats[_PULLS_THEN][leader] = pulls
        history.stats[_SUM_THEN][leader] = total

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
            if arm < 0 or history.stats[_UPPER][arm] <= level:
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
        place = history.stats[_PLACE][leader]
        weight = 0.95 / (place * (place + 1.0)) + 0.05 / self.arms
        pulls = history.pulls[leader] - int(history.stats[_PULLS_THEN][leader])
        total = history.stats[SUM][leader] - history.stats[_SUM_THEN][leader]
        mean = x - self.epsilon
        if mean <= self.family.lowest:
            return math.inf  # no arm's mean is below x - epsilon: no error is possible at this x
        if pulls == 0:
            return math.log(weight)
        return math.log(weight) + log_above(
            self.family, mean, total, pulls, memory.leader_gaps, memory.leader_log_weights
        )

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
        high = history.stats[_UPPER][challenger]
        if high == math.inf or history.pulls[leader] <= history.stats[_PULLS_THEN][leader]:
            return False
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
            while self.log_leader + self.log_leader_evidence(history, memory, leader, low) < 0.0 and step < 1e300:
                edge = low
                step *= 2.0
                low = high - step
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
            if arm < 0 or history.stats[_UPPER][arm] <= left:
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
            total, pulls = history.stats[SUM][arm], history.pulls[arm]
            evidence, _ = log_below(self.family, left, total, pulls, memory.gaps, memory.log_weights)
            challenger_evidence += min(self.log_delta_u + evidence, 0.0)  # D_b <= 1
            if not self.passes(leader_evidence, challenger_evidence):
                return False
        return self.passes(leader_evidence, challenger_evidence)

    def recommend(self, history: History, memory: Any) -> int:
        """The leader: the empirical best arm, of tied ones the one that has led."""
        if history.state[_LEADER] > 0.0:
            return int(history.state[_LEADER]) - 1
        return empirical_best(history.stats[SUM], history.pulls, history.arms)


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardFamily | None = None,
    *,
    delta_u: float = 0.65,
    leader_weight: float = 0.15,
    challenger_weight: float = 0.7,
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
        the rest, w3, is for both together.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    190
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    delta_u = fraction("delta_u", delta_u)
    one, two = fraction("leader_weight", leader_weight), fraction("challenger_weight", challenger_weight)
    require(one + two < 1.0, "leader_weight + challenger_weight", "be less than 1", one + two)
    number = arms_joint(alpha, delta, delta_u, two)
    law = checked(family)
    return JointLUCB(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        log_delta_u=math.log(delta_u),
        log_draws=-number * math.log1p(-alpha * (1.0 - delta_u)),
        log_leader=math.log(one * delta),
        log_challengers=math.log(two * delta),
        log_both=math.log((1.0 - one - two) * delta),
    )


ENTRY = Entry(
    name="joint-lucb",
    design=design,
    guarantee="fixed-confidence",
    reference="LUCB sampling with a joint supermartingale certificate",
    proof="docs/proofs.md, E",
    options={},
)
