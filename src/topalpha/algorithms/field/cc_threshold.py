"""cc-threshold: is there an arm that reaches a known threshold? It tests one arm at a time.

An arm is accepted once the evidence that its mean exceeds threshold - epsilon is strong enough. It is discarded for the
next one once the evidence that its mean is below the threshold reaches a *constant* level, which depends neither on
delta nor on the number of arms. Two answers are proved (docs/field/threshold.md, 6):

* yes: the mean of the accepted arm is at least threshold - epsilon;
* no, after n arms were discarded: fewer than a fraction alpha of the arms reach the threshold.

With probability at least 1 - delta both answers are right, for every reservoir. With the quantile q+ as threshold, the
run is therefore (alpha, epsilon, delta)-correct. The remaining stake of a discarded arm's test goes back to the bank
that pays for later tests, so discarded arms hardly raise the cost of the accepted one.
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.arithmetic import expm1, log, log1p
from topalpha.confidence.gap import GapEvidence, log_above, log_below
from topalpha.families import checked, describe
from topalpha.families.protocols import RewardFamily
from topalpha.rules.generic import CountingBlocks, KnownThreshold, Lookup
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Generator, History, Integers, Traits
from topalpha.rules.registration import Target, algorithm, named_threshold
from topalpha.theory import arms_constant_confidence
from topalpha.validate import fraction, real, require, whole

#: The state: ln of the bank, the number of discarded arms, and the answer: 0 none yet, 1 yes, -1 no.
BANK, DISCARDED, ANSWER, NUMBERS = 0, 1, 2, 3

# Lengths of blocks of pulls, which do not affect the guarantee: an arm's first block is this fraction of
# variance / epsilon^2, a later one this fraction of the arm's pulls so far.
_FIRST_BLOCK, _GROWTH = 0.1, 0.25
#: The longest block of pulls.
LONGEST_BLOCK = 4096


class CCThreshold(KnownThreshold, CountingBlocks, Parameters):
    """One arm at a time; build it with :func:`design`. Both answers are proved (docs/field/threshold.md, 6)."""

    family: RewardFamily
    threshold: float
    accept_at: float  # ln(1/delta_L)
    discard_at: float  # ln(1/delta_u); the answer is no once ``arms`` arms are discarded
    stake: float  # the fraction of the bank that an arm is tested with
    first_block: int
    least_block: int

    @property
    def traits(self) -> Traits:
        """Only the sum of rewards: the current arm is the last one drawn. State: bank, discarded arms, answer."""
        return Traits("cc-threshold", numbers=NUMBERS, blocks=True, covered=self.accept_at > -log(self.delta))

    def scratch(self, arms: int) -> Lookup:  # type: ignore[override]
        """The grids of the evidence."""
        return Lookup([0], GapEvidence(self.family, self.epsilon, self.discard_at).tables())

    def log_reaches(self, history: History, memory: Any, arm: int) -> float:
        """ln M: evidence that the arm's mean exceeds threshold - epsilon."""
        lookup = memory.lookup
        least = self.threshold - self.epsilon
        if least <= self.family.lowest:
            return math.inf  # every mean exceeds it
        total, pulls = history.stats[SUM][arm], history.pulls[arm]
        return log_above(self.family, least, total, pulls, 0.0, 0, lookup.leader_gaps, lookup.leader_log_weights)

    def log_misses(self, history: History, memory: Any, arm: int) -> float:
        """ln F: evidence that the arm's mean is below the threshold."""
        lookup = memory.lookup
        total, pulls = history.stats[SUM][arm], history.pulls[arm]
        return log_below(self.family, self.threshold, total, pulls, lookup.gaps, lookup.log_weights)[0]

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Another block of the current arm, or the first block of the next; 0 once there is an answer."""
        if history.in_flight > 0:
            return WAIT
        state = history.state
        batch[0] = history.arms
        batch[len(batch) // 2] = self.first_block
        if history.arms == 0:
            return 1
        arm = history.arms - 1
        reaches = self.log_reaches(history, memory, arm)
        if state[BANK] + log(self.stake) + reaches >= self.accept_at:
            state[ANSWER] = 1.0
        elif self.log_misses(history, memory, arm) >= self.discard_at:
            # The stake comes back less its losses; its gains do not count.
            state[BANK] += log1p(self.stake * expm1(min(reaches, 0.0)))
            state[DISCARDED] += 1.0
            if state[DISCARDED] == self.arms:
                state[ANSWER] = -1.0
        else:
            batch[0] = arm
            batch[len(batch) // 2] = min(max(self.least_block, math.ceil(_GROWTH * history.pulls[arm])), LONGEST_BLOCK)
        return 0 if state[ANSWER] != 0.0 else 1

    def refutation(self, history: History) -> str:
        """The answer no, in words."""
        if history.state[ANSWER] >= 0.0:
            return ""
        return f"fewer than {100.0 * self.alpha:g}% of candidates have a mean of {self.threshold:g} or more"

    def recommend(self, history: History, memory: Any) -> int:
        """The accepted arm; if there is none, the arm with the strongest evidence that it reaches the threshold."""
        last = history.arms - 1
        if history.state[ANSWER] > 0.0:
            return last
        tried = (arm for arm in range(history.arms) if history.pulls[arm] > 0)
        evidence = {arm: self.log_reaches(history, memory, arm) for arm in tried}
        best = max(evidence, key=lambda arm: evidence[arm], default=last)
        return best if evidence.get(best, -math.inf) > -math.inf else last


@algorithm(
    "cc-threshold",
    "constant-confidence test of one arm after another against a known threshold",
    "docs/field/threshold.md, 6",
    family=checked,
    knowledge=named_threshold,
)
def design(
    target: Target,
    *,
    threshold: float | None = None,
    delta_u: float = 0.65,
    yes_level: float | None = None,
    least_block: int = 1,
) -> CCThreshold:
    """The threshold question: ``threshold``, the wanted mean, must be given.

    If a fraction alpha of the arms reach it, a yes is within epsilon of the top. ``delta_u`` is the largest probability
    of discarding an arm that reaches it; constant, whatever delta is. ``yes_level`` is the probability of a wrong yes,
    half of delta by default; a wrong no has the rest. If every yes is checked by other means, this may be delta or
    more: then a wrong no has probability at most delta, and the design as a whole is not covered. ``least_block`` is
    the shortest block of pulls, at most 4096, for blocks that have a cost of their own.

    Examples
    --------
    >>> design(0.1, 0.1, 0.1, threshold=0.855).arms
    85
    >>> design(0.1, 0.1, 0.1)
    Traceback (most recent call last):
    ValueError: threshold must be given: the mean that an arm should reach, got None
    """
    law, epsilon, delta = target.family, target.epsilon, target.delta
    delta_u, yes = fraction("delta_u", delta_u), 0.5 * delta if yes_level is None else fraction("yes_level", yes_level)
    if threshold is None:
        raise ValueError("threshold must be given: the mean that an arm should reach, got None")
    level = real("threshold", threshold)
    condition = f"be a mean of {describe(law)}, above {law.lowest:g} and at most {law.highest:g}"
    require(law.lowest < level <= law.highest and math.isfinite(level), "threshold", condition, threshold)
    least = whole("least_block", least_block)
    require(least <= LONGEST_BLOCK, "least_block", f"be at most {LONGEST_BLOCK}", least_block)
    scale = law.variance(max(level - epsilon, 0.5 * (max(law.lowest, level - 2.0 * epsilon) + level)))
    return CCThreshold(
        *target.on(arms_constant_confidence(target.alpha, delta - yes if yes < delta else delta, delta_u)),
        threshold=level,
        accept_at=-log(yes),
        discard_at=-log(delta_u),
        stake=min(2.0 * target.alpha, 0.5),
        first_block=min(max(least, math.ceil(_FIRST_BLOCK * scale / (epsilon * epsilon))), LONGEST_BLOCK),
        least_block=least,
    )
