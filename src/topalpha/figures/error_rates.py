"""The picture of errors against delta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from topalpha.figures.canvas import Axes, chosen, dressed, patch, sample
from topalpha.figures.studies import SIGNS, Studies, plain_ticks, several
from topalpha.figures.style import LIMIT, VERMILION, looks, paler
from topalpha.reservoirs import in_words
from topalpha.simulation import Count, Study

#: The cross over the marker of a study with unfinished runs.
_CUT = {"linestyle": "none", "marker": "x", "color": "black", "markeredgewidth": 1.6}


def errors(studies: Studies, *, axes: Axes | None = None) -> Axes:
    """The fraction of wrong answers against delta, with exact (Clopper-Pearson) 95% intervals and the line of delta.

    A proof promises that no true error probability lies above the line. A hollow marker at the lower edge means no
    error in any run: its interval begins at 0, which a logarithmic scale cannot show. Runs that were cut off gave no
    answer: they are left out, and a cross says so. If no run is left, the cross stands alone. Curves are shifted a
    little sideways, so that their bars stay apart; around each delta the line is flat.

    Parameters
    ----------
    studies
        The results of one or several calls of :func:`topalpha.simulate`.
    axes
        Where to draw; a new pyplot figure unless given.

    Examples
    --------
    >>> from topalpha import design, parse_reservoir, simulate
    >>> from topalpha.figures import errors, new_axes
    >>> law = parse_reservoir("beta(1,2)", at_most=0.8)
    >>> studies = [simulate(design("cc-lucb", 0.1, 0.1, delta), law, runs=20) for delta in (0.05, 0.2)]
    >>> errors(studies, axes=new_axes()).get_ylabel()
    'fraction of runs that were wrong'
    """
    found = several(studies)
    axes = chosen(axes)
    deltas = sorted({one.delta for one in found})
    counts = [count for count in map(_answers, found) if count is not None]
    positive = [end for count in counts for end in (count.rate, *count.interval) if end > 0.0]
    floor = 0.5 * min(positive + deltas)
    shown = looks(_curve_of(one, found) for one in found)
    names = list(shown)
    shift = _shift(deltas, len(names))
    flat = (1.0 + 1e-6) * shift ** (0.5 * (len(names) - 1))
    handles = []
    for place, name in enumerate(names):
        some = sorted((one for one in found if _curve_of(one, found) == name), key=lambda one: one.delta)
        look = shown[name].curve
        handles.append(sample(name, markersize=6, linewidth=1.4, color=look["color"], marker=look["marker"]))
        moved = shift ** (place - 0.5 * (len(names) - 1))
        cut = [(one.delta * moved, _answers(one)) for one in some if one.unfinished]
        heights = [floor * 1.25 if count is None else max(count.rate, floor * 1.25) for _, count in cut]
        if cut:
            axes.plot([at for at, _ in cut], heights, markersize=9, zorder=4.0, **_CUT)
        told = [(one.delta * moved, count) for one in some if (count := _answers(one)) is not None]
        if not told:
            continue
        x = np.array([at for at, _ in told])
        rates = np.array([count.rate for _, count in told])
        ends = np.array([count.interval for _, count in told])
        axes.vlines(x, np.maximum(ends[:, 0], floor), ends[:, 1], color=look["color"], linewidth=1.4)
        axes.plot(x, ends[:, 1], linestyle="none", marker="_", markersize=7, color=look["color"])
        seen = rates > 0.0
        axes.plot(x[seen], rates[seen], linestyle="none", markersize=6, marker=look["marker"], color=look["color"])
        none = {"linestyle": "none", "marker": look["marker"], "color": look["color"], "fillstyle": "none"}
        axes.plot(x[~seen], np.full(int((~seen).sum()), floor * 1.25), markersize=6, **none)
    edges = np.array([deltas[0] / 1.5, max(min(1.0, deltas[-1] * 1.5), deltas[-1] * flat)])
    limit = np.array([(edges[0], edges[0]), *((at, one) for one in deltas for at in (one / flat, one * flat)),
                      (edges[1], edges[1])])  # fmt: skip
    axes.plot(*limit.T, linewidth=1.6, **LIMIT.line)
    top = max([1.5 * edges[1], *(1.3 * count.interval[1] for count in counts)])
    forbidden = {"facecolor": paler(VERMILION, 0.06), "edgecolor": paler(VERMILION, 0.4), "hatch": "xx"}
    axes.fill_between(*limit.T, top, linewidth=0.0, zorder=0.5, **forbidden)
    handles.append(sample("error = δ", linewidth=1.6, **LIMIT.line))
    handles.append(patch("more errors than allowed", **forbidden))
    if any(count.count == 0 for count in counts):
        hollow = {"linestyle": "none", "marker": "o", "color": "black", "fillstyle": "none"}
        handles.append(sample("hollow, at the lower edge: no error in any run", markersize=6, **hollow))
    if cut_off := sum(one.unfinished for one in found):
        label = f"crossed: {cut_off:,} runs in all were cut off, and are left out"
        handles.append(sample(label, markersize=8, **_CUT))
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(*edges)
    axes.set_ylim(floor, top)
    plain_ticks(axes, deltas)
    runs = sorted({one.runs for one in found})
    many = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    title = f"Errors in {many} runs each, with exact 95% intervals"
    return dressed(axes, title, "δ: the errors allowed", "fraction of runs that were wrong", handles)


def _answers(study: Study) -> Count | None:
    """The errors among the finished runs; None if there are none."""
    finished = study.runs - study.unfinished
    return Count(study.errors.count, finished) if finished else None


def _shift(deltas: Sequence[float], curves: int) -> float:
    """The factor between neighbouring curves, small enough that no two deltas meet.

    Examples
    --------
    >>> _shift([0.01, 0.1], 2), round(_shift([0.1, 0.11], 3), 4)
    (1.07, 1.0389)
    """
    least = min((high / low for low, high in pairwise(deltas)), default=math.inf)
    # All curves lie within a factor of 1.6, and within most of the space between two deltas.
    together: float = min(1.6, least**0.8)
    return float(min(1.07, together ** (1.0 / max(1, curves - 1))))


def _curve_of(study: Study, among: Sequence[Study]) -> str:
    """The name of a curve: the algorithm, with everything else that differs beside delta."""
    parts = [study.algorithm]
    if len({one.reservoir for one in among}) > 1:
        parts.append(in_words(study.reservoir))
    if len({one.family for one in among}) > 1:
        parts.append(study.family)
    for name in ("alpha", "epsilon"):
        if len({getattr(one, name) for one in among}) > 1:
            parts.append(f"{SIGNS[name]} = {getattr(study, name):g}")
    return ", ".join(parts)
