"""Consent: code that a file of searches names, or holds as pickles, runs only if the user allows it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from topalpha.cli.code import split, whereabouts
from topalpha.cli.program import fitted


def allow(file: str, named: Mapping[str, str], pickled: bool, allowed: bool) -> None:
    """Return if the file's code may run: by ``allowed``, or by consent at the terminal; raise otherwise.

    Parameters
    ----------
    file
        The file of searches.
    named
        The functions that it names, as ``MODULE:FUNCTION``, by purpose.
    pickled
        Whether it holds pickled candidates that are to be loaded.
    allowed
        Whether the user allowed it beforehand, for example by ``--allow-code``.

    Examples
    --------
    >>> allow("search.db", {"function": "math:sqrt"}, False, allowed=True)
    >>> allow("search.db", {}, False, allowed=False)
    """
    asked = wishes(named, pickled)
    if allowed or not asked:
        return
    if not _at_a_terminal():
        wanted = "; ".join(asked)
        raise ValueError(f"allow-code must be given to run code that {file!r} asks for, got no consent to {wanted}")
    click.echo(f"{file!r} asks to", err=True)
    for wish in asked:
        click.echo(fitted(f"  {wish}"), err=True)
    if not click.confirm(fitted("It can do anything that you can do. Do you trust this file and code?"), err=True):
        raise ValueError(f"allow-code must be given to run code that {file!r} asks for, got no")


def wishes(named: Mapping[str, str], pickled: bool) -> Sequence[str]:
    r"""Descriptions of the code that a file asks to run; control characters in names are escaped.

    Examples
    --------
    >>> wishes({"draw": "/tasks/one.py:draw"}, pickled=True)
    ["run 'draw' of '/tasks/one.py' as draw, from '/tasks/one.py'", 'load pickled candidates, which can run any code']
    """
    found = []
    for purpose, text in named.items():
        module, attribute = split(text, purpose)
        found.append(f"run {attribute!r} of {module!r} as {purpose}, from {whereabouts(module)!r}")
    return [*found, "load pickled candidates, which can run any code"] if pickled else found


def _at_a_terminal() -> bool:
    return all(stream is not None and not stream.closed and stream.isatty() for stream in (sys.stdin, sys.stderr))
