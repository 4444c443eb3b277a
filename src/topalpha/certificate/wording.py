"""The wording of a certificate: assumptions, bounds, and the statement."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from topalpha.algorithms import entry
from topalpha.ask_tell import Task
from topalpha.confidence import WORDS
from topalpha.confidence.lost import LostBounds, LostEvidence
from topalpha.families import describe
from topalpha.rules.protocol import Algorithm, Certifier, Conditional
from topalpha.storage.encoding import PICKLED, decode
from topalpha.theory.pool import top_size

if TYPE_CHECKING:
    from topalpha.certificate.document import Certificate

#: How many levels of lists and mappings of a candidate are quoted; deeper ones become text.
DEEPEST = 100

#: Why a search ended, in words; other reasons are used as they are.
REASONS = {
    "stopped": "the stopping rule was met",
    "pulls": "the budget of pulls was spent",
    "seconds": "the budget of seconds was spent",
    "cost": "the budget of costs was spent",
    "interrupted": "it was interrupted",
    "terminated": "it was told to terminate",
    "hangup": "its terminal was closed",
    "lost": "so many pulls were lost that the others cannot settle it",
    "failed": "a pull failed",
    "message": "it was told to end",
    "vanished": "the file that it was recorded in was lost",
    "running": "it is still running",
}


#: Notes about pulls that are not failures.
SILENT = ("idle", "begun")


def assumptions(task: Task, algorithm: Algorithm, failures: Mapping[str, int]) -> tuple[str, ...]:
    """The assumptions of the proof, in sentences."""
    drawn = "in an order drawn at random" if task.pool else "independently, from one law, whatever was seen before"
    exact = (f"Rewards have exactly the law {describe(algorithm.family)}.",)
    law = exact if algorithm.traits.exact_law else task.model.assumptions
    found = [f"Candidates were drawn {drawn}.", *law]
    if isinstance(algorithm, Conditional):
        found.extend(algorithm.conditions())
    if task.items:
        found.append("An evaluation on one item gives the same result whenever it is made.")
    else:
        found.append("Given the candidate, its pulls are independent of each other.")
    if algorithm.traits.independent:
        found.append("Rewards of different candidates are independent: no shared seeds, folds or order of items.")
    if again := failures.get("again", 0):
        which = "One pull was" if again == 1 else f"{again} pulls were"
        chance = "whether a pull is lost does not depend on its outcome"
        found.append(f"{which} begun and lost, to be evaluated again: {chance}.")
    elif task.on_lost == "again":
        found.append("A pull that had to be repeated, after a crash or a lost worker, gives what it would have given.")
    if lost := failures.get("lost", 0):
        which = "One lost pull counts" if lost == 1 else f"{lost} lost pulls count"
        found.append(f"{which} as the largest reward in an upper bound and as the smallest one in a lower bound.")
    if failures.get("retry"):
        success = "if failing depends on the reward, the claim is about rewards given success"
        found.append(f"Pulls that failed were evaluated again: {success}.")
    if failures.get("worst"):
        found.append("Pulls that failed count as the worst reward.")
    return tuple(found)


def legible(candidate: Any) -> Any:
    """The candidate as JSON, else its ``repr`` without the address in memory.

    Examples
    --------
    >>> legible({"rate": 0.1, "shape": (2, 3), "kind": object()})
    {'rate': 0.1, 'shape': [2, 3], 'kind': '<object object>'}
    """
    return _legible(candidate, DEEPEST)


def _legible(candidate: Any, levels: int) -> Any:
    if isinstance(candidate, np.generic):
        candidate = candidate.item()
    if candidate is None or isinstance(candidate, bool | int | str):
        return candidate
    if isinstance(candidate, float) and math.isfinite(candidate):
        return candidate
    if levels > 0:
        if isinstance(candidate, Mapping) and all(isinstance(key, str) for key in candidate):
            return {key: _legible(value, levels - 1) for key, value in candidate.items()}
        if isinstance(candidate, list | tuple):
            return [_legible(value, levels - 1) for value in candidate]
        if isinstance(candidate, set | frozenset):
            return sorted((_legible(value, levels - 1) for value in candidate), key=repr)
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", repr(candidate))
    except Exception:  # a user's class may raise anything, and the result of the search must not be lost
        return f"<{type(candidate).__qualname__} object>"


def quoted(raw: str | bytes) -> Any:
    """A stored candidate as a certificate quotes it: as it was drawn, without later changes of the object.

    A pickle is loaded, and may run any code.

    Examples
    --------
    >>> quoted('{"rate":0.1}')
    {'rate': 0.1}
    """
    try:
        candidate = decode(raw, allow_pickle=True)
    except Exception:  # as above
        return PICKLED
    return legible(candidate)


#: Former descriptions of bounds in certificates, and today's for the same bounds.
FORMER_BOUNDS = {
    "Running bounds of a score on items items, with the shifts for epsilon.": (
        "Running bounds of a score on a test set drawn without replacement, with the shifts for epsilon."
    ),
    "Evidence about a score on items items, with the shifts for epsilon; threshold is ln(1/delta_u).": (
        "Evidence about a score on a test set drawn without replacement; threshold is ln(1/delta_u)."
    ),
}


def bounds(algorithm: Any) -> str:
    """A sentence that describes the algorithm's bounds.

    Examples
    --------
    >>> from topalpha import design
    >>> bounds(design("cc-lucb", 0.1, 0.1, 0.1))
    'Running bounds from tilt mixtures with the grid for epsilon.'
    """
    if not isinstance(algorithm, Certifier):
        return f"None of its own at any time: {entry(algorithm.traits.name).reference}."
    part = _part(algorithm)
    if part is None:
        return f"The bounds of {entry(algorithm.traits.name).reference}."
    if isinstance(part, LostBounds | LostEvidence):
        return f"{WORDS[type(part[0])]} {WORDS[type(part)]}"
    return WORDS.get(type(part)) or _first_line(type(part))


def former_bounds(algorithm: Any) -> list[str]:
    """Former descriptions of the same bounds.

    ``python -OO`` left certificates without a docstring to quote.

    Examples
    --------
    >>> from topalpha import design
    >>> former_bounds(design("cc-lucb", 0.1, 0.1, 0.1))
    ['TiltBounds(family, epsilon, upper_threshold, lower_threshold)']
    """
    part = _part(algorithm)
    if part is None or not isinstance(algorithm, Certifier):
        return []
    now = bounds(algorithm)
    former = [old for old, new in FORMER_BOUNDS.items() if new == now]
    return [*former, f"{type(part).__name__}({', '.join(part._fields)})"]


def _part(algorithm: Any) -> Any:
    return getattr(algorithm, "confidence", None) or getattr(algorithm, "evidence", None)


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0].replace("`", "")


def levels(algorithm: Any) -> dict[str, float]:
    """All numbers of a design by name, including those of its parts."""
    found: dict[str, float] = {}
    for name, value in zip(algorithm._fields, algorithm, strict=True):
        if isinstance(value, tuple):
            found.update({f"{name}.{inner}": number for inner, number in levels(value).items()})
        elif isinstance(value, bool) or math.isfinite(value):
            found[name] = value
    return found


def top(certificate: Certificate, alpha: float) -> str:
    """The name of the top alpha: "the best" if it is one candidate of a list.

    The numbers of the design include the size of a list.
    """
    pool = int(certificate.levels.get("pool", 0))
    if pool and top_size(pool, alpha) == 1:
        return "the best (smallest)" if certificate.minimise else "the best"
    return f"the {'best (smallest)' if certificate.minimise else 'top'} {100.0 * alpha:.4g}%"


def statement(certificate: Certificate, subject: str = "", refutation: str = "") -> str:
    """The certificate in words.

    ``subject`` is "the mean of arm 3 is" or the like; ``refutation`` is the proved statement in place of the claims.

    Examples
    --------
    >>> from topalpha import Search
    >>> from topalpha.certificate.document import certify
    >>> task = Task(0.3, 0.4, 0.2, algorithm="cc-lucb")
    >>> search = Search(task.design())
    >>> while (pull := search.ask()) is not None and search.told < 11:
    ...     search.tell(pull, float(pull.arm == 2))
    >>> print(certify(search, task, "pulls").statement[:99])
    The search ended because the budget of pulls was spent. With probability at least 0.8, the mean of
    """
    ended = f"The search ended because {REASONS.get(certificate.reason, certificate.reason)}."
    if certificate.reason == "running":
        ended = "The search has not ended."
    sure = f"With probability at least {1.0 - certificate.delta:.10g}"
    if refutation:
        return f"{ended} {sure}, {refutation}."
    if not certificate.claims:
        why = f": {certificate.algorithm} proves nothing at its end" if certificate.reason == "stopped" else ""
        return f"{ended} Nothing is proved{why}."
    told = certificate.claims[:1] if certificate.reason == "stopped" else certificate.claims[:3]
    parts = [f"within {claim.epsilon:.4g} of {top(certificate, claim.alpha)}" for claim in told]
    words = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    together = ", all at once" if len(parts) > 1 else ""
    subject = subject or f"the mean of arm {certificate.arm} is"
    if len(certificate.selection) > 1:
        subject = f"the means of arms {', '.join(map(str, certificate.selection))} are each"
    return f"{ended} {sure}, {subject} {words} of {certificate.law}{together}."
