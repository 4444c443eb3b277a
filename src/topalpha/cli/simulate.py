"""``topalpha simulate``: many runs of one algorithm on one reservoir."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, progress, share

if TYPE_CHECKING:
    from topalpha.reservoirs import Reservoir
    from topalpha.simulation import Study


@click.command()
@click.option(
    "--algorithm", type=inputs.AlgorithmName(), default="joint-lucb", show_default=True, help="See `topalpha list`."
)
@inputs.law_options
@inputs.target_options
@inputs.option_option
@inputs.runs_option(100)
@inputs.seed_option
@inputs.workers_option
@inputs.json_option
def simulate(
    algorithm: str,
    family: str,
    reservoir: str,
    at_most: float | None,
    clip: float | None,
    alpha: float,
    epsilon: float,
    delta: float,
    options: tuple[str, ...],
    runs: int,
    seed: int,
    workers: int | None,
    json_target: str | None,
) -> None:
    """Run an algorithm many times on arms (candidates) of a reservoir: errors, simple regret, pulls (evaluations).

    Example: topalpha simulate --reservoir "beta(1,2)" --at-most 0.95 --runs 1000
    """
    rewards = inputs.family_of(family)
    law = inputs.reservoir_of(reservoir, at_most, clip, rewards)
    designed, chosen = inputs.design_of(algorithm, alpha, epsilon, delta, rewards, options, law)
    with delivery(json_target) as deliver:
        from topalpha.simulation import judged_law
        from topalpha.simulation import simulate as run

        with progress(runs, algorithm) as advance:
            study = run(designed, law, runs, seed, workers, progress=advance)
        deliver({**study.to_dict(), "options": chosen})
    if json_target != "-":
        show(study, judged_law(law, rewards))


def show(study: Study, law: Reservoir) -> None:
    """Print a readable summary."""
    from rich.table import Table

    figures = study.to_dict()
    pulls, regret = figures["pulls"], figures["regret"]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("algorithm", f"{study.algorithm}, {study.arms:,} arms")
    table.add_row("rewards", study.family)
    acceptable = share(law.acceptable(study.alpha, study.epsilon))
    table.add_row("reservoir", f"{study.reservoir} ({acceptable} of its arms are acceptable)")
    table.add_row(
        "target", f"within {study.epsilon:g} of the top {share(study.alpha)}, errors in at most {share(study.delta)}"
    )
    table.add_row("runs", f"{study.runs:,}, seed {study.seed}")
    for name, count in (("errors", study.errors), ("errors, alpha alone", study.errors_alpha)):
        low, high = count.interval
        table.add_row(name, f"{count.count:,} = {share(count.rate)} (95% interval {share(low)} to {share(high)})")
    table.add_row("simple regret", f"{regret['mean']:.4g}{_give_or_take(regret['stderr'])}")
    spread = f"median {pulls['median']:,.0f}, 90% of runs within {pulls['p90']:,.0f}"
    table.add_row("pulls", f"{pulls['mean']:,.0f}{_give_or_take(pulls['stderr'])}; {spread}")
    table.add_row("speed", f"{study.seconds:.2f} s, {figures['pulls_per_second']:,.0f} pulls a second")
    console().print(table)


def _give_or_take(error: float | None) -> str:
    return "" if error is None else f" ± {error:,.2g}" if error < 10.0 else f" ± {error:,.0f}"
