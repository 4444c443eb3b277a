"""What the paper did not state: which n, gamma and k1 produced its table.

Errors and regret have closed forms given n alone (the run nearly always returns the best arm drawn), so they decide n
without simulation. The pulls then decide gamma and k1, by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from studies.resumable import Cell
from topalpha import design, simulate
from topalpha.research.table1 import table1
from topalpha.theory import arms_paper, arms_table

PAPER_RUNS = 100
READINGS = {"paper": arms_paper, "table": arms_table}
#: Constants (gamma, k1): the proof's minimum k1 for several gamma, a literal misreading, and smaller ones.
CONSTANTS = ((1.01, 202.0), (1.05, 42.0), (1.1, 22.0), (1.2, 12.0), (1.5, 6.0), (2.0, 4.0), (1.1, 2.0))


def errors_and_regret() -> dict[str, Any]:
    """For each reading of n and each criterion: expected and observed errors, log-likelihood, expected regret."""
    from scipy.integrate import quad
    from scipy.stats import binom

    result: dict[str, Any] = {"observed_errors": sum(round(PAPER_RUNS * row.paper.errors) for row in table1())}
    result["observed_regret"] = sum(row.paper.regret for row in table1())
    for reading, arms in READINGS.items():
        regret = 0.0
        for row in table1():
            law, number = row.law, arms(row.alpha, row.delta)
            regret += quad(lambda x, law=law, number=number: law.cdf(x) ** number, law.infimum, law.supremum)[0]
        for criterion in ("alpha", "alpha and epsilon"):
            expected = likelihood = 0.0
            for row in table1():
                mass = row.law.acceptable(row.alpha, row.epsilon if criterion == "alpha and epsilon" else 0.0)
                miss = (1.0 - mass) ** arms(row.alpha, row.delta)
                expected += PAPER_RUNS * miss
                likelihood += float(binom.logpmf(round(PAPER_RUNS * row.paper.errors), PAPER_RUNS, miss))
            result[f"n {reading}, {criterion}"] = {
                "expected_errors": expected,
                "log_likelihood": likelihood,
                "expected_regret": regret,
            }
    return result


def pulls(reading: str, gamma: float, k1: float) -> dict[str, Any]:
    """Log-likelihood of the published pulls under these constants: means of 100 runs, rounded to a thousand."""
    likelihood = 0.0
    ratios = []
    for row in table1():
        algorithm = design("kl-lucb", row.alpha, row.epsilon, row.delta, gamma=gamma, k1=k1, arms=reading)
        runs = 40 if row.epsilon < 0.02 else 200
        spent = simulate(algorithm, row.law, runs=runs, seed=100 + row.number).pulls
        mean, variance = float(spent.mean()), float(spent.var(ddof=1))
        variance = variance / PAPER_RUNS + variance / runs + 1000.0**2 / 12.0
        likelihood -= 0.5 * ((row.paper.pulls - mean) ** 2 / variance + math.log(2.0 * math.pi * variance))
        ratios.append(mean / row.paper.pulls)
    return {
        "arms": reading,
        "gamma": gamma,
        "k1": k1,
        "log_likelihood": likelihood,
        "pulls_over_published": math.exp(sum(map(math.log, ratios)) / len(ratios)),
    }


def fit_cells() -> Iterator[Cell]:
    """The closed forms, then every pair of constants with both readings of n."""
    yield Cell("fit-errors-and-regret", errors_and_regret)
    for reading in READINGS:
        for gamma, k1 in CONSTANTS:
            yield Cell(f"fit-{reading}-{gamma:g}-{k1:g}", partial(pulls, reading, gamma, k1))
