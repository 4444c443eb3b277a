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


class History(NamedTuple):
    """H_t reduced to what rules may see.

    Parameters
    ----------
    t
        Rewards observed so far.
    arms
        Arms queried so far; the next fresh arm has this index.
    pulls
        N_a(t), one entry per arm.
    stats
        Columns of running statistics, one entry per arm in each; column :data:`SUM` is the sum of rewards.
        Whatever changes a decision and is not a count lives here (running bounds, for example).
    state
        Numbers that change decisions and belong to no arm (a credit, a clock).

    Examples
    --------
    >>> history = History(t=3, arms=2, pulls=[2, 1], stats=[[1.0, 1.0]], state=[])
    >>> history.stats[SUM][0] / history.pulls[0]
    0.5
    """

    t: int
    arms: int
    pulls: MutableSequence[int]
    stats: Sequence[MutableSequence[float]]
    state: MutableSequence[float]


@runtime_checkable
class RewardFamily(Protocol):
    """What is known about one arm's rewards, in the mean parameterisation.

    ``upper`` and ``lower`` are rounded outward: never inside the true bound, and within 1e-9 of it.
    Methods stay inside the compiled subset, scalars in and scalars out; ``check`` and the four that choose grids
    (``smallest_tilt``, ``largest_tilt``, ``gap_unit``, ``largest_gap``) run on the host only.
    """

    @property
    def highest(self) -> float:
        """No arm's mean exceeds this (the supremum of Theta)."""

    @property
    def lowest(self) -> float:
        """No arm's mean is below this (the infimum of Theta)."""

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

    def sample(self, mean: float, rng: Generator) -> float:
        """One reward of an arm with this mean."""

    def check_parameters(self) -> None:
        """Raise ``ValueError`` unless the parameters make sense."""

    @property
    def largest_threshold(self) -> float:
        """The redundancy is valid for ln(1/level) up to this."""

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward can come from this family."""


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
    def family(self) -> RewardFamily: ...

    @property
    def covered(self) -> bool:
        """Whether the algorithm's proof covers this design."""

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

        Index ``history.arms`` asks for one fresh arm, ``history.arms + 1`` for a second one, and so on.
        """

    def recommend(self, history: History, memory: Any) -> int:
        """The arm to return."""


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
