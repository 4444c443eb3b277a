"""Whether a certificate is what the recorded pulls prove: everything is computed again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from topalpha.certificate import Certificate, certify
from topalpha.replay import fingerprint
from topalpha.session import Session
from topalpha.storage import Recording, StorageError, read
from topalpha.storage.encoding import PICKLED
from topalpha.validate import flag, require
from topalpha.wording import FORMER_BOUNDS, REASONS


class Refuted(ValueError):
    """A certificate that the record does not bear out.

    Examples
    --------
    >>> raise Refuted("pulls must be what the record bears out, got 10 where the record gives 11")
    Traceback (most recent call last):
    topalpha.verification.Refuted: pulls must be what the record bears out, got 10 where the record gives 11
    """


def verify(
    path: str | os.PathLike[str],
    name: str | None = None,
    certificate: Certificate | Mapping[str, Any] | None = None,
    *,
    allow_pickle: bool = False,
) -> Certificate:
    """Replay a recorded search, compute its certificate again, and return it if it is the one on record.

    Every ask must be what the algorithm asks for after the rewards before it; the claims, the bounds, the counts and
    the fingerprint of the whole record must come out the same. Anything else raises :class:`Refuted`. What this cannot
    know is whether the recorded rewards are those that the evaluations gave.

    Parameters
    ----------
    path, name
        The file, and which search in it if there are several.
    certificate
        One that was handed on separately, to be compared with the record; the one in the file unless given.
    allow_pickle
        Candidates that were pickled are not loaded, for that can run any code; the certificate that is returned then
        says "(pickled)" for the recommended one. With True they are loaded, and how it looks is compared, too: only
        for a file that you trust.

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
    """The same for a recording that was read, with the search that it replays to."""
    given = recording.certificate if certificate is None else certificate
    mapped = given is None or isinstance(given, Certificate | Mapping)
    require(mapped, "certificate", "be a Certificate or its entries by name", given)
    if given is None:
        raise Refuted(f"certificate must be on record, got none: the search {recording.name!r} has not ended")
    claimed = given.to_dict() if isinstance(given, Certificate) else dict(given)
    try:
        session = Session.replayed(recording, allow_pickle or None)
        if any(isinstance(raw, bytes) != recording.pickled for raw in recording.arms):
            raise Refuted("candidates must be pickles where the search was created with pickle, and nowhere else")
    except StorageError as error:
        raise Refuted(str(error)) from error
    except Exception as error:  # a record that was altered can fail in any way: all of them say that it was
        raise Refuted(f"record must replay, got {type(error).__name__}: {error}") from error
    if session.history.t == 0:
        raise Refuted("record must hold a reward, got none")
    reason = str(claimed.get("reason"))
    if reason not in REASONS:
        raise Refuted(f"reason must be one of {', '.join(REASONS)}, got {reason!r}")
    if (reason == "stopped") != session.stopped:
        found = "is" if session.stopped else "is not"
        raise Refuted(f"reason must be what the record bears out, got {reason!r}: the stopping rule {found} met")
    if recording.status != reason:
        raise Refuted(f"status must be the certificate's reason, {reason!r}, got {recording.status!r}")
    digest = fingerprint(recording)
    true = certify(
        session, session.task, reason, session.candidates, session.actions, digest, session.version
    ).to_dict()
    # A target may have been kept in other types than are kept now, text for a number: it was checked with the task.
    asked = recording.config["task"]
    given = {entry: asked[entry] for entry in ("alpha", "epsilon", "minimise", "options") if entry in asked}
    if recording.pickled and not allow_pickle:  # how it looks cannot be compared, and is not repeated
        true["candidate"], given["candidate"] = PICKLED, claimed.get("candidate")
    if FORMER_BOUNDS.get(str(claimed.get("bounds"))) == true["bounds"]:
        true["bounds"] = claimed["bounds"]  # other words for the same bounds
    stated = {**true, **given}
    for entry in sorted(set(stated) | set(claimed)):
        if entry not in stated or entry not in claimed or _text(stated[entry]) != _text(claimed[entry]):
            shown = f"{claimed.get(entry)!r} where the record gives {stated.get(entry)!r}"
            raise Refuted(f"{entry} must be what the record bears out, got {shown}")
    return Certificate.from_dict(true), session


def _text(value: Any) -> str:
    """The value as JSON writes it: a 0 for a false is a change, too."""
    return json.dumps(value, sort_keys=True)
