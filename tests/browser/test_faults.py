"""What may go away comes back, and the page with it: the file, the search, the server."""

import shutil
import signal

import httpx
import pytest
from dashboards import Dashboard, kill, until
from streaming import PROGRESS, ROWS, fill
from viewing import drawn, number, press, pump, shown, text

from topalpha.storage import Storage


def test_a_file_that_is_not_there_yet(view, fresh, tmp_path):
    path = tmp_path / "searches.db"
    page = view(Dashboard(fresh, path).with_token)
    shown(page, "notice", "searches.db")
    assert not page.locator("#search").is_visible()
    assert page.locator("#searches a").count() == 0
    page.evaluate("globalThis.loadedOnce = true")
    fresh.search(path, "first of all")
    shown(page, "name", "first of all")
    shown(page, "status", "Running")
    assert not page.locator("#notice").is_visible()
    assert page.evaluate("globalThis.loadedOnce")


def test_a_killed_search_and_a_lost_file(view, fresh, tmp_path):
    view.may_be_missing = True
    path = tmp_path / "searches.db"
    search = fresh.search(path)
    page = view(Dashboard(fresh, path).with_token)
    drawn(page)
    until(lambda: number(page) or pump(page))
    kill(search)
    shown(page, "status", "No sign of life")
    assert "no sign of life" in text(page, "controls-note")
    assert page.locator("#stop").get_attribute("aria-disabled") == "true"
    # Put aside and brought back.
    for file in tmp_path.glob("searches.db*"):
        shutil.move(file, tmp_path / f"away-{file.name}")
    shown(page, "notice", "searches.db")
    for file in tmp_path.glob("away-*"):
        shutil.move(file, tmp_path / file.name.removeprefix("away-"))
    until(lambda: not page.locator("#notice").is_visible() or pump(page))
    before = number(page)
    fresh.search(path, kind="resume")
    shown(page, "status", "Running")
    until(lambda: number(page) > before or pump(page))


def test_a_killed_server(view, fresh, tmp_path):
    path = tmp_path / "searches.db"
    fresh.search(path)
    dashboard = Dashboard(fresh, path)
    view.may_be_lost = True
    page = view(dashboard.with_token)
    drawn(page)
    until(lambda: number(page) or pump(page))
    page.evaluate("globalThis.loadedOnce = true")
    dashboard.kill()
    shown(page, "notice", "connection to the dashboard is lost")
    assert text(page, "connection") == "Connection lost"
    assert page.locator("#pause").get_attribute("aria-disabled") == "true"
    assert "connection" in text(page, "controls-note")
    before = number(page)
    dashboard.start()
    shown(page, "connection", "Connected")
    until(lambda: number(page) > before or pump(page))
    until(lambda: not page.locator("#notice").is_visible() or pump(page))
    assert page.evaluate("globalThis.loadedOnce")
    # The cookie holds the same token, so that the buttons work again.
    until(lambda: page.locator("#pause").get_attribute("aria-disabled") == "false" or pump(page))


def enabled(page):
    return [page.locator(f"#{button}").get_attribute("aria-disabled") == "false" for button in ("pause", "stop")]


def test_without_the_file_the_buttons_rest(view, fresh, tmp_path):
    view.may_be_missing = True
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        record = fill(storage)
        page = view(Dashboard(fresh, path).with_token)
        shown(page, "name", "first")
        until(lambda: record.snapshot(ROWS, PROGRESS) or enabled(page) == [True, True] or pump(page))
        for file in tmp_path.glob("searches.db*"):
            shutil.move(file, tmp_path / f"away-{file.name}")
        shown(page, "controls-note", "cannot be read now")
        assert enabled(page) == [False, False]
        for file in tmp_path.glob("away-*"):
            shutil.move(file, tmp_path / file.name.removeprefix("away-"))
        until(lambda: record.snapshot(ROWS, PROGRESS) or enabled(page) == [True, True] or pump(page))


def asked(page):
    """Press Stop, if it may be pressed; whether the page then asks if it is meant."""
    if enabled(page) == [True, True]:
        press(page, "stop")
    return page.locator("#confirm").is_visible()


def test_a_question_about_one_search_is_not_answered_for_another(view, fresh, tmp_path):
    path = tmp_path / "searches.db"
    with Storage(path) as storage:
        records = [fill(storage, name) for name in ("first", "second")]

        def alive():
            for record in records:
                record.snapshot(ROWS, PROGRESS)

        dashboard = Dashboard(fresh, path)
        page = view(f"{dashboard.with_token}#name=first")
        shown(page, "name", "first")
        page.goto(f"{dashboard.address}#name=second")
        shown(page, "name", "second")
        until(lambda: alive() or asked(page) or pump(page))
        page.go_back()
        until(lambda: not page.locator("#confirm").is_visible() or pump(page))
        shown(page, "name", "first")
        assert [record.take_messages() for record in records] == [[], []]
        # The question is asked anew, and now it is about this one.
        until(lambda: alive() or asked(page) or pump(page))
        press(page, "confirm-yes")
        until(lambda: alive() or records[0].take_messages() == ["stop"] or pump(page))
        assert records[1].take_messages() == []


def hide(page, hidden):
    """As if another tab were looked at, or this one again: a browser without a screen shows them all."""
    seen = "hidden => Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })"
    page.evaluate(seen, hidden)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


@pytest.fixture
def plain(context):
    """No charts, for they take long in many tabs."""
    stub = {"content_type": "text/javascript", "body": "globalThis.Plotly = { react() {} };"}
    context.route("**/assets/plotly.js", lambda route: route.fulfill(**stub))
    yield
    context.unroute("**/assets/plotly.js")


def test_more_tabs_than_a_browser_has_connections(plain, view, fresh, tmp_path):
    path = tmp_path / "searches.db"
    fresh.search(path)
    dashboard = Dashboard(fresh, path)
    pages = []
    for _ in range(7):
        pages.append(view(dashboard.with_token))
        shown(pages[-1], "status", "Running")
        hide(pages[-1], True)
    first, last = pages[0], pages[-1]
    before = number(first)
    hide(last, False)
    until(lambda: number(last) > before or pump(last))
    last.locator("#pause").click()
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


def test_a_server_that_stands_still(view, fresh, tmp_path):
    """Its connections stay open, and say nothing: no error of the browser's tells."""
    path = tmp_path / "searches.db"
    fresh.search(path)
    dashboard = Dashboard(fresh, path)
    view.may_be_lost = True
    page = view(dashboard.with_token)
    until(lambda: page.locator("#arms tbody tr").count() or pump(page))
    until(lambda: page.locator("#pause").get_attribute("aria-disabled") == "false" or pump(page))
    page.evaluate(LISTEN)
    dashboard.process.send_signal(signal.SIGSTOP)
    press(page, "pause")
    page.get_by_label("Find candidates that contain").fill("a")
    until(lambda: any(NO_ANSWER in one for one in page.evaluate("said")) or pump(page))
    shown(page, "arms-range", "did not answer")
    shown(page, "connection", "Connection lost")
    dashboard.process.send_signal(signal.SIGCONT)
    shown(page, "connection", "Connected")
    until(lambda: not page.locator("#notice").is_visible() or pump(page))
    assert httpx.get(dashboard.address).status_code == 200


def test_the_title_follows_in_a_tab_that_nobody_sees(view, fresh, tmp_path):
    path = tmp_path / "searches.db"
    search = fresh.search(path)
    page = view(Dashboard(fresh, path).with_token)
    shown(page, "status", "Running")
    assert page.title().startswith("Running")
    hide(page, True)
    kill(search)
    until(lambda: page.title().startswith("No sign of life") or pump(page))
