"""Where pulls are evaluated: threads, processes, a cluster, or any object with ``submit``."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from types import FrameType
from typing import Any

from topalpha.execution.calls import Evaluation, Outcome, attempt, attempt_elsewhere, attempt_packed
from topalpha.execution.endings import SIGNALS, released
from topalpha.execution.threads import Threads
from topalpha.validate import MOST_WORKERS, require, whole

log = logging.getLogger("topalpha")

KINDS = ("threads", "processes")


class Crew:
    """Workers, and the way to send them a pull; made by :func:`open_executor`.

    Attributes
    ----------
    width, size
        The number of pulls in flight at a time, and the number of workers.
    owned
        Whether :func:`open_executor` made them, and so may replace them.
    strays
        Abandoned evaluations that could not be cancelled: each still keeps a worker busy.

    Examples
    --------
    >>> with open_executor("threads", 2) as crew:
    ...     crew.width, crew.owned, crew.submit(Evaluation(lambda: 1, (), None, False)).result()
    (2, True, 1.0)
    """

    def __init__(self, executor: Any, width: int, size: int, make: Callable[[], Any] | None = None) -> None:
        self.executor = executor
        self.width = width
        self.size = size
        self.strays: set[Future[Outcome]] = set()
        self._make = make
        self._packed: tuple[Any, bytes] = (None, b"")

    @property
    def owned(self) -> bool:
        """Whether :func:`open_executor` made the workers, and so may replace them."""
        return self._make is not None

    def submit(self, evaluation: Evaluation) -> Future[Outcome]:
        """Send a pull; ``ValueError`` if it cannot be sent, ``RuntimeError`` if there is no worker."""
        future: Future[Outcome]
        if isinstance(self.executor, ThreadPoolExecutor | Threads):
            future = self.executor.submit(attempt, evaluation)
        elif isinstance(self.executor, ProcessPoolExecutor):
            future = self.executor.submit(attempt_packed, *self._pack(evaluation, pickle.dumps))
        elif _is_dask(self.executor):
            # By default dask takes a repeated call for the same task, and a retry would get the old failure.
            packed = self._pack(evaluation, import_module("cloudpickle").dumps)
            future = self.executor.submit(attempt_packed, *packed, pure=False)
        else:
            try:
                future = self.executor.submit(attempt_elsewhere, evaluation)
            except RuntimeError:
                raise
            except Exception as error:
                raise cannot_travel(evaluation.function, error) from error
        return future

    def _pack(self, evaluation: Evaluation, dumps: Callable[[Any], bytes]) -> tuple[bytes, bytes]:
        """Function and arguments as bytes; the function, which may hold much data, is packed once."""
        function = evaluation.function
        try:
            if self._packed[0] is not function:
                self._packed = (function, dumps(function))
        except Exception as error:
            raise cannot_travel(function, error) from error
        try:
            return self._packed[1], dumps(replace(evaluation, function=None))
        except Exception as error:
            raise ValueError(f"candidate must be an object that pickle can send to a worker, got {error}") from error

    def abandon(self, future: Future[Outcome]) -> bool:
        """Abandon an evaluation; one that has begun becomes a stray. Return whether it was cancelled."""
        called_off = future.cancel()
        if not called_off and not future.done():
            self.strays.add(future)
            future.add_done_callback(self.strays.discard)
        return called_off

    def renew(self) -> None:
        """Replace all workers: processes are killed, threads abandoned."""
        require(self._make is not None, "executor", "be opened by open_executor", self.executor)
        assert self._make is not None
        log.info("topalpha replaces its %d workers", self.width)
        _dismiss(self.executor, by_force=True)
        self.strays.clear()
        self.executor = self._make()

    def close(self) -> None:
        """Release the workers without waiting for them; an executor of the caller stays open."""
        if self.owned:
            _dismiss(self.executor, by_force=bool(self.strays or getattr(self.executor, "_broken", False)))


def cannot_travel(function: Any, error: BaseException) -> ValueError:
    """The error for a function that cannot be sent to a worker.

    Examples
    --------
    >>> cannot_travel("f", TypeError("no"))
    ValueError("pull must be a function that workers can import, at the top level of a module, got 'f' (TypeError: no)")
    """
    home = "pull must be a function that workers can import, at the top level of a module"
    return ValueError(f"{home}, got {function!r} ({type(error).__name__}: {error})")


@contextmanager
def open_executor(kind: Any, workers: int | None = None) -> Iterator[Crew | None]:
    """Workers that exist until the context ends. For None it yields None, and pulls run in the calling thread.

    Parameters
    ----------
    kind
        ``"threads"`` or ``"processes"``; an executor like those of :mod:`concurrent.futures`; a dask ``Client``.
        Processes are started afresh, not forked: a script needs ``if __name__ == "__main__":``.
    workers
        How many; by default one per processor, or those of the executor. Required if the executor does not tell.

    Notes
    -----
    The end of the context waits for nobody. Processes that still evaluate are killed; they also end when the process
    that opened them dies in any way. A thread cannot be killed: it goes on until its pull returns or the program
    ends. In the same way a pull that times out occupies its thread until it returns; once all threads are occupied,
    new ones replace them. A worker thread of dask is lost for good if its pull never returns: pulls that may hang
    there need their own limit. Dask itself evaluates the pulls of a dead worker again, elsewhere. Its setting
    ``distributed.comm.timeouts.connect`` limits the attempts to reach a dead worker; on one machine 5 seconds suffice.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(3) as pool, open_executor(pool) as crew:
    ...     crew.width, crew.owned
    (3, False)
    """
    if workers is not None:
        workers = whole("workers", workers, most=MOST_WORKERS)
    if kind is None:
        require(workers in (None, 1), "workers", "be 1 without an executor", workers)
        yield None
        return
    if isinstance(kind, Crew):
        yield kind
        return
    crew = _crew(kind, workers)
    try:
        yield crew
    finally:
        crew.close()


def _crew(kind: Any, workers: int | None) -> Crew:
    known = kind in KINDS if isinstance(kind, str) else hasattr(kind, "submit")
    require(known, "executor", f"be {', '.join(KINDS)}, or have a method submit", kind)
    if isinstance(kind, str):
        count = workers or os.cpu_count() or 1
        make = (lambda: Threads(count)) if kind == "threads" else (lambda: _processes(count))
        return Crew(make(), count, count, make)
    executor = kind
    if hasattr(kind, "get_executor"):  # dask's Client; its own futures have another interface
        require(not getattr(kind, "asynchronous", False), "executor", "not be an asynchronous client", kind)
        executor = kind.get_executor(pure=False)
    size = getattr(executor, "_max_workers", None)
    if size is None and _is_dask(executor):
        size = sum(executor._client.nthreads().values()) or None
    size = size or workers
    require(size is not None, "width", "be given for an executor that does not tell its number of workers", size)
    return Crew(executor, workers or whole("width", size or 0), size or 0)


def _is_dask(executor: Any) -> bool:
    return type(executor).__module__.partition(".")[0] == "distributed"


def hello() -> None:
    """Do nothing: a process that answers has started."""


def ignore_signal(number: int, frame: FrameType | None) -> None:
    """Ignore a signal: all processes receive it, and the one that waits for the workers decides.

    This is a handler, not ``SIG_IGN``: processes that a pull starts must not inherit it.
    """


def outlive() -> None:
    """End this process when the process that started it has died, even by ``kill -9``."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _prepare() -> None:
    # A terminal or a service manager signals all processes at once; the process that waits for the workers decides.
    for number in SIGNALS:
        signal.signal(number, ignore_signal)
    threading.Thread(target=outlive, name="topalpha parent", daemon=True).start()


def _processes(count: int) -> ProcessPoolExecutor:
    # Forking a process with threads may dead-lock.
    context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_prepare)
    try:
        with released():
            for future in [pool.submit(hello) for _ in range(count)]:
                future.result()
    except BrokenExecutor as error:
        _dismiss(pool, by_force=True)
        text = "processes could not start; a script must open them under if __name__ == '__main__':"
        raise RuntimeError(text) from error
    except BaseException:
        _dismiss(pool, by_force=True)
        raise
    return pool


def _dismiss(pool: Any, by_force: bool) -> None:
    processes = list((getattr(pool, "_processes", None) or {}).values())
    manager = getattr(pool, "_executor_manager_thread", None)
    pool.shutdown(wait=False, cancel_futures=True)
    if by_force:
        for process in processes:
            process.kill()
    if manager is not None:  # they end in a moment, idle or killed; a leftover would disturb the exit
        manager.join(timeout=5.0)
