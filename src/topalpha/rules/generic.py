"""The paper's Generic Algorithm (label ``algo:Generic``) in parts: an algorithm borrows the parts that it shares.

An algorithm is a ``NamedTuple`` of parameters below some of these classes, ``class LUCB(Rounds, TargetClaims,
Parameters)``, and writes down what is its own. :class:`Rounds` composes ``plan`` from three rules:

* ``contenders(history, memory)``, the recommendation of this round and its rivals, as a tuple;
* ``stopping(history, memory, contenders)``, whether the run ends with that recommendation;
* ``sampling(history, memory, rng, contenders, batch)``, the arms to pull next.

Compiled code finds all methods by name: methods of one name take the same number of arguments in all algorithms.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.rules.claims import target_claim
from topalpha.rules.columns import UPPER
from topalpha.rules.protocol import SUM, WAIT, Claim, Generator, History, Integers
from topalpha.rules.ranking import best_ranked, rank_all, rerank
from topalpha.rules.sampling import empirical_best, fill_means, query_fresh, unseen


class NoMemory(NamedTuple):
    """Scratch of an algorithm that decides from the history alone."""

    unused: Integers


class Counting:
    """Count every reward; keep nothing else."""

    def scratch(self, arms: int) -> Any:
        """Fresh memory: nothing."""
        return NoMemory([0])

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a and the sum."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward


class Rounds:
    """Draw n arms and pull each once; then ask the three rules, round by round."""

    def plan(self: Any, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Ask for what is missing to begin with; then stop, or sample."""
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
        """What to pull while an arm has no reward yet: nothing."""
        return WAIT

    def recommend(self: Any, history: History, memory: Any) -> int:
        """The empirical best arm."""
        return empirical_best(history.stats[SUM], history.pulls, history.arms)


class RunningBounds:
    """Bounds of a field ``confidence``, intersected over time; the upper ones in column ``UPPER``."""

    def lower_bound(self: Any, history: History, memory: Any, arm: int) -> float:
        """The arm's running lower bound."""
        bound: float = self.confidence.lower_now(history, memory.lookup, arm)
        return bound

    def upper_bound(self: Any, history: History, memory: Any, arm: int) -> float:
        """The arm's running upper bound."""
        return history.stats[UPPER][arm]

    def other_uppers(self: Any, history: History, arm: int) -> list[float]:
        """Upper bounds of all other arms, infinite where an arm has no reward yet; on the host only."""
        others = [history.stats[UPPER][other] for other in range(history.arms) if other != arm and history.pulls[other]]
        return others + [math.inf] * (self.arms - 1 - len(others))


class MixtureBounds:
    """Two-sided conjugate mixtures: N d(p, mu) <= threshold + R(S, N), R the family's redundancy."""

    def mixture_upper(self: Any, total: float, pulls: int) -> float:
        """U_a from the sum of rewards and their number."""
        rate = (self.upper_threshold + self.family.redundancy(total, pulls)) / pulls
        bound: float = self.family.upper(total / pulls, rate)
        return bound

    def mixture_lower(self: Any, total: float, pulls: int) -> float:
        """L_a from the sum of rewards and their number."""
        rate = (self.lower_threshold + self.family.redundancy(total, pulls)) / pulls
        bound: float = self.family.lower(total / pulls, rate)
        return bound

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """L_a."""
        return self.mixture_lower(history.stats[SUM][arm], history.pulls[arm])

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """U_a."""
        return self.mixture_upper(history.stats[SUM][arm], history.pulls[arm])


class TargetClaims:
    """Claims for the target's own alpha, from separate bounds (docs/proofs.md, A and B)."""

    def claims(self: Any, history: History, memory: Any, arm: int) -> list[Claim]:
        """The smallest epsilon that is proved for the target's alpha, once all arms were pulled."""
        if history.arms < self.arms or unseen(history.pulls, history.arms):
            return []
        others = [self.upper_bound(history, memory, other) for other in range(history.arms) if other != arm]
        return target_claim(self.alpha, self.lower_bound(history, memory, arm), others)


class BestOfRanking:
    """The ``wanted`` arms of largest means, from a ranking that is kept up to date in memory."""

    def prepare(self, history: History, memory: Any) -> None:
        """Rank all arms."""
        fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
        rank_all(memory.order, memory.place, memory.means, history.pulls, history.arms)

    def rank_again(self, history: History, memory: Any, arm: int) -> None:
        """Move the arm to its place after a reward."""
        memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
        rerank(memory.order, memory.place, memory.means, history.pulls, history.arms, arm)

    def recommend(self, history: History, memory: Any) -> int:
        """The empirical best arm."""
        return (best_ranked(history.stats[SUM], history.pulls, history.arms, 1) or [0])[0]

    def selection(self: Any, history: History, memory: Any) -> list[int]:
        """The arms with the largest means, the best first."""
        return best_ranked(history.stats[SUM], history.pulls, history.arms, self.wanted)
