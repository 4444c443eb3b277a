"""What is written from the measurements: the page, and the figures of the README."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from studies import DOCS, ROOT

RESULTS, PAGE, README = DOCS / "recorded_tables" / "results.json", DOCS / "recorded_tables.md", ROOT / "README.md"


def share(value: float) -> str:
    """A percentage with two digits."""
    return f"{100.0 * value:.2g}%" if value < 0.1 else f"{100.0 * value:.0f}%"


def spent(one: dict[str, Any]) -> float:
    """The mean number of evaluations."""
    return float(one["evaluations"]["mean"])


def table(cases: dict[str, Any], names: tuple[str, ...]) -> str:
    """Every rule on these cases, in Markdown."""
    header = "table", "rule", "evaluations", "most", "of full evaluation", "wrong choices"
    lines = [f"| {' | '.join(header)} |", "|---|---|---:|---:|---:|---:|"]
    for name in names:
        case = cases[name]
        for place, one in enumerate(case["rules"]):
            cells = ["" if place else case["case"], one["rule"], f"{spent(one):,.0f}"]
            cells += [f"{one['evaluations']['most']:,}", share(one["share"])]
            lines.append("| " + " | ".join([*cells, f"{one['errors']['count']:,} of {case['runs']:,}"]) + " |")
    return "\n".join(lines)


def fights(found: dict[str, Any]) -> str:
    """The duels, in Markdown."""
    lines = [
        "| duels | first better | second better | equal | evaluations | of both in full | wrong |",
        "|---" + "|---:" * 6 + "|",
    ]
    for one in found.values():
        ends = one["ends"]
        cells = [one["case"], *(f"{ends[end]:,}" for end in ("first", "second", "equal")), f"{spent(one):,.0f}"]
        cells += [share(one["share"]), f"{one['errors']['count']:,} of {one['errors']['runs']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def numbers(cases: dict[str, Any]) -> str:
    """Three figures for the README: what a choice costs, how often it is wrong, and where it loses."""
    models, encoder, small = cases["models"], cases["encoder"], cases["small"]
    ours, thumb, race = models["rules"]
    settings, few, graded = (cases[name]["rules"][0] for name in ("encoder", "small", "graded small"))
    wrong, runs = ours["errors"]["count"] + settings["errors"]["count"], models["runs"] + encoder["runs"]
    lines = [
        f"**{share(ours['share'])} of full evaluation** is what it takes to choose among {models['candidates']} "
        f"language models on {models['examples']} instructions; {share(settings['share'])} for "
        f"{encoder['candidates']} video encoder settings on {encoder['examples']:,} videos. Here few candidates are "
        "close to the best; [where many are](docs/prompt_choice.md#what-it-costs-and-how-often-it-is-wrong) it takes "
        "more.",
        f"**{wrong:,} of {runs:,} choices were wrong**; 5% were allowed. Trying each model on "
        f"{thumb['rule'].split()[0]} instructions costs {spent(thumb) / spent(ours):.1f} times as much and is wrong in "
        f"{share(thumb['errors']['rate'])} of the choices.",
        f"**It loses** where there is little to save: {small['candidates']} models on {small['examples']} "
        f"instructions take {share(few['share'])} of full evaluation, and {share(graded['share'])} if scores are "
        f"graded. On the {models['candidates']} models a race without a proof costs {share(spent(race) / spent(ours))} "
        f"of our choice, and is wrong in {race['errors']['count']} of {models['runs']:,}.",
    ]
    return "\n".join(textwrap.fill(one, 118, initial_indent="- ", subsequent_indent="  ") for one in lines)


def parts(results: dict[str, Any]) -> dict[Path, dict[str, str]]:
    """By file, what stands between its marks."""
    cases = results["cases"]
    return {
        PAGE: {
            "choices": table(cases, ("models", "encoder", "finer", "small")),
            "short": table(cases, ("ten", "five", "five settings", "two")),
            "duels": fights(results["duels"]),
            "graded": table(cases, ("graded models", "graded encoder", "graded small")),
        },
        README: {"three numbers": numbers(cases)},
    }


def write(results: dict[str, Any]) -> None:
    """The figures into the page and the README."""
    for file, found in parts(results).items():
        text = file.read_text(encoding="utf-8")
        for name, part in found.items():
            pattern = re.compile(rf"(<!-- {name}[^>]*-->\n).*?(\n<!-- end of {name} -->)", re.DOTALL)
            text, count = pattern.subn(lambda old, part=part: old[1] + part + old[2], text)
            if count != 1:
                raise SystemExit(f"{file} must have one place for {name}, got {count}")
        file.write_text(text, encoding="utf-8")
