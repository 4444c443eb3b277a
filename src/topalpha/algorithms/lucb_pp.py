"""lucb++: LUCB with asymmetric levels; Simchowitz, Jamieson and Recht (COLT 2017), with KT bounds.

Only one upper bound must hold, that of the best arm drawn. This arm does not depend on the rewards, so its level needs
no union bound. Lower bounds must hold for every arm that could be returned. With delta/2 for the draw of the arms,
delta/4 for the best arm's upper bound and delta/4 for the lower bounds, the run is (alpha, epsilon, delta)-correct for
every reservoir and any sampling rule, even with dependent rewards across arms (docs/proofs.md, B).

Bounds are two-sided conjugate mixtures. Theorem B holds for any valid bounds: reward models without such mixtures
(normal, low-variance, pass-fail) use their bounds for cc-lucb, in the rounds of cc-lucb (B.3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from topalpha.algorithms import cc_lucb
from topalpha.arithmetic import log
from topalpha.confidence.levels import checked_bounds
from topalpha.families.protocols import ENDLESS, RewardFamily
from topalpha.rules.columns import EXTRA, ConfidenceBounds
from topalpha.rules.generic import Counting, MixtureBounds, Rounds, TargetClaims
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, Generator, History, Integers, Pair, Reals, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import next_challenger, write_round
from topalpha.rules.tournament import empty_tree, play, rebuild, runner_up
from topalpha.theory import arms_tight
from topalpha.theory.pool import fewest
from topalpha.validate import require


class LUCBPlusPlusMemory(NamedTuple):
    """Scratch: the values by which arms lead (means in lucb++), upper bounds, and their trees."""

    ready: Integers
    values: Reals
    leaders: Integers
    uppers: Reals
    challengers: Integers


class AsymmetricLevels(Counting, Rounds, MixtureBounds, TargetClaims, Parameters):
    """Rounds with mixture bounds; the thresholds are ln(1/level) of the upper and of the lower bounds."""

    family: RewardFamily
    upper_threshold: float
    lower_threshold: float

    def scratch(self, arms: int) -> LUCBPlusPlusMemory:
        """Fresh memory."""
        return LUCBPlusPlusMemory([0], [0.0] * arms, empty_tree(arms), [0.0] * arms, empty_tree(arms))

    def prepare(self, history: History, memory: Any) -> None:
        """Fill fresh memory from the history."""
        for arm in range(history.arms):
            self.evaluate(memory, arm, history.stats[SUM][arm], history.pulls[arm])
        rebuild(memory.leaders, memory.values, history.pulls, history.arms)
        rebuild(memory.challengers, memory.uppers, history.pulls, history.arms)

    def evaluate(self, memory: Any, arm: int, total: float, pulls: int) -> None:
        """Set the arm's value, its mean, and its upper bound."""
        memory.values[arm] = total / pulls
        memory.uppers[arm] = self.mixture_upper(total, pulls)

    def renew(self, history: History, memory: Any, arm: int) -> None:
        """Update the arm's values and its places in the trees."""
        self.evaluate(memory, arm, history.stats[SUM][arm], history.pulls[arm])
        play(memory.leaders, memory.values, history.pulls, arm)
        play(memory.challengers, memory.uppers, history.pulls, arm)


class LUCBPlusPlus(AsymmetricLevels):
    """LUCB with asymmetric levels; :func:`design` builds it. (alpha, epsilon, delta)-correct (docs/proofs.md, B)."""

    traits = Traits("lucb++", columns=1, width=2, independent=False)

    def contenders(self, history: History, memory: Any) -> Pair:
        """The empirical best arm, and the other arm of largest U."""
        leader = memory.leaders[1]
        return leader, runner_up(memory.challengers, memory.uppers, history.pulls, leader)

    def stopping(self, history: History, memory: Any, pair: Pair) -> bool:
        """U_b - L_a <= epsilon, without inverting L_a."""
        leader, challenger = pair
        target = memory.uppers[challenger] - self.epsilon
        if target <= self.family.lowest:
            return True  # no mean is lower
        if target > memory.values[leader]:
            return False
        pulls = history.pulls[leader]
        evidence = pulls * self.family.divergence(memory.values[leader], target)
        if evidence < self.lower_threshold:
            return False  # the redundancy is not negative
        return evidence >= self.lower_threshold + self.family.redundancy(history.stats[SUM][leader], pulls)

    def sampling(self, history: History, memory: Any, rng: Generator, pair: Pair, batch: Integers) -> int:
        """Leader and challenger."""
        leader, challenger = pair
        if history.in_flight > 0:
            challenger = next_challenger(history, memory.uppers, leader, ENDLESS, challenger)
        return write_round(history, leader, challenger, ENDLESS, batch)


class ModelLUCBPlusPlus(TargetClaims, Parameters):
    """LUCB++ with the model's bounds; :func:`design` builds it. (alpha, epsilon, delta)-correct (docs/proofs.md, B)."""

    rounds: cc_lucb.CCLUCB

    @property
    def confidence(self) -> ConfidenceBounds:
        """The bounds, at the levels delta/4 and delta/(4n)."""
        return self.rounds.confidence

    @property
    def traits(self) -> Traits:
        """Columns and state as in cc-lucb; rewards may depend on each other across arms."""
        return Traits("lucb++", columns=EXTRA + self.rounds.confidence.extra, numbers=1, width=2, independent=False)

    def scratch(self, arms: int) -> cc_lucb.CCLUCBMemory:
        """Fresh memory."""
        return self.rounds.scratch(arms)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """As cc-lucb."""
        self.rounds.observe(history, memory, arm, reward)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """As cc-lucb."""
        return self.rounds.plan(history, memory, rng, batch)

    def recommend(self, history: History, memory: Any) -> int:
        """The leader."""
        return self.rounds.recommend(history, memory)

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running lower bound, at level delta/(4n)."""
        return self.rounds.lower_bound(history, memory, arm)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound, at level delta/4."""
        return self.rounds.upper_bound(history, memory, arm)


def with_bounds(target: Target, arms: int, pool: int, bounds: str = "tilt") -> ModelLUCBPlusPlus:
    """LUCB++ on ``arms`` arms with the reward model's bounds; one-parameter families have two kinds of ``bounds``.

    Examples
    --------
    >>> from topalpha.families import Normal
    >>> with_bounds(Target(0.05, 0.05, 0.05, Normal()), 72, 0).traits.independent
    False
    """
    upper, lower = 0.25 * target.delta, 0.25 * target.delta / arms
    confidence = checked_bounds(target.family, bounds, target.epsilon, upper, lower, target.delta)
    rounds = cc_lucb.CCLUCB(*target.on(arms), confidence, draw_level=0.5 * target.delta, upper_level=upper, pool=pool)
    return ModelLUCBPlusPlus(*target.on(arms), rounds)


@algorithm("lucb++", "Simchowitz, Jamieson, Recht (COLT 2017), LUCB++", "docs/proofs.md, B", models=cc_lucb.MODELS)
def design(target: Target, *, pool: int = 0) -> LUCBPlusPlus | ModelLUCBPlusPlus:
    """LUCB++ on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on all of a finite list of ``pool`` candidates.

    Examples
    --------
    >>> from topalpha.families import Normal
    >>> design(0.05, 0.05, 0.05).arms, type(design(0.05, 0.05, 0.05, Normal())).__name__
    (72, 'ModelLUCBPlusPlus')
    """
    number = fewest(arms_tight(target.alpha, target.delta), pool)
    if not isinstance(target.family, RewardFamily):
        return with_bounds(target, number, pool)
    lower = log(4.0 * number / target.delta)
    require(lower <= target.family.largest_threshold, "delta", "be larger for this family", target.delta)
    return LUCBPlusPlus(*target.on(number), upper_threshold=log(4.0 / target.delta), lower_threshold=lower)
