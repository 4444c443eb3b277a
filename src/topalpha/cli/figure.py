"""``topalpha figure``: a picture of a search in a file, or one that is still being written."""

from __future__ import annotations

import click

from topalpha.cli.records import composed, name_option

#: The names of :data:`topalpha.figures.KINDS`, which would load NumPy before a command runs.
KINDS = ("race", "intervals", "pulls", "claims")


@click.command()
@click.argument("file")
@name_option
@click.option("--kind", type=click.Choice(KINDS), default="race", show_default=True, help="Which picture.")
@click.option("-o", "--output", required=True, metavar="PICTURE", help="Where to: a .png, .svg or .pdf file.")
def figure(file: str, name: str | None, kind: str, output: str) -> int:
    """Draw the search in FILE: its race, its intervals, its pulls or the claims it has proved. Works while it runs.

    All is computed again from the recorded pulls; a certificate that they do not bear out is refused. Needs matplotlib:
    pip install 'topalpha[plot]'.

    Example: topalpha figure search.db --kind race -o race.png
    """

    def draw() -> None:
        from topalpha import figures

        figures.save(figures.KINDS[kind](file, name, axes=figures.new_axes()), output, record=file)

    return composed(output, file, draw)
