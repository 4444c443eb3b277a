"""al-q-ik: arms within epsilon of a known threshold; Ren, Liu and Shroff (AISTATS 2019), AL-Q-IK.

A fraction alpha of the arms reach the threshold q+. Repeat: draw ceil(ln(3)/alpha) arms, find a good one of them by
Median Elimination, with a constant probability of success, and test it against the threshold at level delta/k.
Repetitions are independent and find a good arm with probability at least 1/2, so an accepted arm is wrong with
probability at most delta/k, however many repetitions there are: (alpha, epsilon, delta)-correct if the threshold is
right (docs/field/threshold.md, 2).
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms.field.finite_solvers import affordable, computable
from topalpha.algorithms.field.schedules_threshold import ACCEPTED, NUMBERS, WIDTH, Accepting, Repetitions, repetitions
from topalpha.families import unit_rewards
from topalpha.rules.generic import KnownThreshold
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import Generator, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm, named_threshold
from topalpha.validate import real, require, whole


class ALQIK(KnownThreshold, Accepting, Parameters):
    """Known threshold; build it with :func:`design`. Correct if the threshold is (docs/field/threshold.md, 2)."""

    threshold: float
    tries: Repetitions  # each on ``arms`` arms
    traits = Traits("al-q-ik", columns=ACCEPTED + 1, numbers=NUMBERS, width=WIDTH, blocks=True)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Repetitions against the known threshold, until k arms are accepted."""
        return self.tries.next_test(history, memory.order, self.threshold, batch)

    def design_pulls(self) -> float:
        """An upper bound on the expected number of pulls, if the threshold is right."""
        return self.tries.expected_cost(self.delta)


@algorithm(
    "al-q-ik",
    "Ren, Liu, Shroff (AISTATS 2019), AL-Q-IK: known threshold",
    "docs/field/threshold.md, 2",
    family=unit_rewards,
    knowledge=named_threshold,
)
def design(target: Target, *, threshold: float | None = None, k: int = 1) -> ALQIK:
    """AL-Q-IK with the ``threshold`` q+, the mean that a fraction alpha of the arms reach.

    With a lower threshold the answer is within epsilon of it; with one that too few arms reach there is no guarantee,
    and a run may never stop. All ``k`` returned arms are right with probability at least 1 - delta.

    Examples
    --------
    >>> made = design(0.1, 0.1, 0.1, threshold=0.855)
    >>> made.arms, f"{made.design_pulls():.3g}"
    (11, '1.66e+06')
    >>> design(0.1, 0.1, 0.1)
    Traceback (most recent call last):
    ValueError: threshold must be given: the mean that a fraction alpha of the arms reach, got None
    """
    computable(target)
    if threshold is None:
        raise ValueError("threshold must be given: the mean that a fraction alpha of the arms reach, got None")
    level = real("threshold", threshold)
    require(math.isfinite(level), "threshold", "be finite", threshold)
    tries = repetitions(target.alpha, target.epsilon, target.delta, whole("k", k))
    return affordable(ALQIK(*target.on(tries.drawn), level, tries))
