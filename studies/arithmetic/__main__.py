"""Runs with another C library, simulated: docs/arithmetic.md.

    python -m studies.arithmetic            # measure what is not measured yet, and write the tables (half an hour)
    python -m studies.arithmetic --write    # write them again from what was measured

Each run is interpreted twice, as it is and with functions whose results are moved by a unit in the last place at
random; a run has changed if a pull or the answer differs. Rewards come from the same generators.
"""

from __future__ import annotations

import argparse
import json
import platform
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.nudging import BORROWED, OWN, nudged
from topalpha import parse_reservoir
from topalpha.former_rules import RULES, rules_module
from topalpha.research.table1 import table1
from topalpha.testing import interpreted

PAGE = Path(__file__).parents[2] / "docs" / "arithmetic.md"
RESULTS = PAGE.with_suffix("") / "results.json"
RUNS, ROWS = 1000, (12, 20)
NAMES = ("kl-lucb", "lucb++", "cc-lucb", "joint-lucb", "joint-one-phase")
#: A family, a law of means for it, and epsilon; each with alpha = .2 and delta = .1.
FAMILIES = {
    "bernoulli": ("beta(1,2)", 0.2),
    "gaussian(1)": ("uniform(-1,1)", 0.5),
    "poisson": ("uniform(0.5,2.5)", 0.8),
    "exponential": ("uniform(0.5,2.5)", 1.0),
    "gamma(2)": ("uniform(0.5,2.5)", 1.2),
    "mirrored(poisson)": ("uniform(-2.5,-0.5)", 1.2),
    "pass-fail(100)": ("beta(1,2)", 0.2),
    "low-variance": ("beta(1,2)", 0.2),
    "normal": ("uniform(-1,1)", 1.0),
}


class Case(NamedTuple):
    """Runs of one algorithm, by some rules, with some functions nudged."""

    name: str
    rules: int
    own: bool
    alpha: float
    epsilon: float
    delta: float
    family: str
    law: str

    def runs(self, most: int) -> int:
        """All for today's rules; a tenth for comparison."""
        return most // 10 if self.own or self.rules < RULES else most

    def changed(self, runs: range) -> int:
        """How many of these runs change."""
        algorithms, families = rules_module(self.rules, "algorithms"), rules_module(self.rules, "families")
        target = self.alpha, self.epsilon, self.delta, families.parse_family(self.family)
        algorithm, law = algorithms.design(self.name, *target), parse_reservoir(self.law)
        plain = [decisions(algorithm, law, run) for run in runs]
        with nudged(OWN if self.own else BORROWED):
            return sum(decisions(algorithm, law, run) != before for run, before in zip(runs, plain, strict=True))


def decisions(algorithm: Any, law: Any, run: int) -> tuple[Any, ...]:
    """All pulls of a run, in order, and the arm that it returned."""
    last, steps = interpreted(algorithm, law, seed=7, run=run)
    return last.arm, [step.arm for step in steps]


def cases() -> list[Case]:
    """Today's rules everywhere; rules 1, and today's with their own functions nudged, on the rows of the table."""
    found = []
    for number in ROWS:
        row = table1()[number - 1]
        target = row.alpha, row.epsilon, row.delta, "bernoulli", row.law.expression
        for name in NAMES:
            found += [
                Case(name, RULES, False, *target),
                Case(name, 1, False, *target),
                Case(name, RULES, True, *target),
            ]
    for family, (law, epsilon) in FAMILIES.items():
        for name in NAMES:
            if able(name, family):
                found.append(Case(name, RULES, False, 0.2, epsilon, 0.1, family, law))
    return found


def able(name: str, family: str) -> bool:
    """Whether the algorithm takes these rewards."""
    try:
        rules_module(RULES, "algorithms").design(
            name, 0.2, 0.2, 0.1, rules_module(RULES, "families").parse_family(family)
        )
    except ValueError:
        return False
    return True


def slices(count: int, size: int = 25) -> list[range]:
    """The numbers of all runs, in parts."""
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def measure(runs: int) -> None:
    """All cases that are not measured yet, on all cores; each is kept once it is there."""
    kept: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if kept.get("runs") != runs:
        machine = f"{platform.machine()}, {' '.join(platform.libc_ver())}, Python {platform.python_version()}"
        kept = {"machine": machine, "runs": runs, "cases": []}
    known = [{key: value for key, value in one.items() if key != "changed"} for one in kept["cases"]]
    with ProcessPoolExecutor() as pool:
        for case in cases():
            if case._asdict() not in known:
                changed = sum(pool.map(case.changed, slices(case.runs(runs))))
                kept["cases"].append(case._asdict() | {"changed": changed})
                RESULTS.parent.mkdir(exist_ok=True)
                RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(results: dict[str, Any]) -> str:
    """The two tables of the page."""
    found, runs = results["cases"], results["runs"]

    def count(**wanted: Any) -> str:
        matching = [one["changed"] for one in found if all(one[key] == value for key, value in wanted.items())]
        return f"{matching[0]:,}" if matching else ""

    rows = []
    for name in NAMES:
        line = [f"`{name}`"]
        for number in ROWS:
            row = table1()[number - 1]
            target = {
                "name": name,
                "alpha": row.alpha,
                "epsilon": row.epsilon,
                "delta": row.delta,
                "law": row.law.expression,
            }
            kinds = ({"rules": 1, "own": False}, {"rules": RULES, "own": False}, {"rules": RULES, "own": True})
            line += [count(**target, **kind) for kind in kinds]
        rows.append(line)
    parts = ("rules 1", "today", "today, own functions moved")
    head = ["", *(f"row {number}, {part}" for number in ROWS for part in parts)]
    families = [
        [
            f"`{family}`",
            *(count(name=name, family=family, law=law, rules=RULES, own=False, alpha=0.2) for name in NAMES),
        ]
        for family, (law, _) in FAMILIES.items()
    ]
    first = table(head, rows)
    second = table(["", *(f"`{name}`" for name in NAMES)], families)
    words = f"Runs that changed, of {runs:,} by today's rules and of {runs // 10:,} in the other columns"
    return f"{words} ({results['machine']}):\n\n{first}\n\nBy today's rules, for every kind of reward:\n\n{second}"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--write", action="store_true", help="only write the tables")
    chosen = parser.parse_args()
    if not chosen.write:
        measure(chosen.runs)
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- runs -->\n")
    after = rest.partition("<!-- end of runs -->")[2]
    PAGE.write_text(f"{before}<!-- runs -->\n{tables(results)}\n<!-- end of runs -->{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
