"""Searches for models in a file: they go on where they ended, and none is taken for another."""

import signal

import numpy as np
import pytest
from scipy.stats import randint, uniform
from sklearn.metrics import accuracy_score, make_scorer, recall_score
from sklearn.naive_bayes import GaussianNB

from tests.support.known_models import ROWS, SMOOTHING, TARGET, Known, X, Y, fitted, known
from topalpha import verify
from topalpha.sklearn import TopAlphaSearchCV
from topalpha.storage import names, read


class Interrupting(Known):
    """Ctrl-C comes at one fit of the whole process."""

    left = 10**9
    fits = 0

    def fit(self, X, y=None):
        Interrupting.left -= 1
        Interrupting.fits += 1
        if Interrupting.left == 0:
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y)


def same(one, other):
    assert one.best_params_ == other.best_params_
    assert all(np.array_equal(left, right) for left, right in zip(one.scores_, other.scores_, strict=True))
    assert one.certificate_.claims == other.certificate_.claims


def test_a_search_goes_on_where_it_ended(tmp_path):
    whole = fitted({"mean": uniform(0.0, 1.0)})
    file = tmp_path / "search.db"
    early = fitted({"mean": uniform(0.0, 1.0)}, storage=file, max_fits=17)
    assert early.n_fits_ == 17
    late = fitted({"mean": uniform(0.0, 1.0)}, storage=file)
    same(whole, late)
    assert np.isnan(late.cv_results_["mean_fit_time"]).any() or late.n_candidates_ == early.n_candidates_
    assert len(names(file)) == 1
    assert verify(file).proved
    again = fitted({"mean": uniform(0.0, 1.0)}, storage=file)
    same(whole, again)
    assert np.isnan(again.cv_results_["mean_fit_time"]).all()  # nothing was fitted again


def test_an_interrupted_fit_goes_on(tmp_path):
    law, arguments = {"mean": uniform(0.0, 1.0)}, {**TARGET, "storage": tmp_path / "search.db"}
    whole = TopAlphaSearchCV(Interrupting(), law, **TARGET).fit(ROWS)
    search = TopAlphaSearchCV(Interrupting(), law, **arguments)
    search.best_estimator_ = "of an earlier fit"
    Interrupting.left = 20
    with pytest.raises(KeyboardInterrupt):
        search.fit(ROWS)
    assert search.certificate_.reason == "interrupted"
    assert search.n_fits_ == 20, "the fit that was under way is waited for"
    assert not hasattr(search, "best_estimator_")
    before = Interrupting.fits
    same(whole, search.fit(ROWS))
    assert Interrupting.fits - before == whole.n_fits_ - 20 + 1  # the rest, and the refit


def test_a_seed_that_nobody_chose_is_kept(tmp_path):
    law, file = {"mean": uniform(0.0, 1.0)}, tmp_path / "search.db"
    early = fitted(law, random_state=None, storage=file, max_fits=9)
    late = fitted(law, random_state=None, storage=file)
    assert late.certificate_.seed == early.certificate_.seed
    assert late.cv_results_["params"][:5] == early.cv_results_["params"][:5]


def test_other_data_targets_and_estimators_are_other_searches(tmp_path):
    file, law = tmp_path / "search.db", {"mean": [0.1, 0.9]}
    fitted(law, storage=file)
    fitted(law, storage=file)
    assert len(names(file)) == 1
    known(law, storage=file).fit(ROWS + 1.0)
    known(law, storage=file, epsilon=0.2).fit(ROWS)
    known(law, storage=file, random_state=1).fit(ROWS)
    known({"mean": [0.1, 0.8]}, storage=file).fit(ROWS)
    TopAlphaSearchCV(Known(noise=0.5), law, storage=file, **TARGET).fit(ROWS)
    known(law, storage=file, test_size=0.3).fit(ROWS)
    assert len(names(file)) == 7


class Laws:
    """A distribution of one's own, described by nothing."""

    def __init__(self, low):
        self.low = low

    def rvs(self, random_state=None):
        return self.low + 0.1 * random_state.random_sample()


def pessimist(estimator, X, y=None):
    return estimator.score(X, y) - 1.0


@pytest.mark.slow
def test_searches_that_read_alike_are_told_apart(tmp_path):
    file = tmp_path / "search.db"
    long = {"mean": list(np.linspace(0.0, 0.1, 30))}, {"mean": list(np.linspace(0.8, 0.9, 30))}
    for law in (*long, {"mean": Laws(0.0)}, {"mean": Laws(0.8)}):
        found = fitted(law, storage=file)
        assert found.best_params_["mean"] == fitted(law).best_params_["mean"]
    assert len(names(file)) == 4
    fitted({"mean": Laws(0.8)}, storage=file)
    fitted({"mean": uniform(0.0, 1.0)}, storage=file)
    fitted({"mean": uniform(0.0, 1.0)}, storage=file)
    assert len(names(file)) == 5
    scorers = make_scorer(accuracy_score), make_scorer(recall_score, pos_label=0)
    binary = TopAlphaSearchCV(GaussianNB(), SMOOTHING, **TARGET, storage=file, max_fits=4)
    for scorer in scorers:
        binary.set_params(scoring=scorer).fit(X[:100], Y[:100])
    assert "make_scorer(recall_score" in binary.certificate_.law
    fitted({"mean": [0.1, 0.9]}, storage=file, scoring=pessimist)
    assert len(names(file)) == 8
    with pytest.raises(ValueError, match="scoring must be picklable if storage is given"):
        fitted({"mean": [0.1, 0.9]}, storage=file, scoring=lambda estimator, X, y=None: 0.0)


def test_a_refused_search_leaves_no_trace(tmp_path):
    with pytest.raises(ValueError, match="algorithm must allow shared splits"):
        fitted({"mean": [0.1, 0.9]}, splits="shared", algorithm="cc-lucb", storage=tmp_path / "search.db")
    assert not (tmp_path / "search.db").exists()


def test_settings_are_stored_as_json_or_pickled_on_request(tmp_path):
    law = {"mean": uniform(0.0, 1.0), "kind": randint(1, 5)}
    fitted(law, storage=tmp_path / "numbers.db")
    assert all(isinstance(raw, str) for raw in read(tmp_path / "numbers.db").arms)
    tuples = {"mean": [0.1, 0.9], "kind": [(1, 2)]}
    with pytest.raises(ValueError, match="candidate must come back from JSON as it is"):
        fitted(tuples, storage=tmp_path / "tuples.db")
    early = fitted(tuples, storage=tmp_path / "more.db", pickle=True, max_fits=3)
    late = fitted(tuples, storage=tmp_path / "more.db", pickle=True)
    assert late.best_params_ == {"mean": 0.9, "kind": (1, 2)}
    assert early.best_params_["kind"] == (1, 2)
