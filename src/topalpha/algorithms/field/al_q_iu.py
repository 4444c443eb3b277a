"""al-q-iu: arms near an unknown threshold; Ren, Liu and Shroff (AISTATS 2019), AL-Q-IU.

First estimate a limit between q+(alpha) - epsilon/5 and q+(alpha/2): draw (32/alpha) ln(10/delta) arms, keep the best
three quarters alpha of them by Halving, find the worst of these by Halving on the reversed rewards, and measure it.
Then run al-q-ik with that limit, alpha/2 and 4/5 epsilon. Each half errs with probability at most delta/2:
(alpha, epsilon, delta)-correct for every reservoir (docs/field/threshold.md, 3).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.algorithms.field.al_q_ik import ALQIK, FIRST, ROUND, Accepting, Halving, Repetitions, repetitions, split
from topalpha.algorithms.field.finite_solvers import affordable, computable
from topalpha.arithmetic import log
from topalpha.families import unit_rewards
from topalpha.rules.elimination import ROUND_SUM, fold_block, next_blocks, round_mean, survivor
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import Generator, History, Integers
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import whole

# Entries of the state after those of al-q-ik: the phase, and the limit once it is estimated.
_PHASE, _LIMIT = ALQIK.traits.numbers, ALQIK.traits.numbers + 1

# Phases: find the best arms, then the worst of these, measure it; then repetitions.
_BEST, _WORST, _MEASURE, _SEARCH = 0, 1, 2, 3


class LimitEstimation(NamedTuple):
    """The limit: the mean, less ``margin``, of the worst of the best of ``drawn`` arms over ``measure_pulls`` pulls."""

    drawn: int
    best: Halving
    worst: Halving
    measure_pulls: int
    margin: float

    def next_estimate(self, history: History, order: Integers, batch: Any) -> int:
        """The next blocks of pulls, WAIT, or 0 once the limit is known."""
        state = history.state
        while state[_PHASE] != _SEARCH:
            if state[_PHASE] == _BEST:
                written = self.best.halve(history, order, 0, self.drawn, batch)
            elif state[_PHASE] == _WORST:
                written = self.worst.halve(history, order, 0, self.best.keep, batch)
            else:
                written = next_blocks(history, 0, self.drawn, self.measure_pulls, batch)
            if written != 0:
                return written
            if state[_PHASE] == _MEASURE:
                state[_LIMIT] = round_mean(history, survivor(history, 0)) - self.margin
                state[FIRST] = float(history.arms)
            state[_PHASE] += 1.0
            state[ROUND] = 0.0
        return 0

    def estimate_cost(self) -> float:
        """The number of pulls, which is fixed."""
        best, worst = self.best.halving_cost(self.drawn, 0), self.worst.halving_cost(self.best.keep, 0)
        return best + worst + self.measure_pulls


class ALQIU(Accepting, Parameters):
    """Unknown threshold; build it with :func:`design`. (alpha, epsilon, delta)-correct (docs/field/threshold.md, 3)."""

    estimation: LimitEstimation  # on the first ``arms`` arms
    tries: Repetitions
    traits = ALQIK.traits._replace(name="al-q-iu", numbers=_LIMIT + 1)

    def observe_block(self, history: History, memory: Any, arm: int, count: int, total: float) -> None:
        """Count a block of rewards; while the worst arm is sought, a reward X counts as 1 - X in the round."""
        before = history.stats[ROUND_SUM][arm]
        fold_block(history, arm, count, total)
        if history.state[_PHASE] == _WORST:
            history.stats[ROUND_SUM][arm] = before + (count - total)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Estimate the limit; then run repetitions against it until k arms are accepted."""
        written = self.estimation.next_estimate(history, memory.order, batch)
        if written != 0:
            return written
        return self.tries.next_test(history, memory.order, history.state[_LIMIT], batch)

    def design_pulls(self) -> float:
        """The pulls of the estimate, plus an upper bound on those expected afterwards if it is right."""
        return self.estimation.estimate_cost() + self.tries.expected_cost(0.5 * self.delta)


def limit_estimation(alpha: float, epsilon: float, delta: float) -> LimitEstimation:
    """LE: a limit in [q+(alpha) - epsilon, q+(alpha/2)] with probability 1 - delta (docs/field/threshold.md, 3).

    Examples
    --------
    >>> estimation = limit_estimation(0.1, 0.02, 0.05)
    >>> estimation.drawn, estimation.best.keep, f"{estimation.estimate_cost():.3g}"
    (1474, 111, '1.46e+10')
    """
    drawn = math.ceil(32.0 / alpha * log(5.0 / delta))
    keep = math.floor(1.0 + 0.75 * alpha * drawn)
    level = 0.2 * delta
    measure = 0.5 * log(10.0 / delta)
    costs = (Halving(keep, 1.0, level).halving_cost(drawn, 0), Halving(1, 1.0, level).halving_cost(keep, 0), measure)
    best, worst, edge = split(epsilon, costs, (1.0, 1.0, 2.0))
    return LimitEstimation(
        drawn=drawn,
        best=Halving(keep=keep, accuracy=best, level=level),
        worst=Halving(keep=1, accuracy=worst, level=level),
        measure_pulls=max(1, math.ceil(measure / (edge * edge))),
        margin=worst + edge,
    )


@algorithm(
    "al-q-iu",
    "Ren, Liu, Shroff (AISTATS 2019), AL-Q-IU: unknown threshold",
    "docs/field/threshold.md, 3",
    family=unit_rewards,
)
def design(target: Target, *, k: int = 1) -> ALQIU:
    """AL-Q-IU; all ``k`` returned arms are right with probability at least 1 - delta.

    Examples
    --------
    >>> made = design(0.1, 0.1, 0.1)
    >>> made.arms, f"{made.design_pulls():.3g}"
    (1474, '1.46e+10')
    """
    computable(target)
    estimation = limit_estimation(target.alpha, 0.2 * target.epsilon, 0.5 * target.delta)
    tries = repetitions(0.5 * target.alpha, 0.8 * target.epsilon, 0.5 * target.delta, whole("k", k))
    return affordable(ALQIU(*target.on(estimation.drawn), estimation, tries))
