"""The race: it is the timeline of the search, stored or not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.drawn_searches import EASY, NAMES, draw, look, pull
from tests.support.pictures import bars
from topalpha import search
from topalpha.figures import new_axes, race
from topalpha.figures.style import END, LEADER, LINE, REACH
from topalpha.standing import timeline


@pytest.mark.parametrize("name", NAMES)
def test_the_race_is_the_timeline(file, name):
    moments = timeline(file, name, points=60)
    axes = race(file, name, axes=new_axes())
    x = [now.total for now in moments]
    mean = look(axes, LEADER).get_xydata()
    np.testing.assert_array_equal(mean, [(now.total, now.row(now.leader).mean) for now in moments])
    np.testing.assert_array_equal(look(axes, LINE).get_xydata(), np.column_stack([x, [now.line for now in moments]]))
    reach = [now.reach for now in moments]
    np.testing.assert_array_equal(look(axes, REACH).get_xydata(), np.column_stack([x, reach]))
    assert set(look(axes, END).get_xdata()) == {moments[-1].total}
    bounds = {(now.total, row.lower, row.upper) for now in moments for row in now.rows if row.arm != now.leader}
    assert {tuple(bar) for bar in bars(axes)} <= bounds
    assert len(bars(axes)) > 8
    low, high = axes.get_ylim()
    late = [now for now in moments if now.total > 0.2 * moments[-1].total]
    for now in late:
        row = now.row(now.leader)
        assert low <= min(row.lower, now.line, now.reach)
        assert high >= max(row.upper, now.line, now.reach)


def test_the_race_ends_where_the_lines_meet_for_separate_bounds(file):
    for name, sign in (("stopped", 1.0), ("costs", -1.0)):
        axes = race(file, name, axes=new_axes())
        gap = sign * (look(axes, REACH).get_ydata() - look(axes, LINE).get_ydata())
        assert gap[-1] <= 1e-9
        assert (gap[:-1] > 0.0).mean() > 0.9


def test_stored_and_unstored_results_make_the_same_race(file):
    unstored = search(draw, pull, **EASY, algorithm="cc-lucb")
    one, other = race(file, "stopped", axes=new_axes()), race(unstored, axes=new_axes())
    for first, second in zip(one.lines, other.lines, strict=True):
        np.testing.assert_array_equal(first.get_xydata(), second.get_xydata())
    np.testing.assert_array_equal(bars(one), bars(other))
    again = race(timeline(unstored, arms=3), axes=new_axes())
    np.testing.assert_array_equal(bars(again), bars(one))


@pytest.mark.slow
def test_a_race_of_ten_thousand_arms(many):
    axes = race(many, points=8, axes=new_axes())
    assert len(axes.get_children()) < 40
    assert look(axes, LEADER).get_xdata()[-1] == many.history.t
