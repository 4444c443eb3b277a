"""Laws and lists of settings: grids, samplers, and their words."""

import numpy as np
import pytest
from scipy.stats import uniform

from tests.support.known_models import fitted
from topalpha.sklearn.distributions import MOST_LISTED, Grid, Sampler, in_words, pool


def test_large_grids_are_drawn_from_with_replacement():
    wide = {name: range(20) for name in "abcd"}
    assert MOST_LISTED < 20**4
    assert isinstance(pool(wide), Sampler)
    assert isinstance(pool({name: range(10) for name in "abcd"}), Grid)


def test_several_dictionaries():
    law = [{"mean": [0.1]}, {"mean": uniform(0.5, 0.1), "noise": [0.2]}]
    drawn = [pool(law)(np.random.default_rng(seed)) for seed in range(40)]
    assert {tuple(sorted(one)) for one in drawn} == {("mean",), ("mean", "noise")}
    assert in_words(law) == "mean from [0.1]; or mean from uniform(0.5, 0.1), noise from [0.2]"
    found = fitted(law)
    assert found.cv_results_["param_noise"].mask.any()


def test_grid_has_every_combination_once():
    grid = Grid([{"a": np.array([1, 2]), "b": [None]}, {"a": [3]}])
    assert list(grid) == [{"a": 1, "b": None}, {"a": 2, "b": None}, {"a": 3}]
    assert grid[1:] == [{"a": 2, "b": None}, {"a": 3}]
    assert type(grid[0]["a"]) is int
    with pytest.raises(IndexError):
        grid[3]
