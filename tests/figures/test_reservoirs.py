"""The picture of a reservoir: its distribution function and its blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from tests.support.marks import quick
from tests.support.pictures import curves, faults
from topalpha import parse_reservoir
from topalpha.figures import new_axes, reservoir
from topalpha.figures.style import LINE
from topalpha.reservoirs import Scipy


def test_the_partition_of_a_uniform_law_is_even():
    axes = reservoir("uniform(0,1)", 0.25, 0.1, axes=new_axes())
    segments = [one.get_segments() for one in axes.collections if hasattr(one, "get_segments")]
    across = sorted(tuple(line[:, 0]) + tuple(line[:, 1]) for part in segments for line in part if len(line) == 2)
    # From the axis to the curve at 1 - i/4, and down to the boundary b_i = 1 - i/4.
    expected = [(0.0, x, x, x) for x in (0.25, 0.5, 0.75)] + [(x, x, 0.0, x) for x in (0.25, 0.5, 0.75)]
    np.testing.assert_allclose(across, sorted(expected))
    graph = curves(axes)[("black", "-", "None")].get_xydata()
    np.testing.assert_allclose(graph[:, 0], graph[:, 1])
    edge = next(line for line in axes.lines if line.get_linestyle() == LINE.dash)
    assert edge.get_xdata() == pytest.approx([0.65, 0.65])
    assert [text for text in map(lambda one: one.get_text(), axes.texts) if "S" in text] == [
        f"$S^{{{block}}}$" for block in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize("law", ["beta(1,2)", "mixture(0.7*uniform(0,0.4),0.3*dirac(0.8))", "two-point(0.2,0.6,0.1)"])
def test_the_graph_of_any_law_is_its_distribution_function(law):
    reading = parse_reservoir(law)
    axes = reservoir(law, 0.15, axes=new_axes())
    graph = curves(axes)[("black", "-", "None")].get_xydata()
    for x, height in graph[1:-1:37]:
        assert reading.cdf_left(x) - 1e-9 <= height <= reading.cdf(x) + 1e-9
    assert np.all(np.diff(graph, axis=0) >= 0.0)
    assert faults(axes) == []


@pytest.mark.parametrize("alpha", quick([0.3, 0.05, 0.001], [0.05]))
@pytest.mark.parametrize(
    "law", ["dirac(0.5)", "discrete(0.1,0.2,0.3)", "beta(0.5,8)", Scipy(scipy.stats.norm(0.0, 1.0))]
)
def test_laws_with_atoms_without_ends_and_many_blocks_are_legible(law, alpha):
    axes = reservoir(law, alpha, 0.05, axes=new_axes())
    assert faults(axes) == []
    assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()
    assert len(axes.get_children()) < 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((3, 0.1), r"law must be a Reservoir or the text of one, got 3"),
        (("beta(1,2)", 2.0), r"alpha must lie strictly between 0 and 1, got 2\.0"),
        (("beta(1,2)", 0.1, -1.0), r"epsilon must be non-negative and finite, got -1\.0"),
        (("beta(1;2)",), r"reservoir must consist of names"),
    ],
)
def test_wrong_laws_and_targets_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        reservoir(*arguments, axes=new_axes())


def test_blocks_that_are_not_shown_are_counted():
    title = reservoir("beta(1,2)", 0.001, axes=new_axes()).get_title(loc="left")
    assert title.replace("\n", " ").endswith("cut into 1,000 blocks of measure α = 0.001; the top 40 are shown")
    assert "shown" not in reservoir("beta(1,2)", 0.05, axes=new_axes()).get_title(loc="left")
