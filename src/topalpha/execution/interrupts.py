"""Ctrl-C at the right moment: while somebody else's code runs, and never in the middle of writing a reward down."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _State:
    held = False
    pending = False


_state = _State()


def _note(number: int, frame: FrameType | None) -> None:
    if not _state.held:
        raise KeyboardInterrupt
    _state.pending = True


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def held() -> Iterator[None]:
    """Hold Ctrl-C back: it waits for the next :func:`released`, and is forgotten at the end.

    A handler of the caller's own is left as it is.

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
    """
    if not _in_main_thread():  # interrupts reach the main thread only
        yield
        return
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _note)
    before = _state.held
    _state.held = True
    try:
        yield
    finally:
        _state.held = before
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _state.pending = False


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
