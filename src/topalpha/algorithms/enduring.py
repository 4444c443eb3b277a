"""Algorithms whose bounds allow for lost pulls, which never came back (docs/proofs.md, G)."""

from __future__ import annotations

from topalpha.algorithms.cc_lucb import CCLUCB
from topalpha.algorithms.joint_lucb import JointLUCB
from topalpha.algorithms.lucb_pp import LUCBPlusPlus, ModelLUCBPlusPlus, with_bounds
from topalpha.confidence.lost import LostBounds, LostEvidence
from topalpha.families import Bernoulli, LowVariance, PassFail, describe
from topalpha.rules.protocol import Algorithm
from topalpha.rules.registration import Target
from topalpha.validate import require

#: The algorithms named in the error message.
ENDURING = ("joint-lucb", "cc-lucb", "lucb++")


def enduring(algorithm: Algorithm) -> Algorithm:
    """The same algorithm with bounds that count a lost pull as the worst case for either bound.

    Without a lost pull its decisions stay the same. Only lucb++ for rewards in a range has no bounds to replace; it
    uses the same mixtures in the rounds of its other models.

    Examples
    --------
    >>> from topalpha import design
    >>> enduring(design("joint-lucb", 0.1, 0.1, 0.1)).traits.columns
    7
    >>> enduring(design("kl-lucb", 0.1, 0.1, 0.1))
    Traceback (most recent call last):
    ValueError: on_lost must be again for kl-lucb; worst is for joint-lucb, cc-lucb and lucb++, got 'worst'
    """
    family, name = algorithm.family, algorithm.traits.name
    learns = "be again for low-variance rewards, whose bounds weigh every reward by the earlier ones"
    require(not isinstance(family, LowVariance), "on_lost", learns, "worst")
    endless = f"be again: {describe(family).partition('(')[0]} rewards have no largest and no smallest value"
    require(isinstance(family, Bernoulli | PassFail), "on_lost", endless, "worst")
    if isinstance(algorithm, LUCBPlusPlus):
        target = Target(algorithm.alpha, algorithm.epsilon, algorithm.delta, family)
        algorithm = with_bounds(target, algorithm.arms, 0, bounds="kt")
    if isinstance(algorithm, ModelLUCBPlusPlus):
        rounds = algorithm.rounds
        return algorithm._replace(rounds=rounds._replace(confidence=LostBounds(rounds.confidence)))
    if isinstance(algorithm, CCLUCB):
        return algorithm._replace(confidence=LostBounds(algorithm.confidence))
    *first, last = ENDURING
    able = f"be again for {name}; worst is for {', '.join(first)} and {last}"
    require(isinstance(algorithm, JointLUCB), "on_lost", able, "worst")
    assert isinstance(algorithm, JointLUCB)
    return algorithm._replace(evidence=LostEvidence(algorithm.evidence))
