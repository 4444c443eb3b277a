"""Evaluating pulls: in this thread, in threads or processes, on a cluster, or in an event loop.

>>> from topalpha.execution import Calls, run
>>> from topalpha import Search, design
>>> calls = Calls(lambda rng: rng.random(), lambda mean, rng: rng.random() < mean, seed=0)
>>> search, arms = Search(design("joint-lucb", 0.2, 0.2, 0.1), seed=0), []
>>> run(search, calls, candidates=arms, new_candidate=calls.candidate, executor="threads", width=4)
'stopped'
"""

from topalpha.execution.asynchronous import arun
from topalpha.execution.calls import (
    Calls,
    Evaluation,
    Noted,
    arm_of,
    common_generator,
    place_in_list,
    place_of,
    pull_generator,
)
from topalpha.execution.endings import (
    PATIENCE,
    SIGNALS,
    Budget,
    Meter,
    depart,
    exit_code,
    held,
    released,
)
from topalpha.execution.executors import Crew, open_executor
from topalpha.execution.failures import PullFailed
from topalpha.execution.flight import in_flight
from topalpha.execution.loop import run

__all__ = [
    "PATIENCE",
    "SIGNALS",
    "Budget",
    "Calls",
    "Crew",
    "Evaluation",
    "Meter",
    "Noted",
    "PullFailed",
    "arm_of",
    "arun",
    "common_generator",
    "depart",
    "exit_code",
    "held",
    "in_flight",
    "open_executor",
    "place_in_list",
    "place_of",
    "pull_generator",
    "released",
    "run",
]
