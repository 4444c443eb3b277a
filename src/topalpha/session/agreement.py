"""Whether a certificate and its figures agree with the recorded pulls."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from topalpha.ask_tell import Search, Task, figures_of, fingerprint, steps
from topalpha.certificate import REASONS, Certificate, bounds, certify, former, part_of
from topalpha.rules.protocol import SUM, Certifier
from topalpha.session.progress import is_history, survey
from topalpha.storage import Recording, Row
from topalpha.storage.encoding import quoted

#: Ends of a search at which earlier versions did not update the figures.
_WITHOUT_LAST_FIGURES = ("failed", "interrupted")
#: Entries of the progress that depend only on rewards, not on pulls in flight.
_AT_ANY_TIME = ("pulls", "leader", "mean", "low", "high")

#: Former descriptions of bounds in certificates, and today's for the same bounds.
FORMER_BOUNDS = {
    "Running bounds of a score on items items, with the shifts for epsilon.": (
        "Running bounds of a score on a test set drawn without replacement, with the shifts for epsilon."
    ),
    "Evidence about a score on items items, with the shifts for epsilon; threshold is ln(1/delta_u).": (
        "Evidence about a score on a test set drawn without replacement; threshold is ln(1/delta_u)."
    ),
}


class Refuted(ValueError):
    """A certificate that disagrees with its record.

    Examples
    --------
    >>> raise Refuted("pulls must be what the record bears out, got 10 where the record gives 11")
    Traceback (most recent call last):
    topalpha.session.agreement.Refuted: pulls must be what the record bears out, got 10 where the record gives 11
    """


def borne_out(
    recording: Recording,
    claimed: Mapping[str, Any],
    search: Search,
    task: Task,
    actions: Iterable[tuple[int, str]],
    version: str,
    *,
    candidate: bool = True,
) -> Certificate:
    """The certificate of the replayed search; raise :class:`Refuted` unless it equals the one ``claimed``.

    Without ``candidate`` no candidate is loaded, and the certificate's quotation of it is not compared.
    """
    if search.history.t == 0:
        raise Refuted("record must hold a reward, got none")
    reason = str(claimed.get("reason"))
    if reason not in REASONS:
        raise Refuted(f"reason must be one of {', '.join(REASONS)}, got {reason!r}")
    if (reason == "stopped") != search.stopped:
        found = "is" if search.stopped else "is not"
        raise Refuted(f"reason must be what the record bears out, got {reason!r}: the stopping rule {found} met")
    if recording.status != reason:
        raise Refuted(f"status must be the certificate's reason, {reason!r}, got {recording.status!r}")
    digest = fingerprint(recording)
    quote = quoted if candidate else lambda raw: claimed.get("candidate")
    certificate = certify(search, task, reason, recording.arms, actions, digest, version, quote=quote)
    true = certificate.to_dict()
    before = former(certificate, task, search.refutation)
    if (claimed.get("law"), claimed.get("statement")) == (before.law, before.statement):
        true |= {"law": before.law, "statement": before.statement}
    if claimed.get("bounds") in former_bounds(search.algorithm):
        true["bounds"] = claimed["bounds"]  # former wording of the same bounds
    if len(true["selection"]) > 1 and claimed.get("others_at_best") == _former_others(search):
        true["others_at_best"] = claimed["others_at_best"]
    # A target may be recorded in other types than today's, such as text for a number: it was checked with the task.
    asked = recording.config["task"]
    stated = true | {entry: asked[entry] for entry in ("alpha", "epsilon", "minimise", "options") if entry in asked}
    for entry in sorted(set(stated) | set(claimed)):
        if entry not in stated or entry not in claimed or _text(stated[entry]) != _text(claimed[entry]):
            shown = f"{claimed.get(entry)!r} where the record gives {stated.get(entry)!r}"
            raise Refuted(f"{entry} must be what the record bears out, got {shown}")
    return Certificate.from_dict(true)


def figures_borne_out(recording: Recording, search: Search, fresh: Search) -> None:
    """Raise :class:`Refuted` unless the figures of the arms and of the progress are those of the replayed search.

    Each must be as shown at the end, or at an earlier moment: former versions did not update figures of arms without
    new rewards. ``fresh`` is the same search at its beginning, which is run again to look for such a moment.
    """
    said = {} if recording.progress is None else dict(recording.progress)
    history = said.pop("history", [])
    before: list[Row] = []
    last = said.get("pulls") == search.history.t
    _history_borne_out(history, said, search.history.t)
    if said and not last and recording.status not in _WITHOUT_LAST_FIGURES:
        raise Refuted(f"progress must be that of {search.history.t} pulls, the last, got {said.get('pulls')!r}")
    if said and last:
        # Up to version 0.2.0 the last figures, too, were about the algorithm's choice.
        _progress_borne_out(said, search, recording.certificate is not None and "over" in said)
    rewards = search.rewards
    if last and len(recording.snapshot) != len(rewards):
        shown = f"{len(recording.snapshot)}: there are {len(rewards)}"
        raise Refuted(f"figures must be of all arms drawn, got those of {shown}")
    for row in recording.snapshot:
        _counts_borne_out(row, search, rewards, last)
        if row != figures_of(search, row.arm):
            before.append(row)
    if before or (said and not last):
        _borne_out_before(recording, fresh, before, {} if last else said)


def _progress_borne_out(said: Mapping[str, Any], search: Search, ended: bool) -> None:
    true = survey(search, ended=ended).to_dict()
    if "over" not in said:
        true["unresolved"] = _former_unresolved(search)
    if "evidence" not in said:
        true["left"] = _former_left(search, true["about"])
    for entry, value in said.items():
        if entry not in true or _text(value) != _text(true[entry]):
            shown = f"{value!r} where the record gives {true.get(entry)!r}"
            raise Refuted(f"{entry} of the progress must be what the record bears out, got {shown}")


def _history_borne_out(history: Any, said: Mapping[str, Any], told: int) -> None:
    """Check the order of the moments, and the gap of the last against the progress; proofs of all would take long."""
    sound = is_history(history)
    if sound and history:
        pulls, gap = history[-1]
        known = pulls == said.get("pulls") and said.get("gap") is not None
        sound = pulls <= told and (not known or gap == max(said["gap"], 0.0))
    if not sound:
        raise Refuted(f"history of the progress must be what the record bears out, got {history!r}")


def _former_unresolved(search: Search) -> int:
    """``unresolved`` up to version 0.2.0: all but the leader, by its bound alone, including arms not drawn."""
    pulls, best = search.history.pulls[: search.history.arms], search.best
    level = search.lower(best) + search.algorithm.epsilon
    seen = [arm for arm, count in enumerate(pulls) if count]
    found = sum(search.upper(arm) > level for arm in seen if arm != best) + search.algorithm.arms - len(seen)
    return 0 if search.stopped else found


def _former_left(search: Search, about: int | None) -> int | None:
    """``left`` up to version 0.2.0, which needed a proof for the target's alpha."""
    if search.stopped or about is None:
        return 0 if search.stopped else None
    history, algorithm = search.history, search.algorithm
    pulls = history.pulls[: history.arms]
    claims = search.claims(about)
    if sum(map(bool, pulls)) != algorithm.arms or not claims or claims[0].alpha != algorithm.alpha:
        return None
    level = history.stats[SUM][about] / pulls[about] + 0.5 * algorithm.epsilon
    close = [count for arm, count in enumerate(pulls) if arm == about or search.upper(arm) > level]
    ratio = claims[0].epsilon / abs(search.model.factor) / algorithm.epsilon
    return remaining(close, ratio, algorithm.family.capacity)


def remaining(pulls: Sequence[int], ratio: float, most: float = math.inf) -> int | None:
    """The estimate up to version 0.2.0, which was far too high: now :mod:`topalpha.ask_tell.forecast` has it.

    As if the proved epsilon, ``ratio`` times the target's, shrank with the square root of the pulls N of each close
    arm; on a finite test set of ``most`` items, with that of 1/N - 1/most.

    Examples
    --------
    >>> remaining([60, 40], 2.0), remaining([60, 40], 0.9), remaining([60, 40], math.inf)
    (300, 0, None)
    >>> remaining([60, 40], 2.0, 68), remaining([68], 2.0, 68)
    (24, 0)
    """
    if math.isinf(ratio):
        return None
    total = 0.0
    for one in pulls:
        narrow = 1.0 / most + (1.0 / one - 1.0 / most) / max(ratio, 1.0) ** 2
        total += 1.0 / narrow - one
    return round(total)


def _former_others(search: Search) -> float:
    """``others_at_best`` up to version 0.2.0 for several chosen arms: all but the first, chosen or not."""
    uppers = (search.upper(arm) for arm in range(search.history.arms) if arm != search.best)
    return search.model.to_user(max(uppers, default=-math.inf))


def _counts_borne_out(row: Row, search: Search, rewards: list[list[float]], last: bool) -> None:
    """Check pulls and mean, which must be those of the arm's first rewards, at the end of all its rewards."""
    drawn = 0 <= row.arm < len(rewards)
    pulls, pending = (len(rewards[row.arm]), search.history.pending[row.arm]) if drawn else (-1, 0)
    if not 0 <= row.pulls <= pulls or (last and (row.pulls, row.pending) != (pulls, pending)):
        found = f"it has {pulls}, and {pending}" if drawn else "there is no such arm"
        shown = f"{row.pulls} pulls, and {row.pending} in flight: {found}"
        raise Refuted(f"figures of arm {row.arm} must be what the record bears out, got {shown}")
    total = 0.0
    for reward in rewards[row.arm][: row.pulls]:
        total += search.model.to_internal(reward)
    mean = search.model.to_user(total / row.pulls) if row.pulls else None
    if mean != row.mean:
        raise Refuted(f"mean of arm {row.arm} must be what the record bears out, got {row.mean!r} for {mean!r}")


def _borne_out_before(recording: Recording, fresh: Search, rows: list[Row], said: Mapping[str, Any]) -> None:
    """Check at every moment; refuse figures that agree with none."""
    waiting, unsaid = {row.arm: row for row in rows}, dict(said)
    for _ in steps(recording, fresh):
        for arm in [arm for arm, row in waiting.items() if _shows(fresh, row)]:
            del waiting[arm]
        if unsaid and unsaid.get("pulls") == fresh.history.t:
            true = survey(fresh, proved=False).to_dict()
            if all(unsaid.get(entry) == true[entry] for entry in _AT_ANY_TIME):
                unsaid = {}
    for arm, row in waiting.items():
        shown = f"[{row.lower!r}, {row.upper!r}] after {row.pulls} pulls"
        raise Refuted(f"bounds of arm {arm} must be what the record bears out, got {shown}")
    if unsaid:
        raise Refuted(f"progress must be what the record bears out, got {unsaid!r}")


def _shows(search: Search, row: Row) -> bool:
    """Whether the arm has these bounds now; pulls in flight come and go between two rewards."""
    if row.arm >= search.history.arms or search.history.pulls[row.arm] != row.pulls:
        return False
    return figures_of(search, row.arm)._replace(pending=row.pending) == row


def _text(value: Any) -> str:
    """The value as JSON, so that 0 differs from false."""
    return json.dumps(value, sort_keys=True)


def former_bounds(algorithm: Any) -> list[str]:
    """Former descriptions of the same bounds.

    ``python -OO`` left certificates without a docstring to quote.

    Examples
    --------
    >>> from topalpha import design
    >>> former_bounds(design("cc-lucb", 0.1, 0.1, 0.1))
    ['TiltBounds(family, epsilon, upper_threshold, lower_threshold)']
    """
    part = part_of(algorithm)
    if part is None or not isinstance(algorithm, Certifier):
        return []
    now = bounds(algorithm)
    former = [old for old, new in FORMER_BOUNDS.items() if new == now]
    return [*former, f"{type(part).__name__}({', '.join(part._fields)})"]
