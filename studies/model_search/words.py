"""Paragraphs, tables and figures of the page of the model search study."""

from __future__ import annotations

import textwrap
from typing import Any

from studies.model_search.searches import Search
from studies.model_search.tasks import TASKS

WIDTH = 120


def wrapped(words: str, first: str = "", later: str = "") -> str:
    """A paragraph, or a point of a list."""
    return textwrap.fill(
        " ".join(words.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(head: list[str], lines: list[list[str]], text_columns: int = 1) -> str:
    """In Markdown."""
    rule = ["---"] * text_columns + ["---:"] * (len(head) - text_columns)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def percent(rate: float) -> str:
    """Two digits, more or less.

    Examples
    --------
    >>> [percent(rate) for rate in (0.0, 0.00025, 0.004, 0.0549, 0.0996, 0.5)]
    ['0%', '0.03%', '0.4%', '5.5%', '10%', '50%']
    """
    if rate == 0.0:
        return "0%"
    digits = 0 if rate >= 0.0995 else 1 if rate >= 0.00095 else 2
    return f"{100 * rate:.{digits}f}%"


def rate(count: dict[str, Any]) -> str:
    """A rate with its exact 95% interval."""
    low, high = (percent(end) for end in count["interval"])
    return f"{percent(count['rate'])} ({low}–{high})"


def fits(row: dict[str, Any]) -> str:
    """Mean fits, and what they are worth where they are on parts of the rows; a mark where runs were cut off."""
    worth = f" (worth {row['work']:,.0f})" if row["work"] else ""
    return f"{'≥ ' if row['unfinished'] else ''}{row['fits']['mean']:,.0f}{worth}"


def shown(name: str, task: str) -> str:
    """The name of a search with the tolerance of the task."""
    usual, fine = TASKS[task].epsilons
    return f"`{name.replace('ε′', f'{fine:g}').replace('ε', f'{usual:g}')}`"


def target(search: Search, task: str) -> tuple[str, str, float]:
    """What a search of ours was asked for: alpha and epsilon as keys of a row, and delta."""
    options = search.options
    return f"{options['alpha']:g}", f"{TASKS[task].epsilons[options['fine']]:g}", options["delta"]


def is_ours(name: str) -> bool:
    """Whether it makes a promise."""
    return name.startswith("TopAlpha")


def by_search(found: dict[str, Any], task: str, how: str = "") -> dict[str, dict[str, Any]]:
    """The rows of a task by search; replayed ones hide real ones of the same name."""
    rows = [row for row in found["rows"] if row["task"] == task and how in ("", row["how"])]
    return {row["search"]: row for row in sorted(rows, key=lambda row: row["how"] == "replayed")}
