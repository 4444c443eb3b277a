"""What to write instead, where a reward does not fit what the task says of rewards."""

from __future__ import annotations

from dataclasses import replace

from topalpha.ask_tell import Task


def advice(task: Task) -> str:
    """A clause to add to an error about a reward; empty if nothing can be said.

    Examples
    --------
    >>> print(advice(Task(0.1, 0.1, 0.05)))
    ; if rewards lie between other limits, write family="low-variance(lo,hi)" with these limits, and epsilon in their
    unit
    >>> print(advice(Task(0.1, 0.1, 0.05, family="pass-fail", items=9)))
    ; a graded score can be cut off, as in `return grade >= 0.7`, or be searched without a list of examples:
    topalpha.search(candidates, pull, family="low-variance(lo,hi)"), where pull(candidate, rng) grades one random
    example
    """
    if task.items:
        return (
            "; a graded score can be cut off, as in `return grade >= 0.7`, or be searched without a list of examples: "
            'topalpha.search(candidates, pull, family="low-variance(lo,hi)"), where pull(candidate, rng) grades one '
            "random example"
        )
    if task.model.text.startswith(("normal", "gaussian")):
        return ""
    fitting = [model for model in ("low-variance", "range") if _fits(task, model)]
    limits = "other limits" if task.model.worst is not None else "known limits, whatever their distribution"
    written = "".join(f'write family="{model}(lo,hi)" with these limits' for model in fitting[:1])
    return written and f"; if rewards lie between {limits}, {written}, and epsilon in their unit"


def _fits(task: Task, model: str) -> bool:
    """Whether the algorithm has a design for this model."""
    try:
        replace(task, family=f"{model}(0,{2.0 * task.epsilon!r})", on_error="raise")
    except ValueError:
        return False
    return True
