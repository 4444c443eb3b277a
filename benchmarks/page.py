"""The dashboard's page in a browser, for 10,000 arms and 1,000,000 pulls: ``python -m benchmarks.page``.

How soon it is there, how long an update takes, how long a commit takes to the screen, and Ctrl-C to the end.
"""

from __future__ import annotations

import json
import signal
import socket
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.speed import spread
from tests.support import chromium
from tests.support.dashboards import Dashboard, Processes
from tests.support.large import ARMS, Large
from tests.support.viewing import Viewer, drawn, moment, number, pump, shown
from tests.support.waiting import until

PULLS = 1_000_000
#: Marks of the page, or of the browser itself, by what they say.
MARKS = {"first paint": "first-contentful-paint", "figures": "topalpha-first-state", "charts": "topalpha-charts-drawn"}
UPDATES = "performance.getEntriesByName('topalpha-update').map(entry => entry.duration)"


def loads(view: Viewer, address: str, repeat: int) -> dict[str, Any]:
    """From the start of loading to what a person sees, with nothing in any cache."""
    spent: dict[str, list[float]] = {what: [] for what in MARKS}
    for _ in range(repeat):
        page = view(address, apart=True)
        drawn(page)
        for what, name in MARKS.items():
            spent[what].append(moment(page, name))
        page.close()
    return {what: spread(values) for what, values in spent.items()}


def work(session: Any) -> float:
    """Milliseconds that the page's own thread has worked: the same on a busy machine as on an idle one."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000.0 * float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def follow(page: Any, large: Large, repeat: int) -> dict[str, Any]:
    """Some arms change, again and again: each update on the clock, the page's work for it, and commit to screen."""
    until(lambda: number(page) == large.pulls or pump(page))
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.evaluate("performance.clearMeasures()")
    before, delays = work(session), []
    for _ in range(repeat):
        large.go_on()
        committed = time.monotonic()
        until(lambda: number(page) == large.pulls or pump(page), pause=0.0)
        delays.append(1000.0 * (time.monotonic() - committed))
        page.wait_for_timeout(100)
    each = (work(session) - before) / repeat
    return {"update": spread(page.evaluate(UPDATES)), "work": each, "commit to screen": spread(delays)}


def interrupted(dashboard: Dashboard) -> float:
    """Seconds from Ctrl-C to the end, with a page that watches and a client that reads nothing."""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", dashboard.port))
        line.sendall(b"GET /assets/plotly.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
        line.recv(1)
        begin = time.monotonic()
        dashboard.process.send_signal(signal.SIGINT)
        dashboard.process.wait()
        return time.monotonic() - begin


def measure(repeat: int = 5, updates: int = 20) -> dict[str, Any]:
    """All figures, in milliseconds unless they say otherwise."""
    from playwright.sync_api import sync_playwright

    path = chromium.find()
    if path is None:
        raise SystemExit(chromium.MISSING)
    processes = Processes()
    with ExitStack() as stack:
        stack.callback(processes.end)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        large = Large(Path(folder) / "large.db", pulls=PULLS)
        stack.callback(large.close)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        stack.callback(browser.close)
        view = Viewer(browser.new_context(reduced_motion="reduce"))
        dashboard = Dashboard(processes, large.storage.path)
        first = loads(view, dashboard.with_token, repeat)
        page = view(dashboard.with_token)
        drawn(page)
        best = follow(page, large, updates)
        page.locator("#race-all").click()
        shown(page, "race-shown", "all 10,000 arms")
        every = follow(page, large, updates)
        return {
            "arms": ARMS,
            "pulls": PULLS,
            "milliseconds to load": first,
            "milliseconds, best arms drawn": best,
            "milliseconds, all arms drawn": every,
            "seconds to end": interrupted(dashboard),
        }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
