"""Data frames: what scikit-learn's users hand over gives the results of the bare numbers, and keeps its names."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from topalpha import search, select
from topalpha.sklearn import BanditAdaBoostClassifier, TopAlphaSearchCV

pandas = pytest.importorskip("pandas")

X, Y = load_iris(return_X_y=True)
FRAME = pandas.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
NAMES = pandas.Series(np.array(["setosa", "versicolor", "virginica"])[Y])
TARGET = {"alpha": 0.3, "epsilon": 0.2, "delta": 0.1, "random_state": 0}
SETTINGS = {"var_smoothing": loguniform(1e-9, 1e3)}


@pytest.mark.parametrize(
    "examples", [FRAME, FRAME.set_axis(range(4), axis=1), FRAME["sepal width"]], ids=["named", "numbered", "series"]
)
def test_examples_are_had_by_place_and_not_by_label(examples):
    words = "must be a list: of a data frame its rows, such as frame.to_dict('records'), got "
    kind = type(examples).__name__
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is compared
        select([1, 2], examples, lambda candidate, example: True)
    assert str(error.value) == f"examples {words}{kind!r}"
    with pytest.raises(ValueError) as error:  # noqa: PT011
        search([1, 2], lambda candidate, item: 1.0, items=examples)
    assert str(error.value) == f"items {words}{kind!r}"


def test_the_rows_of_a_frame_are_examples():
    rows = FRAME.to_dict("records")
    chosen = select([2.0, 5.0, 9.0], rows, lambda least, row: row["sepal length"] > least, epsilon=0.2)
    assert chosen.candidate == 2.0


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


@pytest.mark.slow
def test_columns_reach_the_estimator_by_name():
    frame = FRAME.assign(kind=np.where(X[:, 0] > 5.8, "long", "short"))
    columns = make_column_transformer((StandardScaler(), ["petal length"]), (OneHotEncoder(), ["kind"]))
    model = make_pipeline(columns, GaussianNB())
    search = TopAlphaSearchCV(model, {"gaussiannb__var_smoothing": loguniform(1e-9, 1e3)}, **TARGET).fit(frame, Y)
    assert search.certificate_.proved
    assert search.score(frame, Y) > 0.85
