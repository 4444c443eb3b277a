"""What model search is made of, measured: which splits, levels and guards are cheapest, and what bounds bear.

Simulated, in minutes. Writes docs/model_search/design.json, and from it two tables of docs/model_search.md.

    python -m studies.model_search.design          # measure again, then write the tables
    python -m studies.model_search.design --tables # write the tables from design.json
"""

from __future__ import annotations

import argparse
import json
import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from studies import DOCS
from topalpha import design, parse_reservoir, simulate
from topalpha.confidence.student import log_student_mixture
from topalpha.families import Normal
from topalpha.sklearn.preparation import NORMAL, NORMAL_OPTIONS

RESULTS = DOCS / "model_search" / "design.json"
PAGE = DOCS / "model_search.md"
ALPHA, DELTA, RUNS = 0.1, 0.05, 100
PATHS, LONGEST = 40_000, 150

#: Name, law of the means and epsilon; the standard deviation of a score is the unit.
WORLDS = (
    ("spread over 10 standard deviations, epsilon 1", "uniform(0,10)", 1.0),
    ("spread over 10, epsilon 0.5", "uniform(0,10)", 0.5),
    ("spread over 3, epsilon 0.3", "uniform(0,3)", 0.3),
    ("most within 0.5, epsilon 0.5", "beta(2,5)", 0.5),
    ("all alike, epsilon 0.5", "dirac(0)", 0.5),
)
#: Algorithm, guard and options.
CONTENDERS: dict[str, tuple[str, float, dict[str, float]]] = {
    "own": ("cc-lucb", 5.0, dict(NORMAL_OPTIONS)),
    'own, as `family="normal"`': ("cc-lucb", 10.0, {}),
    "shared": ("lucb++", 5.0, {}),
}
#: Test rows, and the mean accuracy on them.
SCORES = ((30, 0.8), (30, 0.95), (30, 0.99), (100, 0.8), (100, 0.95), (100, 0.99), (100, 1.0))
UPPER_LEVEL, LOWER_LEVEL = NORMAL_OPTIONS["delta_u"], 1e-4


def costs() -> list[dict[str, Any]]:
    """Mean fits of every contender in every world."""
    rows = []
    for name, law, epsilon in WORLDS:
        row: dict[str, Any] = {"world": name}
        for contender, (algorithm, least, options) in CONTENDERS.items():
            made = design(algorithm, ALPHA, epsilon, DELTA, Normal(10.0, least), **options)
            study = simulate(made, parse_reservoir(law), runs=RUNS, seed=0)
            assert study.unfinished == 0
            row[contender] = {"fits": round(float(study.pulls.mean())), "errors": study.errors.count}
        rows.append(row)
    return rows


def log_mixture(pulls: int, prior: float, z: NDArray[Any]) -> NDArray[Any]:
    """What :func:`topalpha.confidence.student.log_student_mixture` computes, for many z at once."""
    share = prior / (pulls + prior)
    inner = 1.0 + share * z * z
    with np.errstate(divide="ignore"):
        value = np.log(2.0 * stdtr(pulls, pulls * z / np.sqrt((pulls + prior) * inner))) + 0.5 * math.log(share)
    return value + 0.5 * pulls * (np.log1p(z * z) - np.log1p(share * z * z))


def failures(rows: int, mean: float, dither: bool, side: int, level: float, least: int, seed: int) -> float:
    """How often a bound of an accuracy on so many rows ever fails; side is 1 for upper bounds, -1 for lower ones.

    Accuracies are independent and binomial, as on fresh test rows.
    """
    rng = np.random.default_rng(seed)
    scores = rng.binomial(rows, mean, (PATHS, LONGEST)) / rows
    if dither:
        scores += (rng.random(scores.shape) - 0.5) / rows
    sums, squares = np.cumsum(scores, axis=1), np.cumsum(scores * scores, axis=1)
    failed = np.zeros(PATHS, dtype=bool)
    for pulls in range(least, LONGEST + 1):
        average = sums[:, pulls - 1] / pulls
        deviation = np.sqrt(np.maximum(squares[:, pulls - 1] / pulls - average**2, 0.0))
        known = deviation > 1e-9
        z = np.zeros(PATHS)
        z[known] = side * (mean - average[known]) / deviation[known]
        failed |= known & (log_mixture(pulls, 10.0, z) >= math.log(1.0 / level))
    return float(failed.mean())


def coverage() -> list[dict[str, Any]]:
    """How often bounds fail that are for normal scores, where scores are proportions."""
    for pulls, z in ((5, 0.3), (40, -0.2), (100, 1.0)):  # the same function as the package's
        assert math.isclose(float(log_mixture(pulls, 10.0, np.array([z]))[0]), log_student_mixture(pulls, 10.0, z)[0])
    rows = []
    for place, (size, mean) in enumerate(SCORES):
        row: dict[str, Any] = {"rows": size, "mean": mean}
        row["upper, after 5"] = failures(size, mean, True, 1, UPPER_LEVEL, 5, place)
        row["upper, after 10"] = failures(size, mean, True, 1, UPPER_LEVEL, 10, place)
        row["lower"] = failures(size, mean, True, -1, LOWER_LEVEL, 5, place)
        row["lower, no noise"] = failures(size, mean, False, -1, LOWER_LEVEL, 5, place)
        rows.append(row)
    return rows


def cost_table(results: dict[str, Any]) -> str:
    """Fits by world and contender, in Markdown."""
    lines = [f"| mean scores of settings | {' | '.join(CONTENDERS)} |", "|---|" + "---|" * len(CONTENDERS)]
    for row in results["costs"]:
        lines.append(f"| {row['world']} | {' | '.join(format(row[name]['fits'], ',') for name in CONTENDERS)} |")
    wrong = sum(row[name]["errors"] for row in results["costs"] for name in CONTENDERS)
    ratios = [row["shared"]["fits"] / row["own"]["fits"] for row in results["costs"]]
    setting = f"alpha = {ALPHA}, delta = {DELTA}, {RUNS} simulated searches each, {wrong} errors in all"
    ending = f"Shared splits cost {min(ratios):.1f} to {max(ratios):.1f} times as many fits as splits of one's own."
    return "\n".join([f"Fits a search ({setting}):", "", *lines, "", ending])


def coverage_table(results: dict[str, Any]) -> str:
    """Failures of bounds, in Markdown."""
    names = ("upper, after 5", "upper, after 10", "lower", "lower, no noise")
    lines = [
        f"| test rows | mean accuracy | upper bound, level {UPPER_LEVEL:g}, after 5 fits | the same after 10 "
        f"| lower bound, level {LOWER_LEVEL:g} | the same without noise |",
        "|---|---|---|---|---|---|",
    ]
    for row in results["coverage"]:
        cells = [f"{row[name]:.2f}" if name.startswith("upper") else f"{row[name]:.2g}" for name in names]
        lines.append(f"| {row['rows']} | {row['mean']:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write(results: dict[str, Any]) -> None:
    """Put both tables into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in (("costs", cost_table(results)), ("coverage", coverage_table(results))):
        begin, end = f"<!-- {name}: written by studies/model_search/design.py -->", f"<!-- end of {name} -->"
        text, count = re.subn(
            f"{re.escape(begin)}.*?{re.escape(end)}",
            lambda _, table=table, begin=begin, end=end: f"{begin}\n{table}\n{end}",
            text,
            flags=re.DOTALL,
        )
        assert count == 1, name
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure, unless only tables are wanted, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", action="store_true")
    if not parser.parse_args().tables:
        results = {"bounds": NORMAL, "costs": costs(), "coverage": coverage()}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write(json.loads(RESULTS.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
