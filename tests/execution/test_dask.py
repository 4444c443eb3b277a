"""A cluster: a scheduler and two worker processes on this machine, one of which is killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.support.waiting import PATIENCE, until
from topalpha import Pull, Search, design, search, simulate, verify
from topalpha.execution import Budget, Calls, PullFailed, run
from topalpha.reservoirs import Uniform

distributed = pytest.importorskip("distributed")

TARGET = ("cc-lucb", 0.2, 0.15, 0.1)


def draw(rng):
    return rng.random()


def coin(mean, rng):
    time.sleep(0.005)
    return float(rng.random() < mean)


@pytest.fixture(scope="module")
def cluster():
    import cloudpickle
    import dask

    # Workers cannot import a file that pytest has imported in its own way.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "5s"}),
        distributed.LocalCluster(n_workers=0, dashboard_address=None, host="127.0.0.1", silence_logs=60) as cluster,
    ):
        yield cluster
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def workers(cluster):
    """Two processes that nobody starts again once they are killed."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--no-nanny"]
    command += ["--nthreads", "2", "--no-dashboard"]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
    yield processes
    for process in processes:
        process.kill()
        process.wait()
    until(lambda: not cluster.scheduler.workers)


@pytest.fixture
def client(cluster, workers):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


def search_on(client, calls, notice=lambda: None, **options):
    search, candidates = Search(design(*TARGET), seed=1), []
    reason = run(
        search, calls, candidates=candidates, new_candidate=calls.candidate, executor=client, notice=notice, **options
    )
    return search, candidates, reason


def rewards_of(search, calls, candidates):
    """The sums that the search has, from evaluating every pull that counts once more."""
    sums = [0.0] * len(candidates)
    for arm, candidate in enumerate(candidates):
        for number in range(search.history.pulls[arm]):
            sums[arm] += calls.evaluation(Pull(arm, number, 0), candidate)()
    return sums


@pytest.mark.slow
def test_futures_are_released_and_rewards_are_the_same_as_anywhere(cluster, client):
    calls = Calls(draw, coin, seed=1)
    largest = [0]

    def notice():
        largest[0] = max(largest[0], len(client.futures), len(cluster.scheduler.tasks))

    search, candidates, reason = search_on(client.get_executor(), calls, notice)
    assert reason == "stopped"
    assert search.told > 100
    until(lambda: not client.futures and not cluster.scheduler.tasks)
    assert largest[0] <= 60, "and while it runs they do not pile up"
    assert list(search.history.stats[0][: len(candidates)]) == rewards_of(search, calls, candidates)


@pytest.mark.slow
def test_a_killed_worker_costs_time_and_nothing_else(cluster, workers, client):
    calls, killed = Calls(draw, coin, seed=1), []

    def notice():
        if search.told >= 60 and not killed:
            killed.append(workers[0])
            workers[0].kill()

    search, candidates = Search(design(*TARGET), seed=1), []
    told, failures = [], []
    tell_many = search.tell_many
    search.tell_many = lambda rewards, **how: (told.extend(pull for pull, _ in rewards), tell_many(rewards, **how))
    reason = run(
        search,
        calls,
        candidates=candidates,
        new_candidate=calls.candidate,
        executor=client,
        notice=notice,
        failed=lambda *failure: failures.append(failure),
    )
    assert reason == "stopped"
    assert killed
    assert failures == []
    assert len(set(told)) == len(told) == search.told, "nothing is told twice"
    orders = {pull.order for pull in told} | {pull.order for pull in search.outstanding}
    assert orders == set(range(search.asked)), "and nothing is lost"
    assert list(search.history.stats[0][: len(candidates)]) == rewards_of(search, calls, candidates)
    until(lambda: not client.futures and not cluster.scheduler.tasks)


@pytest.mark.slow
def test_failures_come_back_as_they_are(client):
    lock = threading.Lock()
    with pytest.raises(ValueError, match="pull must be a function that workers can import"):
        search_on(client, Calls(draw, lambda mean: lock.locked(), seed=1))
    with pytest.raises(PullFailed, match="ZeroDivisionError") as failure:
        search_on(client, Calls(draw, lambda mean: 1 / 0, seed=1))
    assert isinstance(failure.value.__cause__, ZeroDivisionError)
    calls, failures = Calls(draw, lambda mean, rng: 1 / (rng.random() < 0.5), seed=1), []
    options = {"budget": Budget(pulls=40), "failed": lambda *failure: failures.append(failure)}
    _, _, reason = search_on(client, calls, on_error="worst", **options)
    assert reason == "pulls"
    assert 8 <= len(failures) <= 32


@pytest.mark.slow
def test_a_pull_that_kills_its_worker_is_found(cluster, client, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(PullFailed, match="its worker died, and so did others that tried"):
        search_on(client, Calls(draw, lambda mean: os.kill(os.getpid(), signal.SIGKILL), seed=1), width=1)


@pytest.mark.slow
def test_simulated_runs_are_the_same_on_the_cluster(client):
    algorithm, reservoir = design("cc-lucb", 0.2, 0.2, 0.1), Uniform(0.0, 0.95)
    here = simulate(algorithm, reservoir, runs=12, seed=3)
    there = simulate(algorithm, reservoir, runs=12, seed=3, workers=4, executor=client.get_executor())
    assert there.pulls.tolist() == here.pulls.tolist()
    assert there.means.tolist() == here.means.tolist()


@pytest.mark.slow
def test_a_search_with_a_file_runs_on_the_cluster_and_verifies(client, tmp_path):
    path = tmp_path / "one.db"
    found = search(
        draw, coin, alpha=0.2, epsilon=0.15, delta=0.1, executor=client, storage=path, progress="none", seed=2
    )
    assert found.stopped
    assert verify(path) == found.certificate
