"""The cost of (alpha, epsilon)-KL-LUCB: the complexity H-bar, the explicit bound T* and its leading term."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topalpha.arithmetic import log, power
from topalpha.theory.arm_counts import arms_paper
from topalpha.theory.bound import Bound, conclude
from topalpha.theory.lower import partition
from topalpha.validate import fraction, positive, require, whole

if TYPE_CHECKING:
    from topalpha.families.protocols import RewardFamily
    from topalpha.reservoirs import Reservoir

_COMPLEXITY = ("the family's kappa(epsilon) is positive",)

_EXPLICIT = (
    *_COMPLEXITY,
    "delta <= alpha <= 1/3",
    "k1 >= 2 zeta(gamma)",
    "n = ceil(ln(2/delta)/alpha) arms and the paper's exploration rate",
    "holds with probability at least 1 - 3.5 delta",
)

_LEADING = (
    *_COMPLEXITY,
    "delta <= alpha <= 1/3",
    "up to a term that is o(ln(1/delta)^2) as delta goes to 0",
)


def _gamma(gamma: float) -> float:
    number = positive("gamma", gamma)
    require(number > 1.0, "gamma", "be above 1", gamma)
    return number


def exploration_rate(t: float, n: int, delta: float, gamma: float = 1.1, k1: float = 22.0) -> float:
    """beta(t, delta) = ln(k1 n t^gamma / delta) (label ``explo-rate``).

    Correct confidence bounds need k1 >= :func:`smallest_exploration_constant`; this is not checked.

    Examples
    --------
    >>> round(exploration_rate(10_000, 74, 0.05), 6)
    20.522214
    """
    head = log(positive("k1", k1) * whole("n", n) / fraction("delta", delta))
    return head + _gamma(gamma) * log(positive("t", t))  # label explo-rate


def smallest_exploration_constant(gamma: float) -> float:
    """2 zeta(gamma): the union over t of delta / (k1 n t^gamma), both sides, must not exceed delta / n (errata E1).

    The paper prints 2(1 + 1/gamma - 1); it means 2(1 + 1/(gamma-1)), which is a little larger than necessary.

    Examples
    --------
    >>> round(smallest_exploration_constant(1.1), 7)
    21.1688969
    """
    decay, cut = _gamma(gamma), 50.0
    head = math.fsum(power(k, -decay) for k in range(1, int(cut)))
    # Euler-Maclaurin for the rest; the first omitted term is below 1e-12 for every gamma.
    tail = power(cut, 1.0 - decay) / (decay - 1.0) + 0.5 * power(cut, -decay) + decay * power(cut, -decay - 1.0) / 12.0
    tail -= decay * (decay + 1.0) * (decay + 2.0) * power(cut, -decay - 3.0) / 720.0
    return float(2.0 * (head + tail))


def leading_constant(gamma: float) -> float:
    """C_0(gamma), the largest root of x = gamma ln x + 1 + gamma/e (label ``samplecomp``).

    Examples
    --------
    >>> round(leading_constant(1.1), 10)
    2.3396856053
    """
    factor = _gamma(gamma)
    rest = 1.0 + factor / math.e
    x = 2.0 * factor
    while x < factor * log(x) + rest:
        x *= 2.0
    while True:  # x - gamma ln x - rest is convex: Newton from the right of the largest root decreases to it
        following = x - (x - factor * log(x) - rest) / (1.0 - factor / x)
        if following >= x:
            return x
        x = following


def complexity(reservoir: Reservoir, alpha: float, epsilon: float, family: RewardFamily) -> Bound:
    """H-bar = 1/kappa + sum over i = 2..m of 1/max(kappa, d*(b_{i-1}, b_1)), kappa = epsilon^2/2 for [0, 1] rewards.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> from topalpha.reservoirs import parse
    >>> round(complexity(parse("beta(1,1)", at_most=0.95), 0.05, 0.05, Bernoulli()).value, 6)
    2263.969829
    """
    kappa = family.kappa(positive("epsilon", epsilon))
    bounds = partition(reservoir, alpha)
    if not kappa > 0.0:
        reason = "kappa is 0: means that differ by epsilon/2 can be arbitrarily hard to tell apart"
        return Bound(None, reason, _COMPLEXITY)
    terms = [1.0 / max(kappa, family.chernoff(b, bounds[1])) for b in bounds[1:-1]]
    return Bound(1.0 / kappa + math.fsum(terms), "", _COMPLEXITY)


def _objections(alpha: float, delta: float) -> list[str]:
    reasons = []
    if delta > alpha:
        reasons.append(f"delta = {delta:g} is above alpha = {alpha:g}")
    if alpha > 1.0 / 3.0:
        reasons.append(f"alpha = {alpha:g} is above 1/3")
    return reasons


def upper_bound(
    reservoir: Reservoir,
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardFamily,
    gamma: float = 1.1,
    k1: float = 22.0,
    *,
    arithmetic: bool = False,
) -> Bound:
    """T*, which the samples of (alpha, epsilon)-KL-LUCB exceed with probability at most 3.5 delta (errata E25).

    The fixed point of T = n + 12 H-bar ln(1/delta) beta(T, delta). The probability is proved only for
    delta <= alpha <= 1/3; ``arithmetic`` returns the number outside it, with the reason.

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> from topalpha.reservoirs import parse
    >>> reservoir = parse("beta(1,1)", at_most=0.95)
    >>> round(upper_bound(reservoir, 0.05, 0.05, 0.05, Bernoulli()).value)
    2151174
    >>> upper_bound(reservoir, 0.025, 0.05, 0.05, Bernoulli())[:2]
    (None, 'delta = 0.05 is above alpha = 0.025')
    """
    hardness = complexity(reservoir, alpha, epsilon, family)
    if hardness.value is None:
        return Bound(None, hardness.reason, _EXPLICIT)
    n = arms_paper(alpha, delta)
    reasons = _objections(alpha, delta)
    least = smallest_exploration_constant(gamma)
    if k1 < least * (1.0 - 1e-9):
        reasons.append(f"k1 = {k1:g} is below 2 zeta(gamma) = {least:.6g}")
    slope = -12.0 * hardness.value * log(delta)
    total, following = 0.0, float(n)
    while following > total * (1.0 + 1e-15):  # increasing and concave in T: the iteration climbs to the fixed point
        total, following = following, n + slope * exploration_rate(following, n, delta, gamma, k1)
    return conclude(following, reasons, _EXPLICIT, arithmetic)


def leading_term(
    reservoir: Reservoir,
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardFamily,
    gamma: float = 1.1,
    *,
    arithmetic: bool = False,
) -> Bound:
    """12 C_0(gamma) H-bar ln(1/delta)^2, the leading term of Theorem 2 as delta goes to 0 (label ``samplecomp``).

    Examples
    --------
    >>> from topalpha.families.bernoulli import Bernoulli
    >>> from topalpha.reservoirs import parse
    >>> round(leading_term(parse("beta(1,1)", at_most=0.95), 0.05, 0.05, 0.05, Bernoulli()).value)
    570447
    """
    hardness = complexity(reservoir, alpha, epsilon, family)
    if hardness.value is None:
        return Bound(None, hardness.reason, _LEADING)
    value = 12.0 * leading_constant(gamma) * hardness.value * power(log(1.0 / fraction("delta", delta)), 2)
    return conclude(value, _objections(alpha, delta), _LEADING, arithmetic)
