"""lucb++ for rewards that are no one-parameter family: the levels of lucb++, the bounds and the rounds of cc-lucb.

Theorem B asks for upper bounds of level delta_U for each arm, lower ones of level delta_L/n, and a stop once
U_b <= L_a + epsilon for all b. It says nothing about where bounds come from, how arms are sampled, or how rewards of
different arms depend on each other. So bounds of any model that cc-lucb has (normal, low-variance, pass-fail) serve
here, in rounds of cc-lucb, with delta_A = delta/2 for the draw of the arms, delta_U = delta_L = delta/4
(docs/proofs.md, B.3).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.cc_lucb import CCLUCB, Memory
from topalpha.confidence.levels import checked_bounds
from topalpha.families.protocols import RewardModel
from topalpha.rules.claims import target_claim
from topalpha.rules.columns import EXTRA, ConfidenceBounds
from topalpha.rules.protocol import Claim, History, Traits
from topalpha.rules.sampling import unseen

if TYPE_CHECKING:
    from numpy.random import Generator


class ModelLUCBPlusPlus(NamedTuple):
    """LUCB with asymmetric levels for any model that has bounds; ``design`` of lucb++ builds it.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir, also with dependent rewards across arms
    (docs/proofs.md, B.3). ``rounds`` is cc-lucb with the levels of lucb++: what is pulled, and when to stop.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardModel
    rounds: CCLUCB

    @property
    def confidence(self) -> ConfidenceBounds:
        """The bounds, at the levels delta/4 and delta/(4n)."""
        return self.rounds.confidence

    @property
    def traits(self) -> Traits:
        """Columns and state of the rounds; rewards may depend on each other across arms."""
        return Traits("lucb++", columns=EXTRA + self.rounds.confidence.extra, numbers=1, width=2, independent=False)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory."""
        return self.rounds.scratch(arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm."""
        self.rounds.observe(history, memory, arm, reward)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull leader and challenger until L_a + epsilon >= max U_b."""
        return self.rounds.plan(history, memory, rng, batch)

    def recommend(self, history: History, memory: Any) -> int:
        """The leader."""
        return self.rounds.recommend(history, memory)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running lower bound, at level delta/(4n)."""
        return self.rounds.lower_bound(history, memory, arm)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound, at level delta/4."""
        return self.rounds.upper_bound(history, memory, arm)

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now: the smallest epsilon for the target's alpha, once all arms were pulled."""
        if history.arms < self.arms or unseen(history.pulls, history.arms):
            return []
        others = [self.upper_bound(history, memory, other) for other in range(history.arms) if other != arm]
        return target_claim(self.alpha, self.lower_bound(history, memory, arm), others)


def with_bounds(
    alpha: float, epsilon: float, delta: float, arms: int, family: RewardModel, pool: int, bounds: str = "tilt"
) -> ModelLUCBPlusPlus:
    """LUCB++ on so many arms, with the bounds of this model; what ``design`` checked is not checked again.

    One-parameter families have two kinds of ``bounds``: see ``cc-lucb``.

    Examples
    --------
    >>> from topalpha.families import Normal
    >>> algorithm = with_bounds(0.05, 0.05, 0.05, 72, Normal(), 0)
    >>> algorithm.arms, algorithm.traits.independent
    (72, False)
    """
    upper_level, lower_level = 0.25 * delta, 0.25 * delta / arms
    rounds = CCLUCB(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=arms,
        family=family,
        confidence=checked_bounds(family, bounds, epsilon, upper_level, lower_level, delta),
        draw_level=0.5 * delta,
        upper_level=upper_level,
        pool=pool,
    )
    return ModelLUCBPlusPlus(alpha=alpha, epsilon=epsilon, delta=delta, arms=arms, family=family, rounds=rounds)
