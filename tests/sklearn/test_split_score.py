"""One fit on one split: which split it is, the random state, weights of rows, and fits that fail."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.tree import DecisionTreeClassifier

from tests.support.known_models import ROWS, TARGET, Failing, X, Y, fitted
from topalpha.execution import common_generator, place_of, pull_generator
from topalpha.sklearn import TopAlphaSearchCV


class Weighted(ClassifierMixin, BaseEstimator):
    """Its score is the weight per row that it was fitted with."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.weight_ = float(np.mean(sample_weight)) if sample_weight is not None else 0.0
        self.rows_ = len(X)
        assert sample_weight is None or len(sample_weight) == len(X)
        return self

    def score(self, X, y=None, sample_weight=None):
        return self.factor * self.weight_


@pytest.mark.parametrize("splits", ["own", "shared"])
def test_splits_are_shared_or_not(splits):
    """The noise of a score is that of its split: with shared splits it is the same for every setting."""
    found = fitted({"mean": [0.0, 1.0, 2.0], "noise": [1.0]}, splits=splits, epsilon=0.5)
    means = found.cv_results_["param_mean"].tolist()
    count = min(map(len, found.scores_))
    noise = np.array([scores[:count] - mean for scores, mean in zip(found.scores_, means, strict=True)])
    assert (np.abs(noise - noise[0]).max() < 1e-9) == (splits == "shared")
    assert len(set(np.round(noise[0], 9))) == count  # and from split to split it differs
    assert found.certificate_.algorithm == {"own": "cc-lucb", "shared": "lucb++"}[splits]
    dependent = any("different candidates are independent" in one for one in found.certificate_.assumptions)
    assert dependent == (splits == "own")


def test_shared_splits_are_refused_where_no_proof_allows_them():
    with pytest.raises(ValueError, match="algorithm must allow shared splits"):
        fitted({"mean": [0.0, 1.0]}, splits="shared", algorithm="cc-lucb")
    assert fitted({"mean": [0.0, 1.0]}, splits="own", algorithm="lucb++").certificate_.algorithm == "lucb++"


def test_generators_of_pulls():
    one, other = pull_generator(3, 0, 5), pull_generator(3, 8, 5)
    assert (place_of(one), place_of(other)) == ((0, 5), (8, 5))
    assert common_generator(one).random() == common_generator(other).random()
    assert common_generator(one).random() != common_generator(pull_generator(3, 0, 6)).random()
    assert common_generator(one).random() != common_generator(pull_generator(4, 0, 5)).random()
    assert one.random() != other.random()


def test_fits_without_a_random_state_get_one_each():
    """A tree's own random choices are the pull's: the same whenever it is fitted again, another for the next fit."""
    search = TopAlphaSearchCV(DecisionTreeClassifier(max_features=1), {"max_depth": [1, 2]}, **TARGET)
    one, two = search.fit(X, Y).scores_, clone(search).fit(X, Y).scores_
    assert all(np.array_equal(left, right) for left, right in zip(one, two, strict=True))
    assert search.best_estimator_.random_state is None


def test_all_fits_fail():
    with pytest.raises(ValueError, match=r"All the \d+ fits failed"):
        TopAlphaSearchCV(Failing(kind="fit"), {"mean": [0.1, 0.9]}, **TARGET, error_score=0.0).fit(ROWS)


def failing(**arguments):
    law = {"kind": ["fit", "", "nan"], "mean": [0.5], "noise": [0.1]}
    return TopAlphaSearchCV(Failing(), law, **{**TARGET, **arguments})


def test_a_failing_fit_is_an_error_unless_a_number_counts_for_it():
    with pytest.raises((RuntimeError, ValueError), match=r"no fit today|score must be finite") as error:
        failing().fit(ROWS)
    assert "This was split 0 of {" in error.value.__notes__[0]
    with pytest.warns(FitFailedWarning, match="fits failed or had no finite score, and count as 0.0"):
        found = failing(error_score=0.0).fit(ROWS)
    assert found.best_params_["kind"] == ""
    assert found.certificate_.proved
    assert "a fit that fails counting as 0.0" in found.certificate_.law
    means = dict(zip(found.cv_results_["param_kind"], found.cv_results_["mean_test_score"], strict=True))
    assert means["fit"] == pytest.approx(0.0, abs=1e-12)
    assert means["nan"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("value", "message"), [(float("nan"), "error_score"), ("drop", "error_score"), (2.0, "score")])
def test_error_scores_that_cannot_count(value, message):
    with pytest.raises(ValueError, match=f"{message} must be"):
        failing(error_score=value, bounds="bernoulli").fit(ROWS)


def test_a_parameter_that_does_not_exist_is_an_error_whatever_counts():
    with pytest.raises(ValueError, match="Invalid parameter 'meen'"):
        fitted({"meen": [1.0]}, error_score=0.0)


def test_scores_outside_the_range_end_the_search():
    with pytest.raises(
        ValueError, match=r"score must be valid for bounds='low-variance', got 3.0; if scores lie between"
    ):
        fitted({"mean": [3.0], "noise": [0.0]}, bounds="low-variance")
    found = fitted({"mean": [3.0, 1.0]}, bounds="low-variance(-10,10)", epsilon=2.0)
    assert found.best_params_ == {"mean": 3.0}


def test_sample_weights_are_split_with_the_rows():
    weights = np.full(150, 3.0)
    search = TopAlphaSearchCV(Weighted(), {"factor": [0.1, 0.2]}, **TARGET).fit(X, Y, sample_weight=weights)
    assert search.best_params_ == {"factor": 0.2}
    assert search.best_score_ == pytest.approx(0.6)
    assert search.best_estimator_.weight_ == 3.0
    assert search.best_estimator_.rows_ == 150
    with pytest.raises(ValueError, match="parameters must not be given to score unless metadata routing"):
        search.score(X, Y, sample_weight=weights)


def test_metadata_routing_reaches_worker_threads():
    weights = np.full(150, 3.0)
    with config_context(enable_metadata_routing=True):
        inner = Weighted().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = TopAlphaSearchCV(inner, {"factor": [0.1, 0.2]}, n_jobs=2, **TARGET)
        assert search.fit(X, Y, sample_weight=weights).best_score_ == pytest.approx(0.6)
        deaf = TopAlphaSearchCV(Weighted(), {"factor": [0.1]}, **TARGET)
        with pytest.raises(Exception, match="sample_weight"):
            deaf.fit(X, Y, sample_weight=weights)
