"""Searches that several tests of pictures draw."""

from __future__ import annotations

import random

import pytest

from tests.support.drawn_searches import EASY, cost, draw, pull
from topalpha import Search, design, search


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    """A file with four searches: stopped, stopped by joint evidence, for costs, ended early."""
    path = tmp_path_factory.mktemp("figures") / "searches.db"
    common = {**EASY, "storage": path, "interval": 1.0}
    search(draw, pull, **common, algorithm="cc-lucb", name="stopped")
    search(draw, pull, **common, name="joint")
    costs = {"algorithm": "cc-lucb", "family": "range(0,20)", "minimise": True, "name": "costs"}
    search(draw, cost, **{**common, "epsilon": 4.0}, **costs)
    search(draw, pull, **common, algorithm="cc-lucb", pulls=50, name="early")
    return path


@pytest.fixture(scope="session")
def many():
    """A search of 10,000 arms that has just begun to tell them apart."""
    found, source, means = Search(design("cc-lucb", 0.000575, 0.05, 0.05)), random.Random(0), []
    assert found.algorithm.arms >= 9_900
    while found.told < found.algorithm.arms + 4_000:
        one = found.ask()
        if one.number == 0:
            means.append(0.9 * source.random())
        found.tell(one, float(source.random() < means[one.arm]))
    return found
