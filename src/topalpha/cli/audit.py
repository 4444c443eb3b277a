"""``topalpha audit``: statistical tests of the guarantees, with controls that must fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from topalpha.cli import inputs
from topalpha.cli.output import Column, console, delivery, progress, tabulate
from topalpha.cli.program import FAILED, Command, section

if TYPE_CHECKING:
    from rich.console import Console

    from topalpha.research.audit import Equality, Judgement
    from topalpha.research.audit.survival import Survival

# How many times a search is killed, for each way to evaluate pulls.
_KILLS, _MORE_KILLS = 3, 25


@click.command(cls=Command)
@section(
    "Runs",
    click.option("--full", is_flag=True, help="More reservoirs, every option of every algorithm, more seeds."),
)
@inputs.runs_option(400)
@inputs.seed_option("Runs")
@inputs.workers_option
@inputs.json_option
def audit(full: bool, runs: int, seed: int, workers: int | None, json_target: str | None) -> int:
    """Test every guarantee on hard pools, with controls that must fail.

    Does every guaranteed algorithm err with probability at most delta? The audit covers finite lists and test sets,
    rewards of small or unknown variance, claims before the stop, and parallel pulls (evaluations) whose duration
    depends on their outcome. Each verdict is an exact binomial test. Controls are algorithms made wrong on purpose, and
    conditions that a proof excludes: the audit must detect each of them. Then compiled and interpreted runs are
    compared, bit by bit, for every algorithm and family, and searches are killed at random moments and resumed. The
    exit code is 1 if any check fails.
    """
    with delivery(json_target) as deliver:
        from topalpha.research.audit import FALSE_ALARM, cells, controls, equality, judge
        from topalpha.research.audit.replay import matrix
        from topalpha.research.audit.survival import WIDTHS, survive

        tested = [*cells(full), *controls()]
        guaranteed = sum(not cell.control for cell in tested)
        pairs = list(matrix(full))
        judgements: list[Judgement] = []
        equalities: list[Equality] = []
        survivals: list[Survival] = []
        with progress(len(tested) + len(pairs) + len(WIDTHS), "audit") as advance:
            for cell in tested:
                judgements.append(judge(cell, runs, seed, workers))
                advance(1)
            for algorithm, reservoir in pairs:
                equalities.extend(equality(algorithm, reservoir, one) for one in range(seed, seed + (5 if full else 1)))
                advance(1)
            for how in WIDTHS:
                survivals.append(survive(_MORE_KILLS if full else _KILLS, seed, how=how))
                advance(1)
        passed = all(one.as_expected for one in judgements) and all(one.identical for one in equalities)
        passed = passed and all(one.survived for one in survivals)
        deliver(
            {
                "passed": passed,
                "false_alarm_per_cell": FALSE_ALARM,
                "false_alarm_at_most": FALSE_ALARM * guaranteed,
                "cells": [one.to_dict() for one in judgements if not one.cell.control],
                "controls": [one.to_dict() for one in judgements if one.cell.control],
                "equality": [one.to_dict() for one in equalities],
                "survival": [one.to_dict() for one in survivals],
            }
        )
    if json_target != "-":
        show(judgements, equalities, survivals, FALSE_ALARM, passed)
    return 0 if passed else FAILED


def show(
    judgements: list[Judgement],
    equalities: list[Equality],
    survivals: list[Survival],
    false_alarm: float,
    passed: bool,
) -> None:
    """Print two tables and the conclusion."""
    from rich.markup import escape

    guaranteed = [one for one in judgements if not one.cell.control]
    page = console()
    page.print("[bold]Is the error compatible with delta?[/bold]")
    _table(page, guaranteed)
    page.print("\n[bold]Controls: wrong on purpose, to be detected[/bold]")
    _table(page, [one for one in judgements if one.cell.control])
    page.print()
    different = [one for one in equalities if not one.identical]
    page.print(f"Compiled and interpreted runs: {len(equalities) - len(different)} of {len(equalities)} bit-identical.")
    for one in different:
        page.print(f"  [red]{one.algorithm}, {one.family}, {one.reservoir}: {escape(one.difference)}[/red]")
    for survival in survivals:
        fate = (
            "nothing lost, nothing counted twice" if survival.survived else f"[red]{escape(survival.difference)}[/red]"
        )
        page.print(
            f"A search killed {survival.kills} times, {survival.how}: {survival.pulls:,} pulls, "
            f"{survival.repeated} of them in flight and evaluated again; {fate}."
        )
    page.print(
        f"A sound algorithm is called NOT compatible with probability at most {false_alarm:g} per line, "
        f"{false_alarm * len(guaranteed):.2g} in the whole audit."
    )
    page.print("[green]All checks passed.[/green]" if passed else "[bold red]NOT all checks passed.[/bold red]")


def _table(page: Console, judgements: list[Judgement]) -> None:
    columns = (
        Column("algorithm", left=True),
        Column("case", left=True),
        Column("rewards", rank=1, left=True),
        Column("δ"),
        Column("errors"),
        Column("runs"),
        Column("pulls", rank=2),
        Column("p-value", rank=3),
        Column("verdict", left=True),
    )
    rows = []
    for one in judgements:
        case = one.cell.case
        rows.append(
            (
                one.cell.algorithm.traits.name,
                one.cell.control or case.name,
                case.described,
                f"{case.delta:g}",
                f"{one.errors.count:,}",
                f"{one.errors.runs:,}",
                f"{one.pulls:,.0f}",
                f"{one.p_value:.2g}",
                one.verdict if one.as_expected else f"[bold red]{one.verdict}[/bold red]",
            )
        )
    tabulate(page, columns, rows)
