"""``topalpha plan``: the expected cost of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, progress
from topalpha.cli.program import refusals

if TYPE_CHECKING:
    from rich.table import Table

    from topalpha.planner import Cost, Plan

# Marks a figure that was scaled from a coarser target.
_MARK = "*"


@click.command()
@click.option("--algorithm", type=inputs.AlgorithmName(), help="See `topalpha list`; the default suits the rewards.")
@click.option("--family", help="Rewards: bernoulli, range(lo,hi), normal, ...; see `topalpha list`.")
@click.option("--minimise", is_flag=True, help="Rewards are costs: small values are good.")
@inputs.list_target_options
@click.option("--candidates", type=inputs.COUNT, help="The length of a list of candidates. Default: an endless pool.")
@click.option("--examples", type=inputs.COUNT, help="The size of a test set, pass or fail: a plan for select.")
@click.option("--price", type=inputs.PRICE, help="Money for one evaluation, in any unit.")
@click.option("--seconds", type=inputs.SECONDS, help="How long one evaluation takes.")
@inputs.option_option
@click.option(
    "--pilot",
    metavar="FILE",
    help="CSV of evaluations already made: columns candidate,reward or candidate,mean,pulls.",
)
@inputs.runs_option(100)
@inputs.seed_option
@inputs.workers_option
@inputs.json_option
def plan(
    algorithm: str | None,
    family: str | None,
    minimise: bool,
    alpha: float | None,
    epsilon: float,
    delta: float,
    candidates: int | None,
    examples: int | None,
    price: float | None,
    seconds: float | None,
    options: tuple[str, ...],
    pilot: str | None,
    runs: int,
    seed: int,
    workers: int | None,
    json_target: str | None,
) -> None:
    """Estimate how many candidates and evaluations a search will cost, before anything is spent.

    Expected evaluations are simulated: on a pilot, if given, else on a hard reservoir (pool) and an easy one.

    Examples: topalpha plan --alpha 0.05 --epsilon 0.05 --delta 0.05 --pilot pilot.csv,
    and for select: topalpha plan --candidates 29 --examples 200 --price 0.002 --seconds 3
    """
    with delivery(json_target, pilot) as deliver:
        from topalpha.algorithms import entry
        from topalpha.planner import plan as make
        from topalpha.planner import read_pilot
        from topalpha.planner.planning import aim, chosen_for, model_for, neighbours

        with refusals():
            target = aim(alpha, epsilon, delta, candidates, examples)
            model = model_for(family, minimise, examples)
            chosen = inputs.read_options(entry(chosen_for(algorithm, model, examples)), options)
            summary = None if pilot is None else read_pilot(pilot, model)
            targets = 1 + sum(1 for _ in neighbours(target, model))
            with progress(targets * (2 if summary is None else 1), "plan") as advance:
                found = make(
                    *(alpha, epsilon, delta, family),
                    minimise=minimise,
                    algorithm=algorithm,
                    pilot=summary,
                    runs=runs,
                    seed=seed,
                    workers=workers,
                    progress=advance,
                    candidates=candidates,
                    examples=examples,
                    price=price,
                    seconds=seconds,
                    **chosen,
                )
        deliver(found.to_dict())
    if json_target != "-":
        show(found)


def show(found: Plan) -> None:
    """Print the statement first, then the tables."""
    tables = _costs(found), _rows(found), _bills(found)
    page = console(*tables)
    page.print(f"[bold]{found.statement}[/bold]")
    cap, source = found.cap
    page.print(
        f"Never more than {cap:,} evaluations, one at a time ({source})."
        if cap is not None
        else f"{source.capitalize()}."
    )
    if not found.covered:
        page.print(f"[red]No proof covers this design of {found.algorithm}.[/red]")
    if found.pilot is not None:
        one = found.pilot
        page.print(
            f"Pilot: {one.candidates:,} candidates, {one.evaluations:,} evaluations. Means around {one.mean:.3g}, a "
            f"spread of {one.spread:.3g} (standard deviation; {one.raw_spread:.3g} before their noise is taken out)."
        )
    page.print(f"\n[bold]Evaluations[/bold], {found.algorithm} with {found.family} rewards")
    page.print(tables[0])
    if found.price is not None or found.seconds is not None:
        page.print("[bold]What they cost[/bold]")
        page.print(tables[2])
    page.print("[bold]If the target were another[/bold]")
    page.print(tables[1])
    if any(cost.extrapolated for cost in found.costs) or any(any(row.extrapolated) for row in found.rows):
        page.print(
            f"{_MARK} Extrapolated from a coarser target, in proportion to 1/epsilon² and to the candidates drawn: "
            "right up to logarithms where candidates are alike, too high where they differ."
        )
    for note in found.notes:
        page.print(note)


def _costs(found: Plan) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("pool", "mean", "standard error", "median", "90% quantile", "runs", "simulated at"):
        table.add_column(heading, justify="left" if heading == "pool" else "right", no_wrap=True)
    for cost in found.costs:
        place = f"ε = {cost.epsilon:g}" + (f", α = {cost.alpha:g}" if cost.alpha != found.alpha else "")
        figures = [_figure(value, cost.extrapolated) for value in (cost.mean, cost.stderr, cost.median, cost.p90)]
        table.add_row(_reservoir(cost), *figures, f"{cost.runs:,}", place if cost.extrapolated else "the target")
    return table


def _rows(found: Plan) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("target", no_wrap=True)
    for heading in ("candidates", *(part for cost in found.costs for part in (_short(cost), "ratio"))):
        table.add_column(heading, justify="right", no_wrap=True)
    first = [part for cost in found.costs for part in (_figure(cost.mean, cost.extrapolated), "1")]
    table.add_row("as above", f"{found.arms:,}", *first)
    for row in found.rows:
        cells = []
        for pulls, ratio, extrapolated in zip(row.pulls, row.ratios, row.extrapolated, strict=True):
            cells += [_figure(pulls, extrapolated), "" if ratio is None else f"{ratio:.2f}"]
        table.add_row(f"{row.parameter} = {row.value:g}", f"{row.arms:,}", *cells)
    return table


def _bills(found: Plan) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "evaluations", "money", "hours, one at a time"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    scaled = {cost.case for cost in found.costs if cost.extrapolated}
    for one in found.bills:
        money, hours = ("" if value is None else f"{value:,.2f}" for value in (one.money, one.hours))
        table.add_row(one.case, _figure(one.evaluations, one.case in scaled), money, hours)
    return table


def _short(cost: Cost) -> str:
    return cost.case if cost.case == "pilot" else cost.law


def _reservoir(cost: Cost) -> str:
    return cost.case if cost.case == "pilot" else f"{cost.law}: {cost.case}"


def _figure(value: float | None, extrapolated: bool) -> str:
    return "" if value is None else f"{float(f'{value:.3g}'):,.0f}{_MARK if extrapolated else ''}"
