"""Claims of the joint stopping rule at any time: other epsilons and larger alphas (docs/proofs.md, E.6).

For one alpha the rule holds at every epsilon at once, at no cost: the leader's evidence is a supermartingale against
its own true mean. Larger alphas come from a grid fixed in advance, each with its own share of delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from topalpha.arithmetic import exp, log
from topalpha.rules.claims import FIRST_SHARE, least_shown
from topalpha.rules.columns import PLACE, UPPER
from topalpha.rules.joint_stop import certificate, joined, leader_evidence, seen_arms
from topalpha.rules.protocol import SUM, Claim, History
from topalpha.rules.tournament import rebuild, runner_up
from topalpha.theory.arm_counts import log_all_fail

if TYPE_CHECKING:
    from topalpha.algorithms.field.joint_one_phase import JointOnePhase
    from topalpha.algorithms.joint_lucb import JointLUCB

    Joint: TypeAlias = JointLUCB | JointOnePhase

# The resolution of epsilons and lower bounds, as a fraction of the target's epsilon.
_RESOLUTION = 1e-3
# Epsilons that are only looked at are rounded up by this factor at most, and not told from infinity above this many
# times the target's.
_ROUGH, _WIDEST = 1.04, 64.0


def leader_lower(algorithm: Joint, history: History, memory: Any, arm: int) -> float:
    """The largest mean that the arm's own evidence excludes; the lowest mean if the arm is not registered.

    P(it ever exceeds the mean of any registered arm) <= delta: w1 v_j M_j alone would then have reached 1/delta.
    """
    lowest = algorithm.family.lowest
    if history.stats[PLACE][arm] == 0.0:
        return lowest

    def excluded(mean: float) -> bool:
        evidence = leader_evidence(algorithm, history, memory, arm, mean + algorithm.epsilon)
        return algorithm.log_leader + evidence >= 0.0

    highest, mean = algorithm.family.highest, history.stats[SUM][arm] / history.pulls[arm]
    if history.pulls[arm] >= algorithm.family.capacity:
        return mean  # all items have been seen
    # The highest mean is never excluded; rewards that it cannot produce make any ratio against it infinite, which is
    # evidence for means below it.
    high = min(mean + algorithm.epsilon, highest)
    if high < highest and excluded(high):  # rewards since registration were far above those before
        return high
    step = algorithm.epsilon
    low = max(high - step, lowest)
    while low > lowest and not excluded(low):
        high = low
        step *= 2.0
        low = max(low - step, lowest)
        if step > 1e300:
            return lowest
    while high - low > _RESOLUTION * algorithm.epsilon:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excluded(middle) else (low, middle)
    return low


def larger_alphas(alpha: float) -> list[float]:
    """The grid: twice alpha, four times alpha, and so on below 1.

    Examples
    --------
    >>> larger_alphas(0.1)
    [0.2, 0.4, 0.8]
    """
    grid = []
    while (alpha := 2.0 * alpha) < 1.0:
        grid.append(alpha)
    return grid


def shown_epsilon(algorithm: Joint, history: History, arm: int) -> float:
    """The smallest epsilon from the target's on, a little rounded up, at which the arm could be returned now.

    It is the target's exactly when the stop condition holds. Infinite for an arm without evidence of its own, and where
    hardly anything is shown.
    """
    if history.stats[PLACE][arm] == 0.0:
        return math.inf
    memory, seen = _fresh(algorithm, history)
    at_alpha = algorithm._replace(log_draws=_log_draws(algorithm, algorithm.alpha, seen))
    return _smallest_epsilon(at_alpha, history, memory, arm, _rough)


def _rough(shown: Callable[[float], bool], unit: float) -> float:
    """The smallest epsilon from ``unit`` on that is shown, rounded up."""
    if shown(unit):
        return unit
    low, high = unit, 2.0 * unit
    while not shown(high):
        low, high = high, 2.0 * high
        if high > _WIDEST * unit:
            return math.inf
    while high > _ROUGH * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def _fine(shown: Callable[[float], bool], unit: float) -> float:
    """The smallest epsilon that is shown, rounded up; infinite if none is found."""
    return least_shown(shown, _RESOLUTION * unit, unit, 1e6 * unit, _RESOLUTION * unit)


def _fresh(algorithm: Joint, history: History) -> tuple[Any, int]:
    """Scratch with the tree of challengers, and the number of arms with a reward."""
    memory, seen = algorithm.scratch(len(history.pulls)), seen_arms(history)
    rebuild(memory.challengers, history.stats[UPPER], history.pulls, seen)
    return memory, seen


def joint_claims(algorithm: Joint, history: History, arm: int) -> list[Claim]:
    """The smallest epsilon proved for the target's alpha, and for each larger alpha where it is smaller."""
    memory, seen = _fresh(algorithm, history)
    grid = larger_alphas(algorithm.alpha)
    curve: list[Claim] = []
    for alpha in (algorithm.alpha, *grid):
        share = 0.0 if alpha == algorithm.alpha else log((1.0 - FIRST_SHARE) / len(grid) / FIRST_SHARE)
        at_alpha = algorithm._replace(
            log_draws=_log_draws(algorithm, alpha, seen),
            log_leader=algorithm.log_leader + share,
            log_challengers=algorithm.log_challengers + share,
            log_both=algorithm.log_both + share,
        )
        epsilon = _smallest_epsilon(at_alpha, history, memory, arm, _fine)
        if epsilon < math.inf and (not curve or epsilon < curve[-1].epsilon):
            curve.append(Claim(alpha, epsilon))
    return curve


def _log_draws(algorithm: Joint, alpha: float, seen: int) -> float:
    """ln of the evidence from drawing ``seen`` arms, for this alpha.

    From an infinite pool any number of draws counts. From a list the number must be fixed in advance: arms without a
    reward count with delta_u.
    """
    delta_u = exp(algorithm.log_delta_u)
    if algorithm.pool == 0:
        return -log_all_fail(0, alpha, seen, delta_u)
    missing = algorithm.arms - seen
    return missing * algorithm.log_delta_u - log_all_fail(algorithm.pool, alpha, algorithm.arms, delta_u)


def _smallest_epsilon(
    algorithm: Joint,
    history: History,
    memory: Any,
    arm: int,
    smallest: Callable[[Callable[[float], bool], float], float],
) -> float:
    """The smallest epsilon for which the stop condition holds at every x, as ``smallest`` finds it."""
    challenger = runner_up(memory.challengers, history.stats[UPPER], history.pulls, arm)
    if history.stats[PLACE][arm] == 0.0:
        # The arm has no evidence of its own. Its mean is at least the lowest mean, and the other means are below their
        # upper bounds; that suffices if the draw alone is enough evidence at every x above all these bounds.
        enough = challenger >= 0 and algorithm.log_challengers + algorithm.log_draws >= 0.0
        return history.stats[UPPER][challenger] - algorithm.family.lowest if enough else math.inf

    def proved(epsilon: float) -> bool:
        at_epsilon = algorithm._replace(epsilon=epsilon)
        if at_epsilon.log_challengers + at_epsilon.log_draws < 0.0:
            # Too few arms for the draw alone to cover every x above all upper bounds: the leader's evidence must help.
            top = algorithm.family.highest
            if top == math.inf:
                return False
            evidence = leader_evidence(at_epsilon, history, memory, arm, top)
            if not joined(at_epsilon, evidence, at_epsilon.log_draws):
                return False
        return challenger < 0 or certificate(at_epsilon, history, memory, arm, challenger, at_epsilon.log_draws)

    return smallest(proved, algorithm.epsilon)
