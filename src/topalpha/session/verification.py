"""Verification: the certificate is computed again from the recorded pulls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from topalpha.ask_tell import Search
from topalpha.certificate import Certificate, statement
from topalpha.session.agreement import Refuted, borne_out, figures_borne_out
from topalpha.session.recorded_search import Session
from topalpha.storage import Recording, read
from topalpha.storage.encoding import PICKLED
from topalpha.validate import flag, require

__all__ = ["Refuted", "confirmed", "verify"]


def verify(
    path: str | os.PathLike[str],
    name: str | None = None,
    certificate: Certificate | Mapping[str, Any] | None = None,
    *,
    allow_pickle: bool = False,
) -> Certificate:
    """Replay a recorded search, compute its certificate again, and return it if it equals the recorded one.

    Every ask must be what the algorithm asks for after the rewards before it; the claims, the bounds, the counts and
    the fingerprint of the whole record must come out the same, and so must the figures of its last snapshot. Anything
    else raises :class:`Refuted`. It cannot check that the evaluations gave the recorded rewards,
    nor what no pull bears out: the search's name, when it was begun, and why it ended early.

    Parameters
    ----------
    path, name
        The file, and the name of the search if there are several.
    certificate
        Another copy of the certificate, to compare with the record; by default the one in the file.
    allow_pickle
        Pickled candidates are not loaded, because that can run any code; the returned certificate then says "(pickled)"
        for the recommended one. With True they are loaded, and the quotation is compared too: only for a file that you
        trust.

    Examples
    --------
    >>> import tempfile, topalpha
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = topalpha.search(
    ...         lambda rng: 0.25, lambda arm, rng: arm, alpha=0.5, epsilon=0.5, delta=0.1, storage=f"{folder}/search.db"
    ...     )
    ...     topalpha.verify(f"{folder}/search.db") == found.certificate
    True
    """
    return confirmed(read(path, name), certificate, allow_pickle=flag("allow_pickle", allow_pickle))[0]


def confirmed(
    recording: Recording,
    certificate: Certificate | Mapping[str, Any] | None = None,
    *,
    allow_pickle: bool = False,
) -> tuple[Certificate, Session]:
    """The same for a recording, with the replayed search."""
    given = recording.certificate if certificate is None else certificate
    mapped = given is None or isinstance(given, Certificate | Mapping)
    require(mapped, "certificate", "be a Certificate or its entries by name", given)
    if given is None:
        raise Refuted(f"certificate must be on record, got none: the search {recording.name!r} has not ended")
    claimed = given.to_dict() if isinstance(given, Certificate) else dict(given)
    try:
        session = Session.replayed(recording, allow_pickle or None)
    except ValueError as error:
        raise Refuted(str(error)) from error
    if any(isinstance(raw, bytes) != recording.pickled for raw in recording.arms):
        raise Refuted("candidates must be pickles where the search was created with pickle, and nowhere else")
    task, seen = session.task, allow_pickle or not recording.pickled
    true = borne_out(recording, claimed, session, task, session.actions, session.version, candidate=seen)
    figures_borne_out(recording, session, Search(task.design(), task.seed, model=task.model))
    return true if seen else _without_candidate(true, session.refutation), session


def _without_candidate(true: Certificate, refutation: str) -> Certificate:
    """The certificate without a candidate that was not loaded: how it looks was not compared, and is not repeated."""
    hidden = replace(true, candidate=PICKLED)
    named = true.statement == statement(true, refutation=refutation)  # former sentences name the arm
    return replace(hidden, statement=statement(hidden, refutation=refutation)) if named else hidden
