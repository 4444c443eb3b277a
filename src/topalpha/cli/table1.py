"""``topalpha table1``: the paper's table, with our results beside the paper's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from topalpha.cli import inputs
from topalpha.cli.output import Column, console, delivery, progress, tabulate
from topalpha.cli.program import Command, refusals, section
from topalpha.validate import require

if TYPE_CHECKING:
    from topalpha.research.table1 import PaperRow
    from topalpha.rules.protocol import Algorithm

#: The algorithm that others are compared with.
BASELINE = "kl-lucb"

_FOOTNOTE = (
    "“Effective α” is the paper's column: α^(1/b) + ε, the distance of the threshold from 1 before truncation, not a "
    "measure. “Measure” is the true probability that a fresh arm is acceptable. Cells: errors, simple regret, pulls."
)


@click.command(cls=Command)
@section(
    "Rows and algorithms",
    click.option(
        "--algorithms", default="kl-lucb,cc-lucb,joint-lucb", show_default=True, help="Names, separated by commas."
    ),
    click.option("--rows", default="1-36", show_default=True, help="Which rows, such as 1-4,7."),
    click.option(
        "--option",
        "options",
        multiple=True,
        metavar="[ALGORITHM:]NAME=VALUE",
        help="An option of one algorithm, or of all that have it, such as arms=table; may be repeated.",
    ),
)
@inputs.runs_option(100)
@inputs.seed_option("Runs")
@inputs.workers_option
@inputs.json_option
def table1(
    algorithms: str,
    rows: str,
    options: tuple[str, ...],
    runs: int,
    seed: int,
    workers: int | None,
    json_target: str | None,
) -> None:
    """Run the paper's table, and show it beside the published one.

    Example: topalpha table1 --runs 100 --rows 1-12 --option kl-lucb:arms=table
    """
    from topalpha.research.table1 import select

    with refusals():
        chosen_rows = select(rows)
        chosen = distribute([name.strip() for name in algorithms.split(",")], options)
    family = inputs.family_of("bernoulli")
    cells: list[tuple[PaperRow, Algorithm, dict[str, Any]]] = []
    for row in chosen_rows:
        for name, texts in chosen.items():
            cells.append((row, *inputs.design_of(name, row.alpha, row.epsilon, row.delta, family, texts)))
    with delivery(json_target) as deliver:
        from topalpha.simulation import simulate

        results: list[dict[str, Any]] = []
        with progress(runs * len(cells), "table 1") as advance:
            for row, algorithm, taken in cells:
                study = simulate(algorithm, row.law, runs, seed, workers, progress=advance)
                results.append(
                    {
                        "row": row.number,
                        **study.to_dict(),
                        "options": taken,
                        "true_measure": row.law.acceptable(row.alpha, row.epsilon),
                        "paper": row.paper._asdict(),
                    }
                )
        ratios = [compare(results, name) for name in chosen if name != BASELINE and BASELINE in chosen]
        deliver({"rows": results, "ratios": ratios})
    if json_target != "-":
        show(chosen_rows, list(chosen), results, ratios)


def distribute(names: list[str], options: tuple[str, ...]) -> dict[str, list[str]]:
    """Options by algorithm: one with an algorithm's name goes to it, others to every algorithm with such an option.

    Examples
    --------
    >>> distribute(["kl-lucb", "cc-lucb"], ("arms=table", "cc-lucb:bounds=kt"))
    {'kl-lucb': ['arms=table'], 'cc-lucb': ['bounds=kt']}
    """
    from topalpha.algorithms import entry

    known = {name: inputs.settable(entry(name)) for name in names}
    require(len(known) == len(names), "algorithms", "be named once each", ",".join(names))
    given: dict[str, list[str]] = {name: [] for name in known}
    for text in options:
        left = text.partition("=")[0]
        name, colon, option = left.rpartition(":")
        takers = [one for one in known if (one == name.strip() if colon else option.strip() in known[one])]
        require(bool(takers), "option", f"belong to one of {', '.join(known)}", text)
        for one in takers:
            given[one].append(text[len(name) + len(colon) :])
    return given


def compare(results: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The ratios of the baseline's pulls to this algorithm's, over all rows.

    Examples
    --------
    >>> cell = lambda row, name, mean: {"row": row, "algorithm": name, "pulls": {"mean": mean}}
    >>> compare([cell(1, "kl-lucb", 800.0), cell(1, "cc-lucb", 200.0)], "cc-lucb")
    {'algorithm': 'cc-lucb', 'against': 'kl-lucb', 'geometric_mean': 4.0, 'least': 4.0, 'least_row': 1}
    """
    means = {(one["algorithm"], one["row"]): one["pulls"]["mean"] for one in results}
    ratios = {row: means[BASELINE, row] / mean for (algorithm, row), mean in means.items() if algorithm == name}
    least = min(ratios, key=lambda row: ratios[row])
    mean = math.exp(math.fsum(math.log(ratio) for ratio in ratios.values()) / len(ratios))
    return {
        "algorithm": name,
        "against": BASELINE,
        "geometric_mean": round(mean, 12),
        "least": ratios[least],
        "least_row": least,
    }


def show(
    rows: tuple[PaperRow, ...], names: list[str], results: list[dict[str, Any]], ratios: list[dict[str, Any]]
) -> None:
    """Print the table, the footnote and the summary."""
    cells = {(one["row"], one["algorithm"]): one for one in results}
    columns = (
        Column("row"),
        Column("law", left=True),
        *(Column(sign, rank=1) for sign in "αεδ"),
        Column("effective α", rank=3),
        Column("measure", rank=2),
        *(Column(name, breaks=True) for name in ("paper", *names)),
    )
    table = []
    for row in rows:
        ours = [cells[row.number, name] for name in names]
        paper = row.paper
        table.append(
            (
                str(row.number),
                row.label,
                *(f"{value:g}" for value in (row.alpha, row.epsilon, row.delta)),
                f"{paper.effective_alpha:.3f}",
                f"{ours[0]['true_measure']:.3f}",
                _cell(paper.errors, paper.regret, paper.pulls),
                *(_cell(one["errors"]["rate"], one["regret"]["mean"], one["pulls"]["mean"]) for one in ours),
            )
        )
    page = console()
    tabulate(page, columns, table)
    page.print(_FOOTNOTE)
    for one in ratios:
        times = f"{one['geometric_mean']:.2f} times fewer pulls than {BASELINE} in geometric mean"
        page.print(f"{one['algorithm']}: {times}, {one['least']:.2f} times at least (row {one['least_row']}).")


def _cell(errors: float, regret: float, pulls: float) -> str:
    return f"{errors:.2f} {regret:.3f} {pulls / 1000.0:.1f}k"
