"""Searches in the replayed world, where a fit is a look at a table.

Every function runs a search once and returns an :class:`Outcome`. Candidates are drawn from the pool with replacement,
so that the law they come from is the same for all. A split of one's own is a recorded split drawn with replacement; a
5-fold partition is a recorded one, the same for all candidates, as scikit-learn and the usual Optuna objective have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import randint

from studies.model_search.tasks import CANDIDATES, FOLDS, PARTITIONS, Task
from studies.model_search.truth import Table
from topalpha.execution import Noted, common_generator
from topalpha.running import Running, finish
from topalpha.sklearn import TopAlphaSearchCV
from topalpha.sklearn.distributions import pool
from topalpha.sklearn.preparation import opened, prepared
from topalpha.sklearn.split_score import SplitScore, dither_of


class Outcome(NamedTuple):
    """Which candidate a search chose, how many fits it took, and whether it stopped by its own rule.

    Where fits are on parts of the rows, ``work`` is their cost in fits on all rows, else 0; and ``failed`` says whether
    fits failed, for want of rows.
    """

    candidate: int
    fits: int
    stopped: bool = True
    work: float = 0.0
    failed: bool = False


@dataclass(frozen=True, kw_only=True)
class RecordedScore(SplitScore):
    """A pull of TopAlphaSearchCV in all but the fit."""

    recorded: NDArray[np.float64]

    def __call__(self, settings: dict[str, Any], rng: Generator) -> Noted:
        """The noise first, as there."""
        noise = dither_of(self.dither, rng)
        source = common_generator(rng) if self.shared else rng
        score = self.recorded[settings["candidate"], recorded_split(source)]
        return Noted(float(score) + noise, None)


def recorded_split(rng: Generator) -> int:
    """One of the recorded splits."""
    return int(rng.integers(PARTITIONS * FOLDS))


def top_alpha(task: Task, table: Table, seed: int, fine: bool = False, **options: Any) -> Outcome:
    """TopAlphaSearchCV with these options, from candidates to stop."""
    laws = {"candidate": randint(0, CANDIDATES)}
    search = TopAlphaSearchCV(task.model, laws, epsilon=task.epsilons[fine], random_state=seed).set_params(**options)
    fitting = prepared(search, None, *task.data, {})
    pull = RecordedScore(**vars(fitting), recorded=table.scores)
    session, calls = opened(search, pool(laws), pull)
    with session:
        found = finish(session, calls, Running(pulls=search.max_fits, progress="none"))
    assert found.candidate is not None
    return Outcome(found.candidate["candidate"], found.pulls, found.stopped)


def randomized(task: Task, table: Table, seed: int, n_iter: int, repeats: int = 1) -> Outcome:
    """RandomizedSearchCV: the largest mean over the folds of one partition, or of several; the first one of equals."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(CANDIDATES, size=n_iter)
    return Outcome(int(chosen[best(table, chosen, partitions(rng, repeats))]), n_iter * repeats * FOLDS)


def partitions(rng: Generator, repeats: int) -> NDArray[np.int64]:
    """The splits of some recorded partitions."""
    picked = rng.integers(PARTITIONS, size=repeats)
    return (picked[:, None] * FOLDS + np.arange(FOLDS)).ravel()


def best(table: Table, chosen: NDArray[np.int64], splits: NDArray[np.int64]) -> int:
    """The place of the largest mean."""
    return int(table.scores[np.ix_(chosen, splits)].mean(axis=1).argmax())


def optuna_search(task: Task, table: Table, seed: int, trials: int, pruning: bool = False) -> Outcome:
    """Optuna with its usual sampler; what it proposes is replaced by the nearest candidate of the pool."""
    import optuna

    from studies.model_search.proposals import Nearest, quiet, suggest

    quiet()
    nearest = Nearest(task)
    folds = partitions(np.random.default_rng(seed), 1)
    fits = 0

    def objective(trial: Any) -> float:
        nonlocal fits
        candidate = nearest(suggest(trial, task))
        trial.set_user_attr("candidate", candidate)
        scores = table.scores[candidate, folds]
        for fold in range(FOLDS):
            fits += 1
            if pruning:
                trial.report(float(scores[: fold + 1].mean()), fold)
                if trial.should_prune():
                    raise optuna.TrialPruned
        return float(scores.mean())

    pruner = optuna.pruners.MedianPruner() if pruning else optuna.pruners.NopPruner()
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed), pruner=pruner)
    study.optimize(objective, n_trials=trials)
    return Outcome(study.best_trial.user_attrs["candidate"], fits)
