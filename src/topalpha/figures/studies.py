"""Pictures of studies: pulls against the target with lower bounds, and errors against delta."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from topalpha.families import checked, parse_family
from topalpha.figures.canvas import Axes, chosen, dressed, note, patch, sample
from topalpha.figures.style import LIMIT, LIMIT_EXACT, VERMILION, paler, style
from topalpha.reservoirs import parse
from topalpha.result import Count, Study, standard_error
from topalpha.theory import lower_bound, relaxed_lower_bound
from topalpha.validate import choice, require

Studies: TypeAlias = Study | Iterable[Study]

#: What pulls may be drawn against.
PARAMETERS = ("delta", "alpha", "epsilon")
_SIGNS = {"alpha": "α", "epsilon": "ε", "delta": "δ"}

#: Over the marker of a study with runs that came to no answer.
_CUT = {"linestyle": "none", "marker": "x", "color": "black", "markeredgewidth": 1.6}

#: Into how many steps a lower bound's curve is cut.
_STEPS = 40


def sweep(studies: Studies, against: str | None = None, *, axes: Axes | None = None) -> Axes:
    """Mean pulls against delta, alpha or epsilon, one curve for each algorithm, with what no algorithm can go below.

    Bars are two standard errors to either side; a hollow marker means that runs of this study were cut off, and that
    the true mean is larger. The dashed curve is the lower bound on the expected pulls of every
    (alpha, epsilon, delta)-correct algorithm (:func:`topalpha.theory.relaxed_lower_bound`), the dotted one the paper's
    Theorem 1 for epsilon = 0, which an algorithm with an epsilon may go below. Where a bound does not apply it is left
    out, and why is said.

    Parameters
    ----------
    studies
        What :func:`topalpha.simulate` returned, several times: one reservoir, and all of the target alike but for one
        of its numbers.
    against
        Which number; the one that differs, unless given.
    axes
        Where to draw; a new figure of pyplot unless given.

    Examples
    --------
    >>> from topalpha import design, parse_reservoir, simulate
    >>> from topalpha.figures import new_axes, sweep
    >>> law = parse_reservoir("beta(1,2)", at_most=0.8)
    >>> studies = [simulate(design("cc-lucb", 0.1, 0.1, delta), law, runs=20) for delta in (0.05, 0.2)]
    >>> sweep(studies, axes=new_axes()).get_xlabel()
    'δ'
    """
    found = _several(studies)
    values = {name: sorted({getattr(one, name) for one in found}) for name in PARAMETERS}
    if against is None:
        differing = [name for name in PARAMETERS if len(values[name]) > 1]
        words = "differ in one of alpha, epsilon and delta, or say against which"
        require(len(differing) == 1, "studies", words, ", ".join(differing) or "no difference")
        against = differing[0]
    choice("against", against, PARAMETERS)
    others = [name for name in PARAMETERS if name != against]
    for name in ("reservoir", "family", *others):
        several = sorted({str(getattr(one, name)) for one in found})
        require(len(several) == 1, "studies", f"have one {name}", ", ".join(several))
    axes = chosen(axes)
    handles = []
    for place, algorithm in enumerate(dict.fromkeys(one.algorithm for one in found)):
        some = sorted((one for one in found if one.algorithm == algorithm), key=lambda one: getattr(one, against))
        x = [getattr(one, against) for one in some]
        y = [float(one.pulls.mean()) for one in some]
        errors = [2.0 * (standard_error(one.pulls) or 0.0) for one in some]
        look = {**style(place), "markersize": 6}
        axes.errorbar(x, y, yerr=errors, capsize=3, linewidth=1.5, **look)
        handles.append(sample(algorithm, linewidth=1.5, **look))
        cut = [(at, mean) for at, mean, one in zip(x, y, some, strict=True) if one.unfinished]
        hollow = look | {"linestyle": "none", "markerfacecolor": "white", "zorder": 3.0}
        if cut:
            axes.plot([at for at, _ in cut], [mean for _, mean in cut], **hollow)
    if any(one.unfinished for one in found):
        hollow = {"linestyle": "none", "marker": "o", "color": "black", "fillstyle": "none"}
        handles.append(sample("hollow: runs were cut off, the true mean is larger", markersize=6, **hollow))
    axes.set(xscale="log", yscale="log")
    axes.yaxis.set_major_formatter("{x:,g}")
    handles += _limits(axes, found[0], against, values[against])
    _plain_ticks(axes, values[against])
    one = found[0]
    fixed = ", ".join(f"{_SIGNS[name]} = {getattr(one, name):g}" for name in others)
    title = f"Pulls against {_SIGNS[against]} on {one.reservoir}, {one.family} rewards; {fixed}"
    return dressed(axes, title, _SIGNS[against], "mean pulls of a run", handles)


def errors(studies: Studies, *, axes: Axes | None = None) -> Axes:
    """How often the answer was wrong against delta, with exact (Clopper-Pearson) 95% intervals and the line of delta.

    A proof promises that no true error probability lies above the line. A hollow marker at the lower edge means no
    error in any run: its interval begins at 0, which has no place on a logarithmic scale. Runs that were cut off gave
    no answer, right or wrong: they are left out, and a cross says so. Where none is left there is the cross alone.
    Curves are moved sideways a little, so that bars can be told apart; the line is flat as far as they are.

    Parameters
    ----------
    studies
        What :func:`topalpha.simulate` returned, once or several times.
    axes
        Where to draw; a new figure of pyplot unless given.

    Examples
    --------
    >>> from topalpha import design, parse_reservoir, simulate
    >>> from topalpha.figures import errors, new_axes
    >>> law = parse_reservoir("beta(1,2)", at_most=0.8)
    >>> studies = [simulate(design("cc-lucb", 0.1, 0.1, delta), law, runs=20) for delta in (0.05, 0.2)]
    >>> errors(studies, axes=new_axes()).get_ylabel()
    'fraction of runs that were wrong'
    """
    found = _several(studies)
    axes = chosen(axes)
    deltas = sorted({one.delta for one in found})
    counts = [count for count in map(_answers, found) if count is not None]
    positive = [end for count in counts for end in (count.rate, *count.interval) if end > 0.0]
    floor = 0.5 * min(positive + deltas)
    names = list(dict.fromkeys(_curve_of(one, found) for one in found))
    shift = _shift(deltas, len(names))
    flat = (1.0 + 1e-6) * shift ** (0.5 * (len(names) - 1))
    handles = []
    for place, name in enumerate(names):
        some = sorted((one for one in found if _curve_of(one, found) == name), key=lambda one: one.delta)
        look = style(place)
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
    _plain_ticks(axes, deltas)
    runs = sorted({one.runs for one in found})
    many = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    title = f"Errors in {many} runs each, with exact 95% intervals"
    return dressed(axes, title, "δ: the errors allowed", "fraction of runs that were wrong", handles)


def _answers(study: Study) -> Count | None:
    """The errors among the runs that came to an answer; None without any."""
    finished = study.runs - study.unfinished
    return Count(study.errors.count, finished) if finished else None


def _shift(deltas: Sequence[float], curves: int) -> float:
    """The factor by which each curve is moved against the one before it: so little that no two deltas meet.

    Examples
    --------
    >>> _shift([0.01, 0.1], 2), round(_shift([0.1, 0.11], 3), 4)
    (1.07, 1.0389)
    """
    least = min((high / low for low, high in pairwise(deltas)), default=math.inf)
    # All of them together within a factor of 1.6, and within most of the room between two deltas.
    together: float = min(1.6, least**0.8)
    return float(min(1.07, together ** (1.0 / max(1, curves - 1))))


def _several(studies: Studies) -> list[Study]:
    words = "be a Study or several"
    require(isinstance(studies, Study | Iterable) and not isinstance(studies, str), "studies", words, studies)
    found = [studies] if isinstance(studies, Study) else list(studies)
    wrong = [one for one in found if not isinstance(one, Study)]
    require(bool(found) and not wrong, "studies", words, wrong[0] if wrong else found)
    return found


def _curve_of(study: Study, among: Sequence[Study]) -> str:
    """What a curve is called: the algorithm, with whatever else differs beside delta."""
    parts = [study.algorithm]
    for name in ("reservoir", "family"):
        if len({getattr(one, name) for one in among}) > 1:
            parts.append(str(getattr(study, name)))
    for name in ("alpha", "epsilon"):
        if len({getattr(one, name) for one in among}) > 1:
            parts.append(f"{_SIGNS[name]} = {getattr(study, name):g}")
    return ", ".join(parts)


def _limits(axes: Axes, study: Study, against: str, values: Sequence[float]) -> list[object]:
    """The curves of both lower bounds where they apply; what stands for them in the legend."""
    target = {name: getattr(study, name) for name in PARAMETERS}
    grid = np.geomspace(values[0], values[-1], _STEPS) if len(values) > 1 else np.array(values)
    try:
        law, family = parse(study.reservoir), checked(parse_family(study.family))
    except ValueError as error:
        note(axes, f"No lower bound: {error}.")
        return []
    handles: list[object] = []
    missing: list[tuple[str, str]] = []
    for look, label in ((LIMIT, "lower bound for this α, ε, δ"), (LIMIT_EXACT, "lower bound for ε = 0 (Theorem 1)")):
        heights, reasons = [], []
        for value in grid:
            at = {**target, against: float(value)}
            if look is LIMIT:
                bound = relaxed_lower_bound(law, at["alpha"], at["epsilon"], at["delta"], family)
            else:
                bound = lower_bound(law, at["alpha"], at["delta"], family)
            heights.append(np.nan if bound.value is None or bound.value <= 0.0 else bound.value)
            if bound.void:
                reasons.append(bound.reason)
        drawn = bool(np.isfinite(heights).any())
        if drawn:
            axes.plot(grid, heights, linewidth=1.6, **look.line)
            handles.append(sample(label, linewidth=1.6, **look.line))
        if reasons:
            missing.append((f"Not everywhere a {label}" if drawn else f"No {label}", reasons[0]))
    if missing:
        which, reason = missing[0]
        note(axes, f"{which if handles else 'No lower bound'}: {reason}.")
    return handles


def _plain_ticks(axes: Axes, values: Sequence[float]) -> None:
    """The values themselves on the horizontal axis; of those that stand close together every other one, and so on."""
    kept: list[float] = []
    for value in values:
        if not kept or value >= kept[-1] * (values[-1] / values[0]) ** 0.07:
            kept.append(value)
    axes.set_xticks(kept, [f"{value:g}" for value in kept])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
