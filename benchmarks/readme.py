"""The results table of the README, written from benchmarks/results.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")
README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- results: written by benchmarks/readme.py -->", "<!-- end of results -->"


def table(results: dict[str, Any]) -> str:
    """Pulls and speed of every algorithm, in Markdown."""
    pulls, speeds, whole = results["pulls"], results["speed"], results["table"]
    header = ["algorithm", "pulls, geometric mean", "least gain", "largest gain", "largest error rate / delta"]
    header += ["µs a pull, one core", "whole table, 100 runs a row"]
    lines = [
        f"On the paper's 36 settings, {pulls['runs']} runs each (1/9 means a ninth of the pulls that the paper's",
        "algorithm needs in the same run):",
        "",
        f"| {' | '.join(header)} |",
        "|" + "---|" * len(header),
    ]
    for name in ("joint-lucb", "cc-lucb", "lucb++", "kl-lucb"):
        gains = ["1", "", "", ""]
        if name != "kl-lucb":
            one = pulls[name]
            gains = [
                f"1/{one['geometric_mean']:.1f}",
                f"1/{one['least']:.1f}",
                f"1/{one['most']:.1f}",
                f"{one['largest_error_rate_over_delta']:.2f}",
            ]
        speed = speeds["microseconds_a_pull"][name]
        seconds = f"{whole[name]:.0f} s" if name in whole else ""
        lines.append(f"| `{name}` | {' | '.join(gains)} | {speed['median']:.2f} | {seconds} |")
    plain = [speeds["ratios"][f"plain {kind} loop / kl-lucb"]["median"] for kind in ("NumPy", "compiled")]
    lines += [
        "",
        f"`kl-lucb` runs {plain[0]:,.0f} times as fast as a plain NumPy loop of the same algorithm and",
        f"{plain[1]:.0f} times as fast as a plain compiled one (medians of ratios within one run, two shared cores).",
    ]
    return "\n".join(lines)


def update() -> None:
    """Put the table between its marks."""
    text = README.read_text()
    block = f"{BEGIN}\n{table(json.loads(RESULTS.read_text()))}\n{END}"
    README.write_text(re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: block, text, flags=re.DOTALL))


if __name__ == "__main__":
    update()
