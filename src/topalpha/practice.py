"""``search(draw, pull)``: candidates that a function draws, evaluated by another, until the best are told apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from topalpha.core import RewardModel
from topalpha.execution import Calls, PullFailed, arun, open_executor, run
from topalpha.models import reward_model
from topalpha.progress import Reporter
from topalpha.result import Result
from topalpha.running import Running, Watch
from topalpha.session import Session
from topalpha.task import Task
from topalpha.validate import require

Draw = Callable[..., Any] | Sequence[Any]


def search(
    draw: Draw,
    pull: Callable[..., Any],
    *,
    alpha: float = 0.05,
    epsilon: float = 0.05,
    delta: float = 0.05,
    family: str | RewardModel | None = None,
    minimise: bool = False,
    items: Sequence[Any] | None = None,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    about: str = "",
    on_error: str = "raise",
    storage: str | os.PathLike[str] | None = None,
    name: str = "search",
    pickle: bool = False,
    durable: str = "process",
    code: Mapping[str, Any] | None = None,
    **running: Any,
) -> Result:
    """Find a candidate whose mean is within epsilon of the top alpha fraction, with probability at least 1 - delta.

    Parameters
    ----------
    draw
        ``draw(rng)`` or ``draw()`` returns a fresh candidate, any object; or a list of candidates, and then the claim
        is about that list.
    pull
        ``pull(candidate, rng)`` or ``pull(candidate)`` evaluates it once and returns a reward. With ``items`` it is
        ``pull(candidate, item)`` or ``pull(candidate, item, rng)``.
    alpha, epsilon, delta
        The target.
    family
        What is known about rewards: ``bernoulli`` (anything in [0, 1]), ``range(lo,hi)``, ``low-variance(lo,hi)``,
        ``normal``, ``gaussian(sigma)``, ``poisson``, ...
    minimise
        Whether rewards are costs, of which small ones are good.
    items
        A finite test set: a pull is pass (1) or fail (0) on one item, and no item is used twice for a candidate.
    algorithm, options
        Which algorithm, and its options; joint-lucb unless given, and cc-lucb for normal rewards.
    seed
        Of all random choices: pull k of arm a has its own generator, so that a repeated pull gives the same reward.
    about
        In words, which law candidates are drawn from, for the certificate.
    on_error
        What is done about a pull that raises, times out, gives no valid reward or loses its worker: ``raise``;
        ``retry``, the same pull with the same seed, stated in the certificate as an assumption; or count the ``worst``
        reward.
    storage, name, pickle, durable
        A file that keeps everything, the name of this search in it, whether candidates may be pickled where JSON cannot
        hold them, and whether it is safe against a killed ``process`` or also against a loss of ``power``.
    code
        Where the two functions can be found again, to be kept in the file; ``topalpha resume`` reads it.
    **running
        How it runs: executor, budget, timeout, progress; see :class:`topalpha.running.Running`.

    Returns
    -------
    Result
        With ``candidate`` and ``certificate``. If the search ended early, because a budget was spent or by Ctrl-C, the
        certificate holds the weaker statements that are proved all the same.

    Examples
    --------
    >>> from topalpha import search
    >>> def draw(rng):
    ...     return rng.random()
    >>> def pull(candidate, rng):
    ...     return float(rng.random() < candidate)
    >>> result = search(draw, pull, alpha=0.2, epsilon=0.2, delta=0.1, progress="none")
    >>> result.stopped, result.candidate > 0.6
    (True, True)
    """
    session, calls, how = _begin(
        draw,
        pull,
        _running(running),
        items=items,
        storage=storage,
        name=name,
        pickle=pickle,
        durable=durable,
        code=code,
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        family=family,
        minimise=minimise,
        algorithm=algorithm,
        options=dict(options or {}),
        seed=seed,
        about=about,
        on_error=on_error,
    )
    with session:
        return _finish(session, calls, how)


def resume(
    path: str | os.PathLike[str],
    draw: Draw,
    pull: Callable[..., Any],
    *,
    items: Sequence[Any] | None = None,
    name: str | None = None,
    allow_pickle: bool = False,
    durable: str = "process",
    **running: Any,
) -> Result:
    """Go on with a search that was recorded, with the same two functions; ``running`` may differ.

    A search that has stopped gives its result again. What was told is not evaluated again; what was in flight is.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha import resume, search
    >>> def draw(rng):
    ...     return rng.random()
    >>> def pull(candidate, rng):
    ...     return float(rng.random() < candidate)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, target = folder + "/one.db", {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1}
    ...     early = search(draw, pull, **target, storage=path, pulls=50, progress="none")
    ...     late = resume(path, draw, pull, progress="none")
    >>> whole = search(draw, pull, **target, progress="none")
    >>> early.stopped, late.stopped, (late.arm, late.pulls) == (whole.arm, whole.pulls)
    (False, True, True)
    """
    how = _running(running)
    with Session.resume(path, name, allow_pickle=allow_pickle, durable=durable) as session:
        calls = Calls(draw, pull, seed=session.task.seed, items=items)
        _check_same(session.task, calls, items)
        return _finish(session, calls, how)


async def asearch(draw: Draw, pull: Callable[..., Any], **arguments: Any) -> Result:
    """The same as :func:`search`, for a ``pull`` that is a coroutine function: remote evaluations, for example.

    ``width`` says how many are awaited at once; ``executor`` and ``workers`` are not used.

    Examples
    --------
    >>> import asyncio
    >>> from topalpha import asearch
    >>> async def pull(candidate, rng):
    ...     await asyncio.sleep(0)
    ...     return float(rng.random() < candidate)
    >>> target = {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1}
    >>> result = asyncio.run(asearch(lambda rng: rng.random(), pull, **target, width=8, progress="none"))
    >>> result.stopped, result.candidate > 0.6
    (True, True)
    """
    how = _running({key: arguments.pop(key) for key in list(arguments) if key in Running.__dataclass_fields__})
    require(how.executor is None and how.workers is None, "executor", "not be given to asearch", how.executor)
    session, calls, how = _begin(draw, pull, how, **arguments)
    with session, Reporter(how.progress) as show:
        watch = Watch(session, how, show)
        try:
            terms = _terms(session, calls, how)
            reason = await arun(session, calls, notice=watch, limit=terms.pop("width") or 1, **terms)
        except PullFailed as error:
            error.result = _result(session, "failed") if session.history.t else None
            raise
        watch.last()
        return _result(session, reason)


def _running(settings: Mapping[str, Any]) -> Running:
    """How it runs; a name that is none of its settings gets the error of a call with a wrong name."""
    for name in settings:
        if name not in Running.__dataclass_fields__:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    return Running(**settings)


def _begin(
    draw: Draw,
    pull: Callable[..., Any],
    how: Running,
    *,
    items: Sequence[Any] | None = None,
    storage: str | os.PathLike[str] | None = None,
    name: str = "search",
    pickle: bool = False,
    durable: str = "process",
    code: Mapping[str, Any] | None = None,
    family: str | RewardModel | None = None,
    minimise: bool = False,
    algorithm: str | None = None,
    seed: int = 0,
    **target: Any,
) -> tuple[Session, Calls, Running]:
    """A session that has not begun, and what evaluates its pulls."""
    calls = Calls(draw, pull, seed=seed, items=items)
    size = 0 if items is None else len(items)
    model = reward_model(family, minimise=minimise, items=size or None)
    task = Task(
        family=model.text,
        minimise=minimise,
        algorithm=algorithm or "",
        pool=calls.pool,
        items=size,
        seed=seed,
        **target,
    )
    return Session.start(task, storage, name, pickle=pickle, durable=durable, code=code), calls, how


def _terms(session: Session, calls: Calls, how: Running) -> dict[str, Any]:
    """What the two drivers are told alike."""

    def new_candidate(arm: int) -> Any:
        candidate = calls.candidate(arm)
        if session.record is not None:
            session.record.add_arm(arm, candidate)
        return candidate  # and the driver puts it with the others

    return {
        "candidates": session.candidates,
        "new_candidate": new_candidate,
        "width": how.width,
        "budget": how.budget,
        "on_error": session.task.on_error,
        "retries": how.retries,
        "timeout": how.timeout,
        "failed": session.failed,
    }


def _finish(session: Session, calls: Calls, how: Running) -> Result:
    """Run the session to its end."""
    if session.record is not None:
        session.record.take_messages()  # those that came before it ran are not for this run
    with Reporter(how.progress) as show, open_executor(how.where, how.workers) as executor:
        watch = Watch(session, how, show)
        try:
            reason = run(session, calls, executor=executor, notice=watch, **_terms(session, calls, how))
        except PullFailed as error:
            error.result = _result(session, "failed") if session.history.t else None
            raise
        watch.last()
    return _result(session, reason)


def _result(session: Session, reason: str) -> Result:
    """The result, with its certificate, written down."""
    if session.history.t == 0 and reason == "interrupted":
        raise KeyboardInterrupt
    require(session.history.t > 0, "budget", "leave time for one reward at least", reason)
    certificate = session.finish(reason)
    candidate = session.candidates[certificate.arm]
    return replace(
        session.result, arm=certificate.arm, mean=certificate.mean, candidate=candidate, certificate=certificate
    )


def _check_same(task: Task, calls: Calls, items: Sequence[Any] | None) -> None:
    """Raise ``ValueError`` unless candidates and items are as many as were recorded."""
    size = 0 if items is None else len(items)
    require(calls.pool == task.pool, "draw", f"give {task.pool or 'an endless number of'} candidates", calls.pool)
    require(size == task.items, "items", f"be {task.items or 'none'}, as recorded", size)
