"""Candidates and settings as exact JSON text, or as pickles that are loaded only on request; and their quotations."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections.abc import Mapping
from typing import Any

from topalpha.validate import require

#: Shown in place of a pickled candidate.
PICKLED = "(pickled)"
#: How many levels of lists and mappings of a candidate are quoted; deeper ones become text.
DEEPEST = 100


def to_json(name: str, value: Any, otherwise: str = "") -> str:
    """``value`` as JSON; raise unless parsing gives back an equal value of the same types.

    Examples
    --------
    >>> to_json("candidate", {"rate": 0.1, "layers": [64, 64]})
    '{"rate":0.1,"layers":[64,64]}'
    >>> to_json("candidate", (64, 64))
    Traceback (most recent call last):
    ValueError: candidate must come back from JSON as it is, got (64, 64)
    """
    condition = "come back from JSON as it is" + otherwise
    try:
        # Escaped to ASCII: a lone surrogate is a Python string that SQLite's UTF-8 cannot hold.
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
        same = _same(json.loads(text), value)
    except (TypeError, ValueError, RecursionError):
        same = False
    require(same, name, condition, value)
    return text


def from_json(text: str) -> Any:
    """The value of JSON text; raise if a mapping repeats a key or a number is not finite.

    Examples
    --------
    >>> from_json('{"rate":0.1}')
    {'rate': 0.1}
    >>> from_json('{"rate":0.1,"rate":0.9}')
    Traceback (most recent call last):
    ValueError: a mapping must name 'rate' once, got it twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("JSON must be nested less deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"a mapping must name {twice!r} once, got it twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"a number must be finite, got {text}")


def settings(name: str, value: Mapping[str, Any]) -> str:
    """A mapping as JSON; the conditions are those of :func:`to_json`.

    Examples
    --------
    >>> settings("config", {"alpha": 0.05})
    '{"alpha":0.05}'
    """
    require(isinstance(value, Mapping), name, "be a mapping", value)
    return to_json(name, dict(value))


def legible(text: str) -> str:
    r"""Text that UTF-8 can hold: lone surrogates, as in file names of unknown encoding, become escapes.

    Examples
    --------
    >>> print(legible("no file \udcff"))
    no file \udcff
    """
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")


def encode(candidate: Any, pickled: bool) -> str | bytes:
    """A candidate as stored: text is JSON, bytes are a pickle.

    Examples
    --------
    >>> encode([1, 2], pickled=False), type(encode((1, 2), pickled=True))
    ('[1,2]', <class 'bytes'>)
    """
    if not pickled:
        return to_json("candidate", candidate, " unless a search of a new name or file is created with pickle=True")
    try:
        return pickle.dumps(candidate, protocol=5)
    except Exception as error:  # a class may raise anything while it is pickled
        raise ValueError(f"candidate must be something that pickle can store, got {candidate!r} ({error})") from error


def clip(text: str, most: int = 60) -> str:
    """The text for an error message, cut after ``most`` characters.

    Examples
    --------
    >>> clip("abcdef", 3)
    'abc…'
    """
    return text if len(text) <= most else text[:most] + "…"


def shown(raw: str | bytes | None) -> str:
    r"""A stored candidate for people to read: JSON with escapes turned into characters; no pickle is loaded.

    Of a pickle that describes plain values these are shown, such as the fields of a dataclass.

    Examples
    --------
    >>> shown('{"word":"caf\\u00e9"}'), shown(pickle.dumps((64, 32), protocol=5)), shown(None)
    ('{"word":"café"}', '[64, 32]', '(pickled)')
    """
    if raw is None:
        return PICKLED
    if isinstance(raw, bytes):
        from topalpha.storage.pickles import values_in  # not before there is a pickle

        try:
            return legible(json.dumps(values_in(raw), ensure_ascii=False))
        except ValueError:
            return PICKLED
    if "\\u" not in raw:
        return raw
    try:
        return legible(json.dumps(from_json(raw), ensure_ascii=False, separators=(",", ":")))
    except (ValueError, RecursionError):  # show it unchanged
        return raw


def decode(raw: str | bytes, allow_pickle: bool) -> Any:
    """The candidate; a pickle is loaded only with ``allow_pickle``, because loading it may run any code.

    Examples
    --------
    >>> decode('[1,2]', allow_pickle=False)
    [1, 2]
    >>> decode(encode((1, 2), pickled=True), allow_pickle=False)
    Traceback (most recent call last):
    ValueError: allow_pickle must be True to load pickled candidates, which can run any code, got False
    """
    if isinstance(raw, str):
        try:
            return from_json(raw)
        except ValueError as error:
            raise ValueError(f"candidate must be JSON, got {clip(raw)!r} ({error})") from None
    require(allow_pickle is True, "allow_pickle", "be True to load pickled candidates, which can run any code", False)
    return pickle.loads(raw)


def quotation(candidate: Any) -> Any:
    """A candidate as a certificate quotes it: ready for JSON, else its ``repr`` without the address in memory.

    Examples
    --------
    >>> quotation({"rate": 0.1, "shape": (2, 3), "kind": object()})
    {'rate': 0.1, 'shape': [2, 3], 'kind': '<object object>'}
    """
    return _quotation(candidate, DEEPEST)


def _quotation(candidate: Any, levels: int) -> Any:
    from numpy import generic  # not before a candidate is quoted: it takes a moment

    if isinstance(candidate, generic):
        candidate = candidate.item()
    if candidate is None or isinstance(candidate, bool | int | str):
        return candidate
    if isinstance(candidate, float) and math.isfinite(candidate):
        return candidate
    if levels > 0:
        if isinstance(candidate, Mapping) and all(isinstance(key, str) for key in candidate):
            return {key: _quotation(value, levels - 1) for key, value in candidate.items()}
        if isinstance(candidate, list | tuple):
            return [_quotation(value, levels - 1) for value in candidate]
        if isinstance(candidate, set | frozenset):
            return sorted((_quotation(value, levels - 1) for value in candidate), key=repr)
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", repr(candidate))
    except Exception:  # a user's class may raise anything, and the result of the search must not be lost
        return f"<{type(candidate).__qualname__} object>"


def quoted(raw: str | bytes) -> Any:
    """The quotation of a stored candidate: as it was drawn, without later changes of the object.

    A pickle is loaded, and may run any code.

    Examples
    --------
    >>> quoted('{"rate":0.1}')
    {'rate': 0.1}
    """
    try:
        candidate = decode(raw, allow_pickle=True)
    except Exception:  # as above
        return PICKLED
    return quotation(candidate)


def _same(one: Any, other: Any) -> bool:
    """Whether both are equal in value and type at every level: == alone takes True for 1 and 1 for 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
