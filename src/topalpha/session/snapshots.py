"""The figures of a search on disk, for whoever looks from outside: all arms, and how far it is."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from topalpha.ask_tell import Search
from topalpha.rules.protocol import SUM
from topalpha.session.progress import Progress, survey
from topalpha.storage import Row

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
        self._place: tuple[str, int] | None = None
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
            self._known = []  # bounds may move without a reward of their own: the last figures are those of one moment
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
        search, history = self.search, self.search.history
        now = [(history.pulls[arm], history.pending[arm]) for arm in range(history.arms)]
        known = self._known if self._place == self.record.place else []
        changed = [arm for arm, counts in enumerate(now) if arm >= len(known) or known[arm] != counts]
        self.record.snapshot([figures_of(search, arm) for arm in changed], progress.to_dict())
        self._known, self._place = now, self.record.place


def figures_of(search: Search, arm: int) -> Row:
    """What is known about an arm now, in the caller's units.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> row = figures_of(search, 1)
    >>> row.pulls, row.mean, row.upper
    (1, 1.0, 1.0)
    """
    history, model = search.history, search.model
    pulls, pending = history.pulls[arm], history.pending[arm]
    if not pulls:
        low, high = sorted((model.to_user(model.family.lowest), model.to_user(model.family.highest)))
        return Row(arm, 0, None, low, high, pending)
    low, high = sorted((model.to_user(search.lower(arm)), model.to_user(search.upper(arm))))
    return Row(arm, pulls, model.to_user(history.stats[SUM][arm] / pulls), low, high, pending)
