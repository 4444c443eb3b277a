"""Pulls that never come back: waited for at the end of a search, known after a crash, and counted so that all holds."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future
from contextlib import closing, suppress

import numpy as np
import pytest
from scipy.stats import binom

from tests.support.waiting import PATIENCE, until
from topalpha import PullFailed, asearch, design, resume, search, select, verify
from topalpha.algorithms.enduring import enduring
from topalpha.ask_tell import Search, Task
from topalpha.confidence.lost import lost_column
from topalpha.execution import Calls, run
from topalpha.families import PassFail
from topalpha.session import Session
from topalpha.storage import control, read

EASY = {"alpha": 0.2, "epsilon": 0.3, "delta": 0.1, "progress": "none"}


def draw(rng):
    return rng.random()


def coin(mean, rng):
    return float(rng.random() < mean)


class Gate:
    """A pull that stays inside from its fourth call on, until it is opened; the sixth may wait for two and leave."""

    def __init__(self):
        self.calls, self.inside, self.open = itertools.count(), threading.Semaphore(0), threading.Event()
        self.leaves = True

    def wait_for(self, many):
        for _ in range(many):
            assert self.inside.acquire(timeout=PATIENCE)

    def __call__(self, mean, rng):
        call = next(self.calls)
        if call == 5 and self.leaves:
            self.wait_for(2)
        elif call >= 3:
            self.inside.release()
            self.open.wait(PATIENCE)
        return coin(mean, rng)


#: A budget that is spent when the sixth call is back.
SPENT = {"cost": 4.0, "cost_of": 1.0}


# What is in flight at the end is waited for.


def end_by_budget(gate, path):
    threading.Timer(0.5, gate.open.set).start()
    return SPENT


def end_by_message(gate, path):
    def stop():
        gate.wait_for(3)
        control(path, None, "stop")
        until(lambda: heard(path))
        gate.open.set()

    gate.leaves = False
    threading.Thread(target=stop).start()
    return {}


def heard(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM messages WHERE handled").fetchone() == (1,)


@pytest.mark.parametrize("way", [end_by_budget, end_by_message])
@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_pulls_in_flight_at_the_end_are_waited_for_and_recorded(tmp_path, way, kind):
    path, gate = tmp_path / "one.db", Gate()
    options = {**EASY, **way(gate, path), "storage": path, "width": 3}
    if kind == "asyncio":

        async def pull(mean, rng):
            return await asyncio.get_running_loop().run_in_executor(None, gate, mean, rng)

        result = asyncio.run(asearch(draw, pull, **options))
    else:
        result = search(draw, gate, executor="threads", workers=3, **options)
    record = read(path)
    assert not result.stopped
    assert len(record.tells) == len(record.asks) >= 6, "nothing is outstanding"
    assert record.failures == []
    assert result.certificate.failures == {}
    assert verify(path) == result.certificate


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_how_long_is_an_argument_and_what_was_given_up_is_stated(tmp_path, kind):
    path, gate = tmp_path / "one.db", Gate()
    options = {**EASY, **SPENT, "patience": 0.1, "storage": path, "width": 3}
    if kind == "asyncio":

        async def pull(mean, rng):
            return await asyncio.get_running_loop().run_in_executor(None, gate, mean, rng)

        async def main():
            try:
                return await asearch(draw, pull, **options)
            finally:
                gate.open.set()

        result = asyncio.run(main())
    else:
        result = search(draw, gate, executor="threads", workers=3, **options)
        gate.open.set()
    given_up = [failure for failure in read(path).failures if failure.action == "again"]
    assert len(given_up) == 2
    assert given_up[0].reason == "it was given up, 0.1 seconds after the search ended"
    assert result.certificate.failures == {"again": 2}
    stated = (
        "2 pulls were begun and lost, to be evaluated again: whether a pull is lost does not depend on its outcome."
    )
    assert stated in result.certificate.assumptions
    assert verify(path) == result.certificate
    late = resume(path, draw, coin, progress="none")
    assert late.stopped
    assert late.certificate.failures == {"again": 2}, "counted once"
    assert stated in late.certificate.assumptions
    assert verify(path) == late.certificate


@pytest.mark.parametrize("value", [-1.0, math.nan, "soon"])
def test_patience_must_be_a_number_of_seconds(value):
    with pytest.raises(ValueError, match="patience must be"):
        search(draw, coin, **EASY, patience=value)

    async def pull(mean, rng):
        return coin(mean, rng)

    with pytest.raises(ValueError, match="patience must be"):
        asyncio.run(asearch(draw, pull, **EASY, patience=value))
    for width in (0, 1.5):
        with pytest.raises(ValueError, match="width must be a whole number of at least 1"):
            asyncio.run(asearch(draw, pull, **EASY, width=width))
    with pytest.raises(ValueError, match="use asearch and aresume for coroutine functions"):
        search(draw, pull, **EASY)


def test_others_are_waited_for_when_a_pull_fails():
    calls = itertools.count()

    def pull(mean, rng):
        if next(calls) == 5:
            raise LookupError("no")
        threading.Event().wait(0.05)
        return coin(mean, rng)

    with pytest.raises(PullFailed) as failure:
        search(draw, pull, **EASY, executor="threads", workers=3)
    assert failure.value.result.pulls >= 5
    assert failure.value.result.certificate.failures == {}


def test_a_coroutine_that_swallows_cancellation_is_closed(caplog):
    begun, ended, calls = [], [], itertools.count()

    async def stubborn(mean, rng):
        call = next(calls)
        while call == 9 and len(begun) < 3:
            await asyncio.sleep(0.0)
        if 5 < call < 9:
            begun.append(mean)
            try:
                while True:
                    with suppress(asyncio.CancelledError):
                        await asyncio.sleep(3600.0)
            finally:
                ended.append(mean)
        return coin(mean, rng)

    result = asyncio.run(asearch(draw, stubborn, **EASY, cost=7.0, cost_of=1.0, patience=0.1, width=4))
    assert not result.stopped
    assert len(ended) == result.certificate.failures["again"] == 3
    assert caplog.text.count("must not swallow CancelledError") == 1


# After a crash.

CRASH = """
import os, sys, threading, time
import topalpha
path, on_lost, kind = sys.argv[1:]
count = [0]
def pull(mean, rng):
    count[0] += 1
    if count[0] > 40:
        time.sleep(60.0)
    return float(rng.random() < mean)
def watch():
    while count[0] < (41 if kind == "none" else 43):
        time.sleep(0.01)
    os.kill(os.getpid(), 9)
threading.Thread(target=watch).start()
options = {} if kind == "none" else {"executor": kind, "workers": 3}
target = {"alpha": 0.2, "epsilon": 0.3, "delta": 0.1}
topalpha.search(lambda rng: rng.random(), pull, **target, storage=path, on_lost=on_lost, **options)
"""


@pytest.mark.parametrize("kind", ["none", "threads"])
@pytest.mark.parametrize("on_lost", ["again", "worst"])
def test_after_a_crash_pulls_that_never_came_back_are_known(tmp_path, kind, on_lost):
    path, width = tmp_path / "one.db", 1 if kind == "none" else 3
    done = subprocess.run([sys.executable, "-c", CRASH, str(path), on_lost, kind], capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    before = read(path)
    out = set(range(len(before.asks))) - {order for order, _ in before.tells}
    assert len(out) == width, "the record has them"
    result = resume(path, draw, coin, progress="none")
    assert result.stopped
    if on_lost == "again":
        assert result.certificate.failures == {"again": width}
        assert any("does not depend on its outcome" in one for one in result.certificate.assumptions)
    else:
        assert result.certificate.failures == {"lost": width}
        assert read(path).lost == out
        count = "One lost pull counts" if width == 1 else f"{width} lost pulls count"
        assert any(one.startswith(count) for one in result.certificate.assumptions)
        assert not any("repeated" in one for one in result.certificate.assumptions)
    assert verify(path) == result.certificate


def test_a_pull_that_nobody_began_is_not_lost(tmp_path):
    path = tmp_path / "one.db"
    search(draw, coin, **EASY, storage=path, on_lost="worst", pulls=7)
    assert [failure.action for failure in read(path).failures] == ["idle"], "the one that would have come next"
    with Session.resume(path) as session:
        idle, begun = session.ask_many(2)
        session.rest(idle)
    with Session.resume(path) as session:
        session.recover()
        assert (idle.order in read(path).lost, begun.order in read(path).lost) == (False, True)
        assert session.ask() == idle
    with Session.resume(path) as session:
        session.recover()
        assert idle.order in read(path).lost, "the second time it was begun"
        with pytest.raises(ValueError, match="pull must be asked for and not yet told"):
            session.lose(begun)
        with pytest.raises(ValueError, match="be the one told before"):
            session.tell(begun, 1.0)
        told = session.ask()
        session.tell(told, 1.0)
        with pytest.raises(ValueError, match="pull must be asked for and not yet told"):
            session.lose(told)
        certificate = session.finish("message")
    assert told.order not in read(path).lost
    assert verify(path) == certificate


def test_files_without_lost_pulls_are_as_they_were(tmp_path):
    path = tmp_path / "one.db"
    search(draw, coin, **EASY, storage=path)
    config = read(path).config
    assert "on_lost" not in config["task"]
    assert Task.from_dict(config["task"]).on_lost == "again"


# Lost pulls as the worst that they may have been.


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"family": "gaussian(1)"}, "on_lost must be again: gaussian rewards have no largest and no smallest value"),
        ({"family": "normal"}, "on_lost must be again: normal rewards have no largest and no smallest value"),
        ({"family": "low-variance(0,1)"}, "on_lost must be again for low-variance rewards"),
        ({"algorithm": "kl-lucb"}, "on_lost must be again for kl-lucb; worst is for joint-lucb, cc-lucb and"),
        ({"on_lost": "drop"}, "on_lost must be one of again, worst"),
    ],
)
def test_worst_is_refused_where_nothing_is_proved(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        search(draw, coin, **{**EASY, "on_lost": "worst", **options})


def test_a_search_that_does_not_count_lost_pulls_refuses_them():
    plain = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    with pytest.raises(ValueError, match="algorithm must have bounds that count lost pulls, got 'cc-lucb'"):
        plain.lose(plain.ask())
    calls = Calls(draw, coin, seed=0)
    with pytest.raises(ValueError, match="on_lost must be again for an algorithm that does not count lost pulls"):
        run(plain, calls, candidates=[], new_candidate=calls.candidate, on_lost="worst")


MADE = [("joint-lucb", {}), ("cc-lucb", {}), ("cc-lucb", {"bounds": "kt"}), ("lucb++", {})]
LAWS = [None, PassFail(40)]


@pytest.mark.parametrize("family", LAWS, ids=["range", "items"])
@pytest.mark.parametrize(("name", "options"), MADE, ids=str)
def test_what_is_proved_with_lost_pulls_is_proved_whatever_they_gave(name, options, family):
    """Bounds with lost pulls contain those with any rewards in their place; claims are no stronger."""
    if family is not None and options:
        pytest.skip("one kind of bounds for items")
    algorithm = enduring(design(name, 0.3, 0.2, 0.2, family, **options))
    source = random.Random(7)
    for _ in range(6):
        lossy = Search(algorithm)
        others = [Search(algorithm) for _ in range(3)]
        asked = 0
        while asked < 200 and not lossy.exhausted:
            found = lossy.ask_many(4)
            if not found:
                break
            for pull in found:
                asked += 1
                lost = source.random() < 0.2
                reward = float(source.random() < 0.3 + 0.4 * (pull.arm % 2))
                if lost:
                    lossy.lose(pull)
                else:
                    lossy.tell(pull, reward)
                for filled, other in enumerate(others):
                    # The same pulls in the same order, whatever this one would have asked for.
                    replayed(other, pull.arm, [0.0, 1.0, reward][filled] if lost else reward)
        for arm in range(lossy.history.arms):
            for other in others:
                assert lossy.upper(arm) >= upper(other, arm) - 1e-9
                if name != "joint-lucb":  # its lower bound rests on when an arm was registered
                    assert lossy.lower(arm) <= lower(other, arm) + 1e-9


def replayed(search, arm, reward):
    """Fold a reward in, past the rule that asks."""
    while arm >= len(search._pulls):
        search._grow()
    search._arms = max(search._arms, arm + 1)
    search._t += 1
    search.algorithm.observe(search.history, search._memory, arm, reward)


def upper(search, arm):
    return search.algorithm.upper_bound(search.history, search._memory, arm)


def lower(search, arm):
    return search.algorithm.lower_bound(search.history, search._memory, arm)


def evidences(algorithm, rewards, lost, then):
    """What the evidence of one arm says at many points, after these rewards, some of them lost."""
    evidence, column = algorithm.evidence, lost_column(algorithm)
    tables, stats = evidence.tables(), [[0.0] for _ in range(algorithm.traits.columns)]
    history = Search(algorithm).history._replace(arms=1, pulls=[0], stats=stats)
    for place, reward in enumerate(rewards):
        if place == then:
            evidence.enroll(history, 0)
        seen = 0.0 if place in lost else reward
        history.pulls[0] += 1
        stats[0][0] += seen
        stats[column][0] += place in lost
        evidence.fold(history, tables, 0, seen)
    points = np.linspace(0.02, 0.98, 25)
    below = [evidence.evidence_below(history, tables, 0, x) for x in points]
    above = [evidence.evidence_above(history, tables, 0, x) for x in points]
    return np.array(below), np.array(above), stats[1][0]


@pytest.mark.parametrize("family", LAWS, ids=["range", "items"])
def test_evidence_with_lost_pulls_is_weaker_whatever_they_gave(family):
    algorithm, source = enduring(design("joint-lucb", 0.3, 0.1, 0.2, family)), random.Random(3)
    for _ in range(60):
        size, then = source.randint(1, 36), source.randint(0, 20)
        rewards = [float(source.random() < 0.6) for _ in range(size)]
        lost = {place for place in range(size) if source.random() < 0.3}
        below, above, highest = evidences(algorithm, rewards, set(), then)
        weak_below, weak_above, weak_highest = evidences(algorithm, rewards, lost, then)
        assert np.all(weak_below <= below + 1e-9)
        assert np.all(weak_above <= above + 1e-9)
        assert weak_highest >= highest - 1e-9


@pytest.mark.parametrize("name", ["joint-lucb", "cc-lucb", "lucb++"])
def test_without_a_lost_pull_nothing_changes(name):
    plain, careful = (search(draw, coin, **EASY, algorithm=name, on_lost=one) for one in ("again", "worst"))
    if name != "lucb++":
        assert (plain.arm, plain.pulls, plain.mean) == (careful.arm, careful.pulls, careful.mean)
    assert careful.stopped


def test_too_many_lost_items_end_the_search(tmp_path):
    """On a test set an item that is lost is not tried again: what is left may not settle the choice."""
    task = Task(0.5, 0.05, 0.1, family="pass-fail", algorithm="cc-lucb", pool=2, items=4, on_lost="worst")
    path = tmp_path / "one.db"
    with Session.start(task, storage=path) as session:
        while pulls := session.ask_many(1):
            for pull in pulls:
                if pull.arm == len(session.candidates):
                    session.keep(pull.arm, pull.arm)
                if pull.number < 2:
                    session.tell(pull, 1.0)
                else:
                    session.lose(pull)
        assert session.exhausted
        assert not session.stopped
        with pytest.raises(RuntimeError, match="too many pulls are lost"):
            session.ask()
        certificate = session.finish("lost")
    assert "so many pulls were lost" in certificate.statement
    assert verify(path) == certificate
    lost, over = itertools.count(), threading.Event()

    def hang(candidate, item):
        if next(lost) % 2:
            over.wait(PATIENCE)
        return 1.0

    options = {"executor": "threads", "workers": 2, "timeout": 0.05, "on_error": "retry", "progress": "none"}
    chosen = select([1, 2], [1, 2, 3, 4], hang, epsilon=0.05, on_lost="worst", **options)
    over.set()
    assert chosen.certificate.reason in ("lost", "stopped")
    assert chosen.certificate.failures["lost"] > 0
    assert "retry" not in chosen.certificate.failures, "what timed out is lost, and not tried again"


# Durations that depend on outcomes: failures are slow, passes are quick, and every evaluation tosses its own coin.


class Lab(Executor):
    """Evaluates at once; a pass is known at once, too, and a failure only when somebody waits for it."""

    _max_workers = 4

    def __init__(self, seed):
        self.rng, self.slow = random.Random(seed), []

    def submit(self, function, evaluation):
        future = Future()
        future.set_running_or_notify_cancel()
        (mean,) = evaluation.arguments
        reward = float(self.rng.random() < mean)
        if reward == 1.0:
            future.set_result(reward)
        else:
            self.slow.append(future)
        return future

    def wake(self):
        """Time passes."""
        for future in self.slow:
            if not future.done():
                future.set_result(0.0)
        self.slow.clear()


def searched(seed, patience, on_lost, kept):
    """A search whose time is over as soon as only slow pulls are left, and which is then taken up again.

    With probability ``kept`` those come back in time. The true mean of what it returns, or None.
    """
    algorithm = design("cc-lucb", 0.25, 0.3, DELTA)
    found = Search(enduring(algorithm) if on_lost == "worst" else algorithm, seed)
    chance, lab, calls = random.Random(seed + 1000), Lab(seed), Calls(lambda rng: 0.0, lambda mean: 0.0, seed=seed)
    means = [0.75 if chance.random() < 0.25 else 0.25 for _ in range(100)]
    candidates, seen = [], [0]

    def notice():
        if found.told > seen[-1]:
            seen.append(found.told)
            return None
        in_time = chance.random() < kept
        if in_time or patience > 0.0:
            lab.wake()
        return None if in_time else "message"

    terms = {"candidates": candidates, "new_candidate": means.__getitem__, "executor": lab, "width": 4, "poll": 1e-4}
    while found.told < (2500 if kept or patience else 200):
        if run(found, calls, **terms, notice=notice, patience=patience, on_lost=on_lost) == "stopped":
            return candidates[found.result.arm]
        lab.slow.clear()
    return None


RUNS, DELTA = 20, 0.1


def errors(patience, on_lost, kept=0.0):
    """How many searches returned a candidate that is not good, and how many returned one."""
    outcomes = [searched(seed, patience, on_lost, kept) for seed in range(RUNS)]
    return sum(mean is not None and mean < 0.5 for mean in outcomes), sum(mean is not None for mean in outcomes)


@pytest.mark.statistical
def test_slow_failures_do_not_make_a_search_err():
    wrong, stopped = errors(60.0, "again")
    assert stopped == RUNS
    assert binom.sf(wrong - 1, RUNS, DELTA) > 1e-6


@pytest.mark.statistical
@pytest.mark.parametrize("kept", [0.0, 0.95])
def test_slow_failures_that_are_lost_count_as_the_worst(kept):
    wrong, stopped = errors(0.0, "worst", kept)
    assert stopped == RUNS or kept == 0.0, "where all failures are lost, next to nothing can be proved"
    assert binom.sf(wrong - 1, RUNS, DELTA) > 1e-6


@pytest.mark.statistical
def test_control_evaluating_slow_failures_again_is_found_out():
    wrong, _ = errors(0.0, "again")
    assert binom.sf(wrong - 1, RUNS, DELTA) < 1e-6
