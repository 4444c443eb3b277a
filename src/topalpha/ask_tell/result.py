"""What a search found: frozen, and ready for JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topalpha.ask_tell.trail import Trail
    from topalpha.certificate import Certificate


@dataclass(frozen=True)
class Result:
    """What one search has to say.

    Attributes
    ----------
    arm
        The recommended arm, by its index in the order of drawing.
    stopped
        Whether the stopping rule ended the search; only then is anything proved.
    pulls
        Rewards observed in all.
    arms
        Arms drawn.
    mean
        The recommended arm's empirical mean.
    alpha, epsilon, delta
        The target.
    algorithm
        The algorithm's name.
    covered
        Whether the algorithm's proof covers its design; otherwise nothing is proved.
    candidate
        What was drawn for that arm, where the search drew it.
    certificate
        What is proved, in full, where the search made one.
    selection, selected
        All arms that are returned and their candidates, where the algorithm looks for several.
    refutation
        What is proved in place of the claim, where what the algorithm was told about the reservoir turned out wrong.
    trail
        How the search went, from which figures are drawn; no part of what the result says or is compared by.

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
        """For JSON; the candidate is in the certificate. A selection of one arm is not repeated."""
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
        """What was proved, in one sentence."""
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
