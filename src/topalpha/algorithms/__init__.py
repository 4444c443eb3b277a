"""The algorithms, by name. A new one is one file in ``field`` and one line in :data:`FIELD`."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from topalpha.algorithms import cc_lucb, choices, duel, joint_lucb, kl_lucb, lucb_pp, paired
from topalpha.families import describe
from topalpha.families.protocols import EvidenceFamily, RewardModel
from topalpha.rules.protocol import Algorithm
from topalpha.rules.registration import Entry
from topalpha.validate import choice, plain, require

__all__ = [
    "ALGORITHMS",
    "DEFAULT",
    "FIELD",
    "PRINCIPAL",
    "SHORT",
    "cc_lucb",
    "check_epsilon",
    "choices",
    "default_for",
    "design",
    "duel",
    "enduring",
    "entry",
    "field",
    "joint_lucb",
    "kl_lucb",
    "lucb_pp",
    "paired",
    "prior_knowledge",
]

#: The recommended algorithms and the paper's: all of them have claims at any time.
PRINCIPAL: tuple[Entry, ...] = tuple(module.design.entry for module in (joint_lucb, cc_lucb, lucb_pp, kl_lucb))

#: The algorithms of the literature, by the names of their files.
FIELD: tuple[Entry, ...] = tuple(
    import_module(f"{__name__}.field.{file}").design.entry
    for file in (
        "p2",
        "p2_batched",
        "p3",
        "lucb_k_m",
        "al_q_ik",
        "al_q_iu",
        "cc_me",
        "cc_threshold",
        "cc_lucb_streaming",
        "joint_one_phase",
        "likelihood_toss",
        "jhr",
        "ugape",
        "glr",
        "eb_tc",
        "ttts",
        "track_and_stop",
        "bucb",
        "siri",
        "isha",
        "hyperband",
        "d_ttts",
        "kqp_1",
        "cc_lucb_k",
    )
)

#: All algorithms of the command line, the tests, the audit and the table in the docs.
ALGORITHMS = (*PRINCIPAL, *FIELD)

#: Algorithms for short lists on a test set, which have no version for an endless pool.
SHORT: tuple[Entry, ...] = (paired.design.entry, duel.design.entry)

_ENTRIES = {one.name: one for one in (*ALGORITHMS, *SHORT)}

#: The default algorithm.
DEFAULT = joint_lucb.design.entry.name


def __getattr__(name: str) -> Any:
    if any(name == entry.design.__module__.rpartition(".")[2] for entry in FIELD):
        return import_module(f"{__name__}.field.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def default_for(family: RewardModel) -> str:
    """The default algorithm: joint-lucb, or cc-lucb for rewards whose evidence cannot be joined.

    Examples
    --------
    >>> from topalpha.families import Bernoulli, Normal
    >>> default_for(Bernoulli()), default_for(Normal())
    ('joint-lucb', 'cc-lucb')
    """
    joined = isinstance(family, EvidenceFamily) or describe(family).partition("(")[0] in joint_lucb.design.entry.models
    return DEFAULT if joined else cc_lucb.design.entry.name


def entry(name: str) -> Entry:
    """The registered algorithm of this name.

    Examples
    --------
    >>> entry("joint-lucb").guarantee
    'fixed-confidence'
    """
    return _ENTRIES[choice("algorithm", name, _ENTRIES)]


def prior_knowledge(name: str, reservoir: Any, alpha: float, epsilon: float) -> dict[str, Any]:
    """The options of the design that need knowledge of the reservoir; most algorithms have none.

    Examples
    --------
    >>> prior_knowledge("joint-lucb", None, 0.05, 0.05)
    {}
    """
    known = entry(name).knowledge
    return {} if known is None else known(reservoir, alpha, epsilon)


def design(
    name: str, alpha: float, epsilon: float, delta: float, family: RewardModel | None = None, **options: Any
) -> Algorithm:
    """Build the named algorithm for this target.

    Parameters
    ----------
    name
        The name of a registered algorithm; ``topalpha list`` prints them.
    alpha, epsilon, delta
        The target.
    family
        The reward model, such as ``Gaussian(0.5)``; by default any rewards in [0, 1].
    **options
        Options of the algorithm, by name.

    Examples
    --------
    >>> design("kl-lucb", 0.05, 0.05, 0.05, clock="N").arms
    74
    """
    one = entry(name)
    for option in options:
        allowed = one.defaults
        require(option in allowed, f"option of {name}", f"be one of {', '.join(sorted(allowed)) or 'none'}", option)
    made = one.design(alpha, epsilon, delta, family, **plain(options))
    check_epsilon(made.epsilon, made.family)
    return made


def check_epsilon(epsilon: float, family: RewardModel) -> None:
    """Raise ``ValueError`` if epsilon is too small for the bounds to be computed.

    With bounded means the rounding error sets the limit; with unbounded means the square of epsilon must not underflow.

    Examples
    --------
    >>> from topalpha.families import Bernoulli, Gaussian
    >>> check_epsilon(1e-20, Gaussian(1.0))
    >>> check_epsilon(1e-20, Bernoulli())
    Traceback (most recent call last):
    ValueError: epsilon must be at least 1e-15 for floating-point arithmetic, got 1e-20
    """
    size = max(abs(family.lowest), abs(family.highest))
    least = 1e-15 * size if math.isfinite(size) else 1e-100
    require(epsilon >= least, "epsilon", f"be at least {least:g} for floating-point arithmetic", epsilon)
