"""``topalpha compare``: a comparison of algorithms, with lower bounds."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from topalpha.cli import inputs
from topalpha.cli.output import Column, console, delivery, escape, progress, share, tabulate
from topalpha.cli.program import Command, Refused, refusals, section
from topalpha.storage.outputs import draft_of, writable
from topalpha.validate import installing

if TYPE_CHECKING:
    from topalpha.research.comparison import Comparison, ComparisonCase, Contender

#: The tables in the output folder.
TABLES = ("table.csv", "table.json")


@click.command(cls=Command)
@section(
    "Compared",
    click.option(
        *("--algorithm", "algorithms"),
        multiple=True,
        metavar="NAME[:OPTION=VALUE,...]",
        help="An algorithm, perhaps with options; may be repeated. Default: all that need no budget.",
    ),
    click.option("--reservoir", "reservoirs", multiple=True, help="Distribution of the means; may be repeated."),
    click.option("--alpha", "alphas", type=inputs.FRACTION, multiple=True, default=(0.05,), help="One or several."),
    click.option("--epsilon", "epsilons", type=inputs.POSITIVE, multiple=True, default=(0.05,), help="One or several."),
    click.option("--delta", "deltas", type=inputs.FRACTION, multiple=True, default=(0.05,), help="One or several."),
    click.option("--budget", "budgets", type=inputs.COUNT, multiple=True, help="For algorithms that need one."),
    click.option("--family", default="bernoulli", show_default=True, help="Rewards, such as gaussian(sigma=0.5)."),
    click.option("--config", type=click.Path(), help="Take all of the above, runs and seed from a file or a folder."),
)
@section(
    "Runs",
    click.option("--limit", type=inputs.COUNT, help="Cut a run off after this many pulls.  [default: 100,000,000]"),
)
@inputs.runs_option(100)
@inputs.seed_option("Runs")
@inputs.workers_option
@section(
    "Output",
    click.option("--output", type=click.Path(), help="A folder for cells, tables and figures; run again to continue."),
    click.option("--figures/--no-figures", default=True, show_default=True, help="Draw pictures into that folder."),
)
@inputs.json_option
def compare(
    algorithms: tuple[str, ...],
    reservoirs: tuple[str, ...],
    alphas: tuple[float, ...],
    epsilons: tuple[float, ...],
    deltas: tuple[float, ...],
    budgets: tuple[int, ...],
    family: str,
    config: str | None,
    limit: int | None,
    runs: int,
    seed: int,
    workers: int | None,
    output: str | None,
    figures: bool,
    json_target: str | None,
) -> None:
    """Compare algorithms on known pools, beside lower bounds.

    It prints pulls (evaluations), errors, regret and time. Every reservoir is combined with every alpha, epsilon and
    delta. With --output a repeated command continues.

    Example: topalpha compare --algorithm joint-lucb --algorithm cc-lucb --reservoir "beta(1,2)" --delta .1 --delta .01
    """
    from topalpha.research.comparison import Comparison, ComparisonCase
    from topalpha.research.comparison.finished_cells import load

    with refusals():
        if config is not None:
            _check_alone()
            comparison = load(config)
        else:
            if not reservoirs:
                raise Refused("reservoir must be given, or a config, got neither")
            chosen = contenders(algorithms, budgets, family)
            cases = ComparisonCase.every(reservoirs, alphas, epsilons, deltas)
            extra = {} if limit is None else {"limit": limit}
            comparison = Comparison(chosen, cases, family, budgets, runs, seed, **extra)
    inputs.needs("figures", "--output", output is not None or not figures)
    if output is not None and figures:
        _check_plots()
    kept = () if output is None else _kept(Path(output), figures)
    with delivery(json_target, *kept) as deliver:
        rows = _measured(comparison, output, workers)
        deliver({"comparison": comparison.to_dict(), "rows": rows})
        if output is not None:
            write(rows, Path(output), figures)
    if json_target != "-":
        for case, some in _by_case(rows).items():
            show(case, some, comparison.family)


def _check_alone() -> None:
    """Refuse options that the configuration would silently override."""
    context = click.get_current_context()
    for name in (
        "algorithms",
        "reservoirs",
        "alphas",
        "epsilons",
        "deltas",
        "budgets",
        "family",
        "limit",
        "runs",
        "seed",
    ):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise Refused(f"config must be given alone, because it sets {name}, got both")


def contenders(texts: Sequence[str], budgets: Sequence[int], family: str = "bernoulli") -> tuple[Contender, ...]:
    """The named algorithms; without names, all that can run.

    Examples
    --------
    >>> [one.label for one in contenders(["cc-lucb:bounds=kt", "joint-lucb"], [])]
    ['cc-lucb (bounds=kt)', 'joint-lucb']
    """
    from topalpha.algorithms import ALGORITHMS, entry
    from topalpha.families import Bernoulli
    from topalpha.research.comparison import Contender

    if not texts:
        unit = isinstance(inputs.family_of(family), Bernoulli)
        can = [one for one in ALGORITHMS if (unit or one.rewards == "any") and (budgets or not one.budgeted)]
        return tuple(Contender(one.name) for one in can)
    found = []
    for text in texts:
        name, _, options = text.partition(":")
        given = [part for part in options.split(",") if part]
        found.append(Contender(name, inputs.read_options(entry(name), given)))
    return tuple(found)


def _kept(folder: Path, figures: bool) -> list[Path]:
    """All files that the command will write; raise now, before the work, if one of them cannot be written."""
    from topalpha.research.comparison.finished_cells import CELLS, CONFIGURATION
    from topalpha.research.comparison.pictures import FILES

    files = [folder / name for name in (CONFIGURATION, CELLS, *TABLES, *(FILES if figures else ()))]
    with refusals():
        if os.path.isdir(folder):  # a new folder holds nothing that could be in the way
            for file in files:
                writable("output", file)
    return files


def _check_plots() -> None:
    if find_spec("matplotlib") is None:
        have = f"drawn with matplotlib ({installing('plot')})"
        raise Refused(f"figures must be left out (--no-figures) or {have}, got neither")


def _measured(comparison: Comparison, output: str | None, workers: int | None) -> list[dict[str, Any]]:
    from topalpha.research.comparison import compare as run
    from topalpha.research.comparison.cells import cells

    with refusals(), progress(len(cells(comparison)), "cells") as advance:
        return run(comparison, output, workers, lambda key: advance(1))


def _by_case(rows: Sequence[dict[str, Any]]) -> dict[ComparisonCase, list[Any]]:
    from topalpha.research.comparison.tables import by_case

    return by_case(rows)


def write(rows: Sequence[dict[str, Any]], folder: Path, figures: bool) -> None:
    """Write tables and pictures beside the cells."""
    with refusals():
        try:
            _write(rows, folder, figures)
        except OSError as error:
            raise ValueError(f"output must be a folder that can be written ({error.strerror}), got {folder}") from error


def _write(rows: Sequence[dict[str, Any]], folder: Path, figures: bool) -> None:
    from topalpha.research.comparison.tables import to_csv

    for name, text in zip(TABLES, (to_csv(rows), json.dumps(list(rows), indent=1) + "\n"), strict=True):
        with draft_of(folder / name) as draft:
            draft.write_text(text, encoding="utf-8")
    if figures:
        from topalpha.research.comparison.pictures import draw

        draw(rows, folder)


def show(case: ComparisonCase, rows: Sequence[dict[str, Any]], family: str) -> None:
    """Print a table of one case, the cheapest algorithm first, and the lower bounds."""
    from topalpha.research.comparison.cells import MEASURED
    from topalpha.research.comparison.tables import limits
    from topalpha.reservoirs import in_words

    page = console()
    target = f"top {share(case.alpha)}, epsilon {case.epsilon:g}, delta {case.delta:g}"
    page.print(f"[bold]{escape(in_words(case.reservoir))}: {target}[/bold]")
    table = []
    for row in rows:
        name = escape(row["algorithm"] + (f" [{row['budget']:,}]" if row["budget"] is not None else ""))
        if row["status"] == MEASURED:
            table.append((name, row["guarantee"], *_figures(row), _remark(row)))
        else:
            arms = f"{row['arms']:,}" if "arms" in row else ""
            table.append((name, row["guarantee"], arms, *[""] * 5, escape(f"{row['status']}: {row['reason']}")))
    tabulate(page, _columns(any(row[-1] for row in table)), table)
    for name, value, reason in limits(case, family):
        page.print(f"lower bound, {name}: " + (f"{value:,.3g}" if value is not None else f"void ({escape(reason)})"))
    page.print()


def _columns(remarks: bool) -> tuple[Column, ...]:
    return (
        Column("algorithm", left=True),
        Column("guarantee", rank=2, left=True),
        Column("arms", rank=3),
        Column("pulls"),
        Column("±", rank=1),
        Column("errors"),
        Column("regret", rank=4),
        Column("µs a pull", rank=5),
        Column("remarks" if remarks else "", left=True),
    )


def _figures(row: dict[str, Any]) -> list[str]:
    pulls, errors, speed = row["pulls"], row["errors"], row["pulls_per_second"]
    return [
        f"{row['arms']:,}",
        f"{pulls['mean']:,.0f}",
        "" if (noise := pulls["stderr"]) is None else f"{noise:,.2g}" if noise < 10.0 else f"{noise:,.0f}",
        f"{errors['count']} of {row['runs']}",
        f"{row['regret']['mean']:.3g}",
        _microseconds(1e6 / speed) if speed else "",
    ]


def _microseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 10.0 else f"{value:.2f}" if value >= 0.01 else "< 0.01"


def _remark(row: dict[str, Any]) -> str:
    said = []
    if row["wanted"] > 1:
        said.append(f"finds {row['wanted']} arms")
    if row["knows"]:
        said.append("knows more")
    if row["unfinished"]:
        said.append(f"{row['unfinished']} of {row['runs']} runs cut off")
    return "; ".join(said)
