"""The contents of a report, as text and numbers, gathered from one reading of the file."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from topalpha.ask_tell import Standing, fingerprint, stand
from topalpha.certificate import SILENT, Certificate, certify
from topalpha.execution import place_in_list
from topalpha.session import RUNNING, Session, confirmed
from topalpha.storage import Recording, Row, read
from topalpha.storage.encoding import PICKLED, legible, shown
from topalpha.storage.parameters import Candidates

#: Characters of a candidate that a table shows.
LONGEST = 400
#: How many failures are listed individually.
FAILURES = 20


class Arm(NamedTuple):
    """A row of the table of arms: its figures, its candidate as text and as stored, and whether it was chosen.

    If all candidates have the same parameters, ``parameters`` has them as text. ``listed`` is its place in the list
    that it comes from, None without a list.
    """

    row: Row
    candidate: str
    exact: str
    chosen: bool
    parameters: list[str]
    listed: int | None = None

    @property
    def place(self) -> str:
        """Where to find the candidate: its place in a list, and its number."""
        return f"arm {self.row.arm}" if self.listed is None else f"index {self.listed} in the list, arm {self.row.arm}"


class Failed(NamedTuple):
    """A pull without a reward: its arm, the rewards told before, the reason, and the action taken."""

    arm: int
    after: int
    reason: str
    action: str


@dataclass(frozen=True)
class Contents:
    """The contents of a report about one search.

    Attributes
    ----------
    file, recording
        The name of the file, and the recording in it.
    session
        The search, replayed.
    now, certificate
        The standing and the certificate; None before the first reward.
    arms, all_arms
        Rows of the table, the best first, and the number of all rows.
    parameters
        The names of the parameters that all candidates have, and whether they are numbers.
    chosen
        The rows of the chosen arms.
    failures, failed
        The first failed pulls, and the number of failed pulls by action.
    """

    file: str
    recording: Recording
    session: Session
    now: Standing | None
    certificate: Certificate | None
    arms: list[Arm]
    all_arms: int
    parameters: list[tuple[str, bool]]
    chosen: list[Arm]
    failures: list[Failed]
    failed: dict[str, int]

    @property
    def ended(self) -> bool:
        """Whether the search has ended, for any reason."""
        return self.recording.status != RUNNING

    @property
    def paused(self) -> bool:
        """Whether the search is paused, by its latest progress."""
        return not self.ended and (self.recording.progress or {}).get("paused") is True

    @property
    def updated(self) -> str | None:
        """The time of the latest progress, in UTC."""
        at = self.recording.updated
        return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def gather(path: str | os.PathLike[str], name: str | None = None, arms: int = 200) -> Contents:
    """Read a search and compute its certificate again; pickled candidates are not loaded.

    Examples
    --------
    >>> gather("/nowhere.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got '/nowhere.db'
    """
    recording = read(path, name)
    certificate, session = _replayed(recording)
    now = None if certificate is None else _standing(recording, session, certificate)
    known = Candidates(map(shown, recording.arms), longest=LONGEST + 1)
    rows = [] if now is None or certificate is None else _table(known, now, certificate, session)
    parameters = [(name, known.is_number(name)) for name in known.names]
    chosen = [row for row in rows if row.chosen]
    noted = [one for one in recording.failures if one.action not in SILENT]
    failures = [Failed(recording.asks[one.order][0], one.after, one.reason, one.action) for one in noted[:FAILURES]]
    counts = dict(sorted(Counter(one.action for one in noted).items()))
    file = legible(os.path.basename(os.fspath(path)))
    table = rows[:arms], len(rows), parameters
    return Contents(file, recording, session, now, certificate, *table, chosen, failures, counts)


def _replayed(recording: Recording) -> tuple[Certificate | None, Session]:
    """The certificate, computed again or for the search so far, and the replayed search."""
    if recording.certificate is not None:
        return confirmed(recording)
    session = Session.replayed(recording, None)
    if session.history.t == 0:
        return None, session
    candidates = [PICKLED if isinstance(one, bytes) else one for one in session.candidates]
    reason = "stopped" if session.stopped else RUNNING
    digest = fingerprint(recording)
    return certify(session, session.task, reason, candidates, session.actions, digest, session.version), session


def _standing(recording: Recording, session: Session, certificate: Certificate) -> Standing:
    """The standing, with the name, status and certificate of the file."""
    return stand(session, name=recording.name, status=recording.status, certificate=certificate)


def _table(known: Candidates, now: Standing, certificate: Certificate, session: Session) -> list[Arm]:
    """All arms: the chosen ones, then the best means, then arms without a reward."""
    chosen, seed, pool = set(certificate.selection), session.task.seed, session.task.pool
    sign = 1.0 if now.minimise else -1.0

    def place(row: Row) -> tuple[Any, ...]:
        return row.arm not in chosen, row.mean is None, sign * (row.mean or 0.0), row.arm

    def arm(row: Row) -> Arm:
        few, exact = (clipped(one[row.arm]) if row.arm < len(one) else "" for one in (known.texts, known.exact))
        index = place_in_list(seed, pool, row.arm) if pool else None
        return Arm(row, few, exact, row.arm in chosen, list(map(clipped, known.cells(row.arm))), index)

    return [arm(row) for row in sorted(now.rows, key=place)]


def clipped(text: str) -> str:
    """The text, cut after :data:`LONGEST` characters.

    Examples
    --------
    >>> clipped("short"), len(clipped("x" * 5000))
    ('short', 401)
    """
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def as_text(value: Any) -> str:
    """A value of the certificate as JSON without escapes.

    Examples
    --------
    >>> as_text({"word": "café"})
    '{"word": "café"}'
    """
    return legible(json.dumps(value, ensure_ascii=False))
