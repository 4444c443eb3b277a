"""TopAlphaSearchCV: what it finds, in cases that can be worked out by hand."""

import time

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.stats import loguniform, uniform
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from tests.support.known_models import ROWS, TARGET, Known, X, Y, fitted
from topalpha import search as plain_search
from topalpha.sklearn import TopAlphaSearchCV
from topalpha.sklearn.distributions import Grid


class Slow(Known):
    """Takes its time."""

    def fit(self, X, y=None):
        time.sleep(0.02)
        return super().fit(X, y)


def test_it_stops_by_itself_with_a_good_setting(iris):
    assert iris.certificate_.proved
    assert iris.best_params_["var_smoothing"] < 1.0
    assert iris.best_score_ > 0.85
    assert cross_val_score(iris.best_estimator_, X, Y).mean() > 0.85


def test_the_same_search_by_hand():
    """With nothing but topalpha.search: the same seed, pool, pull and algorithm give the same search."""
    found = fitted({"mean": [0.2, 0.5, 0.9], "noise": [0.1]}, bounds="bernoulli", epsilon=0.3)

    def pull(settings, rng):
        test = RandomState(rng.bit_generator).permutation(60)[:12]  # as ShuffleSplit does
        return settings["mean"] + settings["noise"] * float(ROWS[test].mean() - ROWS.mean())

    listed = Grid({"mean": [0.2, 0.5, 0.9], "noise": [0.1]})
    by_hand = plain_search(listed, pull, alpha=0.3, epsilon=0.3, delta=0.1, seed=0, progress="none")
    assert (found.best_params_, found.best_index_, found.n_fits_) == (by_hand.candidate, by_hand.arm, by_hand.pulls)
    assert found.best_score_ == pytest.approx(by_hand.mean, abs=1e-12)


def test_settings_whose_scores_are_all_equal_are_told_apart():
    """A classifier that predicts the majority on stratified splits has no deviation at all; noise gives it bounds."""
    found = fitted({"mean": [0.1, 0.5, 0.9], "noise": [0.0]})
    assert found.certificate_.proved
    assert found.best_params_["mean"] == 0.9
    assert found.cv_results_["mean_test_score"].tolist() == pytest.approx(found.cv_results_["param_mean"].tolist())
    assert found.cv_results_["std_test_score"] == pytest.approx(np.zeros(3), abs=1e-12)
    endless = fitted({"mean": [0.1, 0.5, 0.9], "noise": [0.0]}, dither=0.0, max_fits=100)
    assert not endless.certificate_.proved


def test_one_setting_needs_one_fit():
    found = fitted({})
    assert (found.n_fits_, found.n_candidates_, found.best_params_) == (1, 1, {})
    assert found.certificate_.proved


def test_a_list_is_drawn_without_replacement_and_the_claim_is_about_it():
    values = [round(0.01 * place, 2) for place in range(40)]
    found = fitted({"mean": values, "noise": [0.05]}, alpha=0.1, epsilon=0.05)
    drawn = [settings["mean"] for settings in found.cv_results_["params"]]
    assert len(drawn) == len(set(drawn)) < 40
    assert found.best_params_["mean"] >= 0.31
    assert "the list of 40 settings of Known" in found.certificate_.law
    assert "over random splits of this data set (12 of its 60 rows held out)" in found.certificate_.law
    assert any("in an order drawn at random" in one for one in found.certificate_.assumptions)


def test_the_certificate_says_what_is_assumed(iris):
    certificate = iris.certificate_
    assert any("Rewards are normal" in one for one in certificate.assumptions)
    assert any("different candidates are independent" in one for one in certificate.assumptions)
    assert "var_smoothing from loguniform(1e-09, 1000.0)" in certificate.statement
    assert "random splits stratified by class of this data set (30 of its 150 rows held out)" in certificate.statement


def test_a_budget_ends_it_early_and_the_certificate_says_so():
    found = fitted({"mean": uniform(0.0, 1.0)}, max_fits=12)
    assert found.n_fits_ == 12
    assert not found.certificate_.proved
    assert "the budget of pulls was spent" in found.certificate_.statement
    assert hasattr(found, "best_estimator_")
    late = TopAlphaSearchCV(Slow(), {"mean": uniform(0.0, 1.0)}, **TARGET, max_seconds=0.2).fit(ROWS)
    assert late.certificate_.reason == "seconds"


def test_regression_scores_have_no_range():
    features, target = make_regression(80, 5, noise=10.0, random_state=0)
    search = TopAlphaSearchCV(Ridge(), {"alpha": loguniform(1e-2, 1e4)}, **TARGET).fit(features, target)
    assert search.certificate_.proved
    assert search.best_score_ > 0.9
    errors = TopAlphaSearchCV(
        Ridge(), {"alpha": loguniform(1e-2, 1e4)}, scoring="neg_mean_squared_error", **{**TARGET, "epsilon": 500.0}
    ).fit(features, target)
    assert errors.certificate_.proved
    assert errors.best_score_ < 0.0
    assert "neg_mean_squared_error" in errors.certificate_.law
