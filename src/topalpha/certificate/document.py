"""The certificate: the claims, their law, their assumptions and their data."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from topalpha import __version__
from topalpha.ask_tell import Search, Standing, Task, stand
from topalpha.certificate.wording import REASONS, SILENT, assumptions, bounds, legible, levels, statement
from topalpha.rules.protocol import Claim
from topalpha.validate import choice, require


@dataclass(frozen=True)
class Certificate:
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
    quote: Callable[[Any], Any] = legible,
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
