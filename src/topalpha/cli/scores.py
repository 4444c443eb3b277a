"""``topalpha scores``: a choice replayed on recorded scores, and the error rate of such choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, escape, progress, share
from topalpha.cli.program import FAILED, refusals

if TYPE_CHECKING:
    from rich.table import Table

    from topalpha.testset import Audit, Selection


@click.command()
@click.argument("file", metavar="FILE")
@inputs.list_target_options
@click.option("--endless", is_flag=True, help="Draw candidates with replacement, as from an endless pool.")
@click.option(
    "--algorithm", type=inputs.AlgorithmName(), default="cc-lucb", show_default=True, help="cc-lucb or joint-lucb."
)
@inputs.runs_option(1000)
@inputs.seed_option
@inputs.workers_option
@inputs.json_option
def scores(
    file: str,
    alpha: float | None,
    epsilon: float,
    delta: float,
    endless: bool,
    algorithm: str,
    runs: int,
    seed: int,
    workers: int | None,
    json_target: str | None,
) -> int:
    """Replay the choice of a candidate on recorded scores, once, then many times to count errors.

    FILE is a CSV or JSON table of pass and fail: a row per candidate and a column per example, or a row per evaluation
    with the columns candidate, example and score. The exit code is 1 if choices are wrong more often than delta allows.

    Example: topalpha scores scores.csv --epsilon 0.05 --runs 1000
    """
    with delivery(json_target, file) as deliver:
        with refusals():
            from topalpha.testset import ScoreTable, audit

            table = ScoreTable.read(file)
            chosen = table.select(
                alpha=alpha, epsilon=epsilon, delta=delta, endless=endless, algorithm=algorithm, seed=seed
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
    table = _table(found)
    page = console(table)
    size = f"{found.candidates:,} candidates, {found.examples:,} examples, best score {found.best:.3f}"
    page.print(f"{size}; with seed {found.seed} the choice is", soft_wrap=True)
    page.print(escape(str(chosen)), soft_wrap=True)
    pool = "drawn from the table with replacement" if found.endless else "from the table"
    begin = "the best score" if found.top == found.best else f"where the top {share(found.alpha)} begins"
    page.print(
        f"\n[bold]{found.select.errors.runs:,} choices in random orders[/bold], candidates {pool}. Wrong: a score more "
        f"than {found.epsilon:g} below {found.top:.3f}, {begin}.",
        soft_wrap=True,
    )
    page.print(table)
    verdict = "[green]compatible[/green]" if found.select.compatible else "[bold red]NOT compatible[/bold red]"
    page.print(f"The errors of select are {verdict} with a probability of at most {share(found.delta)}.")


def _table(found: Audit) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("rule", "candidates", "wrong", "rate, 95% interval", "evaluations", "most", "of full evaluation"):
        table.add_column(heading, justify="left" if heading == "rule" else "right", no_wrap=True)
    for one in (found.select, *found.thumbs):
        low, high = one.errors.interval
        table.add_row(
            f"{one.rule} ({found.algorithm})" if one is found.select else one.rule,
            f"{one.candidates:,}",
            f"{one.errors.count:,}",
            f"{share(one.errors.rate)} [{share(low)}, {share(high)}]".replace("[", "\\["),
            f"{one.costs.mean():,.0f}",
            f"{int(one.costs.max()):,}",
            share(one.share),
        )
    return table
