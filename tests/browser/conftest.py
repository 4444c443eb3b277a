"""A real browser, a real server and real searches."""

from __future__ import annotations

import os
from pathlib import Path

import chromium
import pytest
from dashboards import Dashboard, Processes
from playwright.sync_api import sync_playwright
from viewing import Viewer


@pytest.fixture(scope="package")
def browser():
    path = chromium.find()
    if path is None and chromium.is_mandatory():
        pytest.fail(chromium.MISSING)
    if path is None:
        pytest.skip(chromium.MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def processes(browser):
    found = Processes()
    yield found
    found.end()


@pytest.fixture
def fresh():
    """Processes of one test alone."""
    found = Processes()
    yield found
    found.end()


@pytest.fixture(scope="package")
def running(processes, tmp_path_factory):
    """A dashboard on a file with a search that goes on for minutes; tests only look at it."""
    path = tmp_path_factory.mktemp("running") / "searches.db"
    processes.search(path)
    return Dashboard(processes, path)


@pytest.fixture
def view(browser):
    """Opens pages; afterwards none of them may have complained, nor asked anyone else for anything."""
    viewer = Viewer(browser)
    yield viewer
    try:
        if folder := os.environ.get("TOPALPHA_PICTURES"):
            viewer.photograph(Path(folder), os.environ["PYTEST_CURRENT_TEST"])
        viewer.judge()
    finally:
        viewer.close()
