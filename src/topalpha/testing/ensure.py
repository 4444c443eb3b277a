"""The assertion behind every check."""

from __future__ import annotations


def ensure(holds: bool, text: str) -> None:
    """Raise ``AssertionError`` unless ``holds``, also in optimised Python.

    Examples
    --------
    >>> ensure(1 + 1 == 3, "sums must add up")
    Traceback (most recent call last):
    AssertionError: sums must add up
    """
    if not holds:
        raise AssertionError(text)
