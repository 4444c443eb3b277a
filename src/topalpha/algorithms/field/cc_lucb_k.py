"""cc-lucb-k: k arms of the top fraction, with constant-confidence upper bounds.

So many arms are drawn that, with probability 1 - delta_A, at least k of them are both in the top alpha fraction and
never above their own upper bound of constant level delta_u: the smallest n with
P(Bin(n, alpha (1 - delta_u)) < k) <= delta_A. Lower bounds hold with probability 1 - delta_L over all arms. J is the
set of the k arms with the largest means; the run stops when the lower bounds of J reach all upper bounds outside J, up
to epsilon. An arm of J that is not among those k or more good ones leaves one of them outside J, to be compared with.

Guarantee: every arm of J is within epsilon of the top alpha fraction, all with probability at least 1 - delta, for
every reservoir and any sampling rule (docs/field/lucb.md, 4).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.confidence.levels import checked_bounds
from topalpha.families import checked_model
from topalpha.families.protocols import RewardModel
from topalpha.rules.columns import EXTRA, LOWER, UPPER, ConfidenceBounds
from topalpha.rules.protocol import SUM, WAIT, Claim, Entry, History, Traits
from topalpha.rules.ranking import best_ranked, rank_all, rerank
from topalpha.rules.sampling import fill_means, has_room, leads_enough, query_fresh, unseen
from topalpha.rules.tournament import beats
from topalpha.theory.arm_counts import arms_of_rank
from topalpha.validate import choice, fraction, positive, whole

if TYPE_CHECKING:
    from numpy.random import Generator


class Memory(NamedTuple):
    """Scratch: means, the ranking by them, and what the bounds look up."""

    ready: MutableSequence[int]
    means: MutableSequence[float]
    order: MutableSequence[int]
    place: MutableSequence[int]
    lookup: Any


class CCLUCBk(NamedTuple):
    """k arms with constant confidence; build it with :func:`design`.

    Guarantee: all k arms are (alpha, epsilon)-good with probability at least 1 - delta (docs/field/lucb.md, 4).
    ``wanted`` is k.
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardModel
    confidence: ConfidenceBounds
    wanted: int

    @property
    def traits(self) -> Traits:
        """Columns: sums, running bounds, what else those keep, and how many rewards each lower bound was made of."""
        return Traits("cc-lucb-k", columns=EXTRA + self.confidence.extra + 1, width=2)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory: nothing ranked, and the tables of the bounds."""
        return Memory(
            ready=[0],
            means=[0.0] * arms,
            order=[0] * arms,
            place=[0] * arms,
            lookup=self.confidence.tables(),
        )

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum, the running upper bound and the ranking."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        self.confidence.fold(history, memory.lookup, arm, reward)
        if memory.ready[0] == 1:
            memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
            rerank(memory.order, memory.place, memory.means, history.pulls, history.arms, arm)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw n arms, pull each once; then pull the weakest of J and the strongest outside until these are settled."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                return WAIT
            fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
            rank_all(memory.order, memory.place, memory.means, history.pulls, history.arms)
            memory.ready[0] = 1
        if self.wanted == self.arms:
            return 0  # nothing is outside
        strongest = self.strongest_outside(history, memory, False)
        weakest = self.weakest_of_selection(history, memory, history.stats[UPPER][strongest] - self.epsilon)
        if weakest < 0:
            return 0
        if not self.may_pull(history, strongest):
            strongest = self.strongest_outside(history, memory, True)
        count = 0
        if self.may_pull(history, weakest):
            batch[count] = weakest
            count += 1
        if strongest >= 0:
            batch[count] = strongest
            count += 1
        return count if count > 0 else WAIT

    def may_pull(self, history: History, arm: int) -> bool:
        """Whether the arm has pulls left, and fewer in flight than rewards."""
        return has_room(history, arm, self.family.capacity) and not leads_enough(history, arm)

    def strongest_outside(self, history: History, memory: Any, free: bool) -> int:
        """Of the arms outside J (that may be pulled, if ``free``) the one with the largest upper bound; -1 if none."""
        uppers, pulls = history.stats[UPPER], history.pulls
        best = -1
        bound = -math.inf
        for index in range(self.wanted, history.arms):
            arm = memory.order[index]
            if uppers[arm] < bound or (free and not self.may_pull(history, arm)):
                continue
            if best < 0 or beats(uppers[arm], pulls[arm], arm, bound, pulls[best], best):
                best = arm
                bound = uppers[arm]
        return best

    def weakest_of_selection(self, history: History, memory: Any, target: float) -> int:
        """Of the arms of J the one with the smallest lower bound, or -1 if the lower bounds of all reach the target.

        A bound is computed once for every number of rewards, and remembered with that number: it is a statistic.
        """
        counted = EXTRA + self.confidence.extra
        weakest = -1
        short = False
        for index in range(self.wanted):
            arm = memory.order[index]
            pulls = history.pulls[arm]
            if history.stats[counted][arm] != pulls:
                history.stats[LOWER][arm] = self.confidence.lower_now(history, memory.lookup, arm)
                history.stats[counted][arm] = pulls
            bound = history.stats[LOWER][arm]
            short = short or bound < target
            if weakest < 0 or beats(
                -bound, pulls, arm, -history.stats[LOWER][weakest], history.pulls[weakest], weakest
            ):
                weakest = arm
        return weakest if short else -1

    def recommend(self, history: History, memory: Any) -> int:
        """The first arm of J: the empirical best."""
        return (best_ranked(history.stats[SUM], history.pulls, history.arms, 1) or [0])[0]

    def selection(self, history: History, memory: Any) -> list[int]:
        """J, the arm of the largest mean first."""
        return best_ranked(history.stats[SUM], history.pulls, history.arms, self.wanted)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running lower bound, at level delta_L / n."""
        return self.confidence.lower_now(history, memory.lookup, arm)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound, at level delta_u."""
        return history.stats[UPPER][arm]

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now: all but k - 1 of the others are at most so far above it."""
        others = [history.stats[UPPER][other] for other in range(history.arms) if other != arm and history.pulls[other]]
        others += [math.inf] * (self.arms - 1 - len(others))
        above = sorted(others, reverse=True)[self.wanted - 1 :]
        distance = above[0] - self.lower_bound(history, memory, arm) if above else 0.0
        return [Claim(self.alpha, max(0.0, distance))] if distance < math.inf else []


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    k: int = 2,
    bounds: str = "tilt",
    delta_u: float | None = None,
    draw_share: float = 0.9,
) -> CCLUCBk:
    """Constant-confidence LUCB for k arms.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: means within epsilon of the top-alpha fraction, all with probability at least 1 - delta.
    family
        The reward model, Bernoulli by default.
    k
        How many arms to return.
    bounds, delta_u, draw_share
        As for cc-lucb.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05, k=1).arms, design(0.05, 0.05, 0.05).arms, design(0.05, 0.05, 0.05, k=5).arms
    (112, 176, 337)
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    kind = choice("bounds", bounds, ("tilt", "kt"))
    level = fraction("delta_u", (0.2 if kind == "kt" else 0.45) if delta_u is None else delta_u)
    draw_level = fraction("draw_share", draw_share) * delta
    wanted = whole("k", k)
    number = arms_of_rank(wanted, alpha * (1.0 - level), draw_level)
    law = checked_model(family)
    return CCLUCBk(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        confidence=checked_bounds(law, kind, epsilon, level, (delta - draw_level) / number, delta),
        wanted=wanted,
    )


ENTRY = Entry(
    name="cc-lucb-k",
    design=design,
    guarantee="fixed-confidence",
    reference="LUCB for k arms with constant-confidence upper bounds",
    proof="docs/field/lucb.md, 4",
    options={"bounds": ("tilt", "kt")},
    models=("pass-fail", "normal", "low-variance"),
)
