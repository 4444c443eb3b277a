"""What is read off the curves of the boosting study: the target, when a method reaches it, and at what cost."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from typing import Any

#: The target is what the exact search reaches after all its rounds, less this much.
SLACK = 0.002
EXACT, SORTED = "exact", "exact, sorted rows"
OURS = ("bandit, edge", "bandit, best")

Run = dict[str, Any]
Curve = dict[str, Any]


def target(run: Run) -> float:
    """The accuracy to reach."""
    return float(curve_of(run, EXACT)["accuracy"][-1]) - SLACK


def curve_of(run: Run, method: str) -> Curve:
    """A method's curve in a run."""
    return next(curve for curve in run["curves"] if curve["method"] == method)


def methods_of(runs: Iterable[Run]) -> list[str]:
    """All methods, in the order of the first run; then those that were never ready to begin."""
    some = list(runs)
    names = [curve["method"] for run in some for curve in run["curves"]]
    return list(dict.fromkeys([*names, *(name for run in some for name in run["not_ready"])]))


def reached(curve: Curve, accuracy: float) -> int | None:
    """The first checkpoint at or above the accuracy, if the next one is so too: one lucky round does not count.

    The last checkpoint has no next one and counts alone, for every method.
    """
    above = [one >= accuracy for one in curve["accuracy"]]
    for at, one in enumerate(above):
        if one and (at + 1 == len(above) or above[at + 1]):
            return at
    return None


def accuracy_at(curve: Curve, seconds: float) -> float | None:
    """Accuracy of what is there after so many seconds."""
    done = [one for one, at in zip(curve["accuracy"], curve["seconds"], strict=True) if at <= seconds]
    return done[-1] if done else None


def over_seeds(runs: list[Run], method: str, figure: Callable[[Run, Curve], float | None]) -> list[float | None]:
    """One figure of a method for each run that tried it; None where it was not ready to begin in time."""
    found = [figure(run, curve) for run in runs for curve in run["curves"] if curve["method"] == method]
    return [*found, *(None for run in runs if method in run["not_ready"])]


def seconds_to_target(run: Run, curve: Curve) -> float | None:
    """Seconds until the target is reached."""
    at = reached(curve, target(run))
    return None if at is None else float(curve["seconds"][at])


def looked_to_target(run: Run, curve: Curve) -> float | None:
    """Values of features read until the target is reached, in millions."""
    at = reached(curve, target(run))
    return None if at is None else float(curve["looked"][at])


def rounds_to_target(run: Run, curve: Curve) -> float | None:
    """Rounds until the target is reached."""
    at = reached(curve, target(run))
    return None if at is None else float(curve["rounds"][at])


def last_accuracy(run: Run, curve: Curve) -> float:
    """Accuracy at the end of the rounds or the time."""
    return float(curve["accuracy"][-1])


def middle(values: list[float | None]) -> float | None:
    """The median, where None is less than every number."""
    found = statistics.median_low([-math.inf if one is None else one for one in values])
    return None if found == -math.inf else found


def typical(runs: list[Run], method: str) -> float | None:
    """Median of the seconds to the target; None if some run did not get there, or none was made."""
    times = over_seeds(runs, method, seconds_to_target)
    found = [one for one in times if one is not None]
    return statistics.median(found) if found and len(found) == len(times) else None


def by_size(runs: list[Run]) -> dict[int, list[Run]]:
    """The runs of each number of rows."""
    sizes = sorted({run["rows"] for run in runs})
    return {rows: [run for run in runs if run["rows"] == rows] for rows in sizes}


def counted(runs: list[Run]) -> list[Run]:
    """The runs without the methods of which it is not known how many values they read."""
    return [{**run, "curves": [curve for curve in run["curves"] if curve["looked"] is not None]} for run in runs]
