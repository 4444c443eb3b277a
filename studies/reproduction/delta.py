"""Pulls against delta, from .1 down to 1e-8: a logarithm, or its square."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from studies.resumable import Cell
from topalpha import design, simulate
from topalpha.reservoirs import Beta, Conditioned, Reservoir, TwoPoint

ALPHA = EPSILON = 0.05
DELTAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
ALGORITHMS = ("kl-lucb", "lucb++", "cc-lucb", "joint-lucb")
#: A smooth tail, and a hard one: six per cent of the arms are better than the rest by one and a half epsilon.
RESERVOIRS: dict[str, tuple[Reservoir, int]] = {
    "beta": (Conditioned(Beta(1, 1), 0.95), 200),
    "two-point": (TwoPoint(0.5, 0.575, 0.06), 50),
}


def compute(algorithm: str, reservoir: str, delta: float) -> dict[str, Any]:
    """One point of a curve."""
    law, runs = RESERVOIRS[reservoir]
    return simulate(design(algorithm, ALPHA, EPSILON, delta), law, runs=runs, seed=7).to_dict()


def delta_cells() -> Iterator[Cell]:
    """Every algorithm at every delta on every reservoir."""
    for reservoir in RESERVOIRS:
        for algorithm in ALGORITHMS:
            for delta in DELTAS:
                yield Cell(f"delta-{reservoir}-{algorithm}-{delta:g}", partial(compute, algorithm, reservoir, delta))
