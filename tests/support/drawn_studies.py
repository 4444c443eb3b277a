"""Studies to draw, without running them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from topalpha import Study

LAW = "conditioned(beta(1,1),0.8)"


def study(algorithm="cc-lucb", delta=0.1, *, wrong=0, runs=40, cost=1000, stopped=True, **changes) -> Study:
    """A study with these figures, as if it had been run."""
    values = {"alpha": 0.1, "epsilon": 0.1, "family": "bernoulli", "reservoir": LAW, **changes}
    return Study(
        algorithm=algorithm,
        delta=delta,
        arms=10,
        seed=0,
        seconds=1.0,
        supremum=0.8,
        threshold=0.62,
        threshold_alpha=0.72,
        pulls=np.arange(runs) - (runs - 1) // 2 + cost,
        means=np.where(np.arange(runs) < wrong, 0.1, 0.79),
        stopped=np.full(runs, stopped),
        **values,
    )


def cut_off(whole: Study, runs: int) -> Study:
    """The same, with the last runs cut off."""
    return replace(whole, stopped=np.arange(whole.runs) < whole.runs - runs)


STUDIES = [study(name, delta, cost=cost * round(-100 * math.log(delta)))
           for name, cost in (("cc-lucb", 3), ("joint-lucb", 2)) for delta in (0.01, 0.05, 0.2)]  # fmt: skip
