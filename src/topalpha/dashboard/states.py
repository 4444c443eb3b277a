"""The data for the page: the figures of a search at one moment, the changes, and the table of its arms."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import Any

from topalpha.storage import Overview, Recording, Row
from topalpha.storage.parameters import Candidates, readable
from topalpha.validate import choice, whole

COLUMNS = ("arm", "pulls", "mean", "lower", "upper", "pending", "candidate")
#: Before the name of a parameter, where the table is sorted by it.
PARAMETER = "candidate."
ORDERS = ("ascending", "descending")
#: The most rows in one response.
MOST = 1000
#: Characters of a candidate that are shown.
SHOWN = 400


def encode(value: Any) -> bytes:
    r"""JSON in one line; raises for numbers that JSON does not have.

    Examples
    --------
    >>> encode({"name": "é", "mean": 0.5})
    b'{"name":"\\u00e9","mean":0.5}'
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def overview(one: Overview) -> dict[str, Any]:
    """The entry of a search in the list.

    Examples
    --------
    >>> one = Overview("first", "running", "2024-01-01T00:00:00+00:00", {"task": {"alpha": 0.1}}, {"pulls": 9}, 0.0)
    >>> said = overview(one)
    >>> said["name"], said["alive"], said["pulls"], said["alpha"], said["delta"]
    ('first', False, 9, 0.1, None)
    """
    task, progress = _mapping(one.config.get("task")), _figures(one.progress)
    return {
        "name": one.name,
        "status": one.status,
        "created": one.created,
        "updated": one.updated,
        "alive": one.alive(),
        "paused": one.paused,
        **{key: progress.get(key) for key in ("pulls", "arms")},
        **{key: task.get(key) for key in ("alpha", "epsilon", "delta")},
    }


def figures(recording: Recording) -> dict[str, Any]:
    """All data about a search except its arms; at the end the leader is the arm of the certificate.

    Examples
    --------
    >>> task = {"alpha": 0.1, "epsilon": 0.25, "delta": 0.05, "minimise": True}
    >>> rows = [Row(0, 9, 0.5, 0.25, 0.75, 0), Row(1, 9, 0.75, 0.375, 1.0, 0)]
    >>> one = Recording("first", {"task": task}, "running", None, "2024-01-01T00:00:00+00:00", snapshot=rows,
    ...                 progress={"pulls": 18, "leader": 0, "low": 0.25, "high": 0.75}, updated=0.0)
    >>> state = figures(one)
    >>> state["pulls"], state["line"], state["alive"], state["leader"], state["unresolved"]
    (18, 0.5, False, 0, 1)
    """
    return state(recording)[0]


def state(recording: Recording) -> tuple[dict[str, Any], frozenset[int]]:
    """The same, and the arms that contest the leader.

    Examples
    --------
    >>> state(Recording("first", {}, "running", None, "2024-01-01T00:00:00+00:00"))[1]
    frozenset()
    """
    from topalpha.ask_tell import contest_of  # not before a search is looked at: it takes a moment

    task, progress = _mapping(recording.config.get("task")), _figures(recording.progress)
    selection, around = contest_of(recording)
    contesting = frozenset(() if recording.status == "stopped" else around.above)
    said = {
        **overview(_overview(recording)),
        "minimise": bool(task.get("minimise", False)),
        "algorithm": task.get("algorithm"),
        "joint": is_joint(task.get("algorithm")),
        "family": task.get("family"),
        "law": _law(task),
        **_leader(recording, progress),
        **{key: progress.get(key) for key in ("in_flight", "gap", "left", "claims", "about")},
        **{key: finite(progress.get(key)) for key in ("evidence", "rest")},
        "undrawn": max(0, (progress.get("wanted") or 0) - (progress.get("arms") or 0)),
        "bounded": is_bounded(progress),
        "selection": selection,
        "line": finite(around.line),
        "over": len(around.above),
        "unresolved": len(contesting),
        "certificate": recording.certificate,
        "candidate": readable(recording.certificate.get("candidate")) if recording.certificate else None,
        "history": _history(progress.get("history")),
    }
    return said, contesting


def _history(said: Any) -> list[list[float]]:
    """Evaluations and gap at moments so far; nothing of files of older versions, or of what is no such list."""
    found = said if isinstance(said, list) else []
    return [one for one in found if isinstance(one, list) and list(map(type, one)) in ([int, float], [int, int])]


def is_joint(algorithm: Any) -> bool:
    """Whether this algorithm weighs all arms together; False for an unknown one.

    Examples
    --------
    >>> is_joint("joint-one-phase"), is_joint("cc-lucb"), is_joint(["unknown"])
    (True, False, False)
    """
    from topalpha.algorithms import ALGORITHMS  # not before a search is looked at: it takes a moment

    return any(one.joint and one.name == algorithm for one in ALGORITHMS)


def is_bounded(progress: Any) -> bool:
    """Whether the algorithm has bounds for single arms; True for files of older versions, which do not say.

    Examples
    --------
    >>> is_bounded({"bounded": False}), is_bounded({}), is_bounded(None)
    (False, True, True)
    """
    return _mapping(progress).get("bounded") is not False


def cells(rows: Sequence[Row], contesting: Collection[int] = ()) -> list[list[int | float | None]]:
    """Rows for JSON: infinite bounds, and means that are not numbers, become None.

    The last cell is 1 for arms that contest the leader.

    Examples
    --------
    >>> cells([Row(0, 2, 0.5, float("-inf"), 0.9, 1)], {0})
    [[0, 2, 0.5, None, 0.9, 1, 1]]
    """
    return [
        [arm, pulls, finite(mean), finite(lower), finite(upper), pending, int(arm in contesting)]
        for arm, pulls, mean, lower, upper, pending in rows
    ]


def finite(value: Any) -> Any:
    """The value, or None for a number that JSON cannot hold.

    Examples
    --------
    >>> finite(0.5), finite(float("nan")), finite(None)
    (0.5, None, None)
    """
    return None if isinstance(value, float) and not isfinite(value) else value


def changed(before: Sequence[Row], after: Sequence[Row]) -> list[Row] | None:
    """The rows that are new or differ; None unless ``after`` has the arms of ``before``, and perhaps more.

    Examples
    --------
    >>> one, other = Row(0, 1, 1.0, 0.0, 1.0, 0), Row(1, 1, 0.0, 0.0, 1.0, 0)
    >>> changed([one], [one, other]) == [other], changed([one, other], [one]), changed([one], [other])
    (True, None, None)
    """
    if len(after) < len(before):
        return None
    found = []
    for old, new in zip(before, after, strict=False):
        if new != old:
            if new[0] != old[0]:
                return None
            found.append(new)
    return found + list(after[len(before) :])


def _leader(recording: Recording, progress: Mapping[str, Any]) -> dict[str, Any]:
    """The leading arm and its figures: the best mean while the search runs, at the end the certificate's arm."""
    named = _mapping(recording.certificate).get("arm")
    for row in cells([row for row in recording.snapshot if named is not None and row.arm == named]):
        return dict(zip(("leader", "mean", "low", "high"), (row[0], *row[2:5]), strict=True))
    found = {key: progress.get(key) for key in ("leader", "mean", "low", "high")}
    return found if is_bounded(progress) else {**found, "low": None, "high": None}


def _overview(one: Recording) -> Overview:
    return Overview(one.name, one.status, one.created, one.config, one.progress, one.updated)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _figures(progress: Any) -> dict[str, Any]:
    return {key: finite(value) for key, value in _mapping(progress).items()}


def _law(task: Mapping[str, Any]) -> str | None:
    """As :attr:`topalpha.ask_tell.Task.law`, also for tasks of later versions."""
    if task.get("about"):
        return str(task["about"])
    if not task:
        return None
    pool = task.get("pool")
    return f"the list of {pool} candidates" if pool else "the pool"


def table(
    rows: Sequence[Row],
    candidates: Candidates,
    *,
    query: str = "",
    sort: str = "arm",
    order: str = "ascending",
    offset: int = 0,
    limit: int = 50,
) -> dict[str, Any]:
    """The rows whose candidate contains the text ``query``, or whose number it is, from ``offset`` on.

    Rows without a value come last in either order; ties are in order of arms. If all candidates have the same
    parameters, ``columns`` has their names, and whether they are numbers, and each row its ``parameters``; one of
    them may be the order, as "candidate.rate".

    Examples
    --------
    >>> rows = [Row(0, 2, 0.5, 0.1, 0.9, 0), Row(1, 3, 0.7, 0.2, 0.95, 0), Row(2, 0, None, 0.0, 1.0, 1)]
    >>> colours = Candidates(['"red"', '"Green"', '"blue"'])
    >>> found = table(rows, colours, query="RE", sort="mean", order="descending")
    >>> found["total"], found["of"], [(row["arm"], row["candidate"]) for row in found["rows"]]
    (2, 3, [(1, 'Green'), (0, 'red')])
    >>> found = table(rows[:2], Candidates(['{"rate":0.54321}', '{"rate":0.25}']), sort="candidate.rate")
    >>> found["columns"], [row["parameters"] for row in found["rows"]]
    ([['rate', True]], [['0.25'], ['0.5432']])
    """
    column = _column(sort)
    parameter = column.removeprefix(PARAMETER) if column not in COLUMNS else None
    place = COLUMNS.index(column if parameter is None else "candidate")
    backwards = choice("order", order, ORDERS) == "descending"
    wanted = query.strip().casefold()
    found = [row for row in rows if not wanted or _matches(row, candidates, wanted)]

    def key(row: Row) -> Any:
        # An infinite bound is the smallest or the largest value; an infinite mean counts as none.
        if parameter is not None:
            return candidates.place(row.arm, parameter)
        value = _text(candidates.texts, row.arm) if column == "candidate" else row[place]
        return finite(value) if column == "mean" or value != value else value

    valued = sorted((row for row in found if key(row) is not None), key=key, reverse=backwards)
    found = valued + [row for row in found if key(row) is None]
    chosen = found[offset : offset + limit]
    return {
        "total": len(found),
        "of": len(rows),
        "columns": [[name, candidates.is_number(name)] for name in candidates.names],
        "rows": [
            dict(zip(COLUMNS, cell[:6], strict=False))
            | {"candidate": _shortened(_text(candidates.texts, row.arm))}
            | {"parameters": [_shortened(text) for text in candidates.cells(row.arm)]}
            for row, cell in zip(chosen, cells(chosen), strict=True)
        ],
    }


def asked(parameters: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of :func:`table` from an address, checked.

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
        "sort": _column(parameters.get("sort", "arm")),
        "order": choice("order", parameters.get("order", "ascending"), ORDERS),
        "offset": _number("offset", parameters.get("offset", "0"), 0),
        "limit": min(_number("limit", parameters.get("limit", "50"), 1), MOST),
    }


def _column(sort: str) -> str:
    """A column, or a parameter, which candidates may come to lack."""
    return sort if sort.startswith(PARAMETER) else choice("sort", sort, COLUMNS)


def _number(name: str, text: str, least: int) -> int:
    digits = text.isascii() and text.isdigit() and len(text) < 16
    return whole(name, int(text) if digits else text, least)  # type: ignore[arg-type]


def _matches(row: Row, candidates: Candidates, wanted: str) -> bool:
    texts = (_text(known, row.arm).casefold() for known in (candidates.texts, candidates.exact))
    return wanted == str(row.arm) or any(wanted in text for text in texts)


def _text(texts: Sequence[str], arm: int) -> str:
    return texts[arm] if 0 <= arm < len(texts) else ""


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
