"""jhr: the most biased coin without prior knowledge; Jamieson, Haas and Recht (NIPS 2016).

The reservoir has two means; the means and the share of the higher one are unknown. Guesses (share, gap) are tried in
turn. For each, a few fresh arms give an estimate of the lower mean, and a line is drawn half a gap above it. Then fresh
arms are tossed one after the other until the sum of their rewards is far enough above the line (return the arm), falls
below it (drop the arm), or takes too long.

The arm returned has the lower mean with probability at most delta, for every two-point reservoir, and the expected
number of tosses is finite (docs/field/biased_coin.md, B). On other reservoirs nothing is proved. alpha and epsilon only
decide whether the question fits: the lower mean must not be acceptable.
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms.field.likelihood_toss import two_point
from topalpha.arithmetic import log, power
from topalpha.families import unit_rewards
from topalpha.rules.generic import Counting
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Generator, History, Integers, Reals, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import empirical_best
from topalpha.validate import require

# Entries of the state. The guess: its level l and its number k. Its tests: _TRIALS tosses of each coin for the estimate
# of the lower mean, then _COINS_WANTED coins of at most _MOST tosses, dropped below _DROP and returned above _RETURN.
# Its progress: finished coins, the smallest estimate, the next action.
_LEVEL, _GUESS, _TRIALS, _COINS_WANTED, _MOST, _DROP, _RETURN, _COINS, _LEAST, _NEXT = range(10)

# The next action; a run begins with a fresh coin.
_FRESH, _TOSS, _FOUND = 0.0, 1.0, 2.0

# A guess fails with probability 1/9 by each of three causes; 2 ln 9 / share coins miss the high mean with probability
# 1/81.
_LOG_NINE = log(9.0)


class JamiesonHaasRecht(Counting, Parameters):
    """A sequential test of coins for each guess; build it with :func:`design`. Proof: docs/field/biased_coin.md, B."""

    scouts: int  # coins that estimate the lower mean
    generous: bool
    spent_level: float  # delta
    traits = Traits("jhr", numbers=10)

    def open_guess(self, state: Reals, level: float, guess: float) -> None:
        """Begin guess k of level l: a share of 2^(k-l) and a gap of 2^(-(k+1)/2)."""
        share = power(0.5, level - guess)
        square = power(0.5, guess + 1.0)  # the squared gap
        gap = math.sqrt(square)
        coins = float(math.ceil(2.0 * _LOG_NINE / share))
        if self.generous:
            error = self.spent_level / (2.0 * level * level * level)
            evidence = log(14.0 * coins / error)
            most = 64.0 * evidence / square
            drop, confirm = 8.0 * log(21.0) / gap, 8.0 * evidence / gap
            trials = 8.0 * log(2.0 * self.scouts / min(error / 8.0, square / math.ceil(most))) / square
        else:
            error = self.spent_level / (level * (level + 1.0) * (level + 1.0))
            evidence = log(2.0 * coins / error)
            most = (4.0 * evidence + 16.0 * _LOG_NINE) / square
            drop, confirm = 0.5 * _LOG_NINE / gap, 0.5 * evidence / gap
            trials = 8.0 * log(2.0 * self.scouts / error) / square
        state[_LEVEL], state[_GUESS] = level, guess
        state[_TRIALS], state[_COINS_WANTED], state[_MOST] = float(math.ceil(trials)), coins, float(math.ceil(most))
        state[_DROP], state[_RETURN] = -drop, confirm
        state[_COINS], state[_LEAST] = 0.0, math.inf

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Count the reward of the current coin, and decide on the next action."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        state = history.state
        if state[_LEVEL] == 0.0:
            self.open_guess(state, 1.0, 0.0)
        pulls, total = history.pulls[arm], history.stats[SUM][arm]
        state[_NEXT] = _TOSS
        if state[_COINS] < self.scouts:
            if pulls >= state[_TRIALS]:
                state[_LEAST] = min(state[_LEAST], total / pulls)
                state[_COINS] += 1.0
                state[_NEXT] = _FRESH
            return
        lead = total - pulls * (state[_LEAST] + 0.5 * math.sqrt(power(0.5, state[_GUESS] + 1.0)))
        if lead > state[_RETURN]:
            state[_NEXT] = _FOUND
        elif lead < state[_DROP] or pulls >= state[_MOST]:
            state[_COINS] += 1.0
            state[_NEXT] = _FRESH
            if state[_COINS] >= self.scouts + state[_COINS_WANTED]:
                if state[_GUESS] < state[_LEVEL]:
                    self.open_guess(state, state[_LEVEL], state[_GUESS] + 1.0)
                else:
                    self.open_guess(state, state[_LEVEL] + 1.0, 0.0)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Toss the current coin or a fresh one."""
        if history.in_flight > 0:
            return WAIT
        if history.state[_NEXT] == _FOUND:
            return 0
        batch[0] = history.arms if history.state[_NEXT] == _FRESH else history.arms - 1
        return 1

    def conditions(self) -> tuple[str, ...]:
        """The assumption about the reservoir."""
        return ("Candidates have one of two means, and only the higher one is within epsilon of the top fraction.",)

    def recommend(self, history: History, memory: Any) -> int:
        """The coin that passed the test; before that, the empirical best."""
        if history.state[_NEXT] == _FOUND:
            return history.arms - 1
        return empirical_best(history.stats[SUM], history.pulls, history.arms)


def knowledge(reservoir: Any, alpha: float, epsilon: float) -> dict[str, float]:
    """No options; raise ``ValueError`` unless there are two means and the lower one is not acceptable.

    Examples
    --------
    >>> from topalpha.reservoirs import TwoPoint
    >>> knowledge(TwoPoint(0.4, 0.604, 0.1), 0.1, 0.2)
    {}
    """
    two_point(reservoir, alpha, epsilon)
    return {}


@algorithm(
    "jhr",
    "Jamieson, Haas, Recht (NIPS 2016), Algorithm 2",
    "docs/field/biased_coin.md, B",
    family=unit_rewards,
    knowledge=knowledge,
)
def design(target: Target, *, generous: bool = False) -> JamiesonHaasRecht:
    """The algorithm of Jamieson, Haas and Recht, for rewards in [0, 1] on a two-point reservoir.

    ``generous`` selects the constants attributed to the paper (docs/field/biased_coin.md, B.4): also sound, but some
    fourteen times slower. ``arms``, the initial number of arms, is that of the first guess.

    Examples
    --------
    >>> design(0.1, 0.2, 0.1).arms, design(0.1, 0.2, 0.1, generous=True).arms
    (11, 14)
    """
    require(isinstance(generous, bool), "generous", "be true or false", generous)
    scouts = 5 if generous else 2
    return JamiesonHaasRecht(*target.on(scouts + math.ceil(4.0 * _LOG_NINE)), scouts, generous, target.delta)
