"""The audited cases: reservoirs that expose a wrong level, a wrong quantile or a lost tie; and controls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from topalpha.algorithms import ALGORITHMS, PRINCIPAL, prior_knowledge
from topalpha.research.audit.cell import NO_LEVELS, AuditCase, AuditCell, changed, designed, with_thresholds
from topalpha.research.audit.trial_cases import tried, wrong_trials
from topalpha.research.audit.worlds import PlusMinus, Thirds
from topalpha.reservoirs import parse
from topalpha.rules.protocol import Algorithm
from topalpha.rules.registration import Entry

#: The audited guarantee.
AUDITED = "fixed-confidence"


#: The mass at the top is exactly alpha, the rest just too low to be acceptable: no law leaves less room for error.
JUST_OVER = "two-point(0.4,0.604,0.1)"

#: Hundreds of arms, few of them good: many look good by chance, which lower bounds must allow for.
THIN_TOP = AuditCase("thin top", "two-point(0.4,0.604,0.02)", 0.02, 0.2, 0.2)

CASES = (
    AuditCase("table row 11", "conditioned(beta(1,1),0.95)", 0.1, 0.05, 0.05),
    AuditCase("table law, wide", "conditioned(beta(1,2),0.95)", 0.1, 0.1, 0.1),
    AuditCase("table law, steep", "conditioned(beta(1,3),0.95)", 0.1, 0.1, 0.2),
    AuditCase("gap just over epsilon", JUST_OVER, 0.1, 0.2, 0.05),
    AuditCase("gap just over epsilon", JUST_OVER, 0.1, 0.2, 0.2),
    AuditCase("gap just over epsilon, low", "two-point(0,0.204,0.1)", 0.1, 0.2, 0.1),
    AuditCase("gap just over epsilon, high", "two-point(0.796,1,0.1)", 0.1, 0.2, 0.1),
    AuditCase("needle", "two-point(0.2,0.9,0.1)", 0.1, 0.2, 0.05),
    AuditCase("needle over a slope", "mixture(0.9*uniform(0.3,0.5),0.1*dirac(0.72))", 0.1, 0.2, 0.1),
    AuditCase("atom at the boundary", "discrete(0.3:0.7,0.5:0.2,0.7:0.1)", 0.1, 0.15, 0.1),
    AuditCase("atom across the boundary", "discrete(0.3:0.7,0.6:0.25,0.8:0.05)", 0.1, 0.15, 0.1),
    AuditCase("equal weights, mass alpha each", "discrete(0.1,0.3,0.5,0.7,0.9)", 0.2, 0.15, 0.1),
    AuditCase("tied top", "discrete(0.4:0.5,0.7:0.5)", 0.1, 0.2, 0.1),
    AuditCase("all tied", "dirac(0.5)", 0.1, 0.2, 0.1),
    THIN_TOP,
)

#: More cases for a longer audit.
MORE_CASES = (
    *(AuditCase(f"table law Beta(1,{b})", f"conditioned(beta(1,{b}),0.95)", 0.05, 0.05, 0.1) for b in (1, 2, 3)),
    AuditCase("gap just over epsilon, small", "two-point(0.45,0.552,0.05)", 0.05, 0.1, 0.05),
    AuditCase("gap just over epsilon, half", "two-point(0.4,0.604,0.5)", 0.5, 0.2, 0.2),
    AuditCase("clipped", "clipped(beta(2,1),0.6)", 0.1, 0.15, 0.1),
    AuditCase("zero or one", "two-point(0,1,0.1)", 0.1, 0.2, 0.05),
)

#: Other rewards; algorithms not named here share the same bounds.
REWARD_CASES = (
    AuditCase("gap just over epsilon", "two-point(0,0.51,0.1)", 0.1, 0.5, 0.1, "gaussian(0.5)"),
    AuditCase("gap just over epsilon", "two-point(1,2.02,0.1)", 0.1, 1.0, 0.1, "poisson(3)"),
    AuditCase("gap just over epsilon", "two-point(1,2.02,0.1)", 0.1, 1.0, 0.1, "exponential(3)"),
    AuditCase("gap just over epsilon", "two-point(1,2.02,0.1)", 0.1, 1.0, 0.1, "gamma(2,3)"),
    AuditCase("plus or minus 0.35", JUST_OVER, 0.1, 0.2, 0.1, rewards=PlusMinus(0.35)),
    AuditCase("a third replaced by the mean", JUST_OVER, 0.1, 0.2, 0.1, rewards=Thirds(1.0 / 3.0)),
)
REWARD_ALGORITHMS = ("joint-lucb", "cc-lucb")


def cells(full: bool = False) -> Iterator[AuditCell]:
    """Every algorithm with a fixed-confidence guarantee on every case.

    Examples
    --------
    >>> {cell.algorithm.traits.name for cell in cells()} >= {"joint-lucb", "cc-lucb", "lucb++", "kl-lucb"}
    True
    """
    for entry in ALGORITHMS:
        if entry.guarantee != AUDITED:
            continue
        cases = (*CASES, *(MORE_CASES if full else ()))
        if full or entry.name in REWARD_ALGORITHMS:
            cases += REWARD_CASES
        for case in cases:
            if _applies(entry, case):
                yield AuditCell(case, designed(entry.name, case))
    yield from tried(full)
    for entry, options in _variants(full):
        for case in CASES[3:5]:
            algorithm = designed(entry.name, case, **options)
            if algorithm.traits.covered:
                yield AuditCell(case, algorithm)


def _applies(entry: Entry, case: AuditCase) -> bool:
    """Whether the algorithm applies to these rewards and this reservoir."""
    if entry.rewards == "unit" and case.family != "bernoulli":
        return False
    if entry.knowledge is not None and case.rewards is not None:
        return False  # an algorithm that knows the law of the rewards is right only for that law
    try:
        prior_knowledge(entry.name, parse(case.reservoir), case.alpha, case.epsilon)
    except ValueError:
        return False
    return True


def _variants(full: bool) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Every choice of every option, without the defaults."""
    for entry in ALGORITHMS:
        if entry.guarantee != AUDITED or not full:
            continue
        for option, choices in entry.options.items():
            for choice in choices[1:]:
                yield entry, {option: choice}


def controls() -> Iterator[AuditCell]:
    """Algorithms that are known to be wrong, in ways that an audit must detect.

    They are gross faults, picked from a larger number of wrong variants because they show within a few hundred runs:
    sound algorithms mostly err far less often than delta, and so do many that are slightly wrong. The controls prove
    that the audit can fail, not that it detects every fault.

    Examples
    --------
    >>> {cell.control for cell in controls()} >= {"union bound dropped", "items drawn again", "in finishing order"}
    True
    """
    case = CASES[3]
    for entry in PRINCIPAL:
        yield AuditCell(case, designed(entry.name, case, delta=0.9), "designed for delta = 0.9")
        right = designed(entry.name, case)
        yield AuditCell(case, changed(right, arms=right.arms // 5), "a fifth of the arms")
    yield AuditCell(
        THIN_TOP, _without_union_bound(designed("cc-lucb", THIN_TOP, draw_share=0.1)), "union bound dropped"
    )
    for name, loose in _LOOSE.items():
        yield AuditCell(case, changed(designed(name, case), **loose), "levels far too loose")
    right = designed("cc-lucb", case)
    yield AuditCell(case, with_thresholds(right, **NO_LEVELS), "levels far too loose")
    yield from wrong_trials()


#: Thresholds without their logarithms of 1/delta and of the number of arms.
_LOOSE: dict[str, dict[str, float]] = {
    "kl-lucb": {"offset": -3.0, "gamma": 0.0},
    "lucb++": {"upper_threshold": -1.0, "lower_threshold": -1.0},
    "joint-lucb": {"log_leader": 3.0},
}


def _without_union_bound(algorithm: Any) -> Algorithm:
    """Lower bounds that hold for each arm, but not for all of them at once."""
    return with_thresholds(algorithm, lower_threshold=algorithm.confidence.lower_threshold - math.log(algorithm.arms))
