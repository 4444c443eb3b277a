"""Searches that files of earlier versions hold, and what evaluates them: ``python records.py FILE`` makes such a file.

``tests/data/records`` has one that was made by the code of its time, packed: what it holds must open, resume and verify
for ever.
"""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from pathlib import Path

import topalpha
from topalpha import Session, Task, running

FOLDER = Path(__file__).parents[1] / "data" / "records"
EASY = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}
NAMES = ["ant", "bee", "cat", "dog", "eel", "fox"]


def unpacked(folder, file="0.1.0.db"):
    """A copy of a recorded file, to work on."""
    path = Path(folder) / file
    path.write_bytes(gzip.decompress((FOLDER / f"{file}.gz").read_bytes()))
    return path


def draw(rng):
    return {"rate": float(rng.random()), "word": "caf\u00e9"}


def toss(candidate, rng):
    return float(rng.random() < candidate["rate"])


def noise(candidate, rng):
    return float(rng.normal(candidate["rate"]))


def count(candidate, rng):
    return float(rng.poisson(3.0 * candidate["rate"]))


def pair(rng):
    return (1, float(rng.random()))


def toss_pair(candidate, rng):
    return float(rng.random() < candidate[1])


def passes(candidate, item):
    return (len(candidate) * item + ord(candidate[0])) % 7 < 4


class Broken:
    """Evaluations of which number 40 fails, long after the last snapshot."""

    def __init__(self):
        self.calls = 0

    def __call__(self, candidate, rng):
        self.calls += 1
        if self.calls == 20:
            running.PERIOD = 1e9
        if self.calls == 40:
            raise OSError("no answer")
        return toss(candidate, rng)


def drive(path, name, task, seed=0, width=60, pulls=10**9, end=True):
    """A search with several pulls in flight, told in any order, some of which fail: every kind of entry in the logs."""
    chance = random.Random(seed)
    with Session.start(task, path, name) as session:
        flying = []
        while not session.stopped and session.told < pulls:
            for pull in session.ask_many(width - len(flying)):
                if pull.number == 0:
                    session.keep(pull.arm, {"mean": 10.0 * chance.random()})
                flying.append(pull)
            if session.stopped:
                break
            pull = flying.pop(chance.randrange(len(flying)))
            if chance.random() < 0.03:
                session.failed(pull, "no answer", "retry")
            mean = session.candidates[pull.arm]["mean"]
            session.tell(pull, 10.0 * chance.betavariate(mean, 10.0 - mean))
        return session.finish("pulls") if end else None


#: What goes on with each search: the arguments of ``topalpha.resume`` after the file.
GOES_ON = {
    "joint": (draw, toss),
    "clock": (draw, toss),
    "early": (draw, toss),
    "normal": (draw, noise),
    "poisson": (draw, count),
    "pickled": (pair, toss_pair),
    "list": (NAMES, passes),
    "failed": (draw, toss),
    "threads": (draw, toss),
    "optimised": (draw, toss),
}


def write(path):
    """One file with all of them; snapshots are taken at every reward, so that some figures are older than others."""
    running.PERIOD = 0.0
    topalpha.search(draw, toss, **EASY, storage=path, name="joint")
    topalpha.search(draw, toss, **EASY, algorithm="kl-lucb", storage=path, name="clock", pulls=120)
    topalpha.search(draw, toss, **EASY, algorithm="cc-lucb", storage=path, name="early", pulls=40)
    topalpha.search(draw, noise, **EASY, family="normal", storage=path, name="normal", pulls=90)
    topalpha.search(draw, count, **EASY, family="poisson(3)", storage=path, name="poisson", pulls=60)
    topalpha.search(pair, toss_pair, **EASY, storage=path, name="pickled", pickle=True, pulls=40)
    topalpha.search(NAMES, passes, **EASY, items=list(range(20)), storage=path, name="list", pulls=30)
    topalpha.select(NAMES, list(range(20)), passes, epsilon=0.2, storage=path, name="select", progress="none")
    topalpha.search(draw, toss, **EASY, workers=3, storage=path, name="threads", pulls=40)
    try:
        topalpha.search(draw, Broken(), **EASY, algorithm="kl-lucb", storage=path, name="failed")
    except topalpha.PullFailed:
        running.PERIOD = 0.0
    costs = Task(0.3, 3.0, 0.2, family="range(0,10)", minimise=True, algorithm="cc-lucb", seed=5, on_error="retry")
    for name, more in {"costs": {}, "costs so far": {"pulls": 50}, "killed": {"pulls": 30, "end": False}}.items():
        drive(path, name, costs, seed=5, width=8, **more)
    code = (
        "import sys; sys.path.insert(0, sys.argv[2]); import records, topalpha;"
        "topalpha.search(records.draw, records.toss, **records.EASY, storage=sys.argv[1], name='optimised', pulls=40)"
    )
    subprocess.run([sys.executable, "-OO", "-c", code, str(path), str(Path(__file__).parent)], check=True)


if __name__ == "__main__":
    write(sys.argv[1])
