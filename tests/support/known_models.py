"""Estimators whose mean score is known, and searches over their settings."""

import numpy as np
from scipy.stats import loguniform
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

from topalpha.sklearn import TopAlphaSearchCV

X, Y = load_iris(return_X_y=True)
TARGET = {"alpha": 0.3, "epsilon": 0.1, "delta": 0.1, "random_state": 0}
SMOOTHING = {"var_smoothing": loguniform(1e-9, 1e3)}
ROWS = np.random.default_rng(7).normal(size=(60, 1))


class Known(BaseEstimator):
    """An estimator whose mean score over random splits is ``mean``: the average of random rows is that of all rows."""

    def __init__(self, mean=0.0, noise=1.0, kind=None, random_state=None):
        self.mean = mean
        self.noise = noise
        self.kind = kind
        self.random_state = random_state

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def score(self, X, y=None):
        return self.mean + self.noise * float(X.mean() - ROWS.mean())


class Failing(Known):
    """Fails where it is told to."""

    def fit(self, X, y=None):
        if self.kind == "fit":
            raise RuntimeError("no fit today")
        return super().fit(X, y)

    def score(self, X, y=None):
        return float("nan") if self.kind == "nan" else super().score(X, y)


def known(distributions, **arguments):
    return TopAlphaSearchCV(Known(), distributions, **{**TARGET, **arguments})


def fitted(distributions, **arguments):
    return known(distributions, **arguments).fit(ROWS)
