"""The dashboard beside a search of 10,000 arms and 1,000,000 pulls: ``python -m benchmarks.dashboard [FILE]``.

With a FILE, that file is made (or used, if it is there) and kept: ``topalpha dashboard FILE`` shows it.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.speed import spread
from topalpha.ask_tell import Task
from topalpha.storage import Storage

ARMS, PULLS = 10_000, 1_000_000
#: Arms that change between two snapshots: a few, as while leaders are told apart, or all, as in the first rounds.
FEW = 100
#: Seconds between two snapshots, as a search takes them.
PERIOD = 0.4
#: How many watch at once.
VIEWERS = 3


def rows(rng: random.Random, arms: Sequence[int], pulls: int) -> list[tuple[int, int, float, float, float, int]]:
    """Figures of arms, with as many digits as true ones."""
    found = []
    for arm in arms:
        mean, half = rng.random(), 0.1 * rng.random()
        found.append((arm, pulls, mean, mean - half, mean + half, 0))
    return found


def progress(pulls: int) -> dict[str, Any]:
    """What a search says about itself."""
    figures = {"pulls": pulls, "in_flight": 1, "arms": ARMS, "leader": 7, "mean": 0.9, "low": 0.85, "high": 0.95}
    claims = [[alpha / 1000.0, 0.1 + alpha / 1000.0] for alpha in range(1, 65)]
    return {**figures, "gap": 0.1, "unresolved": 99, "left": 12345, "paused": False, "claims": claims}


def make(path: Path) -> None:
    """A file with a search of many arms and many pulls."""
    rng = random.Random(0)
    config = {"task": Task(0.001, 0.05, 0.05).to_dict(), "version": "benchmark", "code": None}
    with Storage(path, interval=1.0) as storage:
        record = storage.create("large", config)
        for arm in range(ARMS):
            record.add_arm(arm, {"rate": rng.random(), "layers": [rng.randrange(512), rng.randrange(512)]})
        for order in range(PULLS):
            record.ask(order, order % ARMS, order)
            record.tell(order, float(rng.random() < 0.5))
        record.snapshot(rows(rng, range(ARMS), PULLS // ARMS), progress(PULLS))


def write(path: str, changing: int, seconds: float) -> None:
    """Go on with that search as fast as it goes: rewards one by one, and a snapshot at the usual pace.

    Prints how many rewards were told, and the time at which each snapshot was on disk.
    """
    rng = random.Random(1)
    with Storage(path) as storage:
        record = storage.open("large")
        order = record.asked
        first, begin = order, time.monotonic()
        due, commits = begin + PERIOD, []
        while (now := time.monotonic()) < begin + seconds:
            record.ask(order, order % ARMS, order)
            record.tell(order, 1.0)
            order += 1
            if now >= due:
                due = now + PERIOD
                chosen = rng.sample(range(ARMS), changing)
                record.snapshot(rows(rng, chosen, order // ARMS), progress(order))
                commits.append((order, time.time()))
        print(json.dumps({"pulls": order - first, "seconds": seconds, "commits": commits}))


@contextmanager
def served(path: Path) -> Iterator[httpx.Client]:
    """The dashboard in a process of its own."""
    command = [sys.executable, "-m", "topalpha", "dashboard", str(path), "--port", "0", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        with httpx.Client(base_url=process.stdout.readline().partition("?")[0], timeout=60.0) as client:
            yield client
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


class Viewer(threading.Thread):
    """Reads a stream until it ends, and notes when each state had arrived and how large it was."""

    def __init__(self, client: httpx.Client) -> None:
        super().__init__(daemon=True)
        self._connection = http.client.HTTPConnection(client.base_url.host, client.base_url.port or 80)
        self.arrived: dict[int, tuple[float, int]] = {}

    def run(self) -> None:
        """One event after another."""
        self._connection.request("GET", "/api/stream?name=large")
        response, parts = self._connection.getresponse(), [b""]
        while part := response.read1(1 << 20):
            parts.append(part)
            if b"\n\n" not in parts[-2][-1:] + part:
                continue
            now = time.time()
            *events, rest = b"".join(parts).split(b"\n\n")
            for event in events:
                if event.startswith(b"event: state"):
                    pulls = event.partition(b'"pulls":')[2].partition(b",")[0]
                    self.arrived.setdefault(int(pulls), (now, len(event)))
            parts = [rest]
        self._connection.close()


def writer(path: Path, changing: int, seconds: float) -> dict[str, Any]:
    """The search in a process of its own; what it printed."""
    command = [sys.executable, "-m", "benchmarks.dashboard", "--write", str(path), str(changing), str(seconds)]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def first_requests(client: httpx.Client, repeat: int) -> dict[str, Any]:
    """What a browser asks for when the page is opened, and what a person asks for later."""
    found: dict[str, Any] = {}

    def timed(what: str, route: str, **parameters: Any) -> None:
        spent, size = [], 0
        for _ in range(repeat):
            begin = time.perf_counter()
            with client.stream("GET", route, params=parameters) as response:
                if what.startswith("first byte"):
                    next(response.iter_raw(1))
                elif what == "whole state":
                    lines = iter(response.iter_lines())
                    size = next(len(line) for line in lines if '"full":true' in line)
                else:
                    size = len(response.read())
            spent.append(1000.0 * (time.perf_counter() - begin))
        found[what] = spread(spent) | ({"bytes": size} if size else {})

    timed("first byte of the page", "/")
    timed("list of searches", "/api/searches")
    timed("whole state", "/api/stream", name="large")
    timed("page of the table, sorted", "/api/arms", name="large", sort="mean", order="descending")
    timed("page of the table, searched", "/api/arms", name="large", query="[17,")
    return found


def updates(path: Path, changing: int, seconds: float, viewers: int = VIEWERS) -> dict[str, Any]:
    """From the commit of a snapshot to its arrival at the slowest of several viewers, and what the writer can do."""
    with served(path) as client:
        watching = [Viewer(client) for _ in range(viewers)]
        for one in watching:
            one.start()
        while not all(one.arrived for one in watching):
            time.sleep(0.05)
        wrote = writer(path, changing, seconds)
        time.sleep(1.0)
    for one in watching:
        one.join()
    spent, sizes = [], []
    for pulls, at in wrote["commits"]:
        arrivals = [one.arrived[pulls] for one in watching if pulls in one.arrived]
        if len(arrivals) == viewers:
            spent.append(1000.0 * (max(when for when, _ in arrivals) - at))
            sizes.append(float(arrivals[0][1]))
    pace = wrote["pulls"] / wrote["seconds"]
    return {"snapshots": len(wrote["commits"]), "milliseconds": spent, "bytes": sizes, "pulls_a_second": pace}


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Several runs as one."""
    spent, sizes = ([one for run in runs for one in run[key]] for key in ("milliseconds", "bytes"))
    snapshots = sum(run["snapshots"] for run in runs)
    return {"snapshots": snapshots, "arrived": len(spent), "milliseconds": spread(spent), "bytes": spread(sizes)}


def measure(path: Path | None = None, repeat: int = 15, turns: int = 4, seconds: float = 4.0) -> dict[str, Any]:
    """All figures, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.db" if path is None else path
        if not file.exists():
            make(file)
        with served(file) as client:
            first = first_requests(client, repeat)
        alone: list[float] = []
        few: list[dict[str, Any]] = []
        every: list[dict[str, Any]] = []
        for _ in range(turns):  # in turn, as the machine's own pace changes
            alone.append(writer(file, FEW, seconds)["pulls"] / seconds)
            few.append(updates(file, FEW, seconds))
            every.append(updates(file, ARMS, seconds))
    return {
        "arms": ARMS,
        "pulls": PULLS,
        "milliseconds": first,
        "some arms change": {"arms": FEW, **together(few)},
        "all arms change": together(every),
        "pulls_a_second": {"alone": spread(alone), "watched": spread([one["pulls_a_second"] for one in few])},
        "viewers": VIEWERS,
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    else:
        print(json.dumps(measure(Path(sys.argv[1]) if sys.argv[1:] else None), indent=1))
