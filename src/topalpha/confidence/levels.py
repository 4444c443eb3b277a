"""Bounds for given levels, if the reward model has them."""

from __future__ import annotations

from topalpha.arithmetic import log
from topalpha.confidence import bounds_for
from topalpha.confidence.conjugate import ConjugateBounds
from topalpha.families.protocols import RewardModel
from topalpha.rules.columns import ConfidenceBounds
from topalpha.validate import require


def checked_bounds(
    law: RewardModel, kind: str, epsilon: float, upper_level: float, lower_level: float, delta: float
) -> ConfidenceBounds:
    """Bounds of these levels; raise if the conjugate mixture of the family does not allow them.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> checked_bounds(Bernoulli(), "tilt", 0.1, 0.45, 0.001, 0.1).upper_threshold == -log(0.45)
    True
    """
    confidence = bounds_for(law, kind, epsilon, -log(upper_level), -log(lower_level))
    if isinstance(confidence, ConjugateBounds):
        largest = max(confidence.lower_threshold, confidence.upper_threshold)
        possible = largest <= confidence.family.largest_threshold
        require(possible, "delta", "be larger with bounds 'kt' for this family", delta)
    return confidence
