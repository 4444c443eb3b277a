"""The section "Compared with others" of docs/boosting.md, written from the results alone."""

from __future__ import annotations

import re
import statistics
import textwrap
from collections.abc import Callable
from typing import Any

from boosting_measures import (
    EXACT,
    OURS,
    SLACK,
    Curve,
    Run,
    accuracy_at,
    by_size,
    counted,
    curve_of,
    looked_to_target,
    methods_of,
    over_seeds,
    rounds_to_target,
    seconds_to_target,
    target,
)

BEGIN, END = "<!-- compared: written by studies/boosting.py -->", "<!-- end of compared -->"
#: What is not said by the name.
WORDS = {
    "bandit": "`BanditAdaBoostClassifier` with its defaults, asked either question",
    "exact": "the best of all stumps, found exactly",
    "random features": "the best of all stumps of a tenth of the features, drawn anew each round, found exactly",
    "random stumps": "the best of 59 stumps from the bandit's reservoir, each scored on all rows",
    "sampled rows": "the best stump on 10,000 rows drawn by weight; a heuristic",
    "LightGBM": "trees of two leaves; *GOSS* samples rows by their gradients, a heuristic",
    "HistGradientBoosting": "scikit-learn's, of depth 1; *trees* has its defaults and is no stump method",
    "AdaBoostClassifier": "scikit-learn's, with its defaults",
}


def spread(values: list[float | None], show: Callable[[float], str]) -> str:
    """Median and range; how often it was not reached."""
    found = [one for one in values if one is not None]
    if not values:
        return ""
    if not found:
        return "not reached"
    words = show(statistics.median(found))
    if len(found) > 1 and show(min(found)) != show(max(found)):
        words += f" ({show(min(found))}–{show(max(found))})"
    if len(found) < len(values):
        words += f", {len(values) - len(found)} of {len(values)} not"
    return words


def three(value: float) -> str:
    """Two or three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{float(f'{value:.2g}'):g}"


def percent(value: float) -> str:
    """An accuracy."""
    return f"{100 * value:.1f}"


def table(head: list[str], lines: list[list[str]]) -> str:
    """In Markdown."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def figures(
    groups: dict[Any, list[Run]],
    figure: Callable[[Run, Curve], float | None],
    show: Callable[[float], str],
    title: Callable[[Any], str] = lambda rows: f"{rows:,} rows",
) -> str:
    """One figure of all methods on all groups of runs."""
    names = methods_of(run for runs in groups.values() for run in runs)
    lines = [[name, *(spread(over_seeds(runs, name, figure), show) for runs in groups.values())] for name in names]
    return table(["", *map(title, groups)], lines)


def equal_time(groups: dict[Any, list[Run]], shares: tuple[float, ...]) -> str:
    """Accuracy in percent, after shares of the time that the exact search takes for all its rounds."""
    names = methods_of(run for runs in groups.values() for run in runs)
    head, lines = [""], [[name] for name in names]
    for rows, runs in groups.items():
        for share in shares:
            whole = statistics.median(curve_of(run, EXACT)["seconds"][-1] for run in runs)
            head.append(f"{rows:,} rows, {three(share * whole)} s")

            def figure(run: Run, curve: Curve, share: float = share) -> float | None:
                return accuracy_at(curve, share * curve_of(run, EXACT)["seconds"][-1])

            for line in lines:
                values = [one for one in over_seeds(runs, line[0], figure) if one is not None]
                line.append(percent(statistics.median(values)) if values else "")
    return table(head, lines)


def searches(runs: list[dict[str, Any]]) -> str:
    """Time of the exact searches."""
    lines = []
    for run in runs:
        line = [f"{run['rows']:,}"]
        for name in ("Exhaustive", "Presorted"):
            one = run[name]
            pairs = run["rows"] * run["features"]
            line += [three(one["prepared"]), three(1e3 * one["round"]), f"{1e9 * one['round'] / pairs:.2f}"]
        lines.append(line)
    each = ["prepare, s", "a round, ms", "a row and feature, ns"]
    return table(["rows", *(f"bins: {one}" for one in each), *(f"sorted: {one}" for one in each)], lines)


def verdict(groups: dict[int, list[Run]], sorted_runs: list[dict[str, Any]]) -> list[str]:
    """Who is ahead of the better bandit at each size, and by how much; and the aim of ten times."""
    lines = []
    walks = {run["rows"]: run for run in sorted_runs}
    for rows, runs in groups.items():
        middle = {}
        for name in methods_of(runs):
            times = over_seeds(runs, name, seconds_to_target)
            if times and None not in times:
                middle[name] = statistics.median(one for one in times if one is not None)
        ours = min((middle[name] for name in OURS if name in middle), default=None)
        if ours is None:
            lines.append(f"- {rows:,} rows: neither question reaches the target in every run.")
            continue
        best = next(name for name in OURS if middle.get(name) == ours)
        words = f"- {rows:,} rows: `{best}` needs {three(ours)} s, the exact search {three(middle[EXACT])} s: "
        words += ratio(middle[EXACT] / ours)
        walk = walks[rows]["Presorted"]
        rounds = statistics.median(one for one in over_seeds(runs, EXACT, rounds_to_target) if one is not None)
        usual = walk["prepared"] + rounds * walk["round"]
        words += f"; the same rounds with sorted rows would take {three(usual)} s, {ratio(usual / ours)}. "
        ahead = sorted((time, name) for name, time in middle.items() if time < ours and name != EXACT)
        words += "Ahead of it: " + ", ".join(f"{name} ({three(time)} s)" for time, name in ahead) if ahead else ""
        words += "." if ahead else "No other method is ahead of it."
        lines.append(words)
    return lines


def ratio(value: float) -> str:
    """In words, one way or the other."""
    return f"{three(value)} times as fast" if value >= 1.0 else f"{three(1.0 / value)} times as slow"


def section(results: dict[str, Any]) -> str:
    """All of it, in Markdown."""
    tables, real, images = (results[name]["runs"] for name in ("tables", "real", "images"))
    sizes = by_size(tables)
    rounds = results["tables"]["plan"]["rounds"]
    return "\n\n".join(
        [
            *introduction(results),
            "### Seconds to equal accuracy",
            "![Seconds to the target against rows](boosting/seconds.png)",
            figures(sizes, seconds_to_target, three),
            "Targets: " + "; ".join(f"{rows:,} rows {_targets(runs)}" for rows, runs in sizes.items()) + ".",
            "\n".join(verdict(sizes, results["searches"]["runs"])),
            "### Accuracy at equal time",
            f"In percent, after a tenth of the time of the exact search's {rounds} rounds, and after all of it.",
            "![Accuracy against seconds](boosting/accuracy.png)",
            equal_time(sizes, (0.1, 1.0)),
            "### Rounds, and values looked at",
            "Rounds to the target:",
            figures(sizes, rounds_to_target, three),
            filled(
                """Millions of values of features read to choose stumps until then, where that is known. AdaBoost's own
                step, one value of each row a round, comes on top for everybody."""
            ),
            figures(by_size(counted(tables)), looked_to_target, three),
            certificates(tables),
            "### How good the exact search is",
            filled(
                """It has to be hard to beat: one byte a row and feature, read in order; see
                `studies/boosting_rivals.py`. Beside it the usual walk through rows sorted once by each feature, which
                finds the same stumps."""
            ),
            searches(results["searches"]["runs"]),
            *real_sets(real),
            *lazily(by_size(images)),
        ]
    )


def filled(text: str) -> str:
    """A paragraph in lines of at most 120 characters."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def introduction(results: dict[str, Any]) -> list[str]:
    """What was measured, and how."""
    plan, on = results["tables"]["plan"], results["tables"]["surroundings"]
    sizes = by_size(results["tables"]["runs"])
    versions = ", ".join(f"{name} {on[name]}" for name in ("scikit-learn", "lightgbm", "numba", "numpy"))
    minutes = sum(one["wall"] for one in results.values()) / 60.0
    limits = "; ".join(f"{three(runs[0]['seconds'])} s at {rows:,} rows" for rows, runs in sizes.items())
    return [
        filled(
            f"""`make boosting` measures all of this again and writes this section, from [these results](boosting). One
            thread each, one method after another, on a machine with two cores ({on["processor"]}; {versions});
            {minutes:.0f} minutes in all. Seconds are those inside `fit`: preparations count, compiling does not, nor
            does predicting test rows; memory is in use before the clock starts. Figures are medians over seeds (data
            and method anew), with the range in brackets."""
        ),
        filled(
            f"""The table is generated: 100 standard normal features as float32, row after row; the log-odds of the
            label are a sum of forty functions of one feature each, steps, waves, bumps and slopes, of falling size.
            Accuracy is on {plan["held_out"]:,} other rows. The target is what the exact search reaches after
            {plan["rounds"]} rounds, less {100 * SLACK:g} percentage points; it counts as reached at the first of two
            checkpoints in a row, which are a twelfth of the rounds apart. The others may take {plan["at_most"]} rounds
            or {limits}. All stumps have learning rate 1. A figure without a range is of one
            seed. Some methods in words:"""
        ),
        "\n".join(f"- *{name}*: {words}" for name, words in WORDS.items()),
    ]


def real_sets(runs: list[Run]) -> list[str]:
    """The two sets that come with scikit-learn."""
    sets = {f"{run['name']}, {run['rows']:,} rows": [] for run in runs}
    for run in runs:
        sets[f"{run['name']}, {run['rows']:,} rows"].append(run)
    return [
        "### Two small real sets",
        "Both come with scikit-learn: breast cancer, and digits below five against the others; a third is held out.",
        "Seconds to the target:",
        figures(sets, seconds_to_target, three, str),
        "Accuracy in percent at the end of the time or the rounds:",
        figures(sets, lambda _, curve: float(curve["accuracy"][-1]), percent, str),
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
        "Seconds to the accuracy that the exact search on 400 filters reaches:",
        "![Accuracy against seconds on images](boosting/images.png)",
        figures(groups, seconds_to_target, three),
        "Targets: " + "; ".join(f"{rows:,} rows {_targets(runs)}" for rows, runs in groups.items()) + ".",
        "Millions of responses computed until then:",
        figures({rows: counted(runs) for rows, runs in groups.items()}, looked_to_target, three),
        "Accuracy in percent at equal time:",
        equal_time(groups, (0.5, 1.0)),
    ]


def put(page: str, text: str) -> str:
    """The page with the section in its place."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"the page must have the lines {BEGIN} and {END}")
    return pattern.sub(lambda _: f"{BEGIN}\n{text}\n{END}", page)
