"""p3: copies of P2 at constant confidence, then the best of their winners; Chaudhuri and Kalyanakrishnan (ICML 2019).

u independent copies of P2 run at (epsilon/2, 1/4), each on fresh arms; then a finite solver runs at (epsilon/2,
delta/2) on the u winners. All copies fail with probability at most 4^-u, so u = ceil(ln(2/delta) / ln 4) copies
suffice; the printed u = ceil(4 ln(2/delta)) rests on (3/4)^u (docs/field/p2.md, 5).
"""

from __future__ import annotations

from typing import NamedTuple

from topalpha.algorithms.field.finite_solvers import NUMBERS, PULLS, ROUNDS, affordable, computable
from topalpha.algorithms.field.p2 import ARMS, WIDTH, OneWinner
from topalpha.arithmetic import log
from topalpha.families import unit_rewards
from topalpha.rules.elimination import FURTHER
from topalpha.rules.median_elimination import EliminationContest, rounded_up
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import choice

#: The error probability of each copy of P2.
COPY_DELTA = 0.25

#: The entries of the state that the copies and their final use, from their place on; the last counts finished copies.
TOURNAMENT_NUMBERS = NUMBERS + 1

#: The textual options.
OPTIONS = {"solver": tuple(ROUNDS), "copies": ("printed", "corrected"), "arms": tuple(ARMS), "pulls": tuple(PULLS)}


class Copies(NamedTuple):
    """Copies of P2, and a final between their winners."""

    number: int
    trial: EliminationContest
    final: EliminationContest

    def tournament(self, history: History, order: Integers, start: int, each: int, place: int, batch: Integers) -> int:
        """Blocks of the current contest, copies of ``each`` fresh arms from ``start`` on; 0 once one arm is left.

        A copy leaves its winner in the set, and the next copy begins after it.
        """
        state, counter = history.state, place + NUMBERS
        while state[counter] < self.number:
            written = self.trial.contest(history, order, start + int(state[counter]) * each, each, place, batch)
            if written != 0:
                return written
            state[counter] += 1.0
        written = self.final.contest(history, order, start, 0, place, batch)
        if written == 0:
            state[counter] = 0.0
        return written

    def tournament_pulls(self, each: int) -> float:
        """The pulls of all copies and the final; on the host only."""
        return self.number * self.trial.most_pulls(each, True) + self.final.most_pulls(self.number, False)


class P3(OneWinner, Parameters):
    """Copies of P2, then a final; build it with :func:`design`. Correct for rewards in [0, 1] (docs/field/p2.md, 5)."""

    copies: Copies
    arms_each: int
    traits = Traits("p3", columns=FURTHER, numbers=TOURNAMENT_NUMBERS + 1, width=WIDTH, blocks=True)

    def next_contest(self, history: History, order: Integers, batch: Integers) -> int:
        """One copy after the other, then the final."""
        return self.copies.tournament(history, order, 0, self.arms_each, 0, batch)

    def design_pulls(self) -> float:
        """The exact number of pulls of every run."""
        return self.copies.tournament_pulls(self.arms_each)


def copies_needed(delta: float, copies: str) -> int:
    """u, ``"printed"`` or ``"corrected"``.

    Examples
    --------
    >>> copies_needed(0.1, "printed"), copies_needed(0.1, "corrected"), copies_needed(0.125, "corrected")
    (12, 3, 2)
    """
    printed = choice("copies", copies, OPTIONS["copies"]) == "printed"
    number = log(2.0 / delta) * (4.0 if printed else 1.0 / log(1.0 / COPY_DELTA))
    return rounded_up(number)


def copies_of_p2(epsilon: float, delta: float, solver: str, copies: str, pulls: str) -> Copies:
    """The copies and the final of P3 for an error of at most ``delta``.

    Examples
    --------
    >>> made = copies_of_p2(0.2, 0.1, "median", "corrected", "printed")
    >>> made.number, made.trial.delta, made.final.delta, made.final.epsilon
    (3, 0.125, 0.05, 0.1)
    """
    make = ROUNDS[choice("solver", solver, ROUNDS)]
    trial, final = make(epsilon / 2.0, COPY_DELTA / 2.0, pulls), make(epsilon / 2.0, delta / 2.0, pulls)
    return Copies(copies_needed(delta, copies), trial, final)


@algorithm(
    "p3",
    "Chaudhuri, Kalyanakrishnan (ICML 2019), Algorithm 2 (P3)",
    "docs/field/p2.md, 5",
    family=unit_rewards,
    options=OPTIONS,
)
def design(
    target: Target, *, solver: str = "median", copies: str = "printed", arms: str = "paper", pulls: str = "printed"
) -> P3:
    """P3; ``solver``, ``arms`` and ``pulls`` as for P2, whose copies err with probability at most 1/4.

    The number of ``copies`` is ``"printed"``, ceil(4 ln(2/delta)), or ``"corrected"``, ceil(ln(2/delta) / ln 4).

    Examples
    --------
    >>> design(0.1, 0.2, 0.1).arms, design(0.1, 0.2, 0.1, copies="corrected").arms  # 21 a copy
    (252, 63)
    >>> design(0.1, 0.2, 0.1, copies="corrected", solver="uniform").design_pulls()  # 63 * 508 + 3 * 369
    33111.0
    """
    computable(target)
    made = copies_of_p2(target.epsilon, target.delta, solver, copies, pulls)
    each = ARMS[choice("arms", arms, ARMS)](target.alpha, COPY_DELTA)
    return affordable(P3(*target.on(made.number * each), made, each))
