"""Were the defaults overfitted: their neighbours on the tuned half of the table's settings and on the half left out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from studies.resumable import Cell
from topalpha import design, simulate
from topalpha.research.table1 import PaperRow, table1

RUNS = 200
#: Each algorithm's default first, then neighbours in the levels that its design takes; joint-lucb's second entry has
#: the levels of the prototype from which tuning started.
SETTINGS: dict[str, tuple[dict[str, float], ...]] = {
    "joint-lucb": (
        {},
        {"delta_u": 0.6, "leader_weight": 0.2, "challenger_weight": 0.6},
        {"delta_u": 0.55},
        {"delta_u": 0.75},
        {"leader_weight": 0.1, "challenger_weight": 0.8},
    ),
    "cc-lucb": ({}, {"delta_u": 0.35}, {"delta_u": 0.55}, {"draw_share": 0.8}, {"draw_share": 0.95}),
}


def tuned(row: PaperRow) -> bool:
    """Whether the row belongs to the half of the table's settings on which the defaults were chosen."""
    return (row.number - 1) // 2 % 2 == 0


def compute(name: str, options: dict[str, float]) -> dict[str, Any]:
    """Mean pulls on every row, on seeds that no other part of the study uses."""
    means = {
        str(row.number): float(
            simulate(
                design(name, row.alpha, row.epsilon, row.delta, **options), row.law, runs=RUNS, seed=5000 + row.number
            ).pulls.mean()
        )
        for row in table1()
    }
    return {"algorithm": name, "options": options, "runs": RUNS, "pulls": means}


def cell_name(name: str, options: dict[str, float]) -> str:
    """The name of a setting's cell."""
    return "-".join(["tuning", name, *(f"{key}={value:g}" for key, value in options.items())])


def tuning_cells() -> Iterator[Cell]:
    """Every setting on all rows."""
    for name, settings in SETTINGS.items():
        for options in settings:
            yield Cell(cell_name(name, options), partial(compute, name, options))
