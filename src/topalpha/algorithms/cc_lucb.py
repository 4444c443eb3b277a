"""cc-lucb: LUCB with constant-confidence upper bounds.

Only *some* top arm needs a valid upper bound, not all of them. So each arm's upper bound holds only with a constant
probability 1 - delta_u, without a union bound, and a few more arms are drawn instead:
n = ceil(ln(1/delta_A) / -ln(1 - alpha (1 - delta_u))). The leader's lower bound holds with probability 1 - delta_L over
all arms. The run is (alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, D).

Any reward model with time-uniform bounds works (:mod:`topalpha.confidence`). One-parameter families have one-sided tilt
mixtures (``bounds="tilt"``) or conjugate mixtures (``bounds="kt"``). All bounds are intersected over time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.confidence.levels import checked_bounds
from topalpha.rules.claims import rank_claims, rank_level
from topalpha.rules.columns import EXTRA, UPPER, ConfidenceBounds
from topalpha.rules.generic import Recalled, Rounds, RunningBounds
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, Claim, Generator, History, Integers, Pair, Reals, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import fill_means, has_room, next_challenger, second_pull, settled_leader, write_round
from topalpha.rules.tournament import empty_tree, play, rebuild, runner_up
from topalpha.theory import arms_constant_confidence
from topalpha.theory.arm_counts import arms_of_pool
from topalpha.validate import choice, fraction, whole

# The only entry of the state: the leader, counted from 1.
_LEADER = 0

#: The reward models with such bounds beyond one-parameter families, and the two kinds of bounds of those families.
MODELS, BOUNDS = ("pass-fail", "graded", "normal", "low-variance"), {"bounds": ("tilt", "kt")}


class CCLUCBMemory(NamedTuple):
    """Scratch: the leader and challenger trees, and the tables of the bounds."""

    ready: Integers
    means: Reals
    leaders: Integers
    challengers: Integers
    lookup: Any


class CCLUCB(RunningBounds, Recalled, Rounds, Parameters):
    """Constant-confidence LUCB; build it with :func:`design`. (alpha, epsilon, delta)-correct (docs/proofs.md, D).

    ``draw_level`` is delta_A, ``upper_level`` delta_u; ``pool`` is the size of a finite list of candidates, or 0.
    """

    confidence: ConfidenceBounds
    draw_level: float
    upper_level: float
    pool: int

    @property
    def traits(self) -> Traits:
        """Columns: the sum of rewards, the running bounds and their further columns. State: the leader."""
        return Traits("cc-lucb", columns=EXTRA + self.confidence.extra, numbers=1, width=2)

    def scratch(self, arms: int) -> CCLUCBMemory:
        """Empty trees and the tables of the bounds."""
        return CCLUCBMemory([0], [0.0] * arms, empty_tree(arms), empty_tree(arms), self.confidence.tables())

    def prepare(self, history: History, memory: Any) -> None:
        """Fill fresh memory from the history."""
        fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
        rebuild(memory.leaders, memory.means, history.pulls, history.arms)
        rebuild(memory.challengers, history.stats[UPPER], history.pulls, history.arms)

    def renew(self, history: History, memory: Any, arm: int) -> None:
        """Update the arm's mean and its places in the trees."""
        memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
        play(memory.leaders, memory.means, history.pulls, arm)
        play(memory.challengers, history.stats[UPPER], history.pulls, arm)

    def meanwhile(self, history: History, batch: Integers) -> int:
        """A second pull of the most promising arm."""
        return second_pull(history, history.stats[UPPER], self.family.capacity, batch)

    def contenders(self, history: History, memory: Any) -> Pair:
        """The empirical best arm (ties go to the previous leader), and the other arm of largest U."""
        leader = settled_leader(memory.leaders[1], memory.means, history.state, _LEADER)
        return leader, runner_up(memory.challengers, history.stats[UPPER], history.pulls, leader)

    def stopping(self, history: History, memory: Any, pair: Pair) -> bool:
        """L_a + epsilon >= max U_b."""
        leader, challenger = pair
        return self.confidence.reaches(history, memory.lookup, leader, history.stats[UPPER][challenger] - self.epsilon)

    def sampling(self, history: History, memory: Any, rng: Generator, pair: Pair, batch: Integers) -> int:
        """Leader and challenger."""
        leader, challenger = pair
        unknown = history.stats[UPPER][challenger] == math.inf
        if history.in_flight > 0:
            challenger = next_challenger(history, history.stats[UPPER], leader, self.family.capacity, challenger)
        if unknown and has_room(history, challenger, self.family.capacity):
            batch[0] = challenger  # no lower bound reaches an infinite upper bound: the leader can wait
            return 1
        return write_round(history, leader, challenger, self.family.capacity, batch)

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """The claims proved so far, for the target's alpha and for larger ones (docs/proofs.md, D.4)."""
        others, lower = self.other_uppers(history, arm), self.lower_bound(history, memory, arm)
        return rank_claims(self.alpha, lower, others, self.draw_level, self.arms, self.pool, self.upper_level)


def upper_level(bounds: str, delta_u: float | None) -> float:
    """delta_u, the error level of an upper bound: by default .45 with tilts, .2 with conjugate mixtures.

    Conjugate mixtures spend half of their level on the other side.

    Examples
    --------
    >>> upper_level("tilt", None), upper_level("kt", None), upper_level("kt", 0.3)
    (0.45, 0.2, 0.3)
    """
    usual = 0.2 if choice("bounds", bounds, BOUNDS["bounds"]) == "kt" else 0.45
    return fraction("delta_u", usual if delta_u is None else delta_u)


def parameters(target: Target, bounds: str, delta_u: float | None, draw_share: float, pool: int) -> CCLUCB:
    """Levels and bounds for this target, with the fewest arms that they allow.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> parameters(Target(0.05, 0.05, 0.05, Bernoulli()), "tilt", None, 0.9, 0).arms
    114
    """
    level = upper_level(bounds, delta_u)
    draw_level = fraction("draw_share", draw_share) * target.delta
    pool = whole("pool", pool, 0)
    if pool > 0:
        number, level = arms_of_pool(pool, target.alpha, rank_level(1, draw_level), level)
    else:
        number = arms_constant_confidence(target.alpha, rank_level(1, draw_level), level)
    lower_level = (target.delta - draw_level) / number
    confidence = checked_bounds(target.family, bounds, target.epsilon, level, lower_level, target.delta)
    return CCLUCB(*target.on(number), confidence, draw_level, level, pool)


@algorithm(
    "cc-lucb", "LUCB sampling with constant-confidence upper bounds", "docs/proofs.md, D", options=BOUNDS, models=MODELS
)
def design(
    target: Target, *, bounds: str = "tilt", delta_u: float | None = None, draw_share: float = 0.9, pool: int = 0
) -> CCLUCB:
    """Constant-confidence LUCB.

    ``bounds`` are one-sided tilt mixtures (``"tilt"``) or two-sided conjugate mixtures (``"kt"``). ``delta_u`` is the
    error level of each upper bound, whatever delta is; see :func:`upper_level`. ``draw_share`` is delta_A / delta, the
    part of delta for drawing no good arm with a valid bound; the rest is for the leader's lower bound, and a twentieth
    of delta_A for claims about larger alphas. ``pool`` is the size of a finite list to draw from without
    replacement, or 0.

    Examples
    --------
    >>> target = 0.05, 0.05, 0.05
    >>> design(*target).arms, design(*target, bounds="kt").arms, design(*target, pool=100).arms
    (114, 78, 85)
    """
    return parameters(target, bounds, delta_u, draw_share, pool)
