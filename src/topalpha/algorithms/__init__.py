"""The algorithms, by name. A new one is one file in ``field`` and one line in :data:`FIELD`."""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms import cc_lucb, joint_lucb, kl_lucb, lucb_pp
from topalpha.algorithms.field import (
    al_q_ik,
    al_q_iu,
    bucb,
    cc_lucb_k,
    cc_lucb_streaming,
    cc_me,
    cc_threshold,
    d_ttts,
    eb_tc,
    glr,
    hyperband,
    isha,
    jhr,
    joint_one_phase,
    kqp_1,
    likelihood_toss,
    lucb_k_m,
    p2,
    p2_batched,
    p3,
    siri,
    track_and_stop,
    ttts,
    ugape,
)
from topalpha.families import Normal
from topalpha.families.protocols import RewardModel
from topalpha.rules.protocol import Algorithm, Entry
from topalpha.validate import choice, fraction, plain, positive, require

#: Those that say at any time what is proved: what the package recommends, and the paper's.
PRINCIPAL: tuple[Entry, ...] = (joint_lucb.ENTRY, cc_lucb.ENTRY, lucb_pp.ENTRY, kl_lucb.ENTRY)

#: The field that they are compared with.
FIELD: tuple[Entry, ...] = (
    p2.ENTRY,
    p2_batched.ENTRY,
    p3.ENTRY,
    lucb_k_m.ENTRY,
    al_q_ik.ENTRY,
    al_q_iu.ENTRY,
    cc_me.ENTRY,
    cc_threshold.ENTRY,
    cc_lucb_streaming.ENTRY,
    joint_one_phase.ENTRY,
    likelihood_toss.ENTRY,
    jhr.ENTRY,
    ugape.ENTRY,
    glr.ENTRY,
    eb_tc.ENTRY,
    ttts.ENTRY,
    track_and_stop.ENTRY,
    bucb.ENTRY,
    siri.ENTRY,
    isha.ENTRY,
    hyperband.ENTRY,
    d_ttts.ENTRY,
    kqp_1.ENTRY,
    cc_lucb_k.ENTRY,
)

#: Everything the command line, the tests, the audit and the docs table know about.
ALGORITHMS = (*PRINCIPAL, *FIELD)

#: What is used where no algorithm is named.
DEFAULT = joint_lucb.ENTRY.name


def default_for(family: RewardModel) -> str:
    """The algorithm where none is named: joint-lucb, or cc-lucb for rewards whose evidence cannot be joined.

    Examples
    --------
    >>> from topalpha.families import Bernoulli, Normal
    >>> default_for(Bernoulli()), default_for(Normal())
    ('joint-lucb', 'cc-lucb')
    """
    return cc_lucb.ENTRY.name if isinstance(family, Normal) else DEFAULT


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
    allowed = set(one.design.__kwdefaults__ or {})
    for option in options:
        require(option in allowed, f"option of {name}", f"be one of {', '.join(sorted(allowed)) or 'none'}", option)
    target = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    made = one.design(*target, family, **plain(options))
    check_epsilon(epsilon, made.family)
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
