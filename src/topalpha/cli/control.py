"""``topalpha control``: tell a running search to pause, to go on or to end."""

from __future__ import annotations

import click

from topalpha.cli.program import refusals
from topalpha.cli.records import name_option
from topalpha.storage import ACTIONS
from topalpha.storage.plain_text import plain

_DONE = {
    "pause": "starts no new pulls until it is told to continue",
    "continue": "goes on",
    "stop": "ends after the pulls in flight, with what is proved",
}


@click.command()
@click.argument("file")
@click.argument("action", type=click.Choice(ACTIONS))
@name_option
def control(file: str, action: str, name: str | None) -> None:
    """Tell the search that runs in FILE to pause, to continue, or to stop and say what is proved.

    It obeys within a second; where pulls run one by one, as soon as the present one is over.
    """
    from topalpha.storage import control as tell

    with refusals():
        told = tell(file, name, action)
    click.echo(plain(f"The search {told!r} was told: it {_DONE[action]}."))
