"""What the tests of bounds and models share."""

from __future__ import annotations

import numpy as np
from scipy import stats

from topalpha.rules.columns import EXTRA, UPPER
from topalpha.rules.protocol import SUM, History


def blank(columns: int) -> History:
    return History(0, 1, [0], [[0.0] for _ in range(columns)], [0.0], [0], 0)


def feed(model, history, lookup, reward):
    history.pulls[0] += 1
    history.stats[SUM][0] += reward
    model.fold(history, lookup, 0, reward)


def too_many(events, trials, level):
    """Whether so many events are too many for the level, at a false-alarm probability of 1e-6."""
    return events > stats.binom.isf(1e-6, trials, level)


def crossings(model, draw, mean, paths, pulls, seed, spoil=None):
    """How many paths have a bound on the wrong side of the mean at some time: upper, lower."""
    rng = np.random.default_rng(seed)
    upper = lower = 0
    lookup = model.tables()
    for _ in range(paths):
        history = blank(EXTRA + model.extra)
        passed = False
        for reward in draw(rng, pulls):
            feed(model, history, lookup, float(reward))
            if spoil is not None:
                spoil(history)
            passed = passed or model.reaches(history, lookup, 0, mean + 1e-9)
        upper += history.stats[UPPER][0] < mean
        lower += passed
    return upper, lower


def observed(algorithm, rewards):
    """The statistics of a single arm after each reward."""
    pulls, stats = [0], [[0.0] for _ in range(algorithm.traits.columns)]
    state, memory = [0.0] * algorithm.traits.numbers, algorithm.scratch(1)
    for t, reward in enumerate(rewards, 1):
        algorithm.observe(History(t, 1, pulls, stats, state), memory, 0, reward)
        yield t, [column[0] for column in stats], memory
