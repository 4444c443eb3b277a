"""``select(candidates, examples, evaluate)``: the best of many prompts or models on a test set."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from topalpha.algorithms.choices import ALGORITHMS, ALPHA, chosen_algorithm, chosen_order, target_alpha  # noqa: F401
from topalpha.ask_tell import Result, Task
from topalpha.execution import Calls, arm_of
from topalpha.families.protocols import RewardModel
from topalpha.running import Draw, Running, afinish, finish, prepare, same_target
from topalpha.session import Session, digest, recorded_task
from topalpha.storage import holds, read
from topalpha.testset.selection import Selection, selection_of
from topalpha.validate import file_name, flag, has_length, require, seed_number, whole

#: How many coroutines are awaited at once by default.
WIDTH = 8

#: What is made of a result: a selection, or the result of a duel.
Made = TypeVar("Made")

_WORDS = ("candidates", "evaluate", "examples")
# Passes are counted, and more of them are better.
_HINTS = dict.fromkeys(("minimise", "minimize"), "evaluate says what passes, and can say the opposite: return not ...")
#: Which arguments are about the file.
KEPT = ("storage", "name", "resume", "pickle", "durable", "interval")


def select(
    candidates: Draw,
    examples: Sequence[Any],
    evaluate: Callable[..., Any],
    *,
    alpha: float | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    family: str | RewardModel | None = None,
    order: str | None = None,
    incumbent: int | None = None,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int | None = None,
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
    """Choose a candidate by its scores on a test set, with only as many evaluations as the proof needs.

    The candidates of a short list share one random order of the examples, and are compared example by example; of a
    longer list or a pool each has its own order. No candidate sees an example twice, and candidates that fall behind
    are left alone: a choice never costs more than evaluating every drawn candidate on every example. The claim is
    about the scores on these examples.

    Parameters
    ----------
    candidates
        A list of candidates; the claim is then about that list. Or a function, ``draw(rng)`` or ``draw()``, that
        returns a new candidate; the claim is then about the law that it draws from.
    examples
        The test set: a list of anything.
    evaluate
        ``evaluate(candidate, example)`` returns whether the candidate passes: True or False, 1 or 0; or its score, see
        ``family``. The same pair must always give the same answer. A coroutine function is awaited, ``width`` calls at
        a time.
    alpha
        The top fraction to aim at; by default the best of a list, or the top 0.05 of the law of a function.
    epsilon
        How far the chosen candidate's score may be below that.
    delta
        The allowed probability of a wrong claim.
    family
        ``"pass-fail"``, the default; ``"graded"`` for scores anywhere in [0, 1]; ``"graded(lo,hi)"`` for another range.
    order
        ``"shared"``: one random order of the examples for all candidates of a list. ``"own"``: one for each candidate.
        By default shared for lists of up to ten candidates, and where an incumbent is named. A shared order must be
        drawn after the candidates were fixed: do not tune candidates and choose again with the same ``seed``.
    incumbent
        The position in the list of a candidate that is special before anything is seen, such as the one in use. Less is
        asked for to choose it, and a little more to choose another.
    algorithm, options
        The algorithm, paired for a shared order, otherwise cc-lucb (the default) or joint-lucb, and its options.
    seed
        Seed of all random choices: the same seed gives the same choice, one evaluation at a time. By default 0, and a
        fresh one for a shared order; the certificate has it.
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
    kept = {name: given.pop(name) for name in KEPT}
    task, calls = _asked(**given, recorded=recorded_choice(**kept))
    return carried_out(task, calls, how, kept, selection_of, "aselect")


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
    kept = {name: asked.pop(name) for name in KEPT if name in asked}
    task, calls = _asked(candidates, examples, evaluate, **asked, recorded=recorded_choice(**kept))
    return await awaited(task, calls, how, kept, selection_of)


def carried_out(
    task: Task,
    calls: Calls,
    how: Running,
    kept: Mapping[str, Any],
    made: Callable[[Session, Calls, Result], Made],
    other: str,
) -> Made:
    """What is ``made`` of the result, once this new or recorded task has run.

    Coroutine functions are awaited in a loop of their own; ``other`` is the function to await inside another loop.

    Examples
    --------
    >>> task, calls = prepare([1, 2], lambda one, item: item > one, items=[1, 2, 3], algorithm="paired", alpha=0.5)
    >>> carried_out(task, calls, Running(progress="none"), {}, lambda session, calls, result: result.candidate, "")
    1
    """
    if calls.asynchronous:
        inside = f"be a plain function inside an event loop; await {other} there"
        require(not looping(), "evaluate", inside, calls.pull)
        return asyncio.run(awaited(task, calls, how, kept, made))
    with begun(task, calls, **kept) as session:
        return made(session, calls, finish(session, calls, how))


async def awaited(
    task: Task,
    calls: Calls,
    how: Running,
    kept: Mapping[str, Any],
    made: Callable[[Session, Calls, Result], Made],
) -> Made:
    """The same inside an event loop.

    Examples
    --------
    >>> async def evaluate(one, item):
    ...     return item > one
    >>> task, calls = prepare([1, 2], evaluate, items=[1, 2, 3], algorithm="paired", alpha=0.5)
    >>> how = Running(progress="none")
    >>> asyncio.run(awaited(task, calls, how, {}, lambda session, calls, result: result.candidate))
    1
    """
    how = replace(how, width=WIDTH) if how.width is None else how
    with begun(task, calls, **kept) as session:
        return made(session, calls, await afinish(session, calls, how))


def _asked(
    candidates: Draw,
    examples: Sequence[Any],
    evaluate: Callable[..., Any],
    *,
    alpha: float | None = None,
    order: str | None = None,
    incumbent: int | None = None,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int | None = None,
    recorded: Task | None = None,
    **target: Any,
) -> tuple[Task, Calls]:
    """The target, and the functions that draw and evaluate; what is not given is as in the record, if there is one."""
    require(not isinstance(examples, str | bytes), "examples", "be a list", examples)
    require(examples is not None, "examples", "be a list", examples)
    pool = 0 if callable(candidates) or not has_length(candidates) else len(candidates)
    choice_or_none = recorded is None or recorded.algorithm != "duel"
    require(choice_or_none, "name", "be a choice that select began", "a duel")
    if recorded is not None and algorithm is None and order is None:
        algorithm = recorded.algorithm
    on_lost = target.get("on_lost", "again")
    order = chosen_order(order, pool, alpha=alpha, algorithm=algorithm, incumbent=incumbent, on_lost=on_lost)
    seed = fresh_seed(seed, recorded) if order == "shared" or recorded is not None else 0 if seed is None else seed
    target |= {"alpha": target_alpha(alpha, pool), "algorithm": chosen_algorithm(algorithm, order), "seed": seed}
    asked = dict(options or {})
    if incumbent is not None:
        place = whole("incumbent", incumbent, 0)
        require(place < pool, "incumbent", f"be a position in the list of {pool} candidates, from 0", incumbent)
        asked["incumbent"] = 1 + arm_of(seed, pool, place)
    return prepare(candidates, evaluate, items=examples, words=_WORDS, options=asked, **target)


def begun(
    task: Task,
    calls: Calls,
    storage: str | os.PathLike[str] | None = None,
    name: str = "selection",
    resume: bool = False,
    pickle: bool = False,
    **opened: Any,
) -> Session:
    """A new session, or the one in the file; raise if its candidates, examples or target differ.

    Examples
    --------
    >>> task, calls = prepare([1, 2], lambda one, item: item > one, items=[1, 2, 3], algorithm="paired", alpha=0.5)
    >>> begun(task, calls).task == task
    True
    """
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
    require(bool(kept), "name", "be a choice that select began, or a duel", name)
    same_target(config, task)
    for part, value in own.items():
        require(kept[part] == value, part, "be the same as in the record", "different ones")
    return Session.resume(storage, name, allow_pickle=pickle, **opened)


def fresh_seed(seed: int | None, recorded: Task | None = None) -> int:
    """The given seed, the recorded one, or a fresh one: a shared order must not be known when candidates are made.

    Examples
    --------
    >>> fresh_seed(7), fresh_seed(None) != fresh_seed(None)
    (7, True)
    """
    if seed is not None:
        return seed_number("seed", seed)
    return secrets.randbits(53) if recorded is None else recorded.seed


def recorded_choice(
    storage: str | os.PathLike[str] | None = None, name: str = "selection", resume: bool = False, **_: Any
) -> Task | None:
    """The task of the choice or duel that is to be resumed; None for a new one.

    Examples
    --------
    >>> recorded_choice() is None
    True
    """
    if storage is None or not flag("resume", resume) or not holds(file_name("storage", storage), name):
        return None
    return recorded_task(read(storage, name, log=False).config)


def looping() -> bool:
    """Whether this thread runs an event loop.

    Examples
    --------
    >>> looping()
    False
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
