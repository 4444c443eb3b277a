"""``search(draw, pull)``: candidates that a function draws, evaluated by another, until the best are told apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from topalpha.ask_tell import Result
from topalpha.execution import PATIENCE, Budget
from topalpha.families.protocols import RewardModel
from topalpha.running.drive import Draw, afinish, begin, finish, proceed
from topalpha.session import STYLES, Progress
from topalpha.validate import MOST_WIDTH, MOST_WORKERS, choice, optional, positive, real, require, whole


@dataclass(frozen=True)
class Running:
    """How a search runs. None of this changes what is proved, only how soon and from how many pulls.

    Attributes
    ----------
    executor
        ``None`` for one pull at a time in this thread; ``"threads"``, ``"processes"``; any executor with ``submit``; or
        a Dask ``Client``.
    workers
        How many threads or processes, where this opens them; threads, if no executor is named.
    width
        How many pulls are in flight at once; by default the number of workers.
    pulls, seconds, cost
        The budget: rewards, wall-clock seconds, or what ``cost_of`` adds up to. When the first is spent no pull is
        started any more, and the search ends with the weaker statements that are proved by then.
    cost_of
        The cost of a pull: a number, or a function of the candidate and the reward.
    retries
        How often a failed pull is tried again with ``on_error="retry"``.
    timeout
        After how many seconds a pull counts as failed.
    patience
        How many seconds pulls in flight are waited for when a budget, Ctrl-C, SIGTERM, SIGHUP or a message ends the
        search, beyond the seconds of the budget. It should exceed the longest pull: one that has not answered by then
        is lost (``on_lost`` says what becomes of it). A second Ctrl-C ends the wait. A pull in the searching thread is
        waited for as long as it takes when a budget ends.
    progress
        ``auto`` (a live line on a terminal, log lines without one), ``live``, ``lines`` or ``none``.
    callbacks
        Functions that are called with a :class:`topalpha.session.Progress` about twice a second.

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
    def of(cls, settings: Mapping[str, Any]) -> Running:
        """Settings by name; an unknown name raises ``TypeError``, as a call with a wrong argument does.

        Examples
        --------
        >>> Running.of({"width": 4}).width
        4
        """
        how, others = cls.parted(settings)
        if others:
            raise TypeError(f"got an unexpected keyword argument {next(iter(others))!r}")
        return how

    @classmethod
    def parted(cls, arguments: Mapping[str, Any]) -> tuple[Running, dict[str, Any]]:
        """From all arguments of a call: the settings among them, and the others."""
        own = cls.__dataclass_fields__
        settings = {name: value for name, value in arguments.items() if name in own}
        return cls(**settings), {name: value for name, value in arguments.items() if name not in own}

    @property
    def where(self) -> Any:
        """The executor, or the kind of it: a number of workers alone means threads."""
        return "threads" if self.executor is None and self.workers is not None else self.executor

    @property
    def budget(self) -> Budget:
        """When to end before the stopping rule is met."""
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
        ``draw(rng)`` or ``draw()`` returns a fresh candidate, any object; or a list of candidates, and then the claim
        is about that list.
    pull
        ``pull(candidate, rng)`` or ``pull(candidate)`` evaluates it once and returns a reward. With ``items`` it is
        ``pull(candidate, item)`` or ``pull(candidate, item, rng)``.
    alpha, epsilon, delta
        The target.
    family
        The reward model: ``bernoulli`` (anything in [0, 1]), ``range(lo,hi)``, ``low-variance(lo,hi)``,
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
        A file that keeps everything, the name of this search in it, whether candidates may be pickled where JSON cannot
        hold them, and whether it is safe against a killed ``process`` or also against a loss of ``power``.
        Rewards are on disk as soon as they are told; with an ``interval`` in seconds, only that often, for pulls that
        are faster than the disk: what a kill then loses is evaluated again.
    code
        Where the two functions can be found again, to be kept in the file; ``topalpha resume`` reads it.
    **running
        How it runs: executor, budget, timeout, patience, progress; see :class:`topalpha.running.Running`.

    Returns
    -------
    Result
        With ``candidate`` and ``certificate``. If the search ended early, because a budget was spent or by Ctrl-C,
        SIGTERM or SIGHUP, pulls in flight were waited for, and the certificate holds the weaker statements that are
        proved all the same.

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
    given = locals()  # every argument by its name: the list is written once
    how = Running.of(given.pop("running"))
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
    """Go on with a search that was recorded, with the same two functions; ``running`` may differ.

    A search that has stopped gives its result again. What was told is not evaluated again; what was in flight when the
    search broke off is, or counts as lost, as its ``on_lost`` says.

    Parameters
    ----------
    path, name
        The file, and which search in it if there are several.
    draw, pull, items
        What the search was begun with; see :func:`search`. Other items, or other candidates of a list, are refused.
    allow_pickle
        Whether candidates that were pickled may be loaded: only from a file that you trust.
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
    how = Running.of(given.pop("running"))
    session, calls = proceed(**given)
    with session:
        return finish(session, calls, how)


async def asearch(draw: Draw, pull: Callable[..., Any], **arguments: Any) -> Result:
    """The same as :func:`search`, for a ``pull`` that is a coroutine function: remote evaluations, for example.

    ``width`` says how many are awaited at once; ``executor`` and ``workers`` are not used. Ctrl-C ends it early, with a
    result; when its task is cancelled, what is proved is written down and the cancellation goes on.

    Parameters
    ----------
    draw
        ``draw(rng)`` or ``draw()`` returns a fresh candidate; or a list of candidates.
    pull
        Awaited as ``pull(candidate, rng)`` or ``pull(candidate)``, it returns a reward.
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
    how, asked = Running.parted(arguments)
    session, calls = begin(draw, pull, **asked)
    with session:
        return await afinish(session, calls, how)


async def aresume(path: str | os.PathLike[str], draw: Draw, pull: Callable[..., Any], **arguments: Any) -> Result:
    """The same as :func:`resume`, for a ``pull`` that is a coroutine function.

    Parameters
    ----------
    path
        The file.
    draw, pull
        What the search was begun with; see :func:`search`. ``pull`` is awaited.
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
    how, asked = Running.parted(arguments)
    session, calls = proceed(path, draw, pull, **asked)
    with session:
        return await afinish(session, calls, how)
