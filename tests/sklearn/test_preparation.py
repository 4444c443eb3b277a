"""What a search for models refuses before its first fit."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from tests.support.known_models import SMOOTHING, TARGET, X, Y, fitted
from topalpha.sklearn import TopAlphaSearchCV


def test_refit_is_yes_or_no():
    with pytest.raises(ValueError, match="refit must be True or False, got 'accuracy'"):
        fitted({"mean": [0.1, 0.9]}, refit="accuracy")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 1.5}, "alpha must lie strictly between 0 and 1, got 1.5"),
        ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0.0"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1, got 0.0"),
        ({"splits": "mine"}, "splits must be one of own, shared, got 'mine'"),
        ({"bounds": "laplace"}, "bounds must be one of low-variance(lo,hi),"),
        ({"bounds": "gamma"}, "bounds must give its shape, got 'gamma'"),
        ({"bounds": "range(1,0)"}, "bounds must have a finite range with lo below hi, got 'range(1,0)'"),
        ({"bounds": None}, "bounds must be text, got None"),
        ({"algorithm": "joint-lucb"}, "bounds must have evidence that joins other arms' for joint-lucb"),
        ({"dither": -1.0}, "dither must be 'auto', 0 or a positive number, got -1.0"),
        ({"dither": 0.1, "bounds": "bernoulli"}, "dither must be 0 or 'auto' with these bounds, got 0.1"),
        ({"algorithm": "best"}, "algorithm must be one of"),
        ({"scoring": ["accuracy", "f1"]}, "scoring must be one metric"),
        ({"executor": "cloud"}, "executor must be threads, processes"),
        ({"max_fits": 0}, "max_fits must be a whole number of at least 1, got 0"),
        ({"max_fits": -1}, "max_fits must be a whole number of at least 1, got -1"),
        ({"max_fits": 2.5}, "max_fits must be a whole number of at least 1, got 2.5"),
        ({"max_seconds": 0}, "max_seconds must be positive, got 0"),
        ({"max_seconds": "1 h"}, "max_seconds must be a real number, got '1 h'"),
        ({"n_jobs": "a"}, "n_jobs must be None or a whole number other than 0, got 'a'"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
        ({"n_jobs": True}, "n_jobs must be None or a whole number other than 0, got True"),
        ({"storage": 3}, "storage must be the name of a file, got 3"),
        ({"storage": b"search.db"}, "storage must be the name of a file, got b'search.db'"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
        ({"test_size": 60}, "test_size=60 should be"),
        ({"test_size": 1.5}, "test_size=1.5 should be"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is compared
        fitted({"mean": [0.0, 1.0]}, **arguments)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("arguments", [{"n_jobs": "a"}, {"max_fits": 0}, {"bounds": "laplace"}, {"max_seconds": -1}])
def test_bad_input_leaves_no_file(arguments, tmp_path):
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} must"):
        fitted({"mean": [0.0, 1.0]}, storage=tmp_path / "search.db", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_pool_is_an_error():
    with pytest.raises(ValueError, match="param_distributions must hold at least one dictionary, got an empty list"):
        fitted([])
    for law in ({"mean": []}, {"mean": [], "noise": uniform()}):
        with pytest.raises(ValueError, match="Parameter grid for parameter 'mean' need to be a non-empty sequence"):
            fitted(law)
    with pytest.raises(TypeError, match="is not iterable or a distribution"):
        fitted({"mean": 3.0})
    with pytest.raises(TypeError, match="Parameter distribution is not a dict"):
        fitted(3)


def test_data_that_cannot_be_split_or_fitted_get_the_usual_errors():
    search = TopAlphaSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, **TARGET)
    holes = X.copy()
    holes[:, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        search.fit(holes, Y)
    with pytest.raises(ValueError, match="at least 2 classes"):
        search.fit(X, np.zeros(150))
    with pytest.raises(ValueError, match=r"least populated class.* in y ha.* only 1 member"):
        search.fit(X[:6], [0, 0, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        search.fit(X, Y[:10])
    with pytest.raises(ValueError, match="n_samples=1"):
        search.fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        search.fit(X)
    with pytest.raises(ValueError, match="groups must be left out"):
        search.fit(X, Y, groups=np.arange(150))


def test_several_metrics_from_one_callable_are_refused():
    def both(estimator, X, y):
        return {"one": 0.5, "other": 0.5}

    with pytest.raises(ValueError, match="scoring must give one score"):
        TopAlphaSearchCV(GaussianNB(), SMOOTHING, scoring=both, **TARGET).fit(X, Y)
