"""The figures of a search on disk, for whoever looks from outside: all arms, and how far it is."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from topalpha.ask_tell import Search
from topalpha.core import SUM
from topalpha.progress import Progress, survey

if TYPE_CHECKING:
    from topalpha.storage import Record

#: Snapshots are taken this often, in seconds, unless each takes long.
PERIOD = 0.4
#: Where nobody asked for figures, a snapshot, and what is proved at that moment, each take this part of the time.
LITTLE = 0.01
#: After so many seconds what is proved is computed for the first time: to load what proofs need takes a while.
SETTLED = 10.0


class Snapshots:
    """What is known of a search now, and of each arm, written into its record if it has one.

    A snapshot changes nothing that is recorded of asks and tells, and no decision.

    Parameters
    ----------
    search, record
        What is looked at, and where it is written; None for nowhere.
    share
        Which part of the time may be spent on finding out what is proved, which may take long where arms are many.
    curve
        Whether anyone reads the claims, which take longest and which a line on a terminal does not show.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> Snapshots(search, None).progress(time.monotonic()).leader
    1
    """

    def __init__(self, search: Search, record: Record | None, share: float = LITTLE, curve: bool = True) -> None:
        self.search = search
        self.record = record
        self.share = share
        self.curve = curve
        #: When the next snapshot is to be taken, and when what is proved is to be computed next.
        self.due = 0.0
        self.next_proof = time.monotonic() + SETTLED
        self._latest: Progress | None = None
        self._fresh = self._loaded = False
        self._seen: tuple[int, ...] = ()
        self._known: list[tuple[int, int]] = []
        self._proving = 0.0

    def take(self, *, last: bool = False) -> None:
        """A snapshot, if there is something to show; the ``last`` one with what is proved.

        The next one is due when that costs a small part of the time only.
        """
        if self.search.history.t == 0:
            return
        now = time.monotonic()
        if last:
            self.next_proof = 0.0
        self._proving = 0.0
        self.write(self.progress(now))
        end = time.monotonic()
        self.due = end + max(PERIOD, (end - now - self._proving) / LITTLE)

    def progress(self, now: float, quick: bool = False) -> Progress:
        """Where the search is, the same as before as long as nothing happens; if quick, with what was proved before."""
        search, before = self.search, self._latest
        history = search.history
        seen = (history.t, history.in_flight, history.arms, search.told, int(search.stopped))
        due = now >= self.next_proof and not quick
        if before is not None and seen == self._seen and (self._fresh or not due):
            return before
        found = survey(search, proved=due, curve=self.curve)
        if due:
            self._proving = time.monotonic() - now
            # The first time says nothing about how long the next one will take.
            self.next_proof = now + (self._proving / self.share if self._loaded else 0.0)
            self._loaded = True
        elif before is not None and not search.stopped:
            # What was proved once stays proved, about the arm that it was proved of: another may lead by now.
            found = replace(found, gap=before.gap, left=before.left, claims=before.claims, about=before.about)
        self._latest, self._seen, self._fresh = found, seen, due
        return found

    def write(self, progress: Progress) -> None:
        """Write down the figures of arms that changed since the last snapshot."""
        if self.record is None:
            return
        search, history, model = self.search, self.search.history, self.search.model
        rows: list[tuple[int, int, float | None, float, float, int]] = []
        for arm in range(history.arms):
            counts = (history.pulls[arm], history.pending[arm])
            if arm < len(self._known) and self._known[arm] == counts:
                continue
            if counts[0]:
                low, high = sorted((model.to_user(search.lower(arm)), model.to_user(search.upper(arm))))
                rows.append((arm, counts[0], model.to_user(history.stats[SUM][arm] / counts[0]), low, high, counts[1]))
            else:
                ends = sorted((model.to_user(model.family.lowest), model.to_user(model.family.highest)))
                rows.append((arm, 0, None, ends[0], ends[1], counts[1]))
        self.record.snapshot(rows, progress.to_dict())
        self._known = [(history.pulls[arm], history.pending[arm]) for arm in range(history.arms)]
