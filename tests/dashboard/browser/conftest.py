"""A real browser and a real server, in a thread or in a process of its own, where it is to be killed."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support import chromium
from tests.support.dashboards import Processes
from tests.support.streaming import serving
from tests.support.viewing import Viewer


@pytest.fixture(scope="package")
def browser():
    with chromium.opened() as browser:
        yield browser


@pytest.fixture(scope="package")
def context(browser):
    """One for all pages, so that the chart library is compiled once."""
    with browser.new_context(reduced_motion="reduce") as context:
        yield context


@pytest.fixture(scope="package")
def processes(browser):
    """Processes that several tests look at."""
    found = Processes()
    yield found
    found.end()


@pytest.fixture
def fresh(browser):
    """Processes of one test alone."""
    found = Processes()
    yield found
    found.end()


@pytest.fixture(scope="package")
def running(processes, tmp_path_factory):
    """A dashboard on a file with a search that goes on for minutes; tests only look at it."""
    path = tmp_path_factory.mktemp("running") / "searches.db"
    processes.search(path)
    with serving(path) as dashboard:
        yield dashboard


@pytest.fixture
def serve(browser):
    """Starts dashboards on files, which end with the test."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(serving(path))


@pytest.fixture
def view(context, fresh, serve):
    """Opens pages; afterwards none of them may have complained, nor asked anyone else for anything.

    It comes after ``fresh`` and ``serve``, so that what it looks at is still there when it is judged.
    """
    viewer = Viewer(context)
    yield viewer
    try:
        if folder := os.environ.get("TOPALPHA_PICTURES"):
            viewer.photograph(Path(folder), os.environ["PYTEST_CURRENT_TEST"])
        viewer.judge()
    finally:
        viewer.close()
