"""The page of a search that runs: it follows without being loaded again, and its buttons are obeyed."""

import pytest

from tests.support import searching
from tests.support.viewing import bars, drawn, number, pump, shown, text, visible
from tests.support.waiting import PATIENCE, until
from topalpha.storage import Storage, read

TASK = {"alpha": 0.1, "epsilon": 0.1, "delta": 0.05, "algorithm": "cc-lucb", "family": "bernoulli", "minimise": False}


def progress(pulls):
    figures = {"pulls": pulls, "in_flight": 0, "arms": 2, "leader": 1, "mean": 0.75, "low": 0.7, "high": 0.8}
    proved = {
        "evidence": 0.4267,
        "rest": 0.9,
        "gap": 0.25,
        "left": 4321,
        "claims": [[0.1, 0.35], [0.5, 0.2]],
        "about": 0,
    }
    return {**figures, **proved, "unresolved": 1, "paused": False}


def tried(path):
    """How many arms have been pulled."""
    return len([row for row in read(path, log=False).snapshot if row.pulls])


def test_follows_a_search(view, running):
    page = view(running.with_token)
    page.evaluate("globalThis.loadedOnce = true")
    drawn(page)
    first = until(lambda: number(page) or pump(page))
    until(lambda: (number(page) or 0) > first or pump(page))
    assert page.evaluate("globalThis.loadedOnce")
    assert text(page, "status") == "Running"
    for words in ("within epsilon = 0.005", "top 10%", "95%", "cc-lucb", "bernoulli"):
        assert words in text(page, "task")
    # The leader and the arms that reach farthest, each as one bar; what is not drawn is counted.
    until(lambda: 10 < sum(map(len, bars(page))) <= 51 or pump(page))
    assert len(bars(page)[2]) == 1
    until(lambda: f"{tried(running.path) - 51} other arms not" in text(page, "race-shown") or pump(page))


def test_the_figures_are_those_of_the_file(view, serve, tmp_path):
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        record = storage.create("first", {"task": TASK})
        record.add_arm(0, "a")
        record.add_arm(1, "b")
        record.snapshot([(0, 10, 0.25, 0.2, 0.9, 0), (1, 20, 0.75, 0.7, 0.8, 0)], progress(30))
        page = view(serve(path).with_token)
        drawn(page)
        shown(page, "pulls", "30")
        for pulls in (1034, 1035):
            record.snapshot([(0, pulls - 20, 0.25, 0.2, 0.9, 0)], progress(pulls))
            until(lambda count=pulls: number(page) == count or pump(page))
        assert text(page, "gap") == "0.25"
        # What is proved is about an arm that need not lead, and says so.
        assert "Arm 0 is proved to be within 0.35 of the top 10%" in text(page, "gap-note")
        assert "Arm 0 is within 0.35" in text(page, "curve-summary")
        assert text(page, "left") == "4,321"
        assert "42% of the needed evidence is there" in text(page, "left-note")
        assert text(page, "leader") == "Arm 1"
        assert "within 0.35 of the top 10%, within 0.2 of the top 50%" in text(page, "curve-summary")
        # Arm 0's upper bound, 0.9, is over the line at 0.7 + 0.1.
        assert "1 other arm's upper bound is above it" in text(page, "race-summary")
        assert bars(page) == [[], [2], [1]]
        assert page.evaluate("document.getElementById('race').layout.shapes[3].y0") == 0.7 + 0.1
        # Now it falls under the line: one row changes, and the race with it.
        record.snapshot([(0, 1016, 0.25, 0.2, 0.3, 0)], progress(1036))
        shown(page, "race-summary", "no other arm's upper bound is above it")
        until(lambda: bars(page) == [[2], [], [1]] or pump(page))
        # The table follows as well.
        until(lambda: page.locator("#arms tbody tr").nth(1).locator("td").nth(2).inner_text() == "1,016" or pump(page))


@pytest.mark.slow
def test_minimising_turns_the_race_around(view, serve, tmp_path):
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        record = storage.create("costs", {"task": {**TASK, "minimise": True}})
        rows = [(0, 9, 0.25, 0.2, 0.3, 0), (1, 9, 0.75, 0.1, 0.9, 0), (2, 9, 0.5, 0.4, 0.6, 1)]
        record.snapshot(rows, {**progress(27), "leader": 0, "mean": 0.25, "low": 0.2, "high": 0.3})
        page = view(serve(path).address)
        drawn(page)
        # Below the line at 0.3 - 0.1 lies arm 1's lower bound; it comes last, for its mean is the largest.
        assert "1 other arm's lower bound is below it" in text(page, "race-summary")
        assert bars(page) == [[2], [3], [1]]
        until(lambda: page.locator("#arms tbody tr").count() == 3 or pump(page))
        assert [line.locator("td").first.inner_text() for line in page.locator("#arms tbody tr").all()] == [
            "0",
            "2",
            "1",
        ]


def told(path):
    return len(read(path).tells)


def orders(view, first):
    """The orders among the requests from that one on."""
    return [url for url in view.requests[first:] if url.endswith("/api/control")]


def test_the_buttons_are_obeyed(view, fresh, serve, tmp_path):
    path = tmp_path / "searches.db"
    search = fresh.search(path)
    page = view(serve(path).with_token)
    drawn(page)
    until(lambda: number(page) or pump(page))
    page.locator("#pause").click()
    shown(page, "status", "Paused")
    assert text(page, "pause") == "Continue"
    shown(page, "messages", "The search is paused.")
    still = told(path)
    page.wait_for_timeout(200)
    assert told(path) == still
    page.locator("#pause").click()
    shown(page, "status", "Running")
    until(lambda: told(path) > still)
    before = len(view.requests)
    page.locator("#stop").click()
    assert page.locator("#confirm").is_visible()
    page.locator("#confirm-no").click()
    assert not page.locator("#confirm").is_visible()
    later = told(path)
    until(lambda: told(path) > later or pump(page))
    assert orders(view, before) == [], "a search that was not to be stopped was told to stop"
    # The question is closed and asked again in one moment: what the page hears of the first must not undo the second.
    page.evaluate("['stop', 'confirm-no', 'stop'].forEach(name => document.getElementById(name).click())")
    page.wait_for_timeout(100)
    page.locator("#confirm-yes").click()
    shown(page, "status", "Ended: it was told to stop")
    assert search.wait(PATIENCE) == 0
    statement = read(path).certificate["statement"]
    assert text(page, "statement") == statement
    assert "it was told to end" in statement


def test_without_the_token_the_buttons_say_why(view, running):
    page = view(running.address, apart=True)
    shown(page, "controls-note", "need the token")
    before = len(view.requests)
    for button in ("pause", "stop"):
        assert page.locator(f"#{button}").get_attribute("aria-disabled") == "true"
        page.locator(f"#{button}").click(force=True)
    assert not page.locator("#confirm").is_visible()
    assert orders(view, before) == []


def test_the_end_shows_the_certificate(view, serve, tmp_path):
    path = tmp_path / "searches.db"
    page = view(serve(path).with_token)
    shown(page, "notice", "searches.db")
    searching.main(path, "search", "short")
    shown(page, "status", "Finished: proved")
    drawn(page)
    certificate = read(path).certificate
    assert text(page, "statement") == certificate["statement"]
    assert page.locator("#assumptions li").all_inner_texts() == certificate["assumptions"]
    assert not page.locator("#notice").is_visible()
    assert not visible(page, "controls"), "buttons that nobody obeys"
    assert not visible(page, "left-card")
    # What was stored as markup stays text, in the certificate as in the table.
    until(lambda: page.locator("#arms tbody tr").count() or pump(page))
    assert searching.MARKUP in text(page, "certificate-facts")
    assert searching.MARKUP in page.locator("#arms tbody").inner_text()
    assert page.evaluate("globalThis.broken") is None
    assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
