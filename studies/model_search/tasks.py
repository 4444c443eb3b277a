"""The tasks of the model search study: data that scikit-learn ships, a model, and the law of its parameters.

A task is a pool of candidates, drawn once from the law, and recorded splits of the data, the folds of random 5-fold
partitions. One fold of a shuffled partition has the law of one random split with a test share of a fifth, so that the
same recorded scores serve those who pull single splits and those who take whole partitions, with the same true means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

FOLDS = 5
CANDIDATES, PARTITIONS = 200, 30
# Of the pool, and of the recorded partitions: the repetitions of the study use other seeds.
POOL_SEED, SPLIT_SEED = 20_240_101, 1_000_000


@dataclass(frozen=True, eq=False)
class Task:
    """Data, a model whose default score is asked for, the law of its parameters, and two tolerances: usual and fine."""

    name: str
    load: Callable[..., Any]
    model: BaseEstimator
    laws: dict[str, Any]
    score: str
    epsilons: tuple[float, float]
    words: str

    @cached_property
    def data(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Rows and what is to be predicted."""
        return self.load(return_X_y=True)  # type: ignore[no-any-return]

    @cached_property
    def pool(self) -> list[dict[str, Any]]:
        """The parameters of every candidate."""
        return list(ParameterSampler(self.laws, CANDIDATES, random_state=POOL_SEED))

    def partition(self, seed: int) -> Any:
        """A random 5-fold partition, as people use it: stratified if there are classes."""
        kind = StratifiedKFold if is_classifier(self.model) else KFold
        return kind(FOLDS, shuffle=True, random_state=seed)

    @cache  # noqa: B019 (tasks live as long as the program)
    def splits(self, partition: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Rows to fit and rows to score, for each fold of a recorded partition."""
        return list(self.partition(SPLIT_SEED + partition).split(*self.data))

    def with_parameters(self, parameters: dict[str, Any]) -> BaseEstimator:
        """A model that is not fitted."""
        return clone(self.model).set_params(**parameters)

    def fit_and_score(self, parameters: dict[str, Any], split: int) -> float:
        """The score on a recorded split, by a fit."""
        features, target = self.data
        fit, test = self.splits(split // FOLDS)[split % FOLDS]
        model = self.with_parameters(parameters).fit(features[fit], target[fit])
        return float(model.score(features[test], target[test]))


TASKS = {
    task.name: task
    for task in (
        Task(
            "cancer",
            load_breast_cancer,
            make_pipeline(StandardScaler(), SVC()),
            {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1.0)},
            "accuracy",
            (0.005, 0.002),
            "Breast cancer (569 rows): a support vector classifier, its `C` and `gamma`",
        ),
        Task(
            "digits",
            load_digits,
            DecisionTreeClassifier(random_state=0),
            {"max_depth": randint(4, 20), "min_samples_leaf": randint(1, 20), "max_features": uniform(0.05, 0.95)},
            "accuracy",
            (0.01, 0.004),
            "Digits (1,797 rows): a decision tree, its `max_depth`, `min_samples_leaf` and `max_features`",
        ),
        Task(
            "diabetes",
            load_diabetes,
            make_pipeline(StandardScaler(), SVR()),
            {"svr__C": loguniform(1e-1, 1e3), "svr__gamma": loguniform(1e-4, 1.0)},
            "R²",
            (0.02, 0.008),
            "Diabetes (442 rows): support vector regression, its `C` and `gamma`",
        ),
    )
}
