"""The comparison in words and tables, from the results alone: no figure is written by hand."""

from __future__ import annotations

from typing import Any

from studies.model_search.promises import promises, reasons, verdict
from studies.model_search.searches import CHECKS, SEARCHES
from studies.model_search.tasks import FOLDS, TASKS
from studies.model_search.words import by_search, fits, is_ours, percent, rate, shown, table, target, wrapped

SET_UP = """
Three data sets that scikit-learn ships; for each, a pool of {candidates} candidates drawn once from the distributions
of the parameters, and the score of every candidate on {splits} recorded splits, the folds of {partitions} random 5-fold
partitions. A search is replayed: a fit looks up a recorded score. Candidates come from the pool with replacement; a
split of a candidate's own is a recorded one, drawn with replacement; 5-fold searches use one recorded partition for all
candidates, as scikit-learn does. So the true mean of every candidate is known without error, and a search can be run
thousands of times. `HalvingRandomSearchCV` fits on parts of the rows, which no table holds: it is run for real, on the
same pool.
"""

OPTUNA = """
Optuna proposes parameters freely. In the replay each proposal is replaced by the candidate of the pool that is nearest
to it, each parameter measured by its distribution function. The real runs below let it propose what it
likes, and measure the true mean of its choice on the recorded splits.
"""

READING = """
A cell says in how many runs the true mean of the choice was below the top 5% (or 10%) of the pool, or more than a
tolerance below it, with the exact 95% interval. The last is what `TopAlphaSearchCV` promises to do with probability at
most delta, for the alpha and epsilon that it was asked for (its own cell is in bold). Nobody promises "below the top
5%" without a tolerance. Regret is how far the choice's true mean is below the pool's best. Fits and regret
are averages; successive halving fits on few rows at first, and what its fits are worth in fits on all rows is in
brackets.
"""

ERROR = """
The recorded splits are a sample of all splits. The standard error of a candidate's true mean in the replay, as an
estimate of its mean over all splits of the data, and that of the difference of two candidates: {errors}. Replayed runs
do not suffer from it: for them the recorded splits are all there is.
"""


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
    near = ", ".join(f"{percent(share)} are within {gap}" for gap, share in one["within"].items())
    return wrapped(
        f"{TASKS[task].words}. The score is {TASKS[task].score}. The best true mean of the pool is {one['best']:.4f}, "
        f"the median {one['median']:.4f}; the top 5% begin at {one['quantiles']['0.05']:.4f}, the top 10% at "
        f"{one['quantiles']['0.1']:.4f}. Of the pool, {near} of the top 5% or better. The score of one split has a "
        f"standard deviation of {one['deviation']:.4f}, the difference of two candidates on one split of "
        f"{one['paired deviation']:.4f}."
    )


def failures(found: dict[str, Any], task: str) -> str:
    """Runs in which fits failed, or nothing."""
    words = [
        f"In {row['failed']} of {row['runs']} runs of `{row['search']}` a fold of the first round was so small that "
        "all its fits failed, and the round decided nothing; scikit-learn warns, and goes on."
        for row in by_search(found, task).values()
        if row.get("failed")
    ]
    return wrapped(" ".join(words))


def task_section(found: dict[str, Any], task: str) -> list[str]:
    """A heading, the pool, the table."""
    parts = [f"### {task}", pool_words(found, task), task_table(found, task), failures(found, task)]
    return [part for part in parts if part]


def checks(found: dict[str, Any]) -> str:
    """Replay and real fits side by side."""
    head = ["task", "search", "runs: replayed, real", "fits: replayed", "real", "regret: replayed", "real"]
    lines = []
    for task in TASKS:
        replayed, real = by_search(found, task, "replayed"), by_search(found, task, "real")
        for search in CHECKS:
            one, other = replayed[search.name], real[search.name]
            spent = [f"{fits(row)} ± {row['fits']['stderr']:.0f}" for row in (one, other)]
            regrets = [f"{row['regret']['mean']:.4f} ± {row['regret']['stderr']:.4f}" for row in (one, other)]
            runs = f"{one['runs']:,}, {other['runs']}"
            lines.append([task, shown(search.name, task), runs, *spent, *regrets])
    return table(head, lines, text_columns=2)


def freed(found: dict[str, Any]) -> str:
    """What the pool costs Optuna."""
    name = CHECKS[-1].name
    pairs = {task: [by_search(found, task, how)[name]["regret"] for how in ("replayed", "real")] for task in TASKS}
    better = [
        task
        for task, (one, other) in pairs.items()
        if one["mean"] - other["mean"] > 2.0 * (one["stderr"] ** 2 + other["stderr"] ** 2) ** 0.5
    ]
    words = "Optuna is not the same in both: without the pool it may find what is better than all of it, and "
    words += f"does on {' and '.join(better)} (by more than two standard errors)" if better else "did not here"
    return wrapped(f"{words}. What the tables above say of Optuna is {'a little too bad there' if better else 'fair'}.")


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
        *(part for task in TASKS for part in task_section(found, task)),
        "![Error rates against fits](model_search/errors.png)",
        "![Mean regret against fits](model_search/regret.png)",
        "### What a promise costs",
        promises(found),
        verdict(found),
        reasons(found),
        "### Is the replay like the real thing?",
        wrapped("The same searches with real fits on fresh splits; ± is one standard error."),
        checks(found),
        freed(found),
        wrapped(ERROR.format(errors=errors)),
    ]
    return "\n\n".join(sections)
