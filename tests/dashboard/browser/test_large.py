"""10,000 arms: text before charts, and what changes is shown."""

import pytest

from tests.support.large import ARMS, Large
from tests.support.streaming import serving
from tests.support.viewing import bars, drawn, moment, number, overflow, pump, shown, text
from tests.support.waiting import until


def follow(page, large):
    """Changes, each of which is shown."""
    until(lambda: number(page) == large.pulls or pump(page))
    for _ in range(2):
        large.go_on()
        until(lambda: number(page) == large.pulls or pump(page))


@pytest.fixture(scope="module")
def large(browser, tmp_path_factory):
    found = Large(tmp_path_factory.mktemp("large") / "searches.db")
    yield found
    found.close()


@pytest.fixture(scope="module")
def dashboard(large):
    with serving(large.storage.path) as found:
        yield found


@pytest.mark.slow
def test_text_comes_before_charts(view, large, dashboard):
    page = view(dashboard.with_token)
    drawn(page)
    assert moment(page, "topalpha-first-state") < moment(page, "topalpha-charts-drawn")
    follow(page, large)
    assert "the 50 that contest it most; 9,949 other arms not" in text(page, "race-shown")


@pytest.mark.slow
def test_all_arms_can_be_drawn(view, large, dashboard):
    page = view(dashboard.with_token)
    drawn(page)
    page.locator("#race-all").click()
    shown(page, "race-shown", "all 10,000 arms")
    assert page.evaluate("document.getElementById('race').layout.xaxis.range[1]") > ARMS
    # No more bars than pixels, and the last arm's place is within one step of the end.
    places = sorted(place for one in bars(page) for place in one)
    assert len(places) < 1280
    assert places[-1] > ARMS - 20
    assert page.locator("#race-all").get_attribute("aria-pressed") == "true"
    # Few elements, however many arms.
    assert page.evaluate("document.querySelectorAll('#race path').length") < 50
    assert overflow(page) == 0
    follow(page, large)
    page.locator("#race-all").click()
    shown(page, "race-shown", "the 50 that contest it most")
    # A candidate out of ten thousand.
    page.get_by_label("Find candidates that contain").fill("number 9876")
    shown(page, "arms-range", "1 arm that match")
