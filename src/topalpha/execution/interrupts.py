"""Ctrl-C and the signals that end a process: an orderly end first, and never in the middle of writing a reward down."""

from __future__ import annotations

import logging
import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, NoReturn

log = logging.getLogger("topalpha")

#: How long pulls in flight are waited for at the end of a search, in seconds, unless someone says otherwise.
PATIENCE = 60.0


def _known() -> dict[int, tuple[str, str, Any]]:
    """The signals that end a search: the reason that its certificate names, what people call it, and who handles it."""
    found: dict[int, tuple[str, str, Any]] = {
        signal.SIGINT: ("interrupted", "Ctrl-C", signal.default_int_handler),
        signal.SIGTERM: ("terminated", "SIGTERM", signal.SIG_DFL),
    }
    if hasattr(signal, "SIGHUP"):  # not on Windows
        found[signal.SIGHUP] = ("hangup", "SIGHUP", signal.SIG_DFL)
    return found


#: By number: the reason for the certificate, the name, and the handler that may be replaced.
SIGNALS = _known()


def nothing() -> str:
    """What is waited for, where nothing is.

    Examples
    --------
    >>> nothing()
    ''
    """
    return ""


class Signals:
    """What this process was asked for since :func:`held`.

    The first signal ends the search in order: what is in flight is waited for. The second one leaves at once.

    Attributes
    ----------
    patience
        How many seconds are waited for what is in flight; 0: the first signal already leaves at once.
    reason
        Why the search is to end, for its certificate; None while nobody asked for it.
    waits_for
        What is in flight, in words, for whoever pressed Ctrl-C.
    alone
        Whether a pull runs in the main thread, which nobody but another signal can bring back.

    Examples
    --------
    >>> signals = Signals(60.0)
    >>> signals.note(signal.SIGTERM), signals.heed(), signals.note(signal.SIGINT)
    (True, 'terminated', False)
    """

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.reason: str | None = None
        self.waits_for: Callable[[], str] = nothing
        self.alone = False
        self.number = 0
        self.heeded = False
        self._news: SimpleQueue[int | None] = SimpleQueue()

    def note(self, number: int) -> bool:
        """Note a signal; whether it is the first one, and there is time to end in order."""
        first = self.reason is None
        if first:
            self.number = number
            self.reason = SIGNALS[number][0]
            self._news.put(number)  # of all that one might do in a handler of signals, this is known to be safe
        return first and self.patience > 0.0

    def heed(self) -> str | None:
        """The reason to end, if there is one; it is obeyed then, and not passed on."""
        self.heeded = self.heeded or self.reason is not None
        return self.reason

    def watch(self) -> None:
        """Say what is waited for after the first signal; bring a pull in the main thread back when patience ends."""
        number = self._news.get()
        if number is None:
            return
        name, what = SIGNALS[number][1], self.waits_for()
        if what:
            limit = "" if self.patience == math.inf else f"at most {self.patience:g} seconds "
            again = "a second one" if number == signal.SIGINT else "a second signal"
            log.warning("topalpha: %s: waiting %sfor %s; %s leaves at once", name, limit, what, again)
        if not self.alone:
            return
        try:
            self._news.get(timeout=None if self.patience == math.inf else self.patience)
        except Empty:
            _send_to_main_thread(number)

    def over(self) -> None:
        """Nobody waits any more."""
        self._news.put(None)


def depart(reason: str) -> NoReturn:
    """Leave as the signal behind this reason would have it: by Ctrl-C, or with the exit code that shells give it.

    Examples
    --------
    >>> depart("terminated")
    Traceback (most recent call last):
    SystemExit: 143
    """
    code = exit_code(reason)
    raise KeyboardInterrupt if code == exit_code("interrupted") else SystemExit(code)


def exit_code(reason: str) -> int:
    """The exit code of a program that ended for this reason; 0 if no signal is behind it.

    Examples
    --------
    >>> exit_code("interrupted"), exit_code("pulls")
    (130, 0)
    """
    return next((128 + number for number, (own, _, _) in SIGNALS.items() if own == reason), 0)


class _State:
    held = False
    pending = False
    #: Who is told of signals, the outermost; and who asks at present.
    current: Signals | None = None
    inner: Signals | None = None


_state = _State()


def _note(number: int, frame: FrameType | None) -> None:
    if _state.current is not None and _state.current.note(number):
        return
    if not _state.held:
        raise KeyboardInterrupt
    _state.pending = True


def _send_to_main_thread(number: int) -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)  # this one also ends a sleep
    else:
        import _thread

        _thread.interrupt_main(signal.Signals(number))


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def held(patience: float = 0.0) -> Iterator[Signals]:
    """Hold Ctrl-C, SIGTERM and SIGHUP back, in the main thread, where nobody else handles them.

    The first one is noted, for whoever reads :meth:`Signals.heed`. With patience, pulls go on; the next one (or the
    first one, without patience) waits for the next :func:`released`, where it raises ``KeyboardInterrupt``. At the end
    the handlers are as before. A SIGTERM or SIGHUP that nobody heeded is then sent on; a Ctrl-C is forgotten.

    Within :func:`held` this is the same; within :func:`released`, in a pull that is itself a search, the first signal
    is for the outer one.

    Examples
    --------
    >>> import signal
    >>> try:
    ...     with held():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("written down")
    ...         with released():
    ...             print("not reached")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    written down
    interrupted
    >>> with held(patience=60.0) as signals, released():
    ...     signal.raise_signal(signal.SIGINT)
    ...     print("a pull that is waited for,", signals.heed())
    a pull that is waited for, interrupted
    """
    if not _in_main_thread():  # signals reach the main thread only
        yield Signals(patience)
        return
    if _state.inner is not None:
        before, outer = _state.held, _state.inner
        _state.held, _state.inner = True, outer if before else Signals(patience)
        try:
            yield _state.inner
        finally:
            _state.held, _state.inner = before, outer
        return
    signals = _state.current = _state.inner = Signals(patience)
    taken = [number for number, (_, _, usual) in SIGNALS.items() if signal.getsignal(number) == usual]
    watcher = threading.Thread(target=signals.watch, name="topalpha signals", daemon=True)
    if taken and patience > 0.0:
        watcher.start()
    for number in taken:
        signal.signal(number, _note)
    _state.held = True
    try:
        yield signals
    finally:
        _state.held = False
        for number in taken:
            if signal.getsignal(number) is _note:
                signal.signal(number, SIGNALS[number][2])
        _state.current = _state.inner = None
        _state.pending = False
        signals.over()
        if signals.reason is not None and not signals.heeded and signals.number != signal.SIGINT:
            signal.raise_signal(signals.number)


@contextmanager
def released() -> Iterator[None]:
    """Let Ctrl-C through, within :func:`held`; elsewhere this does nothing.

    Examples
    --------
    >>> with held(), released():
    ...     print("a pull")
    a pull
    """
    if not _in_main_thread():
        yield
        return
    before = _state.held
    try:
        _state.held = False
        if _state.pending:
            _state.pending = False
            raise KeyboardInterrupt
        yield
    finally:
        _state.held = before
