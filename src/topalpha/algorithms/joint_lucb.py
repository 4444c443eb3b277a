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

from topalpha.confidence import evidence_for
from topalpha.families import checked_model
from topalpha.families.protocols import RewardModel
from topalpha.rules.claims import FIRST_SHARE
from topalpha.rules.columns import AFTER, PLACE, UPPER, JointEvidence
from topalpha.rules.joint_claims import joint_claims, leader_lower
from topalpha.rules.joint_stop import (
    LEADER,
    STATE,
    Memory,
    certificate,
    check_due,
    fold_reward,
    fresh_memory,
    leader_or_challenger,
    recall,
    register,
    update_share,
)
from topalpha.rules.protocol import SUM, WAIT, Claim, Entry, History, Traits
from topalpha.rules.sampling import empirical_best, query_fresh, settled_leader, unseen
from topalpha.rules.tournament import runner_up
from topalpha.theory import arms_joint
from topalpha.theory.pool import arms_of_pool, log_all_fail
from topalpha.validate import fraction, positive, require, whole

if TYPE_CHECKING:
    from numpy.random import Generator


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
        return Traits("joint-lucb", columns=AFTER + self.evidence.extra, numbers=STATE, width=1, global_order=True)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: empty trees and the tables of the evidence."""
        return fresh_memory(self, arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm."""
        fold_reward(self, history, memory, arm, reward)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then leader or challenger, by a credit, until the certificate holds."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            recall(history, memory, history.arms)
        if self.arms == 1:
            return 0
        leader = settled_leader(memory.leaders[1], memory.means, history.state, LEADER)
        challenger = runner_up(memory.challengers, history.stats[UPPER], history.pulls, leader)
        register(self, history, leader)
        if check_due(history):
            registered = history.stats[PLACE][leader] > 0.0
            if registered and certificate(self, history, memory, leader, challenger, self.log_draws):
                return 0
            update_share(self, history, memory, leader)
        return leader_or_challenger(self, history, memory, leader, challenger, self.log_draws, batch)

    def recommend(self, history: History, memory: Any) -> int:
        """The leader: the empirical best arm, of tied ones the one that has led."""
        if history.state[LEADER] > 0.0:
            return int(history.state[LEADER]) - 1
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
    models=("pass-fail", "low-variance"),
    joint=True,
)
