"""Signals that end a search: in order, with its certificate; and no process is left behind, whatever ends the first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from tests.support.waiting import until
from topalpha import search, verify
from topalpha.execution import held
from topalpha.storage import names, read

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

MODULE = """
import asyncio, os, signal, sys, time
import topalpha

# Whoever started this may have told it to ignore them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

FOLDER, KIND, SLEEP = sys.argv[1], sys.argv[2], float(sys.argv[3])

def draw(rng):
    return rng.random()

def note():
    with open(f"{sys.argv[1]}/{os.getpid()}", "a") as file:
        file.write(".")

def pull(mean, rng):
    note()
    time.sleep(float(sys.argv[3]))
    return float(rng.random() < mean)

async def apull(mean, rng):
    note()
    await asyncio.sleep(SLEEP)
    return float(rng.random() < mean)

def main():
    target = {"alpha": 0.1, "epsilon": 0.02, "delta": 0.05, "storage": f"{FOLDER}/one.db", "progress": "none"}
    if KIND == "asyncio":
        result = asyncio.run(topalpha.asearch(draw, apull, **target, width=2))
    elif KIND == "alone":
        result = topalpha.search(draw, pull, **target)
    else:
        result = topalpha.search(draw, pull, **target, executor=KIND, workers=2)
    defaults = signal.getsignal(signal.SIGTERM) == signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
    print(result.certificate.reason, defaults, signal.getsignal(signal.SIGINT) is signal.default_int_handler)

if __name__ == "__main__":
    main()
"""


def told(path):
    return len(read(path).tells) if path.exists() and names(path) else 0


class Child:
    """A search in a process of its own, and the processes that evaluate its pulls."""

    def __init__(self, folder, kind, sleep):
        self.folder, self.file = folder, folder / "work.py"
        self.file.write_text(MODULE)
        command = [sys.executable, str(self.file), str(folder), kind, str(sleep)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.communicate()

    def pids(self):
        return [int(path.name) for path in self.folder.iterdir() if path.name.isdigit()]

    def begun(self):
        return sum(len((self.folder / str(pid)).read_text()) for pid in self.pids())

    def told(self):
        return told(self.folder / "one.db")

    def family(self):
        return psutil.Process(self.process.pid).children(recursive=True)


ENDS = [("SIGTERM", "alone"), ("SIGTERM", "processes"), ("SIGTERM", "asyncio")]
ENDS += [("SIGHUP", "threads"), ("SIGINT", "threads")]


@pytest.mark.parametrize(("name", "kind"), ENDS)
def test_a_signal_ends_a_search_in_order(tmp_path, name, kind):
    with Child(tmp_path, kind, 0.02) as child:
        until(lambda: child.told() > 5)
        children = child.family()
        child.process.send_signal(getattr(signal, name))
        output, errors = child.process.communicate(timeout=120)
    reason = {"SIGTERM": "terminated", "SIGHUP": "hangup", "SIGINT": "interrupted"}[name]
    assert output.split() == [reason, "True", "True"], errors
    record = read(tmp_path / "one.db")
    assert record.status == reason
    assert len(record.tells) == len(record.asks), "what was in flight was waited for"
    assert verify(tmp_path / "one.db").reason == reason
    until(lambda: not any(one.is_running() for one in children))


@pytest.mark.parametrize("sleep", [0.02, 600.0], ids=["busy", "stuck"])
def test_workers_end_when_their_parent_is_killed(tmp_path, sleep):
    with Child(tmp_path, "processes", sleep) as child:
        until(lambda: len(child.pids()) == 2)
        children = child.family()
        assert set(child.pids()) <= {one.pid for one in children}
        child.process.kill()
        until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in children))


def test_a_signal_to_the_whole_group_does_not_take_the_workers_first(tmp_path):
    with Child(tmp_path, "processes", 1.0) as child:
        until(lambda: len(child.pids()) == 2)
        for pid in (*child.pids(), child.process.pid):
            os.kill(pid, signal.SIGTERM)
        output, errors = child.process.communicate(timeout=120)
    assert output.split() == ["terminated", "True", "True"], errors
    record = read(tmp_path / "one.db")
    assert (len(record.tells) == len(record.asks), record.failures) == (True, [])


@pytest.mark.parametrize("kind", ["alone", "threads", "asyncio"])
def test_the_first_control_c_says_what_it_waits_for_and_the_second_leaves(tmp_path, kind):
    with Child(tmp_path, kind, 600.0) as child:
        until(lambda: child.begun() == (1 if kind == "alone" else 2))
        child.process.send_signal(signal.SIGINT)
        said = child.process.stderr.readline()
        many = "1 pull in flight (pull 0 of arm 0)"
        many = many if kind == "alone" else "2 pulls in flight (pull 0 of arm 0, pull 0 of arm 1)"
        assert said == f"topalpha: Ctrl-C: waiting at most 60 seconds for {many}; a second one leaves at once\n"
        child.process.send_signal(signal.SIGINT)
        try:
            _, errors = child.process.communicate(timeout=10)
        except subprocess.TimeoutExpired:  # it came just as Python went back to sleep, which another one ends
            child.process.send_signal(signal.SIGINT)
            _, errors = child.process.communicate(timeout=120)
    assert errors.splitlines()[-1] == "KeyboardInterrupt", "there was no reward yet, and nothing to certify"
    lost = [failure.action for failure in read(tmp_path / "one.db").failures]
    assert lost == ["again"] * (1 if kind == "alone" else 2)


def test_patience_ends_for_a_pull_in_the_main_thread_too():
    def pull(mean, rng):
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(600.0)
        calls.append(mean)
        return 1.0

    calls = []
    result = search(lambda rng: rng.random(), pull, progress="none", patience=0.2)
    assert (result.certificate.reason, result.pulls) == ("interrupted", 3)
    assert result.certificate.failures == {"again": 1}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_of_others_are_left_alone():
    def mine(number, frame):
        heard.append(number)

    heard = []
    before = signal.signal(signal.SIGTERM, mine)
    try:
        with held(60.0) as signals:
            signal.raise_signal(signal.SIGTERM)
            assert (heard, signals.heed()) == ([signal.SIGTERM], None)
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


def test_only_the_main_thread_takes_signals():
    found = []

    def work():
        with held(60.0):
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL]


def test_the_inner_of_two_searches_is_waited_for():
    inner = []

    def pull(mean, rng):
        if not inner:
            os.kill(os.getpid(), signal.SIGINT)
        found = search(lambda rng: rng.random(), lambda mean, rng: mean, alpha=0.4, epsilon=0.4, progress="none")
        inner.append(found.certificate.reason)
        return 1.0

    result = search(lambda rng: rng.random(), pull, progress="none")
    assert (result.certificate.reason, inner) == ("interrupted", ["stopped"])


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_exit_codes_of_the_command_line(tmp_path, name, code):
    module = tmp_path / "task.py"
    module.write_text(
        "import os, signal, time\n"
        f"signal.signal(signal.{name}, signal.SIG_DFL)\n"
        "def draw(rng):\n    return rng.random()\n"
        "def pull(mean, rng):\n    time.sleep(0.01)\n    return float(rng.random() < mean)\n"
    )
    command = [sys.executable, "-m", "topalpha", "run", f"{module}:pull", "--epsilon", "0.01", "--patience", "30"]
    command += ["--storage", str(tmp_path / "one.db"), "--progress", "none", "--json", "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(
            lambda: (
                (tmp_path / "one.db").exists()
                and names(tmp_path / "one.db")
                and len(read(tmp_path / "one.db").tells) > 3
            )
        )
        process.send_signal(getattr(signal, name))
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == code, errors
    assert json.loads(output)["certificate"]["reason"] == read(tmp_path / "one.db").status
