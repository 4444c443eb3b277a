"""Searches by ask and tell, judged, for features that ``simulate`` lacks: finite sets, early ends and durations."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from topalpha.ask_tell import Pull, Search
from topalpha.certificate import proved_claims, strongest
from topalpha.randomness import Seed, Streams, streams
from topalpha.reservoirs import Reservoir
from topalpha.rules.protocol import Algorithm


class Verdict(NamedTuple):
    """The result of one search.

    Attributes
    ----------
    pulls
        The number of rewards.
    wrong
        Whether it claimed something false.

    Examples
    --------
    >>> Verdict(120, wrong=False).pulls
    120
    """

    pulls: int
    wrong: bool


@dataclass(frozen=True)
class Trial:
    """Searches with one pull at a time, until they stop; an error is an arm that is too low.

    Examples
    --------
    >>> from topalpha import design, parse_reservoir
    >>> Trial().run(design("cc-lucb", 0.3, 0.4, 0.2), parse_reservoir("two-point(0.2,0.9,0.3)"), seed=0).wrong
    False
    """

    def run(self, algorithm: Algorithm, law: Reservoir, rewards: Any = None, seed: Seed = 0) -> Verdict:
        """One search on arms from the law, with rewards from the algorithm's family unless given."""
        source = streams(seed)
        means = self.means(algorithm, law, source.arms)
        world = algorithm.family if rewards is None else rewards
        tapes = [self.tape(algorithm, world, mean, source.rewards) for mean in means]
        search = self.search(algorithm, seed)
        wrong = self.judged(search, means, tapes, law, source)
        return Verdict(search.history.t, wrong)

    def search(self, algorithm: Algorithm, seed: Seed) -> Search:
        """The search, before its first pull."""
        return Search(algorithm, seed)

    def means(self, algorithm: Algorithm, law: Reservoir, rng: Generator) -> list[float]:
        """The means of the arms, in the order of drawing."""
        return [float(mean) for mean in law.sample(algorithm.arms, rng)]

    def tape(self, algorithm: Algorithm, world: Any, mean: float, rng: Generator) -> Iterator[float]:
        """The rewards of one arm, in the order of its pulls."""
        return (world.sample(mean, rng) for _ in itertools.count())

    def judged(
        self, search: Search, means: list[float], tapes: list[Iterator[float]], law: Reservoir, source: Streams
    ) -> bool:
        """Run the search, and return whether its claim is false."""
        proceed(search, tapes)
        return returned_wrongly(search, means, law)


def proceed(search: Search, tapes: list[Iterator[float]], most: int = 2**62) -> None:
    """Continue with one pull at a time until the search stops or has this many rewards."""
    while search.history.t < most and (pull := search.ask()) is not None:
        search.tell(pull, next(tapes[pull.arm]))


def returned_wrongly(search: Search, means: list[float], law: Reservoir) -> bool:
    """Whether a returned arm is more than epsilon below the top."""
    low = law.threshold(search.algorithm.alpha, search.algorithm.epsilon)
    return search.stopped and min(means[arm] for arm in search.selection) < low


@dataclass(frozen=True)
class TestSet(Trial):
    """Pass or fail on finitely many items, each tried once in a random order; the law is that of the scores.

    Parameters
    ----------
    again
        The control: items are drawn with replacement, so that a score stays unknown after all draws.

    Examples
    --------
    >>> from topalpha import PassFail, design
    >>> list(TestSet().tape(design("cc-lucb", 0.3, 0.4, 0.2, PassFail(4)), None, 0.75, np.random.default_rng(0)))
    [1.0, 1.0, 1.0, 0.0]
    """

    __test__ = False  # not a test for pytest, despite its name

    again: bool = False

    def tape(self, algorithm: Algorithm, world: Any, mean: float, rng: Generator) -> Iterator[float]:
        """Whether the arm passes each of the items, in its own order."""
        items = algorithm.family.capacity
        order = rng.integers(items, size=items) if self.again else rng.permutation(items)
        return iter((order < round(mean * items)).astype(np.float64).tolist())


@dataclass(frozen=True)
class Listed(Trial):
    """A finite list of candidates, drawn without replacement; the law gives the means on it and their frequencies.

    Parameters
    ----------
    size
        The number of candidates on the list: the ``pool`` of the design.
    again
        The control: candidates are drawn with replacement.

    Examples
    --------
    >>> from topalpha import design, parse_reservoir
    >>> algorithm, law = design("cc-lucb", 0.25, 0.4, 0.2, pool=4), parse_reservoir("two-point(0.2,0.9,0.25)")
    >>> sorted(Listed(4).means(algorithm, law, np.random.default_rng(0)))
    [0.2, 0.2, 0.2, 0.9]
    """

    size: int
    again: bool = False

    def means(self, algorithm: Algorithm, law: Reservoir, rng: Generator) -> list[float]:
        """The means of the drawn candidates."""
        listed = [law.lower_quantile((place + 0.5) / self.size) for place in range(self.size)]
        return [float(mean) for mean in rng.choice(listed, algorithm.arms, replace=self.again)]


@dataclass(frozen=True)
class Early(Trial):
    """A search that is ended before it stops: all its claims at these moments must be true.

    Parameters
    ----------
    moments
        The numbers of rewards at which a certificate is read, in increasing order.

    Examples
    --------
    >>> from topalpha import design, parse_reservoir
    >>> Early((10, 40)).run(design("cc-lucb", 0.3, 0.1, 0.2), parse_reservoir("uniform(0,1)"), seed=0)
    Verdict(pulls=40, wrong=False)
    """

    moments: tuple[int, ...]

    def judged(
        self, search: Search, means: list[float], tapes: list[Iterator[float]], law: Reservoir, source: Streams
    ) -> bool:
        """Whether any claim of a certificate at any of the moments is false."""
        wrong = False
        for moment in self.moments:
            proceed(search, tapes, moment)
            arm = search.best if search.stopped else strongest(search)  # as the certificate chooses
            claims = proved_claims(search, arm)
            wrong = wrong or any(means[arm] < law.threshold(claim.alpha, claim.epsilon) for claim in claims)
        return wrong


class FinishingOrder(Search):
    """A search with the rule switched off: a reward counts as soon as it is told."""

    def _count(self, pull: Pull, reward: float) -> None:
        lane = self._lanes[0 if self.traits.global_order else pull.arm]
        lane.remove(pull)
        lane.appendleft(pull)
        super()._count(pull, reward)


@dataclass(frozen=True)
class Durations(Trial):
    """Parallel pulls whose duration depends on their reward: better rewards come back sooner.

    Parameters
    ----------
    width
        The number of pulls in flight.
    slow
        How many times as long a reward of 0 takes as a reward of 1, on average.
    finishing
        The control: rewards count in the order in which they come back.

    Examples
    --------
    >>> from topalpha import design, parse_reservoir
    >>> algorithm, law = design("cc-lucb", 0.3, 0.4, 0.2), parse_reservoir("two-point(0.2,0.9,0.3)")
    >>> Durations(width=8).run(algorithm, law, seed=0).wrong
    False
    """

    width: int = 64
    slow: float = 400.0
    finishing: bool = False

    def search(self, algorithm: Algorithm, seed: Seed) -> Search:
        """The search, or the control's."""
        return FinishingOrder(algorithm, seed) if self.finishing else Search(algorithm, seed)

    def judged(
        self, search: Search, means: list[float], tapes: list[Iterator[float]], law: Reservoir, source: Streams
    ) -> bool:
        """Run the search in simulated time, telling every reward when it comes back."""
        now, flying = 0.0, list[tuple[float, Pull, float]]()
        while True:
            for pull in search.ask_many(self.width - len(flying)):
                reward = next(tapes[pull.arm])
                took = source.rewards.exponential(self.slow ** (1.0 - reward))
                heapq.heappush(flying, (now + took, pull, reward))
            if search.stopped:
                return returned_wrongly(search, means, law)
            now, pull, reward = heapq.heappop(flying)
            search.tell(pull, reward)
