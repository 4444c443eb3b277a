"""A recorded search, run again: every decision is made anew and must equal the recorded one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from topalpha.ask_tell.search import Pull, Search
from topalpha.storage import StorageError


class Log(Protocol):
    """The log that a replay reads: a :class:`topalpha.storage.Recording`, or the trail of a search."""

    @property
    def asks(self) -> Sequence[tuple[int, int]]:
        """``(arm, after)`` of each pull, by its order."""

    @property
    def tells(self) -> Sequence[tuple[int, float]]:
        """``(order, reward)`` in order of arrival."""

    @property
    def waits(self) -> Sequence[tuple[int, int]]:
        """``(asked, after)``: the algorithm was asked, and had to wait."""

    @property
    def lost(self) -> Collection[int]:
        """Orders of the told pulls that never came back."""

    @property
    def status(self) -> str:
        """The status of the search."""


def replay(recording: Log, search: Search) -> None:
    """Bring a new search to the end of the recording; raise if they disagree.

    Pulls that were asked for and not told are handed out again, the oldest first.
    """
    for _ in steps(recording, search):
        pass


def steps(recording: Log, search: Search) -> Iterator[int]:
    """The same, reward by reward; yields the number of rewards told so far.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, 0.5) for pull in search.ask_many(3)])
    >>> again = Search(search.algorithm)
    >>> [(told, again.history.arms) for told in steps(search.trail, again)]
    [(1, 3), (2, 3), (3, 3)]
    """
    waiting: dict[int, Pull] = {}
    asks, tells, lost = recording.asks, recording.tells, recording.lost
    waits = list(reversed(recording.waits))
    asked = 0
    for told in range(len(tells) + 1):
        while True:
            if waits and waits[-1] == (asked, told):
                waits.pop()
                _agree(not search.ask_many(1) and not search.stopped, "the algorithm had to wait", asked)
            elif asked < len(asks) and asks[asked][1] == told:
                try:
                    pull = search.ask()
                except RuntimeError:
                    pull = None
                _agree(pull is not None, "the algorithm has nothing to ask for", asked)
                assert pull is not None
                _agree(pull.arm == asks[asked][0], "the algorithm asks for another arm", asked)
                waiting[asked] = pull
                asked += 1
            else:
                break
        if told < len(tells):
            order, reward = tells[told]
            _agree(order in waiting, "a reward was told before its pull", order)
            if order in lost:
                _agree(search.endures and reward == search.model.worst, "a lost pull was counted otherwise", order)
                Search.lose(search, waiting.pop(order))  # not the session's method, which would log it again
            else:
                search.tell(waiting.pop(order), reward)
            yield told + 1
    _agree(asked == len(asks) and not waits, "later pulls were planned earlier", asked)
    if recording.status == "stopped":
        # Pulls that were in flight are no longer needed; the decision to ask for nothing more is checked like others.
        _agree(not search.ask_many(1) and search.stopped, "the stopping rule is not met", asked)
        return
    for _, pull in sorted(waiting.items()):
        search.again(pull)


def _agree(holds: bool, found: str, order: int) -> None:
    if not holds:
        raise StorageError(
            f"record must replay, but {found} at pull {order}: it was altered, or made by another version"
        )
