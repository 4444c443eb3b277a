"""Pictures of all arms: bounds and pulls are those of the search, for few arms and for ten thousand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from tests.support.drawn_searches import EASY, NAMES, draw, look, points, pull
from tests.support.marks import quick
from tests.support.pictures import bars, faults
from topalpha import Search, Session, Task, design, figures, search
from topalpha.figures import KINDS, claims_curve, intervals, new_axes, pulls, race
from topalpha.figures.style import CHALLENGER, LEADER, LINE, OTHER
from topalpha.standing import standing, timeline
from topalpha.storage import read


def by_mean(now):
    key = now.mean if now.minimise else -now.mean
    return sorted(range(now.drawn), key=lambda arm: (key[arm], arm))


@pytest.mark.parametrize("name", NAMES)
def test_intervals_are_the_bounds_of_every_arm_in_the_order_of_their_means(file, name):
    now = standing(file, name)
    axes = intervals(file, name, axes=new_axes())
    drawn = bars(axes)
    order = by_mean(now)
    np.testing.assert_array_equal(drawn[:, 0], np.arange(1, now.drawn + 1))
    np.testing.assert_array_equal(drawn[:, 1], now.lower[order])
    np.testing.assert_array_equal(drawn[:, 2], now.upper[order])
    (x, mean), *_ = points(axes, LEADER)
    assert (order[int(x) - 1], mean) == (now.leader, now.mean[now.leader])
    beyond = {order[int(x) - 1] for x, _ in points(axes, CHALLENGER)} if now.above else set()
    assert beyond == set(now.above)


@pytest.mark.parametrize(("name", "sign"), [("stopped", 1), ("joint", 1), ("costs", -1), ("early", 1)])
def test_the_line_is_the_leader_s_bound_and_epsilon(file, name, sign):
    session = Session.replayed(read(file, name))
    bound = session.model.to_user(session.lower(session.best))
    others = [session.model.to_user(session.upper(arm)) for arm in range(session.history.arms)]
    others.pop(session.best)
    expected = bound + sign * session.task.epsilon
    beyond = sum(sign * (value - expected) > 1e-9 for value in others)
    axes = intervals(file, name, axes=new_axes())
    assert look(axes, LINE).get_ydata() == pytest.approx([expected, expected])
    marked = points(axes, CHALLENGER) if beyond else []
    assert len(marked) == beyond
    assert (beyond == 0) == (name in ("stopped", "costs")), "cc-lucb stops when no bound is beyond the line"


def test_ten_thousand_arms_are_few_objects_and_show_the_widest_of_neighbours(many):
    now = standing(many)
    axes = intervals(now, axes=new_axes())
    assert len(axes.get_children()) < 40
    ranks = np.empty(now.drawn)
    ranks[by_mean(now)] = np.arange(now.drawn)
    groups = [(OTHER, ~np.isin(now.arm, [now.leader, *now.above])), (CHALLENGER, np.isin(now.arm, now.above))]
    stairs = [one for one in axes.patches if hasattr(one, "get_data") and one.get_data().baseline is not None]
    assert len(stairs) == sum(which.any() for _, which in groups)
    for drawn, (_, which) in zip(stairs, [pair for pair in groups if pair[1].any()], strict=True):
        values, edges, baseline = drawn.get_data()
        for low, high, top, bottom in zip(edges[:-1], edges[1:], values, baseline, strict=True):
            inside = which & (ranks + 1 >= low) & (ranks + 1 < high)
            assert math.isnan(top) == (not inside.any())
            if inside.any():
                assert (top, bottom) == (now.upper[inside].max(), now.lower[inside].min())


@pytest.mark.parametrize(
    ("family", "minimise"),
    quick(product(["normal", "poisson", "gaussian(1.0)"], [False, True]), [("poisson", True)]),
)
def test_infinite_bounds_leave_the_picture_and_break_nothing(family, minimise, tmp_path):
    task = Task(0.3, 0.5, 0.2, family=family, minimise=minimise, algorithm="cc-lucb")
    found = Search(task.design(), model=task.model)
    for number, one in enumerate(found.ask_many(60)):
        found.tell(one, float(one.arm % 4))
        if number in (2, 59):
            for kind in ("race", "intervals", "pulls"):
                axes = KINDS[kind](found, axes=new_axes())
                assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()
                assert axes.get_ylim()[1] - axes.get_ylim()[0] < 100.0
                figures.save(axes, tmp_path / "picture.png")
                assert faults(axes) == []


@pytest.mark.parametrize("minimise", quick([False, True], [True]))
def test_all_arms_of_a_selection_are_leaders(tmp_path, minimise):
    path = tmp_path / "several.db"
    settings = {**EASY, "algorithm": "cc-lucb-k", "options": {"k": 3}, "minimise": minimise, "storage": path}
    found = search(draw, pull, **settings)
    assert found.stopped
    chosen = set(found.selection)
    assert len(chosen) == 3
    now = standing(path)
    bounds = [now.row(arm).upper if minimise else now.row(arm).lower for arm in chosen]
    expected = max(bounds) - 0.25 if minimise else min(bounds) + 0.25
    assert (now.selection, now.line, now.above) == (found.selection, pytest.approx(expected), ())
    outside = [now.row(arm).lower if minimise else now.row(arm).upper for arm in set(range(now.drawn)) - chosen]
    assert now.reach == now.others_at_best == (min(outside) if minimise else max(outside))
    axes = intervals(path, axes=new_axes())
    order = by_mean(now)
    assert {order[int(x) - 1] for x, _ in points(axes, LEADER)} == chosen
    assert look(axes, LINE).get_ydata() == pytest.approx([expected] * 2)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    first, second, third = found.selection
    assert f"the 3 chosen, arms {first}, {second} and {third}" in labels
    assert not any("beyond the line" in label or "the leader" in label for label in labels)
    assert {order[int(x) - 1] for x, _ in points(pulls(path, axes=new_axes()), LEADER)} == chosen
    title = claims_curve(path, axes=new_axes()).get_title(loc="left")
    assert f"arms {first}, {second} and {third} are each within" in " ".join(title.split())
    timed = race(path, axes=new_axes())
    assert look(timed, LINE).get_ydata()[-1] == pytest.approx(expected)
    for one in (axes, timed):
        assert faults(one) == []


@pytest.mark.parametrize("name", NAMES)
def test_pulls_are_those_of_every_arm(file, name):
    now = standing(file, name)
    axes = pulls(file, name, axes=new_axes())
    heights = np.nansum([one.get_data().values for one in axes.patches if hasattr(one, "get_data")], axis=0)
    np.testing.assert_array_equal(heights, now.pulls[by_mean(now)])
    assert heights.sum() == now.total
    assert axes.get_ylim()[1] > now.pulls.max()


def test_pulls_of_any_algorithm():
    found = Search(design("p2", 0.5, 0.9, 0.5))
    found.tell_many([(one, 1.0) for one in found.ask_many(7)])
    assert pulls(found, axes=new_axes()).get_title(loc="left") == "7 pulls of 1 arms: it is still running"
    for function in (intervals, race):
        with pytest.raises(ValueError, match=r"^source must come from an algorithm with bounds at any time, got 'p2'$"):
            function(found, axes=new_axes())


def test_a_moment_with_few_arms_is_not_all_arms(file):
    moment = timeline(file, "stopped", arms=2)[-1]
    with pytest.raises(ValueError, match=r"^source must describe all arms, got '2 of "):
        intervals(moment, axes=new_axes())
    with pytest.raises(ValueError, match=r"^rivals must be at most 4, got 5$"):
        race(file, "stopped", rivals=5)
