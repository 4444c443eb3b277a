"""The certificate: the claims, their law, their assumptions and their data, in figures and in words."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from topalpha import __version__
from topalpha.algorithms import entry
from topalpha.ask_tell import Search, Standing, Task, score, several, spent, stand
from topalpha.confidence import LOST, WORDS
from topalpha.display.candidate_names import called
from topalpha.display.printing import Printed
from topalpha.families import describe
from topalpha.rules.protocol import Algorithm, Certifier, Claim, Conditional
from topalpha.storage.encoding import clip, quotation
from topalpha.theory.arm_counts import top_size
from topalpha.validate import choice, require

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

# How many characters of a candidate are printed.
_LONGEST = 400


@dataclass(frozen=True)
class Certificate(Printed):
    """The proof of a search: its claims, their law, the assumptions and the data.

    Attributes
    ----------
    statement
        The certificate in words.
    arm, candidate
        The recommended arm and its candidate, as JSON or as text.
    selection
        All arms that the claims are about, each separately: the recommended one, or several if several were looked for.
    alpha, epsilon, delta
        The target.
    claims
        Proved pairs of alpha and epsilon, all true at once with probability at least 1 - delta. The first is the target
        if the stopping rule was met. Empty if nothing is proved.
    law, minimise
        The law that the claims are about, and whether its top are small rewards.
    assumptions
        Conditions without which nothing is proved.
    algorithm, options, bounds, levels, proof
        The stopping rule: the algorithm, the kind of its bounds, all numbers of its design, and the place of its proof.
    arms, pulls
        Candidates drawn, and rewards that count.
    mean, at_worst, others_at_best
        The arm's empirical mean, the worst that its true mean may be, and the best that any arm outside the selection
        may be.
    reason
        Why the search ended.
    failures
        How many failed pulls were tried again or counted as the worst reward, and how many that never came back were
        evaluated again or counted as lost.
    seed, version, digest
        The seed, the version of the package, and a fingerprint of the whole record.

    Examples
    --------
    >>> from topalpha.ask_tell import Task
    >>> task = Task(0.3, 0.4, 0.2, algorithm="cc-lucb")
    >>> search = Search(task.design())
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, float(pull.arm == 2))
    >>> certificate = certify(search, task, "stopped")
    >>> certificate.arm, certificate.claims
    (2, (Claim(alpha=0.3, epsilon=0.4),))
    >>> Certificate.from_dict(json.loads(certificate.to_json())) == certificate
    True
    """

    statement: str
    arm: int
    candidate: Any
    selection: tuple[int, ...]
    alpha: float
    epsilon: float
    delta: float
    claims: tuple[Claim, ...]
    law: str
    minimise: bool
    assumptions: tuple[str, ...]
    algorithm: str
    options: dict[str, Any]
    bounds: str
    levels: dict[str, float]
    proof: str
    arms: int
    pulls: int
    mean: float
    at_worst: float | None
    others_at_best: float | None
    reason: str
    failures: dict[str, int]
    seed: int
    version: str
    digest: str | None = None

    @property
    def proved(self) -> bool:
        """Whether the target is proved."""
        return self.reason == "stopped" and bool(self.claims)

    @property
    def mean_in_words(self) -> str:
        """The mean, and the bound on the true mean if anything is proved."""
        return score(self.mean, self.at_worst if self.claims else None, self.minimise)

    def _facts(self) -> list[tuple[str, str]]:
        found = [("proved", self.statement)]
        if self.candidate is not None:
            text = json.dumps(self.candidate, ensure_ascii=False, default=str)
            found.append(("candidate", clip(text, _LONGEST)))
        found += [("score", self.mean_in_words), ("spent", spent(self.pulls, self.arms))]
        assumed = zip(("assumed", *[""] * len(self.assumptions)), self.assumptions, strict=False)
        return [*found, *assumed, ("proof", f"{self.algorithm}: {self.proof}")]

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        values = asdict(self)
        values["claims"] = [claim._asdict() for claim in self.claims]
        values["assumptions"] = list(self.assumptions)
        values["selection"] = list(self.selection)
        return values

    def to_json(self) -> str:
        """As strict JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """The certificate from the result of :meth:`to_dict`."""
        known = set(cls.__dataclass_fields__)
        require(set(values) == known, "certificate", f"have exactly the entries {', '.join(sorted(known))}", values)
        claims = tuple(_claim(claim) for claim in values["claims"])
        lists = {name: tuple(values[name]) for name in ("assumptions", "selection")}
        return cls(**{**values, "claims": claims, **lists})


def _claim(value: Any) -> Claim:
    """A claim as :meth:`Certificate.to_dict` gave it."""
    whole = isinstance(value, Mapping) and set(value) == set(Claim._fields)
    require(whole, "claim", f"have exactly the entries {', '.join(Claim._fields)}", value)
    return Claim(**value)


def certify(
    search: Search,
    task: Task,
    reason: str,
    candidates: Sequence[Any] = (),
    actions: Iterable[tuple[int, str]] = (),
    digest: str | None = None,
    version: str = __version__,
    quote: Callable[[Any], Any] = quotation,
    now: Standing | None = None,
) -> Certificate:
    """The certificate of a search as it stands; ``actions`` are the actions taken about failed pulls, by order.

    ``quote`` turns a candidate into its quotation; ``now`` is the standing, if it is already known.
    """
    choice("reason", reason, REASONS)
    stopped = "not be 'stopped' before the stopping rule is met, nor anything else after it"
    require((reason == "stopped") == search.stopped, "reason", stopped, reason)
    now = stand(search) if now is None else now
    algorithm, arm = search.algorithm, now.about
    assert arm is not None  # there is a reward
    row, selection = now.row(arm), now.selection if search.stopped else (arm,)
    assert row.mean is not None
    at_worst = row.upper if now.minimise else row.lower
    # Nothing is known about arms without a reward, and so nothing about the best of all.
    known = len(selection) < now.drawn >= now.wanted and np.count_nonzero(now.pulls) == now.drawn
    # A failure that ended the search was tried again if the search went on and its pull has a reward now.
    failures = Counter(
        "retry" if action == "raise" else action
        for order, action in actions
        if action not in SILENT and (action != "raise" or search.has(order))
    )
    certificate = Certificate(
        statement="",
        arm=arm,
        candidate=quote(candidates[arm]) if arm < len(candidates) else None,
        selection=selection,
        alpha=task.alpha,
        epsilon=task.epsilon,
        delta=task.delta,
        claims=now.claims,
        law=task.law,
        minimise=task.minimise,
        assumptions=assumptions(task, algorithm, failures),
        algorithm=task.algorithm,
        options=dict(task.options),
        bounds=bounds(algorithm),
        levels=levels(algorithm),
        proof=task.proof,
        arms=len(candidates) or now.drawn,
        pulls=now.total,
        mean=row.mean,
        at_worst=at_worst if math.isfinite(at_worst) else None,
        others_at_best=now.others_at_best if known and math.isfinite(now.others_at_best) else None,
        reason=reason,
        failures=dict(sorted(failures.items())),
        seed=task.seed,
        version=version,
        digest=digest,
    )
    return replace(certificate, statement=statement(certificate, refutation=search.refutation))


def assumptions(task: Task, algorithm: Algorithm, failures: Mapping[str, int]) -> tuple[str, ...]:
    """The assumptions of the proof, in sentences."""
    drawn = "in an order drawn at random" if task.pool else "independently, from one law, whatever was seen before"
    exact = (f"Rewards have exactly the law {describe(algorithm.family)}.",)
    law = exact if algorithm.traits.exact_law else task.model.assumptions
    if entry(task.algorithm).shared_order:
        common = "in one random order for all, drawn after the candidates were fixed"
        law = tuple(sentence.replace("in its own random order", common) for sentence in law)
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
    part = part_of(algorithm)
    if part is None:
        return f"The bounds of {entry(algorithm.traits.name).reference}."
    kind, inner = type(part).__name__, type(part[0]).__name__  # former rules have classes of the same names
    if kind in LOST:
        return f"{WORDS[inner]} {WORDS[kind]}"
    return WORDS.get(kind) or _first_line(type(part))


def part_of(algorithm: Any) -> Any:
    """The bounds or the evidence of an algorithm; None if it has neither.

    Examples
    --------
    >>> from topalpha import design
    >>> type(part_of(design("cc-lucb", 0.1, 0.1, 0.1))).__name__
    'TiltBounds'
    """
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
    """The certificate in words: the claim, and then why the search ended.

    ``subject`` is "the score of this is" or the like; ``refutation`` is the proved statement in place of the claims.

    Examples
    --------
    >>> from topalpha import Search
    >>> task = Task(0.3, 0.4, 0.2, algorithm="cc-lucb")
    >>> search = Search(task.design())
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, float(pull.arm == 2))
    >>> print(certify(search, task, "stopped", [{"rate": place / 7} for place in range(9)]).statement)
    With probability at least 0.8, {rate: 0.2857} is within 0.4 of the top 30% of the pool. The search ended because the
    stopping rule was met.
    """
    ended = f"The search ended because {REASONS.get(certificate.reason, certificate.reason)}."
    if certificate.reason == "running":
        ended = "The search has not ended."
    if not subject:
        subject = f"{called(certificate.candidate, certificate.arm)} is"
    if len(chosen := certificate.selection) > 1:
        subject = f"{several(chosen)} is"
    return f"{claimed(certificate, subject, refutation)} {ended}"


def claimed(certificate: Certificate, subject: str, refutation: str = "") -> str:
    """The claims in a sentence about this subject; "Nothing is proved." without any.

    Examples
    --------
    >>> from topalpha import Search
    >>> task = Task(0.3, 0.4, 0.2, algorithm="cc-lucb")
    >>> search = Search(task.design())
    >>> search.tell(search.ask(), 1.0)
    >>> claimed(certify(search, task, "pulls"), "it is")
    'Nothing is proved.'
    """
    sure = f"With probability at least {1.0 - certificate.delta:.10g}"
    if refutation:
        return f"{sure}, {refutation}."
    if not certificate.claims:
        why = f": {certificate.algorithm} proves nothing at its end" if certificate.reason == "stopped" else ""
        return f"Nothing is proved{why}."
    told = certificate.claims[:1] if certificate.reason == "stopped" else certificate.claims[:3]
    parts = [f"within {claim.epsilon:.4g} of {top(certificate, claim.alpha)}" for claim in told]
    words = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    together = ", all at once" if len(parts) > 1 else ""
    return f"{sure}, {subject} {words} of {certificate.law}{together}."
