"""The progress of a search: its figures, the snapshots of them in the file, and the line that shows them."""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from types import TracebackType
from typing import TYPE_CHECKING, Any

from topalpha.ask_tell import Search, Standing, stand
from topalpha.storage import Row
from topalpha.validate import choice, require

if TYPE_CHECKING:
    from topalpha.storage import Record

LOGGER = logging.getLogger("topalpha")

#: Seconds between log lines, if there is no terminal.
LINE_PERIOD = 5.0

#: Seconds between snapshots, unless each takes long.
PERIOD = 0.4
#: The share of time for a snapshot, and for the claims at that moment, if nobody asked for figures.
LITTLE = 0.01
#: Seconds that a look may take without being spared.
BRIEF = 0.05
#: Seconds before the first proof: it loads modules, which takes a while.
SETTLED = 10.0

#: The most moments of a search whose gap is kept: of more, every second one of the older half is dropped.
MOMENTS = 60

#: Ways to show progress; ``auto`` is a live line on a terminal, else log lines.
STYLES = ("auto", "live", "lines", "none")


@dataclass(frozen=True)
class Progress:
    """A search at one moment, in the caller's units.

    Attributes
    ----------
    pulls, in_flight, arms
        Rewards that count, other pulls asked for, and candidates drawn.
    leader, mean, low, high
        The leading arm, its empirical mean and its interval.
    gap
        The proved epsilon minus the target's, for the arm ``about``; None before anything is proved.
    unresolved
        The number of other arms with an upper bound over epsilon above the leader's lower bound; 0 after the stop.
    left
        The estimated number of further pulls; None where it cannot be trusted.
    paused
        Whether no new pulls are started until the message ``continue``.
    claims
        Proved pairs of alpha and epsilon for the arm ``about``, all true at once; None if they were not computed.
    about
        The arm that a certificate would name, as of the last computation of ``gap`` and ``claims``: the one
        with the largest lower bound. Another may lead by now. None before the first computation.
    bounded
        Whether the algorithm has bounds at any time; otherwise ``low`` and ``high`` are the range of all means.
    history
        The number of rewards and the gap at some moments so far, in order: at most 60 of them.
    wanted, selection, line, over
        As in :class:`topalpha.standing.Standing`: the number of arms to draw, all leaders, the level that the bounds of
        the others must cross, and the number of others that have not.
    evidence, rest
        As there: the share of the needed evidence that there is, and the best mean of any other arm that the evidence
        leaves open, which falls to the line; None if unknown, and in files of earlier versions.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> progress = survey(search)
    >>> progress.leader, progress.pulls, progress.gap > 0.0, progress.evidence < 0.5
    (1, 10, True, True)
    """

    pulls: int
    in_flight: int
    arms: int
    leader: int
    mean: float
    low: float | None
    high: float | None
    gap: float | None
    unresolved: int
    left: int | None
    paused: bool = False
    claims: tuple[tuple[float, float], ...] | None = None
    about: int | None = None
    bounded: bool = True
    wanted: int = 0
    selection: tuple[int, ...] = ()
    line: float | None = None
    over: int = 0
    history: tuple[tuple[int, float], ...] = ()
    evidence: float | None = None
    rest: float | None = None

    @classmethod
    def of(cls, now: Standing, paused: bool = False, history: Sequence[tuple[int, float]] = ()) -> Progress:
        """The figures of a standing that has a leader."""
        require(now.leader is not None, "standing", "be that of a search with a reward", now)
        assert now.leader is not None
        row = now.row(now.leader)
        assert row.mean is not None
        return cls(
            pulls=now.total,
            in_flight=now.in_flight,
            arms=now.drawn,
            leader=now.leader,
            mean=row.mean,
            low=_finite(row.lower),
            high=_finite(row.upper),
            gap=now.gap,
            unresolved=len(now.challengers),
            left=now.left,
            paused=paused,
            claims=None if now.about is None else tuple((claim.alpha, claim.epsilon) for claim in now.claims),
            about=now.about,
            bounded=now.bounded,
            wanted=now.wanted,
            selection=now.selection,
            line=_finite(now.line),
            over=len(now.above),
            history=tuple(history),
            evidence=now.evidence,
            rest=_finite(now.rest),
        )

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        values = asdict(self)
        values["claims"] = None if self.claims is None else [list(claim) for claim in self.claims]
        values["selection"] = list(self.selection)
        values["history"] = [list(moment) for moment in self.history]
        return values

    @property
    def text(self) -> str:
        """The progress in one line."""
        return self.told()

    def told(self, leader: str = "") -> str:
        """The same with a name for the leader; "arm 14" without."""
        ends = ("-inf" if self.low is None else f"{self.low:.4g}", "inf" if self.high is None else f"{self.high:.4g}")
        drawn = f"{self.arms:,} of {self.wanted:,}" if self.arms < self.wanted else f"{self.arms:,}"
        parts = [
            f"{self.pulls:,} evaluations of {drawn} candidates",
            f"leader {leader or f'arm {self.leader}'}: {self.mean:.4g}",
        ]
        parts[-1] += f" in [{ends[0]}, {ends[1]}]"
        if self.gap is not None:
            other = " of another" if leader else f" of arm {self.about}"
            whose = "" if self.about in (None, self.leader) else other
            parts.append(f"gap {max(self.gap, 0.0):.3g}{whose}")
        if self.bounded:
            parts.append(f"{self.unresolved:,} unresolved")
        if self.evidence is not None:
            parts.append(f"{math.floor(100.0 * self.evidence)}% of the evidence")
        if self.left is not None:
            parts.append(f"about {self.left:,} to go")
        return " · ".join(["paused", *parts] if self.paused else parts)


def survey(search: Search, *, proved: bool = True, curve: bool = True, ended: bool = False) -> Progress:
    """The figures of a search that has at least one reward, and whether it has ``ended``.

    ``proved`` computes the claims, which may take a while; without ``curve`` they are left out.
    """
    found = Progress.of(stand(search, proved=proved, ended=ended))
    return found if curve else replace(found, claims=None)


def is_history(found: Any) -> bool:
    """Whether this, from a file, is a list of numbers of rewards, in order, and gaps.

    Examples
    --------
    >>> is_history([[10, 0.5], [20, 0.25]]), is_history([[20, 0.5], [10, 0.25]]), is_history("none")
    (True, False, False)
    """
    try:
        pulls = [pulls for pulls, gap in found if pulls > 0 and gap >= 0.0]
        return isinstance(found, list) and len(pulls) == len(found) and pulls == sorted(set(pulls))
    except (TypeError, ValueError):
        return False


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


class Snapshots:
    """The figures of a search and of each arm at this moment, written into its record if it has one.

    A snapshot affects neither the logs nor any decision.

    Parameters
    ----------
    search, record
        The search, and its record; None for no record.
    share
        The share of time for computing claims, which may take long with many arms.
    history
        Moments and gaps of a search that is resumed, as in :class:`Progress`.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> Snapshots(search, None).progress(time.monotonic()).leader
    1
    """

    def __init__(
        self,
        search: Search,
        record: Record | None,
        share: float = LITTLE,
        history: Iterable[tuple[int, float]] = (),
    ) -> None:
        self.search = search
        self.record = record
        self.share = share
        #: When the next snapshot is due, and when claims are computed next.
        self.due = 0.0
        self.next_proof = time.monotonic() + SETTLED
        #: When the evidence of all arms together is weighed next, if that takes long.
        self.next_weighing = 0.0
        #: Whether the search has ended, and returns the arm of its claims.
        self.ended = False
        self._latest: Standing | None = None
        self._fresh = self._loaded = False
        self._seen: tuple[int, ...] = ()
        # The rows written last; and the standing, whether it was paused, and where.
        self._rows: list[Row] = []
        self._said: tuple[Standing, bool, tuple[str, int]] | None = None
        self._proving = 0.0
        # What was not yet on disk when a search broke off is evaluated again.
        self._history = [(pulls, gap) for pulls, gap in history if pulls <= search.history.t]

    def take(self, *, last: bool = False) -> Standing | None:
        """Take a snapshot, if there is a reward; the ``last`` one includes the claims, and is written only once.

        The next one is due when its cost is a small share of the time.
        """
        if self.search.history.t == 0:
            return None
        now = time.monotonic()
        self.ended = last
        if last:
            self.next_proof = 0.0
        self._proving = 0.0
        found = self._standing(now, quick=False)
        if self.record is not None and not (last and self._is_written(found)):
            self.write(Progress.of(found, history=self._history))
        end = time.monotonic()
        self.due = end + max(PERIOD, (end - now - self._proving) / LITTLE)
        return found

    def progress(self, now: float, quick: bool = False, paused: bool = False) -> Progress:
        """The figures now; a proof is reused while nothing happens, or if ``quick``."""
        found = self._standing(now, quick)
        return Progress.of(found, paused, self._history)

    def _is_written(self, found: Standing) -> bool:
        """Whether this standing is the last one in the file, and not as that of a paused search."""
        assert self.record is not None
        return self._said is not None and self._said[0] is found and self._said[1:] == (False, self.record.place)

    def _standing(self, now: float, quick: bool) -> Standing:
        search, before = self.search, self._latest
        history = search.history
        seen = (history.t, history.in_flight, history.arms, search.told, int(search.stopped), int(self.ended))
        due = now >= self.next_proof and not quick
        if before is not None and seen == self._seen and (self._fresh or not due):
            return before
        weighed = due or now >= self.next_weighing
        found = stand(search, proved=due, ended=self.ended, weighed=weighed)
        if weighed and found.joined and not due:
            spent = time.monotonic() - now
            self.next_weighing = now + (spent / LITTLE if spent > BRIEF else 0.0)
        elif before is not None and not weighed and found.joined and not search.stopped:
            found = replace(found, shown=before.shown, left=before.left)
        if due:
            self._proving = time.monotonic() - now
            # The first computation includes loading, and does not predict the next one.
            self.next_proof = now + (self._proving / self.share if self._loaded else 0.0)
            self._loaded = True
        elif before is not None and not search.stopped:
            # A claim stays proved about its arm, although another arm may lead by now.
            found = replace(found, gap=before.gap, claims=before.claims, about=before.about)
        if due or search.stopped:
            self._remember(found)
        self._latest, self._seen, self._fresh = found, seen, due
        return found

    def _remember(self, found: Standing) -> None:
        """Note the gap of this moment, if it is known."""
        if found.gap is None:
            return
        moment = (found.total, max(found.gap, 0.0))
        if self._history and self._history[-1][0] == found.total:
            self._history.pop()
        self._history.append(moment)
        if len(self._history) > MOMENTS:
            self._history[: MOMENTS // 2] = self._history[: MOMENTS // 2 : 2]

    def write(self, progress: Progress) -> None:
        """Write the progress, and the rows that differ from the last snapshot."""
        if self.record is None or self._latest is None:
            return
        place, rows = self.record.place, self._latest.rows
        known = self._rows if self._said is not None and self._said[2] == place else []
        changed = [row for row, before in zip_longest(rows, known) if row != before]
        self.record.snapshot(changed, progress.to_dict())
        if self.record.place != place:  # its file was lost just now: the new one has these rows only
            self.record.snapshot(rows, progress.to_dict())
        self._rows, self._said = rows, (self._latest, progress.paused, self.record.place)


class Reporter:
    """Shows progress; a context manager, which removes a live line at its end.

    Examples
    --------
    >>> with Reporter("none") as report:
    ...     report(Progress(1, 0, 1, 0, 0.5, None, None, None, 0, None))
    """

    def __init__(self, style: str = "auto") -> None:
        style = choice("progress", style, STYLES)
        if style == "auto":
            # A plain terminal cannot go back to rewrite a line.
            live = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
            style = "live" if live else "lines"
        self.style = style
        self._live: Any = None
        self._next_line = 0.0
        self._line = ""

    def __enter__(self) -> Callable[[Progress, str], None]:
        if self.style == "live":
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            self._live.start()
        return self.show

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress, leader: str = "") -> None:
        """Show the progress, with a name for the leader."""
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(progress.told(leader)), refresh=True)
        elif self.style == "lines" and (now := time.monotonic()) >= self._next_line:
            before, self._line = self._line, progress.told(leader)
            if self._line != before:
                self._next_line = now + LINE_PERIOD
                LOGGER.info("%s", self._line)
