"""What every check here rests on."""

from __future__ import annotations


def ensure(holds: bool, text: str) -> None:
    """An assertion that stays when Python runs optimised.

    Examples
    --------
    >>> ensure(1 + 1 == 3, "sums must add up")
    Traceback (most recent call last):
    AssertionError: sums must add up
    """
    if not holds:
        raise AssertionError(text)
