"""Write tests/data/trajectories.json: what every algorithm does on fixed seeds.

Run ``python -m tests.support.pin_trajectories`` after a change that is meant.

A trajectory is pinned by its pulls per arm, the arm returned and a digest of the order of pulls.
"""

from __future__ import annotations

import hashlib
import json

from tests.support.folders import DATA
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Poisson
from topalpha.former_rules import RULES, restated, rules_module
from topalpha.reservoirs import Beta, Conditioned, Dirac, TwoPoint, Uniform
from topalpha.testing import interpreted

FILE = DATA / "trajectories.json"

CASES = {
    "kl-lucb": ("kl-lucb", {}, Bernoulli(), Conditioned(Beta(1.0, 1.0), 0.95), 0.2),
    "kl-lucb clock N": ("kl-lucb", {"clock": "N"}, Bernoulli(), Conditioned(Beta(1.0, 1.0), 0.95), 0.2),
    "kl-lucb least": ("kl-lucb", {"pull": "least"}, Bernoulli(), Conditioned(Beta(1.0, 1.0), 0.95), 0.2),
    "kl-lucb overlapping": (
        "kl-lucb",
        {"refresh": "overlapping"},
        Bernoulli(),
        Conditioned(Beta(1.0, 1.0), 0.95),
        0.2,
    ),
    "kl-lucb table": ("kl-lucb", {"arms": "table"}, Bernoulli(), TwoPoint(0.5, 0.75, 0.2), 0.2),
    "kl-lucb gaussian": ("kl-lucb", {}, Gaussian(0.5), Uniform(0.0, 1.0), 0.4),
    "lucb++": ("lucb++", {}, Bernoulli(), Conditioned(Beta(1.0, 2.0), 0.95), 0.15),
    "lucb++ poisson": ("lucb++", {}, Poisson(3.0), Uniform(0.2, 2.0), 0.5),
    "cc-lucb": ("cc-lucb", {}, Bernoulli(), Conditioned(Beta(1.0, 1.0), 0.95), 0.1),
    "cc-lucb kt": ("cc-lucb", {"bounds": "kt"}, Bernoulli(), Conditioned(Beta(1.0, 1.0), 0.95), 0.1),
    "cc-lucb ties": ("cc-lucb", {}, Bernoulli(), Dirac(0.5), 0.2),
    "cc-lucb gaussian": ("cc-lucb", {}, Gaussian(0.5), Uniform(0.0, 1.0), 0.25),
    "cc-lucb gamma": ("cc-lucb", {}, Gamma(2.0, 3.0), Uniform(0.2, 2.0), 0.5),
    "joint-lucb": ("joint-lucb", {}, Bernoulli(), Conditioned(Beta(1.0, 1.0), 0.95), 0.1),
    "joint-lucb ties": ("joint-lucb", {}, Bernoulli(), Dirac(0.5), 0.2),
    "joint-lucb poisson": ("joint-lucb", {}, Poisson(3.0), Uniform(0.2, 2.0), 0.4),
    "joint-lucb exponential": ("joint-lucb", {}, Exponential(3.0), Uniform(0.2, 2.0), 0.6),
}


def trajectory(case: str, rules: int = RULES) -> dict[str, object]:
    """What is pinned of one case."""
    name, options, family, reservoir, epsilon = CASES[case]
    design = rules_module(rules, "algorithms").design
    made = design(name, 0.2, epsilon, 0.1, restated(family, rules), **options)
    last, record = interpreted(made, reservoir, seed=2018)
    order = hashlib.sha256(",".join(str(step.arm) for step in record).encode()).hexdigest()[:16]
    return {"t": last.t, "arm": last.arm, "pulls": list(last.pulls), "order": order}


def main() -> None:
    """Pin every case."""
    lines = [f"{json.dumps(case)}: {json.dumps(trajectory(case))}" for case in CASES]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
