"""One grammar of input errors: ``<name> must <condition>, got <value>``.

Results are plain: float, int, bool, str. Numbers of NumPy and of similar libraries (arrays without dimensions) count
as numbers. Text does not, even if it reads like a number, nor does a ``Decimal``.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from numbers import Real
from typing import Any, TypeVar, cast

Plain = TypeVar("Plain")
Function = TypeVar("Function", bound=Callable[..., Any])

#: The largest count: the limit of SQLite's and NumPy's integers.
LARGEST = 2**63 - 1

#: The largest seed: more than the 128 bits of ``secrets.randbits(128)``.
LARGEST_SEED = 2**256 - 1

#: The most runs of a study: their results are kept in memory.
MOST_RUNS = 10**7

#: The most candidates in a list.
LONGEST_LIST = 10**7

#: The most items of a test set: its bounds use a table of ln k! for every k up to that, which is built now and then.
MOST_ITEMS = 10**6

#: The most threads or processes, and the most pulls in flight.
MOST_WORKERS, MOST_WIDTH = 10**4, 10**6

# The most characters of a value that an error quotes.
_QUOTED = 1000


def require(holds: bool, name: str, condition: str, value: object) -> None:
    """Raise ``ValueError`` in one sentence with the condition and the value, unless ``holds``.

    Examples
    --------
    >>> require(True, "alpha", "lie in (0, 1)", 0.5)
    >>> require(False, "alpha", "lie in (0, 1)", 2.0)
    Traceback (most recent call last):
    ValueError: alpha must lie in (0, 1), got 2.0
    """
    if not holds:
        raise ValueError(f"{name} must {condition}, got {quoted(value)}")


def installing(extra: str) -> str:
    """How to install an optional part of the package, for messages where it is missing.

    Examples
    --------
    >>> installing("plot")
    "pip install '.[plot]' in a clone of topalpha"
    """
    return f"pip install '.[{extra}]' in a clone of topalpha"


def quoted(value: object) -> str:
    """The ``repr`` of a value for an error message, at most a screenful.

    Examples
    --------
    >>> quoted(0.5), quoted(10**5000)
    ('0.5', 'a value of type int that cannot be shown')
    >>> len(quoted("a" * 5000))
    1001
    """
    try:
        text = repr(value)
    except Exception:  # a class may raise anything, and a huge integer has no text
        return f"a value of type {type(value).__name__} that cannot be shown"
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"


def share(value: float) -> str:
    """A probability as a percentage with three significant digits.

    Examples
    --------
    >>> share(0.05), share(0.0123), share(1e-6)
    ('5%', '1.23%', '0.0001%')
    """
    return f"{float(f'{100.0 * value:.3g}'):.10g}%"


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


def whole(name: str, value: int, least: int = 1, most: int = LARGEST) -> int:
    """Return ``value`` as an int if it is a whole number from ``least`` to ``most``.

    Examples
    --------
    >>> whole("runs", 200)
    200
    >>> whole("runs", 10**20)
    Traceback (most recent call last):
    ValueError: runs must be at most 9223372036854775807, got 100000000000000000000
    """
    require(int_like(value), name, f"be a whole number of at least {least}", value)
    number = operator.index(value)
    require(number >= least, name, f"be a whole number of at least {least}", value)
    require(number <= most, name, f"be at most {most}", value)
    return number


def optional(check: Callable[..., Plain], name: str, value: Any, **limits: int) -> Plain | None:
    """The result of the check; None stays None.

    Examples
    --------
    >>> optional(whole, "pulls", None), optional(whole, "pulls", 0, least=0)
    (None, 0)
    """
    return None if value is None else check(name, value, **limits)


def seed_number(name: str, value: int) -> int:
    """Return ``value`` as an int if it can seed a generator.

    Examples
    --------
    >>> seed_number("seed", 3)
    3
    """
    return whole(name, value, 0, LARGEST_SEED)


def int_like(value: object) -> bool:
    """Whether ``value`` is an integer of any kind, NumPy's included, but not a truth value.

    Examples
    --------
    >>> int_like(3), int_like(3.5), int_like(True)
    (True, False, False)
    """
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return not is_flag(value) and _is_number(value)


def is_flag(value: object) -> bool:
    """Whether ``value`` is True or False, of Python or NumPy.

    Examples
    --------
    >>> is_flag(False), is_flag(0), is_flag("no")
    (True, False, False)
    """
    return isinstance(value, bool) or (_kind(value) == "b" and _is_number(value))


def flag(name: str, value: bool) -> bool:
    """Return ``value`` as a bool if it is True or False, not just truthy.

    Examples
    --------
    >>> flag("minimise", True)
    True
    >>> flag("minimise", "yes")
    Traceback (most recent call last):
    ValueError: minimise must be True or False, got 'yes'
    """
    require(is_flag(value), name, "be True or False", value)
    return bool(value)


def real(name: str, value: float) -> float:
    """Return ``value`` as a float if it is a real number and not NaN.

    Examples
    --------
    >>> real("reward", 1)
    1.0
    >>> real("reward", "1")
    Traceback (most recent call last):
    ValueError: reward must be a real number, got '1'
    """
    if type(value) is not float:  # a shortcut: most rewards are floats, and there are many
        require(_is_number(value), name, "be a real number", value)
    try:
        number = float(value)
    except (TypeError, ValueError):  # for example a complex tensor
        number = math.nan
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold, got {quoted(value)}") from None
    require(not math.isnan(number), name, "be a real number", value)
    return number


def number_in(name: str, text: str) -> float:
    """The real number in a text, as on a command line or in a table.

    Examples
    --------
    >>> number_in("alpha", "0.05")
    0.05
    >>> number_in("alpha", "a half")
    Traceback (most recent call last):
    ValueError: alpha must be a real number, got 'a half'
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    require(not math.isnan(number), name, "be a real number", text)
    return number


def plain(value: Any) -> Any:
    """The value with Python's numbers in place of NumPy's, also within lists, tuples and mappings.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"budget": np.int64(3), "levels": (np.float64(0.5), "auto")})
    {'budget': 3, 'levels': (0.5, 'auto')}
    """
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if isinstance(value, str):
        return str(value)
    return value.item() if hasattr(value, "dtype") and _is_number(value) else value


def _is_number(value: Any) -> bool:
    """Whether it is a real number, or an array without dimensions that holds one."""
    if not isinstance(value, Real) and not hasattr(value, "dtype"):
        return False
    return getattr(value, "shape", ()) == () and _kind(value) in (None, "b", "i", "u", "f")


def _kind(value: Any) -> str | None:
    """NumPy's kind of its numbers, if it has a ``dtype``."""
    return getattr(getattr(value, "dtype", None), "kind", None)


def has_length(value: Any) -> bool:
    """Whether ``value`` has a length; an array without dimensions has none.

    Examples
    --------
    >>> has_length([]), has_length(3)
    (True, False)
    """
    try:
        len(value)
    except TypeError:
        return False
    return True


def words(name: str, value: str) -> str:
    """Return ``value`` if it is text.

    Examples
    --------
    >>> words("about", "prompts")
    'prompts'
    >>> words("about", b"prompts")
    Traceback (most recent call last):
    ValueError: about must be text, got b'prompts'
    """
    require(isinstance(value, str), name, "be text", value)
    return str(value)


def file_name(name: str, value: str | os.PathLike[str]) -> str:
    """Return ``value`` as text if it can name a file: text, or a ``pathlib`` path.

    Examples
    --------
    >>> file_name("storage", "searches.db")
    'searches.db'
    >>> file_name("storage", 3)
    Traceback (most recent call last):
    ValueError: storage must be the name of a file, got 3
    """
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    require(isinstance(text, str) and text != "" and "\0" not in text, name, "be the name of a file", value)
    return text


#: Names that are like another, which means the opposite.
_NEEDLESS = dict.fromkeys(("maximise", "maximize"), "large values are good unless something else is said")


def expected(given: Iterable[str], known: Iterable[str], hints: Mapping[str, str] | None = None) -> None:
    """Raise ``TypeError``, as a call with a wrong argument does, for the first name that is not known.

    ``hints`` say by name what to write instead; for other names a similar one is suggested.

    Examples
    --------
    >>> expected(["minimize"], ["epsilon", "minimise"])
    Traceback (most recent call last):
    TypeError: got an unexpected keyword argument 'minimize'; did you mean minimise?
    """
    names = list(known)
    for name in given:
        if name not in names:
            from difflib import get_close_matches  # not before there is an error

            similar = "".join(f"did you mean {one}?" for one in get_close_matches(name, names, 1, cutoff=0.7))
            hint = {**_NEEDLESS, **(hints or {})}.get(name, similar)
            raise TypeError(f"got an unexpected keyword argument {name!r}" + (f"; {hint}" if hint else ""))


def suggesting(function: Function, hints: Mapping[str, str] | None = None) -> Function:
    """The function, which names a similar argument when it is called with an unknown one.

    Examples
    --------
    >>> suggesting(lambda minimise: None)(minimize=True)
    Traceback (most recent call last):
    TypeError: got an unexpected keyword argument 'minimize'; did you mean minimise?
    """
    known = signature(function).parameters

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        expected(named, known, hints)
        return function(*arguments, **named)

    return cast(Function, call)


def choice(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``allowed``.

    Examples
    --------
    >>> choice("clock", "t", ("t", "N"))
    't'
    """
    names = tuple(allowed)
    require(isinstance(value, str) and value in names, name, f"be one of {', '.join(names)}", value)
    return str(value)
