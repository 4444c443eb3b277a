"""``topalpha control``: pause, continue or stop a running search."""

from __future__ import annotations

import click

from topalpha.cli.program import refusals
from topalpha.cli.records import name_option
from topalpha.storage import ACTIONS
from topalpha.storage.plain_text import plain

_DONE = {
    "pause": "starts no new evaluations until it is told to continue",
    "continue": "goes on",
    "stop": "ends after the evaluations in flight, with the proved result",
}


@click.command()
@click.argument("file")
@click.argument("action", type=click.Choice(ACTIONS))
@name_option
def control(file: str, action: str, name: str | None) -> None:
    """Tell the running search in FILE to pause, to continue, or to stop with the proved result so far.

    It obeys within a second, or when its current evaluation ends if evaluations run one by one.
    """
    from topalpha.storage import control as tell

    with refusals():
        told = tell(file, name, action)
    click.echo(plain(f"The search {told!r} was told: it {_DONE[action]}."))
