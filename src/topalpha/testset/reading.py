"""Recorded scores in a file: CSV or JSON, a row per candidate or a row per evaluation."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from topalpha.validate import require

#: One evaluation: the name of the candidate, the name of the example, and the recorded score.
Entry = tuple[str, str, Any]

#: The columns of a file with a row per evaluation.
LONG = ("candidate", "example", "score")

_PASS, _FAIL = ("true", "pass"), ("false", "fail")
_WORDS = "0, 1, true, false, pass or fail, or a number between 0 and 1"


def read_entries(path: str | os.PathLike[str]) -> list[Entry]:
    """Every evaluation in a file, by the ending of its name: .csv or .json."""
    file = Path(path)
    ending = file.suffix.lower()
    require(ending in (".csv", ".json"), "the file of scores", "end in .csv or .json", str(path))
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ValueError(f"the file of scores must be readable ({reason.lower()}), got {str(path)!r}") from None
    return from_csv(text) if ending == ".csv" else from_json(text)


def from_csv(text: str) -> list[Entry]:
    r"""Every evaluation in CSV text.

    With the columns candidate, example and score (others are ignored) a row is one evaluation. Otherwise a row is a
    candidate, named in its first cell, and the header names the examples.

    Examples
    --------
    >>> from_csv("name,q1,q2\nshort,1,0\n")
    [('short', 'q1', '1'), ('short', 'q2', '0')]
    >>> from_csv("example,candidate,score\nq1,short,true\n")
    [('short', 'q1', 'true')]
    """
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise ValueError(f"scores must be a table of comma-separated values, got {error}") from None
    require(len(rows) > 1, "scores", "have a header and a row per candidate", len(rows))
    header = [cell.strip() for cell in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        require(len(row) == len(header), f"row {number} of the scores", f"have {len(header)} cells", len(row))
    if set(LONG) <= set(header):
        places = [header.index(name) for name in LONG]
        return [(row[places[0]].strip(), row[places[1]].strip(), row[places[2]]) for row in rows[1:]]
    require(len(header) > 1, "the header of the scores", "name at least one example", header)
    _once("example", header[1:])
    _once("candidate", (row[0].strip() for row in rows[1:]))
    return [(row[0].strip(), name, cell) for row in rows[1:] for name, cell in zip(header[1:], row[1:], strict=True)]


def from_json(text: str) -> list[Entry]:
    """Every evaluation in JSON text.

    A list of objects with candidate, example and score; or an object that maps each candidate to an object of scores
    by example, or to a list of scores, whose examples are then called 1, 2, ...

    Examples
    --------
    >>> from_json('{"short": {"q1": 1, "q2": false}}')
    [('short', 'q1', 1), ('short', 'q2', False)]
    >>> from_json('{"short": [true, 0]}')
    [('short', '1', True), ('short', '2', 0)]
    >>> from_json('[{"candidate": "short", "example": "q1", "score": 1}]')
    [('short', 'q1', 1)]
    """
    try:
        data = json.loads(text, object_pairs_hook=_pairs)
    except (ValueError, RecursionError) as error:  # not JSON, a number too long, or nested too deeply
        raise ValueError(f"scores must be JSON, got other text ({error})") from None
    if isinstance(data, list):
        return [_record(one) for one in data]
    require(isinstance(data, Mapping), "scores", "be an object or a list of objects", data)
    return [entry for name, row in data.items() for entry in _row(name, row)]


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; raise on a repeated name, because the parser would silently drop one entry."""
    _once("name", (name for name, _ in pairs))
    return dict(pairs)


def _record(one: Any) -> Entry:
    known = isinstance(one, Mapping) and set(LONG) <= set(one)
    require(known, "an evaluation", f"have the entries {', '.join(LONG)}", one)
    return str(one["candidate"]), str(one["example"]), one["score"]


def _row(name: str, row: Any) -> Iterator[Entry]:
    require(isinstance(row, Mapping | list), f"the scores of {name!r}", "be an object or a list", row)
    named = row.items() if isinstance(row, Mapping) else ((str(place), one) for place, one in enumerate(row, 1))
    for example, score in named:
        yield name, example, score


def _once(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        require(name not in seen, f"each {what}", "be unique", name)
        seen.add(name)


def score_of(entry: Entry) -> float:
    """The score of this evaluation, 1 for a pass and 0 for a fail; raise if it is neither these nor a number between.

    Examples
    --------
    >>> score_of(("short", "q1", "True")), score_of(("short", "q1", 0)), score_of(("short", "q1", " 0.25"))
    (1.0, 0.0, 0.25)
    >>> score_of(("short", "q1", ""))
    Traceback (most recent call last):
    ValueError: the score of 'short' on 'q1' must be 0, 1, true, false, pass or fail, or a number between 0 and 1, got ''
    """  # noqa: E501 - the message is one line
    candidate, example, score = entry
    value = math.nan
    if isinstance(score, str):
        text = score.strip().lower()
        value = 1.0 if text in _PASS else 0.0 if text in _FAIL else math.nan
        with suppress(ValueError):
            value = float(text)
    elif isinstance(score, int | float):
        value = float(score)
    require(0.0 <= value <= 1.0, f"the score of {candidate!r} on {example!r}", f"be {_WORDS}", score)
    return value


def passed(entry: Entry) -> bool:
    """Whether this evaluation passed; raise if its score is graded.

    Examples
    --------
    >>> passed(("short", "q1", "pass")), passed(("short", "q1", 0))
    (True, False)
    """
    score = score_of(entry)
    require(score in (0.0, 1.0), f"the score of {entry[0]!r} on {entry[1]!r}", "be a pass or a fail", entry[2])
    return score == 1.0
