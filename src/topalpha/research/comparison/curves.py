"""The pictures of a comparison, legible in black and white: every curve has its own colour, marker and dash.

They need matplotlib, which comes with the extra ``plot``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from topalpha.figures.canvas import new_figure
from topalpha.figures.studies import plain_ticks, pulls_curve
from topalpha.figures.style import GREY, PALE, style
from topalpha.research.comparison.cells import MEASURED
from topalpha.research.comparison.tables import Row
from topalpha.storage.outputs import draft_of

_SIZE = (11.0, 6.5)

#: Figures over the cells: the file, and the parameter on its horizontal axis.
SWEEPS = {f"pulls-against-{name}.png": name for name in ("delta", "alpha", "epsilon")}
#: The other two figures.
BUDGETS, ALLOCATIONS = "error-against-budget.png", "pulls-per-arm.png"
#: All files that :func:`draw` may write.
FILES = (*SWEEPS, BUDGETS, ALLOCATIONS)


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw every figure that the rows allow, and return the files.

    Examples
    --------
    >>> draw([], Path("nowhere"))
    []
    """
    measured = [row for row in rows if row["status"] == MEASURED]
    names = list(dict.fromkeys(row["algorithm"] for row in measured))
    styles = {name: style(place) for place, name in enumerate(names)}
    free = [row for row in measured if row["budget"] is None]
    files = []
    for file, parameter in SWEEPS.items():
        files += _sweep(free, parameter, styles, folder / file)
    budgeted = {_case(row) for row in measured if row["budget"] is not None}
    told = [row for row in measured if _case(row) in budgeted]
    files += _panels(told, styles, folder / BUDGETS, _error_axes)
    first = {row["reservoir"]: _case(row) for row in reversed(free)}  # one panel per reservoir: its first case
    shown = [row for row in free if first[row["reservoir"]] == _case(row)]
    files += _panels(shown, styles, folder / ALLOCATIONS, _allocation_axes)
    return files


def _case(row: Row) -> tuple[Any, ...]:
    return row["reservoir"], row["alpha"], row["epsilon"], row["delta"]


def _sweep(rows: Sequence[Row], parameter: str, styles: dict[str, Any], file: Path) -> list[Path]:
    """Mean pulls against one parameter, a panel per setting of the others with at least two values."""
    others = [name for name in ("reservoir", "alpha", "epsilon", "delta") if name != parameter]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in others), []).append(row)
    wide = {key: some for key, some in groups.items() if len({row[parameter] for row in some}) > 1}

    def axes_of(axes: Any, key: Any, some: Sequence[Row]) -> None:
        curves(axes, some, parameter, styles)
        law, *rest = key
        words = ", ".join([law, *(f"{name} {value:g}" for name, value in zip(others[1:], rest, strict=True))])
        axes.set(xscale="log", yscale="log", xlabel=parameter, ylabel="mean pulls", title=words)
        plain_ticks(axes, sorted({row[parameter] for row in some}))

    return _grid(wide, axes_of, file)


def curves(axes: Any, rows: Sequence[Row], parameter: str, styles: dict[str, Any]) -> None:
    """One curve per algorithm, with bars of two standard errors; points are hollow if a run was cut off."""
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        some = sorted((row for row in rows if row["algorithm"] == name), key=lambda row: row[parameter])
        errors = [row["pulls"]["stderr"] or 0.0 for row in some]
        x, y = [row[parameter] for row in some], [row["pulls"]["mean"] for row in some]
        cut = [row["unfinished"] > 0 for row in some]
        pulls_curve(axes, x, y, errors, cut, capsize=2, markersize=5, label=name, **styles[name])


def _panels(
    rows: Sequence[Row],
    styles: dict[str, Any],
    file: Path,
    fill: Callable[[Any, Sequence[Row], dict[str, Any]], None],
) -> list[Path]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(_case(row), []).append(row)

    def axes_of(axes: Any, key: Any, some: Sequence[Row]) -> None:
        fill(axes, some, styles)
        axes.set_title(f"{key[0]}, alpha {key[1]:g}, epsilon {key[2]:g}, delta {key[3]:g}")

    return _grid(groups, axes_of, file)


def _error_axes(axes: Any, rows: Sequence[Row], styles: dict[str, Any]) -> None:
    """Errors against pulls: curves of algorithms with a budget, single points of the others."""
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        some = sorted((row for row in rows if row["algorithm"] == name), key=lambda row: row["pulls"]["mean"])
        # Half an error in place of none, so that it can be shown; the interval tells the rest.
        rates = [max(row["errors"]["rate"], 0.5 / row["runs"]) for row in some]
        high = [row["errors"]["interval"][1] for row in some]
        bars = [[0.0] * len(some), [max(0.0, top - rate) for top, rate in zip(high, rates, strict=True)]]
        budgeted = some[0]["budget"] is not None
        shown = styles[name] if budgeted else {**styles[name], "linestyle": "none"}
        axes.errorbar([row["pulls"]["mean"] for row in some], rates, yerr=bars, capsize=2, label=name, **shown)
    axes.axhline(rows[0]["delta"], color=GREY, linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="mean pulls", ylabel="errors (at least half a run)")


def _allocation_axes(axes: Any, rows: Sequence[Row], styles: dict[str, Any]) -> None:
    for row in rows:
        x, y = [point[0] for point in row["allocation"]], [point[1] for point in row["allocation"]]
        axes.plot(x, y, markersize=4, label=row["algorithm"], **styles[row["algorithm"]])
    axes.set(yscale="log", xlabel="mean of the arm", ylabel="pulls of an arm")


def _grid(groups: dict[Any, list[Row]], fill: Callable[[Any, Any, Sequence[Row]], None], file: Path) -> list[Path]:
    """One picture with a panel per group, and a common legend; no file without groups."""
    if not groups:
        return []
    columns = min(2, len(groups))
    lines = math.ceil(len(groups) / columns)
    figure = new_figure(_SIZE[0], _SIZE[1] * (0.5 + 0.5 * lines))
    shown: dict[str, Any] = {}
    for place, (key, some) in enumerate(groups.items(), 1):
        axes = figure.add_subplot(lines, columns, place)
        fill(axes, key, some)
        axes.title.set_fontsize(9)
        axes.grid(visible=True, which="major", color=PALE)
        handles, labels = axes.get_legend_handles_labels()
        shown |= dict(zip(labels, handles, strict=True))
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    with draft_of(file) as draft:
        figure.savefig(draft, format=file.suffix[1:], dpi=110)
    return [file]
