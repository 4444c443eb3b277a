"""What several tests of reports look at."""

from __future__ import annotations

import pytest

from tests.support.reports import EASY, draw, reward
from topalpha import search
from topalpha.report import html


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A file with a search that stopped, by cc-lucb, and its report."""
    path = tmp_path_factory.mktemp("report") / "searches.db"
    result = search(draw, reward, **EASY, algorithm="cc-lucb", storage=path, about="rates that were drawn evenly")
    return path, result, html(path)


@pytest.fixture
def words_only(monkeypatch):
    """For tests of what a report says: its pictures, which have tests of their own, take most of the time."""
    monkeypatch.setattr("topalpha.report.pictures.pictures", lambda contents: [])
