"""Legends fit the pictures that they stand in."""

import pytest

from topalpha import Search, design
from topalpha.figures import claims_curve, intervals, new_axes, pulls, race
from topalpha.report.pictures import SIZE


@pytest.fixture(scope="module")
def search():
    found = Search(design("joint-lucb", 1 / 24, 0.0123456, 0.1))
    while found.history.t < 500:
        pull = found.ask()
        found.tell(pull, float(pull.arm == 1))
    return found


@pytest.mark.parametrize("drawing", [claims_curve, intervals, pulls, race])
def test_legends_of_reports_are_whole(search, drawing):
    axes = drawing(search, axes=new_axes(*SIZE))
    axes.figure.draw_without_rendering()
    box = axes.get_legend().get_window_extent()
    assert box.x0 >= 0.0
    assert box.x1 <= axes.figure.bbox.width
