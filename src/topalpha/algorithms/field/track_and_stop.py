"""track-and-stop: Garivier and Kaufmann (COLT 2016) for epsilon > 0, with one answer to stick to.

Fix an answer i. The evidence that i is good enough grows fastest when arms are pulled in the proportions w that
maximise min_j W_ij(w); the proportions at the empirical means are tracked (D-tracking, with forced exploration). With
epsilon > 0 several answers may be right, and proportions that alternate between them settle nothing. So the answer is
the arm of smallest index among those within ``stick`` * epsilon of the largest mean, after Degenne and Koolen (NeurIPS
2019). The proportions are those of Gaussian rewards with each arm's own variance, which solve one equation in one
unknown. They affect the sampling only: the stopping rule is exact, and makes the run (alpha, epsilon, delta)-correct
for every reservoir (docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms.field.pair_design import ANSWER, PairStop, pair_stop
from topalpha.families import checked
from topalpha.rules.parameters import Named
from topalpha.rules.protocol import SUM, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import real, require

# The least variance, so that no product of variances underflows.
_LEAST = 1e-100


class Tracking(Named):
    """Pull the arm furthest behind its proportion; an answer is within ``stick`` epsilons of the largest mean."""

    stick: float
    traits = Traits("track-and-stop", numbers=1)

    def answer_now(self, target: Any, history: History, memory: Any) -> int:
        """The arm of smallest index within stick * epsilon of the largest mean; stored in the state."""
        bar = memory.means[memory.leaders[1]] - self.stick * target.epsilon
        answer = 0
        while memory.means[answer] < bar:
            answer += 1
        history.state[ANSWER] = answer + 1.0
        return answer

    def proportions(self, target: Any, history: History, memory: Any, answer: int) -> None:
        """Write the proportions w for this answer into ``memory.draws``, with the answer's own as 1.

        With variances v and D_j = p_i - p_j + epsilon, Gaussian costs are W_ij(w) = D_j^2 / (2 (v_i/w_i + v_j/w_j));
        v_i and v_j are taken two thirds of the way to p_i - epsilon/2 and to p_i + epsilon/2: most of a cost arises
        near the far end, which is about where the two meet. At the optimum all costs are equal,
        w_j = v_j / (D_j^2 s - v_i) for some s, and sum_j v_i w_j^2 / v_j = 1. The sum F decreases in s and 1 / sqrt(F)
        is concave: Newton's iteration from a point where F >= 1 increases to the root.
        """
        pulls = history.pulls[answer]
        lowered = max(memory.means[answer] - target.epsilon / 3.0, target.family.lowest)
        own = max(target.family.spread(lowered * pulls, pulls), target.family.spread(history.stats[SUM][answer], pulls))
        own = max(own, _LEAST)
        scale = 0.0
        for arm in range(history.arms):
            if arm != answer:
                gap = memory.means[answer] - memory.means[arm] + target.epsilon
                raised = (memory.means[arm] + 2.0 * memory.means[answer]) / 3.0
                if raised + target.epsilon / 3.0 < target.family.highest:
                    raised += target.epsilon / 3.0
                # Not so small that rounding would lose it in the sum with the answer's.
                least = max(_LEAST, 1e-20 * own)
                variance = max(target.family.spread(raised * history.pulls[arm], history.pulls[arm]), least)
                memory.draws[arm] = variance
                scale = max(scale, (own + math.sqrt(own * variance)) / (gap * gap))
        for _ in range(20):
            total = 0.0
            fall = 0.0
            for arm in range(history.arms):
                if arm != answer:
                    gap = memory.means[answer] - memory.means[arm] + target.epsilon
                    rest = 1.0 / (gap * gap * scale - own)
                    term = own * memory.draws[arm] * rest * rest
                    total += term
                    fall += 2.0 * term * rest * gap * gap
            step = 2.0 * total * (math.sqrt(total) - 1.0) / fall
            scale += max(step, 0.0)
            if step <= 1e-6 * scale:
                break
        for arm in range(history.arms):
            if arm != answer:
                gap = memory.means[answer] - memory.means[arm] + target.epsilon
                memory.draws[arm] /= gap * gap * scale - own
        memory.draws[answer] = 1.0

    def tracked(self, history: History, memory: Any) -> int:
        """The arm furthest behind its proportion, or the least pulled arm if it has fewer than sqrt(t) - n/2 pulls."""
        whole = 0.0
        for arm in range(history.arms):
            whole += memory.draws[arm]
        time = history.t + history.in_flight
        least, fewest, behind, lag = 0, 0, 0, 0.0
        for arm in range(history.arms):
            spent = history.pulls[arm]
            if history.in_flight > 0:
                spent += history.pending[arm]
            if arm == 0 or spent < fewest:
                least, fewest = arm, spent
            missing = time * (memory.draws[arm] / whole) - spent
            if arm == 0 or missing > lag:
                behind, lag = arm, missing
        return least if fewest < math.sqrt(time) - 0.5 * history.arms else behind

    def next_pulls(self, target: Any, history: History, memory: Any, rng: Any, answer: int, batch: Integers) -> int:
        """The tracked arm."""
        self.proportions(target, history, memory, answer)
        batch[0] = self.tracked(history, memory)
        return 1


@algorithm(
    "track-and-stop",
    "Garivier, Kaufmann (COLT 2016), Track-and-Stop; Degenne, Koolen (NeurIPS 2019), one sticky answer",
    "docs/field/finite_solvers.md, 2",
    family=checked,
)
def design(target: Target, *, stick: float = 0.1, pool: int = 0) -> PairStop:
    """Track-and-Stop on the arms of lucb++; an answer is at most ``stick`` epsilons below the largest mean.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    share = real("stick", stick)
    require(0.0 <= share < 1.0, "stick", "be at least 0 and below 1", stick)
    return pair_stop(target, pool, Tracking(share))
