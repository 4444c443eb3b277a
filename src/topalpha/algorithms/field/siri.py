"""siri: upper confidence bounds on a number of arms fit to the reservoir's tail; Carpentier and Valko (2015).

The tail parameter beta says that an arm is within epsilon of the supremum with probability of order epsilon^beta. With
b = min(beta, 2), ceil(A(n) n^(b/2)) arms are drawn and pulled once. Then the arm of largest bound gets as many pulls as
it has had, until the budget n is spent (the last block is cut). The most pulled arm is returned.

Fixed budget: the source's theorem is about the simple regret for the assumed tail, up to unknown constants; nothing is
proved for other reservoirs (docs/field/budget.md, B).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.algorithms.field.fixed_budget import checked_budget
from topalpha.arithmetic import log, power
from topalpha.families import unit_rewards
from topalpha.rules.generic import CountingBlocks
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Generator, History, Integers, Reals, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.tournament import empty_tree, play, rebuild
from topalpha.validate import positive


class SiRIMemory(NamedTuple):
    """Scratch: the bounds and their tree."""

    ready: Integers
    bounds: Reals
    tree: Integers


class SiRI(CountingBlocks, Parameters):
    """Simple regret with infinitely many arms; build it with :func:`design`. Fixed budget (docs/field/budget.md, B)."""

    budget: int
    scale: float  # C
    log_scope: float  # ln(2^(2 t/b) / delta), t = floor(log2 n)
    traits = Traits("siri", columns=1, width=1, blocks=True, covered=False)

    def scratch(self, arms: int) -> SiRIMemory:  # type: ignore[override]
        """Fresh memory."""
        return SiRIMemory([0], [0.0] * max(arms, 1), empty_tree(arms))

    def simple_regret_index(self, total: float, pulls: int) -> float:
        """mean + 2 sqrt(C x / T) + 2 C x / T, x = ln(2^(2 t/b) / (T delta)), at least 0."""
        rate = self.scale * max(self.log_scope - log(pulls), 0.0) / pulls
        return total / pulls + 2.0 * math.sqrt(rate) + 2.0 * rate

    def renew(self, history: History, memory: Any, arm: int) -> None:
        """Update the arm's bound."""
        memory.bounds[arm] = self.simple_regret_index(history.stats[SUM][arm], history.pulls[arm])
        play(memory.tree, memory.bounds, history.pulls, arm)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Pull every arm once; then double the pulls of the arm of largest bound until the budget is spent."""
        left = self.budget - history.t - history.in_flight
        if history.arms < self.arms:
            batch[0] = history.arms
            batch[1] = 1
            return 1
        if history.in_flight > 0:
            return WAIT
        if left <= 0:
            return 0
        if memory.ready[0] == 0:
            for arm in range(history.arms):
                memory.bounds[arm] = self.simple_regret_index(history.stats[SUM][arm], history.pulls[arm])
            rebuild(memory.tree, memory.bounds, history.pulls, history.arms)
            memory.ready[0] = 1
        batch[0] = memory.tree[1]
        batch[1] = min(history.pulls[batch[0]], left)
        return 1

    def recommend(self, history: History, memory: Any) -> int:
        """The most pulled arm; ties go to the larger mean, then to the lower index."""
        totals, pulls = history.stats[SUM], history.pulls
        return max(range(history.arms), key=lambda arm: (pulls[arm], totals[arm], -arm), default=0)


def number_of_arms(budget: int, tail: float, share: float) -> int:
    """ceil(A(n) n^(b/2)) with b = min(beta, 2); A(n) is A, A/ln(n)^2 or A/ln(n) for beta below, at and above 2.

    It is at least 1 and at most the budget, and the logarithm is at least 1.

    Examples
    --------
    >>> [number_of_arms(10_000, tail, 0.3) for tail in (0.5, 1.0, 2.0, 3.0)]
    [3, 30, 36, 326]
    """
    log_budget = max(log(budget), 1.0)
    fewer = 1.0 if tail < 2.0 else log_budget * log_budget if tail == 2.0 else log_budget
    wanted = share / fewer * power(budget, min(tail, 2.0) / 2.0)
    return int(min(max(math.ceil(wanted), 1), budget))


@algorithm("siri", "Carpentier, Valko (ICML 2015), SiRI", family=unit_rewards, guarantee="fixed-budget")
def design(
    target: Target, *, budget: int | None = None, beta: float = 1.0, share: float = 0.3, scale: float = 1.0
) -> SiRI:
    """SiRI within ``budget`` pulls; the bounds use only delta of the target.

    ``beta`` is the tail: P(mean > supremum - x) is of order x^beta, 1 for a uniform reservoir. ``share`` is A, a small
    constant that the source leaves open. ``scale`` is C, which bounds the rewards: 1 for rewards in [0, 1].

    Examples
    --------
    >>> design(0.1, 0.1, 0.1, budget=10_000).arms
    30
    """
    pulls, tail = checked_budget(budget), positive("beta", beta)
    arms = number_of_arms(pulls, tail, positive("share", share))
    doublings = arms.bit_length() - 1
    log_scope = 2.0 * doublings / min(tail, 2.0) * log(2.0) - log(target.delta)
    return SiRI(*target.on(arms), pulls, positive("scale", scale), log_scope)
