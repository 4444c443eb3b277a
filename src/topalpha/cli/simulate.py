"""``topalpha simulate``: many runs of one algorithm on one reservoir."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, facts, progress, share
from topalpha.cli.program import Command

if TYPE_CHECKING:
    from topalpha.reservoirs import Reservoir
    from topalpha.simulation import Study


@click.command(cls=Command)
@inputs.law_options
@inputs.target_options
@inputs.algorithm_option("joint-lucb")
@inputs.runs_option(100)
@inputs.seed_option("Runs")
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
    """Run an algorithm many times on a known pool.

    It prints errors, simple regret and pulls (evaluations) of searches among the arms (candidates) of a reservoir.

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
    rows = dict(study.summary())
    rows["target"] += f", as {share(law.acceptable(study.alpha, study.epsilon))} of the reservoir's arms are"
    facts(console(), list(rows.items()))
