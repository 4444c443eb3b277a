"""``topalpha plan``: the expected cost of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from topalpha.cli import inputs
from topalpha.cli.output import Column, console, delivery, progress, tabulate
from topalpha.cli.program import Command, refusals, section

if TYPE_CHECKING:
    from rich.console import Console

    from topalpha.planner import Cost, Plan

# Marks a figure that was scaled from a coarser target.
_MARK = "*"


@click.command(cls=Command)
@inputs.list_target_options
@section(
    "Candidates and evaluations",
    click.option("--candidates", type=inputs.COUNT, help="The length of a list of candidates. Default: endless."),
    click.option("--examples", type=inputs.COUNT, help="The size of a test set, pass or fail: a plan for select."),
    click.option("--price", type=inputs.PRICE, help="Money for one evaluation, in any unit."),
    click.option("--seconds", type=inputs.SECONDS, help="How long one evaluation takes."),
)
@inputs.rewards_options
@inputs.algorithm_option(None, "Its name; the default suits the rewards.")
@section(
    "Pilot",
    click.option(
        "--pilot",
        metavar="FILE",
        help="CSV of evaluations already made: columns candidate,reward or candidate,mean,pulls.",
    ),
)
@inputs.runs_option(100)
@inputs.seed_option("Runs")
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
    """Estimate the cost of a search, before anything is spent.

    It prints how many candidates and evaluations the search will need, and how these change with the target. Expected
    evaluations are simulated: on a pilot, if given, else on a hard reservoir (pool) and an easy one.

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
            chosen = inputs.read_options(entry(chosen_for(algorithm, model, examples, candidates, alpha)), options)
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
    page = console()
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
    _costs(page, found)
    if found.price is not None or found.seconds is not None:
        page.print("\n[bold]What they cost[/bold]")
        _bills(page, found)
    page.print("\n[bold]If the target were another[/bold]")
    _rows(page, found)
    page.print()
    if any(cost.extrapolated for cost in found.costs) or any(any(row.extrapolated) for row in found.rows):
        page.print(
            f"{_MARK} Extrapolated from a coarser target, in proportion to 1/epsilon² and to the candidates drawn: "
            "right up to logarithms where candidates are alike, too high where they differ."
        )
    for note in found.notes:
        page.print(note)


def _costs(page: Console, found: Plan) -> None:
    columns = (
        Column("pool", left=True),
        Column("mean"),
        Column("standard error", rank=2),
        Column("median", rank=1),
        Column("90% quantile"),
        Column("runs", rank=3),
        Column("simulated at", rank=1, breaks=True),
    )
    rows = []
    for cost in found.costs:
        place = f"ε = {cost.epsilon:g}" + (f", α = {cost.alpha:g}" if cost.alpha != found.alpha else "")
        figures = [_figure(value, cost.extrapolated) for value in (cost.mean, cost.stderr, cost.median, cost.p90)]
        rows.append((_reservoir(cost), *figures, f"{cost.runs:,}", place if cost.extrapolated else "the target"))
    tabulate(page, columns, rows)


def _rows(page: Console, found: Plan) -> None:
    columns = [Column("target", left=True), Column("candidates")]
    for cost in found.costs:
        columns += [Column(_short(cost)), Column("ratio", rank=1)]
    first = [part for cost in found.costs for part in (_figure(cost.mean, cost.extrapolated), "1")]
    rows = [["as above", f"{found.arms:,}", *first]]
    for row in found.rows:
        cells = []
        for pulls, ratio, extrapolated in zip(row.pulls, row.ratios, row.extrapolated, strict=True):
            cells += [_figure(pulls, extrapolated), "" if ratio is None else f"{ratio:.2f}"]
        rows.append([f"{row.parameter} = {row.value:g}", f"{row.arms:,}", *cells])
    tabulate(page, columns, rows)


def _bills(page: Console, found: Plan) -> None:
    columns = (Column("", left=True), Column("evaluations"), Column("money"), Column("hours, one at a time"))
    scaled = {cost.case for cost in found.costs if cost.extrapolated}
    rows = []
    for one in found.bills:
        money, hours = ("" if value is None else f"{value:,.2f}" for value in (one.money, one.hours))
        rows.append((one.case, _figure(one.evaluations, one.case in scaled), money, hours))
    tabulate(page, columns, rows)


def _short(cost: Cost) -> str:
    from topalpha.reservoirs import in_words

    return cost.case if cost.case == "pilot" else in_words(cost.law)


def _reservoir(cost: Cost) -> str:
    return cost.case if cost.case == "pilot" else f"{_short(cost)}: {cost.case}"


def _figure(value: float | None, extrapolated: bool) -> str:
    return "" if value is None else f"{float(f'{value:.3g}'):,.0f}{_MARK if extrapolated else ''}"
