"""Many runs of an algorithm on a reservoir: how often it errs, and how many pulls it takes."""

from topalpha.simulation.runs import Experiment, Outcome, finish, run_chunk, run_on_executor, run_on_threads, start
from topalpha.simulation.simulating import Interpreted, Means, check_means, interpret, judged_law, simulate
from topalpha.simulation.study import Count, Study, standard_error

__all__ = [
    "Count",
    "Experiment",
    "Interpreted",
    "Means",
    "Outcome",
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
