"""The pictures of the model search study, legible in black and white: every kind of search has its own marker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from studies.model_search.searches import DEEPER, WIDER, randomized
from studies.model_search.tasks import TASKS
from studies.model_search.truth import Table

# The two ways to spend more fits on random search.
MORE = "random search, more candidates"
REPEATED = "random search, 60 candidates, cv=5 repeated"
# Colours that colour-blind readers tell apart (Okabe and Ito).
STYLES = {
    MORE: ("#E69F00", "s", "--"),
    REPEATED: ("#D55E00", "o", "-"),
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
        MORE: [randomized(n_iter).name for n_iter in WIDER],
        REPEATED: [randomized(60, repeats).name for repeats in DEEPER],
    }


def pools(tables: dict[str, Table], file: Path) -> None:
    """True means from best to worst, and where the top of the pool begins."""
    figure, panels = plt.subplots(1, len(tables), figsize=(11, 3.7), layout="constrained")
    for axes, (name, table) in zip(panels, tables.items(), strict=True):
        means = np.sort(table.means)[::-1]
        bar, epsilon, shown = table.quantile(0.05), TASKS[name].epsilons[0], int(0.6 * len(means))
        axes.axhspan(bar - epsilon, bar, color="#009E73", alpha=0.25, lw=0, label="within ε of the top 5%")
        axes.axhline(bar, color="#009E73", lw=1.2, label="the top 5% begin")
        axes.plot(np.arange(1, len(means) + 1), means, color="black", lw=1.6, label="true mean")
        axes.errorbar(
            0.93 * shown,
            means[0] - table.deviation,
            yerr=table.deviation,
            color="#D55E00",
            capsize=4,
            marker="",
            linestyle="none",
            label="± standard deviation of the score of one split",
        )
        axes.set(xlim=(0, shown), ylim=(means[shown], means[0] + 0.06 * (means[0] - means[shown])))
        axes.set(title=name, xlabel="rank in the pool", ylabel=TASKS[name].score)
    _legend(figure, panels)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def errors(rows: list[dict[str, Any]], file: Path) -> None:
    """How often the choice is below the top 5%, and by more than each tolerance, against fits."""
    figure, panels = plt.subplots(3, len(TASKS), figsize=(11.5, 9.5), layout="constrained", sharex="col")
    for column, (name, task) in enumerate(TASKS.items()):
        some = {row["search"]: row for row in rows if row["task"] == name and not _is_check(row)}
        for axes, gap in zip(panels[:, column], (0.0, *task.epsilons), strict=True):
            chosen = "ε′" if gap == task.epsilons[1] else "ε"
            for label, group in groups(some, chosen).items():
                rates = [row["below"]["0.05"][f"{gap:g}"]["rate"] for row in group]
                ends = [row["below"]["0.05"][f"{gap:g}"]["interval"] for row in group]
                _points(axes, group, rates, np.abs(np.array(ends).T - rates), label)
            axes.axhline(0.05, color="0.6", lw=0.8, ls=":")
            axes.set_title(f"{name}: below the top 5%" + (f" by more than {gap:g}" if gap else ""), fontsize=9)
            axes.yaxis.set_major_formatter(PercentFormatter(1.0))
            axes.set_ylim(bottom=-0.02)
        panels[-1, column].set_xlabel("fits")
    for axes in panels[:, 0]:
        axes.set_ylabel("runs")
    _legend(figure, panels)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def regrets(rows: list[dict[str, Any]], file: Path) -> None:
    """Mean regret against fits."""
    figure, panels = plt.subplots(1, len(TASKS), figsize=(11.5, 4.2), layout="constrained")
    for axes, name in zip(panels, TASKS, strict=True):
        some = {row["search"]: row for row in rows if row["task"] == name and not _is_check(row)}
        for label, group in groups(some, "").items():
            regret = [row["regret"]["mean"] for row in group]
            _points(axes, group, regret, np.array([2.0 * row["regret"]["stderr"] for row in group]), label)
        axes.set(title=name, xlabel="fits", yscale="log")
    panels[0].set_ylabel("mean regret")
    _legend(figure, panels)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def groups(some: dict[str, dict[str, Any]], tolerance: str) -> dict[str, list[dict[str, Any]]]:
    """The searches of each style: of ours those with own splits and normal bounds, for the top 5%.

    Only those that were asked for this tolerance, if one is given; what was asked for the top 10% is in the tables.
    """
    found = {label: [some[name] for name in names] for label, names in curves().items()}
    held = {row["search"] for group in found.values() for row in group}
    for name, row in some.items():
        asked = f"alpha=0.05, epsilon={tolerance}"
        if name not in held and (not name.startswith("TopAlpha") or asked + "," * bool(tolerance) in name):
            found.setdefault(kind(row), []).append(row)
    return found


def _is_check(row: dict[str, Any]) -> bool:
    return row["how"] == "real" and not row["search"].startswith("Halving")


def _points(axes: Axes, group: list[dict[str, Any]], values: list[float], away: Any, label: str) -> None:
    colour, marker, dash = STYLES[label]
    axes.errorbar(
        [row["fits"]["mean"] for row in group],
        values,
        yerr=away,
        color=colour,
        marker=marker,
        linestyle=dash or "none",
        capsize=2,
        lw=1.2,
        label=label,
    )
    axes.set_xscale("log")


def _legend(figure: Figure, panels: Any) -> None:
    """One for all panels, below them."""
    found: dict[str, Any] = {}
    for axes in np.asarray(panels).flat:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=5, fontsize=9)
