"""The page of the study of choices on a test set: its tables and sentences, from what was measured."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any

from studies import DOCS
from studies.prompt_choice.figure import draw_figure

KEPT, PAGE = DOCS / "prompt_choice", DOCS / "prompt_choice.md"
#: The cases that nobody made to be hard.
REAL = {
    "pool": "an endless pool",
    "alike": "an endless pool of prompts that are much alike",
    "list": "a list of 50 prompts",
    "few": "a list of 5 prompts",
}


def share(value: float) -> str:
    """A percentage with as many digits as say something."""
    return f"{100.0 * value:.2g}%" if value < 0.1 else f"{100.0 * value:.1f}%"


def rows_of(result: dict[str, Any]) -> str:
    """One case as a table in Markdown."""
    lines = [
        "| rule | candidates | evaluations | most | of its own full evaluation | wrong | 95% interval |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for one in result["rules"]:
        spent, errors = one["evaluations"], one["errors"]
        low, high = errors["interval"]
        cells = [one["rule"], f"{one['candidates']}", f"{spent['mean']:,.0f}", f"{spent['most']:,}"]
        cells += [share(one["share"]), share(errors["rate"]), f"{share(low)} to {share(high)}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(results: dict[str, Any]) -> str:
    """What the tables say, in sentences, losses included."""

    def rule(case: str, name: str) -> dict[str, Any]:
        return next(one for one in results["cases"][case]["rules"] if one["rule"] == name)

    def spent(case: str, name: str) -> float:
        return float(rule(case, name)["evaluations"]["mean"])

    def wrong(case: str, name: str) -> str:
        return share(rule(case, name)["errors"]["rate"])

    def each(number: Callable[[str], str]) -> str:
        return ", ".join(number(case) for case in REAL)

    folk, race_rule, paper = "50 examples each", "race at 95%", "kl-lucb, with replacement"
    own, joint, shared = "select (cc-lucb)", "select (joint-lucb)", "select, one order for all"
    paired, full = "select (paired)", "full evaluation"
    #: The default of each case: on a short list candidates share an order.
    ours = {case: paired if case == "few" else own for case in (*REAL, "twins")}
    shares = {case: spent(case, ours[case]) / spent(case, full) for case in REAL}
    errors = [rule(case, ours[case])["errors"] for case in REAL]
    runs = sum(results["cases"][case]["runs"] for case in REAL)
    cheaper = [case for case in REAL if spent(case, folk) < spent(case, ours[case])]
    above = sum(spent(case, paper) > spent(case, full) for case in REAL)
    widths = ", ".join(f"{cost:,.0f} ({width} at a time)" for width, cost in results["widths"].items())
    first = (
        f"`select` needs {100 * min(shares.values()):.0f} to {100 * max(shares.values()):.0f}% of full evaluation, and "
        f"was wrong in {sum(one['count'] for one in errors)} of {runs:,} choices (in each case at most "
        f"{share(max(one['interval'][1] for one in errors))}, by exact 95% intervals; delta allows 5%):"
    )
    table = ["| | `select` | full evaluation | wrong | 50 examples each | race |"]
    table += ["|---|---:|---:|---:|---:|---:|"]
    for case, words in REAL.items():
        cells = [words, f"{spent(case, ours[case]):,.0f}", f"{spent(case, full):,.0f}", wrong(case, ours[case])]
        cells += [f"{spent(case, one):,.0f}, {wrong(case, one)} wrong" for one in (folk, race_rule)]
        table.append(f"| {' | '.join(cells)} |")
    lines = [
        f"Full evaluation tries {rule('pool', full)['candidates']} candidates of a pool: as many contain one of the "
        f"top 5% with probability 0.95. `select` draws {rule('pool', own)['candidates']}.",
        f"50 examples each cost less than `select` in {len(cheaper)} of the four cases, and are wrong too often in "
        f"{sum(rule(case, folk)['errors']['rate'] > 0.05 for case in REAL)} of them.",
        f"The race costs {each(lambda case: f'{spent(case, race_rule) / spent(case, ours[case]):.1f}')} times as much "
        "as `select`. It is within 5% here and promises nothing: where one of twenty candidates is right by a hair it "
        f"is wrong in {wrong('needle', race_rule)}.",
        "The paper's algorithm, which draws examples anew for each evaluation, costs "
        f"{each(lambda case: f'{spent(case, paper) / spent(case, ours[case]):.0f}')} times as much as `select`, and "
        f"more than full evaluation in {above} of the four cases.",
        f"With `joint-lucb` `select` costs {each(lambda case: f'{spent(case, joint) / spent(case, own):.2f}')} times "
        "as much as with `cc-lucb`, its default where every candidate has its own order.",
        f"On the list of 5 the candidates share one order, and are compared example by example: that costs "
        f"{spent('few', paired) / spent('few', own):.2f} times as much as orders of their own.",
        f"The bounds of `cc-lucb` with one order for all are wrong in {each(lambda case: wrong(case, shared))} on the "
        f"real data, and in {wrong('twins', shared)} on the last table of the appendix, where `select` is wrong in "
        f"{wrong('twins', own)}. That is why every candidate of a long list has its own.",
        f"Several calls at a time: the list of 50 takes {widths} evaluations, with durations that vary at random.",
    ]
    bullets = (textwrap.fill(line, 118, initial_indent="- ", subsequent_indent="  ") for line in lines)
    return "\n".join([textwrap.fill(first, 120), "", *table, "", *bullets])


def parts(results: dict[str, Any]) -> dict[str, str]:
    """What is written into the page."""
    return {"summary": summary(results)} | {name: rows_of(case) for name, case in results["cases"].items()}


def write(results: dict[str, Any]) -> None:
    """The tables into the page, and the figure beside it."""
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts(results).items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end of {name} -->)", re.DOTALL)
        text, count = pattern.subn(lambda found, part=part: found[1] + part + found[2], text)
        if count != 1:
            raise SystemExit(f"{PAGE} must have one place for {name}, got {count}")
    PAGE.write_text(text, encoding="utf-8")
    draw_figure(results, KEPT / "choice.png")
