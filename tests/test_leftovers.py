"""The suite's own manners: it hears signals whoever started it, ends what hangs, and leaves nothing running."""

import os
import signal
import subprocess
import sys
import textwrap
import uuid

import pytest

from tests.support import leftovers
from tests.support.folders import ROOT
from tests.support.waiting import until

CONFTEST = """
from tests.support import leftovers
from tests.support.leftovers import pytest_configure, pytest_runtest_makereport, pytest_sessionfinish
leftovers.GRACE = 1.0
leftovers.mark()
leftovers.hear_signals()
"""
HEAD = """
import os, signal, subprocess, sys, time

def start(**options):
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], **options)
"""


@pytest.fixture
def suite(tmp_path):
    """Runs tests of their own under the hooks of this suite; waits until nothing is left running."""
    mark = uuid.uuid4().hex

    def run(tests, *options, **settings):
        (tmp_path / "conftest.py").write_text(CONFTEST)
        (tmp_path / "test_it.py").write_text(HEAD + textwrap.dedent(tests))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, *options, str(tmp_path)],
            cwd=tmp_path,
            env={**os.environ, leftovers.MARK: mark, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            **settings,
        )
        until(lambda: not leftovers.marked(mark))
        return done.returncode, done.stdout

    yield run
    leftovers.sweep(mark)


def test_a_test_that_hangs_fails_and_takes_what_it_started_along(suite):
    code, output = suite(
        """
        def test_hangs():
            start(start_new_session=True).wait()

        def test_after_it():
            pass
        """,
        "--timeout=1",
    )
    assert code == 1
    assert "1 failed, 1 passed" in output
    assert "Timeout (>1.0s)" in output
    assert "left running" not in output, "it was ended with the test, and not only with the suite"


@pytest.mark.slow
def test_a_suite_that_leaves_a_process_fails(suite):
    code, output = suite("def test_passes(): start(start_new_session=True)")
    assert code == 1
    assert "1 passed" in output
    assert "left running by the tests, and killed now:" in output


def test_a_worker_that_dies_leaves_nothing(suite):
    code, output = suite("def test_dies(): start(); os._exit(3)", "-n1", "--max-worker-restart=0")
    assert code == 1
    assert "left running by the tests, and killed now:" in output


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_suite_that_is_told_to_end_leaves_nothing(suite):
    """Its leader is the parent of its worker."""
    code, output = suite("def test_it(): child = start(); os.kill(os.getppid(), signal.SIGTERM); child.wait()", "-n1")
    assert code == 2
    assert "KeyboardInterrupt" in output


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_signals_are_heard_though_the_suite_was_told_to_ignore_them(suite):
    tests = """
    def test_it():
        child = start()
        child.send_signal(signal.SIGINT)
        assert child.wait() == -signal.SIGINT
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60.0)
        except KeyboardInterrupt:
            return
        raise AssertionError
    """

    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    code, output = suite(tests, preexec_fn=ignore)
    assert code == 0, output


def test_a_wait_ends_with_what_came_true_or_gives_up():
    seen = []
    assert until(lambda: seen.append(1) or len(seen) == 3, pause=0.0) is True
    with pytest.raises(AssertionError, match=r"it did not come true in 0\.0 seconds"):
        until(lambda: False, patience=0.0)
