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
    ; for graded scores write family="graded(lo,hi)" with their limits, and epsilon in their unit
    """
    if task.items:
        others = "between other limits" if task.model.text.startswith("graded") else "for graded scores"
        return f'; {others} write family="graded(lo,hi)" with their limits, and epsilon in their unit'
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
