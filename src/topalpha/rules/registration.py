"""Registration of algorithms: the target, checked once for all of them, and the entry in the list."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from topalpha.families import checked_model, unit_rewards
from topalpha.families.protocols import RewardModel
from topalpha.rules.protocol import Algorithm
from topalpha.validate import fraction, positive

if TYPE_CHECKING:
    from topalpha.reservoirs import Reservoir

Made = TypeVar("Made", covariant=True)


class Target(NamedTuple):
    """A mean within ``epsilon`` of the top ``alpha`` fraction, with probability at least 1 - ``delta``.

    Examples
    --------
    >>> Target(0.05, 0.1, 0.1, "any").on(60)
    (0.05, 0.1, 0.1, 60, 'any')
    """

    alpha: float
    epsilon: float
    delta: float
    family: Any

    def on(self, arms: int) -> tuple[float, float, float, int, Any]:
        """The first five fields of every algorithm: this target on ``arms`` arms."""
        return self.alpha, self.epsilon, self.delta, arms, self.family


class Entry(NamedTuple):
    """The entry of an algorithm: the command line, the tests and the table in the docs are generated from it.

    Parameters
    ----------
    name, design, reference
        The registered name, the function that builds the algorithm for a target, and the paper.
    proof
        Where the guarantee is proved; empty if there is no proof.
    guarantee
        One machine-readable word: ``fixed-confidence``, ``fixed-budget`` or ``none``.
    options
        Each textual option of ``design`` with its choices, the default first.
    rewards
        ``any`` one-parameter family, or ``unit``: only rewards between 0 and 1.
    models
        Further reward models that it takes: any of ``pass-fail``, ``graded``, ``normal`` and ``low-variance``.
    knowledge
        Prior knowledge of the reservoir: a function of reservoir, alpha and epsilon that returns options of ``design``,
        or raises ``ValueError`` if the algorithm does not apply to the reservoir.
    shared_order
        Whether all candidates go through the items of a test set in one random order; otherwise each needs its own.
    joint
        Whether the stop joins the evidence of all arms, and so may come while an upper bound is above the line.
    """

    name: str
    design: Callable[..., Algorithm]
    reference: str
    proof: str = ""
    guarantee: str = "fixed-confidence"
    options: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    rewards: str = "any"
    models: tuple[str, ...] = ()
    knowledge: Callable[[Any, float, float], dict[str, Any]] | None = None
    joint: bool = False
    shared_order: bool = False

    @property
    def defaults(self) -> dict[str, Any]:
        """All options of ``design`` with their defaults."""
        return self.design.__kwdefaults__ or {}

    @property
    def budgeted(self) -> bool:
        """Whether the run ends once its ``budget`` of pulls, an option of ``design``, is spent."""
        return "budget" in self.defaults


class Design(Protocol[Made]):
    """A registered design function."""

    @property
    def entry(self) -> Entry:
        """The entry in the list of algorithms."""

    def __call__(
        self, alpha: float, epsilon: float, delta: float, family: RewardModel | None = None, **options: Any
    ) -> Made:
        """The algorithm."""


def algorithm(
    name: str,
    reference: str,
    proof: str = "",
    *,
    family: Callable[[RewardModel | None], RewardModel] = checked_model,
    **entry: Any,
) -> Callable[[Callable[..., Made]], Design[Made]]:
    """Register a function of a :class:`Target` and options as the design of the named algorithm.

    ``family`` checks the reward model and raises ``ValueError`` if the algorithm cannot take it; ``unit_rewards`` also
    sets ``rewards``. The other arguments are those of :class:`Entry`.

    Examples
    --------
    >>> @algorithm("mine", "a paper")
    ... def design(target, *, k=1):
    ...     return target.alpha * k
    >>> design(0.05, 0.1, 0.1, k=2), design.entry.name, design.entry.defaults
    (0.1, 'mine', {'k': 1})
    """

    def decorate(make: Callable[..., Made]) -> Design[Made]:
        def design(
            alpha: float, epsilon: float, delta: float, family: RewardModel | None = None, **options: Any
        ) -> Made:
            target = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
            return make(Target(*target, check(family)), **options)

        own = list(inspect.signature(design).parameters.values())[:-1]
        options = list(inspect.signature(make).parameters.values())[1:]
        made: Any = functools.update_wrapper(design, make)
        made.__signature__ = inspect.Signature([*own, *options])
        made.__kwdefaults__ = make.__kwdefaults__
        rewards = {"rewards": "unit"} if check is unit_rewards else {}
        made.entry = Entry(name, made, reference, proof, **rewards | entry)
        return made  # type: ignore[no-any-return]

    check = family
    return decorate


def named_threshold(reservoir: Reservoir, alpha: float, epsilon: float) -> dict[str, Any]:
    """The ``threshold`` of algorithms that must know it: the mean that a fraction alpha of the arms reach.

    Examples
    --------
    >>> from topalpha.reservoirs import Uniform
    >>> named_threshold(Uniform(0.0, 1.0), 0.25, 0.1)
    {'threshold': 0.75}
    """
    return {"threshold": reservoir.top(alpha)}
