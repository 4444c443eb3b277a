"""The compiled driver of simulations, and the same loop interpreted."""

from topalpha.engine.interpreted import InterpretedRun
from topalpha.engine.run import FAULTY, OUT_OF_ARMS, OUT_OF_BUDGET, STOPPED, Run

__all__ = ["FAULTY", "OUT_OF_ARMS", "OUT_OF_BUDGET", "STOPPED", "InterpretedRun", "Run"]
