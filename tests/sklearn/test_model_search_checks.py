"""scikit-learn's own checks of estimators, all of them: none is expected to fail."""

import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator, parametrize_with_checks

from topalpha.sklearn import TopAlphaSearchCV

TARGET = {"alpha": 0.5, "epsilon": 5.0, "delta": 0.2, "max_fits": 3}
CLASSIFIER = TopAlphaSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, **TARGET)
REGRESSOR = TopAlphaSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, **TARGET)
#: Checks that are expected to fail, with reasons: there are none.
EXPECTED: dict[str, str] = {}
#: Checks that need what is not installed here, or switched on by an environment variable.
NOT_HERE = {"check_array_api_input", "check_classifier_data_not_an_array", "check_regressor_data_not_an_array"}
#: How many there were when this was written, with scikit-learn 1.9.
CHECKS = {"classifier": 55, "regressor": 53}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, within scikit-learn: log(0), a cast of inf
@parametrize_with_checks([CLASSIFIER, REGRESSOR], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("kind", "search"), [("classifier", CLASSIFIER), ("regressor", REGRESSOR)])
def test_all_checks_are_run(kind, search):
    names = [getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(search)]
    assert len(names) >= CHECKS[kind]
    assert sum(name not in NOT_HERE for name in names) >= CHECKS[kind] - 2
    assert {"check_fit_idempotent", "check_estimators_pickle", "check_estimators_nan_inf"} <= set(names)


def test_negative_control_checks_can_fail():
    class Careless(TopAlphaSearchCV):
        def fit(self, X, y=None, **params):
            self.alpha = 0.4  # a parameter must not change in fit
            return super().fit(X, y, **params)

    found = check_estimator(Careless(Ridge(), {"alpha": [0.1]}, **TARGET), on_fail=None, on_skip=None)
    assert any(one["status"] == "failed" for one in found)
