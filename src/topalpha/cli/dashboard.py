"""``topalpha dashboard``: the page that shows a search while it runs."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from topalpha.cli.inputs import PORT
from topalpha.cli.program import Command, Refused, refusals, section
from topalpha.validate import installing

if TYPE_CHECKING:
    from topalpha.dashboard.access import Access

#: Import names of the packages of the extra.
NEEDED = ("anyio", "h11", "jinja2", "plotly", "starlette", "uvicorn")


@click.command(cls=Command)
@click.argument("file")
@section(
    "Page",
    click.option(
        "--host", default="127.0.0.1", show_default=True, help="Address to serve at; all but loopback need the token."
    ),
    click.option("--port", type=PORT, default=8765, show_default=True, help="Port to serve at; 0 for any free port."),
    click.option("--token", envvar="TOPALPHA_TOKEN", help="Lets its holder control searches; a new one unless given."),
    click.option("--no-open", is_flag=True, help="Do not open a browser."),
)
def dashboard(file: str, host: str, port: int, token: str | None, no_open: bool) -> int:
    """Watch the searches in FILE in a browser, until Ctrl-C.

    FILE need not exist yet. The first line printed is the address of the page. Its token lets you pause and stop
    searches. A token given by you is not printed: add /?token= and the token to the address, once.
    """
    with refusals():
        try:
            from topalpha.dashboard.serving import addresses, serve
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in NEEDED:
                raise
            raise _lacking(error) from None

        def announce(access: Access) -> None:
            # The user knows a token of their own, but not one that was made here.
            first, *others = addresses(access, shown=token is None)
            click.echo(first)
            for other in others:
                click.echo(f"from other machines: {other}")
            if token is not None:
                click.echo("For the buttons open it once with ?token= and the token that you gave.", err=True)
            click.echo("Ctrl-C ends it; searches go on.", err=True)
            if not no_open:
                # Other users of the machine can see the browser's arguments: the ticket is good for one visit.
                _open(addresses(replace(access, token=access.ticket.issue()), shown=True)[0])

        try:
            serve(file, host, port, token, announce)
        except ModuleNotFoundError as error:
            raise _lacking(error) from None
        except KeyboardInterrupt:
            pass  # the usual end
    return 0


def _lacking(error: ModuleNotFoundError) -> Refused:
    return Refused(f"dashboard must be installed with its extra ({installing('dashboard')}), got {error}")


def _open(address: str) -> None:
    """Open a browser if there is a screen: a browser in the terminal would be in the way."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
