"""``topalpha figure``: a picture of a search in a file, also while it is written."""

from __future__ import annotations

import click

from topalpha.cli.program import Command, section
from topalpha.cli.records import composed, name_option

#: The keys of :data:`topalpha.figures.KINDS`, repeated because importing them would load NumPy.
KINDS = ("race", "intervals", "pulls", "claims", "difference")


@click.command(cls=Command)
@click.argument("file")
@name_option
@section(
    "Output",
    click.option(
        "--kind",
        type=click.Choice(KINDS),
        default="race",
        show_default=True,
        metavar="KIND",
        help=f"Which picture: {', '.join(KINDS)}.",
    ),
    click.option("-o", "--output", required=True, metavar="PICTURE", help="The .png, .svg or .pdf file to write."),
)
def figure(file: str, name: str | None, kind: str, output: str) -> int:
    """Draw the search in FILE, also while it runs.

    Its race, its intervals, its evaluations (pulls) or its claims. All figures are computed again from the recorded
    evaluations; a certificate that disagrees with them is refused. Needs the extra plot.

    Example: topalpha figure search.db --kind race -o race.png
    """

    def draw() -> None:
        from topalpha import figures

        figures.save(figures.KINDS[kind](file, name, axes=figures.new_axes()), output, record=file)

    return composed(output, file, draw)
