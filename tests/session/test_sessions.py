"""Searches in files: killed, interrupted, told to end or out of room, they go on as if nothing had happened."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.support.marks import quick
from tests.support.waiting import PATIENCE, until
from topalpha import PullFailed, Refuted, Session, StorageError, Task, resume, search, verify
from topalpha.research.audit import survival
from topalpha.research.audit.survival import WIDTHS, draw, reward, survive
from topalpha.storage import post, read, store, writer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and resource limits of POSIX")

EASY = {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1, "seed": 3, "progress": "none"}
THREADS = {"executor": "threads", "workers": 4}
QUIET = {"progress": "none"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "searches.db"


@pytest.fixture
def whole(tmp_path):
    """What a search gives that nothing happened to, and its record."""
    file = tmp_path / "whole.db"
    result = search(draw, reward, **EASY, storage=file)
    return result, read(file)


def same(path, result, whole):
    """Whether the search in the file ended exactly as the one that nothing happened to."""
    before, recording = whole
    seen = read(path)
    parts = ("config", "status", "arms", "asks", "waits", "tells")
    assert [part for part in parts if getattr(seen, part) != getattr(recording, part)] == []
    assert {failure.action for failure in seen.failures} <= {"again", "idle", "begun"}, (
        "where pulls stood, nothing else"
    )
    assert apart_from_notes(result.certificate) == apart_from_notes(before.certificate)
    return result.stopped


def apart_from_notes(certificate):
    """What a certificate says but for what became of pulls on the way."""
    return replace(certificate, digest=None, failures={}, assumptions=())


# kill -9


def test_killed_again_and_again_a_search_ends_as_if_nobody_had():
    outcome = survive(5, seed=0)
    assert (outcome.difference, outcome.kills) == ("", 5)
    assert outcome.repeated <= outcome.kills, "one pull is in flight at a time"


@pytest.mark.parametrize("how", quick(["threads", "processes", "coroutines"], ["threads"]))
def test_killed_again_and_again_a_search_with_pulls_in_flight_loses_and_repeats_nothing(how):
    outcome = survive(5, seed=0, how=how, algorithm="cc-lucb")
    assert (outcome.difference, outcome.kills) == ("", 5)
    assert outcome.repeated <= WIDTHS[how] * outcome.kills


@pytest.mark.slow
def test_a_process_that_is_left_behind_is_noticed(monkeypatch, tmp_path):
    left = tmp_path / "left"
    stays = "import subprocess, sys; stays = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
    stays += f"open({str(left)!r}, 'w').write(str(stays.pid)); "
    monkeypatch.setattr(survival, "_CHILD", stays + survival._CHILD)
    monkeypatch.setattr(survival, "_PATIENCE", 5.0)
    try:
        assert survive(1, seed=1).difference == "a process did not end, or left another one behind"
    finally:
        os.kill(int(left.read_text()), signal.SIGKILL)


def test_rewards_that_wait_in_memory_are_missed(monkeypatch):
    lossy = "import topalpha.storage.store as s; begin = s.Storage.__init__; "
    lossy += "s.Storage.__init__ = lambda self, path, **settings: begin(self, path, **settings | {'interval': 60.0}); "
    monkeypatch.setattr(survival, "_CHILD", lossy + survival._CHILD)
    monkeypatch.setattr(survival, "EARLY", 1000)
    assert survive(1, seed=0).difference == "a reward that was told is not on disk"


@pytest.mark.slow
def test_a_reward_that_depends_on_the_process_is_noticed(monkeypatch):
    moody = "import topalpha.research.audit.survival as s; s.draw = lambda rng: {'mean': 0.1 + 0.8 * rng.random()}; "
    monkeypatch.setattr(survival, "_CHILD", moody + survival._CHILD)
    assert survive(0, seed=0).difference == "arm 0 is another candidate"


# The end, and after it


@pytest.mark.parametrize("algorithm", ["joint-lucb", "cc-lucb", "lucb++", "kl-lucb"])
def test_a_search_that_stopped_with_pulls_in_flight_is_verified_and_stays_as_it_is(path, algorithm):
    rng, flying = np.random.default_rng(0), []
    with Session.start(Task(0.2, 0.4, 0.1, algorithm=algorithm), path) as session:
        while True:
            for pull in session.ask_many(4 - len(flying)):
                if pull.number == 0:
                    session.keep(pull.arm, draw(rng))
                flying.append(pull)
            if session.stopped:
                break
            first = flying.pop(0)
            session.tell(first, reward(session.candidates[first.arm], rng))
        certificate = session.finish("stopped")
    recording = read(path)
    assert len(recording.asks) > len(recording.tells), "some were in flight"
    assert verify(path) == certificate
    again = resume(path, draw, reward, **QUIET)
    assert (again.certificate, again.pulls) == (certificate, certificate.pulls)
    after = read(path)
    assert (after.asks, after.tells, after.certificate) == (recording.asks, recording.tells, recording.certificate)


def test_nothing_is_asked_for_after_the_stop_not_even_again():
    session = Session(Task(0.3, 0.4, 0.2, algorithm="cc-lucb"))
    flying = []
    while not session.stopped:
        flying += session.ask_many(4 - len(flying))
        if flying:
            pull = flying.pop(0)
            session.tell(pull, float(pull.arm == 2))
    assert session.outstanding
    session.again(session.outstanding[0])
    assert session.ask() is None
    assert session.ask_many(4) == []


def test_what_is_added_to_a_search_that_had_ended_withdraws_its_certificate(path):
    early = search(draw, reward, **EASY, storage=path, pulls=60)
    assert verify(path) == early.certificate
    with Session.resume(path) as session:
        session.tell_many([(pull, 0.5) for pull in session.ask_many(1)])
        assert (read(path).status, read(path).certificate) == ("running", None)
    with pytest.raises(Refuted, match="the search 'search' has not ended"):
        verify(path)


def test_a_budget_is_a_pause(path, whole):
    early = search(draw, reward, **EASY, storage=path, pulls=60)
    assert (early.stopped, early.certificate.reason, early.pulls) == (False, "pulls", 60)
    assert verify(path) == early.certificate
    assert same(path, resume(path, draw, reward, **QUIET), whole)


def test_a_failure_of_the_very_first_pull_is_the_pulls_own(path):
    def broken(candidate, rng):
        raise ZeroDivisionError("no")

    with pytest.raises(PullFailed, match="pull 0 of arm 0 failed: ZeroDivisionError: no") as caught:
        search(draw, broken, **EASY, storage=path)
    assert caught.value.result is None, "nothing is known yet"
    assert resume(path, draw, reward, **QUIET).stopped


def test_after_a_failure_the_search_goes_on_where_it_was(path, whole):
    calls = []

    def fragile(candidate, rng):
        calls.append(candidate)
        if len(calls) == 70:
            raise OSError("no route")
        return reward(candidate, rng)

    with pytest.raises(PullFailed, match="OSError: no route") as caught:
        search(draw, fragile, **EASY, storage=path)
    assert caught.value.result.certificate.reason == read(path).status == "failed"
    assert verify(path) == caught.value.result.certificate
    result = resume(path, draw, fragile, **QUIET)
    assert len(calls) == result.pulls + 1
    assert (result.arm, result.pulls, result.certificate.claims) == (
        whole[0].arm,
        whole[0].pulls,
        whole[0].certificate.claims,
    )
    assert [failure.action for failure in read(path).failures] == ["raise", "idle", "begun"]
    assert result.certificate.failures == {"retry": 1}
    assert verify(path) == result.certificate


# Disks


class Lever:
    """Gets hold of the connection that a search writes through."""

    def __init__(self, monkeypatch):
        before = writer.Writer.__init__
        self.pulled = False

        def opened(this, *arguments):
            before(this, *arguments)
            self.connection = this.connection

        monkeypatch.setattr(writer.Writer, "__init__", opened)

    def breaks_after(self, pulls, pragma, told):
        """What costs a pull, asked in the thread that owns the connection: when enough are told, the disk gives out."""

        def cost(candidate, value):
            told.append(value)
            if len(told) >= pulls and not self.pulled:
                self.pulled = True
                self.connection.execute(f"PRAGMA {pragma}")
            return 0.0

        return cost


BREAKS = {
    "full": ("max_page_count = 1", "path must have room left on its disk, got"),
    "read-only": ("query_only = ON", "path must be writable, and so its directory, got"),
}


@pytest.mark.parametrize("kind", BREAKS)
@pytest.mark.parametrize("how", [{}, THREADS], ids=["one by one", "threads"])
def test_a_disk_that_gives_out_ends_the_search_and_loses_nothing(path, monkeypatch, whole, kind, how):
    told, lever = [], Lever(monkeypatch)
    pragma, message = BREAKS[kind]
    arguments = {**EASY, **how, "storage": path, "cost_of": lever.breaks_after(60, pragma, told)}
    with pytest.raises(StorageError, match=message):
        search(draw, reward, **arguments)
    assert len(told) >= 60
    seen = read(path)
    assert (seen.status, seen.certificate) == ("running", None)
    assert [value for _, value in seen.tells] == told
    evaluated = []

    def pull(candidate, rng):
        evaluated.append(reward(candidate, rng))
        return evaluated[-1]

    result = resume(path, draw, pull, **QUIET)
    assert not set(evaluated) & set(told), "what was acknowledged is not evaluated again"
    assert verify(path) == result.certificate
    assert result.stopped
    if not how:
        assert same(path, result, whole)


def test_a_disk_that_is_full_at_the_end_keeps_the_last_reward(path, monkeypatch, whole):
    finish = Session.finish
    lever = Lever(monkeypatch)

    def full(session, reason):
        lever.connection.execute("PRAGMA query_only = ON")
        return finish(session, reason)

    monkeypatch.setattr(Session, "finish", full)
    with pytest.raises(StorageError, match="path must be writable"):
        search(draw, reward, **EASY, storage=path)
    monkeypatch.undo()
    assert read(path).tells == whole[1].tells
    assert same(path, resume(path, draw, reward, **QUIET), whole)


def test_storage_that_cannot_be_written_is_refused_before_anything_is_evaluated(path, tmp_path, monkeypatch):
    evaluated = []

    def pull(candidate):
        evaluated.append(candidate)

    for place in (tmp_path, tmp_path / "nowhere" / "searches.db"):
        with pytest.raises(StorageError, match=r"path must (name a file|lie in an existing directory), got"):
            search(draw, pull, **EASY, storage=place)
    search(draw, reward, **EASY, storage=path, pulls=40)
    before = path.read_bytes()
    monkeypatch.setattr(store.os, "access", lambda *_: False)
    with pytest.raises(StorageError, match="path must be writable, and so its directory, got"):
        search(draw, pull, **EASY, storage=path, name="second")
    with pytest.raises(StorageError, match="path must be writable, and so its directory, got"):
        resume(path, draw, pull, **QUIET)
    assert (evaluated, path.read_bytes()) == ([], before)
    assert verify(path).pulls == 40, "to read it is enough"


def test_what_cannot_name_a_file_is_refused():
    for wrong in (3, b"searches.db", ["searches.db"], True):
        words = f"must be the name of a file, got {re.escape(repr(wrong))}"
        for call in (
            lambda file: search(draw, reward, **EASY, storage=file),
            lambda file: Session.start(Task(0.2, 0.2, 0.1), storage=file),
        ):
            with pytest.raises(ValueError, match=f"^storage {words}$"):
                call(wrong)
        for call in (lambda file: resume(file, draw, reward, **QUIET), Session.resume, read, verify):
            with pytest.raises(ValueError, match=f"^path {words}$"):
                call(wrong)


def test_a_name_that_is_taken_is_refused(path):
    search(draw, reward, **EASY, storage=path, pulls=40)
    with pytest.raises(StorageError, match=r"name must be new in .*, got 'search'; to go on with that search: resume="):
        search(draw, reward, **EASY, storage=path)
    assert search(draw, reward, **EASY, storage=path, name="second", pulls=40).pulls == 40
    assert verify(path, "search").digest == verify(path, "second").digest
    with pytest.raises(StorageError, match="name must be given unless the file holds one search"):
        resume(path, draw, reward, **QUIET)


# Other processes

SLOW = r"""
import json, os, sys, time
from topalpha import search
from topalpha.research.audit.survival import draw, reward

path, options, target = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
slept = options.pop("sleep")

def pull(candidate, rng):
    os.write(1, b"pull\n")
    time.sleep(slept)
    return reward(candidate, rng)

result = search(draw, pull, **target, storage=path, **options)
print(json.dumps(result.certificate.to_dict()), flush=True)
"""


class Child:
    """A process that searches slowly and prints a line at each pull, and its certificate at last."""

    def __init__(self, path, sleep, **options):
        arguments = [str(path), json.dumps({"sleep": sleep, **options}), json.dumps(EASY)]
        command = [sys.executable, "-c", SLOW, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def wait_for(self, pulls):
        for _ in range(pulls):
            assert self.process.stdout.readline() == "pull\n"

    def certificate(self):
        output, errors = self.process.communicate()
        assert self.process.returncode == 0, errors
        return json.loads(output.splitlines()[-1])


@pytest.mark.parametrize(
    ("how", "pulls"), quick([({}, 60), ({}, 75), (THREADS, 60), (THREADS, 75)], [({}, 60), (THREADS, 75)])
)
def test_control_c_gives_a_certificate_and_the_search_goes_on_later(path, whole, how, pulls):
    with Child(path, 0.002, **how) as child:
        child.wait_for(pulls)
        child.process.send_signal(signal.SIGINT)
        certificate = child.certificate()
    seen = read(path)
    assert certificate["reason"] == seen.status == "interrupted"
    assert seen.certificate == certificate
    assert verify(path).to_dict() == certificate
    assert not verify(path).proved
    result = resume(path, draw, reward, **QUIET)
    assert verify(path) == result.certificate
    assert result.stopped
    if not how:
        assert same(path, result, whole)


def test_control_c_before_the_first_reward_is_an_interrupt_and_leaves_a_search_to_resume(path, whole):
    with Child(path, 5.0) as child:
        child.wait_for(1)
        time.sleep(0.05)
        child.process.send_signal(signal.SIGINT)
        assert "waiting at most 60 seconds for 1 pull in flight" in child.process.stderr.readline()
        child.process.send_signal(signal.SIGINT)
        _, errors = child.process.communicate()
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert same(path, resume(path, draw, reward, **QUIET), whole)


@pytest.mark.parametrize("how", quick([{}, THREADS], [THREADS]))
def test_a_slow_search_can_be_watched_and_told_to_end(path, how):
    moments = {}
    with Child(path, 0.06 if how else 0.015, **how) as child:
        child.wait_for(1)
        while len(moments) < 4:
            seen = read(path, log=False)
            if seen.progress:
                moments[seen.updated] = seen
            time.sleep(0.02)
        post(path, "search", "stop")
        certificate = child.certificate()
    for seen in moments.values():
        assert sum(row.pulls for row in seen.snapshot) == seen.progress["pulls"] > 0
        assert sum(row.pending for row in seen.snapshot) == seen.progress["in_flight"]
        assert [row.arm for row in seen.snapshot] == list(range(seen.progress["arms"]))
        assert all(row.mean is None or row.lower <= row.mean <= row.upper for row in seen.snapshot)
    counts = [moments[moment].progress["pulls"] for moment in sorted(moments)]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
    assert certificate["reason"] == read(path).status == "message"
    assert verify(path).to_dict() == certificate
    assert verify(path).pulls == read(path).progress["pulls"], "the last snapshot is the end"


def test_a_message_ends_a_search_in_a_thread_and_others_are_only_mentioned(path, whole, caplog):
    found, begun = [], threading.Event()

    def pull(candidate, rng):
        begun.set()
        time.sleep(0.02)
        return reward(candidate, rng)

    thread = threading.Thread(target=lambda: found.append(search(draw, pull, **EASY, storage=path)))
    with caplog.at_level(logging.WARNING, "topalpha"):
        thread.start()
        assert begun.wait(PATIENCE)
        post(path, None, "faster")
        until(lambda: "a control message was not understood: 'faster'" in caplog.text)
        assert thread.is_alive()
        post(path, None, "stop")
        thread.join(PATIENCE)
    assert [result.certificate.reason for result in found] == ["message"]
    assert verify(path) == found[0].certificate
    assert same(path, resume(path, draw, reward, **QUIET), whole), "the message was taken once"


def test_two_processes_do_not_work_on_one_search(path):
    with Child(path, 0.02) as child:
        child.wait_for(5)
        with pytest.raises(StorageError, match=f"path must have no other writer, got .*process {child.process.pid} is"):
            resume(path, draw, reward, **QUIET)
        child.wait_for(5)
        child.process.kill()
    assert resume(path, draw, reward, **QUIET).stopped


FULL = """
import resource, sys
from topalpha import StorageError, search
from topalpha.research.audit.survival import draw, reward

told = []
def price(candidate, value):
    told.append(value)
    if len(told) == 40:
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
    return 0.0

try:
    search(draw, reward, alpha=0.2, epsilon=0.2, delta=0.1, seed=3, storage=sys.argv[1], cost_of=price, progress="none")
except StorageError as error:
    print(error)
print(*map(float.hex, told))
"""


def test_a_disk_without_room_loses_nothing(path, whole):
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    message, told = done.stdout.splitlines()
    assert message.startswith("path must ")
    acknowledged = [float.fromhex(text) for text in told.split()]
    assert 40 <= len(acknowledged) < whole[0].pulls
    assert [value for _, value in read(path).tells] == acknowledged
    assert same(path, resume(path, draw, reward, **QUIET), whole)


# Damage


def test_a_record_that_does_not_replay_is_not_resumed(path):
    search(draw, reward, **EASY, storage=path, pulls=60)
    with sqlite3.connect(path) as connection:
        connection.execute('UPDATE asks SET arm = arm + 1 WHERE "order" = 30')
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="record must replay, but the algorithm asks for another arm at pull 30"):
        resume(path, draw, reward, **QUIET)
    assert path.read_bytes() == before
