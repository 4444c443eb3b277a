"""From the tail of the reservoir to simple regret, and back.

The tail assumption (label ``ass:smoothness``): E rho^beta <= P(mean >= mu* - rho) <= E' rho^beta for rho in (0, reach].
The paper says "for all rho", which no law satisfies, and exchanges the two constants below it (errata E7).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topalpha.arithmetic import power
from topalpha.theory.bound import Bound
from topalpha.validate import fraction, positive, real, require

if TYPE_CHECKING:
    from topalpha.reservoirs import Reservoir

_TAIL = ("P(mean >= mu* - rho) >= E rho^beta for rho in (0, reach] (label ass:smoothness)",)


def gap_bounds(alpha: float, beta: float, lower_constant: float, upper_constant: float) -> tuple[float, float]:
    """The interval that holds mu* - G^{-1}(1-alpha): (alpha/E')^(1/beta) and (alpha/E)^(1/beta) (errata E7).

    ``lower_constant`` is E, ``upper_constant`` is E'; both ends must lie within the reach of the assumption.

    Examples
    --------
    >>> gap_bounds(0.25, 2.0, 1.0, 4.0)
    (0.25, 0.5)
    """
    share, root = fraction("alpha", alpha), 1.0 / positive("beta", beta)
    low, high = positive("lower_constant", lower_constant), positive("upper_constant", upper_constant)
    require(low <= high, "upper_constant", "not be below lower_constant", upper_constant)
    return power(share / high, root), power(share / low, root)


def _reach(reach: float) -> float:
    number = real("reach", reach)
    require(number > 0.0, "reach", "be positive", reach)
    return number


def _epsilon(epsilon: float) -> float:
    number = real("epsilon", epsilon)
    require(0.0 <= number < math.inf, "epsilon", "be non-negative and finite", epsilon)
    return number


def regret_bound(
    alpha: float, beta: float, lower_constant: float, epsilon: float = 0.0, reach: float = math.inf
) -> Bound:
    """(alpha/E)^(1/beta) + epsilon: a bound on the simple regret of (alpha, epsilon, delta)-correct answers.

    Examples
    --------
    >>> regret_bound(0.25, 2.0, 1.0, 0.25).value
    0.75
    """
    gap = power(fraction("alpha", alpha) / positive("lower_constant", lower_constant), 1.0 / positive("beta", beta))
    if gap > _reach(reach) * (1.0 + 1e-12):
        return Bound(None, f"the tail assumption reaches {reach:g} below mu*, and {gap:g} is needed", _TAIL)
    return Bound(gap + _epsilon(epsilon), "", _TAIL)  # label ass:smoothness, constants exchanged


def alpha_from_beta(
    regret: float, beta: float, lower_constant: float, epsilon: float = 0.0, reach: float = math.inf
) -> Bound:
    """E (regret - epsilon)^beta: the largest alpha whose (alpha, epsilon, delta)-correct answers keep the regret.

    Examples
    --------
    >>> alpha_from_beta(0.75, 2.0, 1.0, 0.25).value
    0.25
    """
    gap = positive("regret", regret) - _epsilon(epsilon)
    require(gap > 0.0, "epsilon", f"be below regret = {regret:g}", epsilon)
    alpha = positive("lower_constant", lower_constant) * power(gap, positive("beta", beta))
    if gap > _reach(reach) * (1.0 + 1e-12):
        return Bound(None, f"the tail assumption reaches {reach:g} below mu*, and {gap:g} is needed", _TAIL)
    if alpha >= 1.0:
        return Bound(None, f"the tail assumption cannot reach {gap:g} below mu*: alpha would be {alpha:g}", _TAIL)
    return Bound(alpha, "", _TAIL)


def epsilon_for_alpha_correctness(reservoir: Reservoir, alpha: float) -> Bound:
    """q(1-alpha/2) - q(1-alpha): an algorithm run with **alpha/2** and this epsilon is (alpha, delta)-correct.

    The paper claims (alpha/2, delta)-correctness for a run with alpha, which is impossible (errata E18). Upper
    quantiles are used, so that the statement covers atoms; if an atom makes them equal, there is no such epsilon.

    Examples
    --------
    >>> from topalpha.reservoirs import parse
    >>> round(epsilon_for_alpha_correctness(parse("beta(1,1)", at_most=0.95), 0.1).value, 12)
    0.0475
    """
    gap = reservoir.top(0.5 * fraction("alpha", alpha)) - reservoir.top(alpha)
    hypotheses = ("the algorithm runs with alpha/2 and is (alpha/2, epsilon, delta)-correct",)
    if not 0.0 < gap < math.inf:
        return Bound(None, f"the quantiles at 1 - alpha/2 and 1 - alpha differ by {gap:g}", hypotheses)
    return Bound(gap, "", hypotheses)
