"""The table of arms: a page of it, searched and sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from topalpha.dashboard.states import cells, finite
from topalpha.storage import Row
from topalpha.validate import choice, whole

COLUMNS = ("arm", "pulls", "mean", "lower", "upper", "pending", "candidate")
ORDERS = ("ascending", "descending")
#: Rows in one answer, at most.
MOST = 1000
#: Characters of a candidate that are shown.
SHOWN = 400


def table(
    rows: Sequence[Row],
    texts: Sequence[str],
    *,
    query: str = "",
    sort: str = "arm",
    order: str = "ascending",
    offset: int = 0,
    limit: int = 50,
) -> dict[str, Any]:
    """The rows whose candidate holds the text ``query``, or whose number it is, from ``offset`` on.

    What has no value comes last in either order; ties are in order of arms.

    Examples
    --------
    >>> rows = [Row(0, 2, 0.5, 0.1, 0.9, 0), Row(1, 3, 0.7, 0.2, 0.95, 0), Row(2, 0, None, 0.0, 1.0, 1)]
    >>> found = table(rows, ["red", "Green", "blue"], query="RE", sort="mean", order="descending")
    >>> found["total"], found["of"], [(row["arm"], row["candidate"]) for row in found["rows"]]
    (2, 3, [(1, 'Green'), (0, 'red')])
    """
    column = choice("sort", sort, COLUMNS)
    backwards = choice("order", order, ORDERS) == "descending"
    wanted = query.strip().casefold()
    found = [row for row in rows if not wanted or _matches(row, texts, wanted)]
    place = COLUMNS.index(column)

    def key(row: Row) -> Any:
        # An infinite bound is the smallest or the largest; an infinite mean is as good as none.
        value = _text(texts, row.arm) if column == "candidate" else row[place]
        return finite(value) if column == "mean" or value != value else value

    valued = sorted((row for row in found if key(row) is not None), key=key, reverse=backwards)
    found = valued + [row for row in found if key(row) is None]
    chosen = found[offset : offset + limit]
    return {
        "total": len(found),
        "of": len(rows),
        "rows": [
            {**dict(zip(COLUMNS, cell[:6], strict=False)), "candidate": _shortened(_text(texts, row.arm))}
            for row, cell in zip(chosen, cells(chosen), strict=True)
        ],
    }


def asked(parameters: Mapping[str, str]) -> dict[str, Any]:
    """What an address asks of :func:`table`, checked.

    Examples
    --------
    >>> asked({"sort": "mean", "limit": "10"})
    {'query': '', 'sort': 'mean', 'order': 'ascending', 'offset': 0, 'limit': 10}
    >>> asked({"limit": "many"})
    Traceback (most recent call last):
    ValueError: limit must be a whole number of at least 1, got 'many'
    """
    return {
        "query": parameters.get("query", ""),
        "sort": choice("sort", parameters.get("sort", "arm"), COLUMNS),
        "order": choice("order", parameters.get("order", "ascending"), ORDERS),
        "offset": _number("offset", parameters.get("offset", "0"), 0),
        "limit": min(_number("limit", parameters.get("limit", "50"), 1), MOST),
    }


def _number(name: str, text: str, least: int) -> int:
    digits = text.isascii() and text.isdigit() and len(text) < 16
    return whole(name, int(text) if digits else text, least)  # type: ignore[arg-type]


def _matches(row: Row, texts: Sequence[str], wanted: str) -> bool:
    return wanted == str(row.arm) or wanted in _text(texts, row.arm).casefold()


def _text(texts: Sequence[str], arm: int) -> str:
    return texts[arm] if 0 <= arm < len(texts) else ""


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
