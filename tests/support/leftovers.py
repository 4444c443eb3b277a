"""Nothing that the tests start outlives them: processes are known by a mark in their environment, and killed.

The mark is inherited by whatever a test starts, also by processes whose parent has gone.
"""

from __future__ import annotations

import os
import signal
import time
import uuid

import psutil

MARK = "TOPALPHA_TEST_SUITE"
#: Seconds that processes have to end by themselves: those of the test runner do.
GRACE = 10.0
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


def _bears(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):  # it has gone, or is another user's
        return False


def marked(mark: str) -> list[psutil.Process]:
    """All processes that bear the mark, but this one."""
    return [one for one in psutil.process_iter() if one.pid != os.getpid() and _bears(one, mark)]


def sweep(mark: str, grace: float = GRACE) -> list[str]:
    """Kill what still bears the mark after the grace; say what that was."""
    end = time.monotonic() + grace
    while (left := marked(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    return [described for process in left if (described := kill(process))]


def kill(process: psutil.Process) -> str:
    """Kill a process; say what it was, or nothing if it had gone."""
    try:
        described = f"{process.pid}: {' '.join(process.cmdline())[:200]}"
        process.kill()
        process.wait(GRACE)
    except psutil.NoSuchProcess:
        return ""
    return described


def kill_descendants(since: float) -> None:
    """Kill the processes that this one has started, directly or not, since a moment (as ``time.time`` tells it)."""
    for process in psutil.Process().children(recursive=True):
        if process.create_time() >= since:
            kill(process)
