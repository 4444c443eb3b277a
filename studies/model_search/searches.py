"""Which searches the study runs on each task, how often, and what is kept of them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from studies.model_search import real, replay
from studies.model_search.replay import Outcome
from studies.model_search.tasks import TASKS
from studies.model_search.truth import Table, read
from topalpha.simulation import Count

ALPHAS = (0.05, 0.1)
# Fits after which a search of ours would be cut off; a run that was would be counted and shown.
MOST_FITS = 100_000


class Search(NamedTuple):
    """One way to search, repeated on every task that it is for."""

    name: str
    how: str  # "replayed" or "real"
    function: str
    options: dict[str, Any]
    runs: int
    scores: tuple[str, ...] = ("accuracy", "R²")

    def once(self, task: str, seed: int) -> tuple[Outcome, float]:
        """One run, and the true mean of what it chose."""
        if self.how == "replayed":
            found = getattr(replay, self.function)(TASKS[task], table(task), seed, **self.options)
        else:
            found = getattr(real, self.function)(TASKS[task], seed, **self.options)
        if isinstance(found, Outcome):
            return found, float(table(task).means[found.candidate])
        return found  # type: ignore[no-any-return]


@cache
def table(task: str) -> Table:
    """The table of a task, read once."""
    return read(task)


def ours(alpha: float, delta: float, runs: int, fine: bool = False, **options: Any) -> Search:
    """A search with TopAlphaSearchCV, for the tolerance of the task or the finer one."""
    extra = "".join(f', {name}="{value}"' for name, value in options.items())
    bounded = options.get("bounds", "normal") != "normal"
    return Search(
        f"TopAlphaSearchCV(alpha={alpha:g}, epsilon={'ε′' if fine else 'ε'}, delta={delta:g}{extra})",
        "replayed",
        "top_alpha",
        {"alpha": alpha, "delta": delta, "fine": fine, "max_fits": MOST_FITS, **options},
        runs,
        ("accuracy",) if bounded else ("accuracy", "R²"),
    )


def randomized(n_iter: int, repeats: int = 1) -> Search:
    """A search with RandomizedSearchCV; several repeats are RepeatedKFold."""
    folds = "cv=5" if repeats == 1 else f"cv=5 repeated {repeats} times"
    options = {"n_iter": n_iter, "repeats": repeats}
    return Search(f"RandomizedSearchCV(n_iter={n_iter}, {folds})", "replayed", "randomized", options, 4000)


#: Random search with more candidates, and with more folds for each.
WIDER, DEEPER = (10, 30, 60, 120, 240, 480), (1, 2, 4, 8, 16)

SEARCHES = (
    ours(0.05, 0.05, 200),
    ours(0.05, 0.05, 80, fine=True),
    ours(0.1, 0.1, 300),
    ours(0.1, 0.1, 100, splits="shared"),
    ours(0.1, 0.1, 50, bounds="low-variance"),
    *(randomized(n_iter) for n_iter in WIDER),
    *(randomized(60, repeats) for repeats in DEEPER[1:]),
    Search("Optuna(TPE, 60 trials, cv=5)", "replayed", "optuna_search", {"trials": 60}, 150),
    Search("Optuna(TPE, 240 trials, cv=5)", "replayed", "optuna_search", {"trials": 240}, 60),
    Search("Optuna(TPE, 60 trials, median pruning)", "replayed", "optuna_search", {"trials": 60, "pruning": True}, 150),
    Search(
        'HalvingRandomSearchCV(n_candidates=60, min_resources="exhaust")',
        "real",
        "halving",
        {"n_candidates": 60, "min_resources": "exhaust"},
        40,
    ),
    Search("HalvingRandomSearchCV(n_candidates=60, min_resources=rows // 9)", "real", "halving_from_a_ninth", {}, 40),
)

#: The same with real fits, to be compared with the replay.
CHECKS = (
    ours(0.1, 0.1, 12)._replace(how="real"),
    Search("RandomizedSearchCV(n_iter=60, cv=5)", "real", "randomized", {"n_iter": 60}, 12),
    Search("Optuna(TPE, 60 trials, cv=5)", "real", "optuna_search", {"trials": 60}, 12),
)


def measure(search: Search, task: str, jobs: int) -> dict[str, Any]:
    """All runs of a search on a task, summed up."""
    seeds = np.array_split(np.arange(search.runs), min(search.runs, 8 * jobs))
    found = Parallel(n_jobs=jobs)(delayed(_some)(search, task, [int(seed) for seed in some]) for some in seeds)
    runs = [one for some in found for one in some]
    return {
        "task": task,
        "search": search.name,
        "how": search.how,
        **summed_up(runs, table(task), TASKS[task].epsilons),
    }


def _some(search: Search, task: str, seeds: list[int]) -> list[tuple[Outcome, float]]:
    return [search.once(task, seed) for seed in seeds]


def summed_up(runs: list[tuple[Outcome, float]], table: Table, epsilons: tuple[float, ...]) -> dict[str, Any]:
    """Fits; how often the choice is below the top alpha, and by more than each epsilon; regret to the pool's best."""
    means = np.array([mean for _, mean in runs])
    fits = np.array([outcome.fits for outcome, _ in runs])
    regret = float(table.means.max()) - means
    row: dict[str, Any] = {
        "runs": len(runs),
        "unfinished": sum(not outcome.stopped for outcome, _ in runs),
        "fits": {
            "mean": float(fits.mean()),
            "stderr": float(fits.std(ddof=1) / len(runs) ** 0.5),
            "least": int(fits.min()),
            "most": int(fits.max()),
        },
        "first": [[outcome.candidate, outcome.fits] for outcome, _ in runs[:5]],
        "work": float(np.mean([outcome.work for outcome, _ in runs])),
        "regret": {
            "mean": float(regret.mean()),
            "stderr": float(regret.std(ddof=1) / len(runs) ** 0.5),
            "quantiles": {str(level): float(np.quantile(regret, level)) for level in (0.5, 0.9, 0.95, 1.0)},
        },
    }
    if failed := sum(outcome.failed for outcome, _ in runs):
        row["failed"] = failed
    row["below"] = {f"{alpha:g}": _below(means, table.quantile(alpha), epsilons) for alpha in ALPHAS}
    return row


def _below(means: NDArray[np.float64], bar: float, epsilons: tuple[float, ...]) -> dict[str, Any]:
    """By more than 0 and by more than each epsilon."""
    # A mean that is the quantile itself is not below it, whatever rounding says.
    counts = {f"{gap:g}": int((means < bar - gap - 1e-12).sum()) for gap in (0.0, *epsilons)}
    return {gap: Count(count, len(means)).to_dict() for gap, count in counts.items()}


def about(name: str) -> dict[str, Any]:
    """What a task's table is like."""
    one, task = table(name), TASKS[name]
    return {
        "epsilons": list(task.epsilons),
        "rows": len(task.data[0]),
        "candidates": one.scores.shape[0],
        "splits": one.scores.shape[1],
        "best": float(one.means.max()),
        "median": float(np.median(one.means)),
        "quantiles": {f"{alpha:g}": one.quantile(alpha) for alpha in ALPHAS},
        "within": {f"{gap:g}": float((one.means >= one.quantile(0.05) - gap - 1e-12).mean()) for gap in task.epsilons},
        "deviation": one.deviation,
        "paired deviation": one.paired_deviation,
        "standard error": one.standard_error,
        "paired standard error": one.paired_standard_error,
    }
