"""A case, a cell, and the algorithm of a cell, correct or made wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

from topalpha.algorithms import design, prior_knowledge
from topalpha.families import parse_family
from topalpha.research.audit.trials import Listed, Trial
from topalpha.reservoirs import parse
from topalpha.rules.protocol import Algorithm


class AuditCase(NamedTuple):
    """A reservoir, rewards and a target.

    Attributes
    ----------
    name, reservoir, alpha, epsilon, delta, family
        The name, the reservoir, the target and the rewards.
    rewards
        The law of rewards, by default the family; ``words`` describe it if rewards are not in [0, 1].
    trial
        How searches are run and judged; by default with ``simulate``.
    thin
        Only every ``thin``-th run of a slow trial is made.

    Examples
    --------
    >>> AuditCase("all tied", "dirac(0.5)", 0.1, 0.2, 0.1).described
    'bernoulli'
    """

    name: str
    reservoir: str
    alpha: float
    epsilon: float
    delta: float
    family: str = "bernoulli"
    rewards: Any = None
    words: str = "in [0, 1]"
    trial: Trial | None = None
    thin: int = 1

    @property
    def described(self) -> str:
        """A short description of the rewards."""
        return self.family if self.rewards is None else self.words


class AuditCell(NamedTuple):
    """An algorithm on a case, judged at the case's delta. A control is known to be wrong and must be detected."""

    case: AuditCase
    algorithm: Algorithm
    control: str = ""


def designed(name: str, case: AuditCase, delta: float | None = None, **options: Any) -> Algorithm:
    """The algorithm for the case's target, or for another delta if given.

    Examples
    --------
    >>> designed("cc-lucb", AuditCase("all tied", "dirac(0.5)", 0.1, 0.2, 0.1)).arms
    44
    """
    wanted = case.delta if delta is None else delta
    options |= prior_knowledge(name, parse(case.reservoir), case.alpha, case.epsilon)
    if isinstance(case.trial, Listed):
        options["pool"] = case.trial.size
    return design(name, case.alpha, case.epsilon, wanted, parse_family(case.family), **options)


#: Thresholds of bounds that hardly allow for chance.
NO_LEVELS = {"upper_threshold": 0.05, "lower_threshold": 0.05}


def with_thresholds(algorithm: Any, **thresholds: float) -> Algorithm:
    """The algorithm with other thresholds of its bounds: a wrong one."""
    return changed(algorithm, confidence=algorithm.confidence._replace(**thresholds))


def changed(algorithm: Any, **fields: Any) -> Algorithm:
    """The algorithm with other parameters, which no design would give."""
    made: Algorithm = algorithm._replace(**fields)
    return made
