"""Ctrl-C and cancelled tasks: what has finished is told."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from tests.support.driving import Books, coin, draw
from topalpha.execution import Calls, arun

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
