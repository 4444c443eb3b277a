"""The loop over the cells of a comparison, resumable."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from topalpha.research.comparison.cells import cells, evaluate
from topalpha.research.comparison.configuration import Comparison
from topalpha.research.comparison.finished_cells import FinishedCells


def compare(
    comparison: Comparison,
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[dict[str, Any]]:
    """Measure every cell of a comparison, and return its rows in order.

    Parameters
    ----------
    comparison
        The algorithms, reservoirs and targets.
    folder
        A folder that stores each finished cell; cells already in it are not measured again.
    workers
        The number of threads for the runs of a cell, by default one per core. Only the times depend on it.
    progress
        Called with the key of each finished cell.

    Examples
    --------
    >>> from topalpha.research.comparison import ComparisonCase, Contender
    >>> case = ComparisonCase("two-point(0.2,0.8,0.3)", 0.3, 0.3, 0.2)
    >>> rows = compare(Comparison((Contender("joint-lucb"),), (case,), runs=20))
    >>> rows[0]["errors"]["count"] <= 20
    True
    """
    with nullcontext() if folder is None else FinishedCells(folder, comparison) as finished:
        rows = []
        for cell in cells(comparison):
            row = None if finished is None else finished.rows.get(cell.key)
            if row is None:
                row = evaluate(cell, comparison, workers)
                if finished is not None:
                    finished.add(row)
            rows.append(row)
            if progress is not None:
                progress(cell.key)
        return rows
