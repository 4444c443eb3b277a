"""The code that runs in a worker: one evaluation, whose failure is returned, not raised."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from types import FrameType
from typing import Any

from topalpha.execution.calls import Evaluation
from topalpha.execution.failures import NoReward

Outcome = float | NoReward


def attempt(evaluation: Evaluation) -> Outcome:
    """The reward, or the failure; exceptions outside ``Exception`` (Ctrl-C, an exit) pass through.

    Examples
    --------
    >>> attempt(Evaluation(lambda: 1 / 0, (), None, False)).reason
    'ZeroDivisionError: division by zero'
    """
    try:
        return evaluation()
    except Exception as error:
        return NoReward.of(error)


def attempt_elsewhere(evaluation: Evaluation) -> Outcome:
    """As :func:`attempt`, in another process: the outcome can be sent back.

    Examples
    --------
    >>> attempt_elsewhere(Evaluation(lambda: "2", (), None, False)).reason
    "ValueError: reward must be a real number, got '2'"
    """
    outcome = attempt(evaluation)
    return outcome.portable() if isinstance(outcome, NoReward) else outcome


@lru_cache(maxsize=4)
def _function(packed: bytes) -> Callable[..., Any]:
    loaded: Callable[..., Any] = pickle.loads(packed)
    return loaded


def attempt_packed(function: bytes, evaluation: bytes) -> Outcome:
    """The same from bytes: a failure to unpack must happen here, where it does not break the pool of processes.

    Examples
    --------
    >>> attempt_packed(b"", b"").travel
    True
    """
    try:
        ready = replace(pickle.loads(evaluation), function=_function(function))
    except Exception as error:
        return NoReward.of(error)._replace(travel=True).portable()
    return attempt_elsewhere(ready)


def hello() -> None:
    """Do nothing: a process that answers has started."""


def ignore_signal(number: int, frame: FrameType | None) -> None:
    """Ignore a signal: all processes receive it, and the one that waits for the workers decides.

    This is a handler, not ``SIG_IGN``: processes that a pull starts must not inherit it.
    """


def outlive() -> None:
    """End this process when the process that started it has died, even by ``kill -9``."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
