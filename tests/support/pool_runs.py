"""A plain driver, and coins to toss."""

from __future__ import annotations

import random

import numpy as np

from topalpha.rules.protocol import History


def drive(algorithm, reward, watch=None, most=100_000):
    """Interpret a run in the plainest way; ``watch`` sees (and may spoil) the history before every plan."""
    size = algorithm.arms
    pulls, stats = [0] * size, [[0.0] * size for _ in range(algorithm.traits.columns)]
    state, memory = [0.0] * algorithm.traits.numbers, algorithm.scratch(size)
    batch, asked, arms, number = [0] * algorithm.traits.width, [], 0, [0] * size
    while len(asked) < most:
        history = History(len(asked), arms, pulls, stats, state)
        if watch is not None:
            watch(history)
        count = algorithm.plan(history, memory, np.random.default_rng(0), batch)
        if count == 0:
            return asked, history, memory
        for arm in batch[:count]:
            arms = max(arms, arm + 1)
            asked.append(arm)
            number[arm] += 1
            algorithm.observe(History(len(asked), arms, pulls, stats, state), memory, arm, reward(arm, number[arm]))
    raise AssertionError("it did not stop")


def coin(seed, top=0.9):
    """Rewards that depend on the arm and the number of the pull only."""

    def reward(arm, number):
        mean = top * random.Random(f"{seed} arm {arm}").random()
        return float(random.Random(f"{seed} pull {number} of {arm}").random() < mean)

    return reward
