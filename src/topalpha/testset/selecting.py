"""``select(candidates, examples, evaluate)``: the best of many prompts or models on a pass/fail test set."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from topalpha.ask_tell import Task
from topalpha.execution import Calls
from topalpha.running import Draw, Running, afinish, finish, prepare
from topalpha.session import Session, digest, recorded_task
from topalpha.storage import holds, read
from topalpha.testset.selection import Selection, selection_of
from topalpha.validate import choice, file_name, flag, has_length, require

#: Algorithms that know test sets and say beforehand how many candidates they draw. The first is used where none is
#: named: it costs no more on a test set, draws fewer candidates, and a slow remote call holds up no other candidate.
ALGORITHMS = ("cc-lucb", "joint-lucb")
#: The top fraction where none is given and a function draws candidates; of a list it is the best one.
ALPHA = 0.05
#: How many coroutines are awaited at once unless ``width`` says.
WIDTH = 8

_WORDS = ("candidates", "evaluate", "examples")


def target_alpha(alpha: float | None, pool: int) -> float:
    """The alpha that stands for what was left out: the best of a list, the top twentieth of an endless pool.

    Examples
    --------
    >>> target_alpha(None, 20), target_alpha(None, 0), target_alpha(0.1, 20), target_alpha(None, 1)
    (0.05, 0.05, 0.1, 0.5)
    """
    if alpha is not None:
        return alpha
    return ALPHA if pool == 0 else min(1.0 / pool, 0.5)


def chosen_algorithm(name: str | None) -> str:
    """The algorithm of this name, if it is one that choices are made with.

    Examples
    --------
    >>> chosen_algorithm(None)
    'cc-lucb'
    """
    return ALGORITHMS[0] if name is None else choice("algorithm", name, ALGORITHMS)


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
    """Choose a candidate by pass or fail on a test set, from as few evaluations as will prove the choice.

    Every candidate goes through the examples in a random order of its own, none sees an example twice, and candidates
    that fall behind are left alone. So it never costs more than to evaluate every candidate that was drawn on every
    example. The claim is about the scores on these examples.

    Parameters
    ----------
    candidates
        A list of candidates, and then the claim is about that list; or a function, ``draw(rng)`` or ``draw()``, that
        returns a fresh one, and then it is about the law that this draws from.
    examples
        The test set: a list of anything.
    evaluate
        ``evaluate(candidate, example)`` says whether the candidate passes: True or False, 1 or 0. The same pair must
        give the same answer whenever it is tried. A coroutine function is awaited, ``width`` calls at a time.
    alpha
        The top fraction to aim at; unless given, the best of a list, and the top 0.05 of what a function draws.
    epsilon
        By how much the chosen candidate's score may fall short of that.
    delta
        The probability with which the claim may be wrong.
    algorithm, options
        Which algorithm, cc-lucb unless given, or joint-lucb; and its options.
    seed
        Of all random choices: the same seed gives the same choice, one evaluation at a time.
    about
        In words, which law or list the candidates come from, for the certificate.
    on_error
        What is done about an evaluation that raises, times out or gives no number: ``raise``; ``retry``, the same
        again; or count it as failed, ``worst``.
    on_lost
        What is done about an evaluation that was begun and never answers: ``again``; or count it as passed in the
        candidate's upper bound and as failed in its lower bound, ``worst``.
    storage, name, pickle, durable, interval
        A file that keeps everything; see :func:`topalpha.search`.
    resume
        Go on with what the file holds under this name, if it does; refused where candidates of a list, examples or
        target are others.
    **running
        How it runs: executor, workers, width, budget, timeout, progress; see :class:`topalpha.running.Running`.

    Returns
    -------
    Selection
        The candidate, its certificate, every candidate's score with an interval, and what was spent.

    Examples
    --------
    >>> from topalpha import select
    >>> chosen = select([2, 3, 5, 7], range(1, 31), lambda divisor, number: number % divisor == 0, epsilon=0.1)
    >>> chosen.candidate, chosen.evaluations < chosen.full_evaluations
    (2, True)
    >>> print(chosen.statement)
    The search ended because the stopping rule was met. With probability at least 0.95, the chosen candidate's score
    on these 30 examples is within 0.1 of the best of the list of 4 candidates.
    """
    how = Running.of(running)
    task, calls = _asked(
        candidates,
        examples,
        evaluate,
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        algorithm=algorithm,
        options=options,
        seed=seed,
        about=about,
        on_error=on_error,
        on_lost=on_lost,
    )
    if calls.asynchronous:
        require(not _looping(), "evaluate", "be a plain function inside an event loop: there, await aselect", evaluate)
    with _session(task, calls, storage, name, resume, pickle, durable, interval) as session:
        if calls.asynchronous:
            return asyncio.run(_awaited(session, calls, how))
        return selection_of(session, calls, finish(session, calls, how))


async def aselect(
    candidates: Draw,
    examples: Sequence[Any],
    evaluate: Callable[..., Any],
    *,
    storage: str | os.PathLike[str] | None = None,
    name: str = "selection",
    resume: bool = False,
    pickle: bool = False,
    durable: str = "process",
    interval: float = 0.0,
    **settings: Any,
) -> Selection:
    """The same as :func:`select`, inside an event loop; ``width`` evaluations are awaited at once, 8 unless given.

    Parameters
    ----------
    candidates
        A list of candidates, or a function that draws one.
    examples
        The test set: a list of anything.
    evaluate
        ``evaluate(candidate, example)`` says whether the candidate passes; a coroutine function is awaited.
    storage, name, pickle, durable, interval
        A file that keeps everything; see :func:`topalpha.search`.
    resume
        Go on with what the file holds under this name, if it does.
    **settings
        All others of :func:`select`: the target, the algorithm, the seed, and how it runs.

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
    how = Running.of({key: settings.pop(key) for key in list(settings) if key in Running.__dataclass_fields__})
    task, calls = _asked(candidates, examples, evaluate, **settings)
    with _session(task, calls, storage, name, resume, pickle, durable, interval) as session:
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
    epsilon: float = 0.05,
    delta: float = 0.05,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    about: str = "",
    on_error: str = "raise",
    on_lost: str = "again",
) -> tuple[Task, Calls]:
    """What is looked for, and what evaluates it."""
    require(not isinstance(examples, str | bytes), "examples", "be a list", examples)
    require(examples is not None, "examples", "be a list", examples)
    pool = 0 if callable(candidates) or not has_length(candidates) else len(candidates)
    return prepare(
        candidates,
        evaluate,
        items=examples,
        words=_WORDS,
        alpha=target_alpha(alpha, pool),
        epsilon=epsilon,
        delta=delta,
        algorithm=chosen_algorithm(algorithm),
        options={} if options is None else options,
        seed=seed,
        about=about,
        on_error=on_error,
        on_lost=on_lost,
    )


def _session(
    task: Task,
    calls: Calls,
    storage: str | os.PathLike[str] | None,
    name: str,
    resume: bool,
    pickle: bool,
    durable: str,
    interval: float,
) -> Session:
    """A new session, or the one that the file holds, if that is of the same candidates, examples and target."""
    resume, pickle = flag("resume", resume), flag("pickle", pickle)
    require(storage is not None or not resume, "storage", "name a file where resume is set", storage)
    if storage is None:
        return Session.start(task)
    file_name("storage", storage)
    listed = calls.draw if calls.pool > 0 else ()
    own = {"examples": digest("examples", calls.items or ()), "candidates": digest("candidates", listed)}
    if not (resume and holds(storage, name)):
        code = {"select": own}
        return Session.start(task, storage, name, pickle=pickle, durable=durable, interval=interval, code=code)
    config = read(storage, name, log=False).config
    kept: Mapping[str, str] = (config.get("code") or {}).get("select", {})
    require(bool(kept), "what is resumed", "be a choice that select began", name)
    recorded, asked = asdict(recorded_task(config)), asdict(task)
    other = {key: value for key, value in asked.items() if recorded[key] != value}
    was = ", ".join(f"{key}={recorded[key]!r}" for key in other)
    require(not other, "what is resumed", f"be what was recorded, with {was}", other)
    for part, value in own.items():
        require(kept[part] == value, part, "be those that were recorded, to be resumed", "others")
    return Session.resume(storage, name, allow_pickle=pickle, durable=durable, interval=interval)


def _looping() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
