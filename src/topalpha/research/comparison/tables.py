"""The rows of a comparison as tables: for the page, for a spreadsheet, and as a list of rivals."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from topalpha.families import parse_family
from topalpha.families.protocols import RewardFamily
from topalpha.research.comparison.cells import MEASURED, TOO_LARGE
from topalpha.research.comparison.configuration import ComparisonCase
from topalpha.reservoirs import parse
from topalpha.theory import lower_bound, relaxed_lower_bound, worst_case_lower_bound

Row = Mapping[str, Any]

#: Columns of the spreadsheet.
COLUMNS = (
    *("algorithm", "guarantee", "knows", "reservoir", "alpha", "epsilon", "delta", "budget", "status", "reason"),
    *("arms", "runs", "unfinished", "pulls", "pulls_stderr", "pulls_median", "errors", "error_rate", "error_low"),
    *("error_high", "regret", "regret_stderr", "design_pulls", "seconds", "microseconds_a_pull"),
)


def flat(row: Row) -> dict[str, Any]:
    """A row as one line of a spreadsheet.

    Examples
    --------
    >>> flat({"algorithm": "p3", "status": "formula", "design_pulls": 1.5e9})["design_pulls"]
    1500000000.0
    """
    line = {name: row.get(name) for name in COLUMNS}
    if row["status"] == MEASURED:
        pulls, errors, regret = row["pulls"], row["errors"], row["regret"]
        speed = row["pulls_per_second"]
        line |= {"pulls": pulls["mean"], "pulls_stderr": pulls["stderr"], "pulls_median": pulls["median"]}
        line |= {"errors": errors["count"], "error_rate": errors["rate"]}
        line |= {"error_low": errors["interval"][0], "error_high": errors["interval"][1]}
        line |= {"regret": regret["mean"], "regret_stderr": regret["stderr"]}
        line |= {"microseconds_a_pull": 1e6 / speed if speed else None}
    return line


def to_csv(rows: Iterable[Row]) -> str:
    """All rows as CSV, with a header.

    Examples
    --------
    >>> to_csv([{"algorithm": "p3", "status": "formula"}]).splitlines()[1][:12]
    'p3,,,,,,,,fo'
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat(row) for row in rows)
    return text.getvalue()


def spent(row: Row) -> float:
    """Mean pulls; the design's formula if the cell was too large to run; infinite if there is neither.

    Examples
    --------
    >>> spent({"status": "formula", "design_pulls": 2e9}), spent({"status": "refused"})
    (2000000000.0, inf)
    """
    if row["status"] == MEASURED:
        return float(row["pulls"]["mean"])
    return float(row["design_pulls"]) if row["status"] == TOO_LARGE else math.inf


def by_case(rows: Iterable[Row]) -> dict[ComparisonCase, list[Row]]:
    """Rows of each case, the cheapest first.

    Examples
    --------
    >>> row = {"reservoir": "dirac(0.5)", "alpha": 0.1, "epsilon": 0.1, "delta": 0.1, "status": "refused"}
    >>> [len(found) for found in by_case([row, row]).values()]
    [2]
    """
    found: dict[ComparisonCase, list[Row]] = {}
    for row in rows:
        case = ComparisonCase(row["reservoir"], row["alpha"], row["epsilon"], row["delta"])
        found.setdefault(case, []).append(row)
    return {case: sorted(some, key=spent) for case, some in found.items()}


def ranked(rows: Iterable[Row]) -> list[str]:
    """The algorithms, the cheapest first: by the geometric mean of their pulls over the least of each case.

    Cases that an algorithm has no number for do not count for it.

    Examples
    --------
    >>> target = {"reservoir": "dirac(0.5)", "alpha": 0.1, "epsilon": 0.1, "delta": 0.1, "status": "measured"}
    >>> ranked([{**target, "algorithm": name, "pulls": {"mean": mean}} for name, mean in (("a", 9.0), ("b", 5.0))])
    ['b', 'a']
    """
    ratios: dict[str, list[float]] = {}
    for some in by_case(rows).values():
        for row in some:
            found = ratios.setdefault(row["algorithm"], [])
            if math.isfinite(spent(row)):
                found.append(math.log(spent(row) / spent(some[0])))
    return sorted(ratios, key=lambda name: math.fsum(ratios[name]) / len(ratios[name]) if ratios[name] else math.inf)


def limits(case: ComparisonCase, family: str) -> list[tuple[str, float | None, str]]:
    """Lower bounds for a case: their names, their values, and the reasons if there is no value.

    Examples
    --------
    >>> [(name, value is None) for name, value, _ in limits(ComparisonCase("dirac(0.5)", 0.1, 0.1, 0.05), "bernoulli")]
    [('Theorem 1', True), ('Theorem 1, epsilon-relaxed', True), ('Chaudhuri and Kalyanakrishnan, worst case', False)]
    """
    law, rewards = parse(case.reservoir), parse_family(family)
    found: list[tuple[str, float | None, str]] = []
    if isinstance(rewards, RewardFamily):
        exact = lower_bound(law, case.alpha, case.delta, rewards)
        relaxed = relaxed_lower_bound(law, *case.target, rewards)
        found.append(("Theorem 1", exact.value, exact.reason))
        found.append(("Theorem 1, epsilon-relaxed", relaxed.value, relaxed.reason))
    worst = worst_case_lower_bound(*case.target)
    return [*found, ("Chaudhuri and Kalyanakrishnan, worst case", worst, "")]


def rivals(rows: Iterable[Row], names: Sequence[str]) -> list[tuple[ComparisonCase, Row, Row]]:
    """Cases where another algorithm of the same guarantee and knowledge needs fewer pulls than the best of ``names``.

    Only differences of more than two standard errors of both together count.

    Examples
    --------
    >>> rivals([], ["joint-lucb"])
    []
    """
    found = []
    for case, some in by_case(rows).items():
        alike = [
            row
            for row in some
            if row["status"] == MEASURED and row["guarantee"] == "fixed-confidence" and not row["knows"]
        ]
        ours = [row for row in alike if row["algorithm"] in names and not row["unfinished"]]
        if not ours:
            continue
        for row in alike:
            if row["algorithm"] in names or row["unfinished"]:
                continue
            noise = math.hypot(row["pulls"]["stderr"] or 0.0, ours[0]["pulls"]["stderr"] or 0.0)
            if spent(row) < spent(ours[0]) - 2.0 * noise:
                found.append((case, row, ours[0]))
    return found
