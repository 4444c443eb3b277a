"""The page of a report: its numbers are the certificate's, its text stays text, and it needs nothing from outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.support.reports import EASY, EVIL, Page, self_contained, svgs
from topalpha import Session, Task, search
from topalpha.report import html
from topalpha.storage import read


def test_a_report_says_what_the_certificate_says(finished):
    path, result, text = finished
    page, certificate = self_contained(text), result.certificate
    assert result.stopped
    assert certificate.statement in page.text
    assert "The target is proved." in page.text
    for sentence in certificate.assumptions:
        assert sentence in page.text
    numbers = [certificate.mean, certificate.at_worst, certificate.others_at_best, certificate.arms, certificate.pulls]
    listed = [number for claim in certificate.claims for number in (claim.epsilon, claim.alpha)]
    target = [certificate.alpha, certificate.epsilon, certificate.delta]
    assert 1 < len(certificate.claims) <= 8
    assert page.data == [*numbers, *listed, *target], "to the last digit"
    for exact in (certificate.digest, certificate.version, certificate.law, certificate.bounds, certificate.proof):
        assert exact in page.text
    for name, level in certificate.levels.items():
        assert [name, repr(level) if not isinstance(level, bool) else str(level).lower()] in page.rows
    assert ["seed", "3"] in page.rows
    assert f"topalpha verify {path.name} --name search" in text


def test_the_table_of_arms_is_the_snapshot_with_candidates(finished):
    path, result, text = finished
    rows = [row for row in Page(text).rows if len(row) == 6 and row[0] != "arm"]
    recording = read(path)
    assert len(rows) == len(recording.snapshot) == result.arms
    assert rows[0][0] == f"{result.arm} chosen"
    seen = {int(row[0].split()[0]): row for row in rows}
    for one in recording.snapshot:
        _, pulls, mean, lower, upper, candidate = seen[one.arm]
        assert int(pulls.replace(",", "")) == one.pulls
        assert [mean, lower, upper] == [f"{value:.4g}" for value in (one.mean, one.lower, one.upper)]
        assert candidate == f"{recording.candidates()[one.arm]['rate']:.4g}"
    means = [float(row[2]) for row in rows[1:]]
    assert means == sorted(means, reverse=True)


def test_figures_are_well_formed_and_named(finished):
    _, result, text = finished
    found = svgs(text)
    assert [one.attrib["aria-label"] for one in found] == [
        "Where the arms stand",
        "The proved claims",
        "The race",
        "Where the pulls went",
    ]
    for one in found:
        assert one.attrib["role"] == "img"
        assert not any(child.tag in ("style", "metadata") for child in one.iter())
        assert not any("opacity" in value for child in one.iter() for value in child.attrib.values())
        assert any(child.tag == "text" and "".join(child.itertext()).strip() for child in one.iter()), "words are words"
    assert f"arm {result.arm}" in "".join(found[0].itertext())


@pytest.mark.slow
def test_the_same_file_gives_the_same_page(finished, tmp_path):
    path, _, text = finished
    code = "import sys; from topalpha.report import write; write(sys.argv[1], sys.argv[2])"
    target = tmp_path / "again.html"
    environment = os.environ | {"PYTHONHASHSEED": "5", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code, str(path), str(target)], check=True, env=environment)
    assert target.read_text(encoding="utf-8") == text


@pytest.mark.usefixtures("words_only")
def test_arms_that_are_left_out_are_counted(finished):
    path, result, whole = finished
    text = html(path, arms=3)
    rows = [row for row in Page(text).rows if len(row) == 6]
    assert len(rows) == 4, "with the head"
    assert f"{result.arms - 3} of {result.arms} arms are left out here" in Page(text).text
    assert f"--arms {result.arms}" in text
    assert "are left out here" not in whole


def test_text_stays_text_everywhere(tmp_path):
    path = tmp_path / "<b>&.db"
    failed = set()

    def evil(rng):
        return {"prompt": EVIL + str(round(float(rng.random()), 3)), "]]>": "--><img src=x onerror=alert(2)>"}

    def pull(candidate, rng):
        if len(failed) < 25 and rng.random() < 0.2 and candidate["prompt"] not in failed:
            failed.add(candidate["prompt"])
            raise ValueError(EVIL)
        return float(rng.random() < 0.7)

    name = "$x$ " + EVIL
    search(evil, pull, **EASY | {"about": EVIL}, storage=path, name=name, pulls=300, on_error="retry")
    assert failed
    page = self_contained(text := html(path))
    assert EVIL not in text
    assert page.text.count(EVIL) > 50, "and is there, as text"
    assert not any("alert" in "".join(one.itertext()) for one in svgs(text)), "figures hold no text of the file"
    assert f"{len(failed)} led to “retry”" in page.text
    reasons = [row for row in page.rows if len(row) == 4 and row[2] == f"ValueError: {EVIL}"]
    assert len(reasons) == min(len(failed), 20)


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.makedirs, (self.path, 0o777, True)


@pytest.mark.usefixtures("words_only")
def test_no_pickle_is_loaded(path, tmp_path):
    trap = tmp_path / "sprung"
    search(lambda rng: Trap(str(trap)), lambda one, rng: float(rng.random() < 0.5), **EASY, storage=path, pickle=True)
    trap.rmdir()  # the search itself loads the candidate that it quotes: what is stored, not the object
    page = self_contained(html(path))
    assert not trap.exists()
    assert "(pickled)" in page.text
    assert read(path).certificate["candidate"] is None, "what the certificate says of it"
    assert "Trap object" not in page.text, "how it looks is not verified, so that it is not shown"
    assert "topalpha verify searches.db --name search" in page.text
    read(path).candidates(allow_pickle=True)
    assert trap.exists(), "the trap works"


@pytest.mark.usefixtures("words_only")
def test_a_pickled_candidate_of_a_search_that_has_not_ended_is_not_shown(path, tmp_path):
    with Session.start(Task(0.3, 0.3, 0.2), path, pickle=True) as session:
        for pull in session.ask_many(5):
            session.keep(pull.arm, Trap(str(tmp_path / "sprung")))
            session.tell(pull, 1.0)
        page = self_contained(html(path))
    assert "(pickled)" in page.text
    assert not (tmp_path / "sprung").exists()


@pytest.mark.usefixtures("words_only")
def test_a_huge_candidate_is_shown_in_part_everywhere(path):
    search(lambda rng: "x" * 20_000, lambda one, rng: float(rng.random() < 0.5), **EASY, storage=path, pulls=30)
    assert max(map(len, re.findall("x+", html(path)))) <= 400


def test_it_prints_on_several_pages(finished, tmp_path):
    from playwright.sync_api import sync_playwright

    from tests.support import chromium

    page = tmp_path / "report.html"
    page.write_text(finished[2], encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.needed(), args=list(chromium.FLAGS))
        tab = browser.new_page()
        tab.goto(page.as_uri())
        printed = tab.pdf(format="A4", print_background=True)
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": 718, "height": 1000})  # the width of A4 within its margins
        cut = tab.evaluate(
            "[...document.querySelectorAll('svg, table, dl, pre')].filter("
            "one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length"
        )
        browser.close()
    assert printed.startswith(b"%PDF")
    assert len(printed) > 30_000, "with its figures"
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 1
    assert cut == 0, "nothing is cut off at the right"
