"""The study of recorded tables: its page and the README say what was measured, and replays repeat."""

from __future__ import annotations

import json

import numpy as np
import pytest

from studies.recorded_tables import measuring, page
from tests.support.marks import quick

RESULTS = json.loads(page.RESULTS.read_text(encoding="utf-8"))


def test_the_page_and_the_readme_are_what_was_measured():
    for file, parts in page.parts(RESULTS).items():
        text = file.read_text(encoding="utf-8")
        for name, part in parts.items():
            before, _, rest = text.partition(f"<!-- {name}")
            assert before != text, f"{file} has a place for {name}"
            assert f"-->\n{part}\n<!-- end of {name} -->" in rest, "run `python -m studies.recorded_tables --write`"


def test_choices_with_a_proof_keep_delta_and_never_exceed_full_evaluation():
    for case in RESULTS["cases"].values():
        ours = case["rules"][0]
        assert ours["verdict"] == "compatible"
        assert case["passing"] is None or ours["evaluations"]["most"] <= ours["full_evaluations"]


@pytest.mark.parametrize("name", quick(["small", "finer", "graded small"], ["small", "finer"]))  # compiles for long
def test_the_first_replays_repeat(name):
    again = measuring.measure(measuring.CASES[name], runs=measuring.KEPT_RUNS)
    kept = RESULTS["cases"][name]
    assert [one["first"] for one in again["rules"]] == [one["first"] for one in kept["rules"]]
    assert (again["best"], again["within"]) == (kept["best"], kept["within"])


def test_tables_are_what_their_page_says():
    words = (measuring.TABLES / "README.md").read_text(encoding="utf-8")
    for file, licence in (("alpaca_eval", "Apache-2.0"), ("x264", "MIT")):
        with np.load(measuring.TABLES / f"{file}.npz") as stored:
            rows, columns = stored["scores"].shape
            assert (len(stored["candidates"]), len(stored["examples"])) == (rows, columns)
            assert 0.0 <= stored["scores"].min() <= stored["scores"].max() <= 1.0
        (line,) = [line for line in words.splitlines() if line.startswith(f"| `{file}.npz` | {rows} x {columns} |")]
        assert line.endswith(f"| {licence} |")


def test_graded_rewards_are_scores_of_the_row():
    world = measuring.Anew(np.array([[0.0, 0.25], [0.5, 1.0]]))
    rng = np.random.default_rng(0)
    assert {world.sample(1.0, rng) for _ in range(50)} == {0.5, 1.0}
    assert {world.sample(0.0, rng) for _ in range(50)} == {0.0, 0.25}
