"""How many files each way through the package takes: ``python -m benchmarks.walks [--files]``.

A file counts if one of its functions is called. Each walk is walked once before it is counted, so that imports do not
count. The walk from a snapshot to the screen needs Chromium: its scripts count as well.
"""

from __future__ import annotations

import inspect
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import topalpha
from topalpha import Session, Task, design, parse_reservoir, search, simulate, verify

ROOT = os.path.dirname(topalpha.__file__) + os.sep
TARGET: dict[str, Any] = {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1}


def draw(rng: Any) -> float:
    """A candidate."""
    return float(rng.random())


def pull(candidate: float, rng: Any) -> float:
    """An evaluation of it."""
    return float(rng.random() < candidate)


class Walk:
    """The files of the package whose functions are called while this is open, in any thread that begins meanwhile."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def __enter__(self) -> set[str]:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self.files

    def __exit__(self, *exception: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Bodies of modules and classes run once, when they are imported.
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(ROOT):
            self.files.add(code.co_filename.removeprefix(ROOT))


def walked(walk: Callable[[Path], object]) -> set[str]:
    """The files of a walk, which is walked in an empty folder."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        walk(Path(first))
        with Walk() as files:
            walk(Path(second))
    return files


def searching(folder: Path) -> None:
    """``search`` to its certificate, kept in a file."""
    search(draw, pull, **TARGET, storage=folder / "searches.db")


def simulating(_: Path) -> None:
    """``simulate``."""
    simulate(design("joint-lucb", **TARGET), parse_reservoir("beta(1,2)"), runs=3, seed=0)


def fitting(_: Path) -> None:
    """``TopAlphaSearchCV.fit``."""
    from scipy.stats import loguniform
    from sklearn.datasets import load_iris
    from sklearn.naive_bayes import GaussianNB

    from topalpha.sklearn import TopAlphaSearchCV

    law = {"var_smoothing": loguniform(1e-9, 1e3)}
    found = TopAlphaSearchCV(GaussianNB(), law, alpha=0.3, epsilon=0.2, delta=0.2, random_state=0)
    found.fit(*load_iris(return_X_y=True))


def verifying() -> set[str]:
    """``verify``, of a search that was made before."""
    with tempfile.TemporaryDirectory() as folder:
        searching(Path(folder))
        verify(f"{folder}/searches.db")
        with Walk() as files:
            verify(f"{folder}/searches.db")
    return files


def showing() -> set[str]:
    """A snapshot, from the search that takes it to the page that shows it; nothing without Chromium."""
    browser = next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), "chromium", "google-chrome"))), None)
    if browser is None:
        return set()
    from playwright.sync_api import sync_playwright

    from topalpha.dashboard.access import Access
    from topalpha.dashboard.serving import Server, bind

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, bind("127.0.0.1", 0) as listener:
        path = f"{folder}/searches.db"
        server = Server(path, Access.at(listener, "correct-horse", "127.0.0.1"))
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--headless"])
        with Session.start(Task(**TARGET, algorithm="cc-lucb"), path) as session, Walk() as files:
            thread = threading.Thread(target=server.run, args=([listener],))
            thread.start()
            try:
                page = chromium.new_page()
                page.goto(f"http://127.0.0.1:{listener.getsockname()[1]}/")
                _shown(page, session, 20)
                scripts = page.context.new_cdp_session(page)
                scripts.send("Profiler.enable")
                scripts.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": False})
                page.wait_for_timeout(1500)  # the table of arms is asked for once a second
                files.clear()
                _shown(page, session, 1)
                page.wait_for_timeout(1500)
                called = scripts.send("Profiler.takePreciseCoverage")["result"]
            finally:
                server.should_exit = True
                thread.join()
                chromium.close()
    for one in called:
        place, runs = urlsplit(one["url"]).path, [run for run in one["functions"] if run["functionName"]]
        if place.startswith("/static/") and any(run["ranges"][0]["count"] for run in runs):
            files.add(f"dashboard{place}")
    return files


def _shown(page: Any, session: Session, pulls: int) -> None:
    """So many rewards, then a snapshot, until the page shows it; of the search itself the snapshot alone counts."""
    profile = sys.getprofile()
    sys.setprofile(None)
    session.tell_many([(pull, 0.5) for pull in session.ask_many(pulls)])
    assert session.snapshots is not None
    sys.setprofile(profile)
    session.snapshots.take()
    sys.setprofile(None)
    while page.locator("#pulls").text_content() != str(session.history.t):
        page.wait_for_timeout(50)
    sys.setprofile(profile)


WALKS: dict[str, Callable[[], set[str]]] = {
    "search to Certificate": lambda: walked(searching),
    "simulate": lambda: walked(simulating),
    "snapshot to pixel": showing,
    "verify": verifying,
    "TopAlphaSearchCV.fit": lambda: walked(fitting),
}


def main() -> None:
    """Print how many files each walk takes; with ``--files`` which."""
    for name, walk in WALKS.items():
        files = walk()
        print(f"{name}: {len(files) or 'not counted, for there is no Chromium'}")
        if "--files" in sys.argv:
            print("".join(f"    {file}\n" for file in sorted(files)), end="")


if __name__ == "__main__":
    main()
