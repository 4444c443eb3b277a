"""Where pictures are drawn: all that imports matplotlib, which comes with the extra ``plot``."""

from __future__ import annotations

import os
import textwrap
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topalpha.figures.style import PALE, SIZE
from topalpha.storage.outputs import draft_of
from topalpha.validate import require

#: ``matplotlib.axes.Axes``, which has no types of its own here.
Axes: TypeAlias = Any
Numbers: TypeAlias = NDArray[np.float64]

#: What pictures can be written as, and which of their dates are left out.
FORMATS: dict[str, dict[str, Any]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}

#: Titles are broken into lines of so many characters.
TITLE = 84


@contextmanager
def _needed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ImportError("figures must have matplotlib to be drawn with: pip install 'topalpha[plot]'") from error


@contextmanager
def _any_letters() -> Iterator[None]:
    """Without warnings about letters that the font lacks: a name may hold any, and a box stands for them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def new_figure(width: float = SIZE[0], height: float = SIZE[1]) -> Any:
    """A figure that belongs to nobody else: it is on no list of windows, and can be drawn in any thread.

    Examples
    --------
    >>> new_figure(6.0, 3.0).get_size_inches().tolist()
    [6.0, 3.0]
    """
    with _needed():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_axes(width: float = SIZE[0], height: float = SIZE[1]) -> Axes:
    """Axes on a figure of their own, for pictures that go to a file and to no window.

    Examples
    --------
    >>> new_axes().get_title()
    ''
    """
    return new_figure(width, height).add_subplot()


def chosen(axes: Axes | None) -> Axes:
    """The axes given; else new ones in a figure of pyplot, which notebooks and ``pyplot.show`` present.

    Examples
    --------
    >>> axes = new_axes()
    >>> chosen(axes) is axes
    True
    """
    if axes is not None:
        return axes
    with _needed():
        from matplotlib import pyplot
    return pyplot.figure(figsize=SIZE, layout="constrained").add_subplot()


def save(
    axes: Axes, path: str | os.PathLike[str], dpi: int = 150, *, record: str | os.PathLike[str] | None = None
) -> None:
    """Write the picture that the axes are in: a png, svg or pdf, by the end of its name; the same bytes every time.

    A file that is there is replaced in one step; a storage file is not, whatever its name, and ``record``, the one that
    the picture was made from, is spared with all that lies next to it.

    Examples
    --------
    >>> save(new_axes(), "picture.gif")
    Traceback (most recent call last):
    ValueError: path must end in .png, .svg, .pdf, got 'picture.gif'
    """
    kind = Path(path).suffix.lower()
    require(kind in FORMATS, "path", f"end in {', '.join(FORMATS)}", os.fspath(path))
    with _needed():
        from matplotlib import rc_context
    # Neither the time nor random names go into the file.
    with draft_of(path, record, name="path") as draft, _any_letters(), rc_context({"svg.hashsalt": "topalpha"}):
        axes.figure.savefig(draft, format=kind[1:], dpi=dpi, metadata=FORMATS[kind])


def svg(axes: Axes) -> str:
    """The picture as SVG that can stand inside a page: without the lines that only a file of its own needs.

    Examples
    --------
    >>> svg(new_axes())[:4]
    '<svg'
    """
    with _needed():
        from matplotlib import rc_context
    stream = StringIO()
    # Words stay words there: they can be read aloud, searched and copied.
    with _any_letters(), rc_context({"svg.hashsalt": "topalpha", "svg.fonttype": "none"}):
        axes.figure.savefig(stream, format="svg", metadata=FORMATS[".svg"])
    text = stream.getvalue()
    return text[text.index("<svg") :]


def bars(axes: Axes, x: Numbers, low: Numbers, high: Numbers, **look: Any) -> Any:
    """Vertical bars from low to high, all of them one object."""
    from matplotlib.collections import LineCollection

    ends = np.stack([np.column_stack([x, low]), np.column_stack([x, high])], axis=1)
    found = LineCollection(list(ends), **look)
    axes.add_collection(found, autolim=False)
    return found


def in_lines(title: str) -> str:
    """The title in lines that fit: wide letters take the room of more than one.

    Examples
    --------
    >>> [len(line) for line in in_lines("a" * 100).splitlines()], len(in_lines("W" * 100).splitlines()[0]) < 60
    ([84, 16], True)
    """
    columns = TITLE
    while True:
        lines = textwrap.wrap(title, columns)
        widest = max((_room(line) for line in lines), default=0.0)
        if widest <= TITLE or columns <= 10:
            return "\n".join(lines)
        columns = min(columns - 1, int(columns * TITLE / widest))


def _room(line: str) -> float:
    """How many usual letters wide a line is."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in line)
    return len(line) + 1.2 * wide + 0.65 * sum(sign in "mwMW@%—…" for sign in line) + 0.15 * sum(map(str.isupper, line))


def dressed(
    axes: Axes, title: str, x: str, y: str, handles: Sequence[Any] = (), columns: int = 2, above: float = 6.0
) -> Axes:
    """The axes with their words: title, labels, a pale grid, and a legend below, where there is room for it.

    ``above`` is the room between axes and title, in points.
    """
    # A name may hold any sign: nothing in it is mathematics.
    axes.set_title(in_lines(title), loc="left", fontsize=10, pad=above, parse_math=False)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if handles:
        # A layout engine makes room below; without one, inside is the only place that is never cut off.
        roomy = axes.figure.get_layout_engine() is not None
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16)} if roomy else {"loc": "best"}
        axes.legend(handles=list(handles), ncols=columns, frameon=not roomy, fontsize=8.5, **where)
    return axes


def sample(label: str, **look: Any) -> Any:
    """What stands for something in a legend: a line, a marker or both."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def patch(label: str, **look: Any) -> Any:
    """The same for an area."""
    from matplotlib.patches import Patch

    return Patch(label=label, **look)


def note(axes: Axes, text: str, side: str = "right") -> None:
    """A remark in an upper corner of the axes, on a ground that keeps it legible."""
    axes.text(
        0.99 if side == "right" else 0.01,
        0.98,
        textwrap.fill(text, 46),
        transform=axes.transAxes,
        ha=side,
        va="top",
        fontsize=8.5,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2.0},
    )


def span(*values: Numbers | float | None) -> tuple[float, float]:
    """A range that holds all that is finite among these, with a margin; 0 and 1 where nothing is.

    Examples
    --------
    >>> span(np.array([0.0, np.inf]), None, 1.0)
    (-0.05, 1.05)
    """
    numbers = np.concatenate([np.atleast_1d(np.asarray(one, dtype=float)) for one in values if one is not None])
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return 0.0, 1.0
    low, high = float(numbers.min()), float(numbers.max())
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
    return low - margin, high + margin
