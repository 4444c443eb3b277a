"""Nothing that the tests start outlives them: processes are known by a mark in their environment, and killed.

The mark is inherited by whatever a test starts, also by processes whose parent has gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid

import psutil
import pytest

MARK = "TOPALPHA_TEST_SUITE"
#: Seconds that processes have to end by themselves: those of the test runner do.
GRACE = 10.0
#: Looks in a row that find nothing: a process that is just being started shows no environment for a moment.
LOOKS = 5
#: What multiprocessing keeps for its own use, and ends with the process that it serves.
SERVANTS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
#: What a shell's ``&``, nohup or cron may have told this process to ignore, and its children would inherit.
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")


def hear_signals() -> None:
    """Take signals as a program in a terminal does, whoever started this one."""
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


def mark() -> str:
    """The mark of this suite, given to all processes from now on."""
    return os.environ.setdefault(MARK, uuid.uuid4().hex)


def _serves(process: psutil.Process) -> bool:
    return any(name in " ".join(process.cmdline()) for name in SERVANTS)


def _bears(process: psutil.Process, mark: str) -> bool:
    try:
        if process.environ().get(MARK) != mark or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return not (process.ppid() == os.getpid() and _serves(process))
    except (psutil.Error, OSError):  # it has gone, or is another user's
        return False


def marked(mark: str) -> list[psutil.Process]:
    """All processes that bear the mark, but this one."""
    return [one for one in psutil.process_iter() if one.pid != os.getpid() and _bears(one, mark)]


def sweep(mark: str) -> list[str]:
    """Kill what still bears the mark after the grace; say what that was."""
    end, unseen = time.monotonic() + GRACE, 0
    while unseen < LOOKS and time.monotonic() < end:
        time.sleep(0.1)
        unseen = 0 if marked(mark) else unseen + 1
    return [described for process in marked(mark) if (described := kill(process))]


def kill(process: psutil.Process) -> str:
    """Kill a process; say what it was, or nothing if it had gone."""
    try:
        described = f"{process.pid}: {' '.join(process.cmdline())[:200]}"
        process.kill()
    except psutil.NoSuchProcess:
        return ""
    return described


def pytest_configure(config):
    """The leader of several workers, told to end, ends as after Ctrl-C, and takes them and their processes along."""
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that fails, or whose time is over, may not have come to its own end: what it started is killed."""
    report = yield
    if report.failed and call.when == "call":
        for process in psutil.Process().children(recursive=True):
            # Some systems tell the time of birth in whole seconds.
            with contextlib.suppress(psutil.NoSuchProcess):  # it ends by itself
                if process.create_time() >= call.start - 1.0 and not _serves(process):
                    kill(process)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session):
    """A suite that leaves processes running fails, and they end; the leader of several workers has the last word."""
    result = yield
    if not hasattr(session.config, "workerinput"):
        left = sweep(mark())
        if left:
            print("\nleft running by the tests, and killed now:", *left, sep="\n  ")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
    return result
