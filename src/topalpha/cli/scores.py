"""``topalpha scores``: a choice replayed on recorded scores, and the error rate of such choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from topalpha.cli import inputs
from topalpha.cli.output import Column, console, delivery, paragraphs, progress, share, tabulate
from topalpha.cli.program import FAILED, Command, refusals, section

if TYPE_CHECKING:
    from rich.console import Console

    from topalpha.testset import Audit, Selection


@click.command(cls=Command)
@click.argument("file", metavar="FILE")
@inputs.list_target_options
@section(
    "Target", click.option("--endless", is_flag=True, help="Draw candidates with replacement, as from an endless pool.")
)
@inputs.algorithm_option(None, "cc-lucb or joint-lucb for orders of their own, paired for a shared one.", options=False)
@section(
    "Algorithm",
    click.option(
        "--order",
        type=click.Choice(["shared", "own"]),
        help="One order of the examples for all candidates, or one for each. Default: shared for up to 10 candidates.",
    ),
)
@inputs.runs_option(1000)
@inputs.seed_option("Runs")
@inputs.workers_option
@inputs.json_option
def scores(
    file: str,
    alpha: float | None,
    epsilon: float,
    delta: float,
    endless: bool,
    algorithm: str | None,
    order: str | None,
    runs: int,
    seed: int,
    workers: int | None,
    json_target: str | None,
) -> int:
    """Replay a choice on recorded scores, and count its errors.

    It is replayed once in full, then many times in random orders. FILE is a CSV or JSON table of pass and fail, or of
    scores between 0 and 1: a row per candidate and a column per example, or a row per evaluation with the columns
    candidate, example and score. The exit code is 1 if choices are wrong more often than delta allows.

    Example: topalpha scores scores.csv --epsilon 0.05 --runs 1000
    """
    with delivery(json_target, file) as deliver:
        with refusals():
            from topalpha.testset import ScoreTable, audit

            table = ScoreTable.read(file)
            chosen = table.select(
                alpha=alpha,
                epsilon=epsilon,
                delta=delta,
                endless=endless,
                order=order,
                algorithm=algorithm,
                seed=seed,
            )
            with progress(runs, "replays") as advance:
                found = audit(
                    table,
                    alpha=alpha,
                    epsilon=epsilon,
                    delta=delta,
                    runs=runs,
                    seed=seed,
                    endless=endless,
                    order=order,
                    algorithm=algorithm,
                    workers=workers,
                    progress=advance,
                )
        deliver({"file": file, "replay": chosen.to_dict(), "audit": found.to_dict()})
    if json_target != "-":
        show(chosen, found)
    return 0 if found.passed else FAILED


def show(chosen: Selection, found: Audit) -> None:
    """Print the choice, and the table of errors and costs."""
    page = console()
    size = f"{found.candidates:,} candidates, {found.examples:,} examples, best score {found.best:.3f}"
    page.print(f"{size}; with seed {found.seed} the choice is")
    paragraphs(page, str(chosen), 8)
    pool = "drawn from the table with replacement" if found.endless else "from the table"
    begin = "the best score" if found.top == found.best else f"where the top {share(found.alpha)} begins"
    page.print(
        f"\n[bold]{found.select.errors.runs:,} choices in random orders[/bold], candidates {pool}. Wrong: a score more "
        f"than {found.epsilon:g} below {found.top:.3f}, {begin}."
    )
    _table(page, found)
    verdict = "[green]compatible[/green]" if found.select.compatible else "[bold red]NOT compatible[/bold red]"
    page.print(f"\nThe errors of select are {verdict} with a probability of at most {share(found.delta)}.")


def _table(page: Console, found: Audit) -> None:
    columns = (
        Column("rule", left=True),
        Column("candidates", rank=2),
        Column("wrong"),
        Column("rate", rank=1),
        Column("95% interval", rank=1),
        Column("evaluations"),
        Column("most", rank=3),
        Column("of full evaluation"),
    )
    rows = []
    for one in (found.select, *found.thumbs):
        low, high = one.errors.interval
        rows.append(
            (
                f"{one.rule} ({found.algorithm})" if one is found.select else one.rule,
                f"{one.candidates:,}",
                f"{one.errors.count:,}",
                share(one.errors.rate),
                f"{share(low)} to {share(high)}",
                f"{one.costs.mean():,.0f}",
                f"{int(one.costs.max()):,}",
                share(one.share),
            )
        )
    tabulate(page, columns, rows)
