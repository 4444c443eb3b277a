"""10,000 arms and 1,000,000 pulls: there soon, and smooth."""

import statistics
import time

import pytest
from dashboards import Dashboard, until
from large import ARMS, PULLS, Large
from viewing import bars, drawn, moment, number, overflow, pump, shown, text, updates

FIRST_PAINT = 2000.0
UPDATE = 200.0
ROUNDS = 8
# A machine that does other things as well may need another attempt.
LOADS = 3


class Work:
    """What the page's own thread works for an update, in milliseconds: the same on a busy machine as on an idle one."""

    def __init__(self, page):
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._before = self._total()

    def _total(self):
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return 1000.0 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    def each(self, updates):
        return (self._total() - self._before) / updates


def follow(page, large):
    """Some updates: the time of each on the clock, the page's work for each, and seconds from commit to screen."""
    until(lambda: number(page) == large.pulls or pump(page))
    page.wait_for_timeout(300)
    page.evaluate("performance.clearMeasures()")
    work, delays = Work(page), []
    for _ in range(ROUNDS):
        large.go_on()
        committed = time.monotonic()
        until(lambda: number(page) == large.pulls or pump(page))
        delays.append(time.monotonic() - committed)
        page.wait_for_timeout(100)
    took = updates(page)
    assert len(took) >= ROUNDS
    print(f"updates {[round(one) for one in took]} ms, work {work.each(ROUNDS):.0f} ms each, ", end="")
    print(f"commit to screen {[round(one, 2) for one in delays]} s")
    return sorted(took), work.each(ROUNDS), sorted(delays)


def smooth(page, large):
    """Work is measured without what other processes do; on the clock most updates have to be free of them, once."""
    for _ in range(LOADS):
        took, work, delays = follow(page, large)
        if statistics.median(took) < UPDATE and statistics.median(delays) < 1.0:
            break
    assert work < UPDATE
    assert statistics.median(took) < UPDATE, took
    assert statistics.median(delays) < 1.0, delays


@pytest.fixture(scope="module")
def large(browser, tmp_path_factory):
    found = Large(tmp_path_factory.mktemp("large") / "searches.db")
    yield found
    found.close()


@pytest.fixture(scope="module")
def dashboard(large, processes):
    return Dashboard(processes, large.storage.path)


def test_first_paint_and_updates(view, large, dashboard):
    assert (large.arms, large.record.told) == (ARMS, PULLS)
    for _ in range(LOADS):
        page = view(dashboard.with_token, apart=True)  # with nothing in any cache
        drawn(page)
        # Text and all figures are there before the charts are: the first is the browser's own measure.
        paint, figures = moment(page, "first-contentful-paint"), moment(page, "topalpha-first-state")
        charts = moment(page, "topalpha-charts-drawn")
        if figures < FIRST_PAINT:
            break
    print(f"first paint {paint:.0f} ms, figures {figures:.0f} ms, charts {charts:.0f} ms")
    assert paint <= figures < FIRST_PAINT
    assert figures < charts
    smooth(page, large)
    assert "best 300 of 10,000 arms" in text(page, "race-shown")


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
    smooth(page, large)
    page.locator("#race-all").click()
    shown(page, "race-shown", "best 300")
    # A candidate out of ten thousand.
    page.get_by_label("Find candidates that contain").fill("number 9876")
    shown(page, "arms-range", "1 arm that match")
