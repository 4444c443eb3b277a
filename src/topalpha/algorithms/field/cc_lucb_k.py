"""cc-lucb-k: k arms of the top fraction, with constant-confidence upper bounds.

n is the smallest number with P(Bin(n, alpha (1 - delta_u)) < k) <= delta_A: with probability 1 - delta_A, at least k of
the n arms are in the top alpha fraction and stay below their own upper bounds of constant level delta_u. Lower bounds
hold with probability 1 - delta_L over all arms. J is the set of the k arms of largest mean; the run stops when the
lower bounds of J reach all upper bounds outside J, up to epsilon. If an arm of J is not one of these k good arms, at
least one of them is outside J to compare it with.

Every arm of J is within epsilon of the top alpha fraction, all with probability at least 1 - delta, for every reservoir
and any sampling rule (docs/field/lucb.md, 4).
"""

from __future__ import annotations

from typing import Any

from topalpha.algorithms import cc_lucb
from topalpha.confidence.levels import checked_bounds
from topalpha.rules.claims import rank_claim
from topalpha.rules.columns import EXTRA, LOWER, UPPER, ConfidenceBounds
from topalpha.rules.generic import BestOfRanking, RankingMemory, Rounds, RunningBounds
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import Claim, Generator, History, Integers, Pair, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import may_pull, write_free
from topalpha.rules.tournament import better
from topalpha.theory.arm_counts import arms_of_rank
from topalpha.validate import fraction, whole


class CCLUCBkMemory(RankingMemory):
    """Scratch: the ranking, and the tables of the bounds."""

    lookup: Any


class CCLUCBk(BestOfRanking, RunningBounds, Rounds, Parameters):
    """k arms with constant confidence; build it with :func:`design`. All k are correct (docs/field/lucb.md, 4)."""

    confidence: ConfidenceBounds
    wanted: int  # k

    @property
    def traits(self) -> Traits:
        """Columns: sums, running bounds, their further columns, and the number of rewards in each lower bound."""
        return Traits("cc-lucb-k", columns=EXTRA + self.confidence.extra + 1, width=2)

    def scratch(self, arms: int) -> CCLUCBkMemory:
        """Fresh memory with the tables of the bounds."""
        return CCLUCBkMemory(**self.no_ranking(arms)._asdict(), lookup=self.confidence.tables())

    def contenders(self, history: History, memory: Any) -> Pair:
        """The weakest arm of J, -1 if none is too weak; and the strongest outside, -1 if there is none."""
        if self.wanted == self.arms:
            return -1, -1
        strongest = self.strongest_outside(history, memory, False)
        target = history.stats[UPPER][strongest] - self.epsilon
        return self.weakest_of_selection(history, memory, target), strongest

    def stopping(self, history: History, memory: Any, pair: Pair) -> bool:
        """Whether the lower bounds of J reach all upper bounds outside, up to epsilon."""
        return pair[0] < 0

    def sampling(self, history: History, memory: Any, rng: Generator, pair: Pair, batch: Integers) -> int:
        """The weakest arm of J and the strongest outside, or the next one that may be pulled."""
        weakest, strongest = pair
        if not may_pull(history, strongest, self.family.capacity):
            strongest = self.strongest_outside(history, memory, True)
        return write_free(history, (weakest, strongest), self.family.capacity, batch)

    def strongest_outside(self, history: History, memory: Any, free: bool) -> int:
        """The arm outside J (that may be pulled, if ``free``) of largest upper bound; -1 if there is none."""
        best = -1
        for index in range(self.wanted, history.arms):
            arm = memory.order[index]
            if not free or may_pull(history, arm, self.family.capacity):
                best = better(best, arm, history.stats[UPPER], history.pulls)
        return best

    def weakest_of_selection(self, history: History, memory: Any, target: float) -> int:
        """The arm of J with the smallest lower bound, or -1 if all lower bounds of J reach the target."""
        counted = EXTRA + self.confidence.extra
        for index in range(self.wanted):
            arm = memory.order[index]
            if history.stats[counted][arm] != history.pulls[arm]:
                history.stats[LOWER][arm] = self.confidence.lower_now(history, memory.lookup, arm)
                history.stats[counted][arm] = history.pulls[arm]
        weakest = self.weakest_of_best(history, memory, history.stats[LOWER])
        return weakest if history.stats[LOWER][weakest] < target else -1

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """The smallest epsilon proved: all but k - 1 of the other arms are at most epsilon above the arm."""
        lower = self.lower_bound(history, memory, arm)
        return rank_claim(self.alpha, lower, self.other_uppers(history, arm), self.wanted)


@algorithm(
    "cc-lucb-k",
    "LUCB for k arms with constant-confidence upper bounds",
    "docs/field/lucb.md, 4",
    options=cc_lucb.BOUNDS,
    models=cc_lucb.MODELS,
)
def design(
    target: Target, *, k: int = 2, bounds: str = "tilt", delta_u: float | None = None, draw_share: float = 0.9
) -> CCLUCBk:
    """Constant-confidence LUCB for ``k`` arms; other options as for cc-lucb.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05, k=1).arms, design(0.05, 0.05, 0.05).arms, design(0.05, 0.05, 0.05, k=5).arms
    (112, 176, 337)
    """
    level = cc_lucb.upper_level(bounds, delta_u)
    draw_level = fraction("draw_share", draw_share) * target.delta
    wanted = whole("k", k)
    number = arms_of_rank(wanted, target.alpha * (1.0 - level), draw_level)
    lower_level = (target.delta - draw_level) / number
    confidence = checked_bounds(target.family, bounds, target.epsilon, level, lower_level, target.delta)
    return CCLUCBk(*target.on(number), confidence, wanted)
