"""The page of the study of choices on a test set: its tables and sentences, from what was measured."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any

from studies import DOCS
from studies.prompt_choice.figure import draw_figure

KEPT, PAGE = DOCS / "prompt_choice", DOCS / "prompt_choice.md"


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

    def of_full(case: str) -> str:
        return f"{spent(case, ours):,.0f} of {spent(case, 'full evaluation'):,.0f}"

    def each(number: Callable[[str], str]) -> str:
        return ", ".join(number(case) for case in real)

    ours, folk, race_rule, paper = "select (cc-lucb)", "50 examples each", "race at 95%", "kl-lucb, with replacement"
    joint, shared = "select (joint-lucb)", "select, one order for all"
    real = ("pool", "alike", "list", "few")
    most = max(rule(case, ours)["errors"]["interval"][1] for case in real)
    cheaper = sum(spent(case, folk) < spent(case, ours) for case in real)
    above = sum(spent(case, paper) > spent(case, "full evaluation") for case in real)
    widths = ", ".join(f"{cost:,.0f} ({width} at a time)" for width, cost in results["widths"].items())
    lines = [
        f"`select` costs {each(lambda case: share(spent(case, ours) / spent(case, 'full evaluation')))} of what the "
        f'rule "full evaluation" does in the four real cases, in the order below: {each(of_full)} evaluations. (That '
        f"rule tries {rule('pool', 'full evaluation')['candidates']} candidates of a pool where `select` draws "
        f"{rule('pool', ours)['candidates']}, so that these shares are larger than the tables' for pools.) It is wrong "
        f"in at most {share(most)} of its choices there (upper ends of exact intervals); delta would allow 5%.",
        f"50 examples each are wrong in {each(lambda case: wrong(case, folk))} of the choices. They cost less than "
        f"`select` in {cheaper} of the four cases, most of all on the list of 5: {spent('few', folk):,.0f} evaluations "
        f"against {spent('few', ours):,.0f}.",
        f"The race is wrong in {each(lambda case: wrong(case, race_rule))} of the choices, well within 5%, at "
        f"{each(lambda case: f'{spent(case, race_rule) / spent(case, ours):.1f}')} times the cost of `select`. It "
        "promises nothing: where one of twenty candidates is right by a hair it is wrong in "
        f"{wrong('needle', race_rule)}.",
        "The paper's algorithm, which draws examples anew for each evaluation, costs "
        f"{each(lambda case: f'{spent(case, paper) / spent(case, ours):.0f}')} times as much as `select`, and "
        f"more than full evaluation in {above} of the four cases.",
        f"With `joint-lucb` `select` costs {each(lambda case: f'{spent(case, joint) / spent(case, ours):.2f}')} times "
        "as much as with `cc-lucb`, its default.",
        f"One order for all candidates is wrong in {each(lambda case: wrong(case, shared))} on the real data, and in "
        f"{wrong('twins', shared)} on the last table, where `select` is wrong in "
        f"{wrong('twins', ours)}. That is why every candidate has its own.",
        f"Several calls at a time: the list of 50 takes {widths} evaluations, with durations that vary at random.",
    ]
    return "\n".join(textwrap.fill(line, 118, initial_indent="- ", subsequent_indent="  ") for line in lines)


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
