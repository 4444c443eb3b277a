"""A session from its beginning to its result, in this thread or in an event loop."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from topalpha.algorithms import entry
from topalpha.ask_tell import Result, Task
from topalpha.display.candidate_names import titled
from topalpha.execution import (
    SIGNALS,
    Calls,
    PullFailed,
    arun,
    depart,
    exit_code,
    held,
    in_flight,
    open_executor,
    place_in_list,
    run,
)
from topalpha.families.protocols import RewardModel
from topalpha.families.units import reward_model
from topalpha.session import LOGGER, PERIOD, Progress, Reporter, Session, Snapshots, likeness, recorded_task
from topalpha.storage import CONTINUE, PAUSE, STOP, RecordLost, StorageError, holds, read
from topalpha.storage.encoding import quotation, quoted
from topalpha.validate import file_name, flag, not_negative, require, whole

if TYPE_CHECKING:
    from topalpha.running.entry import Running

Draw = Callable[..., Any] | Sequence[Any]

#: The reason to end when the file of the search was lost.
VANISHED = "vanished"

# The most characters of a candidate's name in a line of progress.
_NAME = 30

#: The share of time spent on finding claims, which may take long for many arms.
PROVING = 0.1

#: The arguments of a search that concern its file.
KEPT = ("storage", "name", "resume", "pickle", "durable", "interval", "code")


def prepare(
    draw: Draw,
    pull: Callable[..., Any],
    *,
    items: Sequence[Any] | None = None,
    words: tuple[str, str, str] = ("draw", "pull", "items"),
    family: str | RewardModel | None = None,
    minimise: bool = False,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    epsilon: float = 0.05,
    delta: float = 0.05,
    **target: Any,
) -> tuple[Task, Calls]:
    """The task, and its two functions; ``words`` are the caller's names for draw, pull and items."""
    shared = bool(algorithm) and entry(str(algorithm)).shared_order
    calls = Calls(draw, pull, seed=seed, items=items, shared=shared, words=words)
    size = 0 if items is None else len(items)
    model = reward_model(family, minimise=minimise, items=size or None)
    task = Task(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        family=model.text,
        minimise=minimise,
        algorithm="" if algorithm is None else algorithm,
        options={} if options is None else options,
        pool=calls.pool,
        items=size,
        seed=seed,
        **target,
    )
    return task, calls


def begin(draw: Draw, pull: Callable[..., Any], **asked: Any) -> tuple[Session, Calls]:
    """A new session, and the functions that evaluate its pulls; see :func:`topalpha.search` for ``asked``."""
    kept = {name: asked.pop(name) for name in KEPT if name in asked}
    task, calls = prepare(draw, pull, **asked)
    return start(task, calls, **kept), calls


def start(
    task: Task,
    calls: Calls,
    storage: str | os.PathLike[str] | None = None,
    name: str = "search",
    resume: bool = False,
    **kept: Any,
) -> Session:
    """A new session for a prepared task, in a file if there is one, with the digests of its lists.

    With ``resume`` the session of this name goes on, if the file has it; its task and its lists must be the same.
    """
    resume = flag("resume", resume)
    require(storage is not None or not resume, "storage", "name a file if resume is set", storage)
    if storage is None or not (resume and holds(file_name("storage", storage), name)):
        return Session.start(task, storage, name, given=None if storage is None else given_to(calls), **kept)
    same_target(read(storage, name, log=False).config, task)
    opened = {setting: kept[setting] for setting in ("durable", "interval") if setting in kept}
    pickled = flag("pickle", kept.get("pickle", False))
    return proceed(storage, calls.draw, calls.pull, calls.items, name, allow_pickle=pickled, **opened)[0]


def same_target(config: Mapping[str, Any], task: Task) -> None:
    """Raise unless the recorded search is for this task; its rules may be those of an earlier version."""
    recorded, asked = asdict(recorded_task(config)), asdict(task)
    other = {key: value for key, value in asked.items() if recorded[key] != value and key != "rules"}
    was = ", ".join(f"{key}={recorded[key]!r}" for key in other)
    try:
        require(not other, "the target", f"be the recorded one, with {was}", other)
    except ValueError as error:
        raise ValueError(f"{error}; for a new search: another name or file") from None


def given_to(calls: Calls) -> dict[str, str]:
    """Hashes of the lists that a search is begun with: other lists would certify candidates that nobody evaluated."""
    found = {} if calls.items is None else {"items": likeness(calls.items)}
    # A lazy sequence, such as a grid of settings, may be far too long to iterate over.
    listed = isinstance(calls.draw, list | tuple | range | np.ndarray)
    return found | ({"draw": likeness(calls.draw)} if listed else {})


def _same_lists(session: Session, calls: Calls) -> None:
    """Raise unless candidates and items are the ones of the record.

    Files of earlier versions have no hash of the candidates; then the drawn candidates are compared.
    """
    record = session.record
    if record is None:
        return
    kept = record.config.get("given", {})
    for part, value in given_to(calls).items() if kept else ():
        require(kept.get(part, value) == value, part, "be the same as in the record", "different ones")
    if calls.pool and "draw" not in kept:
        for arm, raw in enumerate(record.remembered().arms):
            same = isinstance(raw, bytes) or quoted(raw) == quotation(calls.candidate(arm))
            require(same, "draw", "be the candidates in the record", "different ones")


def proceed(
    path: str | os.PathLike[str],
    draw: Draw,
    pull: Callable[..., Any],
    items: Sequence[Any] | None = None,
    name: str | None = None,
    **opened: Any,
) -> tuple[Session, Calls]:
    """A recorded session, and the functions that evaluate its pulls, with as many candidates and items as before.

    ``opened`` are arguments of :meth:`Session.resume`.
    """
    session = Session.resume(path, name, **opened)
    task = session.task
    try:
        calls = Calls(draw, pull, seed=task.seed, items=items, shared=entry(task.algorithm).shared_order)
        size = 0 if items is None else len(items)
        require(calls.pool == task.pool, "draw", f"give {task.pool or 'an endless number of'} candidates", calls.pool)
        require(size == task.items, "items", f"be {task.items or 'none'}, as recorded", size)
        _same_lists(session, calls)
    except ValueError:
        session.close()
        raise
    return session, calls


class Watch:
    """Tasks of a few times per second beside the pulls: snapshots, progress, callbacks, control messages.

    Attributes
    ----------
    paused
        Whether no new pulls are to be started for now.
    """

    def __init__(self, session: Session, running: Running, show: Callable[[Progress, str], None]) -> None:
        self.session = session
        self.running = running
        self.paused = False
        self._show = show
        self._next = time.monotonic() + PERIOD
        self._ending = False
        self._named = -1, ""
        session.watched = True  # figures are shown here
        if session.snapshots is None:
            session.snapshots = Snapshots(session, session.record)
        self.snapshots = session.snapshots
        self.snapshots.share, self.snapshots.next_proof, self.snapshots.ended = PROVING, self._next, False

    def __call__(self) -> str | None:
        """Do the work that is due; return a reason to end, if someone asked for an end."""
        now = time.monotonic()
        if self.session.record is not None and self.session.record.loss is not None:
            return VANISHED
        # A certificate needs a reward: until the first one an end has to wait.
        if self._ending and self.session.history.t > 0:
            return "message"
        if now < self._next:
            return None
        self._next = now + PERIOD
        before = self.paused
        self.obey()
        if self.session.record is not None and self.session.record.loss is not None:
            return VANISHED
        if self.session.history.t > 0:
            # A pause shows at once, and the claims at the next look, even if they are rarely computed.
            self.look(now, quick=self.paused != before)
            if self.paused and not before:
                self.snapshots.next_proof = 0.0
        else:
            self.begin()
        return "message" if self._ending and self.session.history.t > 0 else None

    def obey(self) -> None:
        """Obey messages, in their order."""
        if self.session.record is None:
            return
        for message in self.session.record.take_messages():
            if message == STOP:
                self._ending, self.paused = True, False
            elif message in (PAUSE, CONTINUE):
                self.paused = message == PAUSE and not self._ending
            else:
                LOGGER.warning("a control message was not understood: %r", message)

    def begin(self) -> None:
        """Show that a process works on the search, before its first reward or after it was resumed."""
        record, history = self.session.record, self.session.history
        if record is None:
            return
        if history.t > 0:
            self.snapshots.write(self.snapshots.progress(time.monotonic(), quick=True))
        elif self.paused:
            record.snapshot([], {"pulls": 0, "in_flight": history.in_flight, "arms": history.arms, "paused": True})
        else:
            record.snapshot([], {})  # nothing is known yet

    def last(self) -> None:
        """Show the state at the end."""
        self.paused = False
        if self.session.history.t > 0:
            self.snapshots.ended, self.snapshots.next_proof = True, 0.0
            self.look(time.monotonic())

    def look(self, now: float, quick: bool = False) -> None:
        """Take a snapshot and show the progress; if ``quick``, with the last proof."""
        progress = self.snapshots.progress(now, quick, self.paused)
        self.snapshots.write(progress)
        self._show(progress, self._name(progress.leader))
        for callback in self.running.callbacks:
            callback(progress)

    def _name(self, arm: int) -> str:
        """A short name for the candidate, made once for each leader: its quotation may take a while."""
        if self._named[0] != arm and arm < len(self.session.candidates):
            name, task = titled(quotation(self.session.candidates[arm]), arm, most=_NAME), self.session.task
            listed = f" (index {place_in_list(task.seed, task.pool, arm)})" if task.pool else ""
            self._named = arm, name + listed
        return self._named[1] if self._named[0] == arm else ""


def finish(session: Session, calls: Calls, how: Running) -> Result:
    """Run the session to its end, in this thread; a signal ends it in order."""
    opened = nullcontext() if how.where is None else open_executor(how.where, how.workers)
    with held(not_negative("patience", how.patience)):
        with Reporter(how.progress) as show, opened as executor, _accounted(session, calls):
            watch = _watch(session, how, show)
            with _pulse(session, executor):
                terms = _terms(session, calls, how, watch)
                reason = run(session, calls, executor=executor, notice=watch, **terms)
            watch.last()
        return _told(session, _result(session, calls, reason))


async def afinish(session: Session, calls: Calls, how: Running) -> Result:
    """Run the session to its end, in the running event loop."""
    for name, given in (("executor", how.executor), ("workers", how.workers)):
        require(given is None, name, "be None for coroutines: see width", given)
    width = 1 if how.width is None else whole("width", how.width)
    with _heard(session, not_negative("patience", how.patience)) as heard:
        with Reporter(how.progress) as show, _accounted(session, calls):
            watch = _watch(session, how, show)
            reason = await arun(
                session,
                calls,
                notice=lambda: heard.reason or watch(),
                leave=lambda: heard.twice,
                **(_terms(session, calls, how, watch) | {"width": width}),
            )
            watch.last()
        return _told(session, _result(session, calls, reason))


def _watch(session: Session, how: Running, show: Callable[..., None]) -> Watch:
    session.recover()  # no other process evaluates its pulls
    if session.record is not None:
        session.record.take_messages()  # messages from before this run are not for it
    watch = Watch(session, how, show)
    if not session.stopped:
        watch.begin()
    return watch


def _pulse(session: Session, executor: Any) -> AbstractContextManager[Any]:
    """While a pull runs in this thread, another thread confirms the last snapshot."""
    if session.record is None or executor is not None:
        return nullcontext()
    from topalpha.storage.writer import Pulse

    return Pulse(session.record, PERIOD)


class _Heard:
    """The first signal, as a reason to end, and whether a second one followed."""

    def __init__(self, session: Session, patience: float) -> None:
        self.session, self.patience = session, patience
        self.reason: str | None = None
        self.twice = False

    def note(self, number: int) -> None:
        if self.reason is not None:
            self.twice = True
            return
        reason, name, _ = SIGNALS[number]
        self.reason, self.twice = reason, self.patience == 0.0
        if waiting := self.session.outstanding:
            words = "topalpha: %s: waiting at most %g seconds for %s; a second one leaves at once"
            LOGGER.warning(words, name, self.patience, in_flight(waiting))


@contextmanager
def _heard(session: Session, patience: float) -> Iterator[_Heard]:
    """Handle signals that end a search as events; otherwise Ctrl-C would cancel the task and lose its result."""
    heard, loop = _Heard(session, patience), asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    taken = []
    # Raised by asyncio off the main thread, or for loops without signals: Ctrl-C is then a cancellation.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number, (_, _, usual) in SIGNALS.items():
            # asyncio itself handles Ctrl-C by cancelling the task.
            if number == signal.SIGINT or before[number] == usual:
                loop.add_signal_handler(number, heard.note, number)
                taken.append(number)
    try:
        yield heard
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])


@contextmanager
def _accounted(session: Session, calls: Calls) -> Iterator[None]:
    """If the session ends early, store the proved result, and attach it to the error."""
    try:
        yield
    except StorageError as error:  # there is no file to write to
        if isinstance(error, RecordLost) and session.history.t > 0:
            error.add_note(f"Proved so far: {session.result.statement}")
        raise
    except BaseException as error:
        if session.history.t > 0 and not isinstance(error, GeneratorExit):
            cancelled = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
            with suppress(StorageError):
                result = _result(session, calls, "interrupted" if cancelled else "failed")
                error.add_note(f"Proved so far: {result.statement}")
                if isinstance(error, PullFailed):
                    error.result = result
                LOGGER.debug("topalpha: ended by %r; %s", error, result.statement)
        if (loss := _loss(session)) is not None:
            error.add_note(str(loss))
        raise


def _terms(session: Session, calls: Calls, how: Running, watch: Watch) -> dict[str, Any]:
    """The arguments that both drivers share."""

    def new_candidate(arm: int) -> Any:
        candidate = calls.candidate(arm)
        if session.record is not None:
            session.record.add_arm(arm, candidate)
            session.record.settle()
        return candidate  # the driver appends it

    return {
        "candidates": session.candidates,
        "new_candidate": new_candidate,
        "width": how.width,
        "budget": how.budget,
        "on_error": session.task.on_error,
        "retries": how.retries,
        "timeout": how.timeout,
        "failed": session.failed,
        "paused": lambda: watch.paused,
        "on_lost": session.task.on_lost,
        "rest": session.rest,
        "patience": how.patience,
    }


def _loss(session: Session) -> RecordLost | None:
    return None if session.record is None else session.record.loss


def _told(session: Session, result: Result) -> Result:
    """The result; raise the loss of the file, with the result, if there was one."""
    if (loss := _loss(session)) is not None:
        loss.result = result
        loss.add_note(f"Proved so far: {result.statement}")
        raise loss
    return result


def _result(session: Session, calls: Calls, reason: str) -> Result:
    """The result with its certificate, which is stored."""
    if session.history.t == 0 and (loss := _loss(session)) is not None:
        raise loss
    if session.history.t == 0 and exit_code(reason):
        depart(reason)
    require(session.history.t > 0, "budget", "leave time for at least one reward", reason)
    certificate = session.finish(reason)
    return session.returned(
        certificate.arm,
        certificate.selection,
        candidate=session.candidates[certificate.arm],
        certificate=certificate,
        selected=tuple(session.candidates[arm] for arm in certificate.selection),
        index=calls.place(certificate.arm) if calls.pool else None,
    )
