"""The canvas: everything that imports matplotlib, which comes with the extra ``plot``."""

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
from topalpha.validate import installing, require

#: ``matplotlib.axes.Axes``, untyped here.
Axes: TypeAlias = Any
Numbers: TypeAlias = NDArray[np.float64]

#: File formats of pictures, with the dates to leave out.
FORMATS: dict[str, dict[str, Any]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}

#: Inches under an x-axis, for its numbers and its label.
UNDER_LABEL = 0.45

#: Titles are broken into lines of this many characters.
TITLE = 84


@contextmanager
def _needed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ImportError(f"figures must be drawn with matplotlib: {installing('plot')}") from error


@contextmanager
def _any_letters() -> Iterator[None]:
    """Silence warnings about letters missing from the font: a name may hold any, and a box replaces them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def new_figure(width: float = SIZE[0], height: float = SIZE[1]) -> Any:
    """A figure outside pyplot: it belongs to no window, and can be drawn in any thread.

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
    """Axes on a new figure, for pictures that are written to a file.

    Examples
    --------
    >>> new_axes().get_title()
    ''
    """
    return new_figure(width, height).add_subplot()


def chosen(axes: Axes | None) -> Axes:
    """The axes given; else new ones in a pyplot figure, which notebooks and ``pyplot.show`` present.

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
    """Write the picture with these axes as png, svg or pdf, by the ending of ``path``; the same bytes every time.

    An existing file is replaced in one step. Storage files are refused, and so is ``record``, the file that the
    picture was made from, with the files next to it.

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
    # The file contains neither the time nor random names.
    with draft_of(path, record, name="path") as draft, _any_letters(), rc_context({"svg.hashsalt": "topalpha"}):
        axes.figure.savefig(draft, format=kind[1:], dpi=dpi, metadata=FORMATS[kind])


def svg(axes: Axes) -> str:
    """The picture as SVG for use inside a page, without the lines that only a file needs.

    Examples
    --------
    >>> svg(new_axes())[:4]
    '<svg'
    """
    with _needed():
        from matplotlib import rc_context
    stream = StringIO()
    # Text stays text, so that it can be read aloud, searched and copied.
    with _any_letters(), rc_context({"svg.hashsalt": "topalpha", "svg.fonttype": "none"}):
        axes.figure.savefig(stream, format="svg", metadata=FORMATS[".svg"])
    text = stream.getvalue()
    return text[text.index("<svg") :]


def bars(axes: Axes, x: Numbers, low: Numbers, high: Numbers, **look: Any) -> Any:
    """Vertical bars from low to high, as one object."""
    from matplotlib.collections import LineCollection

    ends = np.stack([np.column_stack([x, low]), np.column_stack([x, high])], axis=1)
    found = LineCollection(list(ends), **look)
    axes.add_collection(found, autolim=False)
    return found


def in_lines(title: str) -> str:
    """The title broken into lines that fit; wide letters count as more than one.

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
    """The width of a line in ordinary letters."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in line)
    return len(line) + 1.2 * wide + 0.65 * sum(sign in "mwMW@%—…" for sign in line) + 0.15 * sum(map(str.isupper, line))


def dressed(
    axes: Axes, title: str, x: str, y: str, handles: Sequence[Any] = (), columns: int = 2, above: float = 6.0
) -> Axes:
    """The axes with title, labels, a pale grid, and a legend below, where there is room for it.

    ``above`` is the space between axes and title, in points.
    """
    # A name may hold any character: none of it is mathematics.
    axes.set_title(in_lines(title), loc="left", fontsize=10, pad=above, parse_math=False)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if handles:
        # A layout engine makes room below; without one, only a legend inside is never cut off.
        roomy = axes.figure.get_layout_engine() is not None
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16)} if roomy else {"loc": "best"}
        columns = _columns([str(one.get_label()) for one in handles], columns, axes.figure.get_figwidth())
        legend = axes.legend(handles=list(handles), ncols=columns, frameon=not roomy, fontsize=8.5, **where)
        if roomy:
            _narrowed(legend, axes)
    return axes


def _narrowed(legend: Any, axes: Axes) -> None:
    """Break the labels of a legend that is wider than its figure, the longest first: it would be cut off."""
    from matplotlib.transforms import ScaledTranslation

    texts = legend.get_texts()
    labels = [text.get_text() for text in texts]
    columns = max(map(len, labels))
    while columns > 12 and legend.get_window_extent().width > axes.figure.bbox.width:
        columns -= 4
        for text, label in zip(texts, labels, strict=True):
            text.set_text(textwrap.fill(label, columns))
        # More lines leave less height to the axes, but the label of its x-axis is as high as before.
        below = ScaledTranslation(0.0, -UNDER_LABEL, axes.figure.dpi_scale_trans)
        legend.set_bbox_to_anchor((0.5, 0.0), axes.transAxes + below)


def _columns(labels: Sequence[str], most: int, width: float) -> int:
    """The most columns in which a legend fits a figure of this width in inches: it is cut off otherwise.

    Examples
    --------
    >>> _columns(["a" * 30] * 3, 3, 7.2), _columns(["a" * 30] * 3, 3, 5.4)
    (3, 2)
    """
    for columns in range(most, 1, -1):
        # A column is filled before the next begins, and has a sample beside its longest label.
        longest = [max(map(_room, part)) for part in np.array_split(labels, columns) if len(part)]
        if sum(0.06 * letters + 0.46 for letters in longest) <= width:
            return columns
    return 1


def sample(label: str, **look: Any) -> Any:
    """A line or marker for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def patch(label: str, **look: Any) -> Any:
    """An area for a legend."""
    from matplotlib.patches import Patch

    return Patch(label=label, **look)


def note(axes: Axes, text: str, side: str = "right") -> None:
    """Write a remark in an upper corner of the axes, on a ground that keeps it legible."""
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


def plain_numbers(axis: Any) -> None:
    """Label a logarithmic axis with a few whole numbers if it covers less than two and a half decades.

    Examples
    --------
    >>> axes = new_axes()
    >>> limits = axes.set(xscale="log", xlim=(90.0, 3000.0))
    >>> plain_numbers(axes.xaxis)
    >>> axes.figure.canvas.draw()
    >>> [text.get_text() for text in axes.get_xticklabels() if 90 < text.get_position()[0] < 3000]
    ['100', '200', '500', '1,000', '2,000']
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    if high < 300.0 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:,.0f}")
        axis.set_minor_formatter(NullFormatter())


def span(*values: Numbers | float | None) -> tuple[float, float]:
    """A range with a margin around all finite values; (0, 1) if there are none.

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
