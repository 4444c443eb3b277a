"""Bounds for cc-lucb and evidence for joint-lucb: the parts of these algorithms that depend on the reward model."""

from __future__ import annotations

from topalpha.confidence.bernstein import BernsteinBounds, BernsteinEvidence
from topalpha.confidence.conjugate import ConjugateBounds
from topalpha.confidence.gap import GapEvidence
from topalpha.confidence.graded import GradedBounds, GradedEvidence
from topalpha.confidence.lost import LostBounds, LostEvidence
from topalpha.confidence.student import StudentBounds
from topalpha.confidence.tilt import TiltBounds
from topalpha.confidence.without_replacement import ShiftEvidence, WithoutReplacementBounds
from topalpha.families import Graded, LowVariance, Normal, PassFail, describe
from topalpha.families.protocols import EvidenceFamily, RewardFamily, RewardModel
from topalpha.rules.columns import ConfidenceBounds, JointEvidence
from topalpha.validate import choice, require

__all__ = [
    "LOST",
    "WORDS",
    "ConfidenceBounds",
    "JointEvidence",
    "bounds_for",
    "evidence_for",
    "gap",
    "levels",
    "lost",
    "pairs",
    "tilt",
]
#: What certificates call them; not the docstrings, which ``python -OO`` leaves out: the same words must come out.
WORDS: dict[str, str] = {
    "TiltBounds": "Running bounds from tilt mixtures with the grid for epsilon.",
    "ConjugateBounds": "Running bounds from the family's conjugate mixture.",
    "BernsteinBounds": "Running bounds that learn the variance, with the gaps for epsilon; no mean is above highest.",
    "StudentBounds": "Running bounds of the mean of normal rewards with an unknown variance.",
    "WithoutReplacementBounds": (
        "Running bounds of a score on a test set drawn without replacement, with the shifts for epsilon."
    ),
    "GradedBounds": (
        "Running bounds of the mean score on a test set drawn without replacement, with the gaps for epsilon."
    ),
    "GapEvidence": "Likelihood ratios against every mean, with the grid for epsilon; threshold is ln(1/delta_u).",
    "BernsteinEvidence": "Evidence that learns the variance, with the gaps for epsilon; threshold is ln(1/delta_u).",
    "GradedEvidence": (
        "Evidence about a mean score on a test set drawn without replacement; threshold is ln(1/delta_u)."
    ),
    "ShiftEvidence": "Evidence about a score on a test set drawn without replacement; threshold is ln(1/delta_u).",
    "LostBounds": "A lost pull counts as the largest reward from above and as the smallest from below.",
    "LostEvidence": (
        "A lost pull counts as the largest reward where the arm may be low and as the smallest where it may be high."
    ),
}
#: The bounds and the evidence that count lost pulls; the first of their fields is what they count them in.
LOST = (LostBounds.__name__, LostEvidence.__name__)


def bounds_for(
    family: RewardModel, kind: str, epsilon: float, upper_threshold: float, lower_threshold: float
) -> ConfidenceBounds:
    """Bounds for this model, with grids for ``epsilon``; thresholds are ln(1/level) of the two sides.

    ``kind`` is ``"tilt"``, one-sided mixtures for every model, or ``"kt"``, two-sided conjugate ones for families.

    Examples
    --------
    >>> bounds_for(PassFail(200), "tilt", 0.05, 1.0, 5.0)
    WithoutReplacementBounds(items=200, epsilon=0.05, upper_threshold=1.0, lower_threshold=5.0)
    >>> bounds_for(Normal(), "kt", 0.05, 1.0, 5.0)
    Traceback (most recent call last):
    ValueError: bounds must be 'tilt' for normal, which has no conjugate mixture, got 'kt'
    """
    choice("bounds", kind, ("tilt", "kt"))
    if isinstance(family, RewardFamily):
        if kind == "kt":
            return ConjugateBounds(family, upper_threshold, lower_threshold)
        return TiltBounds(family, epsilon, upper_threshold, lower_threshold)
    condition = f"be 'tilt' for {describe(family)}, which has no conjugate mixture"
    require(kind == "tilt", "bounds", condition, kind)
    if isinstance(family, PassFail):
        return WithoutReplacementBounds(family.items, epsilon, upper_threshold, lower_threshold)
    if isinstance(family, Graded):
        return GradedBounds(family.items, epsilon, upper_threshold, lower_threshold)
    if isinstance(family, Normal):
        return StudentBounds(family.prior_pulls, upper_threshold, lower_threshold, family.least_pulls)
    require(isinstance(family, LowVariance), "family", "have bounds for cc-lucb", family)
    return BernsteinBounds(family.highest, epsilon, upper_threshold, lower_threshold)


def evidence_for(family: RewardModel, epsilon: float, threshold: float) -> JointEvidence:
    """Evidence for this model, with grids for ``epsilon``; ``threshold`` is ln(1/delta_u).

    Examples
    --------
    >>> evidence_for(PassFail(200), 0.05, 0.5)
    ShiftEvidence(items=200, epsilon=0.05, threshold=0.5)
    >>> evidence_for(Normal(), 0.05, 0.5)
    Traceback (most recent call last):
    ValueError: family must have evidence that joins other arms' for joint-lucb (use cc-lucb), got 'normal'
    """
    if isinstance(family, EvidenceFamily):
        return GapEvidence(family, epsilon, threshold)
    if isinstance(family, PassFail):
        return ShiftEvidence(family.items, epsilon, threshold)
    if isinstance(family, Graded):
        return GradedEvidence(family.items, epsilon, threshold)
    condition = "have evidence that joins other arms' for joint-lucb (use cc-lucb)"
    require(isinstance(family, LowVariance), "family", condition, describe(family))
    return BernsteinEvidence(family.highest, epsilon, threshold)
