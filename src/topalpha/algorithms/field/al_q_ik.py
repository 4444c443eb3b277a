"""al-q-ik: arms within epsilon of a known threshold; Ren, Liu and Shroff (AISTATS 2019), AL-Q-IK.

A fraction alpha of the arms reach the threshold q+. Repeat: draw ceil(ln(3)/alpha) arms, find a good one of them by
Median Elimination, with a constant probability of success, and test it against the threshold at level delta/k.
Repetitions are independent and find a good arm with probability at least 1/2, so an accepted arm is wrong with
probability at most delta/k, however many repetitions there are: (alpha, epsilon, delta)-correct if the threshold is
right (docs/field/threshold.md, 2). al-q-iu and cc-me borrow the schedule of Halving and the repetitions.

All of it rests on Hoeffding's inequality for rewards in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from topalpha.algorithms.field.finite_solvers import affordable, computable
from topalpha.arithmetic import cube_root, log
from topalpha.families import unit_rewards
from topalpha.rules.elimination import FURTHER, Blocks, keep_best, new_round, next_blocks, round_mean, survivor
from topalpha.rules.generic import KnownThreshold
from topalpha.rules.median_elimination import scaled
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, Generator, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm, named_threshold
from topalpha.rules.sampling import empirical_best
from topalpha.validate import real, require, whole

#: The most blocks of pulls in one plan.
WIDTH = 8

#: The column that marks accepted arms.
ACCEPTED = FURTHER

#: Entries of the state: the first arm of the current repetition, its round, and the number of accepted arms.
FIRST, ROUND, FOUND, NUMBERS = 0, 1, 2, 3


class Halving(NamedTuple):
    """Elimination rounds that leave ``keep`` arms, each within ``accuracy`` of the ``keep``-th best, or better.

    This holds with probability at least 1 - ``level`` (docs/field/threshold.md, 1). With ``keep`` = 1 it is Median
    Elimination of Even-Dar, Mannor and Mansour (JMLR 2006), with half its pulls.

    Examples
    --------
    >>> median = Halving(1, 0.5, 0.25)
    >>> [median.halved(11, number) for number in range(5)], median.halving_pulls(0, 0), median.halving_pulls(1, 0)
    ([11, 6, 3, 2, 1], 407, 881)
    """

    keep: int
    accuracy: float
    level: float

    def halved(self, size: int, number: int) -> int:
        """The number of arms left of ``size`` before round ``number``, counted from 0."""
        for _ in range(number):
            size = max((size + 1) // 2, self.keep)
        return size

    def halving_pulls(self, number: int, harder: int) -> int:
        """The pulls of each arm in round ``number``, counted from 0; the level is first halved ``harder`` times."""
        step = scaled(0.25 * self.accuracy, 0.75, number)
        level = scaled(0.5 * self.level, 0.5, number + harder)
        return max(1, math.ceil(2.0 / (step * step) * log(3.0 * self.keep / level)))

    def halve(self, history: History, order: Integers, first: int, size: int, batch: Integers) -> int:
        """The next blocks of the ``size`` arms from ``first`` on, WAIT, or 0 once ``keep`` of them are left."""
        while self.halved(size, int(history.state[ROUND])) != self.keep:
            number = int(history.state[ROUND])
            written = next_blocks(history, first, size, self.halving_pulls(number, 0), batch)
            if written != 0:
                return written
            keep_best(history, order, first, self.halved(size, number + 1))
            new_round(history, first)
            history.state[ROUND] += 1.0
        return 0

    def halving_cost(self, size: int, harder: int) -> float:
        """The pulls that reduce ``size`` arms to ``keep``, a fixed number."""
        number, pulls = 0, 0
        while (left := self.halved(size, number)) > self.keep:
            pulls += left * self.halving_pulls(number, harder)
            number += 1
        return float(pulls)


class Repetitions(NamedTuple):
    """Draw ``drawn`` arms, halve them to one, pull it ``test_pulls`` times and accept it or not, ``wanted`` times.

    An arm is accepted if its mean in the test is at least the threshold less ``margin``.
    """

    drawn: int
    elimination: Halving
    test_pulls: int
    margin: float
    wanted: int

    def next_test(self, history: History, order: Integers, threshold: float, batch: Any) -> int:
        """The next blocks of pulls, WAIT, or 0 once enough arms are accepted."""
        state = history.state
        while state[FOUND] < self.wanted:
            first = int(state[FIRST])
            written = self.elimination.halve(history, order, first, self.drawn, batch)
            if written == 0:
                written = next_blocks(history, first, self.drawn, self.test_pulls, batch)
            if written != 0:
                return written
            arm = survivor(history, first)
            if round_mean(history, arm) >= threshold - self.margin:
                history.stats[ACCEPTED][arm] = 1.0
                state[FOUND] += 1.0
            state[FIRST] = float(history.arms)
            state[ROUND] = 0.0
        return 0

    def repetition_cost(self) -> float:
        """The pulls of one repetition, a fixed number."""
        return self.elimination.halving_cost(self.drawn, 0) + self.test_pulls

    def expected_cost(self, delta: float) -> float:
        """An upper bound on the expected pulls of all repetitions, if the threshold is right; ``delta`` as designed."""
        return expected_repetitions(delta, self.wanted) * self.repetition_cost()


def repetitions(alpha: float, epsilon: float, delta: float, wanted: int) -> Repetitions:
    """The repetitions of al-q-ik for this target, with the cheapest split of epsilon_1 + 2 epsilon_2 = epsilon.

    Examples
    --------
    >>> plan = repetitions(0.1, 0.1, 0.1, 1)
    >>> plan.drawn, plan.test_pulls, round(plan.elimination.accuracy, 4), plan.repetition_cost()
    (11, 63615, 0.0915, 746422.0)
    """
    drawn = math.ceil(log(3.0) / alpha)
    test = 0.5 * log(wanted / delta)
    middle, edge = split(epsilon, (Halving(1, 1.0, 0.25).halving_cost(drawn, 0), test), (1.0, 2.0))
    return Repetitions(
        drawn=drawn,
        elimination=Halving(keep=1, accuracy=middle, level=0.25),
        test_pulls=max(1, math.ceil(test / (edge * edge))),
        margin=middle + edge,
        wanted=wanted,
    )


def expected_repetitions(delta: float, wanted: int) -> float:
    """An upper bound on the expected repetitions: each accepts an arm with probability (1 - delta/k)/2.

    Examples
    --------
    >>> expected_repetitions(0.2, 1)
    2.5
    """
    return 2.0 * wanted / (1.0 - delta / wanted)


class Accepting(Blocks):
    """Return the accepted arms."""

    __slots__ = ()

    def selection(self, history: History, memory: Any) -> list[int]:
        """The accepted arms, k of them at the stop; if there is none yet, the empirical best."""
        accepted = [arm for arm in range(history.arms) if history.stats[ACCEPTED][arm] == 1.0]
        return accepted or [empirical_best(history.stats[SUM], history.pulls, history.arms)]

    def recommend(self, history: History, memory: Any) -> int:
        """The first of them."""
        return self.selection(history, memory)[0]


def split(total: float, costs: Sequence[float], shares: Sequence[float]) -> list[float]:
    """The positive x with sum shares_i x_i = total that minimise sum costs_i / x_i^2, by Lagrange.

    Examples
    --------
    >>> split(1.0, (1.0, 1.0), (1.0, 1.0)), [round(one, 12) for one in split(1.0, (8.0, 2.0), (1.0, 2.0))]
    ([0.5, 0.5], [0.5, 0.25])
    """
    roots = [cube_root(cost / share) for cost, share in zip(costs, shares, strict=True)]
    whole = math.fsum(share * root for share, root in zip(shares, roots, strict=True))
    return [total * root / whole for root in roots]


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
