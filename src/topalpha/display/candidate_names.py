"""How a sentence names a candidate: on one line, and short. The full quotation stays in the certificate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from topalpha.storage.encoding import PICKLED, from_json
from topalpha.storage.plain_text import plain

# The most characters of a text within a mapping or list.
_PART = 30
#: Text that needs no quotation marks within a mapping or list.
_WORD = re.compile(r"[\w.+-]{1,30}")
#: How ``repr`` begins and ends for most objects: they are not quoted, and their numbers are shortened.
_OBJECT = {r"[A-Za-z_][\w.]*\(": ")", r"<(function|class|[\w.]+ object)\b": ">"}
_ARRAY = re.compile(r"array\((\[.*[\]…])")
_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d*(?:e[+-]?\d+)?")
#: More characters are not looked at.
_SEEN = 4000
#: Larger whole numbers are rounded.
_EXACT = 10**15


def called(candidate: Any, arm: int) -> str:
    r"""The subject of a sentence about a candidate, by its quotation; "arm 14" if there is none.

    Parameters
    ----------
    candidate
        The candidate as a certificate quotes it: see :func:`topalpha.storage.encoding.quotation`.
    arm
        Its number.

    Examples
    --------
    >>> called({"rate": 0.93124, "kind": "rbf"}, 14), called([64, 64], 14), called(None, 14)
    ('{rate: 0.9312, kind: rbf}', 'candidate [64, 64]', 'arm 14')
    >>> print(called("Answer briefly.\nThink first.", 14))
    “Answer briefly. Think first.”
    """
    if _is_unknown(candidate):
        return f"arm {arm}"
    name = short_name(candidate)
    # A number or a list alone would be hard to read as the subject of a sentence about numbers.
    return (
        name if isinstance(candidate, dict) or (isinstance(candidate, str) and name[0] != "[") else f"candidate {name}"
    )


def titled(candidate: Any, arm: int, index: int | None = None, most: int = 60) -> str:
    """The name of a candidate that stands alone, by its quotation, with its position in a list.

    Examples
    --------
    >>> titled([64, 64], 14), titled("Think first.", 14, index=3), titled(None, 14)
    ('[64, 64]', '“Think first.” (index 3 in the list)', 'arm 14')
    """
    name = f"arm {arm}" if _is_unknown(candidate) else short_name(candidate, most)
    return name if index is None else f"{name} (index {index} in the list)"


def titled_text(text: str | None, arm: int, index: int | None = None) -> str:
    """The same for a stored candidate as text: see :func:`topalpha.storage.candidates`.

    Examples
    --------
    >>> titled_text('{"rate":0.93124}', 14), titled_text("(pickled)", 14)
    ('{rate: 0.9312}', 'arm 14')
    """
    try:
        return titled(None if text is None else from_json(text), arm, index)
    except ValueError:  # a pickle, or a file that was altered
        return titled(None, arm, index)


def _is_unknown(candidate: Any) -> bool:
    return candidate is None or candidate == PICKLED


def short_name(candidate: Any, most: int = 60) -> str:
    """The quotation of a candidate on one line of about this many characters; its numbers have four digits.

    Examples
    --------
    >>> short_name({f"weight{place}": place / 3 for place in range(99)})
    '{weight0: 0, weight1: 0.3333, weight2: 0.6667, weight3: 1, …}'
    >>> short_name("word " * 99)
    '“word word word word word word word word word word word word…”'
    >>> short_name("array([0.63696169, 0.26978671])"), short_name("SVC(C=12.345678, kernel='linear')")
    ('[0.637, 0.2698]', "SVC(C=12.35, kernel='linear')")
    """
    return _text(candidate, most) if isinstance(candidate, str) else _value(candidate, most)


def _value(value: Any, room: int) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < _EXACT else f"{Decimal(value):.4g}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return "{" + _listed(((f"{_part(key)}: ", one) for key, one in value.items()), room - 2) + "}"
    if isinstance(value, list):
        return "[" + _listed((("", one) for one in value), room - 2) + "]"
    return _part(value)


def _listed(entries: Iterable[tuple[str, Any]], room: int) -> str:
    """As many entries as there is room for, and at least one; of those nested too deeply, none."""
    found: list[str] = []
    for key, one in entries:
        text = key + _value(one, room - len(key)) if room > 0 else ""
        if room <= 0 or (found and len(text) > room):
            return ", ".join([*found, "…"])
        found.append(text)
        room -= len(text) + 2
    return ", ".join(found)


def _part(value: Any) -> str:
    text = str(value)
    return text if _WORD.fullmatch(text) else _text(text, _PART)


def _text(text: str, most: int) -> str:
    line = plain(text[:_SEEN]) + "…" * (len(text) > _SEEN)
    if not any(re.match(begin, line) and text.endswith(end) for begin, end in _OBJECT.items()):
        return f"“{_clipped(line, most)}”"
    line = _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.4g}", line).replace(" ,", ",").replace(" ]", "]")
    array = _ARRAY.match(line)
    return _clipped(array[1] if array else line, most)


def _clipped(line: str, most: int) -> str:
    """Cut between words, or within a word that is too long."""
    if len(line) <= most:
        return line
    words = line[: most + 1].rpartition(" ")[0]
    return f"{(words if len(words) > most // 2 else line[:most]).rstrip(' ,;:')}…"
