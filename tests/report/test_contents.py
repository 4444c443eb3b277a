"""Reports on searches that ended early, have not ended, are paused, or do not bear out their certificate."""

from __future__ import annotations

import os
import threading

import pytest
from click.testing import CliRunner

from tests.support.reports import EASY, QUIET, draw, reward, self_contained, svgs
from topalpha import Refuted, Session, Task, resume, search
from topalpha.cli import main
from topalpha.report import html, write
from topalpha.report.contents import gather
from topalpha.report.sentences import headline
from topalpha.storage import Storage, StorageError, listing, read


@pytest.mark.usefixtures("words_only")
def test_an_early_end_says_why_and_what_is_weaker(path):
    result = search(draw, reward, **EASY, algorithm="cc-lucb", storage=path, pulls=150)
    page = self_contained(html(path))
    assert not result.stopped
    assert result.certificate.claims
    words = "The search ended early: the budget of pulls was spent. Weaker statements are proved."
    assert words in page.text
    assert result.statement in page.text
    assert not any("in flight" in row for row in page.rows)
    assert "mean was to be shown to be at most 0.2 below where the top 20% begin" in page.text
    assert resume(path, draw, reward, **QUIET).stopped
    assert headline(gather(path)) == "The target is proved."


@pytest.mark.usefixtures("words_only")
def test_a_search_that_has_not_ended_is_reported_as_it_stands(path):
    begun, go_on = threading.Event(), threading.Event()
    count = 0

    def pull(candidate, rng):
        nonlocal count
        count += 1
        if count == 120:
            begun.set()
            go_on.wait(30.0)
        return reward(candidate, rng)

    thread = threading.Thread(target=search, args=(draw, pull), kwargs=EASY | {"algorithm": "cc-lucb", "storage": path})
    thread.start()
    try:
        assert begun.wait(30.0)
        page = self_contained(html(path))
        assert "The search has not ended. The claims below are proved so far." in page.text
        assert "last gave a sign of life at 20" in page.text
        assert "topalpha verify" not in page.text
        seen = Session.replayed(read(path)).certificate()
        assert (seen.pulls, seen.reason) == (119, "running")
        assert seen.statement in page.text
        assert seen.pulls in page.data
        assert sum(int(row[1]) for row in page.rows if len(row) == 7 and row[0] != "arm") == 119
    finally:
        go_on.set()
        thread.join(30.0)
    assert listing(path)[0].status == "stopped"


@pytest.mark.usefixtures("words_only")
def test_a_paused_search_and_one_without_a_reward_say_so(path):
    with Session.start(Task(0.3, 0.3, 0.2), path) as session:
        page = self_contained(text := html(path))
        assert "Nothing is known yet: there is no reward." in page.text
        assert svgs(text) == []
        for pull in session.ask_many(2):
            session.keep(pull.arm, pull.arm)
            session.tell(pull, 1.0)
        session.record.snapshot([], {"pulls": 2, "paused": True})
        assert "The search is paused. Nothing is proved so far." in self_contained(html(path)).text


def test_a_certificate_that_the_record_does_not_bear_out_is_refused(finished, tmp_path):
    path, result, _ = finished
    forged = tmp_path / "forged.db"
    forged.write_bytes(path.read_bytes())
    with Storage(forged) as storage:
        record = storage.open()
        record.finish("stopped", result.certificate.to_dict() | {"epsilon": 0.001})
    with pytest.raises(Refuted, match="epsilon must be what the record bears out"):
        html(forged)
    found = CliRunner().invoke(main, ["report", str(forged), "-o", str(tmp_path / "page.html")])
    assert (found.exit_code, found.stderr[:25]) == (1, "topalpha: NOT verified: e")
    assert not (tmp_path / "page.html").exists()


def test_writing_is_whole_or_not_at_all(finished, tmp_path, monkeypatch):
    path, _, _ = finished
    target = tmp_path / "report.html"
    target.write_text("before")

    def fail(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("topalpha.storage.outputs.os.replace", fail)
    with pytest.raises(OSError, match="No space"):
        write(path, target)
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(StorageError, match="path must exist"):
        write(tmp_path / "none.db", target)
