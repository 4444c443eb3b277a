"""The study's pictures, legible in black and white: every algorithm has its own marker and dash."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from studies.reproduction.delta import ALGORITHMS, DELTAS, RESERVOIRS
from topalpha.figures.canvas import new_figure, plain_numbers, sample
from topalpha.figures.style import ALGORITHMS as LOOKS
from topalpha.figures.style import GREY, PALE
from topalpha.research.table1 import PaperRow
from topalpha.reservoirs import in_words

#: The width of a picture in inches.
WIDTH = 8.4
#: The look of the lines to compare slopes with.
SLOPES: dict[str, Any] = {"color": GREY, "linestyle": (0, (1, 3)), "linewidth": 1.4}


def titles() -> dict[str, str]:
    """The study's reservoirs in words."""
    return {name: in_words(law) for name, (law, _) in RESERVOIRS.items()}


def pulls_against_delta(results: dict[str, Any], file: Path) -> None:
    """Mean pulls against ln(1/delta) on doubly logarithmic axes: a power of the logarithm is a straight line."""
    figure = new_figure(WIDTH, 4.3)
    for place, (reservoir, title) in enumerate(titles().items(), 1):
        axes = figure.add_subplot(1, 2, place)
        for algorithm in ALGORITHMS:
            _curve(axes, algorithm, results, reservoir)
        # Slopes 2 and 1 through the points at the smallest delta, where the leading term shows.
        ends = [math.log(1.0 / DELTAS[3]), math.log(1.0 / DELTAS[-1])]
        for name, power in (("lucb++", 2), ("joint-lucb", 1)):
            last = results[f"delta-{reservoir}-{name}-{DELTAS[-1]:g}"]["pulls"]["mean"]
            axes.plot(ends, [last * (ends[0] / ends[1]) ** power, last], zorder=0, **SLOPES)
        axes.set(xscale="log", yscale="log", xlabel="δ, on the scale of ln ln(1/δ)")
        axes.tick_params(labelsize=8)
        axes.set_title(f"{title}\nα = ε = 0.05", loc="left", fontsize=9)
        ticks = [math.log(1.0 / delta) for delta in DELTAS]
        axes.set_xticks(ticks, [f"$10^{{{round(math.log10(delta))}}}$" for delta in DELTAS])
        plain_numbers(axes.yaxis)
        axes.minorticks_off()
        _plain(axes)
    figure.axes[0].set_ylabel("mean pulls")
    handles = [sample(name, markersize=5, **LOOKS[name].curve) for name in ALGORITHMS]
    handles.append(sample("slopes of log² and log", **SLOPES))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=8.5)
    figure.savefig(file, dpi=130)


def _curve(axes: Any, algorithm: str, results: dict[str, Any], reservoir: str) -> None:
    nats = [math.log(1.0 / delta) for delta in DELTAS]
    cells = [results[f"delta-{reservoir}-{algorithm}-{delta:g}"]["pulls"] for delta in DELTAS]
    means, bars = [cell["mean"] for cell in cells], [2.0 * cell["stderr"] for cell in cells]
    axes.errorbar(nats, means, yerr=bars, capsize=2, markersize=5, **LOOKS[algorithm].curve)


def table_ratios(ratios: dict[str, list[float]], rows: tuple[PaperRow, ...], file: Path) -> None:
    """How many times fewer pulls than the paper's algorithm: a row for each row of its table, a panel for each law."""
    figure = new_figure(WIDTH, 3.7)
    laws = list(dict.fromkeys(row.label for row in rows))
    for place, law in enumerate(laws):
        axes = figure.add_subplot(1, len(laws), place + 1)
        mine = [number for number, row in enumerate(rows) if row.label == law]
        of_law = [rows[number] for number in mine]
        for name, values in ratios.items():
            axes.plot([values[number] for number in mine], range(len(mine)), markersize=5, **LOOKS[name].points)
        axes.axvline(1.0, color=GREY, linewidth=1.0)
        targets = [", ".join(f"{value:g}" for value in (row.alpha, row.epsilon, row.delta)) for row in of_law]
        axes.set_yticks(range(len(of_law)), targets, fontsize=8)
        axes.set_ylim(len(mine) - 0.5, -0.5)
        axes.set_xlim(0.0, 1.08 * max(map(max, ratios.values())))
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", labelsize=8)
        axes.set_title(f"{in_words(of_law[0].law)}\nrows: α, ε, δ", loc="left", fontsize=9)
        _plain(axes)
    figure.axes[1].set_xlabel("pulls of kl-lucb / pulls: how many times fewer", fontsize=8.5)
    handles = [sample(name, markersize=5, **LOOKS[name].points) for name in ratios]
    handles.append(sample("as many as kl-lucb", color=GREY, linewidth=1.0))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    figure.savefig(file, dpi=130)


def _plain(axes: Any) -> None:
    """A pale grid, and no frame."""
    axes.grid(visible=True, color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
