"""Trees of arms: the rule for ties, and trees against sorting."""

from __future__ import annotations

import numpy as np

from topalpha.rules.tournament import beats, empty_tree, play, rebuild, runner_up


def test_the_tie_rule():
    assert beats(0.6, 9, 9, 0.5, 1, 0)
    assert beats(0.5, 3, 7, 0.5, 4, 1)
    assert beats(0.5, 3, 1, 0.5, 3, 7)
    assert not beats(0.5, 3, 7, 0.5, 3, 1)


def test_trees_agree_with_sorting():
    rng = np.random.default_rng(0)
    for arms in (1, 2, 3, 7, 8, 9, 33):
        keys = rng.integers(0, 3, arms).astype(float).tolist()
        pulls = rng.integers(1, 3, arms).tolist()
        tree = empty_tree(arms)
        rebuild(tree, keys, pulls, arms)
        for _ in range(300):
            arm = int(rng.integers(arms))
            keys[arm], pulls[arm] = float(rng.integers(0, 3)), pulls[arm] + int(rng.integers(0, 2))
            play(tree, keys, pulls, arm)
            order = sorted(range(arms), key=lambda a: (-keys[a], pulls[a], a))
            assert tree[1] == order[0]
            for one in order[:3]:
                assert runner_up(tree, keys, pulls, one) == next((a for a in order if a != one), -1)
