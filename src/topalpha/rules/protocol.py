"""The protocol of algorithms: what a rule sees, and what an algorithm must answer.

An algorithm is the paper's Generic Algorithm (label ``algo:Generic``): a sampling rule, a stopping rule and a
recommendation rule, all functions of the history H_t. It is written once, as a named tuple of parameters whose
methods use only scalars, ``len`` and indexing. :class:`topalpha.Search` interprets these methods on Python lists, and
:func:`topalpha.simulate` compiles the same methods on arrays.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from topalpha.families.protocols import RewardModel

if TYPE_CHECKING:
    from numpy.random import Generator as Generator
else:
    Generator = Any  # only annotations name it: rules do not import NumPy

#: Lists, or arrays in compiled code.
Integers: TypeAlias = MutableSequence[int]
Reals: TypeAlias = MutableSequence[float]
#: An arm and its rival.
Pair: TypeAlias = tuple[int, int]

#: Column of ``History.stats`` that holds the sum of an arm's rewards, in every algorithm.
SUM = 0

#: The answer of ``Algorithm.plan`` when a pull in flight must come back before the next one is chosen.
WAIT = -1


class History(NamedTuple):
    """The part of H_t that rules may see.

    Parameters
    ----------
    t
        Number of rewards observed.
    arms
        Number of arms queried, with or without a reward; the next fresh arm has this index.
    pulls
        N_a(t), one entry per arm.
    stats
        Columns of running statistics, one entry per arm; column ``SUM`` is the sum of rewards. Statistics that change
        decisions, such as running bounds, are kept here.
    state
        Numbers that change decisions and belong to no arm, such as a credit or a clock.
    pending, in_flight
        Pulls in flight, per arm and in total: asked for, but not yet counted. Without parallel pulls there are none.
    early, early_sums
        Pulls in flight that have come back but wait for an earlier one before they count, per arm, and the sums of
        their rewards. A sampling rule may use them; a proof must not.

    Examples
    --------
    >>> history = History(t=3, arms=2, pulls=[2, 1], stats=[[1.0, 1.0]], state=[], pending=[0, 0], in_flight=0)
    >>> history.stats[SUM][0] / history.pulls[0]
    0.5
    """

    t: int
    arms: int
    pulls: Integers
    stats: Sequence[Reals]
    state: Reals
    pending: Sequence[int] = ()
    in_flight: int = 0
    early: Sequence[int] = ()
    early_sums: Sequence[float] = ()


class Claim(NamedTuple):
    """With probability at least 1 - delta, an arm's mean is within ``epsilon`` of the top ``alpha`` fraction.

    Parameters
    ----------
    alpha, epsilon
        The fraction, and the distance of the mean from it.

    Examples
    --------
    >>> Claim(0.05, 0.1).alpha
    0.05
    """

    alpha: float
    epsilon: float


class Traits(NamedTuple):
    """The facts about an algorithm that the drivers need: storage, and the assumptions of its proof.

    Parameters
    ----------
    name
        The registered name.
    columns, numbers
        Number of columns of ``History.stats``, and of entries of ``History.state``.
    width
        Largest number of arms in one plan.
    blocks
        Whether a plan asks for many pulls of each arm at once; see :class:`BlockAlgorithm`.
    covered
        Whether a proof of fixed confidence covers this design.
    independent
        Whether the proof needs rewards that are independent across arms.
    global_order
        Whether rewards must count in the order in which all pulls were asked for, not only within each arm.
    exact_law
        Whether rewards must have exactly the law of the family, even where its bounds hold for other laws too.

    Examples
    --------
    >>> Traits("cc-lucb", columns=3, numbers=1, width=2).blocks
    False
    """

    name: str
    columns: int = 1
    numbers: int = 0
    width: int = 1
    blocks: bool = False
    covered: bool = True
    independent: bool = True
    global_order: bool = False
    exact_law: bool = False


@runtime_checkable
class Algorithm(Protocol):
    """The paper's Generic Algorithm, as parameters plus three rules.

    ``alpha``, ``epsilon`` and ``delta`` are the target, ``arms`` the number n of arms to query (the initial number, if
    n is not fixed in advance), and ``family`` the reward model of the bounds.
    """

    @property
    def alpha(self) -> float: ...

    @property
    def epsilon(self) -> float: ...

    @property
    def delta(self) -> float: ...

    @property
    def arms(self) -> int: ...

    @property
    def family(self) -> RewardModel: ...

    @property
    def traits(self) -> Traits: ...

    def scratch(self, arms: int) -> Any:
        """Fresh working memory, a NamedTuple of lists; it may change the speed, never a decision."""

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Fold one reward of ``arm`` into ``history``, and into ``memory`` if that helps the next plan."""

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Sampling and stopping rule: write the arms to pull next into ``batch`` and return how many; 0 means stop.

        Index ``history.arms`` asks for a fresh arm, ``history.arms + 1`` for a second one, and so on. With pulls in
        flight the answer may be :data:`WAIT`: one of them must come back first.
        """

    def recommend(self, history: History, memory: Any) -> int:
        """Recommendation rule: the arm to return."""


@runtime_checkable
class BlockAlgorithm(Algorithm, Protocol):
    """An algorithm whose plan asks for many pulls of an arm at once, as eliminations do.

    ``batch`` is then twice as long as the width: ``batch[i]`` is an arm, and ``batch[width + i]`` the number of pulls
    of it, at least one. A simulator may draw the sum of their rewards, which has the same law.
    """

    def observe_block(self, history: History, memory: Any, arm: int, count: int, total: float) -> None:
        """Fold ``count`` rewards of ``arm`` with sum ``total`` into ``history``; ``observe`` is a block of one."""


@runtime_checkable
class Certifier(Algorithm, Protocol):
    """An algorithm with bounds and claims for every arm at any time. All of them run on the host only."""

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's current lower bound."""

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's current upper bound."""

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """The claims proved about the arm so far, smallest alpha first; all hold together at all times."""


@runtime_checkable
class Joining(Certifier, Protocol):
    """An algorithm that stops by the evidence of all arms together, not when the bounds of single arms meet."""

    def shown(self, history: History, memory: Any, arm: int) -> float:
        """The epsilon within which the evidence shows the arm to be now; at most the target's exactly at the stop."""


@runtime_checkable
class Conditional(Algorithm, Protocol):
    """An algorithm whose proof assumes something about the reservoir."""

    def conditions(self) -> tuple[str, ...]:
        """The assumptions, as sentences for a certificate; on the host only."""


@runtime_checkable
class Refuting(Conditional, Protocol):
    """An algorithm that may refute its own assumption."""

    def refutation(self, history: History) -> str:
        """The end of a sentence that says what is proved instead; empty while the claim stands. On the host only."""


@runtime_checkable
class Selector(Algorithm, Protocol):
    """An algorithm that returns several arms, all of which must be right; ``recommend`` is one of them."""

    def selection(self, history: History, memory: Any) -> list[int]:
        """The arms to return; on the host only."""
