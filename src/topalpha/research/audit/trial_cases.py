"""Audited searches by ask and tell: finite sets and lists, unknown variances, early ends, durations."""

from __future__ import annotations

from collections.abc import Iterator

from topalpha.algorithms import PRINCIPAL
from topalpha.families import Bernoulli
from topalpha.research.audit.cell import NO_LEVELS, AuditCase, AuditCell, designed, with_thresholds
from topalpha.research.audit.trials import Durations, Early, Listed, TestSet, Trial
from topalpha.research.audit.worlds import Jackpots
from topalpha.rules.registration import Entry

_TWO = ("joint-lucb", "cc-lucb")

_FIFTH = "two-point(0.4,0.604,0.2)"
_SCORES = AuditCase(
    "pass or fail on 10 items", "two-point(0.5,0.6,0.2)", 0.2, 0.05, 0.1, "pass-fail(10)", trial=TestSet()
)
_LIST = AuditCase("a list of 10", "two-point(0.3,0.606,0.1)", 0.1, 0.3, 0.02, trial=Listed(10), thin=4)
_SMALL_VARIANCE = AuditCase("small variance", _FIFTH, 0.2, 0.2, 0.1, "low-variance", trial=Trial(), thin=4)
_NORMAL = AuditCase("unknown variance", "two-point(0,1.02,0.2)", 0.2, 1.0, 0.05, "normal", trial=Trial(), thin=4)
_EARLY = AuditCase("claims before the stop", _FIFTH, 0.2, 0.02, 0.1, trial=Early((25, 75, 200)), thin=4)
_SLOW = AuditCase("failures are slow", "two-point(0.68,0.99,0.2)", 0.2, 0.3, 0.02, trial=Durations(), thin=8)

#: Searches by ask and tell, each with the algorithms of a short audit; a long audit has all that support them.
TRIAL_CASES = (
    (_SCORES, _TWO),
    (_LIST, _TWO),
    (_SMALL_VARIANCE, _TWO),
    (_NORMAL, ("cc-lucb",)),
    (_EARLY, tuple(entry.name for entry in PRINCIPAL)),
    (_SLOW, _TWO),
)
#: More cases for a longer audit.
MORE_TRIAL_CASES = (
    AuditCase("pass or fail on 50 items", "two-point(0.4,0.62,0.1)", 0.1, 0.2, 0.1, "pass-fail(50)", trial=TestSet()),
    _LIST._replace(name="a list of 100", trial=Listed(100)),
    _SMALL_VARIANCE._replace(rewards=Bernoulli()),
)


def tried(full: bool = False) -> Iterator[AuditCell]:
    """The principal algorithms on these cases.

    Examples
    --------
    >>> len({cell.case.name for cell in tried()})
    6
    """
    everyone = tuple(entry.name for entry in PRINCIPAL)
    cases = [(case, everyone if full else names) for case, names in TRIAL_CASES]
    cases += [(case, everyone) for case in MORE_TRIAL_CASES if full]
    for case, names in cases:
        for entry in PRINCIPAL:
            if entry.name in names and _takes(entry, case):
                yield AuditCell(case, designed(entry.name, case))


def _takes(entry: Entry, case: AuditCase) -> bool:
    """Whether the algorithm has bounds for the case's reward model."""
    model = case.family.partition("(")[0]
    return model == "bernoulli" or model in entry.models


def wrong_trials() -> Iterator[AuditCell]:
    """The same under conditions that a proof excludes, or with wrong bounds.

    Examples
    --------
    >>> all(cell.control for cell in wrong_trials())
    True
    """
    for name in _TWO:
        yield AuditCell(_SCORES._replace(trial=TestSet(again=True)), designed(name, _SCORES), "items drawn again")
        yield AuditCell(_LIST._replace(trial=Listed(10, again=True)), designed(name, _LIST), "candidates drawn again")
    case = _SLOW._replace(trial=Durations(finishing=True))
    yield AuditCell(case, designed("cc-lucb", case), "in finishing order")
    case = _NORMAL._replace(rewards=Jackpots(0.005), words="not normal")
    yield AuditCell(case, designed("cc-lucb", case), "jackpots")
    case = _SMALL_VARIANCE._replace(rewards=Bernoulli())
    yield AuditCell(case, with_thresholds(designed("cc-lucb", case), **NO_LEVELS), "levels far too loose")
    narrow = with_thresholds(designed("cc-lucb", _EARLY), lower_threshold=0.5)
    yield AuditCell(_EARLY, narrow, "early claims far too loose")
