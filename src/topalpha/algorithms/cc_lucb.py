"""cc-lucb: LUCB with constant-confidence upper bounds.

Only *some* top arm needs a valid upper bound, not all of them. So each arm's upper bound holds with a constant
probability 1 - delta_u only, with no union bound, and a few more arms are drawn instead:
n = ceil(ln(1/delta_A) / -ln(1 - alpha (1 - delta_u))). The leader's lower bound holds with probability 1 - delta_L over
all arms. Guarantee: (alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, D).

Any reward model with time-uniform bounds will do (:mod:`topalpha.confidence`). For one-parameter families they are
one-sided tilt mixtures (``bounds="tilt"``) or conjugate mixtures (``bounds="kt"``). All are intersected over time.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.confidence.levels import checked_bounds
from topalpha.families import checked_model
from topalpha.families.protocols import RewardModel
from topalpha.rules.claims import rank_claims, rank_level
from topalpha.rules.columns import EXTRA, UPPER, ConfidenceBounds
from topalpha.rules.protocol import SUM, Claim, Entry, History, Traits
from topalpha.rules.sampling import (
    empirical_best,
    fill_means,
    has_room,
    next_challenger,
    query_fresh,
    second_pull,
    settled_leader,
    unseen,
    write_round,
)
from topalpha.rules.tournament import empty_tree, play, rebuild, runner_up
from topalpha.theory import arms_constant_confidence
from topalpha.theory.pool import arms_of_pool
from topalpha.validate import choice, fraction, positive, whole

if TYPE_CHECKING:
    from numpy.random import Generator

# The one number of the state: the leader, from 1.
_LEADER = 0


class Memory(NamedTuple):
    """Scratch: the leader and challenger trees, and what the bounds look up."""

    ready: MutableSequence[int]
    means: MutableSequence[float]
    leaders: MutableSequence[int]
    challengers: MutableSequence[int]
    lookup: Any


class CCLUCB(NamedTuple):
    """Constant-confidence LUCB; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, D).
    ``draw_level`` is delta_A, ``upper_level`` delta_u; ``pool`` is the size of a finite list of candidates, or 0.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardModel
    confidence: ConfidenceBounds
    draw_level: float
    upper_level: float
    pool: int

    @property
    def traits(self) -> Traits:
        """Columns: the sum of rewards, the running bounds and what else those keep. State: the leader."""
        return Traits("cc-lucb", columns=EXTRA + self.confidence.extra, numbers=1, width=2)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: empty trees and the tables of the bounds."""
        return Memory(
            ready=[0],
            means=[0.0] * arms,
            leaders=empty_tree(arms),
            challengers=empty_tree(arms),
            lookup=self.confidence.tables(),
        )

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        self.confidence.fold(history, memory.lookup, arm, reward)
        if memory.ready[0] == 1:
            memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
            play(memory.leaders, memory.means, history.pulls, arm)
            play(memory.challengers, history.stats[UPPER], history.pulls, arm)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull leader and challenger until L_a + epsilon >= max U_b."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return second_pull(history, history.stats[UPPER], self.family.capacity, batch)
            fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
            rebuild(memory.leaders, memory.means, history.pulls, history.arms)
            rebuild(memory.challengers, history.stats[UPPER], history.pulls, history.arms)
            memory.ready[0] = 1
        if self.arms == 1:
            return 0
        leader = settled_leader(memory.leaders[1], memory.means, history.state, _LEADER)
        challenger = runner_up(memory.challengers, history.stats[UPPER], history.pulls, leader)
        if self.confidence.reaches(history, memory.lookup, leader, history.stats[UPPER][challenger] - self.epsilon):
            return 0
        unknown = history.stats[UPPER][challenger] == math.inf
        if history.in_flight > 0:
            challenger = next_challenger(history, history.stats[UPPER], leader, self.family.capacity, challenger)
        if unknown and has_room(history, challenger, self.family.capacity):
            batch[0] = challenger  # no lower bound reaches an infinite upper one: the leader can wait
            return 1
        return write_round(history, leader, challenger, self.family.capacity, batch)

    def recommend(self, history: History, memory: Any) -> int:
        """The leader: the empirical best arm, of tied ones the one that has led."""
        if history.state[_LEADER] > 0.0:
            return int(history.state[_LEADER]) - 1
        return empirical_best(history.stats[SUM], history.pulls, history.arms)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running lower bound, at level delta_L / n."""
        return self.confidence.lower_now(history, memory.lookup, arm)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound, at level delta_u."""
        return history.stats[UPPER][arm]

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now, for the target's alpha and for larger ones (docs/proofs.md, D.4)."""
        others = [history.stats[UPPER][other] for other in range(history.arms) if other != arm and history.pulls[other]]
        others += [math.inf] * (self.arms - 1 - len(others))
        lower = self.lower_bound(history, memory, arm)
        return rank_claims(self.alpha, lower, others, self.draw_level, self.arms, self.pool, self.upper_level)


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    bounds: str = "tilt",
    delta_u: float | None = None,
    draw_share: float = 0.9,
    pool: int = 0,
) -> CCLUCB:
    """Constant-confidence LUCB.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        The reward model, Bernoulli by default.
    bounds
        ``"tilt"``, one-sided tilt mixtures; or ``"kt"``, two-sided conjugate mixtures.
    delta_u
        How often an arm's upper bound may fail, constant whatever delta is: .45 with tilts, .2 with conjugate mixtures,
        which spend half their level on the other side.
    draw_share
        delta_A / delta, the part of delta spent on drawing no good arm with a valid bound; the rest is for the
        leader's lower bound. A twentieth of delta_A pays for what can be said about larger alphas before the stop.
    pool
        The size of a finite list of candidates that arms are drawn from without replacement; 0 for an endless pool.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    114
    >>> design(0.05, 0.05, 0.05, bounds="kt").arms
    78
    >>> design(0.05, 0.05, 0.05, pool=100).arms
    85
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    kind = choice("bounds", bounds, ("tilt", "kt"))
    level = fraction("delta_u", (0.2 if kind == "kt" else 0.45) if delta_u is None else delta_u)
    draw_level = fraction("draw_share", draw_share) * delta
    pool = whole("pool", pool, 0)
    if pool > 0:
        number, level = arms_of_pool(pool, alpha, rank_level(1, draw_level), level)
    else:
        number = arms_constant_confidence(alpha, rank_level(1, draw_level), level)
    law = checked_model(family)
    confidence = checked_bounds(law, kind, epsilon, level, (delta - draw_level) / number, delta)
    return CCLUCB(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        confidence=confidence,
        draw_level=draw_level,
        upper_level=level,
        pool=pool,
    )


ENTRY = Entry(
    name="cc-lucb",
    design=design,
    guarantee="fixed-confidence",
    reference="LUCB sampling with constant-confidence upper bounds",
    proof="docs/proofs.md, D",
    options={"bounds": ("tilt", "kt")},
    models=("pass-fail", "normal", "low-variance"),
)
