"""Evidence for the joint certificate: mixtures of likelihood ratios against every mean x at once (docs/proofs.md, E).

F(x) mixes alternatives at several gaps *below* x: it grows if the arm's mean is less than x, and increases with x.
M(x) mixes alternatives at several gaps *above* x: it grows if the arm's mean is more than x, and decreases with x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from topalpha.confidence.tilt_bounds import NEGLIGIBLE
from topalpha.families.protocols import EvidenceFamily


class GapGrid(NamedTuple):
    """Gaps between a mean and its alternatives, with their log-weights."""

    gaps: list[float]
    log_weights: list[float]


def gap_grid(gaps: Sequence[float], weights: Sequence[float]) -> GapGrid:
    """A grid from gaps and weights with any positive sum.

    Examples
    --------
    >>> gap_grid([0.1, 0.2], [2.0, 2.0]).log_weights == [math.log(0.5)] * 2
    True
    """
    whole = sum(weights)
    return GapGrid([float(gap) for gap in gaps], [math.log(weight / whole) for weight in weights])


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
            shrink = math.exp(largest - term)
            scaled = scaled * shrink + 1.0
            scaled_slope = scaled_slope * shrink + slope
            largest = term
        elif term > -math.inf:
            share = math.exp(term - largest)
            scaled += share
            scaled_slope += share * slope
    if -math.inf < largest < math.inf:
        return largest + math.log(scaled), scaled_slope / scaled
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
            scaled = scaled * math.exp(largest - term) + 1.0
            largest = term
        elif term > -math.inf:
            scaled += math.exp(term - largest)
    return largest + math.log(scaled) if -math.inf < largest < math.inf else largest


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
    for _ in range(200):
        tolerance = 1e-11 * (1.0 + abs(high))
        if high - low <= tolerance or value - threshold <= slope * tolerance:
            break
        middle = high - (value - threshold) / slope if slope > 0.0 else low
        if not low < middle < high:  # the step left the interval, by rounding or because ln F is not convex
            middle = 0.5 * (low + high)
        trial, trial_slope = log_below(family, middle, total, pulls, gaps, log_weights)
        if trial >= threshold:
            high = middle
            value = trial
            slope = trial_slope
        else:
            low = middle
    return high
