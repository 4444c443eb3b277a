"""All benchmarks, written to benchmarks/results.json: ``make bench``.

``python benchmarks/run.py speed`` (or ``start``, ``table``, ``pulls``) runs one part and leaves the others' figures.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import speed
import start_up

from topalpha import design, simulate
from topalpha.table1 import table1

RESULTS = Path(__file__).with_name("results.json")


def table_seconds(runs: int = 100) -> dict[str, float]:
    """Wall time of the whole table on all cores, 100 runs a row."""
    result = {}
    for name in ("kl-lucb", "cc-lucb", "joint-lucb"):
        simulate(design(name, 0.1, 0.2, 0.1), table1()[0].law, runs=2)  # compile, or load from the cache
        begin = time.perf_counter()
        for row in table1():
            simulate(design(name, row.alpha, row.epsilon, row.delta), row.law, runs=runs, seed=row.number)
        result[name] = time.perf_counter() - begin
    return result


def pulls(runs: int = 500) -> dict[str, Any]:
    """Mean pulls of kl-lucb over those of the others, row by row, with errors counted."""
    names = ("kl-lucb", "lucb++", "cc-lucb", "joint-lucb")
    studies = {
        name: [
            simulate(design(name, row.alpha, row.epsilon, row.delta), row.law, runs=runs, seed=1000 + row.number)
            for row in table1()
        ]
        for name in names
    }
    result: dict[str, Any] = {"runs": runs}
    for name in names[1:]:
        ratios = [
            float(theirs.pulls.mean() / ours.pulls.mean())
            for theirs, ours in zip(studies["kl-lucb"], studies[name], strict=True)
        ]
        result[name] = {
            "geometric_mean": math.exp(sum(map(math.log, ratios)) / len(ratios)),
            "least": min(ratios),
            "most": max(ratios),
            "by_row": ratios,
            "largest_error_rate_over_delta": max(study.errors.rate / study.delta for study in studies[name]),
            "least_p_value_of_error_at_most_delta": min(study.errors.excess(study.delta) for study in studies[name]),
        }
    return result


PARTS = {"start": start_up.measure, "speed": speed.measure, "table": table_seconds, "pulls": pulls}


def main() -> None:
    """Run the parts named on the command line, or all of them."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in sys.argv[1:] or list(PARTS):
        kept[part] = PARTS[part]()
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        print(part, json.dumps(kept[part], indent=1), flush=True)


if __name__ == "__main__":
    main()
