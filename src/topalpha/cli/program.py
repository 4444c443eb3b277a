"""How the command line explains itself, and how it ends.

Help is laid out for the terminal. Errors that users can correct are one sentence and an exit code, never a traceback.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import click

from topalpha.storage.plain_text import plain

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

#: Exit codes: a failed check, a refused input, Ctrl-C.
FAILED, REFUSED, INTERRUPTED = 1, 2, 130

#: The widest line of help: longer ones are hard to read.
WIDEST = 120

#: The attribute of a parameter that names its section of the help.
_SECTION = "section"


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


class Help(click.HelpFormatter):
    """Help as wide as the terminal; lines are broken between words only, not at hyphens.

    Examples
    --------
    >>> page = Help(width=24)
    >>> page.write_dl([("--delta FRACTION", "Allowed probability of an error.")])
    >>> print(page.getvalue())
    --delta FRACTION
            Allowed
            probability of
            an error.
    <BLANKLINE>
    """

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, width or min(shutil.get_terminal_size().columns, max_width or WIDEST))

    def _lines(self, text: str, first: int, rest: int) -> str:
        """One paragraph, its lines indented by these numbers of spaces."""
        return textwrap.fill(
            " ".join(text.split()),
            self.width,
            initial_indent=" " * first,
            subsequent_indent=" " * rest,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """The line of usage, further lines indented."""
        self.write(self._lines(f"{prefix or 'Usage:'} {prog} {args}", self.current_indent, 4) + "\n")

    def write_text(self, text: str) -> None:
        """Paragraphs; further lines of an example are indented."""
        indent = self.current_indent
        for place, paragraph in enumerate(text.split("\n\n")):
            rest = indent + 4 if paragraph.startswith("Example:") else indent
            self.write(("\n" if place else "") + self._lines(paragraph, indent, rest) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Terms and their explanations, side by side; a long term has a line of its own."""
        rows = list(rows)
        indent = self.current_indent
        widest = max((len(term) for term, _ in rows), default=0)
        column = indent + min(widest, col_max, self.width // 3) + col_spacing
        longest = max((len(word) for _, text in rows for word in text.split()), default=0)
        column = max(indent + col_spacing, min(column, self.width - longest))
        for term, text in rows:
            begin = " " * indent + term
            if len(begin) + col_spacing > column:
                self.write(begin + "\n" + (self._lines(text, column, column) + "\n" if text else ""))
            else:
                self.write(begin + self._lines(text, column, column)[len(begin) :] + "\n")


class Context(click.Context):
    """A context whose help is laid out for the terminal."""

    formatter_class = Help


class Command(click.Command):
    """A command whose options are listed in sections."""

    context_class = Context

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        for one in sorted(options, key=lambda one: not hasattr(one, _SECTION)):
            if (record := one.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(one, _SECTION, "Other options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def section(title: str, *options: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """A decorator that adds options to a command, listed under this title in its help.

    Examples
    --------
    >>> @click.command(cls=Command)
    ... @section("Target", click.option("--alpha", help="The top fraction to aim at."))
    ... def aim(alpha): ...
    >>> print(aim.get_help(Context(aim, info_name="aim")).splitlines()[2])
    Target:
    """

    def decorate(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
            setattr(command.__click_params__[-1], _SECTION, title)  # type: ignore[attr-defined]
        return command

    return decorate


class Program(click.Group):
    """A group of commands that reports every failure in one line on stderr; a command may return its exit code."""

    context_class = Context

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        #: The commands of each section of the help, by its title.
        self.sections: dict[str, list[str]] = {}

    def add_section(self, title: str, *commands: click.Command) -> None:
        """Add commands, listed under this title in the help."""
        self.sections[title] = [str(one.name) for one in commands]
        for one in commands:
            self.add_command(one)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command with the first sentence of its help, section by section."""
        column = max(map(len, self.commands))
        for title, names in self.sections.items():
            with formatter.section(title):
                sentences = ((self.commands[name].help or "").partition("\n\n")[0] for name in names)
                formatter.write_dl([(name.ljust(column), one) for name, one in zip(names, sentences, strict=True)])

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


def fitted(text: str) -> str:
    """Lines for stderr, broken between words if that is a terminal that is too narrow for them.

    Examples
    --------
    >>> fitted("an evaluation failed")
    'an evaluation failed'
    """
    if not sys.stderr.isatty():
        return text
    wrapper = textwrap.TextWrapper(
        shutil.get_terminal_size().columns, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapper.fill(line) for line in text.split("\n"))


def say(sentence: str) -> None:
    """Print the sentence on stderr, if stderr can be written."""
    with suppress(OSError):
        click.echo(fitted(f"topalpha: {plain(' '.join(sentence.split()))}"), err=True)


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
