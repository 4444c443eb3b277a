"""Workers that hang, exit or die: threads and processes are replaced, and only the culprit pays."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from tests.support.driving import Books, coin, draw
from tests.support.waiting import PATIENCE, until
from topalpha import Pull
from topalpha.execution import Calls, PullFailed, open_executor


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
