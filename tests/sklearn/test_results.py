"""The attributes of a fitted search: its scores, its bounds and its table of results."""

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB

from tests.support.known_models import TARGET, X, Y, fitted
from topalpha.execution import pull_generator


def test_attributes_are_consistent(iris):
    results, best = iris.cv_results_, iris.best_index_
    rows = len(results["params"])
    assert rows == iris.n_candidates_ == len(iris.scores_)
    assert {len(column) for column in results.values()} == {rows}
    assert results["params"][best] == iris.best_params_
    assert results["mean_test_score"][best] == iris.best_score_
    assert results["n_splits"].sum() == iris.n_fits_ == iris.certificate_.pulls
    assert iris.best_index_ == iris.certificate_.arm
    assert iris.certificate_.candidate == iris.best_params_
    assert iris.refit_time_ > 0.0
    assert not iris.multimetric_
    for scores, mean, deviation in zip(
        iris.scores_, results["mean_test_score"], results["std_test_score"], strict=True
    ):
        assert mean == pytest.approx(np.mean(scores), abs=1e-15)
        assert deviation == pytest.approx(np.std(scores), abs=1e-15)
    order = np.argsort(-results["mean_test_score"], kind="stable")
    assert results["rank_test_score"][order[0]] == 1
    assert (np.diff(results["rank_test_score"][order]) >= 0).all()
    assert (results["mean_fit_time"] > 0.0).all()
    assert (results["mean_score_time"] > 0.0).all()
    assert (results["std_fit_time"] >= 0.0).all()
    assert results["param_var_smoothing"].dtype == float


def test_bounds_agree_with_the_stop_and_with_the_certificate(iris):
    results, best = iris.cv_results_, iris.best_index_
    others = np.delete(results["upper_bound"], best)
    assert others.max() <= results["lower_bound"][best] + TARGET["epsilon"]
    assert iris.certificate_.at_worst == results["lower_bound"][best]
    assert iris.certificate_.others_at_best == others.max()
    assert (results["lower_bound"] <= results["mean_test_score"] + 1.0).all()


def test_scores_are_what_one_computes_by_hand(iris):
    """Split k of setting a: the generator of that pull gives the noise first, then the split."""
    for arm in (0, iris.best_index_):
        for number in (0, 3):
            rng = pull_generator(0, arm, number)
            rng.random()
            splitter = StratifiedShuffleSplit(1, test_size=0.2, random_state=RandomState(rng.bit_generator))
            train, test = next(splitter.split(X, Y))
            model = GaussianNB(**iris.cv_results_["params"][arm]).fit(X[train], Y[train])
            assert iris.scores_[arm][number] == pytest.approx(model.score(X[test], Y[test]), abs=1e-12)


def test_scores_are_exact_where_nothing_is_added():
    found = fitted({"mean": [0.25, 0.75], "noise": [0.0]}, bounds="low-variance", epsilon=0.3)
    for scores, settings in zip(found.scores_, found.cv_results_["params"], strict=True):
        assert (scores == settings["mean"]).all()
    assert found.best_params_["mean"] == 0.75
    assert found.certificate_.algorithm == "joint-lucb"


def test_whole_numbers_of_any_size_have_a_column():
    assert fitted({"mean": [0.1, 0.9], "kind": [2**70]}).cv_results_["param_kind"].tolist() == [2**70] * 2
