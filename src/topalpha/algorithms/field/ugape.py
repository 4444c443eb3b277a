"""ugape: UGapEc of Gabillon, Ghavamzadeh and Lazaric (NIPS 2012), with the bounds of lucb++.

Each arm k has a gap index B_k = max_{i != k} U_i - L_k, an upper bound on its regret. The candidate J has the least
index, the rival u is the other arm of largest U; the arm of the wider interval is pulled. B_J <= epsilon is the
stopping rule of lucb++, so the same levels and the same proof apply: (alpha, epsilon, delta)-correct for every
reservoir and any sampling rule, even with dependent rewards across arms (docs/proofs.md, B;
docs/field/finite_solvers.md, 1).
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms import lucb_pp
from topalpha.families import checked
from topalpha.families.protocols import ENDLESS
from topalpha.rules.generic import Recalled
from topalpha.rules.protocol import Generator, History, Integers, Pair, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import leads_enough, next_challenger
from topalpha.rules.tournament import beats, runner_up

# The only entry of the state: the candidate J, counted from 1.
_CANDIDATE = 0


class UGapE(Recalled, lucb_pp.AsymmetricLevels):
    """UGapEc; build it with :func:`design`. (alpha, epsilon, delta)-correct (docs/field/finite_solvers.md, 1)."""

    traits = Traits("ugape", numbers=1, independent=False)

    def evaluate(self, memory: Any, arm: int, total: float, pulls: int) -> None:
        """L_a at level delta/(4n), by which arms lead, and U_a at level delta/4."""
        redundancy = self.family.redundancy(total, pulls)
        memory.values[arm] = self.family.lower(total / pulls, (self.lower_threshold + redundancy) / pulls)
        memory.uppers[arm] = self.family.upper(total / pulls, (self.upper_threshold + redundancy) / pulls)

    def wider(self, history: History, memory: Any, one: int, other: int) -> int:
        """The arm of wider interval; a pull in flight narrows the interval as one more reward does on average."""
        width = memory.uppers[one] - memory.values[one]
        other_width = memory.uppers[other] - memory.values[other]
        if history.in_flight > 0:
            width *= math.sqrt(history.pulls[one] / (history.pulls[one] + history.pending[one]))
            other_width *= math.sqrt(history.pulls[other] / (history.pulls[other] + history.pending[other]))
        return one if beats(width, history.pulls[one], one, other_width, history.pulls[other], other) else other

    def contenders(self, history: History, memory: Any) -> Pair:
        """J = argmin B_k, and the other arm of largest U. B_k is max U - L_k for all arms but that of largest U."""
        top = memory.challengers[1]
        second = runner_up(memory.challengers, memory.uppers, history.pulls, top)
        safe = runner_up(memory.leaders, memory.values, history.pulls, top)
        gap = memory.uppers[second] - memory.values[top]
        other = memory.uppers[top] - memory.values[safe]
        first = beats(-gap, history.pulls[top], top, -other, history.pulls[safe], safe)
        history.state[_CANDIDATE] = (top if first else safe) + 1.0
        return (top, second) if first else (safe, top)

    def stopping(self, history: History, memory: Any, pair: Pair) -> bool:
        """B_J <= epsilon."""
        candidate, rival = pair
        gap: float = memory.uppers[rival] - memory.values[candidate]
        return gap <= self.epsilon

    def sampling(self, history: History, memory: Any, rng: Generator, pair: Pair, batch: Integers) -> int:
        """The wider of candidate and rival."""
        candidate, rival = pair
        arm = self.wider(history, memory, candidate, rival)
        if leads_enough(history, arm):
            arm = next_challenger(history, memory.uppers, candidate, ENDLESS, arm)
        batch[0] = arm
        return 1


@algorithm(
    "ugape",
    "Gabillon, Ghavamzadeh, Lazaric (NIPS 2012), UGapEc; bounds of LUCB++",
    "docs/field/finite_solvers.md, 1",
    family=checked,
)
def design(target: Target, *, pool: int = 0) -> UGapE:
    """UGapEc on the arms and at the levels of lucb++, or on all of a finite list of ``pool`` candidates.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    return UGapE(*lucb_pp.design(*target, pool=pool))
