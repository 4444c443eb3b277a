"""The compiled driver: runs an algorithm's own method bodies at millions of simulated pulls per second.

The compiled loop has no reservoir: it returns when it needs more arms or reaches its budget, and can be resumed.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topalpha.engine.compile import compiled, parameter_classes
from topalpha.families.protocols import ENDLESS
from topalpha.rules.protocol import SUM, Algorithm, History, Selector
from topalpha.validate import require

#: Return values of the compiled loop.
STOPPED, OUT_OF_ARMS, OUT_OF_BUDGET, FAULTY = 0, 1, 2, 3

# Positions in the control array of a run.
_T, _ARMS, _NEXT, _PLANNED = 0, 1, 2, 3


def advance(
    algorithm: Any,
    world: Any,
    means: Any,
    control: Any,
    pulls: Any,
    stats: Any,
    state: Any,
    pending: Any,
    memory: Any,
    rng: Any,
    reward_rng: Any,
    batch: Any,
    budget: int,
    blocks: Any,
) -> int:
    """The loop of a run, from the position in ``control``.

    ``blocks`` is None for plans of single pulls: a matter of types, which costs a compiled loop nothing. For plans of
    blocks it says whether their sums are drawn at once; if not, each reward is added by itself, as in ask and tell.
    """
    t, arms, following, planned = control[_T], control[_ARMS], control[_NEXT], control[_PLANNED]
    width = len(batch) if blocks is None else len(batch) // 2
    while True:
        if following == planned:
            history = History(t, arms, pulls, stats, state, pending, 0, pending, state)
            planned = algorithm.plan(history, memory, rng, batch)
            following = 0
            if planned == 0:
                status = STOPPED
                break
            if planned < 0 or planned > width:
                status = FAULTY
                break
        if t >= budget:  # after the plan: an empty plan is a stop within the budget
            status = OUT_OF_BUDGET
            break
        arm = batch[following]
        count = 1 if blocks is None else batch[width + following]
        if arm < 0 or arm > arms or count < 1:
            status = FAULTY
            break
        if arm == arms:
            if arms == len(means):
                status = OUT_OF_ARMS
                break
            arms += 1
        following += 1
        t += count
        history = History(t, arms, pulls, stats, state, pending, 0, pending, state)
        if blocks is None:
            algorithm.observe(history, memory, arm, world.sample(means[arm], reward_rng))
        elif blocks:
            algorithm.observe_block(history, memory, arm, count, world.sample_sum(means[arm], count, reward_rng))
        else:
            for _ in range(count):
                algorithm.observe_block(history, memory, arm, 1, world.sample(means[arm], reward_rng))
    control[_T], control[_ARMS], control[_NEXT], control[_PLANNED] = t, arms, following, planned
    return status


class OneByOne(NamedTuple):
    """Rewards summed one by one: for worlds without a quicker way, and to check those with one.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> OneByOne(Bernoulli()).sample_sum(1.0, 5, np.random.default_rng(0))
    5.0
    """

    world: Any

    def sample(self, mean: float, rng: Any) -> float:
        """One reward."""
        reward: float = self.world.sample(mean, rng)
        return reward

    def sample_sum(self, mean: float, count: int, rng: Any) -> float:
        """The sum of ``count`` rewards."""
        total = 0.0
        for _ in range(count):
            total += self.world.sample(mean, rng)
        return total


@cache
def _loop(classes: tuple[type, ...]) -> Any:
    return compiled(advance, classes)


def _arrays(memory: Any) -> Any:
    """The tuple with arrays in place of lists, nested tuples included."""
    return type(memory)(*(_arrays(part) if isinstance(part, tuple) else _array(part) for part in memory))


def _array(column: list[Any]) -> NDArray[Any]:
    holds_floats = len(column) > 0 and isinstance(column[0], float)
    return np.array(column, dtype=np.float64 if holds_floats else np.int64)


class Run:
    """One resumable run of an algorithm: the arrays of its history, and the compiled loop.

    Parameters
    ----------
    algorithm
        The result of ``design``.
    world
        The source of rewards: any object with ``sample(mean, rng)``, by default the algorithm's family. If the
        algorithm plans blocks of pulls and the world has ``sample_sum(mean, count, rng)``, that draws their sum.
    one_by_one
        Whether to draw every reward of a block separately, as in ask and tell.
    """

    def __init__(self, algorithm: Algorithm, world: Any = None, one_by_one: bool = False) -> None:
        former = type(algorithm).__module__.startswith("topalpha.former_rules.")
        require(not former, "algorithm", "be of today's rules to be compiled: design it anew", algorithm.traits.name)
        self.algorithm = algorithm
        self.world = algorithm.family if world is None else world
        blocks = algorithm.traits.blocks
        #: Whether a block costs one draw, regardless of its number of pulls.
        self.draws_sums = blocks and not one_by_one and hasattr(self.world, "sample_sum")
        if blocks and not self.draws_sums:
            self.world = OneByOne(self.world)
        self._loop = _loop((*parameter_classes(algorithm), *parameter_classes(self.world)))
        width = max(algorithm.traits.width, 1)
        self.batch: NDArray[np.int64] = np.zeros(2 * width if blocks else width, dtype=np.int64)
        self.control: NDArray[np.int64] = np.zeros(4, dtype=np.int64)
        self.state: NDArray[np.float64] = np.zeros(algorithm.traits.numbers)
        self.pending: NDArray[np.int64] = np.zeros(1, dtype=np.int64)  # no pull is ever in flight here
        self.means: NDArray[np.float64] = np.zeros(0)
        self.pulls: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.stats: tuple[NDArray[np.float64], ...] = tuple(np.zeros(0) for _ in range(algorithm.traits.columns))
        self.memory = _arrays(algorithm.scratch(1))  # not 0: the compiler cannot infer the types of empty lists

    def add_arms(self, means: NDArray[np.float64]) -> None:
        """Append arms with these means; memory starts afresh."""
        extra = len(means)
        self.means = np.concatenate([self.means, means])
        self.pulls = np.concatenate([self.pulls, np.zeros(extra, dtype=np.int64)])
        self.stats = tuple(np.concatenate([column, np.zeros(extra)]) for column in self.stats)
        self.forget()

    def forget(self) -> None:
        """Start again from fresh memory: this may change speed, never a decision."""
        self.memory = _arrays(self.algorithm.scratch(len(self.means)))

    def advance(self, rng: np.random.Generator, reward_rng: np.random.Generator, budget: int = 2**62) -> int:
        """Run until the algorithm stops, needs more arms, or has spent ``budget`` pulls in all; return the status.

        ``rng`` is for the rules, ``reward_rng`` for rewards: real rewards use neither, and decisions stay the same.
        """
        status: int = self._loop(
            self.algorithm,
            self.world,
            self.means,
            self.control,
            self.pulls,
            self.stats,
            self.state,
            self.pending,
            self.memory,
            rng,
            reward_rng,
            self.batch,
            budget,
            self.draws_sums if self.algorithm.traits.blocks else None,
        )
        if status == FAULTY:
            raise RuntimeError(f"plan must name arms from 0 to the number seen, got {self.batch.tolist()}")
        return status

    @property
    def history(self) -> History:
        """The history as rules see it."""
        # Arrays serve as the sequences that rules index.
        columns: Any = (self.pulls, self.stats, self.state)
        return History(int(self.control[_T]), int(self.control[_ARMS]), *columns)

    def recommend(self) -> int:
        """The arm that the algorithm would return now."""
        return self.algorithm.recommend(self.history, self.memory)

    def returned(self) -> list[int]:
        """The arms that the algorithm would return now."""
        if isinstance(self.algorithm, Selector):
            return self.algorithm.selection(self.history, self.memory)
        return [self.recommend()]

    def truth(self, arm: int, rng: np.random.Generator) -> float:
        """The quantity that claims are about: the arm's mean, or its score on a finite set of items.

        Items of such a set that the arm was not tried on are tried now, with rewards from ``rng``.
        """
        mean, items = float(self.means[arm]), self.algorithm.family.capacity
        if items == ENDLESS:
            return mean
        world = self.world if hasattr(self.world, "sample_sum") else OneByOne(self.world)
        passed = float(self.stats[SUM][arm]) + world.sample_sum(mean, items - int(self.pulls[arm]), rng)
        return passed / items
