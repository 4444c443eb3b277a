"""Data frames: what scikit-learn's users hand over gives the results of the bare numbers, and keeps its names."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from topalpha.sklearn import BanditAdaBoostClassifier, TopAlphaSearchCV

pandas = pytest.importorskip("pandas")

X, Y = load_iris(return_X_y=True)
FRAME = pandas.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
NAMES = pandas.Series(np.array(["setosa", "versicolor", "virginica"])[Y])
TARGET = {"alpha": 0.3, "epsilon": 0.2, "delta": 0.1, "random_state": 0}
SETTINGS = {"var_smoothing": loguniform(1e-9, 1e3)}


def test_boosting_on_a_frame_is_boosting_on_its_numbers():
    plain = BanditAdaBoostClassifier(10, random_state=0).fit(X, Y)
    framed = BanditAdaBoostClassifier(10, random_state=0).fit(FRAME, NAMES)
    assert list(framed.feature_names_in_) == list(FRAME.columns)
    assert framed.estimators_ == plain.estimators_
    said = framed.classes_[plain.predict(X)]
    assert (framed.predict(FRAME) == said).all()
    with pytest.raises(ValueError, match="feature names"):
        framed.predict(FRAME[FRAME.columns[::-1]])


def test_model_search_on_a_frame_is_that_on_its_numbers():
    model = GaussianNB()
    plain = TopAlphaSearchCV(model, SETTINGS, **TARGET).fit(X, Y)
    framed = TopAlphaSearchCV(model, SETTINGS, **TARGET).fit(FRAME, pandas.Series(Y))
    assert framed.best_params_ == plain.best_params_
    assert framed.certificate_.pulls == plain.certificate_.pulls
    assert list(framed.feature_names_in_) == list(FRAME.columns)
    table = pandas.DataFrame(framed.cv_results_)
    assert len(table) == framed.certificate_.arms
    assert table.loc[framed.best_index_, "param_var_smoothing"] == framed.best_params_["var_smoothing"]


def test_columns_reach_the_estimator_by_name():
    frame = FRAME.assign(kind=np.where(X[:, 0] > 5.8, "long", "short"))
    columns = make_column_transformer((StandardScaler(), ["petal length"]), (OneHotEncoder(), ["kind"]))
    model = make_pipeline(columns, GaussianNB())
    search = TopAlphaSearchCV(model, {"gaussiannb__var_smoothing": loguniform(1e-9, 1e3)}, **TARGET).fit(frame, Y)
    assert search.certificate_.proved
    assert search.score(frame, Y) > 0.85
