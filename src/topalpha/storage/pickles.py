"""The plain values in a pickle, read without loading it: nothing is imported, and nothing is called."""

from __future__ import annotations

import pickletools
from math import isfinite
from typing import Any, NamedTuple

from topalpha.storage.tables import LONGEST_PICKLE

#: Instructions that hold a value.
_VALUES = frozenset({"BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINFLOAT"})
_VALUES |= {"BININT", "BININT1", "BININT2", "LONG1", "LONG4"}
_BYTES = frozenset({"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"})
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_SET": list}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_WITHOUT_EFFECT = frozenset({"PROTO", "FRAME"})
#: How NumPy pickles a number: its functions, and its names of types.
_SCALAR, _TYPE = {("numpy._core.multiarray", "scalar"), ("numpy.core.multiarray", "scalar")}, ("numpy", "dtype")
_TYPES = frozenset({"f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"})


class _Name(NamedTuple):
    """A class or a function, which is not looked up."""

    module: str
    name: str


class _Type(NamedTuple):
    """A type of NumPy's numbers."""

    code: str


class _Object:
    """An object as its pickle describes it; without ``name`` it is something that only its class can make."""

    def __init__(self, name: str | None = None, given: Any = ()) -> None:
        self.name = name
        self.given = given
        self.fields: dict[Any, Any] = {}


def values_in(data: bytes) -> Any:
    """What a pickle describes: plain values, and of an object a mapping of its fields, or text.

    Raises ``ValueError`` if that cannot be known without loading it.

    Examples
    --------
    >>> import pickle
    >>> from fractions import Fraction
    >>> values_in(pickle.dumps((64, {"rate": 0.5}), protocol=5))
    [64, {'rate': 0.5}]
    >>> values_in(pickle.dumps(Fraction(1, 2), protocol=5))
    Traceback (most recent call last):
    ValueError: pickle must hold plain values, got one that only its class can make
    """
    try:
        found = _described(data if len(data) <= LONGEST_PICKLE else b"")
        if isinstance(found, _Object) and found.name is not None and found.fields and not found.given:
            return _plain(found.fields)
        if not isinstance(found, _Object) or found.name is not None:
            return _plain(found)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass  # an odd pickle, or one of another kind than ours
    raise ValueError("pickle must hold plain values, got one that only its class can make")


def _described(data: bytes) -> Any:
    stack: list[Any] = []
    below: list[list[Any]] = []
    memo: dict[int, Any] = {}
    argument: Any
    for instruction, argument, _ in pickletools.genops(data):
        kind = instruction.name
        if kind == "STOP":
            return stack.pop()
        if kind in _VALUES or kind in _BYTES:
            stack.append(argument)
        elif kind in _CONSTANTS:
            stack.append(_CONSTANTS[kind])
        elif kind in _EMPTY:
            stack.append(_EMPTY[kind]())
        elif kind in _TUPLES:
            stack[-_TUPLES[kind] :] = [tuple(stack[-_TUPLES[kind] :])]
        elif kind == "MARK":
            below.append(stack)
            stack = []
        elif kind in ("TUPLE", "FROZENSET", "APPENDS", "ADDITEMS", "SETITEMS"):
            items, stack = stack, below.pop()
            _put(stack, kind, items)
        elif kind in ("APPEND", "SETITEM"):
            count = 1 if kind == "APPEND" else 2
            items = stack[-count:]
            del stack[-count:]
            _put(stack, f"{kind}S", items)
        elif kind == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif kind in ("BINGET", "LONG_BINGET"):
            stack.append(_shared(memo[argument]))
        elif kind in ("STACK_GLOBAL", "NEWOBJ", "REDUCE", "BUILD"):
            last, first = stack.pop(), stack.pop()
            stack.append(_made(kind, first, last))
        elif kind not in _WITHOUT_EFFECT:
            raise ValueError(kind)
    raise ValueError("no end")


def _put(stack: list[Any], kind: str, items: list[Any]) -> None:
    """Put items into a new sequence, or into the last thing on the stack."""
    if kind in ("TUPLE", "FROZENSET"):
        stack.append(tuple(items))
    elif isinstance(stack[-1], dict) and kind == "SETITEMS":
        stack[-1].update(zip(items[::2], items[1::2], strict=True))
    elif isinstance(stack[-1], list) and kind != "SETITEMS":
        stack[-1].extend(items)
    else:  # a class of its own, which is a sequence or a mapping
        stack[-1] = _Object()


def _shared(found: Any) -> Any:
    """A thing that is used again; collections are not, for a short pickle can describe an endless one."""
    return found if found is None or isinstance(found, str | int | float | _Name | _Type) else _Object()


def _made(kind: str, first: Any, last: Any) -> Any:
    """What an instruction makes of the last two things on the stack."""
    if kind == "STACK_GLOBAL":
        return _Name(str(first), str(last))
    if kind == "NEWOBJ":
        return _Object(first.name, last)
    if kind == "BUILD":
        if isinstance(first, _Object) and isinstance(last, dict):
            first.fields = {name: value for name, value in last.items() if not str(name).startswith("_")}
        elif isinstance(first, _Object) and isinstance(last, list):
            first.given = (*first.given, *last)  # a dataclass with slots
        elif not isinstance(first, _Type):
            return _Object()
        return first
    if first == _TYPE:
        return _Type(str(last[0]))
    return _number(*last) if first in _SCALAR else _Object()


def _number(of: _Type, data: bytes) -> Any:
    """A number of NumPy's, from its bytes."""
    import numpy as np

    if of.code not in _TYPES:
        raise ValueError(of.code)
    return np.frombuffer(data, f"<{of.code}")[0].item()


def _plain(value: Any) -> Any:
    """Plain values; objects among them become text."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple) and not isinstance(value, _Name | _Type):
        return [_plain(one) for one in value]
    if isinstance(value, _Name):
        return value.name
    if isinstance(value, _Object):
        fields = [*map(_text, value.given), *(f"{name}={_text(one)}" for name, one in value.fields.items())]
        return "…" if value.name is None else f"{value.name}({', '.join(fields)})"
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError("bytes")


def _text(value: Any) -> str:
    from topalpha.storage.parameters import readable

    return readable(_plain(value))
