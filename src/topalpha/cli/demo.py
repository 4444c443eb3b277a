"""``topalpha demo``: one search, explained step by step."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, progress, share

if TYPE_CHECKING:
    from rich.table import Table

    from topalpha.ask_tell import Pull, Search
    from topalpha.rules.protocol import Algorithm

#: The pool, unknown to the search: success rates of candidates, few of them good.
RESERVOIR, AT_MOST = "beta(1,2)", 0.95
ALPHA, EPSILON, DELTA = 0.05, 0.05, 0.05

#: The paper's algorithm, run on the same pool for comparison.
PAPER, PAPER_RUNS = "kl-lucb", 10

# On a terminal the first seconds of the search are slowed down, so that one can follow it: a frame every few trials,
# with a pause after it. The rest is shown in larger steps, without pauses.
_SLOW_SECONDS, _SLOW_STEP, _PAUSE = 4.0, 8, 0.03
_FAST_STEP = 64


@click.command()
@click.option(
    "--algorithm", type=inputs.AlgorithmName(), default="joint-lucb", show_default=True, help="See `topalpha list`."
)
@inputs.seed_option
@inputs.json_option
def demo(algorithm: str, seed: int, json_target: str | None) -> None:
    """Search an endless pool of candidates for a near-best one, and report the candidate and the proof."""
    family = inputs.family_of("bernoulli")
    designed, _ = inputs.design_of(algorithm, ALPHA, EPSILON, DELTA, family, ())
    paper, _ = inputs.design_of(PAPER, ALPHA, EPSILON, DELTA, family, ())
    law = inputs.reservoir_of(RESERVOIR, AT_MOST, None, family)
    with delivery(json_target) as deliver:
        from topalpha.simulation import interpret

        if json_target != "-":
            _introduce(designed)
        with _watching(designed, live=json_target != "-" and sys.stdout.isatty()) as watch:
            run = interpret(designed, law, seed, watch=watch)
        found = run.search.result
        spent = []
        with progress(PAPER_RUNS, f"{PAPER} on the same pool") as advance:
            for other in range(seed, seed + PAPER_RUNS):
                spent.append(interpret(paper, law, other).search.result.pulls)
                advance(1)
        mean = run.means[found.arm]
        results: dict[str, Any] = {
            "algorithm": algorithm,
            "alpha": ALPHA,
            "epsilon": EPSILON,
            "delta": DELTA,
            "seed": seed,
            "statement": found.statement,
            "arm": found.arm,
            "arm_pulls": run.search.history.pulls[found.arm],
            "empirical_mean": found.mean,
            "arms": found.arms,
            "pulls": found.pulls,
            "paper": {"algorithm": PAPER, "runs": PAPER_RUNS, "pulls": sum(spent) / len(spent)},
            "revealed": {
                "reservoir": law.expression,
                "mean": mean,
                "top": law.top(ALPHA),
                "better": 1.0 - law.cdf(mean),
                "correct": mean >= law.threshold(ALPHA, EPSILON),
            },
        }
        deliver(results)
    if json_target != "-":
        _conclude(results)


def _introduce(algorithm: Algorithm) -> None:
    click.echo(
        f"An endless pool of candidates, each with an unknown success rate. Wanted: one within {EPSILON:g} of the top "
        f"{share(ALPHA)},\nwith a probability of error of at most {share(DELTA)}. "
        f"{algorithm.traits.name} draws {algorithm.arms} candidates and tries them, one 0-or-1 outcome at a time."
    )


def _conclude(results: dict[str, Any]) -> None:
    paper, revealed = results["paper"], results["revealed"]
    ratio = paper["pulls"] / results["pulls"]
    times = f"{ratio:.1f} times as many" if ratio >= 1.0 else f"{1.0 / ratio:.1f} times fewer"
    page = console()
    tried = f"{results['empirical_mean']:.3f} in {results['arm_pulls']:,} trials"
    page.print(f"\n[bold]Found[/bold]     Candidate {results['arm']}, with an empirical success rate of {tried}.")
    page.print(f"[bold]Proved[/bold]    {results['statement']}", soft_wrap=True)
    page.print(f"[bold]Spent[/bold]     {results['pulls']:,} trials on {results['arms']} candidates.")
    page.print(
        f"[bold]Compared[/bold]  {paper['algorithm']}, the paper's algorithm, needs {paper['pulls']:,.0f} on the same "
        f"pool (mean of {paper['runs']} runs): {times}.",
        soft_wrap=True,
    )
    verdict = "The statement is true" if revealed["correct"] else "The statement is false this time"
    page.print(
        f"[bold]Revealed[/bold]  The pool is {revealed['reservoir']}: its top {share(results['alpha'])} starts at "
        f"{revealed['top']:.3f}, and the candidate's true rate is {revealed['mean']:.3f} (better than "
        f"{share(1.0 - revealed['better'])} of the pool). {verdict}.",
        soft_wrap=True,
    )


@contextmanager
def _watching(algorithm: Algorithm, live: bool) -> Iterator[Callable[[Search, Pull, float], None] | None]:
    """A callback that shows a search in a live view, or None without a terminal."""
    if not live:
        yield None
        return
    from rich.live import Live

    with Live(console=console(), auto_refresh=False) as view:
        began = time.monotonic()
        last: Search | None = None

        def watch(search: Search, pull: Pull, reward: float) -> None:
            nonlocal last
            last = search
            slow = time.monotonic() - began < _SLOW_SECONDS
            if search.history.t % (_SLOW_STEP if slow else _FAST_STEP) == 0:
                view.update(_view(algorithm, search), refresh=True)
                time.sleep(_PAUSE if slow else 0.0)

        yield watch
        if last is not None:
            view.update(_view(algorithm, last), refresh=True)


def _view(algorithm: Algorithm, search: Search) -> Table:
    """The candidates tried most often, with their empirical rates."""
    from rich.table import Table

    from topalpha.ask_tell import stand

    history, result, now = search.history, search.result, stand(search, proved=False)
    arms = sorted(range(history.arms), key=lambda arm: (-history.pulls[arm], arm))[:8]
    there = "" if now.evidence is None else f", {math.floor(100.0 * now.evidence)}% of the evidence needed"
    table = Table(
        title=f"{history.t:,} trials, {history.arms} of {algorithm.arms} candidates{there}", title_justify="left"
    )
    for heading in ("candidate", "trials", "empirical rate", ""):
        table.add_column(heading, justify="left" if not heading else "right", min_width=32 if not heading else None)
    for arm in arms:
        rate = history.stats[0][arm] / history.pulls[arm]
        style = "bold green" if arm == result.arm else ""
        name = f"{arm} ← leader" if arm == result.arm else f"{arm}         "
        table.add_row(name, f"{history.pulls[arm]:,}", f"{rate:.3f}", "█" * round(32 * rate), style=style)
    return table
