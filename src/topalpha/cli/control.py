"""``topalpha control``: pause, continue or stop a running search."""

from __future__ import annotations

import click

from topalpha.cli.output import console
from topalpha.cli.program import Command, refusals
from topalpha.cli.records import name_option
from topalpha.storage import ACTIONS
from topalpha.storage.plain_text import plain

_DONE = {
    "pause": "starts no new evaluations until it is told to continue",
    "continue": "goes on",
    "stop": "ends after the evaluations in flight, with the proved result",
}


@click.command(cls=Command)
@click.argument("file")
@click.argument("action", type=click.Choice(ACTIONS))
@name_option
def control(file: str, action: str, name: str | None) -> None:
    """Pause, continue or stop the running search in FILE.

    Stopped, it returns what it has proved so far. It obeys within a second, or when its current evaluation ends if
    evaluations run one by one.
    """
    from topalpha.storage import control as tell

    with refusals():
        told = tell(file, name, action)
    console().print(plain(f"The search {told!r} was told: it {_DONE[action]}."), markup=False)
