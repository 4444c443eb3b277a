"""A search for a task, with candidates, failures and certificate, recorded if there is a file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from topalpha import __version__
from topalpha.ask_tell import Pull, Result, Search, Standing, Task, fingerprint, replay
from topalpha.certificate import Certificate, certify
from topalpha.session.advice import advice
from topalpha.session.agreement import Refuted, borne_out
from topalpha.session.progress import Snapshots, is_history
from topalpha.storage import StorageError
from topalpha.storage.encoding import quoted
from topalpha.validate import file_name, flag, require

if TYPE_CHECKING:
    from topalpha.storage import Record, Recording, RecordLost, Storage

#: The status of a search in a file while a process works on it.
RUNNING = "running"

#: Actions noted for a pull beside those for failures: it never answered and is evaluated again, or counts as lost; it
#: was asked for and is not being evaluated; it is being evaluated after all.
AGAIN, LOST, IDLE, BEGUN = "again", "lost", "idle", "begun"


class Session(Search):
    """A search made from a :class:`Task`, recorded in a file if it was started with one.

    In a file it also leaves its figures, about twice a second while rewards are told, for ``topalpha show`` and the
    dashboard. The caller that drives the session obeys messages posted to it. If the file is removed, moved or damaged,
    the whole search is saved in another file and goes on there: :meth:`tell` or :meth:`finish` raises
    :class:`topalpha.storage.RecordLost` once, which names that file. The rewards told until then count.

    Parameters
    ----------
    task
        The target and the assumptions.
    record
        The record to write to; :meth:`start` and :meth:`resume` open one.
    version
        The version of the package that began it.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.ask_tell import Task
    >>> task = Task(0.3, 0.4, 0.2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Session.start(task, storage=folder + "/one.db") as session:
    ...         for pull in session.ask_many(5):
    ...             session.keep(pull.arm, {"number": pull.arm})
    ...             session.tell(pull, 1.0)
    ...     with Session.resume(folder + "/one.db") as session:
    ...         session.history.t, session.candidates[4]
    (5, {'number': 4})
    """

    def __init__(self, task: Task, record: Record | None = None, version: str = __version__) -> None:
        super().__init__(task.design(), task.seed, model=task.model)
        self.task = task
        self.record = record
        #: Takes snapshots, at :meth:`tell` and at the end; None without a file, unless the search is watched.
        self.snapshots: Snapshots | None = None
        #: Whether a driver takes the snapshots, and reports a lost file.
        self.watched = False
        self._said: RecordLost | None = None
        #: The version of the package that began it.
        self.version = version
        #: The candidates by arm, as far as :meth:`keep` was called.
        self.candidates: list[Any] = []
        #: Notes that came with rewards (see :class:`topalpha.execution.Noted`), by arm and number of the pull.
        self.notes: dict[tuple[int, int], Any] = {}
        #: The order of each failed pull, and the action taken.
        self.actions: list[tuple[int, str]] = []
        # Orders of pulls that were asked for and are not being evaluated.
        self._resting: set[int] = set()
        self._stack = ExitStack()

    @classmethod
    def start(
        cls,
        task: Task,
        storage: str | os.PathLike[str] | None = None,
        name: str = "search",
        *,
        pickle: bool = False,
        durable: str = "process",
        interval: float = 0.0,
        code: Mapping[str, Any] | None = None,
        given: Mapping[str, str] | None = None,
    ) -> Session:
        """A new search, in a file if ``storage`` names one (several may share a file, under different names).

        ``given`` holds hashes of the lists it was begun with, for resuming; see ``topalpha.session.likeness``.
        """
        require(isinstance(task, Task), "task", "be a Task", task)
        task.model.check_epsilon(task.epsilon)
        require(code is None or isinstance(code, Mapping), "code", "be a mapping of names to places", code)
        pickle = flag("pickle", pickle)
        if storage is None:
            return cls(task)
        from topalpha.storage import Storage

        file_name("storage", storage)
        with ExitStack() as stack:
            store: Storage = stack.enter_context(Storage(storage, durable=durable, interval=interval))
            config = {"task": task.to_dict(), "version": __version__, "code": None if code is None else dict(code)}
            config |= {"given": dict(given)} if given else {}
            session = cls(task)
            session._write_to(store.create(name, config, pickle=pickle))
            session._stack = stack.pop_all()
        return session

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        allow_pickle: bool = False,
        durable: str = "process",
        interval: float = 0.0,
    ) -> Session:
        """The search in this file, replayed and ready for more pulls. A finished one stays finished.

        A certificate that disagrees with the record is refused, as by :func:`topalpha.verify`, because going on would
        replace it.
        """
        from topalpha.storage import Storage, read

        allow_pickle = flag("allow_pickle", allow_pickle)
        read(path, name, log=False)  # do not create a missing file
        with ExitStack() as stack:
            store: Storage = stack.enter_context(Storage(path, durable=durable, interval=interval))
            record = store.open(name)
            recording = record.recording()
            session = cls.replayed(recording, allow_pickle)
            session._check(recording)
            session._write_to(record, _history(recording))
            if recording.status not in ("stopped", RUNNING):
                record.finish(RUNNING, None)
            session._stack = stack.pop_all()
        return session

    @classmethod
    def replayed(cls, recording: Recording, allow_pickle: bool | None = False) -> Session:
        """The recorded search, run again, without writing.

        With ``allow_pickle=None`` pickled candidates stay bytes.
        """
        try:
            session = cls(recorded_task(recording.config), version=recording.config["version"])
            session.candidates = recording.candidates(allow_pickle)
            for failure in recording.failures:
                session._act(failure.order, failure.action)
            replay(recording, session)
        except ValueError:
            raise
        except Exception as error:  # a record that was altered, or a pickle in it, can fail in any way
            raise StorageError(f"record must replay, got {type(error).__name__}: {error}") from error
        return session

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._stack.close()

    def ask(self) -> Pull | None:  # noqa: D102 - as in Search
        pull = super().ask()
        self._hand_out([] if pull is None else [pull])
        return pull

    def ask_many(self, width: int) -> list[Pull]:  # noqa: D102 - as in Search
        pulls = super().ask_many(width)
        self._hand_out(pulls)
        return pulls

    def lose(self, pull: Pull, reason: str = "it never came back") -> None:  # noqa: D102 - as in Search
        require(self.endures, "on_lost", "be worst for a pull to count as lost", self.task.on_lost)
        if not self.stopped and pull in self.outstanding:
            self.failed(pull, reason, LOST)
        super().lose(pull)

    def check(self, reward: float) -> None:
        """Raise ``ValueError``, with advice, unless the reward is possible."""
        try:
            super().check(reward)
        except ValueError as error:
            raise ValueError(f"{error}{advice(self.task)}") from None

    def tell(self, pull: Pull, reward: float) -> None:  # noqa: D102 - as in Search
        super().tell(pull, reward)
        self._show()
        self._speak()

    def tell_many(self, rewards: Iterable[tuple[Pull, float]], *, checked: bool = False) -> None:  # noqa: D102
        told = list(rewards)
        super().tell_many(told, checked=checked)
        self.notes.update({pull[:2]: reward.note for pull, reward in told if hasattr(reward, "note")})
        self._show()
        self._speak()

    def keep(self, arm: int, candidate: Any) -> None:
        """Store the candidate of the next arm, before its first reward is told."""
        require(arm == len(self.candidates), "arm", f"be the next one, {len(self.candidates)}", arm)
        if self.record is not None:
            self.record.add_arm(arm, candidate)
            self.record.settle()
        self.candidates.append(candidate)

    def failed(self, pull: Pull, reason: str, action: str) -> None:
        """Note that a pull gave no reward, and the action taken."""
        if self.record is not None:
            self.record.fail(pull.order, self.told, reason, action)
            if action not in ("worst", LOST):  # these go to disk with the reward that they count as
                self.record.commit()
        self._act(pull.order, action)

    def rest(self, pull: Pull) -> None:
        """Log that this pull is not being evaluated: if the search breaks off now, it is not lost."""
        if pull.order not in self._resting:
            self.failed(pull, "nobody evaluates it at present", IDLE)

    def recover(self) -> None:
        """Note that the evaluators of all outstanding pulls are gone, or lose these pulls.

        A caller that drives the search alone calls this before it asks. Resting pulls were not begun.
        """
        for pull in [] if self.stopped else self.outstanding:
            if pull.order in self._resting:
                continue
            if self.task.on_lost == "worst":
                self.lose(pull)
            else:
                self.failed(pull, "it never came back", AGAIN)

    def returned(self, arm: int, selection: tuple[int, ...], **more: Any) -> Result:  # noqa: D102 - as in Search
        known = {"candidate": self.candidates[arm]} if arm < len(self.candidates) else {}
        return super().returned(arm, selection, **(known | more))

    def certificate(self, reason: str | None = None, now: Standing | None = None) -> Certificate:
        """The certificate now; ``reason`` says why the search ended, if it did not stop by itself.

        ``now`` is the standing, if it is already known.
        """
        require(self.history.t > 0, "certificate", "be read after the first reward", self.history.t)
        reason = "stopped" if self.stopped else RUNNING if reason is None else reason
        if self.record is None:
            return certify(self, self.task, reason, self.candidates, self.actions, version=self.version, now=now)
        self.record.commit()
        written = self.record.remembered()
        digest = fingerprint(written)
        return certify(self, self.task, reason, written.arms, self.actions, digest, self.version, quoted, now)

    def finish(self, reason: str) -> Certificate:
        """The certificate at the end; a file stores it, and is then read back completely."""
        certificate = self.certificate(reason, None if self.snapshots is None else self.snapshots.take(last=True))
        if self.record is not None:
            self.record.finish(certificate.reason, certificate.to_dict())
            self.record.read_back()
        self._speak()
        return certificate

    def _check(self, recording: Recording) -> None:
        """Raise if the record's certificate disagrees with it."""
        if recording.certificate is None:
            return
        # The certificate of an early end is withdrawn; it may quote a candidate that a pull has changed.
        whole = recording.status == "stopped"
        try:
            borne_out(recording, recording.certificate, self, self.task, self.actions, self.version, candidate=whole)
        except Refuted as error:
            raise Refuted(f"certificate must be borne out to be resumed from, got one that is not: {error}") from error

    def _act(self, order: int, action: str) -> None:
        """Remember the action taken about a pull."""
        if action in (AGAIN, IDLE):
            self._resting.add(order)
        else:
            self._resting.discard(order)
        self.actions.append((order, action))

    def _hand_out(self, pulls: list[Pull]) -> None:
        """Write pulls to disk before anyone evaluates them, so that lost pulls are known."""
        if self.record is None or not pulls:
            return
        for pull in pulls:
            if pull.order in self._resting:
                self.failed(pull, "it is evaluated after all", BEGUN)
        if self.task.on_lost == "worst":
            self.record.commit()
        else:
            self.record.settle()

    def _show(self) -> None:
        """Take a snapshot if one is due."""
        if self.watched or self.stopped:
            return
        if self.snapshots is not None and time.monotonic() >= self.snapshots.due:
            self.snapshots.take()

    def _speak(self) -> None:
        """Raise once that the file was lost, and where the search is saved, unless someone watches."""
        loss = None if self.record is None else self.record.loss
        if loss is not None and loss is not self._said and not self.watched:
            self._said = loss
            raise loss

    def _write_to(self, record: Record, history: Iterable[tuple[int, float]] = ()) -> None:
        """Record everything from now on; ``history`` is that of a search that is resumed."""
        self.record = self.journal = record
        self.snapshots = Snapshots(self, record, history=history)


def _history(recording: Recording) -> list[tuple[int, float]]:
    """The gap at moments so far; earlier versions did not keep it."""
    found = (recording.progress or {}).get("history", [])
    if not is_history(found):
        raise StorageError(f"history of the progress must be numbers of rewards, in order, and gaps, got {found!r}")
    return [(pulls, gap) for pulls, gap in found]


def recorded_task(config: Mapping[str, Any]) -> Task:
    """The task of a recorded search.

    Examples
    --------
    >>> recorded_task({})
    Traceback (most recent call last):
    ValueError: record must be of a search for a task, got {}
    """
    known = set(config) - {"given"} == {"task", "version", "code"} and isinstance(config["task"], Mapping)
    require(known, "record", "be of a search for a task", config)
    return Task.from_dict(config["task"])
