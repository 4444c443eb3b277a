"""The figure of docs/prompt_choice.md: one choice, and what rules cost against how often they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

# Colours that colour-blind readers tell apart (Okabe and Ito), with a marker for everyone else.
MARKS = {
    "select (cc-lucb)": ("#0072B2", "^"),
    "select (joint-lucb)": ("#009E73", "D"),
    "full evaluation": ("0.35", "s"),
    "50 examples each": ("#E69F00", "v"),
    "race at 95%": ("#CC79A7", "P"),
    "kl-lucb, with replacement": ("#D55E00", "o"),
}


def _choice(axes: Axes, choice: dict[str, Any]) -> None:
    """Every candidate: on how many examples it was tried, its score there with its interval, and its true score."""
    chosen, *others = choice["scores"]
    for one, colour, label in [*((one, "0.72", None) for one in others), (chosen, "#0072B2", "chosen")]:
        ends = [[one["score"] - one["low"]], [one["high"] - one["score"]]]
        style = {"fmt": "o", "markersize": 3, "linewidth": 0.7, "color": colour, "label": label}
        axes.errorbar([one["evaluations"]], [one["score"]], yerr=ends, zorder=2 if label else 1, **style)
    axes.scatter(
        [one["evaluations"] for one in choice["scores"]],
        [one["true"] for one in choice["scores"]],
        marker="x",
        s=14,
        linewidth=0.8,
        color="#D55E00",
        zorder=3,
        label="true score",
    )
    axes.axhline(choice["top"], color="0.2", linewidth=0.9, label="the top 5% begin")
    axes.axhline(choice["top"] - choice["epsilon"], color="0.2", linewidth=0.9, linestyle=":", label="ε below")
    spent = f"{choice['evaluations']:,} of {choice['full_evaluations']:,} evaluations"
    axes.set(xscale="log", xlabel="evaluations of the candidate", ylabel="score", title=f"One choice: {spent}")
    ticks = [1, 3, 10, 30, 100, 300]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _rules(axes: Axes, cases: dict[str, Any]) -> None:
    """Cost against errors, for the pool and for the list."""
    for name, fill in (("pool", "full"), ("list", "none")):
        for one in cases[name]["rules"]:
            if one["rule"] not in MARKS:
                continue
            colour, marker = MARKS[one["rule"]]
            rate, (low, high) = one["errors"]["rate"], one["errors"]["interval"]
            axes.errorbar(
                [one["evaluations"]["mean"]],
                [100.0 * rate],
                yerr=[[100.0 * (rate - low)], [100.0 * (high - rate)]],
                color=colour,
                marker=marker,
                fillstyle=fill,
                capsize=2,
                linestyle="",
                label=one["rule"] if name == "pool" else None,
            )
    axes.axhline(5.0, color="0.2", linewidth=0.9, linestyle=":")
    axes.annotate("δ", (1.0, 5.0), xycoords=("axes fraction", "data"), xytext=(3, -3), textcoords="offset points")
    title = "1,000 choices: endless pool (filled), list of 50 (open)"
    axes.set(xscale="log", xlabel="mean evaluations", ylabel="wrong, %", title=title)
    ticks = [2_000, 5_000, 10_000, 20_000, 50_000]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(visible=True, color="0.93")
    axes.legend(frameon=False, fontsize=8)


def draw_figure(results: dict[str, Any], file: Path) -> None:
    """Both pictures."""
    figure, both = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    _choice(both[0], results["choice"])
    _rules(both[1], results["cases"])
    figure.savefig(file, dpi=130)
    plt.close(figure)
