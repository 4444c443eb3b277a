"""Where the fits of a search run: threads, processes and a cluster give the same scores."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from tests.support.known_models import SMOOTHING, TARGET, X, Y, fitted
from topalpha.execution import Noted
from topalpha.sklearn import TopAlphaSearchCV


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
