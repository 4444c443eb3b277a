"""The driver: the order of events, the same rewards from every kind of worker, and pulls in flight."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from tests.support.driving import SMALL, Books, acoin, by_hand, coin, draw
from topalpha import Pull
from topalpha.execution import Calls


@pytest.mark.parametrize("target", [SMALL, ("joint-lucb", 0.3, 0.3, 0.2), ("lucb++", 0.3, 0.3, 0.2)])
def test_one_at_a_time_is_ask_evaluate_tell(target):
    expected, books = by_hand(target), Books(target)
    assert books.run(Calls(draw, coin, seed=0)) == "stopped"
    assert books.events == expected.events == ["ask", "tell"] * (len(expected.events) // 2)
    assert (books.rewards, books.candidates) == (expected.rewards, expected.candidates)
    single = Books(target)
    assert single.run(Calls(draw, coin, seed=0), executor="threads", width=1) == "stopped"
    assert (single.rewards, single.events) == (expected.rewards, expected.events)


@pytest.mark.parametrize("kind", ["threads", "processes", "asyncio", "asyncio in threads"])
@pytest.mark.parametrize("name", ["cc-lucb", "joint-lucb"])
def test_rewards_depend_on_arm_and_number_only(kind, name):
    books, calls = Books((name, 0.3, 0.3, 0.2)), Calls(draw, coin, seed=4)
    if kind == "asyncio":
        reason = books.arun(Calls(draw, acoin, seed=4), width=5)
    elif kind == "asyncio in threads":
        reason = books.arun(calls, width=5)
    else:
        reason = books.run(calls, executor=kind, width=4 if kind == "threads" else 2)
    assert reason == "stopped"
    books.check()
    for (arm, number), reward in books.told().items():
        candidate = calls.candidate(arm)
        assert books.candidates[arm] == candidate
        assert reward == calls.evaluation(Pull(arm, number, 0), candidate)()


class Gauge:
    """Counts how many pulls run at the same time."""

    def __init__(self, seconds=0.002):
        self.now, self.most, self.lock, self.seconds = 0, 0, threading.Lock(), seconds

    def __call__(self, mean, rng):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self.seconds)
        with self.lock:
            self.now -= 1
        return coin(mean, rng)


def test_width_pulls_are_in_flight():
    gauge, books = Gauge(), Books()
    with ThreadPoolExecutor(8) as pool:
        books.run(Calls(draw, gauge, seed=0), executor=pool, width=5)
    assert gauge.most == 5
    gauge, books = Gauge(), Books()
    with ThreadPoolExecutor(6) as pool:
        books.run(Calls(draw, gauge, seed=0), executor=pool)
    assert gauge.most == 6


class Bare(Executor):
    """An executor that does not tell its number of workers."""

    def submit(self, function, /, *arguments):
        future = Future()
        future.set_result(function(*arguments))
        return future


def test_an_executor_of_unknown_size_needs_a_width():
    calls = Calls(draw, coin, seed=0)
    with pytest.raises(ValueError, match="width must be given"):
        Books().run(calls, executor=Bare())
    assert Books().run(calls, executor=Bare(), width=3) == "stopped"
    for wrong in ("thread", 7):
        with pytest.raises(ValueError, match="executor must be threads, processes, or have a method submit"):
            Books().run(calls, executor=wrong)
    with pytest.raises(ValueError, match="width must be 1 without an executor, got 4"):
        Books().run(calls, width=4)
