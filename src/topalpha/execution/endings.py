"""Ends of a run before its stopping rule is met: a budget that is spent, Ctrl-C, and the signals that end a process.

A signal brings an orderly end first, and never interrupts while a reward is written.
"""

from __future__ import annotations

import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from topalpha.validate import real, require, whole

log = logging.getLogger("topalpha")

#: Default seconds to wait for pulls in flight at the end of a search.
PATIENCE = 60.0


class Budget(NamedTuple):
    """Limits on spending; None is no limit.

    Parameters
    ----------
    pulls
        Rewards told; a pull evaluated again after a failure counts once.
    seconds
        Wall-clock time.
    cost
        The sum of ``cost_of`` over rewards told, in any unit. The search ends once it is reached.
    cost_of
        The cost of one pull: a number, or a function of the candidate and its reward.

    Examples
    --------
    >>> Budget(pulls=1000, cost=5.0, cost_of=lambda prompt, reward: 1e-4 * len(prompt)).pulls
    1000
    """

    pulls: int | None = None
    seconds: float | None = None
    cost: float | None = None
    cost_of: float | Callable[[Any, float], float] | None = None


class Meter:
    """The amounts spent of a budget; pass it to several runs, one after another, and it goes on counting.

    Examples
    --------
    >>> meter = Meter(Budget(pulls=3, cost=1.0, cost_of=0.5))
    >>> meter.add("candidate", 1.0)
    >>> meter.pulls_left, meter.cost, meter.over()
    (2, 0.5, None)
    >>> meter.add("candidate", 0.0)
    >>> meter.over()
    'cost'
    """

    def __init__(
        self, budget: Budget | None = None, *, pulls: int = 0, seconds: float = 0.0, cost: float = 0.0
    ) -> None:
        self.budget = Budget() if budget is None else budget
        limits = self.budget
        if limits.pulls is not None:
            whole("pulls", limits.pulls, 0)
        for name, limit in (("seconds", limits.seconds), ("cost", limits.cost)):
            require(limit is None or real(name, limit) >= 0.0, name, "be at least 0", limit)
        require(limits.cost is None or limits.cost_of is not None, "cost_of", "be given with cost", limits.cost_of)
        self.pulls = pulls
        self.cost = cost
        self._began = time.monotonic() - seconds
        self._held: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds that it has run, without the time on hold."""
        return (time.monotonic() if self._held is None else self._held) - self._began

    @property
    def held(self) -> bool:
        """Whether the clock is on hold."""
        return self._held is not None

    def hold(self, still: bool) -> None:
        """Stop the clock, or let it go on; repeating a call does no harm."""
        if still and self._held is None:
            self._held = time.monotonic()
        elif not still and self._held is not None:
            self._began += time.monotonic() - self._held
            self._held = None

    @property
    def seconds_left(self) -> float:
        """Seconds left, perhaps infinitely many."""
        return math.inf if self.budget.seconds is None else max(0.0, self.budget.seconds - self.seconds)

    @property
    def pulls_left(self) -> float:
        """Pulls left, perhaps infinitely many."""
        return math.inf if self.budget.pulls is None else max(0, self.budget.pulls - self.pulls)

    def add(self, candidate: Any, reward: float) -> None:
        """Count one reward."""
        self.pulls += 1
        price = self.budget.cost_of
        if price is not None:
            cost = real("cost", price(candidate, reward) if callable(price) else price)
            require(0.0 <= cost < math.inf, "cost", "be at least 0 and finite", cost)
            self.cost += cost

    def over(self) -> str | None:
        """The limit that is reached, "seconds" or "cost"; None if neither is."""
        if self.seconds_left <= 0.0:
            return "seconds"
        return "cost" if self.budget.cost is not None and self.cost >= self.budget.cost else None


def _known() -> dict[int, tuple[str, str, Any]]:
    """By signal: the reason in the certificate, the common name, and the default handler."""
    found: dict[int, tuple[str, str, Any]] = {
        signal.SIGINT: ("interrupted", "Ctrl-C", signal.default_int_handler),
        signal.SIGTERM: ("terminated", "SIGTERM", signal.SIG_DFL),
    }
    if hasattr(signal, "SIGHUP"):  # not on Windows
        found[signal.SIGHUP] = ("hangup", "SIGHUP", signal.SIG_DFL)
    return found


#: By signal number: the reason in the certificate, the name, and the handler that may be replaced.
SIGNALS = _known()


def nothing() -> str:
    """The empty description, for :attr:`Signals.waits_for` without pulls.

    Examples
    --------
    >>> nothing()
    ''
    """
    return ""


class Signals:
    """The signals that this process received since :func:`held`.

    The first signal ends the search in order: it waits for pulls in flight. The second one leaves at once.

    Attributes
    ----------
    patience
        Seconds to wait for pulls in flight; with 0 the first signal leaves at once.
    reason
        Why the search is to end, for its certificate; None without a signal.
    waits_for
        Describes the pulls in flight, for the message after Ctrl-C.
    alone
        Whether a pull runs in the main thread, which only another signal can interrupt.

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
        """Note a signal; return whether it is the first and there is time for an orderly end."""
        first = self.reason is None
        if first:
            self.number = number
            self.reason = SIGNALS[number][0]
            self._news.put(number)  # this is safe in a signal handler
        return first and self.patience > 0.0

    def heed(self) -> str | None:
        """The reason to end, or None; a reason that was returned counts as obeyed, and is not passed on."""
        self.heeded = self.heeded or self.reason is not None
        return self.reason

    def watch(self) -> None:
        """After the first signal, log what the search waits for; interrupt the main thread when patience ends."""
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
        """End :meth:`watch`."""
        self._news.put(None)


def depart(reason: str) -> NoReturn:
    """Leave as the signal of this reason demands: by ``KeyboardInterrupt``, or with its shell exit code.

    Examples
    --------
    >>> depart("terminated")
    Traceback (most recent call last):
    SystemExit: 143
    """
    code = exit_code(reason)
    raise KeyboardInterrupt if code == exit_code("interrupted") else SystemExit(code)


def exit_code(reason: str) -> int:
    """The exit code of a program that ended for this reason; 0 if the reason is not a signal.

    Examples
    --------
    >>> exit_code("interrupted"), exit_code("pulls")
    (130, 0)
    """
    return next((128 + number for number, (own, _, _) in SIGNALS.items() if own == reason), 0)


class _State:
    held = False
    pending = False
    #: The outermost object, which receives signals, and the innermost one, which asks for them.
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
        signal.pthread_kill(main, number)  # this also ends a sleep
    else:
        import _thread

        _thread.interrupt_main(signal.Signals(number))


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def held(patience: float = 0.0) -> Iterator[Signals]:
    """Hold back Ctrl-C, SIGTERM and SIGHUP in the main thread, unless others handle them.

    :meth:`Signals.heed` reports the first signal. With patience, pulls go on; the next signal (or the first, without
    patience) waits for the next :func:`released` and raises ``KeyboardInterrupt`` there. At the end the handlers are
    restored. A SIGTERM or SIGHUP that was not heeded is then sent again; a Ctrl-C is forgotten.

    Nested in :func:`held` this changes nothing; in a pull that is a search, the first signal is for the outer search.

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
    if not _in_main_thread():  # only the main thread receives signals
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
