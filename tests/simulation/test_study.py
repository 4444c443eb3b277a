"""Studies in words."""

from __future__ import annotations

import numpy as np

from tests.support.drawn_studies import cut_off, study


def test_a_printed_study_says_what_was_run_and_what_came_of_it():
    said = dict(line.split("  ", 1) for line in str(study(wrong=2, runs=40, delta=0.05)).splitlines())
    assert {name: text.strip() for name, text in said.items()} == {
        "algorithm": "cc-lucb, 10 arms",
        "rewards": "bernoulli",
        "reservoir": "Beta(1,1) up to 0.8",
        "target": "within 0.1 of the top 10%",
        "errors allowed": "at most 5%",
        "runs": "40, seed 0",
        "errors": "2 = 5% (95% interval 0.611% to 16.9%)",
        "errors, alpha alone": "2 = 5% (95% interval 0.611% to 16.9%)",
        "simple regret": f"{(2 * 0.7 + 38 * 0.01) / 40:.4g} ± 0.024",
        "pulls": "1,000 ± 1.8; median 1,000, 90% of runs within 1,016",
        "speed": f"1.00 s, {np.sum(np.arange(40) - 19 + 1000):,} pulls a second",
    }


def test_a_printed_study_says_how_many_runs_were_cut_off():
    assert "40, seed 0, 3 of them cut off" in str(cut_off(study(), 3))
    assert "±" not in str(study(runs=1))
