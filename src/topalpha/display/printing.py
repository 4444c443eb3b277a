"""Results as ``print`` and notebooks show them: facts with a word before each, and perhaps a table."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from topalpha.storage.plain_text import plain

#: Colours and fonts are those of the notebook, light or dark.
_CELL = "padding:0.15em 0.9em 0.15em 0;text-align:{};vertical-align:top;border:none"
_FAINT = "opacity:0.65;font-weight:normal"
#: The fewest columns for a fact, however narrow the terminal is.
_LEAST = 20


class Table(NamedTuple):
    """A table: its headings, its rows, and how many rows were left out.

    The last column holds text, the others numbers.

    Examples
    --------
    >>> Table(("score", "candidate"), (("0.9", "a"),)).left_out
    0
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int = 0


class Printed:
    """A result that ``print`` shows as text and a notebook as HTML, both from the same facts.

    Examples
    --------
    >>> class Weather(Printed):
    ...     def _facts(self):
    ...         return [("today", "sun & wind"), ("tomorrow", "rain")]
    >>> print(Weather())
    today     sun & wind
    tomorrow  rain
    >>> "sun &amp; wind" in Weather()._repr_html_()
    True
    """

    __slots__ = ()

    def _facts(self) -> Sequence[tuple[str, str]]:
        """Pairs of a word and the fact that it announces."""
        raise NotImplementedError

    def _table(self) -> Table | None:
        """A table to show after the facts, if any."""
        return None

    def __str__(self) -> str:
        facts = [(word, plain(fact)) for word, fact in self._facts()]
        longest = max(len(word) for word, _ in facts)
        lines = [line for word, fact in facts for line in _broken(f"{word:{longest}}  ", fact)]
        if (table := self._table()) is not None:
            lines += ["", *_lines(table)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: no script, nothing from the network, and the notebook's own colours."""
        rows = "".join(_row([word, fact], ["left", "left"], faint=1) for word, fact in self._facts())
        parts = [f"<table style='border:none'><tbody>{rows}</tbody></table>"]
        if (table := self._table()) is not None:
            sides = ["right"] * (len(table.headings) - 1) + ["left"]
            head = _row(table.headings, sides, faint=len(sides))
            body = "".join(_row(row, sides) for row in table.rows)
            parts.append(f"<table style='border:none'><thead>{head}</thead><tbody>{body}</tbody></table>")
            if table.left_out:
                parts.append(f"<div style='{_FAINT}'>and {table.left_out:,} more</div>")
        return f"<div>{''.join(parts)}</div>"


def _row(cells: Sequence[str], sides: Sequence[str], faint: int = 0) -> str:
    """A row, of which the first ``faint`` cells are headings."""
    found = []
    for place, (cell, side) in enumerate(zip(cells, sides, strict=True)):
        kind, style = ("th", f"{_CELL.format(side)};{_FAINT}") if place < faint else ("td", _CELL.format(side))
        found.append(f"<{kind} style='{style}'>{escape(plain(cell))}</{kind}>")
    return f"<tr style='background:none'>{''.join(found)}</tr>"


def _lines(table: Table) -> list[str]:
    rows = [[plain(cell) for cell in row] for row in (table.headings, *table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.headings) - 1)]
    numbers = [" ".join(f" {cell:>{width}}" for cell, width in zip(row, widths, strict=False)) for row in rows]
    lines = [line for before, row in zip(numbers, rows, strict=True) for line in _broken(f"{before}  ", row[-1])]
    return [*lines, f" and {table.left_out:,} more"] if table.left_out else lines


def _broken(before: str, text: str) -> list[str]:
    """The lines of a text that stands to the right of these letters: broken between words where a terminal ends.

    Examples
    --------
    >>> _broken("spent  ", "all of it")
    ['spent  all of it']
    """
    if sys.stdout is None or not sys.stdout.isatty():
        return [f"{before}{text}".rstrip()]  # whole, so that it can be searched
    room = max(shutil.get_terminal_size().columns - len(before), _LEAST)
    lines = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
    return [f"{before}{lines[0]}".rstrip(), *(" " * len(before) + line for line in lines[1:])]
