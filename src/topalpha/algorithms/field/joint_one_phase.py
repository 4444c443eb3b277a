"""joint-one-phase: the joint stopping rule with arms drawn as needed, not all in advance.

joint-lucb first draws the n arms that give challengers enough evidence for every x above all upper bounds, then
searches among them. But a draw is an event of the proof like any other, so the number of arms may depend on the
rewards; and if the leader's mean is close enough to the highest possible mean, its own evidence covers these x. Here
arms are drawn one by one, and the best of them is tried on the way. Once proving it alone looks cheaper than drawing
the remaining arms, it is pulled instead. (alpha, epsilon, delta)-correct for every reservoir and any sampling rule
(docs/field/one_phase.md).
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms import joint_lucb
from topalpha.arithmetic import expm1, log, log1p
from topalpha.rules.columns import AFTER, PLACE
from topalpha.rules.joint_stop import REGISTERED, STATE, certificate, joined, leader_evidence, recall, seen_arms
from topalpha.rules.protocol import WAIT, Generator, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import may_pull

# Constants of the sampling rule. The guarantee does not depend on them; docs/field/one_phase.md, 3, has the choice.
_FIRST = 4  # arms drawn before anything is decided
_PROBE = 0.25  # pulls of the best arm per fresh arm, while it might be proved alone
_CAUTION = 0.25  # its mean is lowered by this many standard errors
_PULLS_PER_ARM = 3.0  # estimated pulls of an arm not yet drawn
# The entry of the state beyond those of joint-lucb: the best arm's credit while arms are drawn.
_TRIAL = STATE


class JointOnePhase(joint_lucb.JointRules):
    """The joint stop with lazy draws; build it with :func:`design`. Correct (docs/field/one_phase.md)."""

    log_draw: float  # ln c for one arm; at most ``arms`` are drawn

    @property
    def traits(self) -> Traits:
        """Columns and state of joint-lucb, and one more credit. Rewards count in the order of all pulls."""
        return Traits("joint-one-phase", columns=AFTER + self.evidence.extra, numbers=STATE + 1, global_order=True)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Draw arms and try the best of them, until it is pulled alone or all are drawn; then as joint-lucb."""
        drawing = history.arms < self.arms
        seen = seen_arms(history)
        if drawing and seen < _FIRST:
            batch[0] = history.arms
            return 1
        if not drawing and seen < history.arms:
            return WAIT
        if memory.ready[0] == 0:
            recall(history, memory, seen)
        if self.arms == 1:
            return 0
        pair = self.contenders(history, memory)
        leader = pair[0]
        alone = drawing and self.better_alone(history, memory, leader, seen)
        if (alone or not drawing) and self.stopping(history, memory, pair):
            return 0
        if not drawing:
            return self.sampling(history, memory, rng, pair, batch)
        if not alone and self.rate_at_top(history, memory, leader, 0.0) > 0.0:
            history.state[_TRIAL] += _PROBE
            if history.state[_TRIAL] >= 1.0:
                history.state[_TRIAL] -= 1.0
                alone = True
        batch[0] = leader if alone and may_pull(history, leader, self.family.capacity) else history.arms
        return 1

    def rate_at_top(self, history: History, memory: Any, leader: int, caution: float) -> float:
        """About what a pull of the leader adds to ln M at the highest x; 0 if its mean is at most that - epsilon."""
        noise = self.evidence.noise(history, leader)
        mean = memory.means[leader] - caution * math.sqrt(noise / history.pulls[leader])
        gap = mean - (self.family.highest - self.epsilon)
        return gap * gap / (2.0 * noise) if gap > 0.0 else 0.0

    def better_alone(self, history: History, memory: Any, leader: int, seen: int) -> bool:
        """Whether the leader's own evidence at the highest x looks cheaper than the arms not yet drawn."""
        rate = self.rate_at_top(history, memory, leader, _CAUTION)
        if rate == 0.0:
            return False
        if history.stats[PLACE][leader] > 0.0:
            own = leader_evidence(self, history, memory, leader, self.family.highest)
        else:  # its future weight
            place = history.state[REGISTERED] + 1.0
            own = -log(place * (place + 1.0))
        missing = -self.log_both - own - seen * self.log_draw
        return missing < rate * _PULLS_PER_ARM * (self.arms - seen)

    def proved(self, history: History, memory: Any, leader: int, challenger: int) -> bool:
        """Whether the stop condition holds for every x, with the arms seen so far."""
        if history.stats[PLACE][leader] == 0.0:
            return False
        seen = seen_arms(history)
        if seen == self.arms:  # n is such that w2 c^n suffices above all upper bounds
            return certificate(self, history, memory, leader, challenger, self.log_draws)
        # Above all upper bounds C is c^n, and M is least at the highest x; without a highest x, M does not help.
        log_draws = seen * self.log_draw
        own = -math.inf
        if self.family.highest < math.inf:
            own = leader_evidence(self, history, memory, leader, self.family.highest)
        return joined(self, own, log_draws) and certificate(self, history, memory, leader, challenger, log_draws)


@algorithm(
    "joint-one-phase",
    "joint-lucb that decides itself when to draw the next arm",
    "docs/field/one_phase.md",
    models=("pass-fail", "graded", "low-variance"),
    joint=True,
)
def design(
    target: Target, *, delta_u: float = 0.65, leader_weight: float = 0.15, challenger_weight: float = 0.7
) -> JointOnePhase:
    """The joint stop with arms drawn as needed; options as for joint-lucb, but no pool: its draws must be fixed.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms  # at most
    193
    """
    base = joint_lucb.design(*target, delta_u=delta_u, leader_weight=leader_weight, challenger_weight=challenger_weight)
    return JointOnePhase(**base._asdict(), log_draw=-log1p(-base.alpha * -expm1(base.log_delta_u)))
