"""The picture of a duel: the interval is the duel's own, and only duels have one."""

import numpy as np
import pytest

from topalpha import duel, search
from topalpha.figures import difference, new_axes
from topalpha.figures.difference import advantages
from topalpha.standing import origin_of


def divides(divisor, number):
    return number % divisor == 0


@pytest.mark.parametrize("margin", [None, 0.1])
def test_the_interval_ends_where_the_verdict_says(margin, tmp_path):
    how = {"margin": margin, "seed": 0, "progress": "none", "storage": tmp_path / "one.db"}
    found = duel(2, 3, range(1, 121), divides, **how)
    for source in (found, tmp_path / "one.db"):
        axes = difference(source, axes=new_axes())
        (area,) = axes.collections
        ends = np.array([point for path in area.get_paths() for point in path.vertices])
        last = ends[ends[:, 0] == ends[:, 0].max()][:, 1]
        assert (last.min(), last.max()) == pytest.approx(found.interval, abs=0.0021)
        assert ("margin = 0.1" if margin else "ε = 0.05") in [text.get_text() for text in axes.get_legend().get_texts()]


def test_bounds_are_those_of_the_duel_at_every_moment():
    found = duel(2, 3, range(1, 61), divides, seed=1, epsilon=0.001, progress="none")
    search_of = origin_of(found).present()
    algorithm, history = search_of.algorithm, search_of.history
    apart = algorithm.differences(history, 0, 1)
    path = advantages(apart, algorithm.parts(0), algorithm.needed, 60)
    assert (np.diff(path[:-1]) <= 0.0).all()
    assert path[-1] == pytest.approx(algorithm.advantage(history, 0), abs=0.0021)


def test_another_search_has_no_difference():
    other = search([0.2, 0.8], lambda mean, rng: float(rng.random() < mean), alpha=0.5, epsilon=0.3, progress="none")
    with pytest.raises(ValueError, match="source must be a duel, got 'joint-lucb'"):
        difference(other, axes=new_axes())
