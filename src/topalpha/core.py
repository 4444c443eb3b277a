"""The vocabulary: what a rule may see, and what a reward family and an algorithm must answer.

An algorithm is the paper's Generic Algorithm (label ``algo:Generic``): a sampling rule, a stopping rule and a
recommendation rule, all functions of the history H_t. It is written once, as a ``NamedTuple`` of parameters whose
methods use only scalars, ``len`` and indexing; :class:`topalpha.Search` interprets those methods on Python lists and
:func:`topalpha.simulate` compiles the very same bodies on arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy.random import Generator

#: Column of ``History.stats`` that holds the sum of an arm's rewards, in every algorithm.
SUM = 0

#: What ``Algorithm.plan`` returns when it has nothing to ask for before one of the pulls in flight comes back.
WAIT = -1

#: How many pulls an arm has where nothing limits them.
ENDLESS = 2**62


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
        Columns of running statistics, one entry per arm in each; column :data:`SUM` is the sum of rewards.
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
    pulls: MutableSequence[int]
    stats: Sequence[MutableSequence[float]]
    state: MutableSequence[float]
    pending: Sequence[int] = ()
    in_flight: int = 0
    early: Sequence[int] = ()
    early_sums: Sequence[float] = ()


@runtime_checkable
class RewardModel(Protocol):
    """What is known about one arm's rewards: the range of the means, and which rewards there can be.

    Methods stay inside the compiled subset, scalars in and scalars out; ``check`` and ``check_parameters`` run on the
    host only.
    """

    @property
    def highest(self) -> float:
        """No arm's mean exceeds this (the supremum of Theta)."""

    @property
    def lowest(self) -> float:
        """No arm's mean is below this (the infimum of Theta)."""

    @property
    def capacity(self) -> int:
        """How many pulls an arm has at most: :data:`ENDLESS`, or the size of a finite set of items."""

    def sample(self, mean: float, rng: Generator) -> float:
        """One reward of an arm with this mean."""

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless the parameters make sense."""

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward can come from this family."""


@runtime_checkable
class EvidenceFamily(RewardModel, Protocol):
    """Rewards whose likelihood ratios between means are known: what joint-lucb needs.

    ``gap_unit`` and ``largest_gap``, which choose grids, run on the host only.
    """

    def gap_unit(self, epsilon: float) -> float:
        """What a difference of ``epsilon`` between means is in the family's own scale of gaps."""

    def largest_gap(self) -> float:
        """Where the grid of gaps ends."""

    def below(self, mean: float, gap: float) -> float:
        """The alternative that lies ``gap`` below the mean, in the family's own scale of gaps."""

    def above(self, mean: float, gap: float) -> float:
        """The alternative that lies ``gap`` above the mean, in the family's own scale of gaps."""

    def below_slope(self, gap: float) -> float:
        """The derivative of :meth:`below` in the mean, where it is not cut off."""

    def variance(self, mean: float) -> float:
        """The variance of a reward with this mean."""

    def spread(self, total: float, pulls: int) -> float:
        """A smoothed estimate of the variance from ``pulls`` rewards of sum ``total``, positive even after one."""

    def log_ratio(self, alternative: float, mean: float, total: float, pulls: int) -> float:
        """ln of the likelihood of ``alternative`` over that of ``mean`` after ``pulls`` rewards of sum ``total``."""

    def log_ratio_since(
        self, alternative: float, mean: float, total: float, pulls: int, total_then: float, pulls_then: int
    ) -> float:
        """The same from the rewards after the first ``pulls_then``, whose sum was ``total_then``."""


@runtime_checkable
class RewardFamily(EvidenceFamily, Protocol):
    """A one-parameter family in the mean parameterisation (or rewards that one dominates).

    ``upper`` and ``lower`` are rounded outward: never inside the true bound, and within 1e-9 of it.
    ``smallest_tilt`` and ``largest_tilt``, which choose grids, run on the host only.
    """

    def divergence(self, mean: float, other: float) -> float:
        """d(mean, other), the Kullback-Leibler divergence between the rewards of two means."""

    def upper(self, mean: float, level: float) -> float:
        """sup{q >= mean : d(mean, q) <= level} (label ``kl-ub``)."""

    def lower(self, mean: float, level: float) -> float:
        """inf{q <= mean : d(mean, q) <= level} (label ``kl-lb``)."""

    def ceiling(self, mean: float, bound: float, level: float, later: float) -> float:
        """At least ``upper(mean, later)``, cheaply, given bound = upper(mean, level) and later >= level."""

    def chernoff_point(self, one: float, other: float) -> float:
        """z*, the point with d(z*, one) = d(z*, other)."""

    def chernoff(self, one: float, other: float) -> float:
        """d*(one, other) = d(z*, one), the Chernoff information."""

    def kappa(self, epsilon: float) -> float:
        """inf{d(x, y) : |x - y| >= epsilon / 2}: what replaces epsilon^2 / 2 outside [0, 1] rewards."""

    def redundancy(self, total: float, pulls: int) -> float:
        """R: maximal log-likelihood minus log conjugate mixture, so that N d(p, mu) <= ln(1/level) + R."""

    def tilted(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """ln of one likelihood-ratio term of the tilt mixture; ``growth`` is exp(tilt) - 1, tabulated by callers.

        The alternative is the mean tilted by ``tilt``: down (negative) in M-, up (positive) in M+. As a function of the
        mean the term increases for a negative tilt and decreases for a positive one.
        """

    def tilted_slope(self, mean: float, total: float, pulls: int, tilt: float, growth: float) -> float:
        """The derivative of :meth:`tilted` in the mean."""

    def smallest_tilt(self, epsilon: float) -> float:
        """The tilt epsilon / (2 v), v the variance proxy: the one that makes a run with tied means stop."""

    def largest_tilt(self) -> float:
        """Where the grid of tilts ends."""

    @property
    def largest_threshold(self) -> float:
        """The redundancy is valid for ln(1/level) up to this."""


class Claim(NamedTuple):
    """With probability at least 1 - delta, an arm's mean is within ``epsilon`` of the top ``alpha`` fraction.

    Examples
    --------
    >>> Claim(0.05, 0.1).alpha
    0.05
    """

    alpha: float
    epsilon: float


@runtime_checkable
class Algorithm(Protocol):
    """The paper's Generic Algorithm, as parameters plus three rules.

    ``alpha``, ``epsilon``, ``delta`` are the target, ``arms`` the number n of arms it will query, ``family`` the reward
    model its bounds rest on.
    """

    @property
    def name(self) -> str: ...

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
    def covered(self) -> bool:
        """Whether the algorithm's proof covers this design."""

    @property
    def independent(self) -> bool:
        """Whether the proof needs rewards that are independent across arms."""

    @property
    def global_order(self) -> bool:
        """Whether rewards must count in the order in which all pulls were asked for, and not only within each arm."""

    @property
    def columns(self) -> int:
        """How many columns ``History.stats`` needs."""

    @property
    def numbers(self) -> int:
        """How many entries ``History.state`` needs."""

    @property
    def width(self) -> int:
        """How many pulls one sequential round asks for at most."""

    def scratch(self, arms: int) -> Any:
        """Fresh working memory for this many arms: a NamedTuple of lists.

        Starting again from fresh memory at any moment may change speed, never a decision.
        """

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Fold one reward of ``arm`` into ``history`` (and into ``memory``, where it helps the next plan)."""

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Sampling and stopping rule: write the arms to pull next into ``batch``, return how many; 0 means stop.

        Index ``history.arms`` asks for one fresh arm, ``history.arms + 1`` for a second one, and so on. It may be
        called while pulls are in flight, and returns :data:`WAIT` if it can say nothing before one of them comes back;
        with none in flight it never waits.
        """

    def recommend(self, history: History, memory: Any) -> int:
        """The arm to return."""

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's lower bound now; on the host only, like the two below."""

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """The arm's upper bound now."""

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """What is proved about the arm now, whether or not the run has stopped: pairs of alpha and epsilon.

        All hold at once, at all times, with probability at least 1 - delta; the smallest alpha first.
        """


class Entry(NamedTuple):
    """How an algorithm is found by name: what the command line, the tests and the docs table are generated from.

    ``guarantee`` is one machine-readable word: ``fixed-confidence``, ``fixed-budget`` or ``none``.
    ``options`` maps each textual option of ``design`` to its choices, the default first.
    """

    name: str
    design: Callable[..., Algorithm]
    guarantee: str
    reference: str
    proof: str
    options: Mapping[str, tuple[str, ...]]
