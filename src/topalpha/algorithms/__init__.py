"""The algorithms, by name. A new one is one file in ``field`` and one line in :data:`FIELD`."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from topalpha.algorithms import cc_lucb, joint_lucb, kl_lucb, lucb_pp
from topalpha.families import Normal
from topalpha.families.protocols import RewardModel
from topalpha.rules.protocol import Algorithm
from topalpha.rules.registration import Entry
from topalpha.validate import choice, plain, require

#: Those that say at any time what is proved: what the package recommends, and the paper's.
PRINCIPAL: tuple[Entry, ...] = tuple(module.design.entry for module in (joint_lucb, cc_lucb, lucb_pp, kl_lucb))

#: The field that they are compared with, by the names of their files.
FIELD: tuple[Entry, ...] = tuple(
    import_module(f"topalpha.algorithms.field.{file}").design.entry
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

#: Everything the command line, the tests, the audit and the docs table know about.
ALGORITHMS = (*PRINCIPAL, *FIELD)

#: What is used where no algorithm is named.
DEFAULT = joint_lucb.design.entry.name


def default_for(family: RewardModel) -> str:
    """The algorithm where none is named: joint-lucb, or cc-lucb for rewards whose evidence cannot be joined.

    Examples
    --------
    >>> from topalpha.families import Bernoulli, Normal
    >>> default_for(Bernoulli()), default_for(Normal())
    ('joint-lucb', 'cc-lucb')
    """
    return cc_lucb.design.entry.name if isinstance(family, Normal) else DEFAULT


def entry(name: str) -> Entry:
    """The registered algorithm of this name.

    Examples
    --------
    >>> entry("joint-lucb").guarantee
    'fixed-confidence'
    """
    entries = {one.name: one for one in ALGORITHMS}
    return entries[choice("algorithm", name, entries)]


def prior_knowledge(name: str, reservoir: Any, alpha: float, epsilon: float) -> dict[str, Any]:
    """What the algorithm must be told about the reservoir beforehand, as options of its design; most need nothing.

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
    """The named algorithm for this target.

    Parameters
    ----------
    name
        Of a registered algorithm; ``topalpha list`` prints them.
    alpha, epsilon, delta
        The target.
    family
        What is known about rewards, such as ``Gaussian(0.5)``; anything in [0, 1] unless given.
    **options
        Those of the algorithm, by name.

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
    """Raise ``ValueError`` for a distance of means that is too small for bounds to be computed.

    Between means of a known size rounding is in the way; where means may be of any size, squares must not vanish.

    Examples
    --------
    >>> from topalpha.families import Bernoulli, Gaussian
    >>> check_epsilon(1e-20, Gaussian(1.0))
    >>> check_epsilon(1e-20, Bernoulli())
    Traceback (most recent call last):
    ValueError: epsilon must be at least 1e-15, for arithmetic is no finer, got 1e-20
    """
    size = max(abs(family.lowest), abs(family.highest))
    least = 1e-15 * size if math.isfinite(size) else 1e-100
    require(epsilon >= least, "epsilon", f"be at least {least:g}, for arithmetic is no finer", epsilon)
