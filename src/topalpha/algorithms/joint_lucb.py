"""joint-lucb: the evidence of the leader and of the challengers, joined in one supermartingale.

Separate intervals waste evidence: the leader's lower bound and every challenger's upper bound must hold at their own
levels. Instead, one statement is tested for every x at once, "the top-alpha quantile is x and the leader's mean is
below x - epsilon", by the product of the leader's and the challengers' evidence against it. The run is
(alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, E).
"""

from __future__ import annotations

from typing import Any

from topalpha.arithmetic import log
from topalpha.confidence import evidence_for
from topalpha.rules.claims import FIRST_SHARE
from topalpha.rules.columns import AFTER, PLACE, UPPER, JointEvidence
from topalpha.rules.generic import Recalled, Rounds
from topalpha.rules.joint_claims import joint_claims, leader_lower, shown_epsilon
from topalpha.rules.joint_stop import (
    LEADER,
    STATE,
    JointMemory,
    certificate,
    check_due,
    fold_reward,
    fresh_memory,
    leader_or_challenger,
    recall,
    register,
    update_share,
)
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import Claim, Generator, History, Integers, Pair, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import settled_leader
from topalpha.rules.tournament import runner_up
from topalpha.theory import arms_joint
from topalpha.theory.arm_counts import arms_of_pool, log_all_fail
from topalpha.validate import fraction, require, whole


class JointRules(Recalled, Rounds, Parameters):
    """The joint stopping rule, which asks ``proved``, with its sampling rule and claims (docs/proofs.md, E).

    ``log_draws`` is n ln c, c = 1/(1 - alpha (1 - delta_u)); ``log_leader``, ``log_challengers`` and ``log_both`` are
    ln(.95 w delta) for the three weights. ``pool`` is the size of a finite list, or 0.
    """

    evidence: JointEvidence
    log_delta_u: float
    log_draws: float
    log_leader: float
    log_challengers: float
    log_both: float
    pool: int
    answer_entry = LEADER

    def scratch(self, arms: int) -> JointMemory:
        """Empty trees and the tables of the evidence."""
        return fresh_memory(self, arms)

    def prepare(self, history: History, memory: Any) -> None:
        """Fill fresh memory from the history."""
        recall(history, memory, history.arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm."""
        fold_reward(self, history, memory, arm, reward)

    def contenders(self, history: History, memory: Any) -> Pair:
        """The empirical best arm (ties go to the previous leader), and the other arm of largest U."""
        leader = settled_leader(memory.leaders[1], memory.means, history.state, LEADER)
        return leader, runner_up(memory.challengers, history.stats[UPPER], history.pulls, leader)

    def stopping(self: Any, history: History, memory: Any, pair: Pair) -> bool:
        """Whether the stop condition holds; it is checked now and then, once the leader is registered."""
        leader, challenger = pair
        register(self, history, leader)
        if check_due(history):
            if self.proved(history, memory, leader, challenger):
                return True
            update_share(self, history, memory, leader)
        return False

    def sampling(self, history: History, memory: Any, rng: Generator, pair: Pair, batch: Integers) -> int:
        """Leader or challenger, by the leader's credit."""
        leader, challenger = pair
        return leader_or_challenger(self, history, memory, leader, challenger, self.log_draws, batch)

    def lower_bound(self: Any, history: History, memory: Any, arm: int) -> float:
        """The lower bound from the arm's own evidence, if it is registered."""
        return leader_lower(self, history, memory, arm)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound, at level delta_u."""
        return history.stats[UPPER][arm]

    def claims(self: Any, history: History, memory: Any, arm: int) -> list[Claim]:
        """The claims proved so far, for the target's alpha and for larger ones (docs/proofs.md, E.6)."""
        return joint_claims(self, history, arm)

    def shown(self: Any, history: History, memory: Any, arm: int) -> float:
        """The epsilon within which the joint evidence shows the arm to be."""
        return shown_epsilon(self, history, arm)


class JointLUCB(JointRules):
    """LUCB with the joint stop; build it with :func:`design`. (alpha, epsilon, delta)-correct (docs/proofs.md, E)."""

    @property
    def traits(self) -> Traits:
        """Columns: sum, upper bound, registrations, evidence. For the order of rewards see docs/proofs.md, E.2."""
        return Traits("joint-lucb", columns=AFTER + self.evidence.extra, numbers=STATE, width=1, global_order=True)

    def proved(self, history: History, memory: Any, leader: int, challenger: int) -> bool:
        """Whether the leader is registered and the stop condition holds for every x."""
        registered = history.stats[PLACE][leader] > 0.0
        return registered and certificate(self, history, memory, leader, challenger, self.log_draws)


@algorithm(
    "joint-lucb",
    "LUCB sampling with a joint supermartingale certificate",
    "docs/proofs.md, E",
    models=("pass-fail", "graded", "low-variance"),
    joint=True,
)
def design(
    target: Target, *, delta_u: float = 0.65, leader_weight: float = 0.15, challenger_weight: float = 0.7, pool: int = 0
) -> JointLUCB:
    """LUCB with the joint stopping rule.

    ``delta_u`` is the level at which a challenger's own evidence counts in full, whatever delta is. ``leader_weight``
    and ``challenger_weight`` are w1 and w2, the weights of the leader's evidence alone and of the challengers' alone;
    the rest, w3, is for both together. A twentieth of delta is for claims about larger alphas. ``pool`` is the size of
    a finite list to draw from without replacement, or 0.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms, design(0.05, 0.05, 0.05, pool=100).arms
    (193, 100)
    """
    delta_u = fraction("delta_u", delta_u)
    one, two = fraction("leader_weight", leader_weight), fraction("challenger_weight", challenger_weight)
    require(one + two < 1.0, "leader_weight + challenger_weight", "be less than 1", one + two)
    share = FIRST_SHARE * target.delta
    pool = whole("pool", pool, 0)
    if pool > 0:
        number, delta_u = arms_of_pool(pool, target.alpha, two * share, delta_u)
    else:
        number = arms_joint(target.alpha, share, delta_u, two)
    return JointLUCB(
        *target.on(number),
        evidence=evidence_for(target.family, target.epsilon, -log(delta_u)),
        log_delta_u=log(delta_u),
        log_draws=-log_all_fail(pool, target.alpha, number, delta_u),
        log_leader=log(one * share),
        log_challengers=log(two * share),
        log_both=log((1.0 - one - two) * share),
        pool=pool,
    )
