"""``topalpha simulate``: many runs of one algorithm on one reservoir."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, facts, progress, share
from topalpha.cli.program import Command

if TYPE_CHECKING:
    from topalpha.reservoirs import Reservoir
    from topalpha.simulation import Count, Study


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
    from topalpha.reservoirs import in_words

    figures = study.to_dict()
    pulls, regret = figures["pulls"], figures["regret"]
    acceptable = share(law.acceptable(study.alpha, study.epsilon))
    spread = f"median {pulls['median']:,.0f}, 90% of runs within {pulls['p90']:,.0f}"
    rows = [
        ("algorithm", f"{study.algorithm}, {study.arms:,} arms"),
        ("rewards", study.family),
        ("reservoir", f"{in_words(study.reservoir)} ({acceptable} of its arms are acceptable)"),
        ("target", f"within {study.epsilon:g} of the top {share(study.alpha)}, errors in at most {share(study.delta)}"),
        ("runs", f"{study.runs:,}, seed {study.seed}"),
        ("errors", _with_interval(study.errors)),
        ("errors, alpha alone", _with_interval(study.errors_alpha)),
        ("simple regret", f"{regret['mean']:.4g}{_give_or_take(regret['stderr'])}"),
        ("pulls", f"{pulls['mean']:,.0f}{_give_or_take(pulls['stderr'])}; {spread}"),
        ("speed", f"{study.seconds:.2f} s, {figures['pulls_per_second']:,.0f} pulls a second"),
    ]
    facts(console(), rows)


def _with_interval(count: Count) -> str:
    low, high = count.interval
    return f"{count.count:,} = {share(count.rate)} (95% interval {share(low)} to {share(high)})"


def _give_or_take(error: float | None) -> str:
    return "" if error is None else f" ± {error:,.2g}" if error < 10.0 else f" ± {error:,.0f}"
