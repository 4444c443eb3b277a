"""A token for one use: what a browser is started with can be seen by everyone who lists the machine's processes."""

from __future__ import annotations

import secrets
import time

#: Seconds in which a browser has to come.
VALID = 60.0


class Ticket:
    """Good for one visit, within a minute; a new one makes the one before void.

    Examples
    --------
    >>> ticket = Ticket()
    >>> issued = ticket.issue()
    >>> ticket.redeem("another"), ticket.redeem(issued), ticket.redeem(issued)
    (False, True, False)
    """

    def __init__(self) -> None:
        self._text: str | None = None
        self._end = 0.0

    def issue(self) -> str:
        """A new ticket."""
        self._text, self._end = secrets.token_urlsafe(32), time.monotonic() + VALID
        return self._text

    def redeem(self, given: str) -> bool:
        """Whether this is the ticket and still good, which it is not any more after that."""
        valid = self._text is not None and time.monotonic() < self._end
        if not valid or not secrets.compare_digest(given.encode(errors="replace"), str(self._text).encode()):
            return False
        self._text = None
        return True
