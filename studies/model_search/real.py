"""Searches with real fits: successive halving, which fits on parts of the rows, and a few runs that check the replay.

Candidates come from the same pool, but partitions and splits are fresh ones, not recorded. Optuna proposes freely from
the parameters' ranges, and the true mean of what it chose is measured on all recorded splits.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import randint
from sklearn.base import BaseEstimator, get_tags
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import RandomizedSearchCV, cross_val_score

from studies.model_search.replay import Outcome
from studies.model_search.tasks import CANDIDATES, FOLDS, PARTITIONS, TASKS, Task
from topalpha.sklearn import TopAlphaSearchCV

LAWS = {"candidate": randint(0, CANDIDATES)}
# Partitions of real runs are none of the recorded ones.
FRESH = 5_000_000


class Pooled(BaseEstimator):
    """A candidate of a task's pool, by its number."""

    def __init__(self, task: str = "cancer", candidate: int = 0) -> None:
        self.task = task
        self.candidate = candidate

    def fit(self, X: Any, y: Any) -> Pooled:
        """Fit the candidate."""
        task = TASKS[self.task]
        self.model_ = task.with_parameters(task.pool[self.candidate]).fit(X, y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Its predictions."""
        return self.model_.predict(X)  # type: ignore[no-any-return]

    def score(self, X: Any, y: Any) -> float:
        """Its own score."""
        return float(self.model_.score(X, y))

    def __sklearn_tags__(self) -> Any:
        return get_tags(TASKS[self.task].model)


def top_alpha(task: Task, seed: int, fine: bool = False, **options: Any) -> Outcome:
    """TopAlphaSearchCV."""
    search = TopAlphaSearchCV(Pooled(task.name), LAWS, epsilon=task.epsilons[fine], random_state=seed, refit=False)
    search.set_params(**options).fit(*task.data)
    return Outcome(search.best_params_["candidate"], search.n_fits_, search.certificate_.proved)


def randomized(task: Task, seed: int, n_iter: int) -> Outcome:
    """RandomizedSearchCV with a random 5-fold partition."""
    folds = task.partition(FRESH + seed)
    search = RandomizedSearchCV(Pooled(task.name), LAWS, n_iter=n_iter, cv=folds, random_state=seed, refit=False)
    search.fit(*task.data)
    return Outcome(int(search.best_params_["candidate"]), n_iter * FOLDS)


def halving(task: Task, seed: int, **options: Any) -> Outcome:
    """HalvingRandomSearchCV, whose resource is the number of rows; ``work`` is in fits on all of them."""
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401 (without it there is no such class)
    from sklearn.model_selection import HalvingRandomSearchCV

    folds = task.partition(FRESH + seed)
    search = HalvingRandomSearchCV(Pooled(task.name), LAWS, cv=folds, random_state=seed, refit=False, **options)
    with warnings.catch_warnings():
        # A fold of few rows may hold one class only: all candidates then score nan, and the round decides nothing.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", FitFailedWarning)
        search.fit(*task.data)
    failed = bool(np.isnan(search.cv_results_["mean_test_score"]).any())
    rows = np.array(search.n_resources_) / len(task.data[0])
    fits = FOLDS * np.array(search.n_candidates_)
    return Outcome(int(search.best_params_["candidate"]), int(fits.sum()), work=float(fits @ rows), failed=failed)


def halving_from_a_ninth(task: Task, seed: int) -> Outcome:
    """As above; the first round has a ninth of the rows, the third one all."""
    return halving(task, seed, n_candidates=60, min_resources=len(task.data[0]) // 9)


def optuna_search(task: Task, seed: int, trials: int) -> tuple[Outcome, float]:
    """Optuna with its usual sampler on a random 5-fold partition, and the mean of its choice on the recorded splits."""
    import optuna

    from studies.model_search.proposals import quiet, suggest

    quiet()
    folds = task.partition(FRESH + seed)

    def objective(trial: Any) -> float:
        model = task.with_parameters(suggest(trial, task))
        return float(cross_val_score(model, *task.data, cv=folds).mean())

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=trials)
    truth = np.mean([task.fit_and_score(study.best_params, split) for split in range(PARTITIONS * FOLDS)])
    return Outcome(-1, trials * FOLDS), float(truth)
