"""Ask and tell: the same rules that the simulator compiles, interpreted for rewards that come from anywhere."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from topalpha.core import SUM, Algorithm, History
from topalpha.result import Result
from topalpha.streams import Seed, streams
from topalpha.validate import real, require


class Pull(NamedTuple):
    """A reward that the search is waiting for: the ``number``-th pull (from 0) of arm ``arm``.

    An arm is new where ``number`` is 0: draw a fresh candidate for it.
    """

    arm: int
    number: int
    order: int


class Search:
    """One run of an algorithm on rewards that the caller provides.

    Rewards count in the order in which their pulls were asked for, whatever the order in which they are told: with any
    other order, pulls whose duration depends on their outcome would bias what has been seen so far.

    Parameters
    ----------
    algorithm
        What ``design`` returned.
    seed
        Of the algorithm's own random choices, if it makes any.

    Examples
    --------
    >>> import random
    >>> from topalpha import Search, design
    >>> draw, arms = random.Random(0), []
    >>> search = Search(design("joint-lucb", 0.2, 0.2, 0.1), seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     if pull.number == 0:
    ...         arms.append(draw.random())
    ...     search.tell(pull, float(draw.random() < arms[pull.arm]))
    >>> search.result.stopped, arms[search.result.arm] > 0.6
    (True, True)
    """

    def __init__(self, algorithm: Algorithm, seed: Seed = 0) -> None:
        self.algorithm = algorithm
        self._rng = streams(seed).rules
        self._stats: list[list[float]] = [[] for _ in range(algorithm.columns)]
        self._pulls: list[int] = []
        self._state = [0.0] * algorithm.numbers
        self._t = 0
        self._arms = 0
        self._stopped = False
        self._memory = algorithm.scratch(0)
        self._planned: deque[Pull] = deque()
        self._waiting: deque[Pull] = deque()
        self._told: dict[Pull, float] = {}
        self._asked = 0

    @property
    def history(self) -> History:
        """What the rules see."""
        return History(self._t, self._arms, self._pulls, self._stats, self._state)

    def ask(self) -> Pull | None:
        """The next reward wanted; None once the search has stopped.

        A round may want several rewards; they can be asked for before any is told. A new round starts only when all of
        the last one are in.
        """
        if not self._planned:
            if self._waiting:
                names = ", ".join(f"pull {pull.number} of arm {pull.arm}" for pull in self._waiting)
                raise RuntimeError(f"ask must wait until every pull of the round is told; waiting for {names}")
            self._plan()
        if self._stopped:
            return None
        pull = self._planned.popleft()
        self._waiting.append(pull)
        return pull

    def tell(self, pull: Pull, reward: float) -> None:
        """Hand in the reward of a pull that was asked for."""
        pending = pull in self._waiting and pull not in self._told
        require(pending, "pull", "be one asked for and not yet told", pull)
        reward = real("reward", reward)
        self.algorithm.family.check(reward)
        self._told[pull] = reward
        while self._waiting and self._waiting[0] in self._told:
            first = self._waiting.popleft()
            self._observe(first, self._told.pop(first))

    @property
    def result(self) -> Result:
        """The recommendation now, and whether it is proved; an error before the first reward."""
        require(self._t > 0, "result", "be read after the first reward", self._t)
        arm = self.algorithm.recommend(self.history, self._memory)
        return Result(
            arm=arm,
            stopped=self._stopped,
            pulls=self._t,
            arms=self._arms,
            mean=self._stats[SUM][arm] / self._pulls[arm],
            alpha=self.algorithm.alpha,
            epsilon=self.algorithm.epsilon,
            delta=self.algorithm.delta,
            algorithm=self.algorithm.name,
            covered=self.algorithm.covered,
        )

    def forget(self) -> None:
        """Start again from fresh scratch memory: this may change speed, never a decision."""
        self._memory = self.algorithm.scratch(len(self._pulls))

    def _plan(self) -> None:
        if self._stopped:
            return
        batch = [0] * self.algorithm.width
        count = self.algorithm.plan(self.history, self._memory, self._rng, batch)
        self._stopped = count == 0
        fresh = self._arms
        for arm in batch[:count]:
            if not 0 <= arm <= fresh:
                raise RuntimeError(f"plan must name arms from 0 to the number seen, got {batch[:count]}")
            fresh = max(fresh, arm + 1)
            if arm >= len(self._pulls):
                self._grow()
            number = self._pulls[arm] + sum(pull.arm == arm for pull in self._planned)
            self._planned.append(Pull(arm, number, self._asked))
            self._asked += 1

    def _grow(self) -> None:
        """Make room for as many arms as the algorithm will query, or for twice as many as there are."""
        extra = max(self.algorithm.arms, 2 * len(self._pulls)) - len(self._pulls)
        self._pulls.extend([0] * extra)
        for column in self._stats:
            column.extend([0.0] * extra)
        self.forget()

    def _observe(self, pull: Pull, reward: float) -> None:
        self._t += 1
        self._arms = max(self._arms, pull.arm + 1)
        self.algorithm.observe(self.history, self._memory, pull.arm, reward)
