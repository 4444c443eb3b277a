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
from topalpha.cli.output import console, delivery, facts, progress, share
from topalpha.cli.program import Command

if TYPE_CHECKING:
    from rich.console import Group

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

# The longest bar, and the width of the other columns.
_BAR, _OTHERS = 60, 34


@click.command(cls=Command)
@inputs.algorithm_option("joint-lucb", options=False)
@inputs.seed_option("Runs")
@inputs.json_option
def demo(algorithm: str, seed: int, json_target: str | None) -> None:
    """Search a hidden pool while you watch, then reveal the truth.

    The pool is endless, and the search does not know it. It finds a candidate near the best, and proves it.
    """
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
    console().print(
        f"An endless pool of candidates, each with an unknown success rate. Wanted: one within {EPSILON:g} of the top "
        f"{share(ALPHA)}, with a probability of error of at most {share(DELTA)}. "
        f"{algorithm.traits.name} draws {algorithm.arms} candidates and tries them, one 0-or-1 outcome at a time."
    )


def _conclude(results: dict[str, Any]) -> None:
    from topalpha.reservoirs import in_words

    paper, revealed = results["paper"], results["revealed"]
    ratio = paper["pulls"] / results["pulls"]
    times = f"{ratio:.1f} times as many" if ratio >= 1.0 else f"{1.0 / ratio:.1f} times fewer"
    tried = f"{results['empirical_mean']:.3f} in {results['arm_pulls']:,} trials"
    verdict = "The statement is true" if revealed["correct"] else "The statement is false this time"
    arm = f"arm {results['arm']} "  # nobody has made these candidates: they have but numbers
    rows = [
        ("Found", f"Candidate {results['arm']}, with an empirical success rate of {tried}."),
        ("Proved", results["statement"].replace(arm, f"candidate {results['arm']} ")),
        ("Spent", f"{results['pulls']:,} trials on {results['arms']} candidates."),
        (
            "Compared",
            f"{paper['algorithm']}, the paper's algorithm, needs {paper['pulls']:,.0f} on the same pool "
            f"(mean of {paper['runs']} runs): {times}.",
        ),
        (
            "Revealed",
            f"The pool is {in_words(revealed['reservoir'])}: its top {share(results['alpha'])} starts at "
            f"{revealed['top']:.3f}, and the candidate's true rate is {revealed['mean']:.3f} (better than "
            f"{share(1.0 - revealed['better'])} of the pool). {verdict}.",
        ),
    ]
    page = console()
    page.print()
    facts(page, rows, "bold")


@contextmanager
def _watching(algorithm: Algorithm, live: bool) -> Iterator[Callable[[Search, Pull, float], None] | None]:
    """A callback that shows a search in a live view, or None without a terminal."""
    if not live:
        yield None
        return
    from rich.live import Live

    page = console()
    with Live(console=page, auto_refresh=False) as view:
        began = time.monotonic()
        last: Search | None = None

        def watch(search: Search, pull: Pull, reward: float) -> None:
            nonlocal last
            last = search
            slow = time.monotonic() - began < _SLOW_SECONDS
            if search.history.t % (_SLOW_STEP if slow else _FAST_STEP) == 0:
                view.update(_view(algorithm, search, page.width), refresh=True)
                time.sleep(_PAUSE if slow else 0.0)

        yield watch
        if last is not None:
            view.update(_view(algorithm, last, page.width), refresh=True)


def _view(algorithm: Algorithm, search: Search, width: int) -> Group:
    """The candidates tried most often, with their empirical rates."""
    from rich import box
    from rich.console import Group
    from rich.table import Table

    from topalpha.ask_tell import stand

    history, result, now = search.history, search.result, stand(search, proved=False)
    arms = sorted(range(history.arms), key=lambda arm: (-history.pulls[arm], arm))[:8]
    there = "" if now.evidence is None else f", {math.floor(100.0 * now.evidence)}% of the evidence needed"
    # What the other columns leave.
    room = max(0, min(_BAR, width - _OTHERS))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("candidate", "trials", "rate", ""):
        table.add_column(heading, justify="right" if heading else "left", min_width=0 if heading else room)
    for arm in arms:
        rate = history.stats[0][arm] / history.pulls[arm]
        leads = arm == result.arm
        name = f"leader {arm}" if leads else str(arm)
        bar = "█" * round(room * rate)
        table.add_row(name, f"{history.pulls[arm]:,}", f"{rate:.3f}", bar, style="bold green" if leads else "")
    return Group(f"{history.t:,} trials, {history.arms} of {algorithm.arms} candidates{there}", table)
