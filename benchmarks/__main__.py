"""All benchmarks, written to benchmarks/results.json: ``make bench``.

``python -m benchmarks speed`` (or ``start``, ``table``, ``pulls``, ``practice``, ``field``, ``dashboard``,
``page``, ``remaining``, ``testsets``) runs one part and leaves the others' figures.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

from benchmarks import dashboard, field, page, practice, remaining, speed, start_up, testsets
from topalpha import design, simulate
from topalpha.research.table1 import table1

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


def targets(results: dict[str, Any]) -> dict[str, bool]:
    """Which of the project's targets these results meet."""
    speeds, ratios = results["speed"]["microseconds_a_pull"], results["speed"]["ratios"]
    begin, whole, gains = results["start"], results["table"], results["pulls"]
    met = {
        "kl-lucb at least 1,000 times a plain NumPy loop": ratios["plain NumPy loop / kl-lucb"]["median"] >= 1000.0,
        "kl-lucb at least 50 times a plain compiled loop": ratios["plain compiled loop / kl-lucb"]["median"] >= 50.0,
        "kl-lucb at most 0.8 us a pull": speeds["kl-lucb"]["median"] <= 0.8,
        "cc-lucb at most 0.8 us a pull": speeds["cc-lucb"]["median"] <= 0.8,
        "joint-lucb at most 1.5 us a pull": speeds["joint-lucb"]["median"] <= 1.5,
        "cc-lucb at 10,000 arms at most 1.5 times that": ratios["cc-lucb, 10,000 arms / cc-lucb"]["median"] <= 1.5,
        "joint-lucb at 10,000 arms at most twice that": ratios["joint-lucb, 10,000 arms / joint-lucb"]["median"] <= 2.0,
        "kl-lucb, whole table, under 45 s": whole["kl-lucb"] < 45.0,
        "cc-lucb, whole table, under 12 s": whole["cc-lucb"] < 12.0,
        "import at most 50 ms over numpy": begin["import topalpha over numpy"] <= 0.05,
        "--help in under 0.3 s": begin["topalpha --help"] < 0.3,
    }
    met |= practical(results["practice"]) | watched(results["dashboard"]) | seen(results["page"])
    met |= estimated(results["remaining"]) | testsets.targets(results["testsets"])
    for name, spent in results["field"]["microseconds_a_pull"].items():
        most = 30.0 if name in field.HEAVY else 1.0
        met[f"{name} at most {most:g} us a pull at about {field.ARMS} arms"] = spent["median"] <= most
    for name in ("kl-lucb", "cc-lucb", "joint-lucb"):
        met[f"first call of {name} at most 8 s cold"] = begin[f"first call of {name}, cold"] <= 8.0
        met[f"first call of {name} at most 1 s from the cache"] = begin[f"first call of {name}, cached"] <= 1.0
    for name, mean, least in (("cc-lucb", 4.5, 3.0), ("joint-lucb", 9.0, 5.5)):
        met[f"{name}: 1/{mean:g} of the pulls in geometric mean"] = gains[name]["geometric_mean"] >= mean
        met[f"{name}: 1/{least:g} of the pulls on every row"] = gains[name]["least"] >= least
        met[f"{name}: error within delta on every row"] = gains[name]["largest_error_rate_over_delta"] <= 1.0
    return met


def practical(found: dict[str, Any]) -> dict[str, bool]:
    """Those of searching in practice."""
    spent, long, wide = found["microseconds_ask_and_tell"], found["million"], found["sixteen_workers"]
    met = {
        "ask and tell at most 30 us at 100 arms": spent["100 arms"]["median"] <= 30.0,
        "ask and tell at most 40 us at 1,000 arms": spent["1,000 arms"]["median"] <= 40.0,
        "a million pulls resume in under 30 s": long["seconds_to_resume"] < 30.0,
        "a million pulls take under 100 MB": long["megabytes"] < 100.0,
        "storage costs at most 15% at 1 ms a pull": found["storage_share_at_1_ms"]["median"] <= 0.15,
    }
    for name in ("cc-lucb", "joint-lucb"):
        met[f"{name}: 16 workers busy at least 80% of the time"] = wide[name]["utilisation"] >= 0.8
        for target, growth in wide[name]["growth"].items():
            met[f"{name}: 16 workers need at most 25% more pulls, {target} target"] = growth["ratio"] <= 1.25
    return met


def watched(found: dict[str, Any]) -> dict[str, bool]:
    """Those of the dashboard, beside a search of 10,000 arms and 1,000,000 pulls."""
    pace = found["pulls_a_second"]
    return {
        "dashboard: first byte of the page in 100 ms": found["milliseconds"]["first byte of the page"]["most"] <= 100.0,
        "dashboard: all that is known in 1 s": found["milliseconds"]["whole state"]["most"] <= 1000.0,
        "dashboard: some arms change, seen in 200 ms": found["some arms change"]["milliseconds"]["median"] <= 200.0,
        "dashboard: all arms change, seen in 200 ms": found["all arms change"]["milliseconds"]["median"] <= 200.0,
        "dashboard: a watched search keeps 80% of its pace": pace["watched"]["median"] >= 0.8 * pace["alone"]["median"],
    }


def seen(found: dict[str, Any]) -> dict[str, bool]:
    """Those of the dashboard's page, for the same search."""
    met = {
        "page: figures on the screen in 2 s": found["milliseconds to load"]["figures"]["median"] <= 2000.0,
        "page: Ctrl-C ends the dashboard in 5 s": found["seconds to end"] <= 5.0,
    }
    for drawn in ("best", "all"):
        spent = found[f"milliseconds, {drawn} arms drawn"]
        met |= {
            f"page: {drawn} arms drawn, an update in 200 ms": spent["update"]["median"] <= 200.0,
            f"page: {drawn} arms drawn, 200 ms of work for it": spent["work"] <= 200.0,
            f"page: {drawn} arms drawn, seen 1 s after the commit": spent["commit to screen"]["median"] <= 1000.0,
        }
    return met


def estimated(found: dict[str, Any]) -> dict[str, bool]:
    """Those of the estimate of the pulls left."""
    late = found["from a third of the way on"]
    return {
        "to go: over 200 searches": found["searches"] >= 200,
        "to go: shown in 70% of the looks from a third of the way on": late["shown"] >= 0.7,
        "to go: within a factor of 2 in 80% of those": late["within a factor of 2"] >= 0.8,
    }


PARTS = {
    "start": start_up.measure,
    "speed": speed.measure,
    "table": table_seconds,
    "pulls": pulls,
    "practice": practice.measure,
    "field": field.measure,
    "dashboard": dashboard.measure,
    "page": page.measure,
    "remaining": remaining.measure,
    "testsets": testsets.measure,
}


def main() -> None:
    """Run the parts named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description="The benchmarks, written to benchmarks/results.json.")
    parser.add_argument("part", nargs="*", help=f"{', '.join(PARTS)}; all of them unless given")
    parts = parser.parse_args().part
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"part must be one of {', '.join(PARTS)}, got {', '.join(unknown)}")
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in parts or list(PARTS):
        kept[part] = PARTS[part]()
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        print(part, json.dumps(kept[part], indent=1), flush=True)
    if all(part in kept for part in PARTS):
        kept["targets"] = targets(kept)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        for target, met in kept["targets"].items():
            print("met   " if met else "MISSED", target)


if __name__ == "__main__":
    main()
