"""What commands share on the way out: JSON that arrives whole or not at all, tables, and a bar on stderr."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from topalpha.cli.program import Refused
from topalpha.plain import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Deliver = Callable[[Mapping[str, Any]], None]

# Width of tables where there is no terminal to ask.
_PAGE = 120


@contextmanager
def delivery(target: str | None) -> Iterator[Deliver]:
    """What writes results to the ``--json`` target: checked on entry, before any work, and written in one step.

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
    elif (path := Path(os.path.realpath(target))).exists() and not path.is_file() and not path.is_dir():
        yield lambda results: _write_device(path, results)
    else:
        with _replacing(path, target) as deliver:
            yield deliver


def _write_device(path: Path, results: Mapping[str, Any]) -> None:
    """Write to something that is no plain file, a pipe for example."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write(encode(results) + "\n")


@contextmanager
def _replacing(path: Path, target: str) -> Iterator[Deliver]:
    """A file beside the target, moved over it once complete; gone if there is nothing to move."""
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "is a directory")
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(0, "is write-protected")
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise Refused(f"json must name a file that can be written ({reason}), got {target!r}") from None
    temporary = Path(name)

    def deliver(results: Mapping[str, Any]) -> None:
        temporary.write_text(encode(results) + "\n", encoding="utf-8")
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_mask())
        temporary.replace(path)

    try:
        yield deliver
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _mask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def encode(results: Mapping[str, Any]) -> str:
    """Strict JSON: what is not finite becomes null.

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
    """Where readable results go: stdout, wide enough for these tables whatever the terminal."""
    from rich.console import Console

    found = Console(file=sys.stdout, highlight=False)
    width = found.width if found.is_terminal else _PAGE
    endless = Console(file=sys.stdout, width=10_000)
    needed = [endless.measure(table).maximum for table in tables]
    return Console(file=sys.stdout, highlight=False, width=max(width, *needed, 0))


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A bar on stderr where that is a terminal, silence elsewhere; yields what moves it on.

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
    """A probability as a percentage, with as many digits as it takes to tell it from the next.

    Examples
    --------
    >>> share(0.05), share(0.0123), share(1e-6)
    ('5%', '1.23%', '0.0001%')
    """
    return f"{float(f'{100.0 * value:.3g}'):.10g}%"


def escape(text: str) -> str:
    r"""The text as it is, whatever brackets it has: those would be markup. Control characters do not reach a terminal.

    Examples
    --------
    >>> escape("[red]")
    '\\[red]'
    """
    from rich.markup import escape as as_it_is

    # Line by line: several lines may be ours.
    return as_it_is("\n".join(plain(line) for line in text.split("\n")))


def complain(text: str) -> None:
    """One sentence on stderr."""
    click.echo(f"topalpha: {plain(text)}", err=True)
