"""About how many pulls a search still needs: an estimate, no part of any proof.

It has two steps. If every mean stayed as it looks and every bound narrowed with the square root of its arm's pulls,
this many pulls would let the bounds meet: the challengers come down one by one, the leader is pulled in turn
(:func:`until_they_meet`). Recorded searches then say how such a number errs: it is too low early, because the leader is
the luckiest of many, and too high late, because a lucky streak ends a search. ``python -m benchmarks remaining`` says
how good the estimate is; it is not shown where it was not. A rule that joins the evidence of all arms needs less of it,
so chance decides more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topalpha.arithmetic import exp, log

Numbers = NDArray[np.float64]


class Experience(NamedTuple):
    """What recorded searches taught: the exponents and the factor of :func:`forecast`, and where it may be shown.

    It is shown from ``least`` to ``most`` times the pulls spent: earlier the leader is not known yet, and later chance
    decides.

    Examples
    --------
    >>> BOUNDS.least < JOINED.least  # chance decides earlier
    True
    """

    factor: float
    meet: float
    shown: float
    rivals: float
    least: float
    most: float


#: For stopping rules that compare the bounds of single arms, and for those that join the evidence of all.
BOUNDS = Experience(factor=0.85, meet=0.85, shown=0.0, rivals=0.06, least=0.16, most=2.0)
JOINED = Experience(factor=0.27, meet=0.27, shown=0.54, rivals=0.0, least=0.42, most=2.0)
# An epsilon shown may be infinite: beyond this many times the target's it says no more.
_WIDEST = 20.0


class Arms(NamedTuple):
    """The figures of arms where large means are good, one entry per arm.

    Examples
    --------
    >>> Arms(np.array([9.0]), np.array([0.5]), np.array([0.25]), np.array([0.75])).upper.tolist()
    [0.75]
    """

    pulls: Numbers
    mean: Numbers
    lower: Numbers
    upper: Numbers


def forecast(
    total: int, leader: Arms, others: Arms, epsilon: float, shown: float, most: float, joined: bool
) -> int | None:
    """The estimated number of further pulls, two digits of it; None where it cannot be trusted.

    Parameters
    ----------
    total
        The pulls spent.
    leader, others
        The leader's figures, as arrays of one entry, and those of all other arms.
    epsilon, shown
        The target's epsilon, and the one that is shown of the leader now.
    most
        The largest number of pulls of an arm: a test set's size, or infinite.
    joined
        Whether the stopping rule joins the evidence of all arms.

    Examples
    --------
    >>> one = Arms(*map(np.array, ([400.0], [0.8], [0.7], [0.9])))
    >>> other = Arms(*map(np.array, ([100.0, 300.0], [0.4, 0.7], [0.2, 0.6], [0.6, 0.85])))
    >>> forecast(800, one, other, 0.1, 0.15, math.inf, joined=False)
    360
    >>> forecast(8000, one, other, 0.1, 0.15, math.inf, joined=False) is None  # nearly there
    True
    """
    meet = until_they_meet(leader, others, epsilon, most)
    if not 0.0 < meet < math.inf:
        return None
    learnt = JOINED if joined else BOUNDS
    rivals = 1.0 + np.count_nonzero(others.upper > leader.mean[0] + 0.5 * epsilon)
    wide = min(max(shown / epsilon, 1.0), _WIDEST)
    logs = learnt.meet * log(meet / total) + learnt.shown * log(wide) + learnt.rivals * log(rivals)
    share = learnt.factor * exp(logs)
    return int(float(f"{share * total:.2g}")) if learnt.least <= share <= learnt.most else None


def until_they_meet(leader: Arms, others: Arms, epsilon: float, most: float = math.inf) -> float:
    """The pulls until no other bound exceeds the leader's lower bound plus epsilon, if all means are as they look.

    An interval is as wide as 1/sqrt(N), and on a test set of ``most`` items as sqrt(1/N - 1/most). Other arms come down
    to one level, and each of their pulls goes with one of the leader's. Infinite if the bounds never meet.

    Examples
    --------
    >>> one = Arms(*map(np.array, ([100.0], [0.8], [0.7], [0.9])))
    >>> other = Arms(*map(np.array, ([50.0], [0.5], [0.2], [0.8])))
    >>> [round(until_they_meet(one, other, epsilon)) for epsilon in (0.1, 0.05)]
    [0, 35]
    """
    pulls, mean, wide = others.pulls, others.mean, np.maximum(others.upper - others.mean, 0.0)
    own, width = float(leader.pulls[0]), float(leader.mean[0] - leader.lower[0])
    if not (np.isfinite(wide).all() and math.isfinite(width)):
        return math.inf
    rest = 1.0 / most if most < math.inf else 0.0

    def spent(level: float) -> float:
        """The pulls of others until none of their bounds exceeds the level."""
        above = mean + wide > level
        room = level - mean[above]
        if (room <= 0.0).any():
            return math.inf
        ratio = room / wide[above]
        each = 1.0 / (rest + (1.0 / pulls[above] - rest) * (ratio * ratio)) - pulls[above]
        # One after the other: how NumPy sums differs between machines.
        return float(np.cumsum(each)[-1]) if len(each) else 0.0

    top, before = float(leader.mean[0]) + epsilon, 1.0 / own - rest
    if before <= 0.0 or width <= 0.0:
        return spent(top)  # the leader is known exactly

    def reached(more: float) -> float:
        """The leader's lower bound after more pulls, plus epsilon."""
        after = max(1.0 / min(own + more, most) - rest, 0.0)
        return top - width * math.sqrt(after / before)

    low, high = float(leader.lower[0]) + epsilon, top
    for _ in range(40):
        middle = 0.5 * (low + high)
        if reached(spent(middle)) > middle:
            low = middle
        else:
            high = middle
    found = spent(high)
    # Arms whose record is perfect do not come down: then the leader has to go all the way to them.
    share = min((top - high) / width, 1.0)
    if share < 1e-9:
        return math.inf
    alone = 1.0 / (before * share * share + rest) - own
    return found + min(max(found, alone), most - own)
