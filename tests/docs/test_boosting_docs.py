"""The page about boosting says what its results say."""

from __future__ import annotations

import json

import numpy as np

from tests.support.folders import ROOT


def test_the_page_quotes_the_results():
    docs = ROOT / "docs"
    rows = json.loads((docs / "boosting" / "rounds.json").read_text())["rounds"]
    page = " ".join((docs / "boosting.md").read_text().split())
    ratios = [row["edge"] / row["best"] for row in rows]
    pulls = np.array([row["pulls"] for row in rows])
    assert f"has {np.mean(ratios):.2f} of the largest edge there is, at the worst {min(ratios):.2f} of it" in page
    assert f"at most {np.median(pulls):,.0f} pulls, the mean is {pulls.mean():,.0f}" in page
    assert f"the largest number {pulls.max():,}" in page
    assert all(row["proved"] <= row["edge"] <= row["best"] + 1e-9 for row in rows)
