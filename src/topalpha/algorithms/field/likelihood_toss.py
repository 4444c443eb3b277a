"""likelihood-toss: the most biased coin with a known reservoir; Chandrasekaran and Karp (COLT 2014).

The reservoir has two known means, ``high`` with probability ``share`` and ``low`` otherwise. Toss one coin, and keep L,
the likelihood of its rewards under ``high`` over that under ``low``. Drop it for a fresh coin as soon as L < 1; return
it as soon as its posterior probability of mean ``high`` is 1 - delta, that is once
L >= (1 - share)(1 - delta) / (share delta).

The arm returned has the low mean with probability at most delta, and no strategy that returns arms of such a posterior
needs fewer tosses in expectation (docs/field/biased_coin.md, A). Rewards must have the family's law exactly: for
rewards in [0, 1] that are not Bernoulli nothing is proved.
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.arithmetic import log
from topalpha.families import checked, describe
from topalpha.families.protocols import RewardFamily
from topalpha.reservoirs import TwoPoint
from topalpha.rules.generic import Counting
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Generator, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import fraction, real, require

# ln L below 0 by less than this is a tie with a fresh coin, up to rounding.
_TIE = 1e-9


class LikelihoodToss(Counting, Parameters):
    """One coin at a time; build it with :func:`design`. Correct on this reservoir (docs/field/biased_coin.md, A)."""

    family: RewardFamily
    low: float
    high: float
    share: float
    stop_at: float  # ln L at the stop, 0 if any arm is acceptable
    traits = Traits("likelihood-toss", exact_law=True)

    def coin_log_ratio(self, history: History, coin: int) -> float:
        """ln L of this coin."""
        return self.family.log_ratio(self.high, self.low, history.stats[SUM][coin], history.pulls[coin])

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Toss the current coin while 1 <= L, else a fresh one; stop once L is large enough."""
        if history.in_flight > 0:
            return WAIT
        batch[0] = history.arms
        if history.arms > 0:
            coin = history.arms - 1
            ratio = self.coin_log_ratio(history, coin)
            if self.stop_at <= 0.0 or ratio >= self.stop_at:
                return 0
            if ratio >= -_TIE:
                batch[0] = coin
        return 1

    def conditions(self) -> tuple[str, ...]:
        """The known reservoir."""
        return (f"A candidate has mean {self.high:g} with probability {self.share:g}, and {self.low:g} otherwise.",)

    def recommend(self, history: History, memory: Any) -> int:
        """The arm of the largest L; at the stop that is the current coin."""
        tossed = (arm for arm in range(history.arms) if history.pulls[arm] > 0)
        return max(tossed, key=lambda arm: self.coin_log_ratio(history, arm), default=0)


def only_high(low: float, high: float, share: float, alpha: float, epsilon: float) -> bool:
    """Whether only arms of mean ``high`` are acceptable in this two-point reservoir.

    Examples
    --------
    >>> only_high(0.4, 0.604, 0.1, 0.1, 0.2), only_high(0.4, 0.6, 0.1, 0.1, 0.2), only_high(0.4, 0.9, 0.1, 0.2, 0.2)
    (True, False, False)
    """
    return low < TwoPoint(low, high, share).threshold(alpha, epsilon)


def two_point(reservoir: Any, alpha: float, epsilon: float) -> TwoPoint:
    """The reservoir, if it has two means and only the higher one is acceptable; else ``ValueError``.

    Examples
    --------
    >>> two_point(TwoPoint(0.4, 0.604, 0.1), 0.1, 0.2).expression
    'two-point(0.4,0.604,0.1)'
    >>> two_point(TwoPoint(0.4, 0.604, 0.1), 0.1, 0.3)
    Traceback (most recent call last):
    ValueError: reservoir must have unacceptable arms at this alpha and epsilon, got 'two-point(0.4,0.604,0.1)'
    """
    text = getattr(reservoir, "expression", None) or type(reservoir).__name__
    if not isinstance(reservoir, TwoPoint):
        raise ValueError(f"reservoir must be two-point, got {text!r}")
    decisive = only_high(reservoir.low, reservoir.high, reservoir.probability, alpha, epsilon)
    require(decisive, "reservoir", "have unacceptable arms at this alpha and epsilon", text)
    return reservoir


def knowledge(reservoir: Any, alpha: float, epsilon: float) -> dict[str, float]:
    """Both means and the share of the higher one.

    Examples
    --------
    >>> knowledge(TwoPoint(0.4, 0.604, 0.1), 0.1, 0.2)
    {'low': 0.4, 'high': 0.604, 'share': 0.1}
    """
    law = two_point(reservoir, alpha, epsilon)
    return {"low": law.low, "high": law.high, "share": law.probability}


@algorithm(
    "likelihood-toss",
    "Chandrasekaran, Karp (COLT 2014), Likelihood-Toss",
    "docs/field/biased_coin.md, A",
    family=checked,
    knowledge=knowledge,
)
def design(
    target: Target, *, low: float | None = None, high: float | None = None, share: float | None = None
) -> LikelihoodToss:
    """Likelihood-Toss on the reservoir with mean ``high`` with probability ``share``, else ``low``; all are required.

    If both means are acceptable, or if a fresh arm is good enough with probability 1 - delta, it draws one arm, pulls
    it once and stops.

    Examples
    --------
    >>> known = {"low": 0.4, "high": 0.604, "share": 0.1}
    >>> round(design(0.1, 0.2, 0.1, **known).stop_at, 6), design(0.1, 0.3, 0.1, **known).stop_at  # ln 81, 0
    (4.394449, 0.0)
    """
    law = target.family
    for name, value in (("low", low), ("high", high), ("share", share)):
        require(value is not None, name, "be given: likelihood-toss must know the reservoir", value)
    below, above, part = real("low", low or 0.0), real("high", high or 0.0), fraction("share", share or 0.0)
    require(-math.inf < below < above < math.inf, "high", f"be finite and above low = {below:g}", above)
    require(law.lowest <= below, "low", f"be a mean of {describe(law)}, at least {law.lowest:g}", below)
    require(above <= law.highest, "high", f"be a mean of {describe(law)}, at most {law.highest:g}", above)
    for name, mean in (("low", below), ("high", above)):
        # for example, there is no exponential law of mean 0
        edge = mean in (law.lowest, law.highest) and law.divergence(mean, 0.5 * (below + above)) == math.inf
        require(not edge, name, f"be a mean that {describe(law)} can have", mean)
    stop_at = 0.0
    if only_high(below, above, part, target.alpha, target.epsilon):
        stop_at = max(0.0, log((1.0 - part) / part) + log((1.0 - target.delta) / target.delta))
    arms = math.ceil(4.0 / part)  # enough for nearly every run: a simulator draws them at once
    return LikelihoodToss(*target.on(arms), below, above, part, stop_at)
