"""The result of a search: frozen, and ready for JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topalpha.ask_tell.trail import Trail
    from topalpha.certificate import Certificate


@dataclass(frozen=True)
class Result:
    """The result of one search.

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
    trail
        The log of the search, for figures; not part of the result's comparison.

    Examples
    --------
    >>> print(Result(3, True, 1200, 60, 0.91, 0.05, 0.05, 0.05, "joint-lucb").statement)
    With probability at least 0.95, the mean of arm 3 is within 0.05 of the top 5% of the reservoir.
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
        subject = f"the mean of arm {self.arm} is"
        if len(self.selection) > 1:
            subject = f"the means of arms {', '.join(map(str, self.selection))} are each"
        return (
            f"With probability at least {1.0 - self.delta:.10g}, {subject} within "
            f"{self.epsilon:g} of the top {100.0 * self.alpha:g}% of the reservoir."
        )
