"""What is in a picture, read back from its axes; and what a reader without colours could mistake."""

from __future__ import annotations

import itertools

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.text import Text


def luminance(colour) -> float:
    """Relative luminance, as the guidelines for accessible pages define it."""
    parts = np.array(to_rgb(colour))
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other="white") -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def bars(axes):
    """All vertical bars: x, low and high, in the order of x."""
    found = [
        (start[0], *sorted((start[1], end[1])))
        for one in axes.collections
        if isinstance(one, LineCollection)
        for start, end in one.get_segments()
    ]
    return np.array(sorted(found))


def curves(axes):
    """All curves and sets of markers by what is in their look: (colour, dash, marker)."""
    return {
        (line.get_color(), line.get_linestyle() if line.get_linestyle() != "None" else "", str(line.get_marker())): line
        for line in axes.lines
    }


def plain_looks(axes):
    """How the entries of the legend look to a reader without colours."""
    looks = []
    for handle in axes.get_legend().legend_handles:
        if hasattr(handle, "get_hatch"):  # an area
            rounded = round(luminance(handle.get_facecolor()), 1)
            looks.append(("area", handle.get_hatch(), rounded if not handle.get_hatch() else None))
        else:
            dash = handle.get_linestyle()
            looks.append(("line", dash, str(handle.get_marker()), handle.get_fillstyle(), handle.get_linewidth() > 1.7))
    return looks


def words(axes):
    """Every piece of text that the picture of these axes shows, with where it stands on the page, in pixels."""
    figure = axes.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    ticks, hidden = [], set()
    for axis in (axis for one in figure.axes for axis in (one.xaxis, one.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            hidden |= {id(tick.label1), id(tick.label2)}
            if low <= tick.get_loc() <= high:  # others are there and not shown
                ticks.append(tick.label1)
    texts = [one for one in figure.findobj(Text) if id(one) not in hidden]
    shown = [one for one in (*texts, *ticks) if one.get_visible() and one.get_text().strip()]
    return [(one.get_text(), one.get_window_extent(renderer)) for one in shown]


def faults(axes):
    """Texts that are cut off or lie on one another."""
    page = axes.figure.bbox
    placed = words(axes)
    found = [
        f"{text!r} is cut off"
        for text, box in placed
        if box.x0 < -0.5 or box.y0 < -0.5 or box.x1 > page.width + 0.5 or box.y1 > page.height + 0.5
    ]
    for (one, first), (other, second) in itertools.combinations(placed, 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        high = min(first.y1, second.y1) - max(first.y0, second.y0)
        if wide > 1.0 and high > 1.0:
            found.append(f"{one!r} lies on {other!r}")
    return found
