"""Table 1 again: every row at 10,000 runs, with both readings of n, and with the package's other algorithms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from studies.resumable import Cell
from topalpha import design, simulate
from topalpha.research.table1 import PaperRow, table1

#: Runs a row: of the paper's algorithm, and of the others.
RUNS, OTHER_RUNS = 10_000, 2_000

# The two readings of the paper's number of arms, then the other algorithms.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "kl-lucb-table": ("kl-lucb", {"arms": "table"}),
    "kl-lucb": ("kl-lucb", {"arms": "paper"}),
    "lucb++": ("lucb++", {}),
    "cc-lucb": ("cc-lucb", {}),
    "joint-lucb": ("joint-lucb", {}),
}


def compute(row: PaperRow, variant: str, runs: int) -> dict[str, Any]:
    """One row of the table, run by one variant."""
    name, options = VARIANTS[variant]
    algorithm = design(name, row.alpha, row.epsilon, row.delta, **options)
    return simulate(algorithm, row.law, runs=runs, seed=row.number).to_dict() | {"options": options}


def table_cells() -> Iterator[Cell]:
    """The cells of the table: the cheap algorithms first, then both readings of the paper's, cheap rows first."""
    for variant in ("joint-lucb", "cc-lucb", "lucb++", "kl-lucb-table", "kl-lucb"):
        runs = RUNS if variant.startswith("kl-lucb") else OTHER_RUNS
        for row in sorted(table1(), key=lambda row: -row.epsilon):
            yield Cell(f"row{row.number:02d}-{variant}-{runs}", partial(compute, row, variant, runs))
