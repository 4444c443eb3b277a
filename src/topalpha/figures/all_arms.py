"""Pictures of all arms at one moment: their intervals, and their pulls."""

from __future__ import annotations

from typing import Any

import numpy as np

from topalpha.figures.canvas import Axes, Numbers, bars, chosen, dressed, note, patch, sample, span
from topalpha.figures.labels import leaders, line, named, of_status, rewards
from topalpha.figures.style import CHALLENGER, LEADER, LINE, OTHER, Look
from topalpha.standing import Source, Standing, standing
from topalpha.validate import require

#: Up to this many arms are drawn one by one, and up to this many numbered; more are drawn as ranges of neighbours.
SINGLE, NUMBERED = 600, 25
#: The number of ranges for more arms.
RANGES = 300


def intervals(source: Source, name: str | None = None, *, axes: Axes | None = None) -> Axes:
    """The bounds of every arm, with the leader, the arms that contest it, and the line that these must fall under.

    Arms are ordered by their means, the best first. The line is the leader's lower bound plus epsilon: once no other
    arm's upper bound is above it, the leader is within epsilon of all of them. If the search looks for several arms,
    all of them are marked, and the line is the lowest of their lower bounds plus epsilon. For costs all of this is
    upside down. These are the bounds that the algorithm compares, each at its own confidence level; infinite bounds
    leave the picture. A stopping rule that joins the evidence of many arms, such as joint-lucb's, may be met while
    bounds are beyond the line. Very many arms are drawn as areas: the widest interval among neighbours.

    Parameters
    ----------
    source, name
        As for :func:`topalpha.standing.standing`: a result, a search, a file, or a standing.
    axes
        Where to draw; a new pyplot figure unless given.

    Examples
    --------
    >>> from topalpha import search
    >>> from topalpha.figures import intervals, new_axes
    >>> found = search(lambda rng: rng.random(), lambda p, rng: float(rng.random() < p), alpha=0.2, epsilon=0.2,
    ...                algorithm="cc-lucb", progress="none")
    >>> axes = intervals(found, axes=new_axes())
    >>> axes.get_ylabel()
    'mean reward, with its bounds'
    """
    now = standing(source, name)
    _check(now)
    require(now.bounded, "source", "come from an algorithm with bounds at any time", now.algorithm)
    axes = chosen(axes)
    places = _places(now)
    low, high = _limits(now)
    # Infinite bounds reach beyond the edge of the picture.
    lower, upper = np.maximum(now.lower, low - (high - low)), np.minimum(now.upper, high + (high - low))
    handles: list[Any] = []
    for which, look, label in _groups(now):
        _draw(axes, places[which], lower[which], upper[which], now.mean[which], look, len(now.arm))
        shown = look.line | {"marker": look.marker, "linewidth": max(0.8, _width(look, len(now.arm))), "markersize": 5}
        handles.insert(0, sample(label, **shown))
    if now.line is not None and np.isfinite(now.line):
        axes.axhline(now.line, linewidth=1.4, **LINE.line)
        handles.append(sample(f"{line(now)} = {now.line:.4g}", linewidth=1.4, **LINE.line))
    else:
        note(axes, "The leader has no finite bound yet.")
    axes.set_ylim(low, high)
    dressed(
        axes, f"Bounds of {now.drawn:,} arms after {now.total:,} pulls{named(now)}: {of_status(now)}", "", "", handles
    )
    _order_axis(axes, now, places)
    axes.set_ylabel(f"{rewards(now)}, with its bounds")
    return axes


def pulls(source: Source, name: str | None = None, *, axes: Axes | None = None) -> Axes:
    """The number of pulls of each arm, in the order of :func:`intervals`; on a logarithmic scale if necessary.

    If there are too many arms to draw one by one, each step is the largest number among neighbours.

    Parameters
    ----------
    source, name, axes
        As for :func:`intervals`; works for any algorithm.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.figures import new_axes, pulls
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(12)])
    >>> pulls(search, axes=new_axes()).get_ylabel()
    'pulls'
    """
    now = standing(source, name)
    _check(now)
    axes = chosen(axes)
    places = _places(now)
    top = int(now.pulls.max())
    steep = top > 50 * max(1.0, float(np.median(now.pulls)))
    floor = 0.7 if steep else 0.0
    handles: list[Any] = []
    for which, look, label in _groups(now):
        heights, edges = _steps(places[which], now.pulls[which].astype(float), len(now.arm))
        axes.stairs(heights, edges, baseline=floor, fill=True, linewidth=0.6, **look.area)
        handles.insert(0, patch(label, **look.area))
    leads = np.isin(now.arm, now.selection)
    axes.plot(places[leads], now.pulls[leads], markersize=5, clip_on=False, zorder=4, **LEADER.points)
    if steep:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:,.0f}")
    else:
        axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(floor, top * (1.6 if steep else 1.08))
    dressed(axes, f"{now.total:,} pulls of {now.drawn:,} arms{named(now)}: {of_status(now)}", "", "pulls", handles, 3)
    _order_axis(axes, now, places)
    return axes


def _check(now: Standing) -> None:
    require(now.total > 0, "source", "hold at least one reward", now.total)
    require(len(now.arm) == now.drawn, "source", "describe all arms", f"{len(now.arm)} of {now.drawn}")


def _places(now: Standing) -> Numbers:
    """The rank of each arm by its mean, from 1, the best first; arms without a reward come last."""
    key = np.where(np.isnan(now.mean), np.inf, now.mean if now.minimise else -now.mean)
    places = np.empty(len(key))
    places[np.argsort(key, kind="stable")] = np.arange(1.0, len(key) + 1.0)
    return places


def _limits(now: Standing) -> tuple[float, float]:
    """The limits of the vertical axis: all means, and all finite bounds."""
    return span(now.mean, now.lower, now.upper, now.line)


def _groups(now: Standing) -> list[tuple[Numbers, Look, str]]:
    """Groups of arms that are drawn alike, from back to front."""
    leads: Any = np.isin(now.arm, now.selection)
    beyond: Any = np.isin(now.arm, now.above)
    contest = f"{len(now.above):,} beyond the line at the stop"
    if not now.stopped:
        several = "s" if len(now.selection) > 1 else ""
        contest = f"{len(now.above):,} that contest{'s' if len(now.above) == 1 else ''} the leader{several}"
    found = [
        (~leads & ~beyond, OTHER, f"{int((~leads & ~beyond).sum()):,} others"),
        (beyond, CHALLENGER, contest),
        (leads, LEADER, leaders(now)),
    ]
    return [(which, look, label) for which, look, label in found if which.any()]


def _width(look: Look, arms: int) -> float:
    """The width of bars: thinner if there are more, so that they stay apart."""
    return 2.4 if look is LEADER else min(1.4 if look is CHALLENGER else 1.0, 100.0 / arms)


def _draw(axes: Axes, x: Numbers, low: Numbers, high: Numbers, mean: Numbers, look: Look, arms: int) -> None:
    order = {OTHER: 2.0, CHALLENGER: 2.5, LEADER: 3.0}[look]
    size = 7.0 if look is LEADER else 4.5 if arms <= 60 else 2.5
    if arms <= SINGLE or look is LEADER:
        bars(axes, x, low, high, colors=look.colour, linewidths=_width(look, arms), zorder=order)
        axes.plot(x, mean, markersize=size, markeredgewidth=0.0, zorder=order + 0.1, **look.points)
        return
    edges, inside = _ranges(x, arms)
    bottom = _by_range(np.fmin, low, inside, len(edges) - 1)
    top = _by_range(np.fmax, high, inside, len(edges) - 1)
    axes.stairs(top, edges, baseline=bottom, fill=True, linewidth=0.0, zorder=order, **look.area)
    middle, centre = 0.5 * (edges[1:] + edges[:-1]), _by_range(np.fmax, mean, inside, len(edges) - 1)
    axes.plot(middle, centre, linewidth=1.2, zorder=order + 0.1, **look.line)


def _ranges(x: Numbers, arms: int) -> tuple[Numbers, Numbers]:
    """The edges of ranges of neighbours, and the range of each place."""
    edges = np.linspace(0.5, arms + 0.5, RANGES + 1)
    return edges, np.clip(np.searchsorted(edges, x, side="right") - 1, 0, RANGES - 1).astype(float)


def _by_range(fold: np.ufunc, values: Numbers, inside: Numbers, count: int) -> Numbers:
    """The smallest or largest value of each range; NaN for an empty one."""
    found = np.full(count, np.nan)
    fold.at(found, inside.astype(np.int64), values)
    return found


def _steps(x: Numbers, heights: Numbers, arms: int) -> tuple[Numbers, Numbers]:
    """Heights and edges of steps, one per place or range."""
    if arms > SINGLE:
        edges, inside = _ranges(x, arms)
        return _by_range(np.fmax, heights, inside, RANGES), edges
    found = np.full(arms, np.nan)
    found[x.astype(np.int64) - 1] = heights
    return found, np.arange(0.5, arms + 1.0)


def _order_axis(axes: Axes, now: Standing, places: Numbers) -> None:
    """Label the horizontal axis with ranks, or with the numbers of the arms if there is room."""
    best = "smallest" if now.minimise else "largest"
    margin = 0.02 * len(places)  # keep the leader off the edge
    axes.set_xlim(0.4 - margin, len(places) + 0.6 + margin)
    if len(places) <= NUMBERED:
        axes.set_xticks(places, [str(arm) for arm in now.arm])
        axes.set_xlabel(f"arm, the {best} mean first")
    else:
        axes.set_xlabel(f"arms by rank, the {best} mean first")
