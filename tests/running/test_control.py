"""A running search obeys: paused, going on and ended, by every driver, with nothing changed in what is proved."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from tests.support.marks import quick
from tests.support.storing import CHILDREN
from tests.support.waiting import until
from topalpha import Session, Task, asearch, aselect, resume, search, select, verify
from topalpha.ask_tell import proved_claims, stand, strongest
from topalpha.cli import main
from topalpha.execution import Budget, Calls, Meter, run
from topalpha.research.audit.survival import draw, reward
from topalpha.running import Running, Watch
from topalpha.session import Progress, Reporter
from topalpha.storage import Storage, listing, post, read

EASY = {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1, "seed": 3, "progress": "none"}
#: A target that takes far longer than any test.
LONG = EASY | {"epsilon": 0.01}
QUIET = {"progress": "none"}


def slow(candidate, rng):
    time.sleep(0.005)
    return reward(candidate, rng)


async def slow_coroutine(candidate, rng):
    await asyncio.sleep(0.005)
    return reward(candidate, rng)


def passes(candidate, example):
    time.sleep(0.005)
    return (candidate * example) % 7 < 3


async def passes_coroutine(candidate, example):
    await asyncio.sleep(0.005)
    return (candidate * example) % 7 < 3


def by_model_search(path):
    from scipy.stats import loguniform
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    from topalpha.sklearn import TopAlphaSearchCV

    table, labels = make_classification(60, random_state=0)
    space = {"C": loguniform(1e-3, 1e3)}
    found = TopAlphaSearchCV(
        LogisticRegression(), space, alpha=0.3, epsilon=0.01, storage=path, refit=False, random_state=0
    )
    return found.fit(table, labels).certificate_


LISTED = {"epsilon": 0.001, "delta": 0.01, "progress": "none"}
DRIVERS = {
    "one by one": lambda path: search(draw, slow, **LONG, storage=path),
    "threads": lambda path: search(draw, slow, **LONG, storage=path, executor="threads", workers=3),
    "processes": lambda path: search(draw, reward, **LONG, storage=path, executor="processes", workers=2),
    "coroutines": lambda path: asyncio.run(asearch(draw, slow_coroutine, **LONG, storage=path, width=3)),
    "select": lambda path: select(list(range(40)), range(2000), passes, **LISTED, storage=path),
    "aselect": lambda path: asyncio.run(
        aselect(list(range(40)), range(2000), passes_coroutine, **LISTED, storage=path)
    ),
    "model search": by_model_search,
}


def state(path):
    return listing(path)[0]


def paused(path):
    return path.exists() and bool(listing(path)) and state(path).paused


def pulls(path):
    return (state(path).progress or {}).get("pulls", 0)


def begun(path):
    return path.exists() and bool(listing(path)) and pulls(path) > 0


@pytest.mark.parametrize("driver", quick(DRIVERS, [one for one in DRIVERS if one != "model search"]))
def test_every_driver_pauses_goes_on_and_ends(path, driver):
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(DRIVERS[driver], path)
        until(lambda: future.done() or begun(path))
        assert not future.done()
        post(path, None, "pause")
        until(lambda: paused(path))
        until(lambda: state(path).progress["in_flight"] == 0 or driver in ("one by one", "select", "model search"))
        told, sign = len(read(path).tells), state(path).updated
        until(lambda: state(path).updated > sign + 0.8 and state(path).alive())
        assert len(read(path).tells) == told == pulls(path), "nothing is pulled, and what was in flight was told"
        post(path, None, "continue")
        until(lambda: len(read(path).tells) > told)
        until(lambda: not paused(path))
        post(path, None, "pause")
        until(lambda: paused(path))
        post(path, None, "stop")
        result = future.result()
    certificate = getattr(result, "certificate", result)
    assert certificate.reason == state(path).status == "message"
    assert not state(path).paused
    assert state(path).progress["paused"] is False
    assert verify(path, allow_pickle=True) == certificate


def test_a_pause_changes_no_pull_and_no_decision(tmp_path):
    plain, interrupted = tmp_path / "plain.db", tmp_path / "paused.db"
    whole = search(draw, reward, **EASY, storage=plain)
    calls, seen, others = 0, [], []

    def go_on():
        until(lambda: paused(interrupted))
        post(interrupted, None, "continue")

    def pull(candidate, rng):
        nonlocal calls
        calls += 1
        if calls in (1, 40, 90):
            time.sleep(0.41)  # so that the message is found after this very pull
            post(interrupted, None, "pause")
            others.append(threading.Thread(target=go_on))
            others[-1].start()
        return reward(candidate, rng)

    result = search(draw, pull, **EASY, storage=interrupted, callbacks=[seen.append])
    assert len(others) == 3
    assert {one.pulls for one in seen if one.paused} == {1, 40, 90}
    before, after = read(plain), read(interrupted)
    for part in ("config", "status", "arms", "asks", "waits", "tells", "failures", "certificate"):
        assert getattr(before, part) == getattr(after, part), part
    assert result.certificate == whole.certificate
    assert result.stopped


@pytest.fixture
def watched(path):
    """A session in a file with a few rewards, and what looks after it, due at every call."""
    with Session.start(Task(0.3, 0.3, 0.2, algorithm="cc-lucb"), path) as session:
        for pull in session.ask_many(10):
            session.keep(pull.arm, pull.arm)
            session.tell(pull, float(pull.arm == 2))
        yield session, Watch(session, Running(), lambda progress, leader: None)


@pytest.mark.parametrize(
    ("messages", "held", "end"),
    [
        (["pause"], True, None),
        (["pause", "continue"], False, None),
        (["continue", "pause"], True, None),
        (["pause", "pause"], True, None),
        (["pause", "faster"], True, None),
        (["stop"], False, "message"),
        (["pause", "stop"], False, "message"),
        (["stop", "pause", "continue", "pause"], False, "message"),
    ],
)
def test_messages_are_obeyed_in_the_order_in_which_they_came(path, watched, monkeypatch, messages, held, end):
    _, watch = watched
    monkeypatch.setattr("topalpha.running.drive.PERIOD", 0.0)
    watch._next = 0.0
    for message in messages:
        post(path, None, message)
    assert (watch(), watch.paused, state(path).progress["paused"]) == (end, held, held)
    assert (watch(), watch.paused) == (end, held), "they were taken, and still hold"


def test_messages_that_came_before_the_run_are_not_for_it(path):
    search(draw, reward, **EASY, storage=path, pulls=5)
    for message in ("pause", "stop", "pause"):
        post(path, None, message)
    assert resume(path, draw, reward, **QUIET).stopped


def test_what_is_proved_is_found_when_it_is_paused_and_not_again(path, watched, monkeypatch):
    session, watch = watched
    monkeypatch.setattr("topalpha.running.drive.PERIOD", 0.0)
    surveyed = []
    monkeypatch.setattr(
        "topalpha.session.progress.stand",
        lambda *given, **how: surveyed.append(how["proved"]) or stand(*given, **how),
    )
    watch._next, watch.snapshots.next_proof = 0.0, float("inf")
    watch()
    assert (surveyed, state(path).progress["claims"]) == ([False], None)
    post(path, None, "pause")
    watch()
    assert (surveyed, state(path).paused) == ([False], True), "that it is paused, it says before"
    for _ in range(3):
        watch()
    assert surveyed == [False, True]
    expected = [list(claim) for claim in proved_claims(session, strongest(session))]
    assert state(path).progress["claims"] == expected != []


def test_the_clock_of_a_budget_stands_still(monkeypatch):
    now = 100.0
    monkeypatch.setattr("topalpha.execution.endings.time.monotonic", lambda: now)
    meter = Meter(Budget(seconds=10.0))
    now = 104.0
    meter.hold(True)
    now = 200.0
    meter.hold(True)
    assert (meter.seconds, meter.seconds_left, meter.over(), meter.held) == (4.0, 6.0, None, True)
    meter.hold(False)
    meter.hold(False)
    now = 205.0
    assert (meter.seconds, meter.over(), meter.held) == (9.0, None, False)
    now = 206.0
    assert meter.over() == "seconds"


@pytest.mark.parametrize("how", [{}, {"executor": "threads", "width": 2}], ids=["one by one", "threads"])
def test_a_pause_does_not_spend_seconds(how, monkeypatch):
    """By a clock on which a pull takes a second and a pause a hundred."""
    now = 0.0
    monkeypatch.setattr("topalpha.execution.endings.time.monotonic", lambda: now)

    def pull(candidate, rng):
        nonlocal now
        now += 1.0
        return reward(candidate, rng)

    pauses = []

    def held():
        nonlocal now
        if session.told >= 5 and len(pauses) < 3:
            now += 100.0 if pauses else 0.0  # the meter stands still from the first answer on
            pauses.append(now)
            return True
        return False

    calls = Calls(draw, pull, seed=0)
    session = Session(Task(0.2, 0.01, 0.1))
    arms = session.candidates
    budget = Budget(seconds=20.0)
    reason = run(session, calls, candidates=arms, new_candidate=calls.candidate, budget=budget, paused=held, **how)
    assert reason == "seconds"
    assert len(pauses) == 3
    assert session.told >= 15


def test_before_the_first_reward_a_search_can_be_paused_and_an_end_waits_for_one(path):
    gate = threading.Event()

    def pull(candidate, rng):
        gate.wait()
        return reward(candidate, rng)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(search, draw, pull, **LONG, storage=path, executor="threads", workers=2)
        until(lambda: path.exists() and bool(listing(path)) and state(path).progress == {})
        first = state(path).updated
        until(lambda: state(path).updated > first)
        post(path, None, "pause")
        until(lambda: paused(path))
        assert state(path).progress == {"pulls": 0, "in_flight": 2, "arms": 2, "paused": True}
        post(path, None, "stop")
        time.sleep(0.6)
        assert not future.done()
        gate.set()
        result = future.result()
    assert result.certificate.reason == "message"
    assert 1 <= result.pulls < 200


# Signals


CODE = """
import asyncio, json, sys, time
from topalpha import asearch, search
from topalpha.research.audit.survival import draw, reward
path, kind, target = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
def slow(candidate, rng):
    time.sleep(0.005)
    return reward(candidate, rng)
async def coroutine(candidate, rng):
    await asyncio.sleep(0.005)
    return reward(candidate, rng)
if kind == "coroutines":
    result = asyncio.run(asearch(draw, coroutine, **target, storage=path, width=2))
else:
    more = {"executor": "threads", "workers": 2} if kind == "threads" else {}
    result = search(draw, slow, **target, storage=path, **more)
print(result.certificate.to_json())
"""


def started(path, kind, target):
    command = [sys.executable, "-c", CODE, str(path), kind, json.dumps(target)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    CHILDREN.append(process)
    until(lambda: begun(path))
    post(path, None, "pause")
    until(lambda: paused(path))
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("kind", ["one by one", "threads", "coroutines"])
def test_control_c_ends_a_paused_search(path, kind):
    process = started(path, kind, LONG)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate()
    assert json.loads(output)["reason"] == state(path).status == "interrupted"
    assert not state(path).progress["paused"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_paused_search_that_was_killed_goes_on_unpaused_where_it_was(path, tmp_path):
    process = started(path, "one by one", EASY)
    process.kill()
    process.communicate()
    assert state(path).paused
    assert state(path).alive(state(path).updated + 4.9)
    assert not state(path).alive(state(path).updated + 5.1)
    first = []

    def pull(candidate, rng):
        first.append(state(path).paused)
        return reward(candidate, rng)

    result = resume(path, draw, pull, **QUIET)
    assert first
    assert not any(first), "not even before its first pull"
    whole = search(draw, reward, **EASY, storage=tmp_path / "whole.db")
    assert (result.certificate, read(path).tells) == (whole.certificate, read(tmp_path / "whole.db").tells)


# What progress says


def test_progress_ends_with_the_claims_of_the_certificate(path):
    pilot = EASY | {"minimise": True, "family": "range(-100,0)", "epsilon": 30.0}

    def loss(candidate, rng):
        return -100.0 * reward(candidate, rng)

    early = search(draw, loss, **pilot, storage=path, pulls=200)
    assert early.certificate.claims
    assert state(path).progress["claims"] == [list(claim) for claim in early.certificate.claims]
    done = resume(path, draw, loss, **QUIET)
    assert done.stopped
    assert state(path).progress["claims"] == [list(claim) for claim in done.certificate.claims]
    assert state(path).progress["claims"][0] == [0.2, 30.0]


def test_lines_are_not_repeated_while_nothing_happens(monkeypatch, caplog):
    monkeypatch.setattr("topalpha.session.progress.LINE_PERIOD", 0.0)
    progress = Progress(1, 0, 1, 0, 0.5, None, None, None, 0, None, paused=True)
    with caplog.at_level("INFO", "topalpha"), Reporter("lines") as show:
        for _ in range(3):
            show(progress)
    assert [record.message.split(" · ")[0] for record in caplog.records] == ["paused"]


# The command line


def told(*arguments, code=0):
    result = CliRunner().invoke(main, ["control", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


@pytest.fixture
def running(path):
    """Two searches in a file: one at its end, one that someone works on."""
    search(draw, reward, **EASY, storage=path, name="done", pulls=5)
    with Storage(path) as storage:
        record = storage.create("now", {})
        record.snapshot([], {})
        yield record


def test_the_command_line_tells_the_search_that_runs(path, running):
    assert (
        told(path, "pause") == "The search 'now' was told: it starts no new evaluations until it is told to continue.\n"
    )
    assert told(path, "continue", "--name", "now") == "The search 'now' was told: it goes on.\n"
    assert (
        told(path, "stop")
        == "The search 'now' was told: it ends after the evaluations in flight, with the proved result.\n"
    )
    assert running.take_messages() == ["pause", "continue", "stop"]


def test_the_command_line_refuses_what_nobody_would_obey(path, running, tmp_path):
    ended = told(path, "stop", "--name", "done", code=2)
    words = "topalpha: the search must be running to be told to stop, got 'done', which has ended (pulls)\n"
    assert ended == words
    assert "name must be a search in the file, got 'other'" in told(path, "stop", "--name", "other", code=2)
    assert "'faster' is not one of" in told(path, "faster", code=2)
    assert "path must exist" in told(tmp_path / "none.db", "stop", code=2)
    assert running.take_messages() == []


def test_the_command_line_knows_a_search_that_is_gone_and_one_that_never_ran(path, monkeypatch):
    with Storage(path) as storage:
        record = storage.create("one", {})
        assert "which has not started to run" in told(path, "pause", code=2)
        record.snapshot([], {})
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 3600.0)
        assert "got 'one', whose last sign of life is 3,600 seconds old" in told(path, "pause", code=2)
        storage.create("two", {})
        assert "name must be given unless the file holds one search" in told(path, "pause", code=2)
