"""What a round of boosting asks of its pool of stumps, and what it learns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topalpha.algorithms import design
from topalpha.algorithms.cc_threshold import ANSWER, LONGEST_BLOCK
from topalpha.boosting.pool import FITTED_ROWS, Stump, StumpPool, WeightedRows
from topalpha.core import Algorithm
from topalpha.engine import OUT_OF_ARMS, OUT_OF_BUDGET, STOPPED, Run

#: Arms are drawn so many at a time.
_ARMS_AT_A_TIME = 16


@dataclass(frozen=True)
class Search:
    """How one search among stumps ended: with which one, whether its stopping rule was met, after how much work."""

    stump: Stump
    stopped: bool
    answer: float
    arms: int
    pulls: int


def search(algorithm: Algorithm, data: WeightedRows, pulls: int) -> Search:
    """Run the algorithm on fresh stumps, with at most about so many pulls."""
    most = algorithm.arms + _ARMS_AT_A_TIME
    pool = StumpPool(data, most)
    run = Run(algorithm, pool.world)
    rng = np.random.default_rng(0)  # neither the rules nor the world draw anything
    status = OUT_OF_ARMS
    while status != STOPPED:
        if status == OUT_OF_ARMS:
            count = min(max(_ARMS_AT_A_TIME, pool.drawn // 2), most - pool.drawn)
            need = count * FITTED_ROWS
        else:
            count, need = 0, 0
        if data.left < need + LONGEST_BLOCK:
            pool.refill(max(len(data.rows), need + 4 * LONGEST_BLOCK))
            run.world = pool.world
        if count:
            run.add_arms(pool.draw(count))
        t = run.history.t
        room = min(pulls, t + data.left - LONGEST_BLOCK)
        status = run.advance(rng, rng, max(room, t + 1))
        if status == OUT_OF_BUDGET and run.history.t >= pulls:
            break
    history = run.history
    answer = float(history.state[ANSWER]) if algorithm.traits.name == "cc-threshold" else 0.0
    return Search(pool.stump(run.recommend()), status == STOPPED, answer, history.arms, history.t)


def edge_question(data: WeightedRows, gamma: float, alpha: float, epsilon: float, delta: float, pulls: int) -> Search:
    """Is there a stump of edge ``gamma``, or at least of (1 - epsilon) gamma?"""
    threshold = 1.0 / data.kinds + gamma
    return search(design("cc-threshold", alpha, epsilon * gamma, delta, threshold=threshold), data, pulls)


def best_question(data: WeightedRows, gamma: float, alpha: float, epsilon: float, delta: float, pulls: int) -> Search:
    """Which stump is within epsilon gamma of the top alpha?"""
    return search(design("joint-lucb", alpha, epsilon * gamma, delta), data, pulls)
