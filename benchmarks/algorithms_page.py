"""Pulls and speed on the page of algorithms, written from benchmarks/results.json."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parent.parent / "docs" / "algorithms.md"
BEGIN, END = "<!-- results: written by benchmarks/algorithms_page.py -->", "<!-- end of results -->"


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
        "",
        *practice(results["practice"]),
    ]
    return "\n".join(lines)


def practice(found: dict[str, Any]) -> list[str]:
    """What searching in practice costs, in words."""
    spent, long, wide = found["microseconds_ask_and_tell"], found["million"], found["sixteen_workers"]
    one, other = spent["100 arms"]["median"], spent["1,000 arms"]["median"]
    share = found["storage_share_at_1_ms"]
    busy = " and ".join(f"{100 * wide[name]['utilisation']:.0f}%" for name in ("cc-lucb", "joint-lucb"))
    growth = {name: wide[name]["growth"] for name in ("cc-lucb", "joint-lucb")}
    more = {
        target: " and ".join(f"{100 * (growth[name][target]['ratio'] - 1):.0f}%" for name in growth)
        for target in ("usual", "easy")
    }
    words = (
        f"In practice, with `cc-lucb`: one ask and one tell take {one:.0f} µs at 100 arms and {other:.0f} µs at 1,000; "
        f"storage adds {100 * share['median']:.0f}% to a search of 1 ms pulls ({100 * share['least']:.0f}% to "
        f"{100 * share['most']:.0f}% over repetitions); a million recorded pulls take {long['megabytes']:.0f} MB and "
        f"{long['seconds_to_resume']:.0f} s to resume. With 16 pulls of random length at a time, workers of `cc-lucb` "
        f"and `joint-lucb` are busy {busy} of the time, and they need {more['usual']} more pulls than one at a time at "
        f"alpha = epsilon = delta = .05; {more['easy']} more at .1, where searches are over after a few hundred pulls."
    )
    return textwrap.wrap(words, 120)


def update() -> None:
    """Put the table between its marks."""
    text = PAGE.read_text()
    block = f"{BEGIN}\n{table(json.loads(RESULTS.read_text()))}\n{END}"
    PAGE.write_text(re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: block, text, flags=re.DOTALL))


if __name__ == "__main__":
    update()
