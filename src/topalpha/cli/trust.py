"""Consent: code that a file of searches names, or holds as pickles, runs only if a person allows it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from topalpha.cli.code import split, whereabouts


def allow(file: str, named: Mapping[str, str], pickled: bool, allowed: bool) -> None:
    """Return if what the file asks for may run: allowed beforehand, or by whoever sits at the terminal.

    Parameters
    ----------
    file
        The file that asks.
    named
        What it names, as ``MODULE:FUNCTION``, by what that is for.
    pickled
        Whether it holds candidates as pickles, which are to be loaded.
    allowed
        Whether it was allowed beforehand, as by ``--allow-code``.

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
        raise ValueError(f"allow-code must be given to run code that {file!r} asks for, got no leave to {wanted}")
    click.echo(f"{file!r} asks to", err=True)
    for wish in asked:
        click.echo(f"  {wish}", err=True)
    if not click.confirm("This can do anything that you can do. Do you trust the file and this code?", err=True):
        raise ValueError(f"allow-code must be given to run code that {file!r} asks for, got no")


def wishes(named: Mapping[str, str], pickled: bool) -> Sequence[str]:
    r"""What a file asks for, in words; control characters in names are spelled out.

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
    """Whether there is someone to ask."""
    return all(stream is not None and not stream.closed and stream.isatty() for stream in (sys.stdin, sys.stderr))
