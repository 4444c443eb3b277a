"""The parts of the paper's Generic Algorithm (label ``algo:Generic``) that algorithms share.

An algorithm inherits from some of these classes and from :class:`topalpha.rules.parameters.Parameters`, as in ``class
LUCB(Rounds, TargetClaims, Parameters)``, and defines only the rest. :class:`Rounds` composes ``plan`` from three rules:

* ``contenders(history, memory)``, the recommendation of this round and its rivals, as a tuple;
* ``stopping(history, memory, contenders)``, whether the run ends with that recommendation;
* ``sampling(history, memory, rng, contenders, batch)``, the arms to pull next.

Compiled code looks methods up by name: methods of one name take the same number of arguments in all algorithms.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.rules.claims import rank_claim
from topalpha.rules.columns import UPPER
from topalpha.rules.elimination import Blocks
from topalpha.rules.parameters import Named
from topalpha.rules.protocol import SUM, WAIT, Claim, Generator, History, Integers, Reals
from topalpha.rules.ranking import best_ranked, rank_all, rerank
from topalpha.rules.sampling import empirical_best, fill_means, query_fresh, recall_leader, unseen
from topalpha.rules.tournament import beats


class NoMemory(NamedTuple):
    """Scratch of an algorithm that decides from the history alone."""

    ready: Integers


class Counting:
    """Keep counts and sums of rewards, and what an algorithm derives from them for an arm, once its memory is ready."""

    __slots__ = ()

    def scratch(self, arms: int) -> Any:
        """Empty memory."""
        return NoMemory([0])

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a and the sum, and then the memory."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        if memory.ready[0] == 1:
            self.renew(history, memory, arm)

    def renew(self, history: History, memory: Any, arm: int) -> None:
        """Bring the memory up to date after a reward of the arm; there is nothing to do."""


class CountingBlocks(Blocks, Counting):
    """The same for blocks of rewards, which belong to no round."""

    __slots__ = ()

    def observe_block(self, history: History, memory: Any, arm: int, count: int, total: float) -> None:
        """Update N_a and the sum, and then the memory."""
        history.pulls[arm] += count
        history.stats[SUM][arm] += total
        if memory.ready[0] == 1:
            self.renew(history, memory, arm)


class Rounds:
    """Draw n arms and pull each once; then apply the three rules in every round."""

    __slots__ = ()

    def plan(self: Any, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Draw arms until there are n and all have a reward; then stop or sample."""
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if memory.ready[0] == 0:
            if unseen(history.pulls, history.arms):
                waiting: int = self.meanwhile(history, batch)
                return waiting
            self.prepare(history, memory)
            memory.ready[0] = 1
        if self.arms == 1:
            return 0
        contenders = self.contenders(history, memory)
        if self.stopping(history, memory, contenders):
            return 0
        count: int = self.sampling(history, memory, rng, contenders, batch)
        return count

    def meanwhile(self: Any, history: History, batch: Integers) -> int:
        """The plan while some arm has no reward yet: wait."""
        return WAIT

    def recommend(self: Any, history: History, memory: Any) -> int:
        """The empirical best arm."""
        return empirical_best(history.stats[SUM], history.pulls, history.arms)


class Lookup(NamedTuple):
    """Scratch that holds tables only; nothing in it is ever renewed."""

    ready: Integers
    lookup: Any


class RunningBounds(Counting):
    """Running bounds of the field ``confidence``: intersections over time, the upper ones in column ``UPPER``."""

    __slots__ = ()

    def scratch(self: Any, arms: int) -> Any:
        """The tables of the bounds."""
        return Lookup([0], self.confidence.tables())

    def observe(self: Any, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a, the sum and the running upper bound of the arm, and then the memory."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        self.confidence.fold(history, memory.lookup, arm, reward)
        if memory.ready[0] == 1:
            self.renew(history, memory, arm)

    def lower_bound(self: Any, history: History, memory: Any, arm: int) -> float:
        """The arm's running lower bound."""
        bound: float = self.confidence.lower_now(history, memory.lookup, arm)
        return bound

    def upper_bound(self: Any, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound."""
        return history.stats[UPPER][arm]

    def other_uppers(self: Any, history: History, arm: int) -> list[float]:
        """The upper bounds of all other arms, infinite for an arm without a reward; on the host only."""
        others = [history.stats[UPPER][other] for other in range(history.arms) if other != arm and history.pulls[other]]
        return others + [math.inf] * (self.arms - 1 - len(others))


class MixtureBounds:
    """Two-sided conjugate mixtures: N d(p, mu) <= threshold + R(S, N), R the family's redundancy."""

    __slots__ = ()

    def mixture_upper(self: Any, total: float, pulls: int) -> float:
        """U_a from the sum and the number of rewards."""
        rate = (self.upper_threshold + self.family.redundancy(total, pulls)) / pulls
        bound: float = self.family.upper(total / pulls, rate)
        return bound

    def mixture_lower(self: Any, total: float, pulls: int, threshold: float) -> float:
        """L_a from the sum and the number of rewards, at level exp(-threshold)."""
        rate = (threshold + self.family.redundancy(total, pulls)) / pulls
        bound: float = self.family.lower(total / pulls, rate)
        return bound

    def lower_bound(self: Any, history: History, memory: Any, arm: int) -> float:
        """L_a."""
        bound: float = self.mixture_lower(history.stats[SUM][arm], history.pulls[arm], self.lower_threshold)
        return bound

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """U_a."""
        return self.mixture_upper(history.stats[SUM][arm], history.pulls[arm])


class TargetClaims:
    """Claims for the target's own alpha, from separate bounds (docs/proofs.md, A and B)."""

    __slots__ = ()

    @property
    def claim_rank(self) -> int:
        """m: all but m - 1 of the other arms are at most epsilon above an arm."""
        return 1

    def claims(self: Any, history: History, memory: Any, arm: int) -> list[Claim]:
        """The smallest epsilon proved for the target's alpha, once all arms have been pulled."""
        if history.arms < self.arms or unseen(history.pulls, history.arms):
            return []
        others = [self.upper_bound(history, memory, other) for other in range(history.arms) if other != arm]
        return rank_claim(self.alpha, self.lower_bound(history, memory, arm), others, self.claim_rank)


class Recalled:
    """Return the arm that entry ``answer_entry`` of the state has, counted from 1; before that, the empirical best."""

    __slots__ = ()
    answer_entry = 0

    def recommend(self, history: History, memory: Any) -> int:
        """The arm stored, or the empirical best."""
        return recall_leader(history, self.answer_entry)


class KnownThreshold:
    """The proof assumes the mean ``threshold``, which the top alpha fraction of the arms reach."""

    __slots__ = ()

    def conditions(self: Any) -> tuple[str, ...]:
        """The threshold."""
        return (f"The top {100.0 * self.alpha:g}% of candidates begin at a mean of {self.threshold:g}, not above it.",)


class RankingMemory(Named):
    """Scratch: means with their ranking."""

    ready: Integers
    means: Reals
    order: Integers
    place: Integers


class BestOfRanking:
    """The ``wanted`` arms of largest mean, from a ranking that memory keeps up to date."""

    __slots__ = ()

    def no_ranking(self, arms: int) -> RankingMemory:
        """Fresh memory."""
        return RankingMemory([0], [0.0] * arms, [0] * arms, [0] * arms)

    def prepare(self, history: History, memory: Any) -> None:
        """Rank all arms."""
        fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
        rank_all(memory.order, memory.place, memory.means, history.pulls, history.arms)

    def renew(self, history: History, memory: Any, arm: int) -> None:
        """Move the arm to its new place after a reward."""
        memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
        rerank(memory.order, memory.place, memory.means, history.pulls, history.arms, arm)

    def weakest_of_best(self: Any, history: History, memory: Any, bounds: Reals) -> int:
        """The arm of smallest bound among the best ones."""
        pulls = history.pulls
        weakest = -1
        for index in range(self.wanted):
            arm = memory.order[index]
            if weakest < 0 or beats(-bounds[arm], pulls[arm], arm, -bounds[weakest], pulls[weakest], weakest):
                weakest = arm
        return weakest

    def recommend(self, history: History, memory: Any) -> int:
        """The empirical best arm."""
        return (best_ranked(history.stats[SUM], history.pulls, history.arms, 1) or [0])[0]

    def selection(self: Any, history: History, memory: Any) -> list[int]:
        """The arms of largest mean, best first."""
        return best_ranked(history.stats[SUM], history.pulls, history.arms, self.wanted)
