"""How the command line ends: one sentence and a code, never a traceback for what the user can put right."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from topalpha.plain import plain

#: Codes: a verdict that is not good, an input that is not allowed, Ctrl-C.
FAILED, REFUSED, INTERRUPTED = 1, 2, 130


class Refused(click.ClickException):
    """An input that is not allowed."""

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
        """In the order in which they were added, not the alphabet's."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C is a failure like others."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except MemoryError:
            raise Refused("alpha and delta must ask for fewer arms, got more than memory holds") from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, report, and exit with the code (or return it, when not standalone)."""
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            click.echo(f"topalpha: {plain(error.format_message())}", err=True)
            code = INTERRUPTED if isinstance(error, Interrupted) else REFUSED
        except (click.Abort, KeyboardInterrupt):
            click.echo("topalpha: interrupted", err=True)
            code = INTERRUPTED
        except BrokenPipeError:  # the reader of our output has gone: nothing left to say, and nobody to say it to
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = FAILED
        code = code or 0
        if standalone_mode:
            sys.exit(code)
        return code
