"""``select(candidates, examples, evaluate)``: the best of many prompts or models on a pass/fail test set."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from topalpha.algorithms.choices import ALGORITHMS, ALPHA, chosen_algorithm, target_alpha  # noqa: F401 - as in 0.2.0
from topalpha.ask_tell import Task
from topalpha.execution import Calls
from topalpha.running import Draw, Running, afinish, finish, prepare, same_target
from topalpha.session import Session, digest
from topalpha.storage import holds, read
from topalpha.testset.selection import Selection, selection_of
from topalpha.validate import file_name, flag, has_length, require

#: How many coroutines are awaited at once by default.
WIDTH = 8

_WORDS = ("candidates", "evaluate", "examples")
# Passes are counted, and more of them are better.
_HINTS = dict.fromkeys(("minimise", "minimize"), "evaluate says what passes, and can say the opposite: return not ...")
# Which arguments are about the file.
_KEPT = ("storage", "name", "resume", "pickle", "durable", "interval")


def select(
    candidates: Draw,
    examples: Sequence[Any],
    evaluate: Callable[..., Any],
    *,
    alpha: float | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    about: str = "",
    on_error: str = "raise",
    on_lost: str = "again",
    storage: str | os.PathLike[str] | None = None,
    name: str = "selection",
    resume: bool = False,
    pickle: bool = False,
    durable: str = "process",
    interval: float = 0.0,
    **running: Any,
) -> Selection:
    """Choose a candidate by pass or fail on a test set, with only as many evaluations as the proof needs.

    Every candidate goes through the examples in its own random order, none sees an example twice, and candidates that
    fall behind are left alone. So a choice never costs more than evaluating every drawn candidate on every example.
    The claim is about the scores on these examples.

    Parameters
    ----------
    candidates
        A list of candidates; the claim is then about that list. Or a function, ``draw(rng)`` or ``draw()``, that
        returns a new candidate; the claim is then about the law that it draws from.
    examples
        The test set: a list of anything.
    evaluate
        ``evaluate(candidate, example)`` returns whether the candidate passes: True or False, 1 or 0. The same pair must
        always give the same answer. A coroutine function is awaited, ``width`` calls at a time.
    alpha
        The top fraction to aim at; by default the best of a list, or the top 0.05 of the law of a function.
    epsilon
        How far the chosen candidate's score may be below that.
    delta
        The allowed probability of a wrong claim.
    algorithm, options
        The algorithm, cc-lucb (the default) or joint-lucb, and its options.
    seed
        Seed of all random choices: the same seed gives the same choice, one evaluation at a time.
    about
        The law or list that the candidates come from, in words, for the certificate.
    on_error
        What happens to an evaluation that raises, times out or returns no number. ``raise``: the error is raised.
        ``retry``: it runs again. ``worst``: it counts as failed.
    on_lost
        What happens to an evaluation that began and never answers. ``again``: it runs again. ``worst``: it counts as
        passed in the candidate's upper bound and as failed in its lower bound.
    storage, name, pickle, durable, interval
        A file that records the search; see :func:`topalpha.search`.
    resume
        Continue the choice of this name in the file, if any; refused if candidates, examples or target differ.
    **running
        How it runs: executor, workers, width, budget, timeout, progress; see :class:`topalpha.running.Running`.

    Returns
    -------
    Selection
        The candidate, its certificate, every candidate's score with an interval, and the number of evaluations.

    Examples
    --------
    >>> from topalpha import select
    >>> chosen = select([2, 3, 5, 7], range(1, 31), lambda divisor, number: number % divisor == 0, epsilon=0.1)
    >>> chosen.candidate, chosen.evaluations < chosen.full_evaluations
    (2, True)
    >>> print(chosen.statement)
    With probability at least 0.95, the score of candidate 2 (index 0) on these 30 examples is within 0.1 of
    the best of the list of 4 candidates. The search ended because the stopping rule was met.
    """
    given = locals()  # every argument by its name: the list is written once
    how = Running.of(given.pop("running"), given, **_HINTS)
    kept = {name: given.pop(name) for name in _KEPT}
    task, calls = _asked(**given)
    if calls.asynchronous:
        require(not _looping(), "evaluate", "be a plain function inside an event loop; await aselect there", evaluate)
    with _session(task, calls, **kept) as session:
        if calls.asynchronous:
            return asyncio.run(_awaited(session, calls, how))
        return selection_of(session, calls, finish(session, calls, how))


async def aselect(
    candidates: Draw,
    examples: Sequence[Any],
    evaluate: Callable[..., Any],
    **settings: Any,
) -> Selection:
    """As :func:`select`, inside an event loop; ``width`` evaluations are awaited at once, 8 by default.

    Parameters
    ----------
    candidates
        A list of candidates, or a function that draws one.
    examples
        The test set: a list of anything.
    evaluate
        ``evaluate(candidate, example)`` returns whether the candidate passes; a coroutine function is awaited.
    **settings
        All other arguments of :func:`select`: the target, the algorithm, the seed, the file, and how it runs.

    Examples
    --------
    >>> import asyncio
    >>> from topalpha import aselect
    >>> async def passes(word, letter):
    ...     await asyncio.sleep(0)
    ...     return letter in word
    >>> asyncio.run(aselect(["a", "b", "ab"], list("abbabab"), passes, epsilon=0.2)).candidate
    'ab'
    """
    how, asked = Running.parted(settings, select, **_HINTS)
    kept = {name: asked.pop(name) for name in _KEPT if name in asked}
    task, calls = _asked(candidates, examples, evaluate, **asked)
    with _session(task, calls, **kept) as session:
        return await _awaited(session, calls, how)


async def _awaited(session: Session, calls: Calls, how: Running) -> Selection:
    how = replace(how, width=WIDTH) if how.width is None else how
    return selection_of(session, calls, await afinish(session, calls, how))


def _asked(
    candidates: Draw,
    examples: Sequence[Any],
    evaluate: Callable[..., Any],
    *,
    alpha: float | None = None,
    algorithm: str | None = None,
    **target: Any,
) -> tuple[Task, Calls]:
    """The target, and the functions that draw and evaluate."""
    require(not isinstance(examples, str | bytes), "examples", "be a list", examples)
    require(examples is not None, "examples", "be a list", examples)
    pool = 0 if callable(candidates) or not has_length(candidates) else len(candidates)
    target |= {"alpha": target_alpha(alpha, pool), "algorithm": chosen_algorithm(algorithm)}
    return prepare(candidates, evaluate, items=examples, words=_WORDS, **target)


def _session(
    task: Task,
    calls: Calls,
    storage: str | os.PathLike[str] | None = None,
    name: str = "selection",
    resume: bool = False,
    pickle: bool = False,
    **opened: Any,
) -> Session:
    """A new session, or the one in the file; raise if its candidates, examples or target differ."""
    resume, pickle = flag("resume", resume), flag("pickle", pickle)
    require(storage is not None or not resume, "storage", "name a file if resume is set", storage)
    if storage is None:
        return Session.start(task)
    file_name("storage", storage)
    listed = calls.draw if calls.pool > 0 else ()
    own = {"examples": digest("examples", calls.items or ()), "candidates": digest("candidates", listed)}
    if not (resume and holds(storage, name)):
        code = {"select": own}
        return Session.start(task, storage, name, pickle=pickle, code=code, **opened)
    config = read(storage, name, log=False).config
    kept: Mapping[str, str] = (config.get("code") or {}).get("select", {})
    require(bool(kept), "name", "be a choice that select began", name)
    same_target(config, task)
    for part, value in own.items():
        require(kept[part] == value, part, "be the same as in the record", "different ones")
    return Session.resume(storage, name, allow_pickle=pickle, **opened)


def _looping() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
