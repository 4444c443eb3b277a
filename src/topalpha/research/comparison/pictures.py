"""The pictures of a comparison: a row for each algorithm, a dot for each measured cell.

Rows are in one order in all panels, the cheapest algorithm first. The principal algorithms have their own colours, and
their names stand beside their rows. Dots differ in shape, so that pictures are legible without colours. They need
matplotlib, which comes with the extra ``plot``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from topalpha.figures.canvas import new_figure, plain_numbers, sample
from topalpha.figures.studies import SIGNS
from topalpha.figures.style import ALGORITHMS, GREY, LIMIT, PALE, look_of, paler
from topalpha.research.comparison.cells import MEASURED
from topalpha.research.comparison.tables import Row, ranked
from topalpha.reservoirs import in_words
from topalpha.storage.outputs import draft_of

#: The width of a picture, the height of a row, and that of all else of a panel, in inches.
WIDTH, ROW, REST = 8.4, 0.17, 0.85

#: The markers of the values that one row shows, in their order.
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")

#: Figures over the cells: the file, and the parameter whose values are the dots of a row.
SWEEPS = {f"pulls-against-{name}.png": name for name in ("delta", "alpha", "epsilon")}
#: The figure of pulls at a single target, where no parameter has several values.
SINGLE = "pulls.png"
#: The other two figures.
BUDGETS, ALLOCATIONS = "error-against-budget.png", "pulls-per-arm.png"
#: All files that :func:`draw` may write.
FILES = (*SWEEPS, SINGLE, BUDGETS, ALLOCATIONS)

Groups = dict[tuple[Any, ...], list[Row]]
Fill = Callable[[Any, Sequence[Row], dict[str, int]], None]


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw every figure that the rows allow, and return the files.

    Examples
    --------
    >>> draw([], Path("nowhere"))
    []
    """
    measured = [row for row in rows if row["status"] == MEASURED]
    free = [row for row in measured if row["budget"] is None]
    files = []
    for file, parameter in SWEEPS.items():
        wide = {
            key: some for key, some in _grouped(free, parameter).items() if len({row[parameter] for row in some}) > 1
        }
        files += _pulls(wide, parameter, folder / file)
    budgeted = {_case(row) for row in measured if row["budget"] is not None}
    if not files and not budgeted:
        files += _pulls(_grouped(free, "delta"), "delta", folder / SINGLE)
    files += _errors([row for row in measured if _case(row) in budgeted], folder / BUDGETS)
    # One panel per reservoir with several means: its first case.
    several = [row for row in free if len(row["allocation"]) > 1]
    first = {row["reservoir"]: _case(row) for row in reversed(several)}
    files += _allocations([row for row in several if first[row["reservoir"]] == _case(row)], folder / ALLOCATIONS)
    return files


def _case(row: Row) -> tuple[Any, ...]:
    return row["reservoir"], row["alpha"], row["epsilon"], row["delta"]


def _grouped(rows: Iterable[Row], parameter: str = "") -> Groups:
    """Rows by reservoir and target, all values of ``parameter`` together."""
    groups: Groups = {}
    for row in rows:
        key = tuple((name, row[name]) for name in ("reservoir", "alpha", "epsilon", "delta") if name != parameter)
        groups.setdefault(key, []).append(row)
    return groups


def _pulls(groups: Groups, parameter: str, file: Path) -> list[Path]:
    """Mean pulls, a dot for each value of the parameter."""
    values = sorted({row[parameter] for some in groups.values() for row in some}, reverse=True)
    shapes = dict(zip(values, _shapes(len(values)), strict=True))

    def fill(axes: Any, some: Sequence[Row], places: dict[str, int]) -> None:
        dots(axes, some, parameter, shapes, places)
        axes.set_xscale("log")
        plain_numbers(axes.xaxis)

    handles = [_sign(f"{SIGNS[parameter]} = {_short(value)}", shape) for value, shape in shapes.items()]
    if any(row["unfinished"] for some in groups.values() for row in some):
        handles.append(_sign("hollow: runs were cut off, the true mean is larger", "o", fillstyle="none"))
    names = ranked(row for some in groups.values() for row in some)
    return _grid(groups, names, fill, "mean pulls (bars: two standard errors)", handles, file)


def dots(axes: Any, rows: Sequence[Row], parameter: str, shapes: dict[Any, str], places: dict[str, int]) -> None:
    """Mean pulls of each algorithm at the height of its place, with bars of two standard errors.

    Dots are hollow where runs were cut off. A thin line joins the dots of one algorithm.
    """
    for name, place in places.items():
        some = [row for row in rows if row["algorithm"] == name]
        colour = look_of(name).colour
        means = [row["pulls"]["mean"] for row in some]
        if len(some) > 1:
            axes.plot([min(means), max(means)], [place, place], color=paler(colour, 0.6), linewidth=1.0, zorder=2.0)
        for row, mean in zip(some, means, strict=True):
            noise = 2.0 * (row["pulls"]["stderr"] or 0.0)
            # A bar that reaches 0 ends at a tenth of the mean: the scale is logarithmic.
            ends = max(mean - noise, 0.1 * mean), mean + noise
            axes.plot(ends, [place, place], color=colour, linewidth=1.6, zorder=2.5)
            inside = "white" if row["unfinished"] else colour
            look = {"marker": shapes[row[parameter]], "color": colour, "markerfacecolor": inside}
            axes.plot([mean], [place], linestyle="none", markersize=4.6, zorder=3.0, label=name, **look)


def _errors(rows: Sequence[Row], file: Path) -> list[Path]:
    """Fractions of wrong runs, a dot for each budget; with what those without one spent."""
    budgets = sorted({row["budget"] for row in rows if row["budget"] is not None})
    shapes = dict(zip(budgets, _shapes(len(budgets)), strict=True))
    # Left of the rates, where a logarithmic scale has no 0, each budget has a place of its own.
    floor = 0.2 * min((1.0 / row["runs"] for row in rows), default=1.0)
    none = {budget: floor * 2.2 ** (place / len(budgets)) for place, budget in enumerate(budgets)}

    def fill(axes: Any, some: Sequence[Row], places: dict[str, int]) -> None:
        for row in some:
            place, colour = places[row["algorithm"]], look_of(row["algorithm"]).colour
            rate, (low, high) = row["errors"]["rate"], row["errors"]["interval"]
            axes.plot([max(low, floor), high], [place, place], color=paler(colour, 0.6), linewidth=1.2, zorder=2.0)
            inside = colour if rate > 0.0 else "white"
            look = {"marker": shapes.get(row["budget"], "*"), "color": colour, "markerfacecolor": inside}
            at = rate if rate > 0.0 else none.get(row["budget"], floor)
            size = 5.0 if row["budget"] is not None else 7.5
            axes.plot([at], [place], linestyle="none", markersize=size, zorder=3.0, **look)
            if row["budget"] is None:
                text = f"{row['pulls']['mean']:,.0f} pulls"
                axes.annotate(text, (high, place), (5, 0), textcoords="offset points", va="center", fontsize=7)
        axes.axvline(some[0]["delta"], linewidth=1.2, zorder=1.5, **LIMIT.line)
        axes.set_xscale("log")
        axes.set_xlim(floor / 1.3, 1.3)

    handles = [_sign(f"{budget:,} pulls", shape) for budget, shape in shapes.items()]
    handles += [
        _sign("without a budget", "*", markersize=7.5),
        _sign("hollow: no error in any run", "o", fillstyle="none"),
        sample("δ", linewidth=1.2, **LIMIT.line),
    ]
    names = _by_errors(rows)
    return _grid(_grouped(rows), names, fill, "fraction of runs that were wrong (bars: 95% intervals)", handles, file)


def _by_errors(rows: Sequence[Row]) -> list[str]:
    """The algorithms, those with the fewest errors in all first."""
    rates: dict[str, list[float]] = {}
    for row in rows:
        rates.setdefault(row["algorithm"], []).append(row["errors"]["rate"])
    return sorted(rates, key=lambda name: sum(rates[name]) / len(rates[name]))


def _allocations(rows: Sequence[Row], file: Path) -> list[Path]:
    """Pulls of an arm against its mean, as areas."""

    def fill(axes: Any, some: Sequence[Row], places: dict[str, int]) -> None:
        for row in some:
            means, pulls = zip(*row["allocation"], strict=True)
            areas = [70.0 * value / max(pulls) for value in pulls]
            colour = look_of(row["algorithm"]).colour
            heights = [places[row["algorithm"]]] * len(means)
            axes.scatter(
                means, heights, areas, color=paler(colour, 0.75), edgecolors=colour, linewidths=0.6, zorder=3.0
            )

    handles = [_sign("area: pulls of an arm, relative to the largest area of the row", "o", markersize=7)]
    return _grid(_grouped(rows), ranked(rows), fill, "mean of the arm", handles, file)


def _shapes(number: int) -> tuple[str, ...]:
    return tuple(SHAPES[place % len(SHAPES)] for place in range(number))


def _short(value: float) -> str:
    return f"{value:g}".replace("e-0", "e-")


def _sign(label: str, marker: str, **look: Any) -> Any:
    return sample(label, **{"linestyle": "none", "marker": marker, "color": "black", "markersize": 5.0, **look})


def _title(key: tuple[Any, ...]) -> str:
    """The reservoir, and below it the target."""
    values = dict(key)
    law = in_words(values.pop("reservoir"))
    return law + "\n" + ", ".join(f"{SIGNS[name]} = {_short(value)}" for name, value in values.items())


def _grid(
    groups: Groups, names: Sequence[str], fill: Fill, label: str, handles: Sequence[Any], file: Path
) -> list[Path]:
    """One picture with a panel per group, the same rows in all, and a common legend; no file without groups."""
    if not groups:
        return []
    places = {name: place for place, name in enumerate(names)}
    columns = min(2, len(groups))
    lines = math.ceil(len(groups) / columns)
    width = WIDTH if columns == 2 else 0.72 * WIDTH
    figure = new_figure(width, lines * (ROW * len(names) + REST) + 0.55)
    for place, (key, some) in enumerate(groups.items()):
        axes = figure.add_subplot(lines, columns, place + 1)
        fill(axes, some, places)
        axes.set_title(_title(key), loc="left", fontsize=8.5, parse_math=False)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_yticks(range(len(names)), names if place % columns == 0 else [""] * len(names), fontsize=8)
        for text in axes.get_yticklabels():
            if text.get_text() in ALGORITHMS:
                text.set(color=look_of(text.get_text()).colour, fontweight="bold")
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", labelsize=8)
        axes.grid(visible=True, color=PALE, linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(GREY)
        if place + columns >= len(groups):
            axes.set_xlabel(label, fontsize=8)
    figure.legend(handles=list(handles), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    with draft_of(file) as draft:
        figure.savefig(draft, format=file.suffix[1:], dpi=110)
    return [file]
