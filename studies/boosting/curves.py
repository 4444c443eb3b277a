"""Curves of the boosting study: accuracy over time, when it is looked at, and when a method ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from studies.boosting.data import Task


class Limit(NamedTuple):
    """When a method ends: after so many rounds, or when a round is over after so many seconds."""

    rounds: int
    seconds: float


class Curve(NamedTuple):
    """Accuracy on the test rows after some of the rounds, against seconds in ``fit``.

    ``looked`` counts the values of features that the rounds had read by then to choose stumps, in millions; None where
    a library does not say. Left out, for everybody: preparations, which read the whole table, and the one value of
    each row that AdaBoost's own step reads. On images it counts the responses of filters that had been computed, all
    of them. ``proved`` is how many of all rounds ended with a proof, where a method gives any.
    """

    prepared: float | None
    rounds: list[int]
    seconds: list[float]
    accuracy: list[float]
    looked: list[float] | None
    proved: int | None = None


Method = Callable[[Task, Limit, int], Curve | None]


def checkpoints(rounds: int) -> list[int]:
    """1, 2, 3, ... and then in steps of a twelfth, with the last round."""
    found, at = [], 1
    while at < rounds:
        found.append(at)
        at = max(at + 1, round(at * 13 / 12))
    return [*found, rounds]


def traced(
    task: Task,
    seconds: list[float],
    stages: Iterable[NDArray[Any]],
    prepared: float | None = None,
    looked: list[float] | None = None,
) -> Curve:
    """The curve of a method that was done with round r after ``seconds[r - 1]`` and had read ``looked[r - 1]`` values.

    ``stages`` are margins of the test rows around 0, after each of the ``checkpoints``.
    """
    wanted = checkpoints(len(seconds))
    truth = task.truth.astype(bool)
    accuracy = [round(float(np.mean((stage > 0) == truth)), 5) for stage in stages]
    if len(accuracy) != len(wanted):
        raise ValueError(f"stages must be {len(wanted)}, one for each checkpoint, got {len(accuracy)}")
    return Curve(
        None if prepared is None else round(prepared, 5),
        wanted,
        [round(seconds[at - 1], 5) for at in wanted],
        accuracy,
        [float(f"{looked[at - 1] / 1e6:.4g}") for at in wanted] if looked else None,
    )


def at_checkpoints(stages: Iterable[NDArray[Any]], rounds: int) -> Iterator[NDArray[Any]]:
    """Of the stages after each round those that count."""
    wanted = frozenset(checkpoints(rounds))
    return (stage for at, stage in enumerate(stages, start=1) if at in wanted)
