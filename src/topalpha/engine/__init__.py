"""The compiled driver of simulations."""

from topalpha.engine.run import FAULTY, OUT_OF_ARMS, OUT_OF_BUDGET, STOPPED, Run

__all__ = ["FAULTY", "OUT_OF_ARMS", "OUT_OF_BUDGET", "STOPPED", "Run"]
