"""Turns of test processes: a test that says how quick something is has the machine to itself."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

HERE = Path(__file__).parent


class Turns:
    """A lock between processes that many share or one has alone; while one waits to be alone, no other comes in.

    Files of the tests themselves are what is locked, so that nothing is left behind.
    """

    def __init__(self, gate=HERE / "turns.py", room=HERE.parent / "conftest.py"):
        self._gate, self._room = os.open(gate, os.O_RDONLY), os.open(room, os.O_RDONLY)
        self._alone = False

    def begin(self, alone):
        if alone and self._alone:
            return
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)
        self._alone = alone

    def end(self):
        fcntl.flock(self._room, fcntl.LOCK_UN)
        self._alone = False


def wants_to_be_alone(item):
    return item is not None and item.get_closest_marker("alone") is not None
