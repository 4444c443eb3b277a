"""The field side by side: runs the two comparisons that are committed, and writes their tables into the page.

    python -m studies.comparison
    python -m studies.comparison --page    # the page and its pictures again, from what is in docs/comparison

Cells are kept in build/comparison until all are done, so that an interrupted study goes on where it was; then they
replace those in docs/comparison.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from studies import DOCS, ROOT
from topalpha.research.comparison.configuration import Comparison
from topalpha.research.comparison.finished_cells import load
from topalpha.research.comparison.pictures import draw
from topalpha.research.comparison.tables import by_case, limits, ranked, rivals, spent
from topalpha.reservoirs import in_words

BUILD, KEPT, PAGE = ROOT / "build" / "comparison", DOCS / "comparison", DOCS / "comparison.md"
STUDIES = ("field", "budget")
OURS = ("joint-lucb", "joint-one-phase")
#: They look for two arms instead of one.
SEVERAL = ("cc-lucb-k", "kqp-1")
#: The alpha and epsilon of the main tables, where they are not 0.05.
MAIN = {
    "two-point(0.2,0.9,0.1)": (0.1, 0.2),
    "two-point(0.5,0.65,0.12)": (0.1, 0.1),
    "dirac(0.5)": (0.1, 0.1),
}


def measure(name: str) -> None:
    """Run one study, or what is left of it, and put it in its place."""
    folder = BUILD / name
    command = [sys.executable, "-m", "topalpha", "compare", "--config", str(Path(__file__).with_name(f"{name}.json"))]
    subprocess.run([*command, "--output", str(folder)], check=True, stdout=subprocess.DEVNULL)
    (folder / "table.json").unlink()  # the cells again
    shutil.rmtree(KEPT / name, ignore_errors=True)
    shutil.move(folder, KEPT / name)


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a study that is done."""
    lines = (KEPT / name / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def number(value: float) -> str:
    """Three digits, with a letter for thousands and more."""
    if not math.isfinite(value):
        return ""
    for unit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{float(f'{value / unit:.3g}'):g}{letter}"
    return f"{value:.0f}"


def shown(row: dict[str, Any]) -> str:
    """Mean pulls; in brackets by formula; with a mark where runs were cut off."""
    if row["status"] == "formula":
        return f"({number(row['design_pulls'])})"
    if row["status"] != "measured":
        return ""
    mark = "≥ " if row["unfinished"] else ""
    return mark + number(row["pulls"]["mean"])


def table(head: list[str], lines: list[list[str]]) -> str:
    """In Markdown."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def pulls_at(rows: list[dict[str, Any]], delta: float) -> str:
    """Mean pulls of every algorithm on every reservoir, at its main alpha and epsilon and one delta."""
    cases = [case for case in by_case(rows) if case.delta == delta and _main(case)]
    found = {(row["algorithm"], row["reservoir"]): row for case in cases for row in by_case(rows)[case]}
    lines = [[f"`{name}`", *(shown(found[name, case.reservoir]) for case in cases)] for name in ranked(found.values())]
    for place, what in enumerate(("Theorem 1", "Theorem 1 for ε", "worst case")):
        found_limits = [limits(case, "bernoulli")[place][1] for case in cases]
        lines.append([f"*lower bound: {what}*", *("" if bound is None else f"*{bound:.3g}*" for bound in found_limits)])
    return table(["algorithm", *(in_words(case.reservoir) for case in cases)], lines)


def _main(case: Any) -> bool:
    return (case.alpha, case.epsilon) == MAIN.get(case.reservoir, (0.05, 0.05))


def sweep(rows: list[dict[str, Any]]) -> str:
    """Mean pulls on Beta(1,1) over alpha and epsilon, at delta = 0.1."""
    law = "conditioned(beta(1,1),0.95)"
    cases = sorted(
        (case for case in by_case(rows) if case.reservoir == law and case.delta == 0.1),
        key=lambda case: (case.epsilon == 0.05, case.alpha, case.epsilon),
    )
    found = {(row["algorithm"], case): row for case in cases for row in by_case(rows)[case]}
    names = [name for name in dict.fromkeys(row["algorithm"] for row in rows) if (name, cases[0]) in found]
    lines = [[f"`{name}`", *(shown(found[name, case]) for case in cases)] for name in names]
    lines = [line for line in lines if any(line[1:])]
    return table(["algorithm", *(f"α {case.alpha:g}, ε {case.epsilon:g}" for case in cases)], lines)


def growth(rows: list[dict[str, Any]]) -> str:
    """How pulls grow from delta = 1e-4 to 1e-8: the exponent of ln(1/delta)."""
    cases = [case for case in by_case(rows) if case.delta == 1e-8 and _main(case)]
    found = {(row["algorithm"], row["reservoir"], row["delta"]): row for row in rows if _main(_case(row))}
    lines = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        line = [f"`{name}`"]
        for case in cases:
            one, two = (spent(found[name, case.reservoir, delta]) for delta in (1e-4, 1e-8))
            both = [found[name, case.reservoir, delta] for delta in (1e-4, 1e-8)]
            cut = any(row["status"] == "measured" and row["unfinished"] for row in both)
            whole = math.isfinite(one) and math.isfinite(two) and not cut
            line.append(f"{math.log(two / one) / math.log(2.0):.2f}" if whole else "")
        if any(line[1:]):
            lines.append(line)
    return table(["algorithm", *(in_words(case.reservoir) for case in cases)], lines)


def _case(row: dict[str, Any]) -> Any:
    from topalpha.research.comparison import ComparisonCase

    return ComparisonCase(row["reservoir"], row["alpha"], row["epsilon"], row["delta"])


def errors(rows: list[dict[str, Any]]) -> str:
    """The cell of each algorithm with most errors for its delta."""
    from topalpha.simulation import Count

    lines = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        some = [row for row in rows if row["algorithm"] == name and row["status"] == "measured"]
        if not some:
            continue
        count = sum(row["errors"]["count"] for row in some)
        runs = sum(row["runs"] for row in some)
        worst = min(some, key=lambda row: Count(row["errors"]["count"], row["runs"]).excess(row["delta"]))
        excess = Count(worst["errors"]["count"], worst["runs"]).excess(worst["delta"])
        law = in_words(worst["reservoir"])
        what = f"{worst['errors']['count']} of {worst['runs']} at δ = {worst['delta']:g}, {law}"
        lines.append([f"`{name}`", f"{count} of {runs:,}", what, f"{excess:.2g}"])
    return table(["algorithm", "errors in all", "the worst cell", "P(so many or more, if δ were true)"], lines)


def beaten(rows: list[dict[str, Any]]) -> str:
    """Where one with the same guarantee and knowledge needs fewer pulls than the better of ours."""
    alike = [row for row in rows if row["algorithm"] not in SEVERAL]
    found = [
        f"- {in_words(case.reservoir)}, α {case.alpha:g}, ε {case.epsilon:g}, δ {case.delta:g}: `{row['algorithm']}` "
        f"{spent(row):,.0f}, `{ours['algorithm']}` {spent(ours):,.0f}"
        for case, row, ours in rivals(alike, OURS)
    ]
    alone = rivals(alike, OURS[:1])
    own = sorted({row["algorithm"] for _, row, _ in alone})
    words = f"Cells on which some other algorithm needs fewer pulls than the better of the two: **{len(found)}** of "
    words += f"{len(by_case(rows))}. "
    words += f"Than `joint-lucb` alone: {len({case for case, _, _ in alone})}"
    words += f" (by {', '.join(f'`{name}`' for name in own)})." if own else "."
    return "\n".join([words, *found])


def budgets(rows: list[dict[str, Any]]) -> str:
    """Errors against the budget."""
    lines = []
    for case, some in by_case(rows).items():
        for row in sorted(some, key=lambda row: (row["budget"] is None, row["algorithm"], row["budget"] or 0)):
            if row["status"] == "measured":
                budget = number(row["budget"]) if row["budget"] else "its own"
                figures = [number(row["pulls"]["mean"]), f"{row['errors']['rate']:.3g}", f"{row['regret']['mean']:.3g}"]
                lines.append([in_words(case.reservoir), f"`{row['algorithm']}`", budget, *figures])
    return table(["reservoir", "algorithm", "budget", "pulls", "errors", "regret"], lines)


def write(page: str, parts: dict[str, str]) -> str:
    """The page with its generated parts put in."""
    for name, text in parts.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end of {name} -->)", re.DOTALL)
        if not pattern.search(page):
            raise SystemExit(f"{PAGE.name} must have a place for {name}")
        page = pattern.sub(lambda found, text=text: found[1] + text + found[2], page)  # type: ignore[misc]
    return page


def main() -> None:
    """Measure what is not measured, and write the page."""
    parser = argparse.ArgumentParser(description="The field side by side.")
    parser.add_argument("--page", action="store_true", help="only write page and pictures, from docs/comparison")
    only_page = parser.parse_args().page
    for name in STUDIES:
        if only_page:
            draw(rows_of(name), KEPT / name)
        else:
            measure(name)
    field, budget = rows_of("field"), rows_of("budget")
    comparison: Comparison = load(KEPT / "field")
    parts = {
        "pulls at 0.1": pulls_at(field, 0.1),
        "pulls at 1e-8": pulls_at(field, 1e-8),
        "sweep": sweep(field),
        "growth": growth(field),
        "errors": errors(field),
        "beaten": beaten(field),
        "budgets": budgets(budget),
        "runs": f"{comparison.runs} runs a cell ({_fewer(comparison)}), {len(field)} cells.",
    }
    PAGE.write_text(write(PAGE.read_text(encoding="utf-8"), parts), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} is up to date.")


def _fewer(comparison: Comparison) -> str:
    some = [f"`{one.label}` {one.runs}" for one in comparison.contenders if one.runs is not None]
    return ", ".join(some) or "all alike"


if __name__ == "__main__":
    main()
