"""What may go away comes back, and the page with it: the file, the search, the server."""

import shutil
import threading
from contextlib import contextmanager

import httpx
import pytest

from tests.support.dashboards import Dashboard
from tests.support.streaming import PROGRESS, ROWS, fill, silence
from tests.support.viewing import drawn, number, press, pump, quicker, scripted, shown, text
from tests.support.waiting import PATIENCE, until
from topalpha.dashboard import watching
from topalpha.storage import Storage


@pytest.fixture(autouse=True)
def _plain(context):
    """No charts: they take long, and are none of these tests' business."""
    with scripted(context, "**/assets/plotly.js", "globalThis.Plotly = { react() {} };"):
        yield


def test_a_file_that_is_not_there_yet(view, serve, tmp_path):
    path = tmp_path / "searches.db"
    page = view(serve(path).with_token)
    shown(page, "notice", "searches.db")
    assert not page.locator("#search").is_visible()
    assert page.locator("#searches a").count() == 0
    page.evaluate("globalThis.loadedOnce = true")
    with Storage(path) as storage:
        fill(storage, "first of all")
        shown(page, "name", "first of all")
        shown(page, "status", "Running")
        assert not page.locator("#notice").is_visible()
        assert page.evaluate("globalThis.loadedOnce")


@contextmanager
def away(path):
    """While this is open the file lies elsewhere."""
    for file in path.parent.glob(f"{path.name}*"):
        shutil.move(file, file.with_name(f"away-{file.name}"))
    yield
    for file in path.parent.glob("away-*"):
        shutil.move(file, file.with_name(file.name.removeprefix("away-")))


def test_a_silent_search_and_a_lost_file(view, serve, tmp_path):
    view.may_be_missing = True
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        fill(storage)
    page = view(serve(path).with_token)
    drawn(page)
    shown(page, "status", "Running")
    with silence(0.0):
        shown(page, "status", "No sign of life")
        assert "no sign of life" in text(page, "controls-note")
        assert page.locator("#stop").get_attribute("aria-disabled") == "true"
        with away(path):
            shown(page, "notice", "searches.db")
        until(lambda: not page.locator("#notice").is_visible() or pump(page))
    with Storage(path) as storage:
        storage.open("first").snapshot(ROWS, {**PROGRESS, "pulls": 7})
        shown(page, "status", "Running")
        until(lambda: number(page) == 7 or pump(page))


def test_a_killed_server(view, fresh, tmp_path):
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        record = fill(storage)
        dashboard = Dashboard(fresh, path)
        view.may_be_lost = True
        page = view(dashboard.with_token)
        drawn(page)
        page.evaluate("globalThis.loadedOnce = true")
        dashboard.kill()
        shown(page, "notice", "connection to the dashboard is lost")
        assert text(page, "connection") == "Connection lost"
        assert page.locator("#pause").get_attribute("aria-disabled") == "true"
        assert "connection" in text(page, "controls-note")
        dashboard.start()
        record.snapshot(ROWS, {**PROGRESS, "pulls": 7})
        shown(page, "connection", "Connected")
        until(lambda: number(page) == 7 or pump(page))
        until(lambda: not page.locator("#notice").is_visible() or pump(page))
        assert page.evaluate("globalThis.loadedOnce")
        # The cookie holds the same token, so that the buttons work again; this server takes silence for death.
        until(lambda: record.snapshot(ROWS, PROGRESS) or enabled(page) == [True, True] or pump(page))


def enabled(page):
    return [page.locator(f"#{button}").get_attribute("aria-disabled") == "false" for button in ("pause", "stop")]


def test_without_the_file_the_buttons_rest(view, serve, tmp_path):
    view.may_be_missing = True
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        fill(storage)
    page = view(serve(path).with_token)
    until(lambda: enabled(page) == [True, True] or pump(page))
    with away(path):
        shown(page, "controls-note", "cannot be read now")
        assert enabled(page) == [False, False]
    until(lambda: enabled(page) == [True, True] or pump(page))


def asked(page):
    """Press Stop, if it may be pressed; whether the page then asks if it is meant."""
    if enabled(page) == [True, True]:
        press(page, "stop")
    return page.locator("#confirm").is_visible()


def test_a_question_about_one_search_is_not_answered_for_another(view, serve, tmp_path):
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        records = [fill(storage, name) for name in ("first", "second")]
        dashboard = serve(path)
        page = view(f"{dashboard.with_token}#name=first")
        shown(page, "name", "first")
        page.goto(f"{dashboard.address}#name=second")
        shown(page, "name", "second")
        until(lambda: asked(page) or pump(page))
        page.go_back()
        until(lambda: not page.locator("#confirm").is_visible() or pump(page))
        shown(page, "name", "first")
        assert [record.take_messages() for record in records] == [[], []]
        # The question is asked anew, and now it is about this one.
        until(lambda: asked(page) or pump(page))
        press(page, "confirm-yes")
        until(lambda: records[0].take_messages() == ["stop"] or pump(page))
        assert records[1].take_messages() == []


def hide(page, hidden):
    """As if another tab were looked at, or this one again: a browser without a screen shows them all."""
    seen = "hidden => Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })"
    page.evaluate(seen, hidden)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


@pytest.mark.slow
def test_more_tabs_than_a_browser_has_connections(view, serve, tmp_path):
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        record, dashboard, pages = fill(storage), serve(path), []
        for _ in range(7):
            pages.append(view(dashboard.with_token))
            shown(pages[-1], "status", "Running")
            hide(pages[-1], True)
        first, last = pages[0], pages[-1]
        hide(last, False)
        record.snapshot(ROWS, {**PROGRESS, "pulls": 7})
        until(lambda: number(last) == 7 or pump(last))
        last.locator("#pause").click()
        until(lambda: record.take_messages() == ["pause"] or pump(last))
        record.snapshot(ROWS, {**PROGRESS, "paused": True})
        shown(last, "status", "Paused")
        assert text(first, "status") == "Running", "nobody sees it, so that it has given its connection back"
        hide(first, False)
        shown(first, "status", "Paused")


# Keep all that the page announces: on a busy machine it may announce something else before anyone looks.
LISTEN = """() => {
  globalThis.said = [];
  const messages = document.getElementById("messages");
  const keep = () => said.push(messages.textContent);
  new MutationObserver(keep).observe(messages, { childList: true, characterData: true, subtree: true });
}"""
NO_ANSWER = "That did not work: the dashboard did not answer"


class StandStill:
    """A server whose connections stay open, and say nothing until it is to go on."""

    def __init__(self, dashboard):
        self._loop = dashboard.server.servers[0].get_loop()
        self._going_on = threading.Event()

    def begin(self):
        stands = threading.Event()
        self._going_on.clear()
        self._loop.call_soon_threadsafe(lambda: stands.set() or self._going_on.wait(PATIENCE))
        assert stands.wait(PATIENCE)

    def end(self):
        self._going_on.set()


@pytest.mark.slow
def test_a_server_that_stands_still(view, context, serve, tmp_path, monkeypatch):
    """No error of the browser's tells. The page's times are shorter here, and so are those of the server."""
    monkeypatch.setattr(watching, "HEARTBEAT", 0.1)
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        fill(storage)
    dashboard = serve(path)
    still = StandStill(dashboard)
    view.may_be_lost = True
    with (
        quicker(context, "stream", SILENCE=3000),
        quicker(context, "controls", ANSWER=500),
        quicker(context, "table", ANSWER=500),
    ):
        page = view(dashboard.with_token)
        until(lambda: page.locator("#arms tbody tr").count() or pump(page))
        page.evaluate(LISTEN)

        def pressed():
            """Whether the button could be pressed although the server stands still; else it goes on meanwhile."""
            still.begin()
            if enabled(page)[0]:
                press(page, "pause")
                return True
            still.end()
            return pump(page)

        try:
            until(pressed)
            page.get_by_label("Find candidates that contain").fill("a")
            until(lambda: any(NO_ANSWER in one for one in page.evaluate("said")) or pump(page))
            shown(page, "arms-range", "did not answer")
            shown(page, "connection", "Connection lost")
        finally:
            still.end()
        shown(page, "connection", "Connected")
        until(lambda: not page.locator("#notice").is_visible() or pump(page))
    assert httpx.get(dashboard.address, timeout=PATIENCE).status_code == 200


@pytest.mark.slow
def test_the_title_follows_in_a_tab_that_nobody_sees(view, context, serve, tmp_path):
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        fill(storage)
    with quicker(context, "stream", LOOK=200):
        page = view(serve(path).with_token)
        shown(page, "status", "Running")
        assert page.title().startswith("Running")
        hide(page, True)
        with silence(0.0):
            until(lambda: page.title().startswith("No sign of life") or pump(page))
