"""al-q-ik: arms within epsilon of a known threshold; Ren, Liu and Shroff (AISTATS 2019), AL-Q-IK.

The threshold is q+, which a fraction alpha of the arms reach. Repeat: draw ceil(ln(3)/alpha) arms, find a good one of
them by Median Elimination, with a constant probability of success, and test it against the threshold at level delta/k.
Repetitions are independent and succeed as often as not, so that an accepted arm is wrong with probability at most
delta/k, however many repetitions there are: (alpha, epsilon, delta)-correct wherever the threshold is right
(docs/field/threshold.md, 2).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.field.finite_solvers import target
from topalpha.algorithms.field.schedules_threshold import (
    ACCEPTED,
    NUMBERS,
    WIDTH,
    Memory,
    Repetitions,
    accepted_arms,
    affordable,
    expected_repetitions,
    repetitions,
    room,
)
from topalpha.families import Bernoulli, unit_rewards
from topalpha.families.protocols import RewardModel
from topalpha.rules.elimination import fold_block
from topalpha.rules.protocol import Entry, History, Traits
from topalpha.validate import real, require, whole

if TYPE_CHECKING:
    from numpy.random import Generator

    from topalpha.reservoirs import Reservoir


class ALQIK(NamedTuple):
    """Known threshold; build it with :func:`design`.

    Guarantee: with probability at least 1 - delta no returned arm is below ``threshold`` - epsilon, if a fraction alpha
    of the arms reach the threshold (docs/field/threshold.md, 2). ``arms`` is the number of arms of one repetition.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: Bernoulli
    threshold: float
    tries: Repetitions

    @property
    def traits(self) -> Traits:
        """Columns of elimination and a mark on accepted arms; state of the repetitions."""
        return Traits("al-q-ik", columns=ACCEPTED + 1, numbers=NUMBERS, width=WIDTH, blocks=True)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory."""
        return room(arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """A block of one."""
        fold_block(history, arm, 1, reward)

    def observe_block(self, history: History, memory: Any, arm: int, count: int, total: float) -> None:
        """Count a block of rewards in the present round."""
        fold_block(history, arm, count, total)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Repetitions against the known threshold, until k arms are accepted."""
        return self.tries.next_test(history, memory.order, self.threshold, batch)

    def conditions(self) -> tuple[str, ...]:
        """The threshold that it was told."""
        return (f"The top {100.0 * self.alpha:g}% of candidates begin at a mean of {self.threshold:g}, not above it.",)

    def recommend(self, history: History, memory: Any) -> int:
        """The first arm that was accepted; before there is one, the empirical best."""
        return self.tries.accepted_first(history)

    def selection(self, history: History, memory: Any) -> list[int]:
        """The accepted arms, k of them at the stop."""
        return accepted_arms(history, self.recommend(history, memory))

    def design_pulls(self) -> float:
        """An upper bound on the expected number of pulls, where the threshold is right."""
        return expected_repetitions(self.delta, self.tries.wanted) * self.tries.repetition_cost()


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    threshold: float | None = None,
    k: int = 1,
) -> ALQIK:
    """AL-Q-IK.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: means within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        Bernoulli, which stands for any rewards between 0 and 1.
    threshold
        The mean that a fraction alpha of the arms reach, q+; must be given. With a lower one the answer is within
        epsilon of that; with one that too few arms reach there is no guarantee, and a run may never stop.
    k
        How many arms to return; all of them are right with probability at least 1 - delta.

    Examples
    --------
    >>> algorithm = design(0.1, 0.1, 0.1, threshold=0.855)
    >>> algorithm.arms, f"{algorithm.design_pulls():.3g}"
    (11, '1.66e+06')
    >>> design(0.1, 0.1, 0.1)
    Traceback (most recent call last):
    ValueError: threshold must be given: the mean that a fraction alpha of the arms reach, got None
    """
    alpha, epsilon, delta = target(alpha, epsilon, delta)
    law = unit_rewards(family)
    if threshold is None:
        raise ValueError("threshold must be given: the mean that a fraction alpha of the arms reach, got None")
    level = real("threshold", threshold)
    require(math.isfinite(level), "threshold", "be finite", threshold)
    tries = repetitions(alpha, epsilon, delta, whole("k", k))
    affordable(expected_repetitions(delta, k) * tries.repetition_cost(), epsilon)
    return ALQIK(alpha=alpha, epsilon=epsilon, delta=delta, arms=tries.drawn, family=law, threshold=level, tries=tries)


def _known(reservoir: Reservoir, alpha: float, epsilon: float) -> dict[str, Any]:
    """The threshold: what a fraction alpha of the arms reach."""
    return {"threshold": reservoir.top(alpha)}


ENTRY = Entry(
    name="al-q-ik",
    design=design,
    guarantee="fixed-confidence",
    reference="Ren, Liu, Shroff (AISTATS 2019), AL-Q-IK: known threshold",
    proof="docs/field/threshold.md, 2",
    options={},
    rewards="unit",
    knowledge=_known,
)
