"""``topalpha duel``: which of two candidates of a table is better, or a gate for build pipelines."""

from __future__ import annotations

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, paragraphs
from topalpha.cli.program import Command, refusals, section


@click.command(cls=Command)
@click.argument("file", metavar="FILE")
@section(
    "Candidates",
    click.option(
        "--candidates", nargs=2, required=True, metavar="FIRST SECOND", help="The names of the two, as in the table."
    ),
)
@section(
    "Target",
    click.option("--epsilon", type=inputs.POSITIVE, default=0.05, show_default=True, help="How near is equal."),
    click.option("--delta", type=inputs.FRACTION, default=0.05, show_default=True, help="Chance of a wrong verdict."),
    click.option("--margin", type=inputs.NUMBER, help="A gate: may the second be worse than the first by this much?"),
)
@section(
    "Runs",
    click.option("--seed", type=int, default=None, help="Seed of the order of the examples. Default: a fresh one."),
    click.option("--evaluations", type=int, default=None, help="Stop after this many, even if it is undecided."),
)
@inputs.json_option
def duel(
    file: str,
    candidates: tuple[str, str],
    epsilon: float,
    delta: float,
    margin: float | None,
    seed: int | None,
    evaluations: int | None,
    json_target: str | None,
) -> int:
    """Decide between two candidates on recorded scores.

    FILE is a table as for topalpha scores. The examples are looked at in a random order, and only as many as the
    verdict needs. With --margin it is a gate for a build pipeline: pass if the second candidate is not worse than the
    first by more than the margin. The exit code is 0 for a verdict, 1 for fail, and 3 if it is undecided.

    Example: topalpha duel scores.csv --candidates old new --margin 0.01
    """
    with delivery(json_target, file) as deliver:
        with refusals():
            from topalpha.testset import ScoreTable

            table = ScoreTable.read(file)
            found = table.duel(*candidates, epsilon=epsilon, delta=delta, margin=margin, seed=seed, pulls=evaluations)
        deliver({"file": file, "duel": found.to_dict()})
    if json_target != "-":
        paragraphs(console(), str(found), 8)
    return found.exit_code
