"""The vocabulary: what a rule may see, and what an algorithm must answer.

An algorithm is the paper's Generic Algorithm (label ``algo:Generic``): a sampling rule, a stopping rule and a
recommendation rule, all functions of the history H_t. It is written once, as a ``NamedTuple`` of parameters whose
methods use only scalars, ``len`` and indexing; :class:`topalpha.Search` interprets those methods on Python lists and
:func:`topalpha.simulate` compiles the very same bodies on arrays.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from topalpha.families.protocols import RewardModel

if TYPE_CHECKING:
    from numpy.random import Generator as Generator
else:
    Generator = Any  # rules name it in annotations only, and load no NumPy for it

#: Lists, or arrays in compiled code.
Integers: TypeAlias = MutableSequence[int]
Reals: TypeAlias = MutableSequence[float]
#: An arm and its rival.
Pair: TypeAlias = tuple[int, int]

#: Column of ``History.stats`` that holds the sum of an arm's rewards, in every algorithm.
SUM = 0

#: What ``Algorithm.plan`` returns when it has nothing to ask for before one of the pulls in flight comes back.
WAIT = -1


class History(NamedTuple):
    """H_t reduced to what rules may see.

    Parameters
    ----------
    t
        Rewards observed so far.
    arms
        Arms queried so far, with or without a reward yet; the next fresh arm has this index.
    pulls
        N_a(t), one entry per arm.
    stats
        Columns of running statistics, one entry per arm in each; column ``SUM`` is the sum of rewards.
        Whatever changes a decision and is not a count lives here (running bounds, for example).
    state
        Numbers that change decisions and belong to no arm (a credit, a clock).
    pending
        How many pulls of each arm are in flight: asked for, and not among the rewards observed.
    in_flight
        How many that is in all; a search by one pull at a time has none when it plans.
    early, early_sums
        How many of these have come back, arm by arm, and wait for an earlier one before they count; and the sum of
        their rewards. A sampling rule may look at them; what is proved must not rest on them.

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

    Attributes
    ----------
    alpha
        The fraction.
    epsilon
        By how much the mean may fall short of it.

    Examples
    --------
    >>> Claim(0.05, 0.1).alpha
    0.05
    """

    alpha: float
    epsilon: float


class Traits(NamedTuple):
    """What the drivers must know about an algorithm: what to hold for it, and what its proof asks of them.

    Parameters
    ----------
    name
        The name it is registered under.
    columns
        How many columns ``History.stats`` needs.
    numbers
        How many entries ``History.state`` needs.
    width
        How many arms one plan names at most.
    blocks
        Whether a plan asks for many pulls of each arm at once; see :class:`BlockAlgorithm`.
    covered
        Whether the algorithm's proof covers this design; False also where there is no proof of fixed confidence.
    independent
        Whether the proof needs rewards that are independent across arms.
    global_order
        Whether rewards must count in the order in which all pulls were asked for, and not only within each arm.
    exact_law
        Whether rewards must have exactly the law of the family, also where its bounds hold for others too.

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

    ``alpha``, ``epsilon``, ``delta`` are the target, ``arms`` the number n of arms it will query (those that it queries
    first, where the number is not fixed in advance), ``family`` the reward model its bounds rest on.
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
        """Fresh working memory for this many arms: a NamedTuple of lists.

        Starting again from fresh memory at any moment may change speed, never a decision.
        """

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Fold one reward of ``arm`` into ``history`` (and into ``memory``, where it helps the next plan)."""

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Sampling and stopping rule: write the arms to pull next into ``batch``, return how many; 0 means stop.

        Index ``history.arms`` asks for one fresh arm, ``history.arms + 1`` for a second one, and so on. It may be
        called while pulls are in flight, and returns :data:`WAIT` if it can say nothing before one of them comes back;
        with none in flight it never waits.
        """

    def recommend(self, history: History, memory: Any) -> int:
        """The arm to return."""


@runtime_checkable
class BlockAlgorithm(Algorithm, Protocol):
    """An algorithm whose plan asks for many pulls of an arm at once, as eliminations do.

    ``batch`` is then twice as long as the width: where ``batch[i]`` names an arm, ``batch[width + i]`` says how many
    pulls of it are wanted, one at least. A simulator may draw their sum at once, which is the same in law.
    """

    def observe_block(self, history: History, memory: Any, arm: int, count: int, total: float) -> None:
        """Fold ``count`` rewards of ``arm`` with this sum into ``history``; ``observe`` is a block of one."""


@runtime_checkable
class Certifier(Algorithm, Protocol):
    """An algorithm that has something to say about every arm at any time. All of this runs on the host only."""

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's lower bound now."""

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's upper bound now."""

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now, whether or not the run has stopped: pairs of alpha and epsilon.

        All hold at once, at all times, with probability at least 1 - delta; the smallest alpha first.
        """


@runtime_checkable
class Conditional(Algorithm, Protocol):
    """An algorithm whose proof rests on something that it was told about the reservoir."""

    def conditions(self) -> tuple[str, ...]:
        """What it was told, in sentences for a certificate; on the host only."""


@runtime_checkable
class Refuting(Conditional, Protocol):
    """An algorithm that may find out that what it was told is wrong."""

    def refutation(self, history: History) -> str:
        """What is proved in place of the claim, as the end of a sentence; empty while the claim stands. On the host."""


@runtime_checkable
class Selector(Algorithm, Protocol):
    """An algorithm that returns several arms, each of which must be right; ``recommend`` is one of them."""

    def selection(self, history: History, memory: Any) -> list[int]:
        """The arms to return; on the host only."""
