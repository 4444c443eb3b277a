"""Error rates against delta: exact intervals, beside the line."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from tests.support.drawn_studies import LAW, STUDIES, cut_off, study
from tests.support.pictures import bars, curves, faults, plain_looks
from topalpha import design, parse_reservoir, simulate
from topalpha.figures import errors, new_axes, sweep
from topalpha.figures.style import ALGORITHMS, LIMIT


def test_errors_have_exact_intervals_and_stand_beside_the_line():
    some = [study(delta=delta, wrong=wrong, runs=200) for delta, wrong in ((0.01, 0), (0.05, 3), (0.2, 30))]
    some += [study("joint-lucb", 0.2, wrong=200, runs=200)]
    axes = errors(some, axes=new_axes())
    drawn = bars(axes)
    floor = axes.get_ylim()[0]
    shift = 1.07**-0.5
    for (x, low, high), (delta, wrong) in zip(drawn, ((0.01, 0), (0.05, 3), (0.2, 30)), strict=False):
        exact = scipy.stats.beta.ppf(0.025, wrong, 201 - wrong) if wrong else floor
        assert (x, low, high) == pytest.approx(
            (delta * shift, exact, scipy.stats.beta.ppf(0.975, wrong + 1, 200 - wrong))
        )
    assert drawn[3] == pytest.approx((0.2 / shift, scipy.stats.beta.ppf(0.025, 200, 1), 1.0))
    line = curves(axes)[(LIMIT.colour, LIMIT.dash, "None")].get_xydata()
    assert line[0][0] == line[0][1]
    assert line[-1][0] == line[-1][1]
    hollow = [line for line in axes.lines if line.get_fillstyle() == "none" and len(line.get_xdata())]
    assert [one.get_xdata().tolist() for one in hollow] == [[pytest.approx(0.01 * shift)]]
    filled = [line for line in axes.lines if line.get_marker() == ALGORITHMS["cc-lucb"].marker and line not in hollow]
    assert filled[0].get_ydata().tolist() == [0.015, 0.15]


def test_runs_without_an_answer_are_neither_right_nor_wrong():
    law = parse_reservoir(LAW)
    none = simulate(design("cc-lucb", 0.1, 0.1, 0.05), law, runs=20, limit=60)
    assert (none.unfinished, none.errors.count) == (20, 0)
    axes = errors(none, axes=new_axes())
    assert len(bars(axes)) == 0, "nothing is known"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert not any("no error in any run" in label for label in labels)
    assert "crossed: 20 runs in all were cut off, and are left out" in labels
    (cross,) = [line for line in axes.lines if line.get_marker() == "x"]
    assert cross.get_xdata().tolist() == [pytest.approx(0.05)]
    assert faults(axes) == []
    some = cut_off(study(delta=0.2, wrong=10, runs=200), 100)
    axes = errors([some, study(delta=0.05, wrong=3, runs=200)], axes=new_axes())
    (_, rate) = next(line for line in axes.lines if line.get_marker() == ALGORITHMS["cc-lucb"].marker).get_ydata()
    assert rate == 0.1, "10 of the 100 that answered"
    low, high = bars(axes)[1][1:]
    assert (low, high) == pytest.approx((scipy.stats.beta.ppf(0.025, 10, 91), scipy.stats.beta.ppf(0.975, 11, 90)))
    (cross,) = [line for line in axes.lines if line.get_marker() == "x"]
    assert cross.get_xydata().tolist() == [[pytest.approx(0.2), 0.1]]
    assert len(set(plain_looks(axes))) == len(plain_looks(axes))


@pytest.mark.parametrize("deltas", [(0.01, 0.1), (0.1, 0.11, 0.8)])
def test_moved_points_are_measured_against_their_own_delta(deltas):
    names = ("cc-lucb", "joint-lucb", "lucb", "kl-lucb", "p2", "jhr", "bch")
    some = [study(name, delta, wrong=5) for name in names for delta in deltas]
    axes = errors(some, axes=new_axes())
    line = curves(axes)[(LIMIT.colour, LIMIT.dash, "None")].get_xydata()
    assert np.all(np.diff(line[:, 0]) > 0.0)
    places = np.sort([x for one in axes.lines for x in one.get_xdata() if one.get_marker() == "_"])
    expected = np.repeat(deltas, len(names))
    np.testing.assert_allclose(np.interp(places, *line.T), expected, rtol=1e-12)
    assert len(set(places)) == len(places)
    assert np.all(np.abs(np.log(places / expected)) < 0.5 * np.log(1.6) + 1e-9)
    assert axes.get_xlim()[1] > places[-1]


def test_errors_without_any_and_of_a_single_study():
    axes = errors(study(runs=50), axes=new_axes())
    assert faults(axes) == []
    assert axes.get_ylim()[0] > 0.0
    axes = errors([study(), study(epsilon=0.2, reservoir="beta(1,2)")], axes=new_axes())
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[:2] == ["cc-lucb, Beta(1,1) up to 0.8, ε = 0.1", "cc-lucb, Beta(1,2), ε = 0.2"]
    with pytest.raises(ValueError, match=r"^studies must be a Study or several, got None$"):
        errors(None, axes=new_axes())


@pytest.mark.parametrize("function", [sweep, errors])
def test_studies_are_legible(function):
    axes = function(STUDIES, axes=new_axes())
    assert faults(axes) == []
    assert len(set(plain_looks(axes))) == len(plain_looks(axes))
