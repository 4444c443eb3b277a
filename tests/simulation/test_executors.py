"""Simulations on executors: threads and processes change nothing."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from tests.support.marks import quick
from topalpha.algorithms import PRINCIPAL, design
from topalpha.families import (
    Bernoulli,
    Exponential,
    Gamma,
    Gaussian,
    Poisson,
)
from topalpha.planner import Softened
from topalpha.research.audit.worlds import Thirds
from topalpha.reservoirs import Beta, Clipped, Conditioned, Dirac, Discrete, Empirical, Mixture, TwoPoint, Uniform
from topalpha.simulation import run_chunk, simulate

TARGET = (0.2, 0.3, 0.2)
LAW = Conditioned(Beta(1.0, 1.0), 0.95)
METHODS = sorted({"spawn", "fork"} & set(multiprocessing.get_all_start_methods()))


def same(one, other) -> None:
    np.testing.assert_array_equal(one.pulls, other.pulls)
    np.testing.assert_array_equal(one.means, other.means)


@pytest.mark.parametrize("workers", [None, 1, 3, 50])
def test_an_executor_of_threads_changes_nothing(workers):
    algorithm, steps = design("lucb++", *TARGET), []
    with ThreadPoolExecutor(2) as pool:
        spread = simulate(algorithm, LAW, 11, 5, workers, Thirds(0.5), steps.append, executor=pool)
    same(spread, simulate(algorithm, LAW, 11, 5, rewards=Thirds(0.5)))
    assert sum(steps) == 11
    assert workers is None or len(steps) == min(workers, 11)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", quick(METHODS, METHODS[:1]))
def test_an_executor_of_processes_changes_nothing(method):
    algorithm = design("lucb++", *TARGET)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        spread = simulate(algorithm, LAW, 9, 5, 2, Thirds(0.5), executor=pool)
    same(spread, simulate(algorithm, LAW, 9, 5, rewards=Thirds(0.5)))


def test_all_that_travels_pickles():
    families = (Bernoulli(), Gaussian(0.5), Poisson(3.0), Exponential(3.0), Gamma(2.0, 3.0))
    laws = [LAW, Dirac(0.5), TwoPoint(0.1, 0.5, 0.5), Discrete((0.1, 0.4)), Empirical([0.1, 0.4]), Uniform(0.0, 1.0)]
    laws += [Clipped(Beta(1.0, 2.0), 0.5), Mixture((0.5, 0.5), (Dirac(0.5), Uniform(0.0, 1.0)))]
    algorithms = [design(entry.name, *TARGET, family) for entry in PRINCIPAL for family in families]
    for one in (*algorithms, *laws, Thirds(0.5), Softened(0.5), run_chunk):
        assert pickle.loads(pickle.dumps(one)) == one
    for law in laws:
        law.sample(3, np.random.default_rng(0))  # with what a law remembers once it has been used
        assert pickle.loads(pickle.dumps(law)).top(0.1) == law.top(0.1)


class Clogged:
    """An executor whose first task fails and whose others never begin."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure
        self.futures: list[Future] = []

    def submit(self, *arguments):
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_exception(self.failure)
        return self.futures[-1]


@pytest.mark.parametrize("failure", [RuntimeError("a worker is gone"), KeyboardInterrupt()])
def test_a_failure_cancels_what_has_not_begun(failure):
    executor = Clogged(failure)
    with pytest.raises(type(failure)):
        simulate(design("lucb++", *TARGET), LAW, 6, executor=executor, workers=3)
    assert [future.cancelled() for future in executor.futures] == [False, True, True]


def test_an_executor_must_take_tasks():
    with pytest.raises(ValueError, match="executor must have a submit method, got 4"):
        simulate(design("lucb++", *TARGET), LAW, 6, executor=4)
