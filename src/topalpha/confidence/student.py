"""Bounds for normal rewards of unknown variance: a one-sided scale-invariant mixture (Lai 1976; Wang and Ramdas 2024).

With D = mean - mu0, s2 the average squared deviation from the mean, c2 the prior's weight in pulls and k = c2/(N + c2),

    M_N(mu0) = 2 sqrt(k) ((s2 + D^2) / (s2 + k D^2))^(N/2) F( -N D / sqrt((N + c2)(s2 + k D^2)) ),

F the distribution function of Student's t with N degrees of freedom, is the likelihood ratio that mixes effects (mu -
mu0)/sigma < 0 with a half-normal prior, and every sigma with the prior d(sigma)/sigma. It depends on the data only
through the ratios of (X_1 - mu0), (X_2 - mu0), ..., and it is a martingale *in the filtration of those ratios*: Ville's
inequality gives one arm's bounds, which is enough for cc-lucb and lucb++. joint-lucb multiplies the evidence of several
arms while a rule looks at the rewards themselves; there it is not a supermartingale, and that proof does not apply.

M_N is a function of z = (mu0 - mean)/s, and increases in it: noncentral t laws have monotone likelihood ratio.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import Any, NamedTuple

from topalpha.arithmetic import log, log1p
from topalpha.confidence.student_law import student_cdf, student_density
from topalpha.rules.columns import EXTRA, LOWER, UPPER
from topalpha.rules.protocol import SUM, History

# Column of the sum of squared deviations from the mean.
_SQUARES = EXTRA
# The lower bound is computed and stored once the evidence is within this many nats of the threshold.
_CLOSE = 1.0
# Standard deviations from the mean beyond which a bound counts as infinite, and the relative tolerance of roots.
_FAR, _TOLERANCE = 1e100, 1e-11
# Rewards that differ relatively by less than this are equal: the rest is rounding.
_EQUAL = 1e-12


class Unused(NamedTuple):
    """Nothing is looked up; compiled code needs a tuple with one list."""

    unused: MutableSequence[float]


def log_student_mixture(pulls: int, prior_pulls: float, z: float) -> tuple[float, float]:
    """ln M_N at mu0 = mean + z s, s the root of the average squared deviation, and its derivative in z.

    Examples
    --------
    >>> value, slope = log_student_mixture(50, 10.0, 0.5)
    >>> round(value, 6), slope > 0.0
    (4.353975, True)
    """
    whole = pulls + prior_pulls
    share = prior_pulls / whole
    square = z * z
    inner = 1.0 + share * square
    t = pulls * z / math.sqrt(whole * inner)
    probability = student_cdf(t, pulls)
    if probability <= 0.0:
        return -math.inf, 0.0
    value = log(2.0 * probability) + 0.5 * log(share)
    value += 0.5 * pulls * (log1p(square) - log1p(share * square))
    slope = pulls * z * (1.0 - share) / ((1.0 + square) * inner)
    slope += student_density(t, pulls) / probability * pulls / math.sqrt(whole * inner) / inner
    return value, slope


def student_reach(pulls: int, prior_pulls: float, threshold: float, start: float) -> float:
    """The smaller of ``start`` and the z > 0 at which ln M_N reaches the threshold, from above; perhaps infinite.

    Examples
    --------
    >>> z = student_reach(50, 10.0, 3.0, math.inf)
    >>> round(log_student_mixture(50, 10.0, z)[0], 6)
    3.0
    """
    high = start
    low = 0.0  # at the mean itself the mixture is sqrt(k) < 1
    if high > _FAR:
        high = 1.0
        while high < _FAR and log_student_mixture(pulls, prior_pulls, high)[0] < threshold:
            low = high
            high *= 8.0
        if high >= _FAR:
            return start
    value, slope = log_student_mixture(pulls, prior_pulls, high)
    if value < threshold:
        return start
    for _ in range(200):
        if high - low <= _TOLERANCE * high or value - threshold <= slope * _TOLERANCE * high:
            break
        middle = high - (value - threshold) / slope if slope > 0.0 else low
        if not low < middle < high:
            middle = 0.5 * (low + high)
        trial, trial_slope = log_student_mixture(pulls, prior_pulls, middle)
        if trial >= threshold:
            high = middle
            value = trial
            slope = trial_slope
        else:
            low = middle
    return high


class StudentBounds(NamedTuple):
    """Running bounds of the mean of normal rewards with an unknown variance.

    Bounds are infinite before ``least_pulls`` rewards: a guard for rewards that are only nearly normal.

    Examples
    --------
    >>> bounds = StudentBounds(10.0, 1.0, 5.0, least_pulls=10.0)
    >>> history = History(0, 1, [0], [[0.0], [0.0], [0.0], [0.0]], [])
    >>> for place in range(20):
    ...     history.pulls[0] += 1
    ...     history.stats[SUM][0] += float(place % 5)
    ...     bounds.fold(history, bounds.tables(), 0, float(place % 5))
    >>> round(history.stats[UPPER][0], 3), round(bounds.lower_now(history, bounds.tables(), 0), 3)
    (2.416, 0.348)
    """

    prior_pulls: float
    upper_threshold: float
    lower_threshold: float
    least_pulls: float

    @property
    def extra(self) -> int:
        """The column for the sum of squared deviations."""
        return 1

    def tables(self) -> Unused:
        """The empty table."""
        return Unused([0.0])

    def root_deviation(self, history: History, arm: int) -> float:
        """s, or 0 if there is no bound yet: too few rewards, or equal ones, which normal rewards never are."""
        pulls = history.pulls[arm]
        if pulls < self.least_pulls:
            return 0.0
        scale = math.sqrt(history.stats[_SQUARES][arm] / pulls)
        return scale if scale > _EQUAL * abs(history.stats[SUM][arm] / pulls) else 0.0

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update deviations and running upper bound."""
        pulls = history.pulls[arm]
        total = history.stats[SUM][arm]
        if pulls == 1:
            history.stats[UPPER][arm] = math.inf
            history.stats[LOWER][arm] = -math.inf
            history.stats[_SQUARES][arm] = 0.0
            return
        distance = reward - (total - reward) / (pulls - 1)
        history.stats[_SQUARES][arm] += distance * distance * (pulls - 1) / pulls
        scale = self.root_deviation(history, arm)
        if scale <= 0.0:
            return
        mean = total / pulls
        before = (history.stats[UPPER][arm] - mean) / scale
        if before > 0.0:  # below the mean this mixture rejects nothing
            z = student_reach(pulls, self.prior_pulls, self.upper_threshold, before)
            if z < before:
                history.stats[UPPER][arm] = mean + z * scale

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the running lower bound is at least ``target``; it is computed and stored only when it is close."""
        if target <= history.stats[LOWER][arm]:
            return True
        scale = self.root_deviation(history, arm)
        mean = history.stats[SUM][arm] / history.pulls[arm]
        if scale <= 0.0 or target > mean:
            return False
        z = min((mean - target) / scale, _FAR)
        short = self.lower_threshold - log_student_mixture(history.pulls[arm], self.prior_pulls, z)[0]
        if 0.0 < short < _CLOSE:
            history.stats[LOWER][arm] = self.lower_now(history, lookup, arm)
        return short <= 0.0

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far: the upper bound of the mirrored rewards."""
        before = history.stats[LOWER][arm]
        scale = self.root_deviation(history, arm)
        if scale <= 0.0:
            return before
        mean = history.stats[SUM][arm] / history.pulls[arm]
        z = student_reach(history.pulls[arm], self.prior_pulls, self.lower_threshold, math.inf)
        return max(before, mean - z * scale) if z < math.inf else before
