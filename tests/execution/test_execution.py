"""The driver: the order of events, every kind of worker, every way to fail, and nothing lost or counted twice."""

from __future__ import annotations

import asyncio
import functools
import math
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from folders import ROOT
from topalpha import Pull, Search, design
from topalpha.execution import Budget, Calls, Meter, PullFailed, arun, asynchronous, flight, open_executor, run
from waiting import PATIENCE, until


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Processes import this file, by the name that pytest gave it."""
    monkeypatch.syspath_prepend(str(ROOT))


SMALL = ("cc-lucb", 0.3, 0.3, 0.2)


def draw(rng):
    return rng.random()


def coin(mean, rng):
    return float(rng.random() < mean)


class Books:
    """A search whose tells and asks are noted in the order in which they come."""

    def __init__(self, target=SMALL, seed=0):
        self.events, self.asked, self.rewards = [], {}, {}
        self.search = Search(design(*target), seed, journal=self)
        self.candidates, self.failures, self.counts = [], [], {}

    def ask(self, order, arm, told):
        number = self.counts.get(arm, 0)
        self.counts[arm] = number + 1
        self.asked[order] = (arm, number)
        self.events.append("ask")

    def wait(self, asked, told):
        self.events.append("wait")

    def tell_many(self, rewards):
        for order, reward in rewards:
            assert order not in self.rewards, "told twice"
            self.rewards[order] = reward
        self.events.append("tell")

    def failed(self, pull, reason, action):
        self.failures.append((pull, reason, action))

    def told(self):
        """What was told: reward by arm and number of the pull."""
        return {self.asked[order]: reward for order, reward in self.rewards.items()}

    def run(self, calls, **options):
        options = {"candidates": self.candidates, "new_candidate": calls.candidate, "failed": self.failed} | options
        return run(self.search, calls, **options)

    def arun(self, calls, **options):
        options = {"candidates": self.candidates, "new_candidate": calls.candidate, "failed": self.failed} | options
        return asyncio.run(arun(self.search, calls, **options))

    def check(self):
        """Every pull told once, the others outstanding."""
        search = self.search
        assert search.told == len(self.rewards)
        assert {pull.order for pull in search.outstanding} == set(self.asked) - set(self.rewards)


# What a person's functions look like.


def test_a_generator_is_passed_to_those_who_take_one():
    def optional(candidate, threshold=0.5):
        return threshold

    def named(candidate, rng=None):
        return rng.random()

    def keyword(candidate, *, rng):
        return rng.random()

    def later(candidate, threshold=0.5, rng=None):
        return threshold + rng.random()

    pull = Pull(2, 5, 9)
    values = [Calls(draw, each, seed=3).evaluation(pull, 0.0)() for each in (named, keyword, coin, later, optional)]
    assert values[0] == values[1] == values[3] - 0.5 > 0.0
    assert values[4] == 0.5
    assert Calls(draw, math.sqrt, seed=3).evaluation(pull, 4.0)() == 2.0
    assert Calls(draw, max, seed=3, items=[7.0]).evaluation(Pull(0, 0, 0), 4.0)() == 7.0, "a builtin without signature"
    assert Calls(draw, functools.partial(later, threshold=1.0), seed=3).evaluation(pull, 0.0)() == values[0] + 1.0
    with_item = Calls(draw, lambda candidate, item, rng: item + rng.random(), seed=3, items=[10.0] * 9)
    assert with_item.evaluation(pull, 0.0)() == 10.0 + values[0]


@pytest.mark.parametrize("pull", [lambda: 0.0, lambda a, b, c: 0.0, lambda a, *, other: 0.0, 7])
def test_a_function_of_another_shape_is_refused(pull):
    with pytest.raises(ValueError, match=r"^pull must (take \(candidate\) or \(candidate, rng\), got|be a function)"):
        Calls(draw, pull, seed=0)


@pytest.mark.parametrize("source", ["text", [], {1, 2}, lambda a, b: 0.0])
def test_a_source_of_another_shape_is_refused(source):
    with pytest.raises(ValueError, match=r"^draw must"):
        Calls(source, coin, seed=0)


def test_candidates_can_be_drawn_again():
    calls, again, other = (Calls(draw, coin, seed=seed) for seed in (1, 1, 2))
    assert calls.candidate(4) == again.candidate(4) != calls.candidate(5)
    assert calls.candidate(4) != other.candidate(4)
    assert Calls(lambda: "same", coin, seed=0).candidate(0) == "same"


@pytest.mark.parametrize("names", [list("abcdefgh"), np.arange(8), range(8)], ids=["list", "array", "range"])
def test_a_list_is_drawn_in_random_order_without_replacement(names):
    calls = Calls(names, coin, seed=1)
    order = [calls.candidate(arm) for arm in range(calls.pool)]
    assert sorted(order) == list(names)
    assert order != list(names)
    assert order != [Calls(names, coin, seed=2).candidate(arm) for arm in range(8)]
    with pytest.raises(ValueError, match="arm must be below 8, the number of candidates, got 8"):
        calls.candidate(8)


def test_each_arm_meets_every_item_once_in_an_order_of_its_own():
    items = [float(item) for item in range(20)]
    calls = Calls(draw, lambda candidate, item: item, seed=1, items=items)
    orders = [[calls.evaluation(Pull(arm, number, 0), 0.0)() for number in range(20)] for arm in range(2)]
    assert sorted(orders[0]) == sorted(orders[1]) == items
    assert orders[0] != orders[1]
    with pytest.raises(ValueError, match="pull must be one of 20"):
        calls.evaluation(Pull(0, 20, 0), 0.0)


@pytest.mark.parametrize("value", ["0.5", None, 1j, [1.0], np.array([1.0]), math.nan], ids=repr)
def test_what_is_no_number_is_no_reward(value):
    books = Books()
    with pytest.raises(PullFailed, match="reward must be a real number"):
        books.run(Calls(draw, lambda candidate: value, seed=0))
    assert isinstance(Calls(draw, lambda c: np.float32(1), seed=0).evaluation(Pull(0, 0, 0), 0)(), float)


# The order of events, and the same rewards whoever evaluates them.


def by_hand(target=SMALL, seed=0):
    books, calls = Books(target, seed), Calls(draw, coin, seed=seed)
    while (pull := books.search.ask()) is not None:
        if pull.arm == len(books.candidates):
            books.candidates.append(calls.candidate(pull.arm))
        books.search.tell(pull, calls.evaluation(pull, books.candidates[pull.arm])())
    return books


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


async def acoin(mean, rng):
    await asyncio.sleep(0.002 * mean)
    return coin(mean, rng)


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


# Failures.


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


def evaluate(books, calls, kind, way, width=3, **options):
    options["timeout"] = 0.1 if way == "hangs" else None
    if kind == "asyncio":
        return books.arun(calls, width=width, **options)
    return books.run(calls, executor=kind, width=width if kind else 1, **options)


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


def test_hung_threads_are_replaced_once_all_hang():
    books, over = Books(), threading.Event()

    def hang(mean, rng):
        if len(books.rewards) < 4:
            over.wait()
        return coin(mean, rng)

    reason = books.run(Calls(draw, hang, seed=0), executor="threads", width=2, timeout=0.1, on_error="worst")
    assert reason == "stopped"
    assert len(books.failures) >= 4
    books.check()
    over.set()


def test_an_executor_whose_workers_all_hang_is_given_up():
    books, over = Books(), threading.Event()
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(PullFailed, match="every worker of the executor hangs"):
            books.run(Calls(draw, lambda mean: over.wait(10.0), seed=0), executor=pool, timeout=0.1, on_error="worst")
        over.set()
    books.check()


def test_an_exit_in_a_worker_is_not_swallowed():
    def leave(mean):
        sys.exit(3)

    def interrupt(mean):
        raise KeyboardInterrupt

    async def aleave(mean):
        sys.exit(3)

    async def ainterrupt(mean):
        raise KeyboardInterrupt

    for kind, width in ((None, 1), ("threads", 2)):
        for policy in ("raise", "worst"):
            with pytest.raises(SystemExit):
                Books().run(Calls(draw, leave, seed=0), executor=kind, width=width, on_error=policy)
        assert Books().run(Calls(draw, interrupt, seed=0), executor=kind, width=width) == "interrupted"
    for pull in (leave, aleave):
        with pytest.raises(SystemExit):
            Books().arun(Calls(draw, pull, seed=0), width=2)
    assert Books().arun(Calls(draw, ainterrupt, seed=0), width=2) == "interrupted"


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


# Processes that die.


def die_once(candidate, rng, folder=None, chosen=None, beside=None):
    """Kill the process at the chosen candidate; once, if there is a folder to remember that in.

    Then `beside` never returns before that: the chosen one surely has company when it dies.
    """
    if folder is None:
        if candidate == chosen:
            os.kill(os.getpid(), signal.SIGKILL)
    elif candidate == beside and not (folder / "beside").exists():
        (folder / "beside").touch()
        time.sleep(PATIENCE)
    elif candidate == chosen and not (folder / "died").exists():
        until((folder / "beside").exists)
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.001)
    return coin(candidate, rng)


def doomed(folder=None):
    calls = Calls(draw, coin, seed=0)
    die = functools.partial(die_once, folder=folder, chosen=calls.candidate(2), beside=calls.candidate(1))
    return Calls(draw, die, seed=0)


def test_a_process_that_died_is_replaced_and_only_the_culprit_pays(tmp_path):
    books = Books()
    with open_executor("processes", 2) as crew:
        with pytest.raises(PullFailed, match="pull 0 of arm 2 failed: the process that evaluated it died"):
            books.run(doomed(), executor=crew)
        assert [(pull.arm, action) for pull, _, action in books.failures if action != "again"] == [(2, "raise")]
        books.check()
        # Once more with a policy: every pull of the arm kills its process, the others are as without it.
        assert books.run(doomed(), executor=crew, on_error="worst") == "stopped"
    books.check()
    calls = Calls(draw, coin, seed=0)
    for (arm, number), reward in books.told().items():
        expected = 0.0 if arm == 2 else calls.evaluation(Pull(arm, number, 0), calls.candidate(arm))()
        assert reward == expected
    once = Books()
    assert once.run(doomed(tmp_path), executor="processes", width=2) == "stopped"
    assert (tmp_path / "died").exists()
    assert {action for _, _, action in once.failures} == {"again"}, "alone it survived: nobody is to blame"


def test_the_callers_broken_pool_is_reported():
    books = Books()
    with ProcessPoolExecutor(2) as pool:
        with pytest.raises(PullFailed, match="the executor takes no more work or lost a worker"):
            books.run(doomed(), executor=pool, on_error="worst")
        books.check()
        with pytest.raises(PullFailed, match="the executor takes no more work or lost a worker"):
            books.run(doomed(), executor=pool)
    books.check()
    assert books.run(Calls(draw, coin, seed=0)) == "stopped"


class Crooked(Exception):
    """Pickles, and does not unpickle: in a pool of processes that would break the pool."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def crooked(candidate):
    raise Crooked("salt", "pepper")


def elsewhere(candidate):
    raise ZeroDivisionError("remote")


def hang_elsewhere(candidate):
    time.sleep(3600.0)


def test_failures_in_processes_are_told_apart():
    with open_executor("processes", 1) as crew:
        with pytest.raises(PullFailed, match="Crooked: salt and pepper") as failure:
            Books().run(Calls(draw, crooked, seed=0), executor=crew)
        assert "in crooked" in failure.value.__cause__.__notes__[0], "the worker's own traceback"
        with pytest.raises(PullFailed) as failure:
            Books().run(Calls(draw, elsewhere, seed=0), executor=crew)
        assert isinstance(failure.value.__cause__, ZeroDivisionError)
        with pytest.raises(ValueError, match="pull must be a function that workers can import"):
            Books().run(Calls(draw, lambda candidate: 0.0, seed=0), executor=crew)
        with pytest.raises(ValueError, match="candidate must be an object that pickle can send to a worker"):
            Books().run(Calls(threading.Lock, elsewhere, seed=0), executor=crew)
        for _ in range(2):  # the second time on a process that took the place of the hung one
            with pytest.raises(PullFailed, match=r"no reward within 0\.2 seconds"):
                Books().run(Calls(draw, hang_elsewhere, seed=0), executor=crew, timeout=0.2)


# Budgets, notices, interrupts.


@pytest.mark.parametrize("kind", [None, "threads", "asyncio"])
def test_pulls_are_never_more_than_the_budget(kind):
    for limit in (0, 1, 7, 30):
        books, calls = Books(("cc-lucb", 0.1, 0.1, 0.1)), Calls(draw, coin, seed=0)
        assert evaluate(books, calls, kind, "", budget=Budget(pulls=limit)) == "pulls"
        assert books.search.told == limit
        assert evaluate(books, calls, kind, "", budget=Budget(pulls=5)) == "pulls"
        assert books.search.told == limit + 5
        books.check()


def test_a_search_that_stops_with_its_last_pull_has_stopped():
    whole = by_hand().search.told
    books = Books()
    assert books.run(Calls(draw, coin, seed=0), budget=Budget(pulls=whole - 1)) == "pulls"
    assert books.run(Calls(draw, coin, seed=0), budget=Budget(pulls=1)) == "stopped"
    assert books.rewards == by_hand().rewards
    books = Books()
    assert books.run(Calls(draw, coin, seed=0), budget=Budget(pulls=whole)) == "stopped"
    assert books.run(Calls(draw, coin, seed=0)) == "stopped"


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_time_runs_out_while_waiting(kind):
    books, over = Books(), threading.Event()
    calls = Calls(draw, lambda mean: over.wait(), seed=0)
    assert evaluate(books, calls, kind, "", budget=Budget(seconds=0.5), patience=0.0) == "seconds"
    over.set()
    books.check()
    assert len(books.search.outstanding) == 3


def test_costs_add_up():
    books = Books(("cc-lucb", 0.1, 0.1, 0.1))
    meter = Meter(Budget(cost=5.0, cost_of=lambda mean, reward: 0.5))
    assert books.run(Calls(draw, coin, seed=0), budget=meter) == "cost"
    assert (books.search.told, meter.pulls, meter.cost) == (10, 10, 5.0)
    assert books.run(Calls(draw, coin, seed=0), budget=meter) == "cost", "it goes on counting"
    assert books.search.told == 10
    for bad in (math.nan, -1.0, math.inf):
        with pytest.raises(ValueError, match="cost must be"):
            books.run(Calls(draw, coin, seed=0), budget=Budget(cost=5.0, cost_of=bad))
        books.check()
    for wrong in (Budget(pulls=-1), Budget(seconds=-1.0), Budget(cost=-1.0, cost_of=1.0), Budget(cost=1.0)):
        with pytest.raises(ValueError, match=r"^(pulls|seconds|cost|cost_of) must be"):
            Meter(wrong)


@pytest.mark.parametrize("kind", [None, "threads", "asyncio"])
def test_a_notice_ends_the_run_and_the_next_one_goes_on(kind):
    books, calls, said = Books(), Calls(draw, coin, seed=0), []

    def notice():
        said.append(books.search.told)
        return "message" if len(said) == 3 else None

    assert evaluate(books, calls, kind, "", notice=notice) == "message"
    books.check()
    assert evaluate(books, calls, kind, "", notice=notice) == "stopped"
    books.check()


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_notices_come_while_nothing_else_happens(kind):
    said, over = [], threading.Event()

    def notice():
        said.append(len(said))
        return "enough" if len(said) == 5 else None

    calls = Calls(draw, lambda mean: over.wait(), seed=0)
    assert evaluate(Books(), calls, kind, "", notice=notice, poll=0.02, patience=0.0) == "enough"
    over.set()


SCRIPT = """
import os, signal, sys, threading, time
from topalpha import Search, design
from topalpha.execution import Calls, run

def pull(candidate):
    if search.told >= 20:
        ready.set()
        over.wait(30.0)
    return candidate

def interrupt():
    ready.wait()
    while signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # the run goes on
        os.kill(os.getpid(), signal.SIGINT)  # two that come too fast are one
        time.sleep(0.001)

sys.setswitchinterval(60.0)  # so that the run cannot end between these two lines

ready, over = threading.Event(), threading.Event()
threading.Thread(target=interrupt).start()
calls = Calls(lambda rng: rng.random(), pull, seed=0)
search = Search(design("cc-lucb", 0.1, 0.05, 0.1))
kind = sys.argv[1]
options = {} if kind == "none" else {"executor": kind, "width": 4}
reason = run(search, calls, candidates=[], new_candidate=calls.candidate, **options)
print(reason, not over.is_set(), search.asked - search.told == len(search.outstanding) > 0)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
over.set()
"""


@pytest.mark.parametrize("kind", ["none", "threads"])
def test_a_second_control_c_returns_at_once_and_loses_nothing(kind):
    done = subprocess.run([sys.executable, "-c", SCRIPT, kind], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["interrupted", "True", "True", "True"], done.stderr


def test_a_cancelled_task_tells_what_has_finished():
    books = Books()

    async def slow(mean, rng):
        await asyncio.sleep(0.01 if len(books.asked) < 10 else 30.0)
        return coin(mean, rng)

    async def main():
        calls = Calls(draw, slow, seed=0)
        task = asyncio.create_task(
            arun(books.search, calls, candidates=books.candidates, new_candidate=calls.candidate, width=4)
        )
        while len(books.rewards) < 5:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
    books.check()
    assert books.search.told >= 5
    assert books.run(Calls(draw, coin, seed=0)) == "stopped"


def test_coroutine_functions_are_recognised():
    class Asynchronous:
        async def __call__(self, candidate):
            return 0.0

    for pull in (acoin, functools.partial(acoin, rng=None), Asynchronous()):
        assert Calls(draw, pull, seed=0).asynchronous
    assert not Calls(draw, coin, seed=0).asynchronous
    with pytest.raises(ValueError, match="pull must be a plain function here"):
        Books().run(Calls(draw, acoin, seed=0))
    with pytest.raises(ValueError, match="draw must be a plain function"):
        Calls(acoin, coin, seed=0)
