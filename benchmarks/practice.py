"""Searching in practice: ask and tell, what storage costs, and how long a million recorded pulls take to resume."""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import parallel
from benchmarks.speed import many_arms, spread
from topalpha import Search, search
from topalpha.ask_tell import Task
from topalpha.session import Session
from topalpha.storage import Storage

#: Pulls of the recorded search that is resumed.
MILLION = 1_000_000


def ask_and_tell(arms: int, pulls: int = 20_000, seed: int = 0) -> float:
    """Median microseconds of one ask and one tell, cc-lucb, nothing stored."""
    one, rng = Search(many_arms("cc-lucb", arms)), random.Random(seed)
    means = [0.9 * rng.random() for _ in range(one.algorithm.arms)]
    rewards = [[float(rng.random() < mean) for _ in range(64)] for mean in means]
    spent = []
    clock = time.perf_counter
    for _ in range(pulls):
        begin = clock()
        pull = one.ask()
        middle = clock()
        if pull is None:
            break
        reward = rewards[pull.arm][pull.number % 64]
        again = clock()
        one.tell(pull, reward)
        spent.append(middle - begin + clock() - again)
    return 1e6 * statistics.median(spent)


def millisecond(mean: float, rng: Any) -> float:
    """A pull that keeps its thread busy for a millisecond."""
    end = time.perf_counter() + 0.001
    reward = float(rng.random() < mean)
    while time.perf_counter() < end:
        pass
    return reward


def storage_share(repeat: int = 5, pulls: int = 1500) -> list[float]:
    """Wall time of a search of 1 ms pulls with storage over the same without, less 1; the two alternate."""
    shares = []
    # Load what a certificate needs: that takes half a second, once.
    search(lambda rng: rng.random(), lambda mean: 0.5, algorithm="cc-lucb", pulls=300, progress="none")
    target = {"alpha": 0.05, "epsilon": 0.03, "delta": 0.05, "algorithm": "cc-lucb", "pulls": pulls, "progress": "none"}
    for turn in range(repeat):
        seconds = {}
        for stored in (False, True) if turn % 2 else (True, False):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "one.db" if stored else None
                begin = time.perf_counter()
                search(lambda rng: 0.9 * rng.random(), millisecond, storage=path, seed=turn, **target)
                seconds[stored] = time.perf_counter() - begin
        shares.append(seconds[True] / seconds[False] - 1.0)
    return shares


def million(pulls: int = MILLION) -> dict[str, float]:
    """A recorded search of a million pulls: its size on disk, and how long it takes to resume."""
    task = Task(0.05, 0.0005, 0.05, algorithm="cc-lucb")
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.db"
        with Storage(path, interval=1.0) as storage:  # fast to write; what is read back is the same
            config = {"task": task.to_dict(), "version": "benchmark", "code": None}
            session = Session(task, storage.create("long", config))
            session.journal = session.record
            begin = time.perf_counter()
            for _ in range(pulls):
                pull = session.ask()
                assert pull is not None, "the target must be hard enough"
                session.tell(pull, float(rng.random() < 0.5))  # all alike: it goes on and on
            session.record.commit()
            written = time.perf_counter() - begin
        size = sum(os.path.getsize(Path(folder) / name) for name in os.listdir(folder))
        begin = time.perf_counter()
        with Session.resume(path) as resumed:
            seconds = time.perf_counter() - begin
            assert resumed.history.t == pulls
    return {"pulls": pulls, "megabytes": size / 1e6, "seconds_to_resume": seconds, "seconds_to_write": written}


def measure(repeat: int = 5) -> dict[str, Any]:
    """All figures."""
    return {
        "microseconds_ask_and_tell": {
            "100 arms": spread([ask_and_tell(100, seed=turn) for turn in range(repeat)]),
            "1,000 arms": spread([ask_and_tell(1000, seed=turn) for turn in range(repeat)]),
        },
        "storage_share_at_1_ms": spread(storage_share(repeat)),
        "million": million(),
        "sixteen_workers": parallel.parallel(),
    }
