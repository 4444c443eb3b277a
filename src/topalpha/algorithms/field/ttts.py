"""ttts: top-two Thompson sampling, Russo (COLT 2016), with a proved stopping rule.

A sample from the posterior of all means has a best arm, the leader of the round. With probability beta it is pulled;
otherwise samples are drawn until another arm is best, and that arm is pulled. Posteriors are Beta(1 + S, 1 + N - S);
rewards inside (0, 1) count as fractions of a success, which changes the sampling rule only. The stopping rule, on
generalised likelihood ratios, makes the run (alpha, epsilon, delta)-correct for every reservoir
(docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from typing import Any

from topalpha.algorithms.field.pair_design import LeadingAnswer, PairStop, pair_stop
from topalpha.families import unit_rewards
from topalpha.rules.likelihood_ratio import closest_rival
from topalpha.rules.protocol import SUM, Generator, History, Integers, Pair, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import fraction, whole


class BetaPosteriors:
    """Posteriors Beta(1 + S, 1 + N - S) of the means; d-ttts shares them."""

    __slots__ = ()

    def top_two(self, history: History, rng: Generator, fresh: int) -> Pair:
        """The arms of the largest and the second largest of one draw per arm, -1 if there is none.

        Index ``history.arms`` stands for ``fresh`` arms never pulled, whose largest draw has the law Beta(fresh, 1).
        """
        best, second = -1, -1
        highest, next_highest = -1.0, -1.0
        if fresh > 0:
            best = history.arms
            highest = rng.beta(float(fresh), 1.0)
        for arm in range(history.arms):
            total = history.stats[SUM][arm]
            draw = rng.beta(1.0 + total, 1.0 + history.pulls[arm] - total)
            if draw > highest:
                best, second = arm, best
                highest, next_highest = draw, highest
            elif draw > next_highest:
                second, next_highest = arm, draw
        return best, second


class Thompson(BetaPosteriors, LeadingAnswer):
    """A best arm of a posterior sample; ``leader_share`` is beta, ``resamples`` the most samples for a challenger."""

    leader_share: float
    resamples: int
    traits = Traits("ttts", numbers=1)

    def next_pulls(self, target: Any, history: History, memory: Any, rng: Any, answer: int, batch: Integers) -> int:
        """The best arm of a sample or, with probability 1 - beta, another arm."""
        first = self.top_two(history, rng, 0)[0]
        batch[0] = first
        if rng.random() >= self.leader_share:
            second = first
            for _ in range(self.resamples):
                if second == first:
                    second = self.top_two(history, rng, 0)[0]
            if second == first:
                second = closest_rival(target.family, history, memory, first, target.epsilon, 0.0)
            batch[0] = second
        return 1


@algorithm(
    "ttts",
    "Russo (COLT 2016), top two Thompson sampling; GLR stopping",
    "docs/field/finite_solvers.md, 2",
    family=unit_rewards,
)
def design(target: Target, *, beta: float = 0.5, resamples: int = 2, pool: int = 0) -> PairStop:
    """TTTS on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on all of a finite list of ``pool`` candidates.

    The leader of a sample is pulled with probability ``beta``. After ``resamples`` samples without a challenger the
    rival of least transportation cost is taken; the source tries for ever, which takes long once one arm is clearly
    best.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    return pair_stop(target, pool, Thompson(fraction("beta", beta), whole("resamples", resamples)))
