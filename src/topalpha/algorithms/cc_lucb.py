"""cc-lucb: LUCB with constant-confidence upper bounds.

Only *some* top arm needs a valid upper bound, not all of them. So each arm's upper bound holds with a constant
probability 1 - delta_u only, with no union bound, and a few more arms are drawn instead:
n = ceil(ln(1/delta_A) / -ln(1 - alpha (1 - delta_u))). The leader's lower bound holds with probability 1 - delta_L over
all arms. Guarantee: (alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, D).

Bounds are one-sided tilt mixtures (``bounds="tilt"``) or conjugate mixtures (``bounds="kt"``), intersected over time.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.bounds import log_mixture, tilt_bound, tilt_grid
from topalpha.core import SUM, Entry, History, RewardFamily
from topalpha.families import checked
from topalpha.rules import empirical_best, fill_means, query_fresh, settled_leader
from topalpha.theory import arms_constant_confidence
from topalpha.tournament import empty_tree, play, rebuild, runner_up
from topalpha.validate import choice, fraction, positive, require

if TYPE_CHECKING:
    from numpy.random import Generator

# Columns of the statistics beside the sum of rewards: the running bounds.
_UPPER, _LOWER = 1, 2
# The one number of the state: the leader, from 1.
_LEADER = 0
# How many nats short of the threshold the leader's evidence is when its lower bound begins to be remembered.
_CLOSE = 1.0


class Memory(NamedTuple):
    """Scratch: the leader and challenger trees, and the tables of tilts."""

    ready: MutableSequence[int]
    means: MutableSequence[float]
    leaders: MutableSequence[int]
    challengers: MutableSequence[int]
    down_tilts: MutableSequence[float]
    down_growths: MutableSequence[float]
    up_tilts: MutableSequence[float]
    up_growths: MutableSequence[float]
    log_weights: MutableSequence[float]


class CCLUCB(NamedTuple):
    """Constant-confidence LUCB; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/proofs.md, D).
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    upper_threshold: float
    lower_threshold: float
    conjugate: bool

    @property
    def name(self) -> str:
        """The name it is registered under."""
        return "cc-lucb"

    @property
    def covered(self) -> bool:
        """Whether the proof covers this design: always."""
        return True

    @property
    def columns(self) -> int:
        """The sum of rewards and the running bounds."""
        return 3

    @property
    def numbers(self) -> int:
        """The leader."""
        return 1

    @property
    def width(self) -> int:
        """The leader and the challenger."""
        return 2

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: empty trees and the tables of tilts."""
        down = tilt_grid(self.family, self.epsilon, -1)
        up = tilt_grid(self.family, self.epsilon, 1)
        return Memory(
            ready=[0],
            means=[0.0] * arms,
            leaders=empty_tree(arms),
            challengers=empty_tree(arms),
            down_tilts=down.tilts,
            down_growths=down.growths,
            up_tilts=up.tilts,
            up_growths=up.growths,
            log_weights=up.log_weights,
        )

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        pulls = history.pulls[arm]
        total = history.stats[SUM][arm]
        if pulls == 1:
            history.stats[_UPPER][arm] = self.family.highest
            history.stats[_LOWER][arm] = self.family.lowest
        before = history.stats[_UPPER][arm]
        # No mean fits a reward better than the one equal to it: a reward at or above the bound speaks for the bound
        # against everything below it, so the tilt mixture cannot lower it.
        if self.conjugate or reward < before:
            history.stats[_UPPER][arm] = self.running_upper(memory, total, pulls, before)
        if memory.ready[0] == 1:
            memory.means[arm] = total / pulls
            play(memory.leaders, memory.means, history.pulls, arm)
            play(memory.challengers, history.stats[_UPPER], history.pulls, arm)

    def running_upper(self, memory: Any, total: float, pulls: int, before: float) -> float:
        """The running upper bound at level delta_u after these rewards."""
        if self.conjugate:
            level = (self.upper_threshold + self.family.redundancy(total, pulls)) / pulls
            return min(before, self.family.upper(total / pulls, level))
        return tilt_bound(
            self.family,
            total,
            pulls,
            self.upper_threshold,
            memory.down_tilts,
            memory.down_growths,
            memory.log_weights,
            before,
        )

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull leader and challenger until L_a + epsilon >= max U_b."""
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
        if self.reaches(history, memory, leader, history.stats[_UPPER][challenger] - self.epsilon):
            return 0
        batch[0] = leader
        batch[1] = challenger
        return 2

    def reaches(self, history: History, memory: Any, leader: int, target: float) -> bool:
        """Whether the leader's running lower bound, at level delta_L / n, is at least ``target``.

        One evaluation of the evidence against ``target`` decides; the bound itself is computed, and remembered, only
        when that comes close, since an earlier bound can matter only then.
        """
        if target <= history.stats[_LOWER][leader]:
            return True
        total = history.stats[SUM][leader]
        pulls = history.pulls[leader]
        mean = total / pulls
        if target > mean:
            return False
        if self.conjugate:
            redundancy = self.family.redundancy(total, pulls)
            short = self.lower_threshold + redundancy - pulls * self.family.divergence(mean, target)
            if 0.0 < short < _CLOSE:
                lower = self.family.lower(mean, (self.lower_threshold + redundancy) / pulls)
                history.stats[_LOWER][leader] = max(history.stats[_LOWER][leader], lower)
            return short <= 0.0
        up, growths, weights = memory.up_tilts, memory.up_growths, memory.log_weights
        short = self.lower_threshold - log_mixture(self.family, target, total, pulls, up, growths, weights)[0]
        if 0.0 < short < _CLOSE:
            before = history.stats[_LOWER][leader]
            history.stats[_LOWER][leader] = tilt_bound(
                self.family, total, pulls, self.lower_threshold, up, growths, weights, before
            )
        return short <= 0.0

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
    bounds: str = "tilt",
    delta_u: float | None = None,
    draw_share: float = 0.9,
) -> CCLUCB:
    """Constant-confidence LUCB.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        The reward family, Bernoulli by default.
    bounds
        ``"tilt"``, one-sided tilt mixtures; or ``"kt"``, two-sided conjugate mixtures.
    delta_u
        How often an arm's upper bound may fail, constant whatever delta is: .45 with tilts, .2 with conjugate mixtures,
        which spend half their level on the other side.
    draw_share
        delta_A / delta, the part of delta spent on drawing no good arm with a valid bound; the rest is for the
        leader's lower bound.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    112
    >>> design(0.05, 0.05, 0.05, bounds="kt").arms
    76
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    conjugate = choice("bounds", bounds, ("tilt", "kt")) == "kt"
    level = fraction("delta_u", (0.2 if conjugate else 0.45) if delta_u is None else delta_u)
    share = fraction("draw_share", draw_share)
    number = arms_constant_confidence(alpha, share * delta, level)
    law = checked(family)
    lower_threshold = math.log(number / ((1.0 - share) * delta))
    possible = not conjugate or lower_threshold <= law.largest_threshold
    require(possible, "delta", "not be so small with bounds 'kt' for this family", delta)
    return CCLUCB(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        upper_threshold=math.log(1.0 / level),
        lower_threshold=lower_threshold,
        conjugate=conjugate,
    )


ENTRY = Entry(
    name="cc-lucb",
    design=design,
    guarantee="fixed-confidence",
    reference="LUCB sampling with constant-confidence upper bounds",
    proof="docs/proofs.md, D",
    options={"bounds": ("tilt", "kt")},
)
