"""The study's pictures, legible in black and white: every curve has its own marker and dash."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from studies.reproduction.delta import ALGORITHMS, DELTAS, RESERVOIRS

# Colours that colour-blind readers tell apart (Okabe and Ito), with markers and dashes for everyone else.
STYLES = {
    "kl-lucb": ("#D55E00", "o", "-"),
    "lucb++": ("#E69F00", "s", "--"),
    "cc-lucb": ("#0072B2", "^", "-."),
    "joint-lucb": ("#009E73", "D", "-"),
}
TITLES = {"beta": "Beta(1,1) conditioned on ≤ .95", "two-point": "6% of arms at .575, the rest at .5"}


def _curve(axes: Axes, algorithm: str, results: dict[str, Any], reservoir: str) -> None:
    colour, marker, dash = STYLES[algorithm]
    nats = [math.log(1.0 / delta) for delta in DELTAS]
    cells = [results[f"delta-{reservoir}-{algorithm}-{delta:g}"]["pulls"] for delta in DELTAS]
    axes.errorbar(
        nats,
        [cell["mean"] for cell in cells],
        yerr=[2.0 * cell["stderr"] for cell in cells],
        color=colour,
        marker=marker,
        linestyle=dash,
        capsize=2,
        label=algorithm,
    )


def pulls_against_delta(results: dict[str, Any], file: Path) -> None:
    """Mean pulls against ln(1/delta) on doubly logarithmic axes: a power of the logarithm is a straight line."""
    figure, both = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    for axes, reservoir in zip(both, RESERVOIRS, strict=True):
        for algorithm in ALGORITHMS:
            _curve(axes, algorithm, results, reservoir)
        # Slopes 2 and 1 through the points at the smallest delta, where the leading term shows.
        ends = [math.log(1.0 / DELTAS[3]), math.log(1.0 / DELTAS[-1])]
        for name, power, label in (("lucb++", 2, "slope of log²"), ("joint-lucb", 1, "slope of log")):
            last = results[f"delta-{reservoir}-{name}-{DELTAS[-1]:g}"]["pulls"]["mean"]
            begin = last * (ends[0] / ends[1]) ** power
            axes.plot(ends, [begin, last], color="0.55", linestyle=":", linewidth=1.2, zorder=0)
            where = {"xytext": (4, -9), "textcoords": "offset points", "color": "0.35", "fontsize": 8}
            axes.annotate(label, (ends[0], begin), **where)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="δ, on the scale of ln ln(1/δ)",
            ylabel="mean pulls",
            title=TITLES[reservoir],
        )
        axes.grid(visible=True, which="both", color="0.93")
        ticks = [math.log(1.0 / delta) for delta in DELTAS]
        axes.set_xticks(ticks, [f"$10^{{{round(math.log10(delta))}}}$" for delta in DELTAS])
        axes.minorticks_off()
    both[0].legend(frameon=False)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def table_ratios(ratios: dict[str, list[float]], file: Path) -> None:
    """How many times fewer pulls than the paper's algorithm, row by row."""
    figure, axes = plt.subplots(figsize=(11, 3.8), layout="constrained")
    for name, values in ratios.items():
        colour, marker, dash = STYLES[name]
        axes.plot(range(1, len(values) + 1), values, color=colour, marker=marker, linestyle=dash, label=name)
    axes.axhline(1.0, color="0.5", linewidth=0.8)
    axes.set(xlabel="row of the paper's table", ylabel="pulls of kl-lucb / pulls", ylim=(0, None))
    axes.set_xticks(range(1, 37))
    axes.tick_params(axis="x", labelsize=7)
    axes.grid(visible=True, color="0.93")
    axes.legend(frameon=False, ncols=3)
    figure.savefig(file, dpi=130)
    plt.close(figure)
