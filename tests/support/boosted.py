"""Small data for boosting, and a classifier fitted to them."""

from __future__ import annotations

import numpy as np

from topalpha.sklearn import BanditAdaBoostClassifier


def blobs(rows=600, seed=0, kinds=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    score = X[:, 0] + 0.5 * np.sin(3.0 * X[:, 1]) + 0.3 * rng.normal(size=rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, kinds) / kinds))


def fitted(rounds=15, seed=0, **options):
    X, y = blobs()
    return BanditAdaBoostClassifier(rounds, random_state=seed, **options).fit(X, y), X, y


class Projections:
    """Random directions, as a user would write them."""

    def draw(self, rng):
        direction = rng.normal(size=4)
        return lambda block: block @ direction
