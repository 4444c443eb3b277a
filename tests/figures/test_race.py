"""The race: it is the timeline of the search, stored or not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import records
from tests.support.drawn_searches import EASY, NAMES, draw, look, pull
from tests.support.pictures import bars
from topalpha import search
from topalpha.figures import new_axes, race
from topalpha.figures.style import END, LEADER, LINE, REACH
from topalpha.standing import timeline
from topalpha.storage import names, read


@pytest.mark.parametrize("name", NAMES)
def test_the_race_is_the_timeline(file, name):
    moments = timeline(file, name, points=60)
    axes = race(file, name, axes=new_axes())
    x = [now.total for now in moments]
    mean = look(axes, LEADER).get_xydata()
    np.testing.assert_array_equal(mean, [(now.total, now.row(now.leader).mean) for now in moments])
    np.testing.assert_array_equal(look(axes, LINE).get_xydata(), np.column_stack([x, [now.line for now in moments]]))
    low, high = axes.get_ylim()
    # What is open is cut off far beyond the picture.
    rest = np.clip([now.rest for now in moments], 2 * low - high, 2 * high - low)
    np.testing.assert_allclose(look(axes, REACH).get_xydata(), np.column_stack([x, rest]))
    assert set(look(axes, END).get_xdata()) == {moments[-1].total}
    end = "lower" if moments[-1].minimise else "upper"
    bounds = {(now.total, *sorted((row.mean, getattr(row, end)))) for now in moments for row in now.rows if row.mean}
    bounds |= {(now.total, row.lower, row.mean) for now in moments for row in now.rows} if end == "lower" else set()
    assert {tuple(bar) for bar in bars(axes)} <= bounds
    assert len(bars(axes)) > 8
    for now in moments:
        row = now.row(now.leader)
        if now.total >= 0.75 * moments[-1].total:
            assert low <= min(row.lower, now.line, now.rest)
            assert high >= max(row.upper, now.line)


def test_the_race_ends_where_the_lines_meet(file):
    for name, sign in (("stopped", 1.0), ("costs", -1.0), ("joint", 1.0)):
        axes = race(file, name, axes=new_axes())
        gap = sign * (look(axes, REACH).get_ydata() - look(axes, LINE).get_ydata())
        assert gap[-1] <= 1e-9
        assert (gap[:-1] > 0.0).mean() > 0.9


def test_negative_control_the_bounds_alone_do_not_meet_where_evidence_is_joined(file):
    moments = timeline(file, "joint")
    assert moments[-1].reach > moments[-1].line
    assert (
        "the evidence leaves" in look(race(moments, axes=new_axes()), REACH).axes.get_legend().get_texts()[3].get_text()
    )


@pytest.mark.parametrize("version", ["0.1.0.db", "0.2.0.db", "0.2.0-families.db"])
def test_files_of_earlier_versions_are_drawn(tmp_path, version):
    path = records.unpacked(tmp_path, version)
    for name in names(path):
        recording = read(path, name)
        assert "evidence" not in (recording.progress or {})
        drawn = race(recording, points=12, axes=new_axes())
        if recording.status == "stopped":
            now = timeline(recording, points=1)[-1]
            assert now.evidence == 1.0
            assert now.rest >= now.line if now.minimise else now.rest <= now.line
        assert len(drawn.lines) >= 3


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
