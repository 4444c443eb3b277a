"""The log of a search, sufficient to replay every decision."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from topalpha.families.units import Model
    from topalpha.randomness import Seed
    from topalpha.rules.protocol import Algorithm, History


class Journal(Protocol):
    """A log of asks and tells; :class:`topalpha.storage.Record` is one, on disk.

    A replay makes the same calls in the same order: pull ``order`` was planned when ``after`` rewards had been told.
    """

    def ask(self, order: int, arm: int, after: int) -> None:
        """Pull ``order`` is a pull of ``arm``."""

    def wait(self, asked: int, after: int) -> None:
        """The algorithm had to wait, after ``asked`` pulls and ``after`` rewards."""

    def tell_many(self, rewards: Sequence[tuple[int, float]]) -> None:
        """These rewards, by order, arrived; on disk when this returns."""


class Trail(NamedTuple):
    """The log of a search in memory: everything needed to run it again, and its current state.

    It shares the lists of its search, which only grow: the counts say how long they were.

    Parameters
    ----------
    algorithm, seed, model
        The arguments of the search.
    stopped, history
        Its current state.
    arm_of, after_of
        By order: the arm of a pull, and the number of rewards told when it was planned.
    reward_of, orders
        By order: the reward, in the caller's units; and the orders of told pulls, as they arrived.
    waited
        The calls of :meth:`Journal.wait`.
    asked, told, waits_then
        The numbers of each at that moment.
    lost
        Orders of the pulls that never came back and were told as the worst possible reward.
    rules
        The number of the rules that the class names of ``algorithm`` and ``model`` are of.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, 0.5) for pull in search.ask_many(2)])
    >>> trail = search.trail
    >>> trail.asks, trail.tells, trail.status
    ([(0, 0), (1, 0)], [(0, 0.5), (1, 0.5)], 'running')
    """

    algorithm: Algorithm
    seed: Seed
    model: Model
    stopped: bool
    history: History
    arm_of: array[int]
    after_of: array[int]
    reward_of: array[float]
    orders: array[int]
    waited: list[tuple[int, int]]
    asked: int
    told: int
    waits_then: int
    lost: set[int]
    rules: int = 1  # in pickles from before rules had a number

    @property
    def status(self) -> str:
        """``stopped``, or ``running`` before the stopping rule is met."""
        return "stopped" if self.stopped else "running"

    @property
    def asks(self) -> list[tuple[int, int]]:
        """``(arm, after)`` of each pull, by its order."""
        return list(islice(zip(self.arm_of, self.after_of, strict=False), self.asked))

    @property
    def tells(self) -> list[tuple[int, float]]:
        """``(order, reward)`` in order of arrival."""
        return [(order, self.reward_of[order]) for order in self.orders[: self.told]]

    @property
    def waits(self) -> list[tuple[int, int]]:
        """``(asked, after)``: the algorithm was asked, and had to wait."""
        return self.waited[: self.waits_then]
