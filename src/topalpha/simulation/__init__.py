"""Many runs of an algorithm on a reservoir: its error rate, and its number of pulls (evaluations)."""

from topalpha.simulation.runs import Experiment, RunOutcome, finish, run_chunk, run_on_executor, run_on_threads, start
from topalpha.simulation.simulating import Interpreted, Means, check_means, interpret, judged_law, simulate
from topalpha.simulation.study import Count, Study, standard_error

__all__ = [
    "Count",
    "Experiment",
    "Interpreted",
    "Means",
    "RunOutcome",
    "Study",
    "check_means",
    "finish",
    "interpret",
    "judged_law",
    "run_chunk",
    "run_on_executor",
    "run_on_threads",
    "simulate",
    "standard_error",
    "start",
]
