"""BanditAdaBoostClassifier: AdaBoost's formulas, repeatable fits, and the words for bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

from tests.support.boosted import Projections, blobs, fitted
from tests.support.marks import quick
from topalpha.sklearn import BanditAdaBoostClassifier


@pytest.mark.parametrize("question", quick(["edge", "best"], ["edge"]))
@pytest.mark.parametrize("kinds", [2, 3])
def test_it_learns(question, kinds):
    X, y = blobs(kinds=kinds)
    model = BanditAdaBoostClassifier(40, question=question, random_state=1).fit(X, y)
    assert model.score(X, y) > (0.88 if kinds == 2 else 0.75)
    assert all(one.proved for one in model.certificates_)
    assert all(one.question == question for one in model.certificates_)
    lengths = (model.estimators_, model.estimator_weights_, model.estimator_errors_, model.edges_, model.pulls_)
    assert {len(one) for one in (*lengths, model.certificates_)} == {40}
    assert (model.edges_ > 0.0).all()


def test_scores_are_samme_s():
    """Votes of the stumps added up the long way."""
    for kinds in (2, 3):
        X, y = blobs(kinds=kinds)
        labels = np.array(["low", "mid", "top"])[y]
        model = BanditAdaBoostClassifier(12, random_state=2).fit(X, labels)
        scores = np.zeros((len(X), kinds))
        for stump, weight in zip(model.estimators_, model.estimator_weights_, strict=True):
            for row in range(len(X)):
                said = stump.left if X[row, stump.feature] <= stump.cut else stump.right
                for kind in range(kinds):
                    scores[row, kind] += weight if kind == said else -weight / (kinds - 1)
        scores /= model.estimator_weights_.sum()
        decision = model.decision_function(X)
        assert decision == pytest.approx(scores[:, 1] - scores[:, 0] if kinds == 2 else scores)
        assert (model.predict(X) == model.classes_[np.argmax(scores, axis=1)]).all()
        odds = np.exp(scores / (kinds - 1.0))
        assert model.predict_proba(X) == pytest.approx(odds / odds.sum(axis=1, keepdims=True))
        assert np.exp(model.predict_log_proba(X)) == pytest.approx(model.predict_proba(X))


def test_probabilities_are_those_of_scikit_learn_s_adaboost():
    """The same votes give the same probabilities there."""
    from sklearn.ensemble import AdaBoostClassifier

    model, X, _ = fitted()
    other = AdaBoostClassifier(n_estimators=1).fit(X[:50], (X[:50, 0] > 0).astype(int))
    expected = other._compute_proba_from_decision(model.decision_function(X), 2)
    assert model.predict_proba(X) == pytest.approx(expected)


@pytest.mark.parametrize("kinds", [2, 3])
def test_stages_end_where_the_prediction_is(kinds):
    X, y = blobs(kinds=kinds)
    model = BanditAdaBoostClassifier(9, random_state=3).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == len(model.estimators_)
    assert (stages[-1] == model.decision_function(X)).all()
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    assert (list(model.staged_predict_proba(X))[-1] == model.predict_proba(X)).all()
    first = clone(model).set_params(n_estimators=1).fit(X, y)
    assert (stages[0] == first.decision_function(X)).all()


def test_the_same_seed_gives_the_same_model():
    one, X, _ = fitted(seed=4)
    two, _, _ = fitted(seed=4)
    three, _, _ = fitted(seed=5)
    assert one.estimators_ == two.estimators_
    assert (one.estimator_weights_ == two.estimator_weights_).all()
    assert one.certificates_ == two.certificates_
    assert one.estimators_ != three.estimators_
    again = pickle.loads(pickle.dumps(one))
    assert (again.decision_function(X) == one.decision_function(X)).all()


@pytest.mark.slow  # two loops for each width of the numbers
def test_neither_layout_nor_width_of_the_numbers_matters():
    X, y = blobs()
    X = X.astype(np.float32)
    models = [
        BanditAdaBoostClassifier(5, random_state=6).fit(table, y)
        for table in (X, np.asfortranarray(X), X.astype(np.float64), X.tolist())
    ]
    assert all(model.estimators_ == models[0].estimators_ for model in models)


def test_whole_weights_are_repetitions_of_rows():
    """Draw for draw, while rows keep their order: sums of weights are exact where their total is a power of 2."""
    X, y = blobs(rows=300)
    weights = np.random.default_rng(0).integers(0, 4, size=300)
    weights[-1] += 512 - weights.sum()
    repeated = BanditAdaBoostClassifier(6, random_state=7).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = BanditAdaBoostClassifier(6, random_state=7).fit(X, y, sample_weight=weights)
    assert weighted.estimators_[0] == repeated.estimators_[0]
    assert weighted.decision_function(X) == pytest.approx(repeated.decision_function(X))
    plain = BanditAdaBoostClassifier(6, random_state=7).fit(X, y)
    assert plain.decision_function(X) != pytest.approx(weighted.decision_function(X))


def test_the_scale_of_the_weights_does_not_matter():
    X, y = blobs()
    weights = np.random.default_rng(1).random(len(y))
    one = BanditAdaBoostClassifier(5, random_state=8).fit(X, y, sample_weight=weights)
    two = BanditAdaBoostClassifier(5, random_state=8).fit(X, y, sample_weight=1024.0 * weights)
    assert one.estimators_ == two.estimators_


def test_a_stump_without_error_ends_the_fit():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = BanditAdaBoostClassifier(30, random_state=0).fit(X, [0, 0, 1, 1])
    assert len(model.estimators_) == 1
    assert model.estimators_[0] == (0, 1.5, 0, 1)
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.score(X, [0, 0, 1, 1]) == 1.0


def test_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    model = BanditAdaBoostClassifier(60, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.93
    X, y = load_iris(return_X_y=True, as_frame=False)
    assert BanditAdaBoostClassifier(20, random_state=0).fit(X, y).score(X, y) > 0.95


def test_few_pulls_do_not_end_a_fit_while_stumps_are_known():
    """Most stumps are noise, and a no leaves next to nothing of so few pulls; but by then good stumps are known."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 60))
    y = (X[:, :6].sum(axis=1) > 0.0).astype(int)
    for seed in range(3):
        model = BanditAdaBoostClassifier(60, max_pulls=3000, random_state=seed).fit(X, y)
        assert len(model.estimators_) == 60
        assert model.reason_ == "all rounds"
        assert sum(not one.proved for one in model.certificates_) > 10, "no pulls were spent: the test shows nothing"
        assert model.score(X, y) > 0.8


def test_a_fit_says_why_it_ended():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert BanditAdaBoostClassifier(2, random_state=0).fit(X, [0, 0, 1, 1]).reason_ == "no error"
    model = BanditAdaBoostClassifier(5, random_state=0).fit(np.ones((60, 2)), np.arange(60) % 3 == 0)
    assert model.reason_ == "nothing better than guessing"


@pytest.mark.parametrize("question", quick(["edge", "best"], ["edge"]))
def test_features_of_one_s_own(question):
    X, y = blobs(rows=300)
    options = {"question": question, "alpha": 0.2, "random_state": 0}
    model = BanditAdaBoostClassifier(4, features=Projections(), **options).fit(X, y)
    assert model.score(X, y) > 0.8
    assert all(one.proved for one in model.certificates_)
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    same = BanditAdaBoostClassifier(4, features=Projections().draw, **options).fit(X, y)
    assert (same.decision_function(X) == model.decision_function(X)).all()
    assert clone(model).get_params()["features"] is not None


def test_bad_input_gets_scikit_learn_s_words():
    X, y = blobs(rows=40)
    model = BanditAdaBoostClassifier(3)
    with pytest.raises(NotFittedError):
        model.predict(X)
    for hole in (np.nan, np.inf):
        wrong = X.copy()
        wrong[3, 1] = hole
        with pytest.raises(ValueError, match="Input X contains"):
            model.fit(wrong, y)
    with pytest.raises(ValueError, match="only one class is present"):
        model.fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="only one class is present"):
        model.fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        model.fit(X, y, sample_weight=-np.ones(40))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    fitted_model = model.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but BanditAdaBoostClassifier is expecting 4"):
        fitted_model.predict(X[:, :3])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("question", "why"),
        ("alpha", 1.0),
        ("epsilon", 0.0),
        ("delta", 2.0),
        ("learning_rate", -1.0),
        ("features", 3),
        ("max_pulls", 0),
    ],
)
def test_bad_parameters_get_scikit_learn_s_words(name, value):
    X, y = blobs(rows=40)
    with pytest.raises(ValueError, match=f"The '{name}' parameter of BanditAdaBoostClassifier must be"):
        BanditAdaBoostClassifier(**{name: value}).fit(X, y)


def test_constant_features():
    """Nothing can be told apart: where classes are balanced nothing is better than guessing, else one class is."""
    X = np.ones((60, 2))
    with pytest.raises(ValueError, match="no stump better than guessing was found"):
        BanditAdaBoostClassifier(5, random_state=0).fit(X, np.arange(60) % 2)
    model = BanditAdaBoostClassifier(5, random_state=0).fit(X, np.arange(60) % 3 == 0)
    assert len(model.estimators_) == 1
    assert not model.predict(X).any()


def test_huge_weights_are_weights():
    X, y = blobs(300)
    plain, huge = (
        BanditAdaBoostClassifier(5, random_state=0).fit(X, y, np.full(300, weight)) for weight in (1.0, 1e307)
    )
    assert np.array_equal(plain.predict(X), huge.predict(X))
    assert np.array_equal(plain.estimator_errors_, huge.estimator_errors_)


def test_a_small_error_is_an_error():
    """One row outweighs all others, and a stump that has it right leaves an error of 1e-13: the fit goes on."""
    X, y = blobs(300)
    weights = np.ones(300)
    weights[7] = 1e15
    model = BanditAdaBoostClassifier(50, random_state=0).fit(X, y, weights)
    assert 0.0 < model.estimator_errors_[0] < 1e-12
    assert len(model.estimators_) == 50


def test_neighbouring_numbers_are_told_apart():
    step = np.finfo(float).eps
    X, y = [[1.0 + step], [1.0 + 2.0 * step]] * 20, [0, 1] * 20
    assert BanditAdaBoostClassifier(1, random_state=0).fit(X, y).score(X, y) == 1.0


def test_features_do_not_change_the_data():
    def draw(rng):
        def feature(rows):
            rows -= 1.0
            return rows[:, 0]

        return feature

    X, y = blobs(100)
    with pytest.raises(ValueError, match="read-only"):
        BanditAdaBoostClassifier(2, features=draw, random_state=0).fit(X, y)


@pytest.mark.parametrize("order", ["C", "F"])
def test_data_that_may_not_be_written_to(order):
    X = np.array(np.random.default_rng(0).normal(size=(300, 3)), order=order)
    y = (X[:, 0] > 0.0).astype(int)
    weights = np.ones(300)
    expected = BanditAdaBoostClassifier(3, random_state=0).fit(X, y, weights)
    for one in (X, y, weights):
        one.flags.writeable = False
    model = BanditAdaBoostClassifier(3, random_state=0).fit(X, y, weights)
    assert model.estimators_ == expected.estimators_
    assert (model.predict(X) == expected.predict(X)).all()
