"""A search killed at any moment continues as if nothing had happened: processes are killed until one finishes.

Each process keeps a diary, a file that it only appends to: each evaluation when it starts, and each reward once it was
told. Rewards are continuous, so that each of them identifies its pull.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from numpy.random import Generator

from topalpha.ask_tell import Pull
from topalpha.certificate import Certificate
from topalpha.execution import Calls
from topalpha.running import aresume, asearch, resume, search
from topalpha.session import Refuted, verify
from topalpha.storage import Recording, holds, read
from topalpha.storage.outputs import writable
from topalpha.validate import choice, whole

#: The target: about a thousand pulls, of half a millisecond each.
TARGET: dict[str, Any] = {"alpha": 0.1, "epsilon": 0.07, "delta": 0.05}

#: One in this many kills comes while the process still starts or replays.
EARLY = 4

#: The ways to evaluate pulls, and the number in flight at once.
WIDTHS = {"one by one": 1, "threads": 4, "processes": 2, "coroutines": 4}

_CHILD = "import sys; from topalpha.research.audit.survival import work; work(*sys.argv[1:5], int(sys.argv[5]))"
_PATIENCE = 60.0


@dataclass(frozen=True)
class Survival:
    """The result of a search whose process was killed repeatedly.

    Attributes
    ----------
    algorithm, how, seed
        The search: its algorithm, how its pulls were evaluated (one by one, in threads, ...), its seed.
    kills, pulls, repeated
        Killed processes, rewards that counted, and evaluations that started more than once.
    difference
        A description of what is wrong; empty if all is well.

    Examples
    --------
    >>> Survival("cc-lucb", "threads", 0, kills=3, pulls=900, repeated=2, difference="").survived
    True
    """

    algorithm: str
    how: str
    seed: int
    kills: int
    pulls: int
    repeated: int
    difference: str

    @property
    def survived(self) -> bool:
        """Whether nothing was lost, repeated or changed."""
        return not self.difference

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {**asdict(self), "survived": self.survived}


def survive(
    kills: int, seed: int = 0, *, how: str = "one by one", algorithm: str = "joint-lucb", folder: str | None = None
) -> Survival:
    """Start a search in a separate process, kill it ``kills`` times with SIGKILL, and check the result.

    A reward told before a kill must be on disk after it and must not be evaluated again. With one pull at a time, the
    record and the certificate must equal those of an undisturbed search, to the last bit. With several pulls in flight
    the search must stop, its certificate must verify, and each reward must follow from the seed, the arm and the number
    of the pull. No process may leave others behind.

    Parameters
    ----------
    kills
        How many kills, at random moments; at most some hundreds, because each must find some work left.
    seed
        Seed of the search and of those moments.
    how
        How pulls are evaluated: ``one by one``, or several at once in ``threads``, ``processes`` or ``coroutines``.
    algorithm
        The algorithm.
    folder
        A folder for files; by default a temporary one.

    Examples
    --------
    >>> survive(1, seed=1).difference
    ''
    """
    whole("kills", kills, 0)
    choice("how", how, WIDTHS)
    with tempfile.TemporaryDirectory() as temporary:
        ordeal = _Ordeal(Path(folder or temporary), seed, how, algorithm)
        try:
            ordeal.undergo(kills)
            ordeal.compare()
        except _Amiss as error:
            ordeal.difference = str(error)
        return Survival(algorithm, how, seed, ordeal.kills, ordeal.progress, len(ordeal.repeated), ordeal.difference)


def draw(rng: Generator) -> dict[str, float]:
    """A candidate."""
    return {"mean": 0.05 + 0.9 * float(rng.random())}


def reward(candidate: dict[str, float], rng: Generator) -> float:
    """A number in [0, 1] with this mean that is unique to the pull."""
    return float(rng.random() ** (1.0 / candidate["mean"] - 1.0))


@dataclass(frozen=True)
class _Diary:
    """Evaluates pulls, and logs them in a file; it can be sent to other processes."""

    path: str

    def note(self, what: str, value: float) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{what} {value.hex()}\n".encode())
        os.close(descriptor)

    def begin(self, candidate: dict[str, float], rng: Generator) -> tuple[float, float]:
        """The reward, and the seconds that it takes."""
        value = reward(candidate, rng)
        self.note("start", value)
        return value, 1e-3 * (1e6 * value % 1.0)

    def pull(self, candidate: dict[str, float], rng: Generator) -> float:
        value, seconds = self.begin(candidate, rng)
        time.sleep(seconds)
        return value

    async def apull(self, candidate: dict[str, float], rng: Generator) -> float:
        value, seconds = self.begin(candidate, rng)
        await asyncio.sleep(seconds)
        return value

    def told(self, candidate: dict[str, float], value: float) -> float:
        """The cost of a pull, which is computed as soon as its reward was told."""
        self.note("told", value)
        return 0.0


def work(path: str, diary: str, algorithm: str, how: str, seed: int) -> None:
    """The work of the killed process: begin or resume the search, and keep a diary."""
    keeper = _Diary(diary)
    settings: dict[str, Any] = {"cost_of": keeper.told, "progress": "none"}
    new = {**TARGET, "algorithm": algorithm, "seed": seed, "storage": path}
    if how == "coroutines":
        settings["width"] = WIDTHS[how]
        begun = aresume(path, draw, keeper.apull, **settings) if holds(path) else None
        asyncio.run(begun or asearch(draw, keeper.apull, **new, **settings))
        return
    if how != "one by one":
        settings |= {"executor": how, "workers": WIDTHS[how]}
    if holds(path):
        resume(path, draw, keeper.pull, **settings)
    else:
        search(draw, keeper.pull, **new, **settings)


class _Amiss(Exception):
    """A violation of a requirement."""


class _Ordeal:
    """One search, the processes that work on it, and their results."""

    def __init__(self, folder: Path, seed: int, how: str, algorithm: str) -> None:
        self.path, self.alone = folder / "killed.db", folder / "alone.db"
        self.diary = writable("folder", folder / "diary")
        self.seed, self.how, self.algorithm = seed, how, algorithm
        self.difference = ""
        self.kills = 0
        #: Rewards on disk after the last kill, evaluations begun, and those begun more than once.
        self.recorded: set[float] = set()
        self.started: set[float] = set()
        self.repeated: set[float] = set()
        self.random = random.Random(seed)
        search(draw, reward, **TARGET, algorithm=algorithm, seed=seed, storage=self.alone, progress="none")
        self.expected = len(read(self.alone).tells)

    @property
    def progress(self) -> int:
        """Rewards on disk."""
        return len(self.recorded)

    def undergo(self, kills: int) -> None:
        """Start processes and kill them, until one finishes."""
        ended = False
        while not ended:
            ended = self._life(kills)
            self._review()
            self.kills += not ended

    def _life(self, kills: int) -> bool:
        """Run one process; return whether it finished."""
        arguments = [str(self.path), str(self.diary), self.algorithm, self.how, str(self.seed)]
        process = subprocess.Popen([sys.executable, "-c", _CHILD, *arguments], stderr=subprocess.PIPE)
        try:
            if self.kills < kills:
                self._wait(process, kills)
                process.kill()
            # Everything that it started holds this pipe: it is closed when the last of them is gone.
            _, errors = process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise _Amiss("a process did not end, or left another one behind") from error
        finally:
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()
        # After a kill Python's own helper process reports what it cleaned up.
        if errors and process.returncode >= 0:
            raise _Amiss(f"a process failed: {errors.decode(errors='replace').strip().splitlines()[-1]}")
        return process.returncode == 0

    def _wait(self, process: subprocess.Popen[bytes], kills: int) -> None:
        """Wait until the moment to kill: early, or after a part of the work that leaves some for the next process."""
        if self.random.randrange(EARLY) == 0:
            time.sleep(0.6 * self.random.random())
            return
        share = self.random.random() * (self.expected - self.progress) / (kills - self.kills + 1)
        goal, limit = self._size() + 2 * share * len("start 0x1.0123456789abcp-1\n"), time.monotonic() + _PATIENCE
        while self._size() < goal and process.poll() is None and time.monotonic() < limit:
            time.sleep(5e-4)
        time.sleep(2e-3 * self.random.random())

    def _size(self) -> int:
        return self.diary.stat().st_size if self.diary.exists() else 0

    def _review(self) -> None:
        """Read the diary of the process that ended, and its record on disk."""
        lines = self.diary.read_text().splitlines() if self.diary.exists() else []
        self.diary.unlink(missing_ok=True)
        for what, text in (line.split() for line in lines):
            value = float.fromhex(text)
            if what == "start":
                if value in self.recorded:
                    raise _Amiss(f"the pull of reward {value!r} was told before a kill and evaluated after it")
                self.repeated.update({value} & self.started)
                self.started.add(value)
        told = [float.fromhex(text) for what, text in (line.split() for line in lines) if what == "told"]
        found = [value for _, value in self._recording().tells] if holds(self.path) else []
        if len(set(found)) < len(found):
            raise _Amiss("a reward was counted twice")
        if not self.recorded.union(told) <= set(found):
            raise _Amiss("a reward that was told is not on disk")
        if not set(found) <= self.started:
            raise _Amiss("a reward is on disk that no process evaluated")
        self.recorded = set(found)

    def _recording(self) -> Recording:
        return read(self.path)

    def compare(self) -> None:
        """Raise unless the result is as required."""
        killed, alone = self._recording(), read(self.alone)
        try:
            verified = verify(self.path)
        except (Refuted, ValueError) as error:
            raise _Amiss(f"the certificate does not verify: {error}") from error
        if not verified.proved:
            raise _Amiss(f"the search ended because of {verified.reason!r}")
        self._rewards(killed)
        if self.how != "one by one":
            return
        for part in ("config", "status", "arms", "asks", "waits", "tells"):
            if getattr(killed, part) != getattr(alone, part):
                raise _Amiss(f"{part} are not those of the undisturbed search")
        if {failure.action for failure in killed.failures} - {"again", "begun"}:
            raise _Amiss("a pull failed that did not fail in the undisturbed search")
        if _claimed(verified) != _claimed(Certificate.from_dict(alone.certificate or {})):
            raise _Amiss("the certificate is not that of the undisturbed search")

    def _rewards(self, recording: Recording) -> None:
        """Raise unless each reward follows from seed, arm and number."""
        calls = Calls(draw, reward, seed=self.seed)
        given = dict(recording.tells)
        counts: dict[int, int] = {}
        for arm, candidate in enumerate(recording.candidates()):
            if candidate != calls.candidate(arm):
                raise _Amiss(f"arm {arm} is another candidate")
        for order, (arm, _) in enumerate(recording.asks):
            pull = Pull(arm, counts.get(arm, 0), order)
            counts[arm] = pull.number + 1
            if order in given and given[order] != calls.evaluation(pull, calls.candidate(arm))():
                raise _Amiss(f"pull {pull.number} of arm {arm} has another reward")


def _claimed(certificate: Certificate) -> Certificate:
    """The certificate without the pulls that were lost to kills."""
    return replace(certificate, digest=None, failures={}, assumptions=())
