"""What is read off the curves of the boosting study: the target, when a method reaches it, and at what cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

#: The target is what the exact search reaches after all its rounds, less this much.
SLACK = 0.002
EXACT, OURS = "exact", ("bandit, edge", "bandit, best")

Run = dict[str, Any]
Curve = dict[str, Any]


def target(run: Run) -> float:
    """The accuracy to reach."""
    return float(curve_of(run, EXACT)["accuracy"][-1]) - SLACK


def curve_of(run: Run, method: str) -> Curve:
    """A method's curve in a run."""
    return next(curve for curve in run["curves"] if curve["method"] == method)


def methods_of(runs: Iterable[Run]) -> list[str]:
    """All methods, in the order of the first run."""
    return list(dict.fromkeys(curve["method"] for run in runs for curve in run["curves"]))


def reached(curve: Curve, accuracy: float) -> int | None:
    """The first checkpoint at or above the accuracy, if the next one is so too: one lucky round does not count."""
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
    """One figure of a method for each run that has it."""
    return [figure(run, curve) for run in runs for curve in run["curves"] if curve["method"] == method]


def seconds_to_target(run: Run, curve: Curve) -> float | None:
    """Seconds until the target is reached."""
    at = reached(curve, target(run))
    return None if at is None else float(curve["seconds"][at])


def speed_up(run: Run, curve: Curve) -> float | None:
    """How many times as fast to the target as the exact search of the same run."""
    ours, exact = seconds_to_target(run, curve), seconds_to_target(run, curve_of(run, EXACT))
    return None if ours is None or exact is None else exact / ours


def looked_to_target(run: Run, curve: Curve) -> float | None:
    """Values of features read until the target is reached, in millions."""
    at = reached(curve, target(run))
    return None if at is None else float(curve["looked"][at])


def rounds_to_target(run: Run, curve: Curve) -> float | None:
    """Rounds until the target is reached."""
    at = reached(curve, target(run))
    return None if at is None else float(curve["rounds"][at])


def by_size(runs: list[Run]) -> dict[int, list[Run]]:
    """The runs of each number of rows."""
    sizes = sorted({run["rows"] for run in runs})
    return {rows: [run for run in runs if run["rows"] == rows] for rows in sizes}


def counted(runs: list[Run]) -> list[Run]:
    """The runs without the methods of which it is not known how many values they read."""
    return [{**run, "curves": [curve for curve in run["curves"] if curve["looked"] is not None]} for run in runs]
