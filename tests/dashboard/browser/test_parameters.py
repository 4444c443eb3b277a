"""Candidates on the page: a column for each parameter, few digits, and one text where there is no room."""

import pytest

from tests.support.streaming import PROGRESS, TASK
from tests.support.viewing import drawn, overflow, pump, shown, text, visible
from tests.support.waiting import until
from topalpha.storage import Storage

SETTINGS = [
    {"rate": rate, "layer_sizes": [64, 32], "kind": kind} for rate, kind in ((0.0123456789, "b"), (10.5, "a"), (9, "c"))
]
STATEMENT = (
    "The search ended because the stopping rule was met. With probability at least 0.95, the mean of arm 1 is good."
)
CERTIFICATE = {"statement": STATEMENT, "candidate": SETTINGS[0], "arm": 1, "assumptions": ["Nothing."], "claims": []}
CERTIFICATE |= {"pulls": 6, "arms": 3, "mean": 0.5, "at_worst": 0.25, "others_at_best": 0.75, "bounds": "", "proof": ""}
CERTIFICATE |= {"version": "0.2.0", "seed": 0}


@pytest.fixture
def file(tmp_path):
    """A file with a search in it, and its record."""
    with Storage(tmp_path / "searches.db") as storage:
        record = storage.create("first", {"task": TASK})
        for arm, candidate in enumerate(SETTINGS):
            record.add_arm(arm, candidate)
        record.snapshot([(arm, 2, 0.25 * arm, 0.0, 1.0, 0) for arm in range(3)], PROGRESS)
        yield storage.path, record


def cells(page, column):
    return page.locator(f'#arms td[data-column="{column}"]').all_inner_texts()


def headers(page):
    return [one for one in page.locator("#arms th:visible").all_inner_texts() if one]


def test_parameters_are_columns_that_sort_as_numbers(view, serve, file):
    path, record = file
    page = view(serve(path).address)
    until(lambda: cells(page, "candidate.rate") or pump(page))
    assert headers(page)[:4] == ["Arm", "rate", "layer_sizes", "kind"]
    assert cells(page, "candidate.layer_sizes") == ["[64, 32]"] * 3
    assert not page.locator("#arms td[data-column=candidate]").first.is_visible()
    for order in (["0.01235", "9", "10.5"], ["10.5", "9", "0.01235"]):
        page.locator("#arms th", has_text="rate").locator("button").click()
        until(lambda wanted=order: cells(page, "candidate.rate") == wanted or pump(page))
    assert page.locator("#arms th", has_text="rate").get_attribute("aria-sort") == "descending"
    sides = page.evaluate("""() => ["candidate.rate", "mean", "candidate.kind"].map((name) =>
        getComputedStyle(document.querySelector(`#arms td[data-column="${name}"]`)).textAlign)""")
    assert sides == ["right", "right", "left"]
    # The order stays while the table follows the search; and a candidate without these parameters ends the columns.
    record.add_arm(3, "another")
    record.snapshot([(3, 1, 1.0, 0.0, 1.0, 0)], {**PROGRESS, "pulls": 7, "arms": 4})
    until(lambda: "another" in cells(page, "candidate") or pump(page))
    assert "rate=0.01235, layer_sizes=[64, 32], kind=b" in cells(page, "candidate")
    assert headers(page)[:2] == ["Arm", "Candidate"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_narrow_window_everything_can_be_read(view, serve, file, scheme):
    path, record = file
    record.finish("stopped", CERTIFICATE)
    page = view(serve(path).address, width=400, scheme=scheme)
    shown(page, "statement", STATEMENT)
    drawn(page)
    until(lambda: cells(page, "candidate") or pump(page))
    assert page.locator("#arms td[data-column=candidate]").first.is_visible()
    assert "rate" not in headers(page)
    assert cells(page, "candidate")[-1] == "rate=0.01235, layer_sizes=[64, 32], kind=b"
    assert overflow(page) == 0
    assert (
        page.evaluate("""() => [...document.querySelectorAll("#statement, #arms, #arms td, .facts dd")]
        .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)""")
        == []
    )
    # Some thirty letters in a line, none of them smaller than the rest of the page.
    lines, size = page.evaluate("""() => {
        const place = document.getElementById("statement"), style = getComputedStyle(place);
        return [place.clientHeight / parseFloat(style.lineHeight), parseFloat(style.fontSize)];
    }""")
    assert len(STATEMENT) / lines >= 20
    assert size >= 16


def test_what_has_ended_shows_nothing_that_is_over(view, serve, file):
    path, record = file
    page = view(serve(path).with_token)
    shown(page, "status", "Running")
    assert visible(page, "controls")
    assert visible(page, "left-card")
    until(lambda: "In flight" in headers(page) or pump(page))
    page.locator("#pause").focus()
    record.finish("stopped", CERTIFICATE)
    shown(page, "status", "Finished: proved")
    for gone in ("controls", "left-card"):
        assert not visible(page, gone)
    assert page.evaluate("document.activeElement.id") == "main"
    assert "In flight" not in headers(page)
    # Few digits to read, and all of them to use.
    assert "rate=0.01235, layer_sizes=[64, 32], kind=b" in text(page, "certificate-facts")
    assert "0.0123456789" in text(page, "certificate-facts")


def test_the_history_of_the_gap_is_that_of_the_file(view, serve, file):
    path, record = file
    past = [[2, 0.75], [4, 0.5], [6, 0.375]]
    record.snapshot([], {**PROGRESS, "history": past})
    page = view(serve(path).address)
    drawn(page)

    def seen():
        return page.evaluate(
            "[...document.getElementById('history').data[0].x, ...document.getElementById('history').data[0].y]"
        )

    until(lambda: visible(page, "history") or pump(page))
    assert seen() == [2, 4, 6, 0.75, 0.5, 0.375]
    assert "From 0.75 after 2 evaluations to 0.375 after 6" in text(page, "history-summary")
    record.snapshot([], {**PROGRESS, "pulls": 8, "history": [*past, [8, 0.25]]})
    until(lambda: len(seen()) == 8 or pump(page))
    before = seen()
    page.reload()
    drawn(page)
    assert seen() == before
    record.snapshot([], {**PROGRESS, "pulls": 9})  # as earlier versions wrote it
    shown(page, "history-summary", "No gap is known yet.")
    assert not visible(page, "history")
