"""Daemon threads: a thread that is stuck in a pull does not keep the program from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple


class _Work(NamedTuple):
    future: Future[Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def do(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.function(*self.arguments))
        except BaseException as error:  # the caller handles an exit or a Ctrl-C in a pull
            self.future.set_exception(error)


class Threads(Executor):
    """A pool of daemon threads. Python waits for threads of ``ThreadPoolExecutor`` at exit, perhaps forever.

    Parameters
    ----------
    workers
        The number of threads; each is started when there is work for it.

    Examples
    --------
    >>> pool = Threads(2)
    >>> pool.submit(max, 3, 4).result()
    4
    >>> pool.shutdown()
    """

    def __init__(self, workers: int) -> None:
        self._max_workers = workers
        self._work: SimpleQueue[_Work | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = threading.Semaphore(0)
        self._closed = False

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Call the function in one of the threads."""
        if self._closed:
            raise RuntimeError("the threads are gone")
        assert not named
        future: Future[Any] = Future()
        self._work.put(_Work(future, function, arguments))
        if not self._idle.acquire(blocking=False) and len(self._threads) < self._max_workers:
            thread = threading.Thread(target=self._serve, name=f"topalpha {len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; threads end when they have finished theirs."""
        self._closed = True
        try:
            while cancel_futures and (work := self._work.get_nowait()) is not None:
                work.future.cancel()
        except Empty:
            pass
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            work.do()
            del work  # an idle thread must not keep work alive

    def _next(self) -> _Work | None:
        try:
            return self._work.get_nowait()
        except Empty:
            self._idle.release()
            return self._work.get()
