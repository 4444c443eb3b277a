"""``search(draw, pull)``: candidates drawn by one function and evaluated by another, until one is proved near-best."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from topalpha.ask_tell import Result
from topalpha.execution import PATIENCE, Budget
from topalpha.families.protocols import RewardModel
from topalpha.running.drive import Draw, afinish, begin, finish, proceed
from topalpha.session import STYLES, Progress
from topalpha.validate import MOST_WIDTH, MOST_WORKERS, choice, expected, optional, positive, real, require, whole


@dataclass(frozen=True)
class Running:
    """How a search runs. None of this affects the proof, only the time and the number of evaluations (pulls).

    Attributes
    ----------
    executor
        ``None`` for one pull at a time in this thread; ``"threads"``, ``"processes"``; any executor with ``submit``; or
        a Dask ``Client``.
    workers
        The number of threads or processes to open; threads if no executor is given.
    width
        How many pulls are in flight at once; by default the number of workers.
    pulls, seconds, cost
        The budget: rewards, wall-clock seconds, or the sum of ``cost_of``. When the first is spent no further pull is
        started, and the search ends with the weaker statements proved by then.
    cost_of
        The cost of a pull: a number, or a function of the candidate and the reward.
    retries
        How many times a failed pull is tried again with ``on_error="retry"``.
    timeout
        Seconds after which a pull counts as failed.
    patience
        Seconds to wait for pulls in flight when a budget, Ctrl-C, SIGTERM, SIGHUP or a message ends the search, beyond
        the seconds of the budget. It should exceed the longest pull: a pull that has not answered by then is lost (see
        ``on_lost``). A second Ctrl-C ends the wait. When a budget ends, a pull in the searching thread is always waited
        for.
    progress
        ``auto`` (a live line on a terminal, log lines without one), ``live``, ``lines`` or ``none``.
    callbacks
        Functions called with a :class:`topalpha.session.Progress` about twice a second.

    Examples
    --------
    >>> Running(pulls=1000).budget.pulls
    1000
    """

    executor: Any = None
    workers: int | None = None
    width: int | None = None
    pulls: int | None = None
    seconds: float | None = None
    cost: float | None = None
    cost_of: float | Callable[[Any, float], float] | None = None
    retries: int = 3
    timeout: float | None = None
    patience: float = PATIENCE
    progress: str = "auto"
    callbacks: Sequence[Callable[[Progress], None]] = ()

    def __post_init__(self) -> None:
        checked = {
            "workers": optional(whole, "workers", self.workers, most=MOST_WORKERS),
            "width": optional(whole, "width", self.width, most=MOST_WIDTH),
            "pulls": optional(whole, "pulls", self.pulls, least=0),
            "seconds": optional(real, "seconds", self.seconds),
            "cost": optional(real, "cost", self.cost),
            "retries": whole("retries", self.retries, 0),
            "timeout": optional(positive, "timeout", self.timeout),
            "progress": choice("progress", self.progress, STYLES),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        priced = self.cost_of is None or callable(self.cost_of) or real("cost_of", self.cost_of) >= 0.0
        require(priced, "cost_of", "be at least 0, or a function of the candidate and the reward", self.cost_of)
        listed = isinstance(self.callbacks, Sequence) and all(map(callable, self.callbacks))
        require(listed, "callbacks", "be functions", self.callbacks)

    @classmethod
    def of(cls, settings: Mapping[str, Any], others: Iterable[str] = (), **hints: str) -> Running:
        """Settings by name; an unknown name raises ``TypeError``, as a call with a wrong argument does.

        The error may suggest a setting, one of the ``others``, or what a hint for this name says.

        Examples
        --------
        >>> Running.of({"width": 4}).width
        4
        """
        expected(settings, [*cls.__dataclass_fields__, *others], hints)
        return cls(**settings)

    @classmethod
    def parted(
        cls, arguments: Mapping[str, Any], function: Callable[..., Any], **hints: str
    ) -> tuple[Running, dict[str, Any]]:
        """From all arguments of a call: the settings among them, and those of ``function``; see :meth:`of`."""
        own = cls.__dataclass_fields__
        expected(arguments, [*own, *signature(function).parameters], hints)
        settings = {name: value for name, value in arguments.items() if name in own}
        return cls(**settings), {name: value for name, value in arguments.items() if name not in own}

    @property
    def where(self) -> Any:
        """The executor, or its kind: a number of workers alone means threads."""
        return "threads" if self.executor is None and self.workers is not None else self.executor

    @property
    def budget(self) -> Budget:
        """Limits that end the search before the stopping rule is met."""
        return Budget(self.pulls, self.seconds, self.cost, self.cost_of)


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
    on_lost: str = "again",
    storage: str | os.PathLike[str] | None = None,
    name: str = "search",
    resume: bool = False,
    pickle: bool = False,
    durable: str = "process",
    interval: float = 0.0,
    code: Mapping[str, Any] | None = None,
    **running: Any,
) -> Result:
    """Find a candidate whose mean is within epsilon of the top alpha fraction, with probability at least 1 - delta.

    Parameters
    ----------
    draw
        ``draw(rng)`` or ``draw()`` returns a new candidate, any object. Or a list of candidates; the claim is then
        about that list.
    pull
        ``pull(candidate, rng)`` or ``pull(candidate)`` evaluates it once and returns a reward; with ``items``,
        ``pull(candidate, item)`` or ``pull(candidate, item, rng)``. A candidate is also called an arm.
    alpha, epsilon, delta
        The target.
    family
        The reward model: ``bernoulli`` (anything in [0, 1]), ``range(lo,hi)``, ``low-variance(lo,hi)``,
        ``normal``, ``gaussian(sigma)``, ``poisson``, ...
    minimise
        Whether rewards are costs: small values are good.
    items
        A finite test set: an evaluation is pass (1) or fail (0) on one item, and no candidate sees an item twice.
    algorithm, options
        The algorithm, by default joint-lucb, or cc-lucb for normal rewards; and its options.
    seed
        Seed of all random choices: evaluation k of arm a has its own generator, so that repeating it changes nothing.
    about
        The law that candidates are drawn from, in words, for the certificate.
    on_error
        The policy for a pull that raises, times out, gives no valid reward or loses its worker: ``raise``;
        ``retry``, the same pull with the same seed, stated in the certificate as an assumption; or count the ``worst``
        reward.
    on_lost
        The policy for a pull that was begun and never answers, because it was given up at the end of an earlier run
        (see ``patience``), the process was killed, its worker died, or it timed out: ``again``, evaluate it again; if
        the pull is random on its own, slow or deadly outcomes are then seen less often than they occur, and the
        certificate states the assumption that this is not so. Or ``worst``: it counts as the largest reward in its
        candidate's upper bound and as the smallest one in its lower bound, and nothing is assumed. For rewards in a
        range, with joint-lucb, cc-lucb or lucb++.
    storage, name, pickle, durable, interval
        A file that records the search, its name there, whether candidates that JSON cannot hold may be pickled, and
        whether the record survives a killed ``process`` or also a loss of ``power``. Rewards are on disk as soon as
        they are told; with an ``interval`` in seconds, only that often, for evaluations faster than the disk: rewards
        lost in a kill are then evaluated again.
    resume
        Go on with the search of this name in the file, if there is one; refused if the target, ``items`` or a list of
        candidates differ. ``draw`` and ``pull`` must be those that began it. A script with it can be run again: a
        search that was interrupted goes on, and one that has stopped gives its result at once.
    code
        Where the two functions can be found again, for the file; ``topalpha resume`` reads it.
    **running
        How it runs: executor, budget, timeout, patience, progress; see :class:`topalpha.running.Running`.

    Returns
    -------
    Result
        The result, with ``candidate`` and ``certificate``. If a budget, Ctrl-C, SIGTERM or SIGHUP ended the search
        early, evaluations in flight were waited for, and the certificate holds the weaker statements proved by then.

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
    given = locals()  # every argument by its name
    how = Running.of(given.pop("running"), given)
    session, calls = begin(**given)
    with session:
        return finish(session, calls, how)


def resume(
    path: str | os.PathLike[str],
    draw: Draw,
    pull: Callable[..., Any],
    *,
    items: Sequence[Any] | None = None,
    name: str | None = None,
    allow_pickle: bool = False,
    durable: str = "process",
    interval: float = 0.0,
    **running: Any,
) -> Result:
    """Continue a recorded search with the same two functions; ``running`` may differ.

    A search that has stopped returns its result again. Recorded evaluations are not repeated; evaluations that were in
    flight when the search broke off are, or count as lost, as its ``on_lost`` says.

    Parameters
    ----------
    path, name
        The file, and the name of the search if there are several.
    draw, pull, items
        The arguments of :func:`search`. Other items, or other candidates of a list, are refused.
    allow_pickle
        Whether pickled candidates may be loaded: only from a file that you trust.
    durable, interval
        Whether new rewards are safe against a killed ``process`` or also against a loss of ``power``, and
        how many seconds it may wait before it is on disk.
    **running
        How it runs: executor, budget, timeout, progress; see :class:`topalpha.running.Running`.

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
    given = locals()
    how = Running.of(given.pop("running"), given)
    session, calls = proceed(**given)
    with session:
        return finish(session, calls, how)


async def asearch(draw: Draw, pull: Callable[..., Any], **arguments: Any) -> Result:
    """As :func:`search`, for a ``pull`` that is a coroutine function, for example with remote evaluations.

    ``width`` evaluations are awaited at once; ``executor`` and ``workers`` are not used. Ctrl-C ends the search early,
    with a result. If its task is cancelled, the proved result is stored and the cancellation goes on.

    Parameters
    ----------
    draw
        ``draw(rng)`` or ``draw()`` returns a new candidate; or a list of candidates.
    pull
        Awaited as ``pull(candidate, rng)`` or ``pull(candidate)``; returns a reward.
    **arguments
        All other arguments of :func:`search`: the target, the reward model, the file, and how it runs.

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
    how, asked = Running.parted(arguments, search)
    session, calls = begin(draw, pull, **asked)
    with session:
        return await afinish(session, calls, how)


async def aresume(path: str | os.PathLike[str], draw: Draw, pull: Callable[..., Any], **arguments: Any) -> Result:
    """As :func:`resume`, for a ``pull`` that is a coroutine function.

    Parameters
    ----------
    path
        The file.
    draw, pull
        The arguments of :func:`search`. ``pull`` is awaited.
    **arguments
        All other arguments of :func:`resume`: which search, the items, pickles, and how it runs.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from topalpha import aresume, asearch
    >>> async def pull(candidate, rng):
    ...     return float(rng.random() < candidate)
    >>> async def both(path):
    ...     draw, target = (lambda rng: rng.random()), {"alpha": 0.2, "epsilon": 0.2}
    ...     early = await asearch(draw, pull, **target, storage=path, pulls=9, progress="none")
    ...     return await aresume(path, draw, pull, progress="none")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(both(folder + "/one.db")).stopped
    True
    """
    how, asked = Running.parted(arguments, resume)
    session, calls = proceed(path, draw, pull, **asked)
    with session:
        return await afinish(session, calls, how)
