"""What runs in a worker: one evaluation, whose failure is an answer and not an exception."""

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
from topalpha.execution.failures import Failure

Outcome = float | Failure


def attempt(evaluation: Evaluation) -> Outcome:
    """The reward, or why there is none; what is no ``Exception`` (Ctrl-C, an exit) goes through.

    Examples
    --------
    >>> attempt(Evaluation(lambda: 1 / 0, (), None, False)).reason
    'ZeroDivisionError: division by zero'
    """
    try:
        return evaluation()
    except Exception as error:
        return Failure.of(error)


def attempt_elsewhere(evaluation: Evaluation) -> Outcome:
    """The same in another process: what it returns survives the way back.

    Examples
    --------
    >>> attempt_elsewhere(Evaluation(lambda: "2", (), None, False)).reason
    "ValueError: reward must be a real number, got '2'"
    """
    outcome = attempt(evaluation)
    return outcome.portable() if isinstance(outcome, Failure) else outcome


@lru_cache(maxsize=4)
def _function(packed: bytes) -> Callable[..., Any]:
    loaded: Callable[..., Any] = pickle.loads(packed)
    return loaded


def attempt_packed(function: bytes, evaluation: bytes) -> Outcome:
    """The same from bytes: unpacking that fails must fail here, where it takes no pool of processes down.

    Examples
    --------
    >>> attempt_packed(b"", b"").travel
    True
    """
    try:
        ready = replace(pickle.loads(evaluation), function=_function(function))
    except Exception as error:
        return Failure.of(error)._replace(travel=True).portable()
    return attempt_elsewhere(ready)


def hello() -> None:
    """Nothing: a process that answers has started."""


def ignore_signal(number: int, frame: FrameType | None) -> None:
    """Ctrl-C and the like reach all processes; the one that waits for the workers decides what happens to them.

    This is a handler, not ``SIG_IGN``: what a pull starts in turn must not inherit it.
    """


def outlive() -> None:
    """End this process as soon as the one that started it is gone, even by ``kill -9``: nobody waits for it then."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
