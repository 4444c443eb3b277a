"""Rounds of boosting: the question of each, and the certificate of its stump."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from topalpha.algorithms import joint_lucb
from topalpha.algorithms.field import cc_threshold
from topalpha.algorithms.field.cc_threshold import ANSWER
from topalpha.boosting.rows import REMEMBERED, Found, Stump, WeightedRows

# The edge to ask for next. None of this affects the proofs; asking for less, down to .7 of it, or for a little more
# makes about as much progress per second.
_BEGIN = 0.9  # of the edge of a stump without error
_MEMORY = 4  # then the mean exact edge of the last four stumps
_LOWER = 0.7  # after a no, a wrong answer, or a spent budget
# The first question of a round has this share of delta, the k-th later one 1/(k (k + 1)) of the rest.
_FIRST_SHARE = 0.75
# A yes is checked at once, by the pass that AdaBoost makes anyway: its level affects the cost only.
YES_LEVEL = 0.5
# One look at the evidence takes as long as some tens of pulls.
_LEAST_BLOCK = 16
#: Smaller errors and edges are rounding.
ROUNDING = 1e-12
# exp of more would overflow.
_LARGEST_WEIGHT = 700.0


@dataclass(frozen=True)
class RoundCertificate:
    """The proof of a round, given the rounds before; edges are on the training rows, by their weights at the time.

    Attributes
    ----------
    question
        ``edge`` or ``best``.
    asked
        The last edge gamma that was asked for; for ``best`` the one that epsilon followed.
    proved
        Whether there was an answer before ``max_pulls`` were spent. If not, ``edge_at_least`` and ``within`` are None.
    edge_at_least
        ``edge``: the stump's edge is at least this. This is certain: it was checked on every row.
    within
        ``best``: the stump's edge is within this of the top ``alpha`` fraction of stumps.
    refuted
        ``edge``: edges that fewer than a fraction ``alpha`` of stumps reach.
    alpha, delta
        The target. ``within`` and all of ``refuted`` are true with probability at least 1 - ``delta``.
    arms, pulls
        The number of drawn stumps, and of their trials on a row.

    Examples
    --------
    >>> print(RoundCertificate("edge", 0.1, True, 0.05, None, (0.14,), 0.05, 0.01, 280, 9000).statement)
    The edge is at least 0.05. With probability at least 0.99, fewer than 5% of stumps, as drawn, reach an edge of 0.14.
    """

    question: str
    asked: float
    proved: bool
    edge_at_least: float | None
    within: float | None
    refuted: tuple[float, ...]
    alpha: float
    delta: float
    arms: int
    pulls: int

    @property
    def statement(self) -> str:
        """All claims in words."""
        top = f"{100.0 * self.alpha:.4g}%"
        sure = f"With probability at least {1.0 - self.delta:.10g},"
        parts = []
        if self.edge_at_least is not None:
            parts.append(f"The edge is at least {self.edge_at_least:.4g}.")
        if self.within is not None:
            parts.append(f"{sure} the edge is within {self.within:.4g} of the top {top} of stumps.")
        if self.refuted:
            parts.append(f"{sure} fewer than {top} of stumps, as drawn, reach an edge of {min(self.refuted):.4g}.")
        return " ".join(parts) or "Nothing is proved: the pulls were spent."


@dataclass(frozen=True)
class Round:
    """One round: its stump, the stump's exact error and weight, and the certificate."""

    stump: Stump
    error: float
    estimator_weight: float
    certificate: RoundCertificate


@dataclass(frozen=True)
class Asking:
    """The question of every round, and AdaBoost's learning rate."""

    question: str = "edge"
    alpha: float = 0.05
    epsilon: float = 0.5
    delta: float = 0.05
    learning_rate: float = 1.0
    max_pulls: int = 1_000_000

    def ask(self, data: WeightedRows, gamma: float, delta: float, pulls: int) -> Found:
        """Edge: a stump of edge gamma, or of (1 - epsilon) gamma, if any. Best: a stump within epsilon gamma."""
        epsilon = self.epsilon * gamma
        if self.question == "best":
            return data.search(joint_lucb.design(self.alpha, epsilon, delta), pulls)
        threshold = 1.0 / data.kinds + gamma
        question = cc_threshold.design(
            self.alpha, epsilon, delta, threshold=threshold, yes_level=YES_LEVEL, least_block=_LEAST_BLOCK
        )
        return data.search(question, pulls)

    def least(self, gamma: float) -> float:
        """The least edge of an accepted stump, when gamma was asked for."""
        return (1.0 - self.epsilon) * gamma if self.question == "edge" else ROUNDING

    def refutes(self, found: Found) -> bool:
        """Whether the answer was no."""
        return self.question == "edge" and found.stopped and found.state[ANSWER] < 0.0


def rounds(data: WeightedRows, asking: Asking, number: int) -> Iterator[Round]:
    """At most ``number`` rounds of AdaBoost (SAMME); fewer if no stump beats guessing, or if a stump makes no error.

    Examples
    --------
    >>> import numpy as np
    >>> from topalpha.boosting.rows import ColumnRows
    >>> rng = np.random.default_rng(0)
    >>> columns = rng.normal(size=(3, 500))
    >>> data = ColumnRows(columns, (columns[1] + columns[2] > 0.0).astype(int), np.ones(500), 2, rng)
    >>> done = list(rounds(data, Asking(), 5))
    >>> len(done), all(one.certificate.proved for one in done), sorted({one.stump.feature for one in done})
    (5, True, [1, 2])
    """
    best = 1.0 - 1.0 / data.kinds  # the edge of a stump without error
    gamma = _BEGIN * best
    edges: list[float] = []
    for _ in range(number):
        found = next_stump(data, asking, gamma)
        if found is None:
            return
        stump, error, certificate = found
        edges.append(best - error)
        if error == 0.0:  # no row is wrong, not even one of tiny weight
            yield Round(stump, error, 1.0, certificate)
            return
        odds = math.log((1.0 - error) / error) + math.log(data.kinds - 1.0)
        weight = min(asking.learning_rate * odds, _LARGEST_WEIGHT)
        yield Round(stump, error, weight, certificate)
        data.boost(weight)
        gamma = statistics.fmean(edges[-_MEMORY:])
        if not certificate.proved:
            gamma = max(gamma, _LOWER * certificate.asked)


def next_stump(data: WeightedRows, asking: Asking, gamma: float) -> tuple[Stump, float, RoundCertificate] | None:
    """The stump of this round with its error and its certificate; None if no known stump beats guessing.

    If the pulls are spent, the stumps of all questions that look best are tried on all rows, and the best one is taken:
    the last question alone may have had almost no pulls left.
    """
    pulls = arms = 0
    refuted: list[float] = []
    known: list[tuple[float, Stump]] = []
    for number in itertools.count():
        share = _FIRST_SHARE if number == 0 else (1.0 - _FIRST_SHARE) / (number * (number + 1))
        found = asking.ask(data, gamma, share * asking.delta, asking.max_pulls - pulls)
        pulls, arms = pulls + found.pulls, arms + found.arms
        stump, error, proved = found.stump, 1.0, False
        if asking.refutes(found):
            refuted.append(gamma)
        elif found.stopped:
            error = data.error(stump)
            proved = _edge(data, error) >= asking.least(gamma)
        if proved:
            break
        known += found.known()
        if pulls >= asking.max_pulls:
            known.sort(key=lambda one: one[0], reverse=True)
            stump = min((one for _, one in known[:REMEMBERED]), key=data.error)
            error = data.error(stump)  # again, to mark its errors
            break
        gamma *= _LOWER  # after a no, and after a wrong answer
    if _edge(data, error) <= ROUNDING:
        return None
    certificate = RoundCertificate(
        question=asking.question,
        asked=gamma,
        proved=proved,
        edge_at_least=asking.least(gamma) if proved and asking.question == "edge" else None,
        within=asking.epsilon * gamma if proved and asking.question == "best" else None,
        refuted=tuple(refuted),
        alpha=asking.alpha,
        delta=asking.delta,
        arms=arms,
        pulls=pulls,
    )
    return stump, error, certificate


def _edge(data: WeightedRows, error: float) -> float:
    return 1.0 - 1.0 / data.kinds - error
