"""TopAlphaSearchCV: what it finds, records, resumes and hands on, in cases that can be worked out by hand."""

import os
import signal
import time

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.stats import loguniform, randint, uniform
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_regression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer, recall_score
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from topalpha import search as plain_search
from topalpha import verify
from topalpha.execution import Noted, common_generator, place_of, pull_generator
from topalpha.sklearn import TopAlphaSearchCV
from topalpha.sklearn.distributions import MOST_LISTED, Grid, Sampler, in_words, pool
from topalpha.storage import names, read

X, Y = load_iris(return_X_y=True)
TARGET = {"alpha": 0.3, "epsilon": 0.1, "delta": 0.1, "random_state": 0}
SMOOTHING = {"var_smoothing": loguniform(1e-9, 1e3)}
ROWS = np.random.default_rng(7).normal(size=(60, 1))


class Known(BaseEstimator):
    """An estimator whose mean score over random splits is ``mean``: the average of random rows is that of all rows."""

    def __init__(self, mean=0.0, noise=1.0, kind=None, random_state=None):
        self.mean = mean
        self.noise = noise
        self.kind = kind
        self.random_state = random_state

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def score(self, X, y=None):
        return self.mean + self.noise * float(X.mean() - ROWS.mean())


class Slow(Known):
    """Takes its time."""

    def fit(self, X, y=None):
        time.sleep(0.02)
        return super().fit(X, y)


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


class Failing(Known):
    """Fails where it is told to."""

    def fit(self, X, y=None):
        if self.kind == "fit":
            raise RuntimeError("no fit today")
        return super().fit(X, y)

    def score(self, X, y=None):
        return float("nan") if self.kind == "nan" else super().score(X, y)


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


def known(distributions, **arguments):
    return TopAlphaSearchCV(Known(), distributions, **{**TARGET, **arguments})


def fitted(distributions, **arguments):
    return known(distributions, **arguments).fit(ROWS)


@pytest.fixture(scope="module")
def iris():
    return TopAlphaSearchCV(GaussianNB(), SMOOTHING, **TARGET).fit(X, Y)


# What it finds


def test_it_stops_by_itself_with_a_good_setting(iris):
    assert iris.certificate_.proved
    assert iris.best_params_["var_smoothing"] < 1.0
    assert iris.best_score_ > 0.85
    assert cross_val_score(iris.best_estimator_, X, Y).mean() > 0.85


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


# Splits


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


# Where fits run


def test_one_worker_thread_does_the_same():
    plain = fitted({"mean": uniform(0.0, 1.0)}, alpha=0.2)
    threaded = fitted({"mean": uniform(0.0, 1.0)}, alpha=0.2, executor="threads", n_jobs=1)
    assert all(np.array_equal(left, right) for left, right in zip(plain.scores_, threaded.scores_, strict=True))
    assert plain.best_params_ == threaded.best_params_
    assert plain.certificate_ == threaded.certificate_


def test_threads_give_each_pull_the_same_score():
    plain = fitted({"mean": uniform(0.0, 1.0)}, alpha=0.2)
    threaded = fitted({"mean": uniform(0.0, 1.0)}, alpha=0.2, n_jobs=3)
    assert threaded.certificate_.proved
    assert threaded.cv_results_["params"] == plain.cv_results_["params"]
    for left, right in zip(plain.scores_, threaded.scores_, strict=True):
        count = min(len(left), len(right))
        assert np.array_equal(left[:count], right[:count])
    assert (threaded.cv_results_["mean_fit_time"] > 0.0).all()


@pytest.mark.slow
def test_processes_give_each_pull_the_same_score():
    plain = TopAlphaSearchCV(GaussianNB(), SMOOTHING, **TARGET).fit(X, Y)
    split = TopAlphaSearchCV(GaussianNB(), SMOOTHING, executor="processes", n_jobs=2, **TARGET).fit(X, Y)
    for left, right in zip(plain.scores_, split.scores_, strict=True):
        count = min(len(left), len(right))
        assert np.array_equal(left[:count], right[:count])
    assert (split.cv_results_["mean_fit_time"] > 0.0).all()  # times come back from other processes


@pytest.mark.slow
def test_a_cluster_does_too():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        search = TopAlphaSearchCV(GaussianNB(), SMOOTHING, executor=client, **TARGET)
        assert clone(search).executor is client
        assert search.fit(X, Y).certificate_.proved


def test_a_note_travels_with_its_reward():
    import pickle

    reward = pickle.loads(pickle.dumps(Noted(0.5, {"seconds": 2.0})))
    assert reward == 0.5
    assert reward.note == {"seconds": 2.0}


# Storage


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


def test_all_fits_fail():
    with pytest.raises(ValueError, match=r"All the \d+ fits failed"):
        TopAlphaSearchCV(Failing(kind="fit"), {"mean": [0.1, 0.9]}, **TARGET, error_score=0.0).fit(ROWS)


def test_refit_is_yes_or_no():
    with pytest.raises(ValueError, match="refit must be True or False, got 'accuracy'"):
        fitted({"mean": [0.1, 0.9]}, refit="accuracy")


def test_whole_numbers_of_any_size_have_a_column():
    assert fitted({"mean": [0.1, 0.9], "kind": [2**70]}).cv_results_["param_kind"].tolist() == [2**70] * 2


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


# Failures


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
    with pytest.raises(ValueError, match=r"score must be valid for bounds='low-variance' .*, got 3.0"):
        fitted({"mean": [3.0], "noise": [0.0]}, bounds="low-variance")
    found = fitted({"mean": [3.0, 1.0]}, bounds="low-variance(-10,10)", epsilon=2.0)
    assert found.best_params_ == {"mean": 3.0}


# Input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 1.5}, "alpha must lie strictly between 0 and 1, got 1.5"),
        ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0.0"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1, got 0.0"),
        ({"splits": "mine"}, "splits must be one of own, shared, got 'mine'"),
        ({"bounds": "laplace"}, "bounds must be one of bernoulli,"),
        ({"bounds": "gamma"}, "bounds must say its shape, got 'gamma'"),
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


# Fit parameters


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


# What it hands on


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


# Settings


def test_large_grids_are_drawn_from_with_replacement():
    wide = {name: range(20) for name in "abcd"}
    assert MOST_LISTED < 20**4
    assert isinstance(pool(wide), Sampler)
    assert isinstance(pool({name: range(10) for name in "abcd"}), Grid)


def test_several_dictionaries():
    law = [{"mean": [0.1]}, {"mean": uniform(0.5, 0.1), "noise": [0.2]}]
    drawn = [pool(law)(np.random.default_rng(seed)) for seed in range(40)]
    assert {tuple(sorted(one)) for one in drawn} == {("mean",), ("mean", "noise")}
    assert in_words(law) == "mean from [0.1]; or mean from uniform(0.5, 0.1), noise from [0.2]"
    found = fitted(law)
    assert found.cv_results_["param_noise"].mask.any()


def test_grid_has_every_combination_once():
    grid = Grid([{"a": np.array([1, 2]), "b": [None]}, {"a": [3]}])
    assert list(grid) == [{"a": 1, "b": None}, {"a": 2, "b": None}, {"a": 3}]
    assert grid[1:] == [{"a": 2, "b": None}, {"a": 3}]
    assert type(grid[0]["a"]) is int
    with pytest.raises(IndexError):
        grid[3]


def test_no_name_of_the_package_needs_scikit_learn():
    import subprocess
    import sys

    code = "import sys, topalpha; topalpha.search; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch):
    import importlib.util

    import topalpha.sklearn as package

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"topalpha.sklearn needs scikit-learn: pip install 'topalpha\[sklearn\]'"):
        importlib.reload(package)
    monkeypatch.undo()
    importlib.reload(package)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = package.Nothing
