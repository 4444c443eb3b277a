"""cc-me: elimination with a constant-confidence check; order-optimal in expectation (docs/proofs.md, F).

An attempt draws arms and reduces them to one by Median Elimination. Each round l leaves an upper bound behind for the
arms that it eliminates, which holds only with a constant probability: their best average, plus omega_l. The last arm is
pulled afresh for a lower bound. If that comes within epsilon of all these upper bounds, the arm is returned; otherwise
the next attempt begins, with half the level. (alpha, epsilon, delta)-correct for every reservoir, and the expected
number of pulls is at most C ln(2/delta) / (alpha epsilon^2).
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms.field.al_q_ik import WIDTH, Halving
from topalpha.algorithms.field.finite_solvers import affordable, computable
from topalpha.arithmetic import log, log1p, power
from topalpha.families import unit_rewards
from topalpha.rules.elimination import ALIVE, FURTHER, Blocks, keep_best, new_round, next_blocks, round_mean, survivor
from topalpha.rules.generic import Recalled
from topalpha.rules.median_elimination import rounded_up
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import Generator, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import choice

# The state: the first arm of the attempt, the attempt and its round, the largest upper bound of eliminated arms, and
# the arm to return, counted from 1.
_FIRST, _ATTEMPT, _ROUND, _BOUND, _ANSWER, _NUMBERS = 0, 1, 2, 3, 4, 5

# eta, delta_u, and epsilon_f / epsilon.
_ETA, _UPPER_LEVEL, _SHARE = 0.125, 0.25, 1.0 / 6.0

# Attempt k takes place with probability at most 2^(1-k), and its cost grows linearly in k: the contribution of later
# attempts is below the rounding error of a float.
_ATTEMPTS = 80


class CCME(Recalled, Blocks, Parameters):
    """Elimination with a check; build it with :func:`design`. (alpha, epsilon, delta)-correct (docs/proofs.md, F)."""

    elimination: Halving
    log_level: float  # ln(2/delta)
    draw_rate: float  # -ln(1 - alpha (1 - delta_u))
    same: bool  # all attempts use the ``arms`` arms of the first one
    answer_entry = _ANSWER
    traits = Traits("cc-me", columns=FURTHER, numbers=_NUMBERS, width=WIDTH, blocks=True)

    def harder(self, attempt: int) -> int:
        """How often the level of the rounds of attempt k, from 1, is halved: k times if all have the same arms."""
        return attempt if self.same else 0

    def attempt_arms(self, attempt: int) -> int:
        """n_k, the number of arms of attempt k."""
        logarithm = self.log_level + (attempt - self.harder(attempt)) * log(2.0)
        return rounded_up(logarithm / self.draw_rate)

    def attempt_width(self, attempt: int, number: int) -> float:
        """omega_l, the width added to the best average eliminated in round l = ``number`` + 1."""
        harder = self.harder(attempt)
        logarithm = (number + 1 + harder) * log(2.0) - log(_UPPER_LEVEL)
        return math.sqrt(logarithm / (2.0 * self.elimination.halving_pulls(number, harder)))

    def attempt_final_pulls(self, attempt: int) -> int:
        """N_f, the pulls of the last arm of this attempt."""
        accuracy = _SHARE * self.epsilon
        return max(1, math.ceil(2.0 / (accuracy * accuracy) * (self.log_level + attempt * log(2.0))))

    def begin_attempt(self, history: History) -> None:
        """Start the next attempt, with fresh arms or with the same arms again."""
        state = history.state
        if self.same:
            for arm in range(history.arms):
                history.stats[ALIVE][arm] = 1.0
            new_round(history, 0)
        else:
            state[_FIRST] = float(history.arms)
        state[_ATTEMPT] += 1.0
        state[_ROUND] = 0.0
        state[_BOUND] = -math.inf

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Attempt after attempt: reduce the arms to one, pull it afresh, compare it with the eliminated arms."""
        state = history.state
        if state[_ATTEMPT] == 0.0:
            self.begin_attempt(history)
        while state[_ANSWER] == 0.0:
            first, attempt, number = int(state[_FIRST]), int(state[_ATTEMPT]), int(state[_ROUND])
            drawn = self.attempt_arms(attempt)
            last = self.elimination.halved(drawn, number) == 1
            harder = self.harder(attempt)
            count = self.attempt_final_pulls(attempt) if last else self.elimination.halving_pulls(number, harder)
            written = next_blocks(history, first, drawn, count, batch)
            if written != 0:
                return written
            if last:
                arm = survivor(history, first)
                lower = round_mean(history, arm) - 0.5 * _SHARE * self.epsilon
                if lower >= state[_BOUND] - self.epsilon:
                    state[_ANSWER] = arm + 1.0
                else:
                    self.begin_attempt(history)
            else:
                dropped = keep_best(history, memory.order, first, self.elimination.halved(drawn, number + 1))
                state[_BOUND] = max(state[_BOUND], dropped + self.attempt_width(attempt, number))
                new_round(history, first)
                state[_ROUND] += 1.0
        return 0

    def attempt_cost(self, attempt: int) -> float:
        """The pulls of this attempt, which are fixed."""
        halving = self.elimination.halving_cost(self.attempt_arms(attempt), self.harder(attempt))
        return halving + self.attempt_final_pulls(attempt)

    def design_pulls(self) -> float:
        """An upper bound on the expected number of pulls: every attempt times the probability that it takes place.

        An attempt fails its check with probability at most (5/3) eta + delta_L; with the same arms, eta is multiplied
        by 2^-k.
        """
        pulls, reached = 0.0, 1.0
        for attempt in range(1, _ATTEMPTS):
            pulls += reached * self.attempt_cost(attempt)
            eta = _ETA * power(0.5, self.harder(attempt))
            reached *= 5.0 / 3.0 * eta + 0.5 * self.delta * power(0.5, attempt)
        return pulls


@algorithm(
    "cc-me",
    "Median Elimination with a constant-confidence check: one logarithm of 1/delta in expectation",
    "docs/proofs.md, F; docs/field/threshold.md, 4",
    family=unit_rewards,
    options={"arms": ("fresh", "same")},
)
def design(target: Target, *, arms: str = "fresh") -> CCME:
    """Constant-confidence Median Elimination.

    With ``arms="fresh"`` every attempt draws its own arms. With ``"same"`` all attempts use the arms of the first one,
    so the algorithm has two phases: all draws, then all pulls.

    Examples
    --------
    >>> made = design(0.1, 0.1, 0.1)
    >>> made.arms, f"{made.design_pulls():.3g}", design(0.1, 0.1, 0.1, arms="same").arms
    (48, '1.26e+07', 39)
    """
    computable(target)
    made = CCME(
        *target.on(1),
        elimination=Halving(keep=1, accuracy=4.0 * _SHARE * target.epsilon, level=_ETA),
        log_level=log(2.0 / target.delta),
        draw_rate=-log1p(-target.alpha * (1.0 - _UPPER_LEVEL)),
        same=choice("arms", arms, ("fresh", "same")) == "same",
    )
    return affordable(made)._replace(arms=made.attempt_arms(1))
