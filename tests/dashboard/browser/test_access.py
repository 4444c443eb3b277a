"""For the keyboard, for screen readers, for narrow windows, in light and in dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.support import searching
from tests.support.streaming import serving
from tests.support.viewing import drawn, number, overflow, pump, shown, text
from tests.support.waiting import PATIENCE, until
from topalpha.storage import names, read

SCHEMES = ("light", "dark")


def violations(page):
    """What axe-core finds, in short."""
    found = Axe().run(page).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]


def press_until(page, key, identity):
    """Press a key until an element has the focus; every step on the way must be visible."""
    for _ in range(60):
        page.keyboard.press(key)
        now = page.evaluate("[document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]")
        assert now[1] != "none", f"the focus is on {now[0]!r} and not to be seen"
        if now[0] == identity:
            return
    raise AssertionError(f"{identity} is out of reach of the keyboard")


@pytest.fixture(scope="module")
def finished(browser, tmp_path_factory):
    """A dashboard on a file with two searches that have ended."""
    path = tmp_path_factory.mktemp("finished") / "searches.db"
    searching.main(path, "first,a second one with a rather long name that has to fit into a narrow window", "short")
    with serving(path) as dashboard:
        yield dashboard


def whole(page):
    """Wait until everything is there, the table included."""
    drawn(page)
    until(lambda: page.locator("#arms tbody tr").count() or pump(page))
    return page


@pytest.mark.slow
def test_axe_finds_nothing_in_a_running_search(view, running):
    page = whole(view(running.with_token))
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
        page.locator("#stop").click()
        assert violations(page) == []
        page.locator("#confirm-no").click()


def test_axe_finds_nothing_in_a_finished_search(view, finished):
    page = whole(view(finished.address, width=400))
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    # The negative control: axe-core would have found something.
    page.evaluate("document.querySelector('label[for=query]').remove()")
    page.evaluate("document.getElementById('task').style.color = '#444'")
    assert {name for name, _ in violations(page)} >= {"color-contrast", "label"}


@pytest.mark.slow
def test_axe_finds_nothing_while_there_is_no_search(view, serve, tmp_path):
    page = view(serve(tmp_path / "searches.db").address)
    shown(page, "notice", "searches.db")
    assert text(page, "waiting") == "Waiting for a search"
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []


@pytest.mark.slow
def test_charts_take_the_colours_of_the_scheme(view, finished):
    page = whole(view(finished.address))
    for scheme, ink in (("dark", "#e8ebef"), ("light", "#1b1f24")):
        page.emulate_media(color_scheme=scheme)
        for chart in ("race", "curve"):
            colour = f"document.getElementById('{chart}').layout.font.color"
            until(lambda colour=colour, ink=ink: page.evaluate(colour) == ink or pump(page))


# Whatever does not fit into the window.
STICKING_OUT = """[...document.querySelectorAll('main *:not(.visually-hidden)')]
    .filter(one => !one.closest('svg') && one.getBoundingClientRect().right > innerWidth + 1)
    .map(one => one.outerHTML.slice(0, 100))"""


def fits(page, width):
    """Wait until everything fits into a window of this width: charts do so a moment later."""
    until(lambda: page.evaluate("innerWidth") == width or pump(page))
    until(lambda: page.evaluate(STICKING_OUT) == [] or pump(page))
    until(lambda: overflow(page) == 0 or pump(page))


@pytest.mark.slow
def test_nothing_is_wider_than_the_window(view, finished, running):
    for dashboard in (finished, running):
        page = whole(view(dashboard.with_token))
        for width in (1280, 700, 400):
            page.set_viewport_size({"width": width, "height": 900})
            fits(page, width)


def test_the_keyboard_alone(view, fresh, serve, tmp_path):
    path = tmp_path / "searches.db"
    searching.main(path, "earlier", "short")
    search = fresh.search(path, "now")
    until(lambda: "now" in names(path))
    page = view(serve(path).with_token)
    shown(page, "name", "now")
    drawn(page)
    until(lambda: number(page) or pump(page))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    shown(page, "name", "earlier")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    shown(page, "name", "now")
    until(lambda: page.locator("#pause").get_attribute("aria-disabled") == "false" or pump(page))
    press_until(page, "Tab", "pause")
    page.keyboard.press("Space")
    shown(page, "status", "Paused")
    page.keyboard.press("Space")
    shown(page, "status", "Running")
    press_until(page, "Tab", "stop")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "confirm-no"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "stop"
    page.keyboard.press("Enter")
    press_until(page, "Tab", "confirm-yes")
    page.keyboard.press("Enter")
    shown(page, "status", "Ended: it was told to stop")
    assert search.wait(PATIENCE) == 0
    assert read(path, "now").status == "message"


def test_the_table_is_sorted_searched_and_turned(view, finished):
    page = whole(view(finished.address))
    lines = page.locator("#arms tbody tr")

    def column(place):
        return [line.locator("td").nth(place).inner_text() for line in lines.all()]

    recording = read(finished.path, text(page, "name"))
    means = sorted((row.mean for row in recording.snapshot), reverse=True)
    assert [float(one) for one in column(3)] == [float(f"{one:.4g}") for one in means[:25]]
    header = page.locator("th[data-sort=arm]")
    assert header.get_attribute("aria-sort") == "none"
    header.locator("button").press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    assert page.locator("th[data-sort=mean]").get_attribute("aria-sort") == "none"
    arms = [str(row.arm) for row in recording.snapshot]
    until(lambda: column(0) == arms[:25] or pump(page))
    header.locator("button").press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    until(lambda: column(0) == arms[::-1][:25] or pump(page))
    needle = recording.candidates()[3].rsplit(" ", 1)[1]
    page.get_by_label("Find candidates that contain").fill(needle)
    until(lambda: "that match" in text(page, "arms-range") or pump(page))
    matching = [str(arm) for arm, one in enumerate(recording.candidates()) if needle in one]
    assert sorted(column(0)) == sorted(matching)
    page.get_by_label("Find candidates that contain").fill("no such thing")
    shown(page, "arms-range", "No arm matches")
    assert lines.count() == 0
