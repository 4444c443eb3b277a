"""Output shared by the commands: JSON written whole or not at all, tables, and a progress bar on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from topalpha.cli.program import refusals
from topalpha.storage.outputs import File, draft_of, refused, writable
from topalpha.storage.plain_text import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Deliver = Callable[[Mapping[str, Any]], None]

# Width of tables without a terminal.
_PAGE = 120


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


def console(*tables: Table) -> Console:
    """A console for readable results: stdout, wide enough for these tables on any terminal."""
    from rich.console import Console

    found = Console(file=sys.stdout, highlight=False)
    width = found.width if found.is_terminal else _PAGE
    endless = Console(file=sys.stdout, width=10_000)
    needed = [endless.measure(table).maximum for table in tables]
    return Console(file=sys.stdout, highlight=False, width=max(width, *needed, 0))


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


def share(value: float) -> str:
    """A probability as a percentage with three significant digits.

    Examples
    --------
    >>> share(0.05), share(0.0123), share(1e-6)
    ('5%', '1.23%', '0.0001%')
    """
    return f"{float(f'{100.0 * value:.3g}'):.10g}%"


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
