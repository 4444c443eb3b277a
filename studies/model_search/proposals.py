"""What Optuna needs to know of a task, and the candidate of the pool that is nearest to what it proposes."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.model_search.tasks import Task


def quiet() -> None:
    """No line for every trial."""
    import optuna

    optuna.logging.set_verbosity(logging.WARNING)


def suggest(trial: Any, task: Task) -> dict[str, Any]:
    """A proposal from the support of each law, on the scale of that law."""
    found = {}
    for name, law in task.laws.items():
        low, high = law.support()
        if law.dist.name == "randint":
            found[name] = trial.suggest_int(name, int(low), int(high))
        else:
            found[name] = trial.suggest_float(name, float(low), float(high), log=law.dist.name == "loguniform")
    return found


class Nearest:
    """The candidate that is nearest when every parameter is measured by the distribution function of its law."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.places = np.array([self.place(parameters) for parameters in task.pool])

    def place(self, parameters: dict[str, Any]) -> NDArray[np.float64]:
        """In the unit cube."""
        return np.array([law.cdf(parameters[name]) for name, law in self.task.laws.items()])

    def __call__(self, parameters: dict[str, Any]) -> int:
        """Its place in the pool."""
        return int(((self.places - self.place(parameters)) ** 2).sum(axis=1).argmin())
