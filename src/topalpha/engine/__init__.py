"""The compiled driver of simulations, and the same loop interpreted."""

from topalpha.engine.compiled_run import FAULTY, OUT_OF_ARMS, OUT_OF_BUDGET, STOPPED, Run
from topalpha.engine.interpreted import InterpretedRun

__all__ = [
    "FAULTY",
    "OUT_OF_ARMS",
    "OUT_OF_BUDGET",
    "STOPPED",
    "InterpretedRun",
    "Run",
    "compile",
]
