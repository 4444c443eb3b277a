"""The documentation site, built once for all tests, and a browser to look at it."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from tests.support import chromium
from tests.support.folders import ROOT

DOCS = ROOT / "docs"


def build(folder, gallery):
    """The site of this tree, with or without running the gallery's examples, and what the build said."""
    shutil.rmtree(DOCS / "gallery", ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(folder / "doctrees")]
    command += ["-D", f"plot_gallery={gallery:d}"]
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT / "src")}
    command += [str(DOCS), str(folder / "site")]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)


def built(factory, gallery):
    """Built once, by whichever worker comes first: SQLite's lock, unlike a file's existence, ends with its process."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "documentation"
    place, said = folder / f"gallery{gallery:d}", folder / f"said{gallery:d}.txt"
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(folder / "lock.db", timeout=600)) as lock:
        lock.execute("BEGIN EXCLUSIVE")  # also between the two kinds, which share docs/gallery
        if not said.exists():
            done = build(place, gallery)
            said.write_text(f"{done.returncode}\n{done.stdout}{done.stderr}", encoding="utf-8")
    code, _, words = said.read_text(encoding="utf-8").partition("\n")
    assert code == "0", words
    return place / "site"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """All pages; those of the gallery without what their examples print and draw."""
    return built(tmp_path_factory, gallery=False)


@pytest.fixture(scope="session")
def site_with_gallery(tmp_path_factory):
    """The site as it is published."""
    return built(tmp_path_factory, gallery=True)


@pytest.fixture
def browser():
    """Chromium, or one sentence on how to get it."""
    with chromium.opened() as browser:
        yield browser
