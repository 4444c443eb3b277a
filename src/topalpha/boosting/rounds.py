"""Rounds of boosting: which edge to ask for, and what was proved about the stump that was taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topalpha.algorithms import design
from topalpha.algorithms.cc_threshold import ANSWER
from topalpha.boosting.stumps import Found, Stump, StumpRows


@dataclass(frozen=True)
class RoundCertificate:
    """What is proved about one round, with probability at least 1 - delta; edges are about the weights of the round.

    Attributes
    ----------
    proved
        Whether the question was answered; False where the pulls were spent before.
    edge_at_least
        The stump's edge is at least this.
    within
        The stump's edge is within this of the top alpha fraction of stumps.
    refuted
        Edges that fewer than a fraction alpha of the stumps reach.
    alpha, delta
        As asked for.
    arms
        How many stumps were drawn.
    """

    proved: bool
    edge_at_least: float | None
    within: float | None
    refuted: tuple[float, ...]
    alpha: float
    delta: float
    arms: int


@dataclass(frozen=True)
class Round:
    """One round: its stump, the stump's exact edge and weight, the pulls it took, and the certificate."""

    stump: Stump
    edge: float
    estimator_weight: float
    pulls: int
    certificate: RoundCertificate


@dataclass(frozen=True)
class Asking:
    """What every round asks."""

    question: str
    alpha: float
    epsilon: float
    delta: float
    learning_rate: float
    max_pulls: int


def rounds(data: StumpRows, asking: Asking, number: int) -> Iterator[Round]:
    """At most so many rounds; fewer where no stump is better than guessing, or one is perfect."""
    chance = 1.0 / data.kinds
    gamma = 0.5 * (1.0 - chance)
    for _ in range(number):
        found = next_round(data, asking, gamma)
        if found is None:
            return
        stump, edge, pulls, certificate, gamma = found
        error = 1.0 - chance - edge
        if error <= 0.0:
            yield Round(stump, edge, 1.0, pulls, certificate)
            return
        weight = asking.learning_rate * float(np.log((1.0 - error) / error) + np.log(data.kinds - 1.0))
        data.boost(weight)
        data.draw_at_once(2 * pulls)
        yield Round(stump, edge, weight, pulls, certificate)


def next_round(
    data: StumpRows, asking: Asking, gamma: float
) -> tuple[Stump, float, int, RoundCertificate, float] | None:
    """The stump of this round with its edge, pulls and certificate, and the edge to ask for in the next round."""
    pulls = arms = 0
    refuted: list[float] = []
    share = 0.75
    while True:
        delta = asking.delta * share
        result = ask(data, asking, gamma, delta, asking.max_pulls - pulls)
        pulls += result.pulls
        arms += result.arms
        if result.stopped and asking.question == "edge" and result.state[ANSWER] < 0.0:
            refuted.append(gamma)
            gamma *= 0.7
            share *= 0.25
            continue
        edge = data.edge(result.stump)
        if edge > 0.0 or not result.stopped:
            break
        gamma *= 0.7
        share *= 0.25
    if edge <= 0.0:
        return None
    certificate = RoundCertificate(
        proved=result.stopped,
        edge_at_least=(1.0 - asking.epsilon) * gamma if result.stopped and asking.question == "edge" else None,
        within=asking.epsilon * gamma if result.stopped and asking.question == "best" else None,
        refuted=tuple(refuted),
        alpha=asking.alpha,
        delta=asking.delta,
        arms=arms,
    )
    return result.stump, edge, pulls, certificate, edge


def ask(data: StumpRows, asking: Asking, gamma: float, delta: float, pulls: int) -> Found:
    """Edge: is there a stump of edge gamma, or at least (1 - epsilon) gamma? Best: which is within epsilon gamma?"""
    if asking.question == "best":
        return data.search(design("joint-lucb", asking.alpha, asking.epsilon * gamma, delta), pulls)
    threshold = 1.0 / data.kinds + gamma
    return data.search(design("cc-threshold", asking.alpha, asking.epsilon * gamma, delta, threshold=threshold), pulls)
