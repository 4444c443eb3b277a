"""Methods that a fitted search hands on to the estimator that it found."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.support.known_models import SMOOTHING, TARGET, X, Y
from topalpha.sklearn import TopAlphaSearchCV


def test_methods_of_the_estimator_found(iris):
    inner = iris.best_estimator_
    assert np.array_equal(iris.predict(X), inner.predict(X))
    assert np.array_equal(iris.predict_proba(X), inner.predict_proba(X))
    assert np.array_equal(iris.predict_log_proba(X), inner.predict_log_proba(X))
    assert iris.score(X, Y) == inner.score(X, Y)
    assert np.array_equal(iris.classes_, [0, 1, 2])
    assert iris.n_features_in_ == 4
    for name in ("decision_function", "transform", "inverse_transform", "score_samples"):
        assert not hasattr(iris, name)


def test_transformers_and_densities():
    search = TopAlphaSearchCV(PCA(1), {"whiten": [True, False]}, **TARGET).fit(X)
    assert np.array_equal(search.transform(X), search.best_estimator_.transform(X))
    assert np.array_equal(search.score_samples(X), search.best_estimator_.score_samples(X))
    assert np.allclose(
        search.inverse_transform(search.transform(X)), search.best_estimator_.inverse_transform(search.transform(X))
    )
    assert not hasattr(search, "predict")


def test_nothing_is_handed_on_before_fit_or_without_refit():
    search = TopAlphaSearchCV(GaussianNB(), SMOOTHING, **TARGET)
    with pytest.raises(NotFittedError):
        search.predict(X)
    assert not hasattr(search, "n_features_in_")
    bare = TopAlphaSearchCV(GaussianNB(), SMOOTHING, refit=False, **TARGET).fit(X, Y)
    assert bare.best_score_ > 0.85
    assert not hasattr(bare, "best_estimator_")
    assert not hasattr(bare, "predict")
    with pytest.raises(AttributeError, match="has no attribute 'predict'") as error:
        bare.predict(X)
    assert str(error.value.__cause__) == "predict must have an estimator fitted on all rows, got refit=False"
    with pytest.raises(AttributeError, match="the search must have an estimator fitted on all rows"):
        bare.score(X, Y)


def test_in_a_pipeline_around_one_and_nested():
    inside = make_pipeline(StandardScaler(), GaussianNB())
    around = TopAlphaSearchCV(inside, {"gaussiannb__var_smoothing": loguniform(1e-9, 1e3)}, **TARGET).fit(X, Y)
    assert around.best_params_["gaussiannb__var_smoothing"] < 5.0
    last = make_pipeline(StandardScaler(), TopAlphaSearchCV(GaussianNB(), SMOOTHING, **TARGET)).fit(X, Y)
    assert last.score(X, Y) > 0.85
    copy = clone(last).set_params(topalphasearchcv__max_fits=12)
    assert copy[-1].get_params()["alpha"] == 0.3
    assert cross_val_score(copy, X, Y, cv=2).min() > 0.7


def test_estimators_as_settings():
    steps = make_pipeline(StandardScaler(), GaussianNB())
    law = {"gaussiannb": [GaussianNB(var_smoothing=1e3), LinearDiscriminantAnalysis()]}
    search = TopAlphaSearchCV(steps, law, **TARGET).fit(X, Y)
    assert isinstance(search.best_params_["gaussiannb"], LinearDiscriminantAnalysis)
    assert search.best_estimator_[-1] is not law["gaussiannb"][1]
