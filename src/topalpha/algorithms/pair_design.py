"""What the algorithms with likelihood-ratio stops share on the host: their design, and what is proved before the stop.

With delta/2 for the draw of n arms and delta/2 for the stop, the threshold is ln(2 (n-1) / delta)
(docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.core import Claim, History
from topalpha.families import checked
from topalpha.glr import pair_memory, recall, separation
from topalpha.rewards import RewardFamily, RewardModel
from topalpha.rules import unseen
from topalpha.theory import arms_tight
from topalpha.theory.pool import fewest
from topalpha.validate import fraction, positive, require

# Where a redundancy is valid up to a threshold only (Gaussian), the sum of two is valid up to this much less.
_RESERVE = 25.0


class PairTarget(NamedTuple):
    """A target, checked: the numbers that every such algorithm has."""

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    threshold: float


def pair_target(alpha: float, epsilon: float, delta: float, family: RewardModel | None, pool: int) -> PairTarget:
    """Check a target; n = ceil(ln(2/delta) / -ln(1 - alpha)) arms or ``pool``, and the threshold of the stop.

    Examples
    --------
    >>> target = pair_target(0.05, 0.05, 0.05, None, 0)
    >>> target.arms, round(math.exp(target.threshold))
    (72, 2840)
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    number = fewest(arms_tight(alpha, delta), pool)
    law = checked(family)
    threshold = math.log(2.0 * max(number - 1, 1) / delta)
    require(threshold + _RESERVE <= law.largest_threshold, "delta", "not be so small for this family", delta)
    return PairTarget(alpha, epsilon, delta, number, law, threshold)


def pair_claims(target: Any, history: History, arm: int) -> list[Claim]:
    """The smallest epsilon for which the run could stop now and return this arm, for the target's alpha.

    ``target`` is the algorithm. It is found by bisection, from above, since the evidence grows with epsilon.

    Examples
    --------
    >>> target = pair_target(0.6, 0.1, 0.1, None, 2)
    >>> history = History(400, 2, [200, 200], [[150.0, 100.0]], [])
    >>> [(claim.alpha, round(claim.epsilon, 4)) for claim in pair_claims(target, history, 0)]
    [(0.6, 0.0)]
    >>> [(claim.alpha, round(claim.epsilon, 4)) for claim in pair_claims(target, history, 1)]
    [(0.6, 0.4378)]
    """
    target = PairTarget(*target[: len(PairTarget._fields)])
    if history.arms < target.arms or unseen(history.pulls, history.arms):
        return []
    memory = pair_memory(history.arms)
    recall(target.family, history, memory)
    epsilon = 0.0
    for rival in range(history.arms):
        if rival != arm:
            epsilon = _enough(target, history, memory, arm, rival, epsilon)
    return [Claim(target.alpha, epsilon)] if epsilon < math.inf else []


def _enough(target: PairTarget, history: History, memory: Any, arm: int, rival: int, least: float) -> float:
    """At least ``least``, and so much that the rival is not that much better."""

    def shown(epsilon: float) -> bool:
        return separation(target.family, history, memory, arm, rival, epsilon) >= target.threshold

    if least == math.inf or shown(least):
        return least
    low, high = least, max(least, target.epsilon)
    while not shown(high):
        low, high = high, 2.0 * high
        if high > 1e300:
            return math.inf
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high
