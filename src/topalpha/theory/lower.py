"""The cost of any correct algorithm: Theorem 1 of the paper and its epsilon-relaxed version."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topalpha.arithmetic import log
from topalpha.theory.bound import Bound, conclude
from topalpha.validate import fraction, positive, require

if TYPE_CHECKING:
    from topalpha.families.protocols import RewardFamily
    from topalpha.reservoirs import Reservoir

_SLACK = 1e-12


def blocks(alpha: float) -> int:
    """m = ceil(1/alpha), the number of blocks of measure alpha; 1e-12 forgives the rounding of 1/alpha (errata E11).

    Examples
    --------
    >>> blocks(0.05), blocks(0.3)
    (20, 4)
    """
    share = fraction("alpha", alpha)
    require(share >= 1e-6, "alpha", "be at least 1e-6, because all 1/alpha blocks are computed", alpha)
    return math.ceil(1.0 / share - _SLACK)


def partition(reservoir: Reservoir, alpha: float) -> tuple[float, ...]:
    """b_0, ..., b_m: the boundaries of the blocks S^i = (b_i, b_{i-1}] of measure alpha (label ``fig-lb-buckets``).

    b_i = G^{-1}(1 - i alpha) instead of the printed recursion, which never passes an atom of mass alpha (errata E10).

    Examples
    --------
    >>> from topalpha.reservoirs import Uniform
    >>> partition(Uniform(0.0, 1.0), 0.25)
    (1.0, 0.75, 0.5, 0.25, 0.0)
    """
    count = blocks(alpha)
    inner = (reservoir.lower_quantile(1.0 - i * alpha) for i in range(1, count))
    return (reservoir.supremum, *inner, reservoir.infimum)


def _inverse(divergence: float) -> float:
    return math.inf if divergence <= 0.0 else 1.0 / divergence


def _objections(reservoir: Reservoir, family: RewardFamily, raised: float) -> list[str]:
    """Why the change of distribution is impossible: it moves a block of arms up to ``raised``."""
    reasons = []
    if not reservoir.continuous:
        reasons.append("the reservoir has atoms, so tied arms stay acceptable under the change of distribution")
    if reservoir.supremum == math.inf:
        reasons.append("the reservoir's means have no finite supremum mu*")
    if reservoir.infimum < family.lowest - _SLACK or reservoir.supremum > family.highest + _SLACK:
        reasons.append(f"the reservoir's means leave the family's range [{family.lowest:g}, {family.highest:g}]")
    elif raised >= family.highest - _SLACK:  # label ass:mu
        reasons.append(f"no mean of the family lies above {raised:g}, its supremum being {family.highest:g}")
    return reasons


def lower_bound(
    reservoir: Reservoir, alpha: float, delta: float, family: RewardFamily, *, arithmetic: bool = False
) -> Bound:
    """Theorem 1: the least expected number of samples of any (alpha, delta)-correct algorithm (label ``thm-lb``).

    It holds only for continuous G (errata E12); ``arithmetic`` returns the number regardless, if there is one.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> from topalpha.reservoirs import parse
    >>> round(lower_bound(parse("beta(1,2)", at_most=0.95), 0.05, 0.05, Bernoulli()).value, 6)
    42.328574
    >>> lower_bound(parse("beta(1,2)"), 0.05, 0.05, Bernoulli()).reason
    'no mean of the family lies above 1, its supremum being 1'
    """
    rate = max(0.0, -log(2.4 * fraction("delta", delta)))
    best, *inner, _ = partition(reservoir, alpha)
    reasons = _objections(reservoir, family, best)
    if best == math.inf:
        return Bound(None, "; ".join(reasons), _LOWER)
    terms = [_inverse(family.divergence(b, best)) for b in inner[1:]]
    if len(inner) >= 2:  # with m = 2 there is no block of measure alpha below S^1 (errata E13)
        terms.append(_inverse(family.divergence(best, inner[1])))
    value = rate * math.fsum(terms) if rate > 0.0 else 0.0  # label thm-lb
    return conclude(value, reasons, _LOWER, arithmetic)


def worst_case_lower_bound(alpha: float, epsilon: float, delta: float) -> float:
    """The least cost of any (alpha, epsilon, delta)-correct algorithm on *some* reservoir of Bernoulli arms.

    ln(1/(4 delta)) / (18375 alpha epsilon^2): Chaudhuri and Kalyanakrishnan, *PAC Identification of Many Good Arms in
    Stochastic Multi-Armed Bandits* (ICML 2019), their bound for one of the best m of n arms with n/m = 1/alpha. It
    shows how costs must grow; its constant is far from anything that an algorithm could reach.

    Examples
    --------
    >>> round(worst_case_lower_bound(0.05, 0.05, 0.05), 4)
    0.7007
    """
    risk = fraction("delta", delta)
    slack = positive("epsilon", epsilon)
    return max(0.0, -log(4.0 * risk)) / (18375.0 * fraction("alpha", alpha)) / slack / slack  # its square may be 0


_LOWER = (
    "the reservoir is continuous",
    "mu* is below the supremum of the family's means (label ass:mu)",
    "rewards follow the family; for [0, 1] rewards they are Bernoulli",
    "the algorithm is (alpha, delta)-correct for every reservoir",
)

_RELAXED = (
    "the reservoir is continuous",
    "mu* + epsilon is below the supremum of the family's means",
    "rewards follow the family; for [0, 1] rewards they are Bernoulli",
    "the algorithm is (alpha, epsilon, delta)-correct for every reservoir",
)


def _near(bounds: tuple[float, ...], epsilon: float) -> int:
    """q: how many blocks hold arms within epsilon of b_1; a block that only touches counts, which errs downward."""
    return sum(b >= bounds[1] - epsilon - _SLACK for b in bounds[:-1])


def relaxed_lower_bound(
    reservoir: Reservoir,
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardFamily,
    *,
    arithmetic: bool = False,
) -> Bound:
    """The least expected number of samples of any (alpha, epsilon, delta)-correct algorithm, corrected (errata E15).

    One block, it is unknown which, may hold the answer with probability above 1/2, so the largest term, i = 1, is left
    out; the other q - 1 blocks near the top contribute kl(1/2, 1-delta) = ln(1/(4 delta (1-delta))) / 2 each. With
    ``arithmetic`` a bound without room above mu* is 0.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> from topalpha.reservoirs import parse
    >>> round(relaxed_lower_bound(parse("beta(1,1)", at_most=0.95), 0.05, 0.04, 0.05, Bernoulli()).value, 6)
    30.305299
    """
    bounds = partition(reservoir, alpha)
    raised = bounds[0] + positive("epsilon", epsilon)
    reasons = _objections(reservoir, family, raised)
    if raised >= family.highest - _SLACK or raised == math.inf:
        return conclude(0.0, reasons, _RELAXED, arithmetic)
    risk = fraction("delta", delta)
    near, count = _near(bounds, epsilon), len(bounds) - 1
    half = -0.5 * log(4.0 * risk * (1.0 - risk)) if risk < 0.5 else 0.0
    full = max(0.0, -log(2.4 * risk))
    inside = math.fsum(_inverse(family.divergence(b, raised)) for b in bounds[2 : min(near, count - 1) + 1])
    below = math.fsum(_inverse(family.divergence(b, raised)) for b in bounds[near + 1 : count])
    return conclude(half * inside + full * below, reasons, _RELAXED, arithmetic)


def printed_relaxed_lower_bound(
    reservoir: Reservoir, alpha: float, epsilon: float, delta: float, family: RewardFamily
) -> Bound:
    """The epsilon-relaxed bound as the paper prints it, for comparison; always void, because its proof fails (E15).

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> from topalpha.reservoirs import parse
    >>> round(printed_relaxed_lower_bound(parse("beta(1,1)", at_most=0.95), 0.05, 0.04, 0.05, Bernoulli()).value, 6)
    27.266824
    """
    bounds = partition(reservoir, alpha)
    raised = bounds[0] + positive("epsilon", epsilon)
    reasons = [
        "as printed it counts the blocks near the top at twice their worth",
        *_objections(reservoir, family, raised),
    ]
    if raised >= family.highest - _SLACK or raised == math.inf:
        return conclude(0.0, reasons, _RELAXED, arithmetic=True)
    near, count = _near(bounds, epsilon), len(bounds) - 1
    edge = max(bounds[1] - epsilon, family.lowest)
    total = (near - 1) * _inverse(family.divergence(edge, raised))
    total += math.fsum(_inverse(family.divergence(b, raised)) for b in bounds[near + 1 : count])
    value = total * max(0.0, -log(4.0 * fraction("delta", delta)))
    return conclude(value, reasons, _RELAXED, arithmetic=True)
