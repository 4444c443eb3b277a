"""Time-uniform bounds from tilt mixtures: one formula for every family (docs/proofs.md, C).

A mixture of likelihood ratios, each of an alternative tilted down (M-) or up (M+) from the tested mean, is a
non-negative martingale of mean 1 under that mean. By Ville's inequality it ever reaches 1/level with probability at
most ``level``. M- increases with the mean, so the means it does not reject form a half-line: an upper bound; M+ gives
the lower bound. A grid is three lists: tilts (negative in M-), their growths exp(tilt) - 1, and log-weights.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import Any, NamedTuple

from topalpha.arithmetic import (
    CANONICAL,
    exp,
    expm1,
    known_place,
    log,
    outward,
    power,
    slack,
    step_to_root,
    unknown_bounds,
)
from topalpha.families.protocols import RewardFamily
from topalpha.rules.columns import LOWER, UPPER
from topalpha.rules.protocol import SUM, History

#: Terms this many nats below the largest are left out of a sum: 1e-10 of it. Too little evidence is on the safe side.
NEGLIGIBLE = 23.0
# exp of more would overflow; a smaller tilt is just as valid.
_LARGEST_TILT = 700.0
# A mean beyond which an upper bound counts as infinite.
_FAR = 1e300


class TiltGrid(NamedTuple):
    """Tilts of one sign, with the values that the inner loop needs."""

    tilts: list[float]
    growths: list[float]
    log_weights: list[float]


def tilt_grid(family: RewardFamily, epsilon: float, sign: int, size: int = 8, anchor: float = 0.1) -> TiltGrid:
    """The tilts for target ``epsilon``: weight ``anchor`` on epsilon/(2v), the rest evenly on ``size`` larger tilts.

    The first tilt makes the bound's width fall below epsilon/2 eventually, so that a run with tied means stops; the
    others go up geometrically from twice that tilt to the family's largest.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> grid = tilt_grid(Bernoulli(), 0.05, -1)
    >>> len(grid.tilts), grid.tilts[0], round(grid.tilts[-1], 12)
    (9, -0.1, -4.0)
    """
    smallest = family.smallest_tilt(epsilon)
    first = 2.0 * smallest
    largest = max(family.largest_tilt(), 2.0 * first)
    ratio = power(largest / first, 1.0 / (size - 1))
    sizes = [smallest, *(first * power(ratio, index) for index in range(size))]
    weights = [anchor, *([(1.0 - anchor) / size] * size)]
    tilts = [sign * min(tilt, _LARGEST_TILT) for tilt in sizes]
    return TiltGrid(tilts, [expm1(tilt) for tilt in tilts], [log(weight) for weight in weights])


def log_mixture(
    family: RewardFamily,
    mean: float,
    total: float,
    pulls: int,
    tilts: Sequence[float],
    growths: Sequence[float],
    log_weights: Sequence[float],
) -> tuple[float, float]:
    """ln M(mean) after ``pulls`` rewards of sum ``total``, and its derivative in the mean.

    M- with negative tilts, M+ with positive ones; tilts must be in order of size.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> value, slope = log_mixture(Bernoulli(), 0.5, 0.0, 0, *tilt_grid(Bernoulli(), 0.05, -1))
    >>> abs(value) < 1e-15, slope == 0.0
    (True, True)
    """
    largest = -math.inf
    scaled = 0.0
    scaled_slope = 0.0
    for index in range(len(tilts)):
        term = log_weights[index] + family.tilted(mean, total, pulls, tilts[index], growths[index])
        if term < largest - NEGLIGIBLE:
            break  # the log-likelihood is concave in the tilt: from here on terms only get smaller
        slope = family.tilted_slope(mean, total, pulls, tilts[index], growths[index])
        if term > largest:
            shrink = exp(largest - term)
            scaled = scaled * shrink + 1.0
            scaled_slope = scaled_slope * shrink + slope
            largest = term
        else:
            share = exp(term - largest)
            scaled += share
            scaled_slope += share * slope
    if -math.inf < largest < math.inf:
        return largest + log(scaled), scaled_slope / scaled
    return largest, 0.0


def log_mixture_value(
    family: RewardFamily,
    mean: float,
    total: float,
    pulls: int,
    tilts: Sequence[float],
    growths: Sequence[float],
    log_weights: Sequence[float],
) -> float:
    """ln M(mean) as :func:`log_mixture` has it, without the derivative.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> grid = tilt_grid(Bernoulli(), 0.05, -1)
    >>> log_mixture_value(Bernoulli(), 0.5, 3.0, 10, *grid) == log_mixture(Bernoulli(), 0.5, 3.0, 10, *grid)[0]
    True
    """
    largest = -math.inf
    scaled = 0.0
    for index in range(len(tilts)):
        term = log_weights[index] + family.tilted(mean, total, pulls, tilts[index], growths[index])
        if term > largest:
            scaled = scaled * exp(largest - term) + 1.0
            largest = term
        elif term < largest - NEGLIGIBLE:
            break
        else:
            scaled += exp(term - largest)
    return largest + log(scaled) if -math.inf < largest < math.inf else largest


def tilt_bound(
    family: RewardFamily,
    total: float,
    pulls: int,
    threshold: float,
    tilts: Sequence[float],
    growths: Sequence[float],
    log_weights: Sequence[float],
    start: float,
) -> float:
    """The point where ln M reaches ``threshold``, if it is on the data's side of ``start``; else ``start``.

    With negative tilts this is the upper bound sup{mean : ln M- < threshold}, with positive ones the lower bound
    inf{mean : ln M+ < threshold}; never inside it, and within 1e-9 of it. ``start`` is the arm's running bound (or the
    end of the family's range of means): one evaluation there shows whether it moves.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> down, up = tilt_grid(Bernoulli(), 0.05, -1), tilt_grid(Bernoulli(), 0.05, 1)
    >>> round(tilt_bound(Bernoulli(), 90.0, 100, 1.6, *down, 1.0), 6)
    0.955938
    >>> round(tilt_bound(Bernoulli(), 90.0, 100, 1.6, *up, 0.0), 6)
    0.817819
    """
    inner = total / pulls  # no likelihood ratio against the empirical mean exceeds 1, so ln M <= 0 there
    outer = start
    if abs(start) == math.inf:
        outer = _finite_start(family, total, pulls, threshold, tilts, growths, log_weights)
        if abs(outer) == math.inf:
            return start
    value, slope = log_mixture(family, outer, total, pulls, tilts, growths, log_weights)
    if value < threshold:
        return start
    other, other_value, other_slope = outer, value, 0.0
    for _ in range(200):
        tolerance = slack(outer)
        excess, room = value - threshold, inner - outer
        if abs(room) <= tolerance or excess <= abs(slope) * tolerance:
            break
        middle = 0.5 * (inner + outer)
        if slope != 0.0:
            apart, other_excess = other - outer, other_value - threshold
            step = step_to_root(excess, slope, room, tolerance, apart, other_excess, other_slope)
            if abs(step) < 0.999 * abs(room):
                middle = outer + step
        trial, trial_slope = log_mixture(family, middle, total, pulls, tilts, growths, log_weights)
        if trial >= threshold:
            other, other_value, other_slope = outer, value, slope
            outer, value, slope = middle, trial, trial_slope
        else:
            inner = middle
            other, other_value, other_slope = middle, trial, trial_slope
    if not CANONICAL:
        return outer
    edge, near = outward(outer, inner)
    if near != edge and log_mixture_value(family, near, total, pulls, tilts, growths, log_weights) >= threshold:
        edge = near
    return min(edge, start) if outer > inner else max(edge, start)


def _finite_start(
    family: RewardFamily,
    total: float,
    pulls: int,
    threshold: float,
    tilts: Sequence[float],
    growths: Sequence[float],
    log_weights: Sequence[float],
) -> float:
    """A finite mean that the mixture rejects, found by doubling; infinite if there is none."""
    direction = 1.0 if tilts[0] < 0.0 else -1.0
    if log_mixture_value(family, direction * _FAR, total, pulls, tilts, growths, log_weights) < threshold:
        return direction * math.inf
    step = 1.0
    while step < _FAR:
        mean = total / pulls + direction * step
        if log_mixture_value(family, mean, total, pulls, tilts, growths, log_weights) >= threshold:
            return mean
        step *= 2.0
    return direction * math.inf


# The lower bound is computed and stored once the evidence is within this many nats of the threshold.
_CLOSE = 1.0
# More than the rounding error of a term, for each reward.
_SPARE = 1e-9


class Tilts(NamedTuple):
    """The grids of tilts, with the values that the inner loop needs."""

    down_tilts: MutableSequence[float]
    down_growths: MutableSequence[float]
    up_tilts: MutableSequence[float]
    up_growths: MutableSequence[float]
    log_weights: MutableSequence[float]
    known: MutableSequence[float]


class TiltBounds(NamedTuple):
    """Running bounds from tilt mixtures with the grid for ``epsilon``.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> bounds = TiltBounds(Bernoulli(), 0.05, 1.0, 5.0)
    >>> history = History(1, 1, [1], [[0.0], [0.0], [0.0]], [])
    >>> bounds.fold(history, bounds.tables(), 0, 0.0)
    >>> round(history.stats[UPPER][0], 3), bounds.lower_now(history, bounds.tables(), 0)
    (0.865, 0.0)
    """

    family: RewardFamily
    epsilon: float
    upper_threshold: float
    lower_threshold: float

    @property
    def extra(self) -> int:
        """No further columns."""
        return 0

    def tables(self) -> Tilts:
        """The grids of tilts, down for the upper bound and up for the lower one."""
        down = tilt_grid(self.family, self.epsilon, -1)
        up = tilt_grid(self.family, self.epsilon, 1)
        return Tilts(down.tilts, down.growths, up.tilts, up.growths, up.log_weights, unknown_bounds())

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound."""
        pulls = history.pulls[arm]
        if pulls == 1:
            history.stats[UPPER][arm] = self.family.highest
            history.stats[LOWER][arm] = self.family.lowest
        before = history.stats[UPPER][arm]
        # A reward fits best with the mean equal to it: a reward at or above the bound is evidence for the bound against
        # everything below it, so the mixture cannot lower it.
        if reward < before:
            total = history.stats[SUM][arm]
            place = known_place(total, pulls)
            known = lookup.known[place] if place >= 0 else math.nan
            if math.isnan(known):
                known = self.upper_from(lookup, total, pulls, before)
                if place >= 0 and known < before:
                    lookup.known[place] = known
            history.stats[UPPER][arm] = min(before, known)

    def upper_from(self, lookup: Any, total: float, pulls: int, start: float) -> float:
        """The upper bound, if it is below ``start``; else ``start``."""
        tilts, growths, threshold = lookup.down_tilts, lookup.down_growths, self.upper_threshold
        return tilt_bound(self.family, total, pulls, threshold, tilts, growths, lookup.log_weights, start)

    def reaches(self, history: History, lookup: Any, arm: int, target: float) -> bool:
        """Whether the running lower bound is at least ``target``.

        One evaluation of the evidence against ``target`` decides. The bound itself is computed and stored only when the
        evidence is close to the threshold, because only then can an earlier bound matter.
        """
        if target <= history.stats[LOWER][arm]:
            return True
        total = history.stats[SUM][arm]
        pulls = history.pulls[arm]
        mean = total / pulls
        if target > mean:
            return False
        # No likelihood ratio exceeds exp(N d(p, target)): far from the threshold there is nothing to mix.
        if pulls * (self.family.divergence(mean, target) + _SPARE) < self.lower_threshold - _CLOSE - _SPARE:
            return False
        up, growths, weights = lookup.up_tilts, lookup.up_growths, lookup.log_weights
        short = self.lower_threshold - log_mixture_value(self.family, target, total, pulls, up, growths, weights)
        if 0.0 < short < _CLOSE:
            history.stats[LOWER][arm] = self.lower_now(history, lookup, arm)
        return short <= 0.0

    def lower_now(self, history: History, lookup: Any, arm: int) -> float:
        """The running lower bound, updated with all rewards so far."""
        return tilt_bound(
            self.family,
            history.stats[SUM][arm],
            history.pulls[arm],
            self.lower_threshold,
            lookup.up_tilts,
            lookup.up_growths,
            lookup.log_weights,
            history.stats[LOWER][arm],
        )
