"""Output shared by the commands: JSON written whole or not at all, pages and tables, and a progress bar on stderr."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from topalpha.cli.program import refusals
from topalpha.storage.outputs import File, draft_of, refused, writable
from topalpha.storage.plain_text import plain
from topalpha.validate import share as share

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Deliver = Callable[[Mapping[str, Any]], None]

# The width without a terminal: no line is broken for programs, and for pagers that do it themselves.
_ENDLESS = 100_000

# The space between two columns of a table.
_GAP = 2

# Shorter texts in a table are broken only where even the most important columns find no room otherwise.
_COMFORT = 18


@contextmanager
def delivery(target: str | None, *spared: File) -> Iterator[Deliver]:
    """A function that writes results to the ``--json`` target, checked before any work and written in one step.

    ``spared`` are the other files that the command reads or writes.

    Examples
    --------
    >>> with delivery("-") as deliver:
    ...     deliver({"pulls": math.inf})
    {
      "pulls": null
    }
    """
    if target is None:
        yield lambda results: None
    elif target == "-":
        yield lambda results: click.echo(encode(results))
    else:
        with refusals():
            writable("json", target, *spared)

        def deliver(results: Mapping[str, Any]) -> None:
            with written("json", target, *spared) as draft:
                draft.write_text(encode(results) + "\n", encoding="utf-8")

        yield deliver


@contextmanager
def written(name: str, target: str, *spared: File) -> Iterator[Path]:
    """A draft of the file that an option names; an error while writing is a refusal.

    Examples
    --------
    >>> with written("csv", "searches.db", "searches.db"):
    ...     pass
    Traceback (most recent call last):
    topalpha.cli.program.Refused: csv must be a separate file from 'searches.db', got 'searches.db'
    """
    with refusals():
        try:
            with draft_of(target, *spared, name=name) as draft:
                yield draft
        except OSError as error:
            raise refused(name, target, error) from error


def encode(results: Mapping[str, Any]) -> str:
    """Strict JSON: numbers that are not finite become null.

    Examples
    --------
    >>> encode({"upper": math.nan, "pulls": (1, 2.5)}).split()
    ['{', '"upper":', 'null,', '"pulls":', '[', '1,', '2.5', ']', '}']
    """
    return json.dumps(_plain(results), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def console() -> Console:
    """A page for readable results on stdout: as wide as the terminal, and without one as wide as its lines.

    Lines are broken between words. Without a terminal there are no control codes.
    """
    from rich.console import Console

    # Both are given, because a console takes any plain ("dumb") terminal to be 80 columns wide.
    width, height = shutil.get_terminal_size()
    if not Console(file=sys.stdout).is_terminal:
        width = _ENDLESS
    return Console(file=sys.stdout, highlight=False, emoji=False, width=width, height=height)


def facts(page: Console, rows: Sequence[tuple[str, str]], style: str = "") -> None:
    """Print names and texts side by side, or one below the other where there is little room.

    Texts are broken between words.

    Examples
    --------
    >>> facts(console(), [("spent", "40 evaluations"), ("by", "joint-lucb")])
    spent  40 evaluations
    by     joint-lucb
    """
    from rich.padding import Padding
    from rich.table import Table

    longest = max((len(name) for name, _ in rows), default=0)
    if longest + _GAP > 0.4 * page.width:
        for name, text in rows:
            page.print(name, style=style)
            page.print(Padding(text, (0, 0, 0, 4)))
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, _GAP, 0, 0))
    table.add_column(no_wrap=True, style=style)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(name, text)
    _print_table(page, table)


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    heading
        Its title.
    rank
        0 for a column that stays. Where there is no room for all, those of the highest rank go first.
    left
        Whether it holds text: aligned left, and broken between words.
    breaks
        Whether its cells may be broken between words although they are aligned right.
    """

    heading: str
    rank: int = 0
    left: bool = False
    breaks: bool = False


def tabulate(page: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits: text is broken between words, and columns that find no room are left out and named.

    If even the columns that stay find no room, each row is printed as a list of all its cells.

    Examples
    --------
    >>> from rich.console import Console
    >>> columns = Column("algorithm", left=True), Column("pulls"), Column("median", rank=1)
    >>> tabulate(Console(width=20, highlight=False), columns, [("joint-lucb", "1,493", "1,372")])
    algorithm   pulls
    ─────────────────
    joint-lucb  1,493
    Left out for want of
    room: median.
    """
    from rich import box
    from rich.table import Table

    cells = [[_Extent.of(row[place], page.width) for row in rows] for place in range(len(columns))]
    for comfort in (_COMFORT, 0):
        sizes = [_needed(column, some, comfort) for column, some in zip(columns, cells, strict=True)]
        kept = _fitting(columns, [one.least for one in sizes], page.width)
        if kept:
            break
    else:
        _as_lists(page, columns, rows)
        return
    spare = page.width + _GAP - sum(sizes[place].least + _GAP for place in kept)
    widths = {place: sizes[place].least for place in kept}
    for place in sorted(kept, key=lambda place: sizes[place].whole - sizes[place].least):
        more = min(spare, sizes[place].whole - widths[place])
        widths[place] += more
        spare -= more
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0))
    for place in kept:
        one = columns[place]
        table.add_column(one.heading, justify="left" if one.left else "right", width=widths[place], overflow="fold")
    for row in rows:
        table.add_row(*(row[place] for place in kept))
    _print_table(page, table)
    gone = dict.fromkeys(column.heading for place, column in enumerate(columns) if place not in kept)
    if gone:
        page.print(f"Left out for want of room: {', '.join(gone)}.")


def _fitting(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """The places of the columns that find room, by their ranks; none if those of rank 0 find none."""
    kept = list(range(len(columns)))
    while sum(widths[place] + _GAP for place in kept) - _GAP > room:
        last = max(kept, key=lambda place: (columns[place].rank, place))
        if columns[last].rank == 0:
            return []
        kept.remove(last)
    return kept


def _as_lists(page: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print each row as a list of its cells, with their headings."""
    for number, row in enumerate(rows):
        if number:
            page.print()
        cells = zip(columns, row, strict=True)
        facts(
            page,
            [
                (f"  {column.heading}" if place else column.heading, cell.strip())
                for place, (column, cell) in enumerate(cells)
                if cell.strip()
            ],
        )


class _Extent(NamedTuple):
    """The columns of the terminal that a text takes: at least, when it is broken between words, and in one line."""

    least: int
    whole: int

    @classmethod
    def of(cls, markup: str, room: int) -> _Extent:
        from rich.cells import cell_len
        from rich.text import Text

        text = Text.from_markup(markup, emoji=False).plain
        # A word that fills the page is broken after all.
        longest = max(map(cell_len, text.split()), default=0)
        return cls(min(longest, max(8, room // 3)), max(map(cell_len, text.split("\n"))))


def _needed(column: Column, cells: Sequence[_Extent], comfort: int) -> _Extent:
    """The room for a column: its heading is broken between words, and so are cells longer than ``comfort`` that may."""
    heading = _Extent.of(column.heading, _ENDLESS)
    breaks = column.left or column.breaks
    least = max([heading.least, *(max(one.least, min(one.whole, comfort)) if breaks else one.whole for one in cells)])
    return _Extent(least, max([least, heading.whole, *(one.whole for one in cells)]))


def _print_table(page: Console, table: Table) -> None:
    """Print a table without the spaces that fill up its lines."""
    with page.capture() as capture:
        page.print(table)
    page.file.write("".join(line.rstrip() + "\n" for line in capture.get().splitlines()))


def paragraphs(page: Console, text: str, indent: int) -> None:
    """Print text that has its own lines; those that are too long are broken between words, and go on indented.

    Examples
    --------
    >>> from rich.console import Console
    >>> paragraphs(Console(width=20), "proved  that it is within 0.1 of the best", 8)
    proved  that it is
            within 0.1
            of the best
    """
    for line in text.splitlines():
        parts = textwrap.wrap(
            line, page.width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
        )
        page.print("\n".join(parts), markup=False, soft_wrap=True)


def unmarked(text: str) -> str:
    """A sentence of a docstring without its markup.

    Examples
    --------
    >>> unmarked("Means up to ``highest``; see :func:`parse_family`.")
    'Means up to highest; see parse_family.'
    """
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("`", "")


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr if that is a terminal, else nothing; yields the function that advances it.

    Examples
    --------
    >>> with progress(3, "runs") as advance:
    ...     advance(1)
    """
    if not sys.stderr.isatty():
        yield lambda steps: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)


def escape(text: str) -> str:
    r"""The text without markup: brackets are escaped, control characters replaced.

    Examples
    --------
    >>> escape("[red]")
    '\\[red]'
    """
    from rich.markup import escape as as_it_is

    # Line by line: the text may have several lines.
    return as_it_is("\n".join(plain(line) for line in text.split("\n")))
