"""Data of the boosting study: a stated generator at any number of rows, and two real sets that scikit-learn ships."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FEATURES, INFORMATIVE = 100, 40
#: Rows are made in blocks, so that a long table begins with the rows of a short one and little memory is needed.
BLOCK = 50_000


class Task(NamedTuple):
    """Rows to learn from, and rows that no method sees; labels are 0 and 1."""

    name: str
    train: NDArray[np.float32]
    labels: NDArray[np.int64]
    test: NDArray[np.float32]
    truth: NDArray[np.int64]


def score(features: NDArray[np.float32]) -> NDArray[np.float64]:
    """The log-odds of the label: a sum of forty functions of one feature each, of falling size and four shapes.

    Steps are what stumps learn in one round; waves, bumps and slopes take many.
    """
    total = np.zeros(len(features))
    for feature in range(INFORMATIVE):
        value = features[:, feature].astype(np.float64)
        size = 1.6 * 0.95**feature
        match feature % 4:
            case 0:
                total += size * np.sign(value - 0.3)
            case 1:
                total += size * np.sin(2.0 * value)
            case 2:
                total += size * (np.abs(value) - np.sqrt(2.0 / np.pi))
            case _:
                total += 0.7 * size * value
    return total


def table(rows: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Independent standard normal features and labels drawn from their log-odds; float32, row after row."""
    features = np.empty((rows, FEATURES), dtype=np.float32)
    labels = np.empty(rows, dtype=np.int64)
    for block, begin in enumerate(range(0, rows, BLOCK)):
        rng = np.random.default_rng((seed, block))
        some = rng.standard_normal((BLOCK, FEATURES), dtype=np.float32)
        drawn = rng.random(BLOCK) < 1.0 / (1.0 + np.exp(-score(some)))
        end = min(begin + BLOCK, rows)
        features[begin:end], labels[begin:end] = some[: end - begin], drawn[: end - begin]
    return features, labels


def generated(rows: int, seed: int, held_out: int = BLOCK) -> Task:
    """The generator's task. The test rows come from a seed of their own and are the same at every number of rows."""
    return Task(f"generated, {rows:,} rows", *table(rows, seed), *table(held_out, seed + 1_000_000))


def real(name: str, seed: int) -> Task:
    """A set that comes with scikit-learn, as two classes, a third held out: breast cancer, or digits below five."""
    from sklearn.datasets import load_breast_cancer, load_digits

    features, labels = (load_breast_cancer if name == "breast cancer" else load_digits)(return_X_y=True)
    if name == "digits":
        labels = labels < 5
    order = np.random.default_rng(seed).permutation(len(labels))
    features, labels = features[order].astype(np.float32), labels[order].astype(np.int64)
    cut = 2 * len(labels) // 3
    return Task(f"{name}, {cut:,} rows", features[:cut], labels[:cut], features[cut:], labels[cut:])
