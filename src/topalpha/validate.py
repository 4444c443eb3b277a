"""One grammar of input errors: ``<name> must <condition>, got <value>``."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable


def require(holds: bool, name: str, condition: str, value: object) -> None:
    """Raise ``ValueError`` with the one sentence that says what was wrong and what is allowed.

    Examples
    --------
    >>> require(True, "alpha", "lie in (0, 1)", 0.5)
    >>> require(False, "alpha", "lie in (0, 1)", 2.0)
    Traceback (most recent call last):
    ValueError: alpha must lie in (0, 1), got 2.0
    """
    if not holds:
        raise ValueError(f"{name} must {condition}, got {value!r}")


def fraction(name: str, value: float) -> float:
    """Return ``value`` as a float if it lies strictly between 0 and 1.

    Examples
    --------
    >>> fraction("delta", 0.05)
    0.05
    """
    number = real(name, value)
    require(0.0 < number < 1.0, name, "lie strictly between 0 and 1", value)
    return number


def positive(name: str, value: float) -> float:
    """Return ``value`` as a float if it is positive and finite.

    Examples
    --------
    >>> positive("epsilon", 1)
    1.0
    """
    number = real(name, value)
    require(0.0 < number < math.inf, name, "be positive and finite", value)
    return number


def not_negative(name: str, value: float) -> float:
    """Return ``value`` as a float if it is at least 0; it may be infinite.

    Examples
    --------
    >>> not_negative("patience", 60)
    60.0
    """
    number = real(name, value)
    require(number >= 0.0, name, "be at least 0", value)
    return number


def whole(name: str, value: int, least: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``least``.

    Examples
    --------
    >>> whole("runs", 200)
    200
    """
    require(not isinstance(value, bool) and int_like(value), name, f"be a whole number of at least {least}", value)
    require(int(value) >= least, name, f"be a whole number of at least {least}", value)
    return int(value)


def int_like(value: object) -> bool:
    """Whether ``value`` is an integer of any kind (NumPy's included).

    Examples
    --------
    >>> int_like(3), int_like(3.5)
    (True, False)
    """
    return hasattr(value, "__index__")


def real(name: str, value: float) -> float:
    """Return ``value`` as a float if it is a real number and not NaN.

    Examples
    --------
    >>> real("reward", 1)
    1.0
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a real number, got {value!r}") from None
    require(not math.isnan(number), name, "be a real number", value)
    return number


def file_name(name: str, value: str | os.PathLike[str]) -> str:
    """Return ``value`` as text if it can name a file: text, or a path as of pathlib.

    Examples
    --------
    >>> file_name("storage", "searches.db")
    'searches.db'
    >>> file_name("storage", 3)
    Traceback (most recent call last):
    ValueError: storage must be the name of a file, got 3
    """
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    require(isinstance(text, str), name, "be the name of a file", value)
    return text


def choice(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``allowed``.

    Examples
    --------
    >>> choice("clock", "t", ("t", "N"))
    't'
    """
    names = tuple(allowed)
    require(value in names, name, f"be one of {', '.join(names)}", value)
    return value
