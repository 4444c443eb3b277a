"""Turns of test processes: many at once, or one alone."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
from turns import Turns, wants_to_be_alone

CONFTEST = Path(__file__).parent / "conftest.py"


def may(file, kind):
    """Whether somebody else would get the lock now."""
    with file.open() as stream:
        try:
            fcntl.flock(stream, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.fixture
def files(tmp_path):
    found = tmp_path / "gate", tmp_path / "room"
    for one in found:
        one.touch()
    return found


def test_many_share_and_one_is_alone(files):
    gate, room = files
    first, second = Turns(*files), Turns(*files)
    first.begin(alone=False)
    second.begin(alone=False)
    assert may(room, fcntl.LOCK_SH)
    assert not may(room, fcntl.LOCK_EX)
    first.end()
    assert not may(room, fcntl.LOCK_EX)
    second.end()
    first.begin(alone=True)
    assert not may(room, fcntl.LOCK_SH)
    first.begin(alone=True)  # it stays alone
    assert not may(room, fcntl.LOCK_SH)
    assert may(gate, fcntl.LOCK_EX)
    first.end()
    assert may(room, fcntl.LOCK_EX)


def test_whoever_waits_to_be_alone_lets_no_other_in(files):
    from threading import Thread

    gate, room = files
    first, second = Turns(*files), Turns(*files)
    first.begin(alone=False)
    waiting = Thread(target=second.begin, args=(True,))
    waiting.start()
    while may(gate, fcntl.LOCK_EX):
        pass
    assert waiting.is_alive()
    first.end()
    waiting.join(10.0)
    assert not waiting.is_alive()
    assert not may(room, fcntl.LOCK_SH)
    second.end()


@pytest.mark.alone
def test_the_mark_is_seen(request):
    assert wants_to_be_alone(request.node)
    assert not may(CONFTEST, fcntl.LOCK_SH), "no other test may begin now"


def test_no_mark_is_seen(request):
    assert not wants_to_be_alone(request.node)
    assert not wants_to_be_alone(None)
    assert not may(CONFTEST, fcntl.LOCK_EX), "no test may be alone now"
