"""``topalpha report``: one page about a search, to read, print and share."""

from __future__ import annotations

import click

from topalpha.cli.inputs import COUNT
from topalpha.cli.program import Command, section
from topalpha.cli.records import composed, name_option


@click.command(cls=Command)
@click.argument("file")
@name_option
@section(
    "Output",
    click.option("-o", "--output", required=True, metavar="PAGE", help="The HTML file to write or replace."),
    click.option(
        "--arms", type=COUNT, default=200, show_default=True, help="How many candidates to list, the best first."
    ),
)
def report(file: str, name: str | None, output: str, arms: int) -> int:
    """Write a page about the search in FILE, also while it runs.

    The proof, its assumptions, figures and candidates, in one file that needs no network. All figures are computed
    again from the recorded evaluations; a certificate that disagrees with them is refused. Needs the extra report.

    Example: topalpha report search.db -o report.html
    """

    def compose() -> None:
        from topalpha.report import write

        write(file, output, name, arms=arms)

    return composed(output, file, compose)
