"""How the command line ends: one sentence and an exit code, never a traceback for errors that users can correct."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import click

from topalpha.storage.plain_text import plain

#: Exit codes: a failed check, a refused input, Ctrl-C.
FAILED, REFUSED, INTERRUPTED = 1, 2, 130


class Refused(click.ClickException):
    """An invalid input."""

    exit_code = REFUSED


class Interrupted(click.ClickException):
    """Ctrl-C."""

    exit_code = INTERRUPTED


@contextmanager
def refusals() -> Iterator[None]:
    """Turn a ``ValueError`` about the user's input into a refusal.

    Examples
    --------
    >>> with refusals():
    ...     raise ValueError("alpha must lie strictly between 0 and 1, got 2.0")
    Traceback (most recent call last):
    topalpha.cli.program.Refused: alpha must lie strictly between 0 and 1, got 2.0
    """
    try:
        yield
    except (ValueError, OverflowError) as error:
        raise Refused(str(error)) from error


class Program(click.Group):
    """A group of commands that reports every failure in one line on stderr; a command may return its exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which they were added."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C is reported like other failures."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except MemoryError:
            raise Refused("alpha and delta must ask for fewer candidates, got more than memory holds") from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, report, and exit with the code (or return it, when not standalone)."""
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
        try:
            if sys.stdout is None:  # the next opened file would take its place
                raise Refused("standard output must be open, got a closed one")
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except click.ClickException as error:
            say(error.format_message())
            code = INTERRUPTED if isinstance(error, Interrupted) else REFUSED
        except (click.Abort, KeyboardInterrupt):
            say("interrupted")
            code = INTERRUPTED
        except OSError as error:
            code = _failed(error)
        code = code or 0
        if standalone_mode:
            sys.exit(code)
        return code


def say(sentence: str) -> None:
    """Print the sentence on stderr, if stderr can be written."""
    with suppress(OSError):
        click.echo(f"topalpha: {plain(' '.join(sentence.split()))}", err=True)


def _failed(error: OSError) -> int:
    """Report an error of the operating system, and return the exit code."""
    if error.filename is not None:
        say(f"file must be accessible, got {error.filename!r} ({error.strerror})")
        return REFUSED
    # Python would write the rest of the output again at exit, and fail again, with a traceback.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):  # its reader is gone: there is nobody to tell
        say(f"standard output must be writable, got {error.strerror or error}")
    return FAILED
