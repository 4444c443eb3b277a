"""A recorded score table: every candidate on every example. Decisions can be replayed on it, and audited."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from topalpha.storage.outputs import draft_of
from topalpha.testset.dueling import DuelResult, duel
from topalpha.testset.reading import Entry, read_entries, score_of
from topalpha.testset.selecting import select
from topalpha.testset.selection import Selection
from topalpha.theory.arm_counts import top_size
from topalpha.validate import choice, fraction, require

if TYPE_CHECKING:
    from topalpha.testset.score_audit import Audit


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of pass and fail, or between 0 and 1: a row per candidate, a column per example.

    Parameters
    ----------
    candidates, examples
        Their names, without repetition.
    scores
        True or 1 where the candidate passes the example; or graded scores, all of them between 0 and 1.

    Examples
    --------
    >>> table = ScoreTable(["short", "long"], ["q1", "q2", "q3"], [[1, 0, 1], [1, 1, 1]])
    >>> table.means.round(3).tolist(), table.select(epsilon=0.1).candidate
    ([0.667, 1.0], 'long')
    """

    candidates: Sequence[str]
    examples: Sequence[str]
    scores: ArrayLike = field(repr=False)

    def __post_init__(self) -> None:
        for what, names in (("candidates", self.candidates), ("examples", self.examples)):
            require(len(names) > 0, what, "not be empty", names)
            twice = [name for name, count in Counter(names).items() if count > 1]
            require(not twice, what, "have unique names", twice)
            object.__setattr__(self, what, tuple(names))
        shape = (len(self.candidates), len(self.examples))
        try:
            scores = np.asarray(self.scores)
        except ValueError:
            raise ValueError(f"scores must have {shape[0]} rows of {shape[1]} entries, got ragged rows") from None
        require(scores.shape == shape, "scores", f"have {shape[0]} rows of {shape[1]} entries", scores.shape)
        between = "be 0 or 1, or lie between 0 and 1"
        require(scores.dtype.kind in "biuf", "scores", between, scores.dtype.name)
        wrong = scores[~((scores >= 0) & (scores <= 1))]
        require(wrong.size == 0, "scores", between, wrong[:1].tolist())
        binary = bool(((scores == 0) | (scores == 1)).all())
        object.__setattr__(self, "scores", scores.astype(np.bool_ if binary else np.float64))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ScoreTable:
        """The table in a CSV or JSON file.

        CSV: a header with the names of the examples after the first cell, and a row per candidate, the name first; or
        the columns candidate, example and score, and a row per evaluation. JSON: an object of objects or of lists, or a
        list of objects with candidate, example and score. Entries are 0, 1, true, false, pass or fail, or numbers
        between 0 and 1; every candidate must have been evaluated on every example.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ScoreTable(["short", "long"], ["q1", "q2"], [[1, 0], [1, 1]]).write(folder + "/scores.csv")
        ...     ScoreTable.read(folder + "/scores.csv").passes.tolist()
        [1, 2]
        """
        return cls.from_entries(read_entries(path))

    @classmethod
    def from_entries(cls, entries: Iterable[Entry]) -> ScoreTable:
        """The table of these evaluations: candidate, example and score, each pair once, in any order.

        Examples
        --------
        >>> ScoreTable.from_entries([("short", "q1", 1), ("long", "q1", "true")]).candidates
        ('short', 'long')
        """
        rows: dict[str, dict[str, float]] = {}
        examples: dict[str, None] = {}
        for entry in entries:
            candidate, example = entry[:2]
            require(bool(candidate and example), "candidates and examples", "have names", entry)
            row = rows.setdefault(candidate, {})
            require(example not in row, f"the score of {candidate!r} on {example!r}", "occur once", "two of them")
            row[example] = score_of(entry)
            examples.setdefault(example)
        require(bool(rows), "scores", "not be empty", [])
        for candidate, row in rows.items():
            for example in examples:
                require(example in row, f"the score of {candidate!r} on {example!r}", "exist", "none")
        scores = [[row[example] for example in examples] for row in rows.values()]
        return cls(tuple(rows), tuple(examples), scores)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV, a row per candidate."""
        with draft_of(path, name="path") as draft, draft.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["candidate", *self.examples])
            for name, row in zip(self.candidates, self.matrix, strict=True):
                writer.writerow([name, *(row if self.graded else row.astype(int)).tolist()])

    @property
    def matrix(self) -> NDArray[Any]:
        """The scores as an array: of booleans, or of numbers if they are graded."""
        return np.asarray(self.scores)

    @property
    def graded(self) -> bool:
        """Whether some scores are neither 0 nor 1.

        Examples
        --------
        >>> ScoreTable(["a"], ["q1", "q2"], [[1, 0]]).graded, ScoreTable(["a"], ["q1", "q2"], [[1, 0.5]]).graded
        (False, True)
        """
        return self.matrix.dtype != np.bool_

    @cached_property
    def passes(self) -> NDArray[Any]:
        """How many examples each candidate passes; of graded scores, their sums."""
        return np.asarray(self.matrix.sum(axis=1))

    @property
    def means(self) -> NDArray[np.float64]:
        """Each candidate's score on all examples."""
        return np.asarray(self.passes / len(self.examples))

    def top(self, alpha: float) -> float:
        """The score where the top alpha of the candidates begins: that of the ceil(alpha K)-th best.

        Examples
        --------
        >>> ScoreTable(["a", "b", "c"], ["q1", "q2"], [[1, 0], [1, 1], [0, 0]]).top(0.5)
        0.5
        """
        return float(np.sort(self.means)[-top_size(len(self.candidates), fraction("alpha", alpha))])

    def draw(self, rng: Generator) -> str:
        """One of the candidates, all equally likely: an endless pool whose law is this table."""
        return self.candidates[int(rng.integers(len(self.candidates)))]

    def evaluate(self, candidate: str, example: str) -> float:
        """The score of the candidate on the example; 1 for a pass."""
        rows, columns = self._places
        return float(self.matrix[rows[candidate], columns[example]])

    @cached_property
    def _places(self) -> tuple[dict[str, int], dict[str, int]]:
        names = (self.candidates, self.examples)
        rows, columns = ({name: place for place, name in enumerate(some)} for some in names)
        return rows, columns

    def select(self, *, endless: bool = False, **settings: Any) -> Selection:
        """The choice of :func:`topalpha.select` on this table, and its cost; the same for the same seed.

        Parameters
        ----------
        endless
            Whether candidates are drawn with replacement, as from an endless pool; otherwise the table is the list.
        **settings
            Arguments of :func:`topalpha.select`.

        Examples
        --------
        >>> table = ScoreTable(["short", "long"], ["q1", "q2", "q3"], [[1, 0, 1], [1, 1, 1]])
        >>> table.select(endless=True, alpha=0.3, epsilon=0.1).stopped
        True
        """
        candidates = self.draw if endless else self.candidates
        usual = self._usual | {"about": "a pool whose law is this table" if endless else ""}
        return select(candidates, self.examples, self.evaluate, **usual | settings)

    @property
    def _usual(self) -> dict[str, Any]:
        return {"progress": "none", "family": "graded" if self.graded else "pass-fail"}

    def duel(self, first: str, second: str, **settings: Any) -> DuelResult:
        """The verdict of :func:`topalpha.duel` about two candidates of this table.

        Parameters
        ----------
        first, second
            Their names.
        **settings
            Arguments of :func:`topalpha.duel`.

        Examples
        --------
        >>> table = ScoreTable(["short", "long"], ["q1", "q2", "q3"], [[1, 0, 1], [1, 1, 1]])
        >>> table.duel("short", "long", seed=0).verdict
        'second'
        """
        for what, name in (("first", first), ("second", second)):
            choice(what, name, self.candidates)
        return duel(first, second, self.examples, self.evaluate, **self._usual | settings)

    def audit(self, **settings: Any) -> Audit:
        """The errors and costs of choices on this table, over many replays in random orders.

        Parameters
        ----------
        **settings
            Arguments of :func:`topalpha.testset.audit`.

        Examples
        --------
        >>> table = ScoreTable(["short", "long"], ["q1", "q2", "q3"], [[1, 0, 1], [1, 1, 1]])
        >>> table.audit(runs=20).passed
        True
        """
        from topalpha.testset.score_audit import audit

        return audit(self, **settings)
