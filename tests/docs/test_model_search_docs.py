"""The page about model search says what its results say; its blocks are run by test_examples.py."""

import json
import re
import sys

from studies.model_search import design, one_search
from tests.support.folders import ROOT

PAGE = (ROOT / "docs" / "model_search.md").read_text(encoding="utf-8")
FOLDER = ROOT / "docs" / "model_search"


def test_tables_are_those_of_the_results():
    results = json.loads(design.RESULTS.read_text(encoding="utf-8"))
    assert design.cost_table(results) in PAGE
    assert design.coverage_table(results) in PAGE
    assert results["bounds"] == design.NORMAL
    for row in results["coverage"]:  # what the page says about them
        assert max(row["upper, after 5"], row["upper, after 10"]) <= design.UPPER_LEVEL
        assert row["rows"] == 30 or row["lower"] <= 4e-4


def test_tables_are_written_between_their_markers(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(design, "PAGE", page)
    monkeypatch.setattr(sys, "argv", ["design", "--tables"])
    design.main()
    assert page.read_text(encoding="utf-8") == PAGE


def test_the_figure_and_the_words_are_those_of_the_search(tmp_path):
    search = json.loads((FOLDER / "search.json").read_text(encoding="utf-8"))
    one_search.draw(search, tmp_path / "search.png")
    assert (tmp_path / "search.png").read_bytes()[:4] == b"\x89PNG"
    quoted = re.sub(r"\n> ?", " ", PAGE.partition("The statement reads:\n\n> ")[2].partition("\n\n")[0])
    assert quoted == search["statement"]
    assert one_search.table(search) in PAGE
    own, shared = search["variants"]["the default"], search["variants"]['`splits="shared"`']
    assert max(own) < min(shared)
    counts, means = search["n_splits"], search["mean_test_score"]
    assert f"Of the {len(counts)} settings, {counts.count(5)} were fitted five times" in PAGE
    assert min(counts) == 5
    majority = 357 / 569  # the share of the larger class; the stratified 72 of 114 held out
    constant = sum(abs(mean - 72 / 114) < 1e-9 for mean in means)
    assert abs(72 / 114 - majority) < 0.005
    assert f"there were {constant} such settings above" in PAGE
    others = [bound for arm, bound in enumerate(search["upper_bound"]) if arm != search["best"]]
    assert max(others) <= search["lower_bound"][search["best"]] + search["epsilon"]


def test_the_comparison_has_its_place():
    begin, end = "<!-- comparison: written by studies/model_search -->", "<!-- end of comparison -->"
    assert PAGE.count(begin) == PAGE.count(end) == 1
    assert PAGE.index(begin) < PAGE.index(end)
