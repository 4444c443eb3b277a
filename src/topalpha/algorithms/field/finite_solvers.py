"""Best-arm solvers for a finite set that is drawn first, as used by P2, P3 and KQP-1.

A solver is a tuple of parameters within an algorithm's own; ``contest`` advances it from its position in
``History.state``. With probability at least 1 - delta each returns an arm within epsilon of the best of the set, for
independent rewards in [0, 1] (docs/field/p2.md, 1 to 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from topalpha.arithmetic import log
from topalpha.rules.elimination import ALIVE, EXACT, FURTHER, new_round, next_blocks, round_mean, set_size
from topalpha.rules.median_elimination import PRINTED, TIGHT, EliminationContest, last_arm, scaled
from topalpha.rules.parameters import Named
from topalpha.rules.protocol import History, Integers
from topalpha.rules.registration import Target
from topalpha.validate import choice, require

Made = TypeVar("Made", bound=Any)

#: The number of entries of ``History.state`` that a contest uses, from its place on.
NUMBERS = 3

#: Further columns of exponential-gap elimination: whether the arm is a candidate, and its mean in the long round.
CANDIDATE, SCORE = FURTHER, FURTHER + 1

#: Choices of ``pulls``, the factor of Median Elimination's pulls.
PULLS = {"printed": PRINTED, "tight": TIGHT}

#: Exponential-gap elimination spends delta / (50 r^3) on round r.
_SPREAD = 50.0


class ExponentialGap(Named):
    """Exponential-gap elimination, Karnin, Koren and Somekh (ICML 2013), with a last round for epsilon.

    Round r: t_r pulls of each candidate; a reference arm by Median Elimination at eps_r/2 and d_r, with its own pulls;
    candidates more than eps_r below the reference are eliminated. eps_r = ``gap`` / 2^r, d_r = delta / (50 r^3),
    t_r = ceil((2/eps_r^2) ln(2/d_r)). As soon as eps_r/2 <= epsilon, a last Median Elimination runs at epsilon with the
    rest of delta (docs/field/p2.md, 3).
    """

    epsilon: float
    delta: float
    gap: float
    factor: float
    builds = (EliminationContest,)

    @property
    def statistics(self) -> int:
        """Two more than other eliminations."""
        return FURTHER + 2

    def gap_epsilon(self, rounds: int) -> float:
        """eps_r of round r = ``rounds`` + 1."""
        return scaled(0.5 * self.gap, 0.5, rounds)

    def gap_level(self, rounds: int) -> float:
        """d_r of round r = ``rounds`` + 1."""
        number = rounds + 1.0
        return self.delta / (_SPREAD * number * number * number)

    def gap_pulls(self, rounds: int) -> int:
        """t_r of round r = ``rounds`` + 1."""
        width = self.gap_epsilon(rounds)
        return max(1, math.ceil(2.0 * log(2.0 / self.gap_level(rounds)) / (width * width)))

    def left_over(self, rounds: int) -> float:
        """The rest of delta after this many rounds."""
        left = self.delta
        for earlier in range(rounds):
            left -= self.gap_level(earlier)
        return left

    def contest(self, history: History, order: Integers, first: int, fresh: int, place: int, batch: Integers) -> int:
        """Blocks of the current round; 0 once one arm is left. State: median rounds, gap rounds, looking for i_r."""
        while True:
            rounds = int(history.state[place + 1])
            width = self.gap_epsilon(rounds)
            if history.state[place + 2] == 1.0:
                finding = EliminationContest(0.5 * width, self.gap_level(rounds), True, self.factor)
                written = finding.contest(history, order, first, 0, place, batch)
                if written != 0:
                    return written
                self.drop_candidates(history, first, width)
                history.state[place + 1] = rounds + 1.0
                history.state[place + 2] = 0.0
                continue
            unseen = fresh if rounds == 0 else 0
            size = unseen if unseen > 0 else set_size(history, first)
            if size == 1 or 0.5 * width <= self.epsilon:
                final = EliminationContest(self.epsilon, self.left_over(rounds), True, self.factor)
                written = final.contest(history, order, first, unseen, place, batch)
                if written == 0:
                    history.state[place + 1] = 0.0
                return written
            written = next_blocks(history, first, unseen, self.gap_pulls(rounds), batch)
            if written != 0:
                return written
            for arm in range(first, history.arms):
                history.stats[CANDIDATE][arm] = history.stats[ALIVE][arm]
                if history.stats[ALIVE][arm] == 1.0:
                    history.stats[SCORE][arm] = round_mean(history, arm)
            new_round(history, first)
            history.state[place + 2] = 1.0

    def drop_candidates(self, history: History, first: int, width: float) -> None:
        """Put the candidates that scored at most ``width`` below the only arm left back into the set."""
        reference = history.stats[SCORE][last_arm(history, first)]
        for arm in range(first, history.arms):
            back = history.stats[CANDIDATE][arm] == 1.0 and history.stats[SCORE][arm] >= reference - width
            history.stats[ALIVE][arm] = 1.0 if back else 0.0
        new_round(history, first)

    def most_pulls(self, size: int, fresh: bool) -> float:
        """The number of pulls if no candidate is eliminated before the last round."""
        total, rounds = 0.0, 0
        while size > 1 and 0.5 * self.gap_epsilon(rounds) > self.epsilon:
            total += float(size) * self.gap_pulls(rounds)
            finding = EliminationContest(0.5 * self.gap_epsilon(rounds), self.gap_level(rounds), True, self.factor)
            total += finding.most_pulls(size, False)
            rounds += 1
        final = EliminationContest(self.epsilon, self.left_over(rounds), True, self.factor)
        return total + final.most_pulls(size, fresh and rounds == 0)


#: A solver: see :class:`EliminationContest`.
FiniteSolver: TypeAlias = EliminationContest | ExponentialGap


def median(epsilon: float, delta: float, pulls: str) -> EliminationContest:
    """Median Elimination; ``pulls`` is ``"printed"``, or ``"tight"`` for half as many, which the proof allows.

    Examples
    --------
    >>> median(0.1, 0.05, "tight").factor
    2.0
    """
    return EliminationContest(epsilon, delta, halving=True, factor=PULLS[choice("pulls", pulls, PULLS)])


def uniform(epsilon: float, delta: float, pulls: str) -> EliminationContest:
    """Uniform elimination: the same number of pulls of each arm, then the best arm; ``pulls`` must be ``"printed"``.

    Examples
    --------
    >>> uniform(0.1, 0.05, "printed").most_pulls(31, True)  # 31 ceil(ln(600) / 0.01)
    19840.0
    """
    require(choice("pulls", pulls, PULLS) == "printed", "pulls", "be 'printed' for solver 'uniform'", pulls)
    return EliminationContest(epsilon, delta, halving=False, factor=1.0)


def exponential_gap(epsilon: float, delta: float, pulls: str) -> ExponentialGap:
    """Exponential-gap elimination; ``pulls`` is the option of its Median Eliminations.

    Examples
    --------
    >>> exponential_gap(0.1, 0.05, "printed").gap_epsilon(0)
    0.125
    """
    return ExponentialGap(epsilon, delta, gap=0.25, factor=PULLS[choice("pulls", pulls, PULLS)])


#: Solvers with a fixed number of pulls, by name.
ROUNDS: dict[str, Callable[[float, float, str], EliminationContest]] = {"median": median, "uniform": uniform}

#: All solvers, by name.
ELIMINATIONS: dict[str, Callable[[float, float, str], FiniteSolver]] = {**ROUNDS, "exponential-gap": exponential_gap}


def affordable(made: Made) -> Made:
    """The algorithm; raise ``ValueError`` if its number of pulls is too large to be counted exactly.

    Examples
    --------
    >>> from topalpha import design
    >>> design("p3", 0.1, 1e-8, 0.1)
    Traceback (most recent call last):
    ValueError: epsilon must be large enough that fewer than 2^53 pulls are needed, got 1e-08
    """
    few = made.design_pulls() < EXACT
    require(few, "epsilon", "be large enough that fewer than 2^53 pulls are needed", made.epsilon)
    return made


def computable(target: Target) -> None:
    """Raise ``ValueError`` if the schedule of an elimination cannot be computed for this target.

    Examples
    --------
    >>> computable(Target(1e-10, 0.1, 0.1, None))
    Traceback (most recent call last):
    ValueError: alpha must be at least 1e-9, got 1e-10
    """
    require(target.alpha >= 1e-9, "alpha", "be at least 1e-9", target.alpha)
    require(target.epsilon >= 1e-9, "epsilon", "be at least 1e-9", target.epsilon)
    require(target.delta >= 1e-200, "delta", "be at least 1e-200", target.delta)
