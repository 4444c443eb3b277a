"""The pictures of the model search study, legible in black and white: every kind of search has its own marker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from model_search_cells import DEEPER, WIDER, randomized
from model_search_tasks import TASKS
from model_search_truth import Table

# Colours that colour-blind readers tell apart (Okabe and Ito).
STYLES = {
    "more candidates, cv=5": ("#E69F00", "s", "--"),
    "60 candidates, more repeats": ("#D55E00", "o", "-"),
    "Optuna": ("#CC79A7", "v", ""),
    "halving": ("#56B4E9", "X", ""),
    "TopAlphaSearchCV": ("#009E73", "D", ""),
}


def kind(row: dict[str, Any]) -> str:
    """Which of the styles a search has that is not on a curve."""
    name = row["search"]
    return "TopAlphaSearchCV" if name.startswith("TopAlpha") else "Optuna" if name.startswith("Optuna") else "halving"


def curves() -> dict[str, list[str]]:
    """The names of the searches on each curve."""
    return {
        "more candidates, cv=5": [randomized(n_iter).name for n_iter in WIDER],
        "60 candidates, more repeats": [randomized(60, repeats).name for repeats in DEEPER],
    }


def pools(tables: dict[str, Table], file: Path) -> None:
    """True means from best to worst, and where the top of the pool begins."""
    figure, panels = plt.subplots(1, len(tables), figsize=(11, 3.4), layout="constrained")
    for axes, (name, table) in zip(panels, tables.items(), strict=True):
        means = np.sort(table.means)[::-1]
        bar, epsilon = table.quantile(0.05), TASKS[name].epsilons[0]
        axes.axhspan(bar - epsilon, bar, color="#009E73", alpha=0.25, lw=0, label="within ε of the top 5%")
        axes.axhline(bar, color="#009E73", lw=1.2, label="the top 5% begin")
        axes.errorbar(8, means[0] - 2.2 * table.deviation, yerr=table.deviation, color="0.35", capsize=3, lw=1.2)
        note = {"xytext": (6, -4), "textcoords": "offset points", "fontsize": 8, "color": "0.35"}
        axes.annotate("± deviation of one split", (8, means[0] - 2.2 * table.deviation), **note)
        axes.plot(np.arange(1, len(means) + 1), means, color="black", lw=1.4, label="true mean")
        low = np.quantile(means, 0.4)
        axes.set(xlim=(0, 0.6 * len(means)), ylim=(low, means[0] + 0.08 * (means[0] - low)))
        axes.set(title=name, xlabel="rank in the pool", ylabel=TASKS[name].score)
    panels[-1].legend(fontsize=8, loc="upper right")
    figure.savefig(file, dpi=130)
    plt.close(figure)


def errors(rows: list[dict[str, Any]], file: Path) -> None:
    """How often the choice is below the top 5%, and by more than each tolerance, against fits."""
    figure, panels = plt.subplots(3, len(TASKS), figsize=(12, 9.5), layout="constrained", sharex="col")
    for column, (name, task) in enumerate(TASKS.items()):
        some = {row["search"]: row for row in rows if row["task"] == name and not _is_check(row)}
        for axes, gap in zip(panels[:, column], (0.0, *task.epsilons), strict=True):
            _errors(axes, some, f"{gap:g}", "ε′" if gap == task.epsilons[1] else "ε")
            axes.set_ylabel("runs that chose below the top 5%" + (f" by {gap:g}" if gap else ""))
        panels[0, column].set_title(name)
        panels[-1, column].set_xlabel("fits")
    found: dict[str, Any] = {}
    for axes in panels.flat:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    names = [name for name in STYLES if name in found]
    figure.legend([found[name] for name in names], names, loc="outside lower center", ncols=4, fontsize=9)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def _is_check(row: dict[str, Any]) -> bool:
    return row["how"] == "real" and not row["search"].startswith("Halving")


def _errors(axes: Axes, some: dict[str, dict[str, Any]], gap: str, asked: str) -> None:
    on_curves = curves()
    for label, names in on_curves.items():
        _points(axes, [some[name] for name in names], gap, label)
    held = {name for names in on_curves.values() for name in names}
    groups: dict[str, list[dict[str, Any]]] = {}
    for name, row in some.items():
        # Ours with the tolerance of the panel; those that were asked for the top 10% are judged by it, in the tables.
        ours = name.startswith("TopAlpha")
        if name not in held and (not ours or f"alpha=0.05, epsilon={asked}," in name):
            groups.setdefault(kind(row), []).append(row)
    for label, group in groups.items():
        _points(axes, group, gap, label)
    axes.axhline(0.05, color="0.6", lw=0.8, ls=":")
    axes.set_xscale("log")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylim(bottom=-0.02)


def _points(axes: Axes, group: list[dict[str, Any]], gap: str, label: str) -> None:
    colour, marker, dash = STYLES[label]
    rates = [row["below"]["0.05"][gap]["rate"] for row in group]
    ends = np.array([row["below"]["0.05"][gap]["interval"] for row in group]).T
    away = np.abs(ends - rates)
    axes.errorbar(
        [row["fits"]["mean"] for row in group],
        rates,
        yerr=away,
        color=colour,
        marker=marker,
        linestyle=dash or "none",
        capsize=2,
        lw=1.2,
        label=label,
    )
