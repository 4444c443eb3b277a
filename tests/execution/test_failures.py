"""Pulls that fail: every way to fail under every policy, and nothing lost or counted twice."""

from __future__ import annotations

import math
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.driving import Books, coin, draw, evaluate
from topalpha import Pull
from topalpha.execution import Calls, PullFailed, asynchronous, flight


class Faulty:
    """A pull that fails for the third candidate, so many times, in one of several ways."""

    def __init__(self, way, times=math.inf, wait=5.0):
        self.way, self.times, self.wait, self.tries, self.over = way, times, wait, 0, threading.Event()

    def __call__(self, candidate, rng):
        if candidate == self.bad and self.tries < self.times:
            self.tries += 1
            if self.way == "raises":
                raise LookupError("no such prompt")
            if self.way == "rubbish":
                return "good"
            if self.way == "outside":
                return 1.5
            self.over.wait(self.wait)
        return coin(candidate, rng)


def faulty(way, times=math.inf):
    pull = Faulty(way, times)
    calls = Calls(draw, pull, seed=0)
    pull.bad = calls.candidate(2)
    return pull, calls


REASONS = {
    "raises": ("LookupError: no such prompt", LookupError),
    "rubbish": ("ValueError: reward must be a real number, got 'good'", ValueError),
    "outside": ("ValueError: reward must lie in", ValueError),
    "hangs": ("no reward within 0.1 seconds", TimeoutError),
}
WAYS = [(way, "threads") for way in REASONS] + [(way, "asyncio") for way in REASONS]
WAYS += [(way, None) for way in REASONS if way != "hangs"]
# A number that cannot be a reward is a mistake, not a failure: no policy hides it.
FORGIVEN = [(way, kind) for way, kind in WAYS if way != "outside"]


@pytest.fixture
def only_hanging_takes_time(monkeypatch):
    """A clock that stands still unless a pull hangs: on a busy machine, no other pull is late."""

    def install(books, pull):
        passed, last = 0.0, time.monotonic()

        def monotonic():
            nonlocal passed, last
            now = time.monotonic()
            if pull.tries > len(books.failures):
                passed += now - last
            last = now
            return passed

        for module in (flight, asynchronous):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=monotonic))
        return 1  # with one pull at a time, nothing else is in flight while the clock runs

    return install


@pytest.mark.parametrize(("way", "kind"), WAYS)
def test_a_failed_pull_raises_and_stays_outstanding(way, kind, only_hanging_takes_time):
    books, (pull, calls) = Books(), faulty(way)
    width = only_hanging_takes_time(books, pull) if way == "hangs" else 3
    with pytest.raises(PullFailed) as failure:
        evaluate(books, calls, kind, way, width)
    reason, cause = REASONS[way]
    assert failure.value.pull == Pull(2, 0, 2)
    assert failure.value.reason.startswith(reason)
    assert isinstance(failure.value.__cause__, cause)
    assert [(failed.arm, action) for failed, _, action in books.failures] == [(2, "raise")]
    books.check()
    assert failure.value.pull in books.search.outstanding
    pull.times = 0
    pull.over.set()
    assert evaluate(books, calls, kind, "") == "stopped"
    books.check()
    assert (2, 0) in books.told()


@pytest.mark.parametrize("on_error", ["retry", "worst"])
@pytest.mark.parametrize("kind", ["threads", "asyncio", None])
def test_a_number_that_cannot_be_a_reward_raises_whatever_the_policy(kind, on_error):
    books, (_, calls) = Books(), faulty("outside")
    with pytest.raises(PullFailed, match="ValueError: reward must lie in"):
        evaluate(books, calls, kind, "outside", on_error=on_error)
    assert [action for _, _, action in books.failures] == ["raise"]
    books.check()


@pytest.mark.parametrize("kind", ["threads", None])
def test_nan_is_a_failure_like_others(kind):
    books = Books()
    calls = Calls(draw, lambda mean, rng: math.nan if mean < 0.2 else coin(mean, rng), seed=0)
    assert evaluate(books, calls, kind, "", on_error="worst") == "stopped"
    assert {action for _, _, action in books.failures} == {"worst"}
    books.check()


@pytest.mark.parametrize(("way", "kind"), FORGIVEN)
def test_a_failed_pull_is_tried_again_with_the_same_seed(way, kind, only_hanging_takes_time):
    books, (pull, calls) = Books(), faulty(way, times=2)
    width = only_hanging_takes_time(books, pull) if way == "hangs" else 3
    assert evaluate(books, calls, kind, way, width, on_error="retry", retries=2) == "stopped"
    assert [action for _, _, action in books.failures] == ["retry", "retry"]
    assert books.told()[2, 0] == coin(pull.bad, np.random.default_rng(calls_seed(calls, 2, 0)))
    books.check()
    pull.over.set()


def calls_seed(calls, arm, number):
    seed, *child = calls.evaluation(Pull(arm, number, 0), 0.0).key
    return np.random.SeedSequence(seed, spawn_key=child)


@pytest.mark.parametrize("kind", ["threads", "asyncio", None])
def test_tries_are_counted_for_each_pull(kind):
    books, (_, calls) = Books(), faulty("raises")
    with pytest.raises(PullFailed, match="pull 0 of arm 2 failed: LookupError"):
        evaluate(books, calls, kind, "raises", on_error="retry", retries=2)
    assert [action for _, _, action in books.failures] == ["retry", "retry", "raise"]


@pytest.mark.parametrize(("way", "kind"), FORGIVEN)
def test_a_failed_pull_counts_as_the_worst_reward(way, kind):
    books, (pull, calls) = Books(), faulty(way)
    assert evaluate(books, calls, kind, way, on_error="worst") == "stopped"
    bad = {order: reward for (arm, order), reward in books.told().items() if arm == 2}
    assert set(bad.values()) == {books.search.model.worst}
    assert {action for _, _, action in books.failures} == {"worst"}
    books.check()
    pull.over.set()


def test_the_worst_reward_must_exist():
    class Boundless:
        worst = None

    books = Books()
    books.search.model = Boundless()
    with pytest.raises(ValueError, match="on_error must be raise or retry for rewards without a worst value"):
        books.run(Calls(draw, coin, seed=0), on_error="worst")
    assert books.events == []
    for options in ({"on_error": "ignore"}, {"retries": -1}, {"timeout": 1.0}, {"executor": "threads", "timeout": 0.0}):
        with pytest.raises(ValueError, match=f"{list(options)[-1]} must"):
            Books().run(Calls(draw, coin, seed=0), **options)


def test_a_source_that_fails_loses_nothing():
    def broken(rng):
        raise LookupError("no more prompts")

    books, calls = Books(), Calls(draw, coin, seed=0)

    def third(arm):
        return broken(None) if arm == 3 else calls.candidate(arm)

    for options in ({}, {"executor": "threads", "width": 2}):
        with pytest.raises(LookupError, match="no more prompts"):
            books.run(calls, new_candidate=third, **options)
        books.check()
    assert books.run(calls) == "stopped"
    books.check()
