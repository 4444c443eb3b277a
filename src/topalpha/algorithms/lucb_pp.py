"""lucb++: LUCB with asymmetric levels; Simchowitz, Jamieson and Recht (COLT 2017), with KT bounds.

Only one upper bound must hold, that of the best arm drawn, and that arm is chosen by the means alone: its level needs
no union bound. Lower bounds must hold for every arm that could be returned. With delta/2 for the draw of the arms,
delta/4 for the best arm's upper bound and delta/4 for the lower bounds, the run is (alpha, epsilon, delta)-correct
for every reservoir and any sampling rule, even with dependent rewards across arms (docs/proofs.md, B).

Bounds are two-sided conjugate mixtures: N d(p, mu) <= ln(1/level) + R(S, N), R the family's redundancy. Models that
have none (normal, low-variance, pass-fail) bring the bounds that they have for cc-lucb: see ``lucb_pp_models``.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.lucb_pp_models import ModelLUCBPlusPlus, with_bounds
from topalpha.families import checked_model
from topalpha.families.protocols import ENDLESS, RewardFamily, RewardModel
from topalpha.rules.claims import target_claim
from topalpha.rules.protocol import SUM, WAIT, Claim, Entry, History, Traits
from topalpha.rules.sampling import empirical_best, fill_means, next_challenger, query_fresh, unseen, write_round
from topalpha.rules.tournament import empty_tree, play, rebuild, runner_up
from topalpha.theory import arms_tight
from topalpha.theory.pool import fewest
from topalpha.validate import fraction, positive, require

if TYPE_CHECKING:
    from numpy.random import Generator


class Memory(NamedTuple):
    """Scratch: empirical means, upper bounds, and their trees."""

    ready: MutableSequence[int]
    means: MutableSequence[float]
    leaders: MutableSequence[int]
    uppers: MutableSequence[float]
    challengers: MutableSequence[int]


class LUCBPlusPlus(NamedTuple):
    """LUCB with asymmetric levels; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir (docs/proofs.md, B).
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    upper_threshold: float
    lower_threshold: float

    @property
    def traits(self) -> Traits:
        """The sum of rewards alone; rewards may depend on each other across arms."""
        return Traits("lucb++", columns=1, width=2, independent=False)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: nothing known yet."""
        return Memory(
            ready=[0],
            means=[0.0] * arms,
            leaders=empty_tree(arms),
            uppers=[0.0] * arms,
            challengers=empty_tree(arms),
        )

    def mixture_upper(self, total: float, pulls: int) -> float:
        """U_a at level delta/4."""
        return self.family.upper(total / pulls, (self.upper_threshold + self.family.redundancy(total, pulls)) / pulls)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum, and what follows from them."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        if memory.ready[0] == 1:
            total = history.stats[SUM][arm]
            memory.means[arm] = total / history.pulls[arm]
            memory.uppers[arm] = self.mixture_upper(total, history.pulls[arm])
            play(memory.leaders, memory.means, history.pulls, arm)
            play(memory.challengers, memory.uppers, history.pulls, arm)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull leader and challenger until U_b - L_a <= epsilon."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
            for arm in range(history.arms):
                memory.uppers[arm] = self.mixture_upper(history.stats[SUM][arm], history.pulls[arm])
            rebuild(memory.leaders, memory.means, history.pulls, history.arms)
            rebuild(memory.challengers, memory.uppers, history.pulls, history.arms)
            memory.ready[0] = 1
        if self.arms == 1:
            return 0
        leader = memory.leaders[1]
        challenger = runner_up(memory.challengers, memory.uppers, history.pulls, leader)
        target = memory.uppers[challenger] - self.epsilon
        if target <= self.family.lowest:
            return 0  # no mean is lower
        if target <= memory.means[leader]:
            pulls = history.pulls[leader]
            threshold = self.lower_threshold + self.family.redundancy(history.stats[SUM][leader], pulls)
            # L_a >= U_b - epsilon, without inverting L_a
            if pulls * self.family.divergence(memory.means[leader], target) >= threshold:
                return 0
        if history.in_flight > 0:
            challenger = next_challenger(history, memory.uppers, leader, ENDLESS, challenger)
        return write_round(history, leader, challenger, ENDLESS, batch)

    def recommend(self, history: History, memory: Any) -> int:
        """The empirical best arm."""
        return empirical_best(history.stats[SUM], history.pulls, history.arms)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """L_a at level delta/(4n)."""
        total, pulls = history.stats[SUM][arm], history.pulls[arm]
        return self.family.lower(total / pulls, (self.lower_threshold + self.family.redundancy(total, pulls)) / pulls)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """U_a at level delta/4."""
        return self.mixture_upper(history.stats[SUM][arm], history.pulls[arm])

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now: the smallest epsilon for the target's alpha, once all arms were pulled."""
        if history.arms < self.arms or unseen(history.pulls, history.arms):
            return []
        others = [self.upper_bound(history, memory, other) for other in range(history.arms) if other != arm]
        return target_claim(self.alpha, self.lower_bound(history, memory, arm), others)


def design(
    alpha: float, epsilon: float, delta: float, family: RewardModel | None = None, *, pool: int = 0
) -> LUCBPlusPlus | ModelLUCBPlusPlus:
    """LUCB++ on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on the whole of a finite list of ``pool`` candidates.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    >>> from topalpha.families import Normal
    >>> type(design(0.05, 0.05, 0.05, Normal())).__name__
    'ModelLUCBPlusPlus'
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    number = fewest(arms_tight(alpha, delta), pool)
    law = checked_model(family)
    if not isinstance(law, RewardFamily):
        return with_bounds(alpha, epsilon, delta, number, law, pool)
    lower_threshold = math.log(4.0 * number / delta)
    require(lower_threshold <= law.largest_threshold, "delta", "not be so small for this family", delta)
    return LUCBPlusPlus(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        upper_threshold=math.log(4.0 / delta),
        lower_threshold=lower_threshold,
    )


ENTRY = Entry(
    name="lucb++",
    design=design,
    guarantee="fixed-confidence",
    reference="Simchowitz, Jamieson, Recht (COLT 2017), LUCB++",
    proof="docs/proofs.md, B",
    options={},
    models=("pass-fail", "normal", "low-variance"),
)
