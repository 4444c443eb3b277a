"""The comparison in words and tables, from the results alone: no figure is written by hand."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from model_search_cells import CHECKS, SEARCHES, Search
from model_search_tasks import FOLDS, TASKS

WIDTH = 120
USUAL = "RandomizedSearchCV(n_iter=60, cv=5)"

SET_UP = """
Three data sets that scikit-learn ships; for each, a pool of {candidates} candidates drawn once from the law of the
parameters, and the score of every candidate on {splits} recorded splits, the folds of {partitions} random 5-fold
partitions. A search is replayed: a fit looks up a recorded score. Candidates come from the pool with replacement; a
split of a candidate's own is a recorded one, drawn with replacement; 5-fold searches use one recorded partition for all
candidates, as scikit-learn does. So the true mean of every candidate is known without error, and a search can be run
thousands of times. `HalvingRandomSearchCV` fits on parts of the rows, which no table holds: it is run for real, on the
same pool.
"""

OPTUNA = """
Optuna proposes parameters freely. In the replay each proposal is replaced by the candidate of the pool that is nearest
to it, each parameter measured by the distribution function of its law. The real runs below let it propose what it
likes, and measure the true mean of its choice on the recorded splits.
"""

READING = """
A cell says in how many runs the true mean of the choice was below the top 5% (or 10%) of the pool, or more than a
tolerance below it, with the exact 95% interval. The last is what `TopAlphaSearchCV` promises to do with probability at
most delta, for the alpha and epsilon that it was asked for (its own cell is in bold). "Below the top 5%" without a
tolerance is promised by nobody. Regret is by how much the choice's true mean is below the pool's best. Fits and regret
are averages; successive halving fits on few rows at first, and what its fits are worth in fits on all rows is in
brackets.
"""

ERROR = """
The recorded splits are a sample of all splits. The standard error of a candidate's true mean in the replay, as an
estimate of its mean over all splits of the data, and that of the difference of two candidates: {errors}. Replayed runs
do not suffer from it: for them the recorded splits are all there is.
"""


def wrapped(words: str, first: str = "", later: str = "") -> str:
    """A paragraph, or a point of a list."""
    return textwrap.fill(
        " ".join(words.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(head: list[str], lines: list[list[str]], text_columns: int = 1) -> str:
    """In Markdown."""
    rule = ["---"] * text_columns + ["---:"] * (len(head) - text_columns)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def percent(rate: float) -> str:
    """Two digits, or one decimal."""
    if rate == 0.0:
        return "0%"
    return f"{100 * rate:.1f}%" if rate < 0.0995 else f"{100 * rate:.0f}%"


def rate(count: dict[str, Any]) -> str:
    """A rate with its exact 95% interval."""
    low, high = (percent(end) for end in count["interval"])
    return f"{percent(count['rate'])} ({low}–{high})"


def fits(row: dict[str, Any]) -> str:
    """Mean fits, and what they are worth where they are on parts of the rows; a mark where runs were cut off."""
    worth = f" (worth {row['work']:,.0f})" if row["work"] else ""
    return f"{'≥ ' if row['unfinished'] else ''}{row['fits']['mean']:,.0f}{worth}"


def shown(name: str, task: str) -> str:
    """The name of a search with the tolerance of the task."""
    usual, fine = TASKS[task].epsilons
    return f"`{name.replace('ε′', f'{fine:g}').replace('ε', f'{usual:g}')}`"


def target(search: Search, task: str) -> tuple[str, str, float]:
    """What a search of ours was asked for: alpha and epsilon as keys of a row, and delta."""
    options = search.options
    return f"{options['alpha']:g}", f"{TASKS[task].epsilons[options['fine']]:g}", options["delta"]


def is_ours(name: str) -> bool:
    """Whether it makes a promise."""
    return name.startswith("TopAlpha")


def by_search(found: dict[str, Any], task: str, how: str = "") -> dict[str, dict[str, Any]]:
    """The rows of a task by search; replayed ones hide real ones of the same name."""
    rows = [row for row in found["rows"] if row["task"] == task and how in ("", row["how"])]
    return {row["search"]: row for row in sorted(rows, key=lambda row: row["how"] == "replayed")}


def task_table(found: dict[str, Any], task: str) -> str:
    """Every search on one task."""
    rows = by_search(found, task)
    usual, fine = (f"{epsilon:g}" for epsilon in TASKS[task].epsilons)
    columns = [("0.05", "0"), ("0.05", usual), ("0.05", fine), ("0.1", "0"), ("0.1", usual)]
    head = ["search", "fits"]
    head += [f"below the top {float(alpha):.0%}" + (f" by {gap}" if gap != "0" else "") for alpha, gap in columns]
    lines = []
    for search in SEARCHES:
        if search.name not in rows:
            continue
        row = rows[search.name]
        own = target(search, task)[:2] if is_ours(search.name) else None
        rates = [rate(row["below"][alpha][gap]) for alpha, gap in columns]
        rates = [f"**{one}**" if column == own else one for one, column in zip(rates, columns, strict=True)]
        lines.append([shown(search.name, task), fits(row), *rates, f"{row['regret']['mean']:.4f}"])
    return table([*head, "regret"], lines)


def pool_words(found: dict[str, Any], task: str) -> str:
    """What a pool is like."""
    one = found["tasks"][task]
    near = " and ".join(f"{percent(share)} are within {gap} of them or better" for gap, share in one["within"].items())
    return wrapped(
        f"{TASKS[task].words}. The score is {TASKS[task].score}. The best true mean of the pool is "
        f"{one['best']:.4f}, the median {one['median']:.4f}; the top 5% begin at "
        f"{one['quantiles']['0.05']:.4f}, the top 10% at {one['quantiles']['0.1']:.4f}; {near}. The score of one split "
        f"has a standard deviation of {one['deviation']:.4f}, the difference of two candidates on one split of "
        f"{one['paired deviation']:.4f}."
    )


def promises(found: dict[str, Any]) -> str:
    """Each promise with its price, and what random search does about the same target."""
    head = ["task", "`TopAlphaSearchCV`", "fits", "errors", f"`{USUAL}`: fits", "errors"]
    head += ["random search that surely errs in at most delta of runs", "its fits"]
    lines = []
    for task in TASKS:
        rows = by_search(found, task)
        for search in SEARCHES:
            if not is_ours(search.name) or search.name not in rows:
                continue
            alpha, gap, delta = target(search, task)
            ours, usual = rows[search.name], rows[USUAL]
            what = re.sub(r".*\((.*)\)", r"\1", shown(search.name, task).strip("`"))
            enough = [
                row
                for name, row in rows.items()
                if name.startswith("Randomized") and row["below"][alpha][gap]["interval"][1] <= delta
            ]
            least = min(enough, key=lambda row: row["fits"]["mean"], default=None)
            errors = f"{ours['below'][alpha][gap]['count']} of {ours['runs']}"
            rival = ["none of those tried", ""] if least is None else [arguments(least["search"]), fits(least)]
            lines.append([task, what, fits(ours), errors, fits(usual), rate(usual["below"][alpha][gap]), *rival])
    return table(head, lines, text_columns=2)


def arguments(name: str) -> str:
    """What stands in brackets."""
    return name[name.index("(") + 1 : -1]


def verdict(found: dict[str, Any]) -> str:
    """Wins and losses, counted."""
    asked = kept = dearer = broken = 0
    factors = []
    for task in TASKS:
        rows = by_search(found, task)
        for search in SEARCHES:
            if not is_ours(search.name) or search.name not in rows:
                continue
            alpha, gap, delta = target(search, task)
            ours, usual = rows[search.name], rows[USUAL]
            asked += 1
            kept += ours["below"][alpha][gap]["rate"] <= delta
            factors.append(ours["fits"]["mean"] / usual["fits"]["mean"])
            dearer += factors[-1] > 1.0
            broken += usual["below"][alpha][gap]["interval"][0] > delta
    return wrapped(
        f"`TopAlphaSearchCV` kept its promise in {kept} of {asked} rows of this table, mostly by far: the guarantee is "
        f"for every pool, and these are not the worst ones. It took more fits than `{USUAL}` in {dearer} of {asked} "
        f"rows, {min(factors):.1f} to {max(factors):.1f} times as many. `{USUAL}` missed the same target in more than "
        f"delta of the runs (surely, by its interval) in {broken} of {asked} rows. Which budget suffices can be seen "
        "here because the truth is known; who has one data set and one run does not see it, and that is what the fits "
        "buy: a search that knows when to stop, and a certificate."
    )


def checks(found: dict[str, Any]) -> str:
    """Replay and real fits side by side."""
    head = ["task", "search", "runs", "fits: replayed", "real", "regret: replayed", "real"]
    lines = []
    for task in TASKS:
        replayed, real = by_search(found, task, "replayed"), by_search(found, task, "real")
        for search in CHECKS:
            one, other = replayed[search.name], real[search.name]
            regrets = [f"{row['regret']['mean']:.4f} ± {row['regret']['stderr']:.4f}" for row in (one, other)]
            runs = f"{one['runs']:,} and {other['runs']}"
            lines.append([task, shown(search.name, task), runs, fits(one), fits(other), *regrets])
    return table(head, lines, text_columns=2)


def comparison(found: dict[str, Any]) -> str:
    """All between the marks."""
    size = next(iter(found["tasks"].values()))
    errors = "; ".join(
        f"{task} {one['standard error']:.4f} and {one['paired standard error']:.4f}"
        for task, one in found["tasks"].items()
    )
    set_up = SET_UP.format(**size, partitions=size["splits"] // FOLDS)
    sections = [
        *map(wrapped, (set_up, OPTUNA, READING)),
        "![True means of the three pools, from best to worst](model_search/pools.png)",
        *(part for task in TASKS for part in (f"### {task}", pool_words(found, task), task_table(found, task))),
        "![Error rates against fits](model_search/errors.png)",
        "### What a promise costs",
        promises(found),
        verdict(found),
        "### Is the replay like the real thing?",
        wrapped("The same searches with real fits on fresh splits; ± is one standard error."),
        checks(found),
        wrapped(ERROR.format(errors=errors)),
    ]
    return "\n\n".join(sections)
