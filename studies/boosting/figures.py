"""Pictures of the boosting study, legible in black and white: every curve has its own marker and dash."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from studies.boosting.measures import by_size, methods_of, over_seeds, seconds_to_target, target

# Colours that colour-blind readers tell apart (Okabe and Ito), with markers and dashes for everyone else.
STYLES = {
    "exact": ("#000000", "o", "-"),
    "exact, sorted rows": ("#000000", "s", "--"),
    "bandit, edge": ("#009E73", "D", "-"),
    "bandit, best": ("#0072B2", "^", "-"),
    "random features": ("#E69F00", "s", "--"),
    "random stumps": ("#D55E00", "v", "--"),
    "sampled rows": ("#CC79A7", "P", "--"),
    "LightGBM": ("#56B4E9", "x", ":"),
    "LightGBM, GOSS": ("#56B4E9", "+", ":"),
    "HistGradientBoosting": ("#999999", "*", ":"),
    "HistGradientBoosting, trees": ("#999999", "1", "-."),
    "AdaBoostClassifier": ("#777777", "d", "-."),
    "exact, 100 filters": ("#000000", "v", "--"),
    "exact, 1,600 filters": ("#000000", "^", ":"),
    "new filters, all rows": ("#D55E00", "v", "--"),
    "new filters, 2,000 rows": ("#CC79A7", "P", "--"),
}


def _style(method: str) -> dict[str, Any]:
    colour, marker, dash = STYLES[method]
    own = method.startswith("bandit") or method == "exact"
    return {"color": colour, "marker": marker, "linestyle": dash, "linewidth": 2.0 if own else 1.2, "label": method}


def _over_time(axes: Axes, runs: list[dict[str, Any]], title: str) -> None:
    """Accuracy of the first seed's run against seconds, with its target."""
    first = min(runs, key=lambda run: run["seed"])
    for curve in first["curves"]:
        every = max(1, len(curve["rounds"]) // 6)
        axes.plot(curve["seconds"], curve["accuracy"], markersize=4, markevery=every, **_style(curve["method"]))
    axes.axhline(target(first), color="0.6", linewidth=0.8)
    axes.set(xscale="log", xlabel="seconds in fit", title=title)
    axes.grid(visible=True, which="major", color="0.93")


def over_time(runs: list[dict[str, Any]], file: Path, columns: int) -> None:
    """One panel for each number of rows."""
    groups = by_size(runs)
    lines = math.ceil((len(groups) + 1) / columns)
    figure, panels = plt.subplots(
        lines, columns, figsize=(4.4 * columns, 3.5 * lines), layout="constrained", squeeze=False, sharey=True
    )
    places = list(panels.flat)
    for axes, (rows, some) in zip(places, groups.items(), strict=False):
        _over_time(axes, some, f"{rows:,} rows")
    for line in panels:
        line[0].set_ylabel("accuracy on test rows")
    for axes in places[len(groups) :]:
        axes.axis("off")
    handles = {line.get_label(): line for axes in places for line in axes.get_lines() if line.get_label() in STYLES}
    places[len(groups)].legend(handles=list(handles.values()), loc="center", frameon=False, fontsize=9)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def seconds(runs: list[dict[str, Any]], file: Path) -> None:
    """Seconds to the target against rows: medians, and bars from least to most; none where a run did not get there."""
    figure, axes = plt.subplots(figsize=(8.6, 5.0), layout="constrained")
    groups = by_size(runs)
    for method in methods_of(runs):
        points = []
        for rows, some in groups.items():
            times = over_seeds(some, method, seconds_to_target)
            if times and None not in times:
                found = [one for one in times if one is not None]
                points.append((rows, statistics.median(found), min(found), max(found)))
        if points:
            at, middle, least, most = (list(one) for one in zip(*points, strict=True))
            bars = np.abs(np.array([least, most]) - np.array(middle))
            axes.errorbar(at, middle, yerr=bars, capsize=2, markersize=5, **_style(method))
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds in fit until the target is reached")
    axes.set_xticks(list(groups), [f"{rows / 1e6:g} M" if rows >= 1_000_000 else f"{rows:,}" for rows in groups])
    axes.minorticks_off()
    axes.grid(visible=True, which="major", color="0.93")
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(file, dpi=110)
    plt.close(figure)


def draw(results: dict[str, Any], folder: Path) -> None:
    """All pictures."""
    over_time(results["tables"]["runs"], folder / "accuracy.png", 3)
    seconds(results["tables"]["runs"], folder / "seconds.png")
    over_time(results["images"]["runs"], folder / "images.png", 3)
