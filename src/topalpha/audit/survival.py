"""Killed at any moment, a search goes on as if nothing had happened: processes that are killed until one gets through.

What a process does it notes in a diary, a file that it only appends to: each evaluation when it starts, and each reward
once it was told. Rewards are continuous, so that each of them names its pull.
"""

from __future__ import annotations

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
from topalpha.drafts import writable
from topalpha.execution import Calls
from topalpha.practice import resume, search
from topalpha.storage import Recording, holds, read
from topalpha.validate import whole
from topalpha.verification import Refuted, verify

#: What is looked for: about a thousand pulls, of half a millisecond each.
TARGET: dict[str, Any] = {"alpha": 0.1, "epsilon": 0.07, "delta": 0.05}

#: Every so many kills one comes while the process still starts, or replays.
EARLY = 4

_CHILD = "import sys; from topalpha.audit.survival import work; work(*sys.argv[1:4], *map(int, sys.argv[4:]))"
_PATIENCE = 60.0


@dataclass(frozen=True)
class Survival:
    """What became of a search whose process was killed again and again.

    Attributes
    ----------
    algorithm, width, seed
        The search: its algorithm, how many pulls were in flight at once (1: one after another), its seed.
    kills, pulls, repeated
        Processes that were killed, rewards that counted, and evaluations that were started more than once.
    difference
        What is not as it should be; empty if all is well.

    Examples
    --------
    >>> Survival("cc-lucb", 1, 0, kills=3, pulls=900, repeated=2, difference="").survived
    True
    """

    algorithm: str
    width: int
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
        """For JSON."""
        return {**asdict(self), "survived": self.survived}


def survive(
    kills: int, seed: int = 0, *, width: int = 1, algorithm: str = "joint-lucb", folder: str | None = None
) -> Survival:
    """Start a search in a process of its own, kill it so many times with SIGKILL, and compare what comes out.

    A reward that was told before a kill must be on disk after it and must not be evaluated again. One pull at a time,
    the record and the certificate must be those of a search that nobody killed, to the last bit. In threads, the search
    must stop, its certificate must verify, and each reward must be the one that seed, arm and number of the pull give.

    Parameters
    ----------
    kills
        How many, at random moments; at most some hundreds, for each must find something left to do.
    seed
        Of the search and of those moments.
    width
        How many pulls are in flight at once, in threads if more than one.
    algorithm
        Which.
    folder
        Where files go; a temporary folder unless given.

    Examples
    --------
    >>> survive(1, seed=1).difference
    ''
    """
    whole("kills", kills, 0)
    whole("width", width)
    with tempfile.TemporaryDirectory() as temporary:
        ordeal = _Ordeal(Path(folder or temporary), seed, width, algorithm)
        try:
            ordeal.undergo(kills)
            ordeal.compare()
        except _Amiss as error:
            ordeal.difference = str(error)
        return Survival(algorithm, width, seed, ordeal.kills, ordeal.progress, len(ordeal.repeated), ordeal.difference)


def draw(rng: Generator) -> dict[str, float]:
    """A candidate."""
    return {"mean": 0.05 + 0.9 * float(rng.random())}


def reward(candidate: dict[str, float], rng: Generator) -> float:
    """A number in [0, 1] of this mean that no other pull gives."""
    return float(rng.random() ** (1.0 / candidate["mean"] - 1.0))


def work(path: str, diary: str, algorithm: str, seed: int, width: int) -> None:
    """What the process that is killed does: begin or go on with the search, and keep a diary."""
    descriptor = os.open(diary, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(what: str, value: float) -> None:
        os.write(descriptor, f"{what} {value.hex()}\n".encode())

    def pull(candidate: dict[str, float], rng: Generator) -> float:
        value = reward(candidate, rng)
        note("start", value)
        time.sleep(1e-3 * (1e6 * value % 1.0))
        return value

    def told(candidate: dict[str, float], value: float) -> float:
        note("told", value)
        return 0.0

    # The cost of a pull is asked for as soon as its reward was told.
    how: dict[str, Any] = {"cost_of": told, "progress": "none"}
    if width > 1:
        how |= {"executor": "threads", "workers": width}
    if holds(path):
        resume(path, draw, pull, **how)
    else:
        search(draw, pull, **TARGET, algorithm=algorithm, seed=seed, storage=path, **how)


class _Amiss(Exception):
    """Something that must not happen."""


class _Ordeal:
    """One search, the processes that work on it, and what is known of them."""

    def __init__(self, folder: Path, seed: int, width: int, algorithm: str) -> None:
        self.path, self.alone = folder / "killed.db", folder / "alone.db"
        self.diary = writable("folder", folder / "diary")
        self.seed, self.width, self.algorithm = seed, width, algorithm
        self.difference = ""
        self.kills = 0
        #: Rewards on disk after the last kill, those acknowledged, and evaluations begun, once or more often.
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
        """Let processes work and kill them, until one gets through."""
        ended = False
        while not ended:
            ended = self._life(kills)
            self._review()
            self.kills += not ended

    def _life(self, kills: int) -> bool:
        """One process; whether it got through."""
        arguments = [str(self.path), str(self.diary), self.algorithm, str(self.seed), str(self.width)]
        process = subprocess.Popen([sys.executable, "-c", _CHILD, *arguments], stderr=subprocess.PIPE)
        try:
            if self.kills < kills:
                self._wait(process, kills)
                process.kill()
            _, errors = process.communicate(timeout=_PATIENCE)
        finally:
            process.kill()
            process.wait()
        if errors:
            raise _Amiss(f"a process failed: {errors.decode(errors='replace').strip().splitlines()[-1]}")
        return process.returncode == 0

    def _wait(self, process: subprocess.Popen[bytes], kills: int) -> None:
        """Until the moment to kill: early, or after a share of the work that leaves some for the next."""
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
        """Read the diary of the process that ended, and what it left on disk."""
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
        """Raise unless what came out is what must."""
        killed, alone = self._recording(), read(self.alone)
        try:
            verified = verify(self.path)
        except (Refuted, ValueError) as error:
            raise _Amiss(f"the certificate does not verify: {error}") from error
        if not verified.proved:
            raise _Amiss(f"the search ended because of {verified.reason!r}")
        self._rewards(killed)
        if self.width > 1:
            return
        for part in ("config", "status", "arms", "asks", "waits", "tells"):
            if getattr(killed, part) != getattr(alone, part):
                raise _Amiss(f"{part} are not those of the search that nobody killed")
        if {failure.action for failure in killed.failures} - {"again", "begun"}:
            raise _Amiss("a pull failed that did not fail in the search that nobody killed")
        if _claimed(verified) != _claimed(Certificate.from_dict(alone.certificate or {})):
            raise _Amiss("the certificate is not that of the search that nobody killed")

    def _rewards(self, recording: Recording) -> None:
        """Whether each reward is what seed, arm and number give."""
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
    """What a certificate says, apart from the pulls that were lost to kills on the way."""
    return replace(certificate, digest=None, failures={}, assumptions=())
