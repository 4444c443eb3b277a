"""A number that knows whether its theorem applies."""

from __future__ import annotations

from typing import NamedTuple


class Bound(NamedTuple):
    """The value of a bound, or the reason why there is none.

    Parameters
    ----------
    value
        The number; None if the theorem does not apply and the bare arithmetic was not requested.
    reason
        The hypothesis that fails; empty if all hold.
    hypotheses
        The hypotheses of the statement, including conditions that no calculator can check.

    Examples
    --------
    >>> Bound(3.0).void, Bound(None, "the reservoir has atoms").void
    (False, True)
    """

    value: float | None
    reason: str = ""
    hypotheses: tuple[str, ...] = ()

    @property
    def void(self) -> bool:
        """Whether nothing is claimed: a number with a reason is arithmetic, not a bound."""
        return self.reason != ""


def conclude(value: float, reasons: list[str], hypotheses: tuple[str, ...], arithmetic: bool) -> Bound:
    """The value if there are no reasons against it, else void; ``arithmetic`` keeps the number beside the reasons.

    >>> conclude(2.0, ["alpha is above 1/3"], (), arithmetic=False)
    Bound(value=None, reason='alpha is above 1/3', hypotheses=())
    """
    reason = "; ".join(reasons)
    return Bound(None if reason and not arithmetic else value, reason, hypotheses)
