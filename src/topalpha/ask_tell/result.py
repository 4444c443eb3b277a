"""The result of a search: frozen, and ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from topalpha.display.candidate_names import called, titled
from topalpha.display.printing import Printed
from topalpha.storage.encoding import quotation

if TYPE_CHECKING:
    from topalpha.ask_tell.trail import Trail
    from topalpha.certificate import Certificate


@dataclass(frozen=True)
class Result(Printed):
    """The result of one search; ``print`` and notebooks show the candidate, the proof, its score and the cost.

    Attributes
    ----------
    arm
        The recommended arm, by its index in the order of drawing.
    stopped
        Whether the stopping rule ended the search; only then is the target proved.
    pulls
        The number of observed rewards.
    arms
        The number of drawn arms.
    mean
        The recommended arm's empirical mean.
    alpha, epsilon, delta
        The target.
    algorithm
        The algorithm's name.
    covered
        Whether the algorithm's proof covers its design; otherwise nothing is proved.
    candidate
        The candidate of that arm, if the search drew it.
    certificate
        The full certificate, if the search made one.
    selection, selected
        All returned arms and their candidates, if the algorithm looks for several.
    refutation
        The proved statement in place of the claim, if the algorithm's knowledge of the reservoir turned out wrong.
    index
        The candidate's position in the list of candidates; None if there is no list.
    trail
        The log of the search, for figures; not part of the result's comparison.

    Examples
    --------
    >>> print(Result(3, True, 1200, 60, 0.91, 0.05, 0.05, 0.05, "joint-lucb").statement)
    With probability at least 0.95, arm 3 is within 0.05 of the top 5% of the pool.
    """

    arm: int
    stopped: bool
    pulls: int
    arms: int
    mean: float
    alpha: float
    epsilon: float
    delta: float
    algorithm: str
    covered: bool = True
    candidate: Any = None
    certificate: Certificate | None = None
    selection: tuple[int, ...] = ()
    selected: tuple[Any, ...] = ()
    refutation: str = ""
    index: int | None = None
    trail: Trail | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON; the candidate is in the certificate. A selection of one arm is not repeated."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        del values["candidate"], values["certificate"], values["selected"], values["trail"]
        values["selection"] = list(self.selection)
        if len(self.selection) < 2:
            del values["selection"]
        if not self.refutation:
            del values["refutation"]
        if self.index is None:
            del values["index"]
        if self.certificate is not None:
            values["certificate"] = self.certificate.to_dict()
        return {**values, "statement": self.statement}

    @property
    def statement(self) -> str:
        """The proved statement, in one sentence."""
        if self.certificate is not None:
            return self.certificate.statement
        if not self.stopped:
            return f"Nothing is proved yet: the search has not stopped after {self.pulls} pulls."
        if not self.covered:
            return f"Nothing is proved: no proof covers this design of {self.algorithm}."
        if self.refutation:
            return f"With probability at least {1.0 - self.delta:.10g}, {self.refutation}."
        subject = f"{called(quotation(self.candidate), self.arm)} is"
        if len(self.selection) > 1:
            subject = f"{several(self.selection)} is"
        return (
            f"With probability at least {1.0 - self.delta:.10g}, {subject} within "
            f"{self.epsilon:g} of the top {100.0 * self.alpha:g}% of the pool."
        )

    def _facts(self) -> list[tuple[str, str]]:
        proof, figures = self.certificate, [("spent", spent(self.pulls, self.arms))]
        if len(self.selection) > 1:
            candidates = self.selected or (None,) * len(self.selection)
            names = [titled(quotation(one), arm) for one, arm in zip(candidates, self.selection, strict=True)]
        else:
            names = [titled(quotation(self.candidate), self.arm, self.index)]
            figures.insert(0, ("score", score(self.mean) if proof is None else proof.mean_in_words))
        chosen = zip(("chosen", *[""] * len(names)), names, strict=False)
        return [*chosen, ("proved", self.statement), *figures]


def several(arms: Sequence[int]) -> str:
    """The subject of a sentence about each of several chosen arms.

    Examples
    --------
    >>> several([24, 36, 23])
    'each of the 3 chosen candidates (arms 24, 36 and 23)'
    """
    return f"each of the {len(arms):,} chosen candidates (arms {', '.join(map(str, arms[:-1]))} and {arms[-1]})"


def score(mean: float, at_worst: float | None = None, minimise: bool = False) -> str:
    """An average, and the proved bound on the true mean if there is one.

    Examples
    --------
    >>> score(0.93127, 0.81416)
    '0.9313 on average; its true mean is at least 0.8142'
    """
    if at_worst is None:
        return f"{mean:.4g} on average"
    return f"{mean:.4g} on average; its true mean is {'at most' if minimise else 'at least'} {at_worst:.4g}"


def spent(pulls: int, arms: int) -> str:
    """The cost in words.

    Examples
    --------
    >>> spent(1204, 44), spent(1, 1)
    ('1,204 evaluations of 44 candidates', '1 evaluation of 1 candidate')
    """
    return f"{pulls:,} evaluation{'s' * (pulls != 1)} of {arms:,} candidate{'s' * (arms != 1)}"
