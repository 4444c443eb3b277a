"""Bounds and evidence for rewards in [0, 1] of small variance: empirical Bernstein mixtures (docs/proofs.md, C.5).

For 0 <= l < 1, a guess m in [0, 1] of the mean made before the reward, and a reward X of mean mu,

    E exp(l (mu - X) - (X - m)^2 (-ln(1 - l) - l)) <= 1,     and the same with X - mu for mu - X

(Fan, Grama and Liu 2015; Waudby-Smith and Ramdas 2024). So with *bets* l that are chosen before each reward, and
A = sum l X, B = sum l, V = sum (X - m)^2 (-ln(1 - l) - l), exp(x B - A - V) is a supermartingale from 1 under every
mean of at least x, and exp(A - x B - V) under every mean of at most x. Against a mean that is wrong by g the best bet
is g / (v + g), v the variance. Each gap of a grid bets accordingly, with the variance estimated so far, and both sides
mix the gaps evenly. Only three sums per gap are stored.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import Any, NamedTuple

from topalpha.arithmetic import exp, log, log1p, power
from topalpha.rules.columns import AFTER, EXTRA, LOWER, PULLS_THEN, SUM_THEN, UPPER
from topalpha.rules.protocol import SUM, History

# Gaps: from half of epsilon, so that a run with tied means stops, to a quarter. More gaps change the width by a few
# percent; a single bet, chosen for a fixed level, makes lower bounds up to 1.5 times wider.
_SIZE, _LARGEST_GAP, _LARGEST_BET = 4, 0.25, 0.75
#: Columns after the sum of squared deviations: per gap the sums of bets, of bets times rewards, and of costs.
SUMS = 3 * _SIZE
#: The lower bound is computed and stored once the evidence is within this many nats of the threshold.
CLOSE = 1.0


class Bets(NamedTuple):
    """The gaps that bets are made for."""

    bet_gaps: MutableSequence[float]


def bet_grid(epsilon: float) -> list[float]:
    """Four gaps, from epsilon / 2 up geometrically.

    Examples
    --------
    >>> [round(gap, 3) for gap in bet_grid(0.0625)]
    [0.031, 0.062, 0.125, 0.25]
    """
    first = 0.5 * epsilon
    ratio = power(max(_LARGEST_GAP / first, 1.0), 1.0 / (_SIZE - 1))
    return [first * power(ratio, index) for index in range(_SIZE)]


def place_bets(
    stats: Sequence[MutableSequence[float]],
    place: int,
    arm: int,
    pulls: int,
    reward: float,
    gaps: Sequence[float],
    items: int,
) -> None:
    """Fold one reward, which ``pulls`` and the sum already count, into the columns from ``place`` on.

    ``items`` is the size of the finite set that rewards are drawn from without replacement, or 0. If its mean is x, the
    mean of the M - N + 1 items that are left before reward N is (M x - S) / (M - N + 1): the bet is on that.

    Examples
    --------
    >>> stats = [[1.0], *([0.0] for _ in range(13))]
    >>> place_bets(stats, 1, 0, 1, 1.0, bet_grid(0.5), 0)
    >>> stats[2][0], stats[3][0]
    (0.5, 0.5)
    """
    total = stats[SUM][arm]
    scale, shift = 1.0, 0.0
    if items > 0:
        scale = items / (items - pulls + 1.0)
        shift = (total - reward) / (items - pulls + 1.0)
    guess = (total - reward + 0.5) / pulls  # from before this reward, like the variance
    variance = (stats[place][arm] + 0.25) / pulls
    deviation = (reward - guess) * (reward - guess)
    for index in range(len(gaps)):
        bet = min(gaps[index] / (variance + gaps[index]), _LARGEST_BET)
        column = place + 1 + 3 * index
        stats[column][arm] += bet * scale
        stats[column + 1][arm] += bet * (reward + shift)
        stats[column + 2][arm] += deviation * (-log1p(-bet) - bet)
    after = reward - (total + 0.5) / (pulls + 1.0)
    stats[place][arm] += after * after


def log_bets(
    stats: Sequence[MutableSequence[float]], place: int, then: int, arm: int, sign: float, x: float
) -> tuple[float, float]:
    """ln of the evidence against means of at least x (``sign`` 1) or at most x (-1), and its derivative in x.

    The sums begin after ``place``; if ``then`` is positive, their values at an earlier moment begin there.

    Examples
    --------
    >>> stats = [[0.0], *([0.0] for _ in range(13))]
    >>> place_bets(stats, 1, 0, 1, 0.0, bet_grid(0.1), 0)
    >>> log_bets(stats, 1, 0, 0, 1.0, 1.0)[0] > 0.0 > log_bets(stats, 1, 0, 0, -1.0, 1.0)[0]
    True
    """
    largest = -math.inf
    scaled = 0.0
    scaled_slope = 0.0
    for index in range(_SIZE):
        column = place + 1 + 3 * index
        bets, gains, costs = stats[column][arm], stats[column + 1][arm], stats[column + 2][arm]
        if then > 0:
            saved = then + 3 * index
            bets -= stats[saved][arm]
            gains -= stats[saved + 1][arm]
            costs -= stats[saved + 2][arm]
        term = sign * (x * bets - gains) - costs
        if term > largest:
            shrink = exp(largest - term)
            scaled = scaled * shrink + 1.0
            scaled_slope = scaled_slope * shrink + bets
            largest = term
        else:
            share = exp(term - largest)
            scaled += share
            scaled_slope += share * bets
    return largest + log(scaled / _SIZE), sign * scaled_slope / scaled


def bet_bound(
    stats: Sequence[MutableSequence[float]], place: int, arm: int, sign: float, threshold: float, start: float
) -> float:
    """The point where the evidence reaches the threshold, if it is on the data's side of ``start``; else ``start``.

    The logarithm is convex in x, so Newton's iteration starts outside and never passes the root.

    Examples
    --------
    >>> stats = [[0.0], *([0.0] for _ in range(13))]
    >>> place_bets(stats, 1, 0, 1, 0.0, bet_grid(0.1), 0)
    >>> round(bet_bound(stats, 1, 0, 1.0, 0.1, 1.0), 6)
    0.374313
    """
    bound = start
    for _ in range(200):
        value, slope = log_bets(stats, place, 0, arm, sign, bound)
        if value < threshold or slope == 0.0:
            break
        step = (value - threshold) / slope
        bound -= step
        if abs(step) <= 1e-12:
            break
    return bound


class BernsteinBounds(NamedTuple):
    """Running bounds that learn the variance, with the gaps for ``epsilon``; no mean is above ``highest``.

    Examples
    --------
    >>> bounds = BernsteinBounds(1.0, 0.05, 1.0, 5.0)
    >>> history = History(0, 1, [0], [[0.0] for _ in range(16)], [])
    >>> for place in range(400):
    ...     history.pulls[0] += 1
    ...     history.stats[SUM][0] += 0.5
    ...     bounds.fold(history, bounds.tables(), 0, 0.5)
    >>> round(history.stats[UPPER][0], 3), round(bounds.lower_now(history, bounds.tables(), 0), 3)
    (0.503, 0.483)
    """

    highest: float
    epsilon: float
    upper_threshold: float
    lower_threshold: float

    @property
    def extra(self) -> int:
        """The columns for the sum of squared deviations, and three sums per gap."""
        return 1 + SUMS

    def tables(self) -> Bets:
        """The gaps."""
        return Bets(bet_grid(self.epsilon))

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the sums and the running upper bound."""
        pulls = history.pulls[arm]
        if pulls == 1:
            history.stats[UPPER][arm] = self.highest
            history.stats[LOWER][arm] = 0.0
        place_bets(history.stats, EXTRA, arm, pulls, reward, lookup.bet_gaps, 0)
        before = history.stats[UPPER][arm]
        if reward < before:  # a reward at or above the bound is evidence for it
            history.stats[UPPER][arm] = bet_bound(history.stats, EXTRA, arm, 1.0, self.upper_threshold, before)

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the running lower bound is at least ``target``; it is computed and stored only when it is close."""
        if target <= history.stats[LOWER][arm]:
            return True
        short = self.lower_threshold - log_bets(history.stats, EXTRA, 0, arm, -1.0, target)[0]
        if 0.0 < short < CLOSE:
            history.stats[LOWER][arm] = self.lower_now(history, lookup, arm)
        return short <= 0.0

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far."""
        return bet_bound(history.stats, EXTRA, arm, -1.0, self.lower_threshold, history.stats[LOWER][arm])


class BernsteinEvidence(NamedTuple):
    """Evidence that learns the variance, with the gaps for ``epsilon``; ``threshold`` is ln(1/delta_u).

    Examples
    --------
    >>> evidence = BernsteinEvidence(1.0, 0.05, 0.5)
    >>> history = History(1, 1, [1], [[0.0] for _ in range(30)], [])
    >>> evidence.fold(history, evidence.tables(), 0, 0.0)
    >>> 0.0 < history.stats[UPPER][0] <= 1.0
    True
    """

    highest: float
    epsilon: float
    threshold: float

    @property
    def extra(self) -> int:
        """The columns for the sum of squared deviations, three sums per gap, and their values at registration."""
        return 1 + 2 * SUMS

    def tables(self) -> Bets:
        """The gaps."""
        return Bets(bet_grid(self.epsilon))

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the sums and the running upper bound."""
        pulls = history.pulls[arm]
        before = history.stats[UPPER][arm] if pulls > 1 else self.highest
        place_bets(history.stats, AFTER, arm, pulls, reward, lookup.bet_gaps, 0)
        if reward < before:  # a reward at or above the bound is evidence for it
            before = bet_bound(history.stats, AFTER, arm, 1.0, self.threshold, before)
        history.stats[UPPER][arm] = before

    def enroll(self, history: History, arm: int) -> None:
        """Store all sums at this moment: their later growth is evidence from later rewards only."""
        history.stats[PULLS_THEN][arm] = history.pulls[arm]
        history.stats[SUM_THEN][arm] = history.stats[SUM][arm]
        for index in range(SUMS):
            history.stats[AFTER + 1 + SUMS + index][arm] = history.stats[AFTER + 1 + index][arm]

    def noise(self, history: History, arm: int) -> float:
        """The variance that bets are based on."""
        return (history.stats[AFTER][arm] + 0.25) / (history.pulls[arm] + 1.0)

    def evidence_below(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln F(x)."""
        return log_bets(history.stats, AFTER, 0, arm, 1.0, x)[0]

    def evidence_above(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln M(x), from the rewards since registration."""
        return log_bets(history.stats, AFTER, AFTER + 1 + SUMS, arm, -1.0, x)[0]
