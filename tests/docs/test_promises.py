"""What the documents say of the algorithms, held against what is proved."""

from __future__ import annotations

import re

from tests.support.folders import ROOT
from topalpha.algorithms import PRINCIPAL, design
from topalpha.planner.caps import sure_cap
from topalpha.research.audit import FALSE_ALARM, cells

PAGES = [ROOT / "README.md", ROOT / "VISION.md", *(ROOT / "docs").rglob("*.md")]


def words(path):
    return " ".join(path.read_text(encoding="utf-8").split())


def test_no_page_promises_a_stop_that_is_not_proved():
    """joint-lucb, the default, is not proved to stop, and with several pulls in flight no algorithm is."""
    assert [path.name for path in PAGES if "stops by itself" in words(path)] == []
    assert "## Does it stop?" in words(ROOT / "docs" / "guarantee.md")


def test_nobody_is_told_to_install_from_an_index():
    """The package is not on one: everything says how to install from a clone."""
    files = [*PAGES, *(ROOT / "src").rglob("*.py"), *(ROOT / "examples").rglob("*.*"), ROOT / "CONTRIBUTING.md"]
    told = re.compile(r"install +(-\S+ +)*['\"]?topalpha")
    assert told.search("pip install 'topalpha[plot]'")
    assert told.search("pip install -q topalpha")
    assert len(files) > 200
    assert [str(file) for file in files if file.suffix != ".pyc" and told.search(file.read_text("utf-8"))] == []


def test_the_page_about_the_guarantee_names_the_algorithms_that_surely_stop():
    section = (ROOT / "docs" / "guarantee.md").read_text(encoding="utf-8").partition("## Does it stop?")[2]
    surely, not_proved = (
        next(line for line in section.splitlines() if word in line) for word in ("| surely,", "| not proved")
    )
    for entry in PRINCIPAL:
        capped = sure_cap(design(entry.name, 0.1, 0.1, 0.1)).pulls is not None
        assert (f"`{entry.name}`" in surely) == capped
        assert (f"`{entry.name}`" in not_proved) != capped


def test_what_is_not_proved_of_the_expected_number_of_pulls_is_its_order():
    """The sure cap of cc-lucb bounds the expectation too."""
    for page in (ROOT / "docs" / "guarantee.md", ROOT / "docs" / "proofs.md"):
        text = words(page)
        assert "bound on the *expected* number of pulls of `cc-lucb`" not in text
        assert "No bound on the expected number of pulls of `cc-lucb`" not in text
    assert "The sure cap of `cc-lucb` also bounds its *expected* number of pulls" in words(
        ROOT / "docs" / "guarantee.md"
    )


def test_the_page_on_guarantees_says_how_often_the_audit_errs():
    """A bound that holds for the cells of today, and for some more."""
    said = re.search(
        rf"at most {FALSE_ALARM:g} per line, (0\.\d+) in the whole audit\.", words(ROOT / "docs" / "guarantee.md")
    )
    assert FALSE_ALARM * len(list(cells())) <= float(said[1]) < 0.01
