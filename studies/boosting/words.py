"""Figures of the boosting study as text: numbers, medians with ranges, tables in Markdown."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Callable
from typing import Any

from studies.boosting.measures import EXACT, Curve, Run, accuracy_at, curve_of, methods_of, middle, over_seeds

#: No model yet.
NOTHING = "–"


def three(value: float) -> str:
    """Two or three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{float(f'{value:.2g}'):g}"


def percent(value: float) -> str:
    """An accuracy."""
    return f"{100 * value:.1f}"


def ratio(value: float) -> str:
    """In words, one way or the other."""
    return f"{three(value)} times as fast" if value >= 1.0 else f"{three(1.0 / value)} times as slow"


def listed(words: list[str]) -> str:
    """One, two and three."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def filled(text: str, indent: str = "") -> str:
    """A paragraph in lines of at most 120 characters; all but the first are indented."""
    words = " ".join(text.split())
    return textwrap.fill(words, 120, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)


def spread(values: list[float | None], show: Callable[[float], str]) -> str:
    """Median and range of those that got there; how many did not."""
    found = [one for one in values if one is not None]
    if not values:
        return ""
    if not found:
        return "not reached"
    words = show(statistics.median(found))
    if len(found) > 1:
        words += f" ({show(min(found))}–{show(max(found))})"
    if len(found) < len(values):
        words += f", {len(values) - len(found)} of {len(values)} not"
    return words


def spread_of_all(values: list[float | None], show: Callable[[float], str]) -> str:
    """Median and range of all, where no model yet is less than any."""
    if not values:
        return ""
    ordered = sorted(-math.inf if one is None else one for one in values)
    least, most = (NOTHING if one == -math.inf else show(one) for one in (ordered[0], ordered[-1]))
    half = middle(values)
    words = NOTHING if half is None else show(half)
    if len(values) == 1 or most == NOTHING:
        return words
    return f"{words} ({least} to {most})" if least == NOTHING else f"{words} ({least}–{most})"


def table(head: list[str], lines: list[list[str]]) -> str:
    """In Markdown."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def rows_of(rows: int) -> str:
    """A number of rows."""
    return f"{rows:,} rows"


def figures(
    groups: dict[Any, list[Run]],
    figure: Callable[[Run, Curve], float | None],
    show: Callable[[float], str],
    title: Callable[[Any], str] = rows_of,
) -> str:
    """One figure of all methods on all groups of runs."""
    lines = []
    for name in methods_of(run for runs in groups.values() for run in runs):
        line = [name]
        for runs in groups.values():
            tried = [run for run in runs if name in methods_of([run])]
            late = bool(tried) and all(name in run["not_ready"] for run in tried)
            line.append("not ready" if late else spread(over_seeds(runs, name, figure), show))
        lines.append(line)
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
                line.append(spread_of_all(over_seeds(runs, line[0], figure), percent))
    return table(head, lines)
