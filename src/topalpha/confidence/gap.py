"""Evidence for the joint certificate: mixtures of likelihood ratios against every mean x at once (docs/proofs.md, E).

F(x) mixes alternatives at several gaps *below* x: it grows if the arm's mean is less than x, and increases with x.
M(x) mixes alternatives at several gaps *above* x: it grows if the arm's mean is more than x, and decreases with x.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import Any, NamedTuple

from topalpha.arithmetic import (
    CANONICAL,
    exact_sum,
    exp,
    known_place,
    log,
    outward,
    slack,
    step_to_root,
    unknown_bounds,
)
from topalpha.confidence.tilt import NEGLIGIBLE
from topalpha.families.protocols import EvidenceFamily
from topalpha.rules.columns import PULLS_THEN, SUM_THEN, UPPER
from topalpha.rules.protocol import SUM, History


class GapGrid(NamedTuple):
    """Gaps between a mean and its alternatives, with their log-weights."""

    gaps: list[float]
    log_weights: list[float]


def gap_grid(gaps: Sequence[float], weights: Sequence[float]) -> GapGrid:
    """A grid from gaps and weights with any positive sum.

    Examples
    --------
    >>> gap_grid([0.1, 0.2], [2.0, 2.0]).log_weights == [log(0.5)] * 2
    True
    """
    whole = exact_sum(weights)
    return GapGrid([float(gap) for gap in gaps], [log(weight / whole) for weight in weights])


def log_below(
    family: EvidenceFamily, mean: float, total: float, pulls: int, gaps: Sequence[float], log_weights: Sequence[float]
) -> tuple[float, float]:
    """ln F(mean), the evidence that the arm's mean is less than ``mean``, and its derivative; gaps must increase.

    In an exponential family d/dx ln(f_y/f_x) = (N x - S)/V(x) - (N y - S)/V(y) dy/dx, V the variance function.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> value, slope = log_below(Bernoulli(), 0.9, 50.0, 100, *gap_grid([0.1, 0.2, 0.4], [1.0, 1.0, 1.0]))
    >>> value > 40.0, slope > 0.0
    (True, True)
    """
    variance = family.variance(mean)
    own = (pulls * mean - total) / variance if variance > 0.0 else 0.0
    largest = -math.inf
    scaled = 0.0
    scaled_slope = 0.0
    for index in range(len(gaps)):
        alternative = family.below(mean, gaps[index])
        term = log_weights[index] + family.log_ratio(alternative, mean, total, pulls)
        if term < largest - NEGLIGIBLE:
            break  # the log-likelihood is concave in the gap, and weights decrease: terms only get smaller
        slope = own
        if alternative > family.lowest:
            slope -= (pulls * alternative - total) / family.variance(alternative) * family.below_slope(gaps[index])
        if term > largest:
            shrink = exp(largest - term)
            scaled = scaled * shrink + 1.0
            scaled_slope = scaled_slope * shrink + slope
            largest = term
        elif term > -math.inf:
            share = exp(term - largest)
            scaled += share
            scaled_slope += share * slope
    if -math.inf < largest < math.inf:
        return largest + log(scaled), scaled_slope / scaled
    return largest, 0.0


def log_above(
    family: EvidenceFamily,
    mean: float,
    total: float,
    pulls: int,
    total_then: float,
    pulls_then: int,
    gaps: Sequence[float],
    log_weights: Sequence[float],
) -> float:
    """ln M(mean): the evidence that the arm's mean is more than ``mean``, from its rewards since an earlier moment.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> log_above(Bernoulli(), 0.2, 60.0, 120, 10.0, 20, *gap_grid([0.1, 0.2, 0.4], [1.0, 1.0, 1.0])) > 10.0
    True
    """
    largest = -math.inf
    scaled = 0.0
    for index in range(len(gaps)):
        alternative = family.above(mean, gaps[index])
        term = log_weights[index] + family.log_ratio_since(alternative, mean, total, pulls, total_then, pulls_then)
        if term > largest:
            scaled = scaled * exp(largest - term) + 1.0
            largest = term
        elif term > -math.inf:
            scaled += exp(term - largest)
    return largest + log(scaled) if -math.inf < largest < math.inf else largest


def gap_upper(
    family: EvidenceFamily,
    total: float,
    pulls: int,
    threshold: float,
    gaps: Sequence[float],
    log_weights: Sequence[float],
    start: float,
) -> float:
    """The smaller of ``start`` and sup{x : ln F(x) < threshold}, from above and within 1e-9 of it.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> round(gap_upper(Bernoulli(), 50.0, 100, 1.0, *gap_grid([0.1, 0.2, 0.4], [1.0, 1.0, 1.0]), 1.0), 3)
    0.599
    """
    high = start
    low = total / pulls  # likelihood ratios against the empirical mean are at most 1, so ln F <= 0 there
    if high == math.inf:
        step = 1.0
        while log_below(family, low + step, total, pulls, gaps, log_weights)[0] < threshold:
            step *= 2.0
            if step > 1e300:
                return start
        high = low + step
    value, slope = log_below(family, high, total, pulls, gaps, log_weights)
    if value < threshold:
        return start
    other, other_value, other_slope = high, value, 0.0
    for _ in range(200):
        tolerance = slack(high)
        excess, room = value - threshold, low - high
        if -room <= tolerance or excess <= slope * tolerance:
            break
        middle = low
        if slope > 0.0:
            apart, other_excess = other - high, other_value - threshold
            middle = high + step_to_root(excess, slope, room, tolerance, apart, other_excess, other_slope)
        if not low < middle < high:  # the step left the interval, by rounding or because ln F is not convex
            middle = 0.5 * (low + high)
        trial, trial_slope = log_below(family, middle, total, pulls, gaps, log_weights)
        if trial >= threshold:
            other, other_value, other_slope = high, value, slope
            high, value, slope = middle, trial, trial_slope
        else:
            low = middle
            other, other_value, other_slope = middle, trial, trial_slope
    if not CANONICAL:
        return high
    edge, near = outward(high, low)
    if near != edge and log_below(family, near, total, pulls, gaps, log_weights)[0] >= threshold:
        edge = near
    return min(edge, start)


# The grids. None of these affects the guarantee. docs/reproduction.md explains how they were chosen, and how little
# that matters beyond the rows it was done on.
_FIRST_GAP, _GAP_RATIO = 0.6, 2.0  # gaps below x: .6 epsilon, doubled up to the family's largest; weights 1/gap
_LEADER_GAPS = (0.25, 0.5, 1.0, 2.0)  # gaps above x - epsilon, in units of epsilon
_LEADER_WEIGHTS = (0.2, 0.3, 0.3, 0.2)


class Gaps(NamedTuple):
    """The grids of gaps, below for challengers and above for leaders."""

    gaps: MutableSequence[float]
    log_weights: MutableSequence[float]
    leader_gaps: MutableSequence[float]
    leader_log_weights: MutableSequence[float]
    known: MutableSequence[float]


class GapEvidence(NamedTuple):
    """Likelihood ratios against every mean, with the grid for ``epsilon``; ``threshold`` is ln(1/delta_u).

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> evidence = GapEvidence(Bernoulli(), 0.1, 0.5)
    >>> history = History(1, 1, [1], [[0.0], [0.0], [0.0], [0.0], [0.0]], [])
    >>> evidence.fold(history, evidence.tables(), 0, 0.0)
    >>> 0.0 < history.stats[UPPER][0] < 1.0
    True
    """

    family: EvidenceFamily
    epsilon: float
    threshold: float

    @property
    def extra(self) -> int:
        """No further columns."""
        return 0

    def tables(self) -> Gaps:
        """The grids of gaps."""
        unit = self.family.gap_unit(self.epsilon)
        gaps = [_FIRST_GAP * unit, _FIRST_GAP * _GAP_RATIO * unit]
        while gaps[-1] * _GAP_RATIO <= self.family.largest_gap():
            gaps.append(gaps[-1] * _GAP_RATIO)
        leader_gaps = [gap * unit for gap in _LEADER_GAPS]
        if unit == self.epsilon or (math.isfinite(self.family.highest) and math.isfinite(self.family.lowest)):
            grid = gap_grid(gaps, [1.0 / gap for gap in gaps])
            leader = gap_grid(leader_gaps, _LEADER_WEIGHTS)
        else:  # the scale of the means is unknown, and so is epsilon's in the family's gaps
            grid = gap_grid(gaps, [1.0] * len(gaps))
            while leader_gaps[-1] * _GAP_RATIO <= self.family.largest_gap():
                leader_gaps.append(leader_gaps[-1] * _GAP_RATIO)
            leader = gap_grid(leader_gaps, [1.0] * len(leader_gaps))
        return Gaps(grid.gaps, grid.log_weights, leader.gaps, leader.log_weights, unknown_bounds())

    def fold(self, history: History, lookup: Any, arm: int, reward: float) -> None:
        """Update the running upper bound."""
        pulls = history.pulls[arm]
        before = history.stats[UPPER][arm] if pulls > 1 else self.family.highest
        if reward < before:  # a reward at or above the bound is evidence for it
            total = history.stats[SUM][arm]
            place = known_place(total, pulls)
            known = lookup.known[place] if place >= 0 else math.nan
            if math.isnan(known):
                gaps, weights = lookup.gaps, lookup.log_weights
                known = gap_upper(self.family, total, pulls, self.threshold, gaps, weights, before)
                if place >= 0 and known < before:
                    lookup.known[place] = known
            before = min(before, known)
        history.stats[UPPER][arm] = before

    def enroll(self, history: History, arm: int) -> None:
        """Store pulls and sum of rewards at this moment."""
        history.stats[PULLS_THEN][arm] = history.pulls[arm]
        history.stats[SUM_THEN][arm] = history.stats[SUM][arm]

    def noise(self, history: History, arm: int) -> float:
        """The family's estimate from pulls and sum of rewards."""
        return self.family.spread(history.stats[SUM][arm], history.pulls[arm])

    def evidence_below(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln F(x)."""
        total, pulls = history.stats[SUM][arm], history.pulls[arm]
        return log_below(self.family, x, total, pulls, lookup.gaps, lookup.log_weights)[0]

    def evidence_above(self, history: History, lookup: Any, arm: int, x: float) -> float:
        """ln M(x), from the rewards since registration."""
        return log_above(
            self.family,
            x,
            history.stats[SUM][arm],
            history.pulls[arm],
            history.stats[SUM_THEN][arm],
            int(history.stats[PULLS_THEN][arm]),
            lookup.leader_gaps,
            lookup.leader_log_weights,
        )
