"""The section "Compared with others" of docs/boosting.md, written from the results alone."""

from __future__ import annotations

import re
import statistics
from typing import Any

from studies.boosting.measures import (
    EXACT,
    OURS,
    SLACK,
    SORTED,
    Run,
    by_size,
    counted,
    last_accuracy,
    looked_to_target,
    methods_of,
    over_seeds,
    rounds_to_target,
    seconds_to_target,
    target,
)
from studies.boosting.short import in_short
from studies.boosting.words import NOTHING, equal_time, figures, filled, listed, percent, spread, table, three

BEGIN, END = "<!-- compared: written by studies/boosting -->", "<!-- end of compared -->"
#: What is not said by the name.
WORDS = {
    "bandit": "`BanditAdaBoostClassifier` with its defaults, asked either question",
    "exact": "the best of all stumps, found exactly, by a search that was written for this comparison",
    "exact, sorted rows": "the same stumps, found as usual: rows are sorted by each feature once, and walked through",
    "random features": "the best of all stumps of a tenth of the features, drawn anew each round, found exactly",
    "random stumps": "the best of 59 stumps from the bandit's reservoir, each scored on all rows",
    "sampled rows": "the best stump on 10,000 rows drawn by weight; a heuristic",
    "LightGBM": "trees of two leaves; *GOSS* samples rows by their gradients, a heuristic",
    "HistGradientBoosting": (
        "scikit-learn's, of depth 1, for as many rounds as a short first fit, off the clock, says that "
        "there is time for; *trees* has its defaults and is no stump method"
    ),
    "AdaBoostClassifier": "scikit-learn's, with its defaults",
}


def section(results: dict[str, Any]) -> str:
    """All of it, in Markdown."""
    tables, real, images = (results[name]["runs"] for name in ("tables", "real", "images"))
    sizes, lazy = by_size(tables), by_size(images)
    plan = results["tables"]["plan"]
    return "\n\n".join(
        [
            filled(
                f"""In short, in seconds until the accuracy is reached that exact search has after {plan["rounds"]}
                rounds, less {100 * SLACK:g} percentage points:"""
            ),
            in_short(sizes, lazy),
            "### How it was measured",
            *introduction(results),
            "### Seconds to equal accuracy",
            "![Seconds to the target against rows](boosting/seconds.png)",
            figures(sizes, seconds_to_target, three),
            "Targets: " + "; ".join(f"{rows:,} rows {_targets(runs)}" for rows, runs in sizes.items()) + ".",
            "### Accuracy at equal time",
            filled(
                f"""In percent, after a tenth of the time of the exact search's {plan["rounds"]} rounds, and after all
                of it. {NOTHING} is no model yet, which counts as less than any accuracy in medians and ranges."""
            ),
            "![Accuracy against seconds](boosting/accuracy.png)",
            equal_time(sizes, (0.1, 1.0)),
            "### Accuracy at the end",
            filled(
                f"""In percent, after {plan["at_most"]} rounds or at the end of the time; exact search, sorted or not,
                after {plan["rounds"]} rounds."""
            ),
            figures(sizes, last_accuracy, percent),
            "### Rounds, and values looked at",
            "Rounds to the target:",
            figures(sizes, rounds_to_target, three),
            filled(
                """Millions of values of features that the rounds read to choose stumps until then, where that is known.
                Two things come on top for everybody: preparing, which reads the whole table, and AdaBoost's own step,
                which reads one value of each row a round."""
            ),
            figures(by_size(counted(tables)), looked_to_target, three),
            certificates(tables),
            "### How good the exact search is",
            filled(
                """It has to be hard to beat: one byte a row and feature, read in order; see
                `studies/boosting/rivals.py`. Beside it the usual walk through rows sorted once by each feature, which
                finds the same stumps. A round is the mean of all, with AdaBoost's step."""
            ),
            searches(sizes),
            *real_sets(real),
            *lazily(lazy),
        ]
    )


def searches(groups: dict[int, list[Run]]) -> str:
    """Time of the exact searches."""
    lines = []
    for rows, runs in groups.items():
        line = [f"{rows:,}"]
        for name in (EXACT, SORTED):
            curves = [curve for run in runs for curve in run["curves"] if curve["method"] == name]
            prepared = statistics.median(curve["prepared"] for curve in curves)
            each = statistics.median((one["seconds"][-1] - one["prepared"]) / one["rounds"][-1] for one in curves)
            line += [three(prepared), three(1e3 * each)]
        lines.append(line)
    each = ["prepare, s", "a round, ms"]
    return table(["rows", *(f"{name}: {one}" for name in (EXACT, SORTED) for one in each)], lines)


def seeds(groups: dict[int, list[Run]]) -> str:
    """How many seeds each size has, and which methods have fewer."""
    words = "Seeds: " + "; ".join(f"{len(runs)} at {rows:,} rows" for rows, runs in groups.items()) + "."
    fewer: dict[tuple[int, str], list[str]] = {}
    for rows, runs in groups.items():
        tried = {name: len(over_seeds(runs, name, last_accuracy)) for name in methods_of(runs)}
        for count in sorted({one for one in tried.values() if one < len(runs)}):
            names = [f"*{name}*" for name, one in tried.items() if one == count]
            fewer.setdefault((count, listed(names)), []).append(f"{rows:,}")
    return " ".join([words, *(f"Only {one[0]} at {listed(rows)} rows: {one[1]}." for one, rows in fewer.items())])


def limits(groups: dict[int, list[Run]]) -> str:
    """How long methods may take."""
    return "; ".join(f"{three(runs[0]['seconds'])} s at {rows:,} rows" for rows, runs in groups.items())


def introduction(results: dict[str, Any]) -> list[str]:
    """What was measured, and how."""
    plan, on = results["tables"]["plan"], results["tables"]["surroundings"]
    sizes = by_size(results["tables"]["runs"])
    versions = ", ".join(f"{name} {on[name]}" for name in ("scikit-learn", "lightgbm", "numba", "numpy"))
    minutes = sum(one["wall"] for one in results.values()) / 60.0
    return [
        filled(
            f"""`make boosting` measures all of this again and writes this section, from the results in `docs/boosting`.
            One thread each, one method after another, on a machine with {on["cores"]} cores ({on["processor"]};
            {versions}); {minutes:.0f} minutes in all. Seconds are those inside `fit`: preparations count, compiling
            does not, nor does predicting test rows; memory is in use before the clock starts. Figures are medians over
            seeds (data and method anew), with the range in brackets; one without a range is of one run. Where some runs
            did not get there, as in "2 of 5 not", median and range are of those that did."""
        ),
        filled(
            f"""The table is generated: 100 standard normal features as float32, row after row; the log-odds of the
            label are a sum of forty functions of one feature each, steps, waves, bumps and slopes, of falling size.
            Accuracy is on {plan["held_out"]:,} other rows. The target is what the exact search reaches after
            {plan["rounds"]} rounds, less {100 * SLACK:g} percentage points; it counts as reached at the first of two
            checkpoints in a row, which are a twelfth of the rounds apart, or at the last one. The exact searches are
            not cut off. The others may take {plan["at_most"]} rounds or {limits(sizes)}, and finish the round that they
            have begun then. All stumps have learning rate 1. {seeds(sizes)} An empty place is of a method that was not
            run. Some methods in words:"""
        ),
        "\n".join(filled(f"- *{name}*: {words}", "  ") for name, words in WORDS.items()),
    ]


def real_sets(runs: list[Run]) -> list[str]:
    """The two sets that come with scikit-learn."""
    sets: dict[str, list[Run]] = {}
    for run in runs:
        sets.setdefault(f"{run['name']}, {run['rows']:,} rows", []).append(run)
    held_out = " and ".join(f"{some[0]['held_out']:,}" for some in sets.values())
    return [
        "### Two small real sets",
        filled(
            f"""Both come with scikit-learn: breast cancer, and digits below five against the others; a third is held
            out, {held_out} rows. Of so few rows {100 * SLACK:g} percentage points are one or less: who reaches the
            target first is mostly chance here. The time ends after {three(runs[0]["seconds"])} s, but for the exact
            searches. {len(next(iter(sets.values())))} seeds, for all methods."""
        ),
        "Seconds to the target:",
        figures(sets, seconds_to_target, three, str),
        "Accuracy in percent at the end of the time or the rounds:",
        figures(sets, last_accuracy, percent, str),
    ]


def _targets(runs: list[Run]) -> str:
    return spread([target(run) for run in runs], lambda one: f"{100 * one:.1f}") + "%"


def certificates(runs: list[Run]) -> str:
    """How many rounds of the bandit were proved."""
    lines = []
    for name in OURS:
        curves = [curve for run in runs for curve in run["curves"] if curve["method"] == name]
        proved, rounds = sum(curve["proved"] for curve in curves), sum(curve["rounds"][-1] for curve in curves)
        lines.append(f"Of the rounds of *{name}*, {100 * proved / rounds:.1f}% ended with a proof of what they asked.")
    return "\n".join(lines)


def lazily(groups: dict[int, list[Run]]) -> list[str]:
    """Random filters on images."""
    held_out = next(iter(groups.values()))[0]["held_out"]
    return [
        "### Features that are computed when needed",
        filled(
            """Digits of scikit-learn, twice as large, at a random place on 24 by 24 pixels with noise and random
            contrast; the class is whether the digit is below five, and test images show other digits than training
            images. A feature is the largest response anywhere in the image of a random filter of 9 by 9. Rivals choose
            filters beforehand and compute all of them for all images, by matrix products: 400 where nothing else is
            said. The bandit draws from an endless pool and computes a filter on the images that it pulls, and the one
            that wins a round on all. *New filters* are 59 fresh ones each round, on all rows or, a heuristic, on 2,000
            drawn by weight. The bandit's other question takes its pulls one at a time and is not for such features."""
        ),
        filled(
            f"""Accuracy is on {held_out:,} other images; differences of a few times {100 * SLACK:g} percentage points
            are within the noise of so many. The exact search on 400 filters is not cut off, the others are after
            {limits(groups)}, with the round that they have begun; *not ready* is who has not computed its filters by
            then. {seeds(groups)}"""
        ),
        "Seconds to the accuracy that the exact search on 400 filters reaches:",
        "![Accuracy against seconds on images](boosting/images.png)",
        figures(groups, seconds_to_target, three),
        "Targets: " + "; ".join(f"{rows:,} rows {_targets(runs)}" for rows, runs in groups.items()) + ".",
        "Millions of responses computed until then:",
        figures({rows: counted(runs) for rows, runs in groups.items()}, looked_to_target, three),
        "Accuracy in percent at equal time:",
        equal_time(groups, (0.5, 1.0)),
        "Accuracy in percent at the end:",
        figures(groups, last_accuracy, percent),
    ]


def put(page: str, text: str) -> str:
    """The page with the section in its place."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"the page must have the lines {BEGIN} and {END}")
    return pattern.sub(lambda _: f"{BEGIN}\n{text}\n{END}", page)
