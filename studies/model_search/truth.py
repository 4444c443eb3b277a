"""What every candidate of a pool scores on every recorded split: the world that is replayed, and its truth.

In the replayed world a random split is one of the recorded ones, each as likely as the other. The mean of a candidate's
recorded scores is therefore its true mean there, without error; how far it is from the mean over all splits of the data
is :attr:`Table.standard_error`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from studies import DOCS, ROOT
from studies.model_search.tasks import CANDIDATES, FOLDS, PARTITIONS, TASKS

FOLDER = DOCS / "model_search"
PIECES = ROOT / "build" / "model_search"
#: Scores are kept in whole units of this: it is far below what a split tells, and files stay small.
UNIT = 1e-4


@dataclass(frozen=True, eq=False)
class Table:
    """Scores by candidate and split; folds of one partition stand together.

    Examples
    --------
    >>> table = Table(np.array([[0.5, 0.7], [0.9, 0.9], [0.8, 0.6]]))
    >>> table.means.round(3).tolist(), round(table.quantile(1 / 3), 3), round(table.quantile(0.5), 3)
    ([0.6, 0.9, 0.7], 0.9, 0.7)
    """

    scores: NDArray[np.float64]

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """True means, in the replayed world."""
        return self.scores.mean(axis=1)

    def quantile(self, alpha: float) -> float:
        """The upper quantile at 1 - alpha: the largest x such that at least alpha of the pool has a mean of x or more.

        The tolerance is for alpha times the size of the pool, when it is a whole number up to rounding.
        """
        size = len(self.means)
        return float(np.sort(self.means)[size - math.ceil(alpha * size - 1e-9)])

    @property
    def deviation(self) -> float:
        """Standard deviation of a score over splits, averaged over the better half of the pool."""
        return float(self.scores[self._better].std(axis=1, ddof=1).mean())

    @property
    def paired_deviation(self) -> float:
        """That of the difference from the best candidate's score on the same split."""
        best = int(self.means.argmax())
        others = [place for place in self._better if place != best]
        return float((self.scores[others] - self.scores[best]).std(axis=1, ddof=1).mean())

    @property
    def standard_error(self) -> float:
        """Of a true mean here, as an estimate of the mean over all splits of the data."""
        return self._error(self.scores[self._better])

    @property
    def paired_standard_error(self) -> float:
        """That of the difference between two candidates that are next to each other."""
        chosen = self.scores[self._better]
        return self._error(chosen[1:] - chosen[:-1])

    @staticmethod
    def _error(scores: NDArray[np.float64]) -> float:
        """Average standard error of a row's mean, from the means of whole partitions: their folds are dependent."""
        whole = scores.reshape(len(scores), -1, FOLDS).mean(axis=2)
        return float((whole.std(axis=1, ddof=1) / math.sqrt(whole.shape[1])).mean())

    @property
    def _better(self) -> NDArray[np.int64]:
        return np.argsort(-self.means)[: len(self.means) // 2]


def piece(name: str, partition: int) -> NDArray[np.float64]:
    """Scores of the whole pool on the folds of one partition; kept, so that an interrupted table goes on."""
    file = PIECES / f"{name}-{partition}.npy"
    if not file.exists():
        task = TASKS[name]
        splits = range(partition * FOLDS, (partition + 1) * FOLDS)
        scores = [[task.fit_and_score(parameters, split) for split in splits] for parameters in task.pool]
        PIECES.mkdir(parents=True, exist_ok=True)
        np.save(file, np.array(scores))
    return np.load(file)  # type: ignore[no-any-return]


def write(name: str, scores: NDArray[np.float64]) -> None:
    """Keep a table, in whole units."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(FOLDER / f"{name}.npz", scores=np.round(scores / UNIT).astype(np.int32))


def read(name: str) -> Table:
    """The table that is shipped."""
    with np.load(FOLDER / f"{name}.npz") as file:
        return Table(file["scores"] * UNIT)


def build(jobs: int) -> None:
    """Fit every candidate on every split of every task."""
    from joblib import Parallel, delayed

    pieces = [(name, partition) for name in TASKS for partition in range(PARTITIONS)]
    found = dict(zip(pieces, Parallel(n_jobs=jobs)(delayed(piece)(*one) for one in pieces), strict=True))
    for name in TASKS:
        scores = np.concatenate([found[name, partition] for partition in range(PARTITIONS)], axis=1)
        assert scores.shape == (CANDIDATES, PARTITIONS * FOLDS)
        write(name, scores)
