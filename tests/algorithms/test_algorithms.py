"""The principal algorithms alike: pinned trajectories, ties, and a single arm."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support import pin_trajectories
from tests.support.folders import DATA
from topalpha.algorithms import PRINCIPAL, design
from topalpha.reservoirs import Beta, Conditioned
from topalpha.rules.protocol import History
from topalpha.testing import compiled, interpreted

PINNED = json.loads((DATA / "trajectories.json").read_text())
FORMER = json.loads((DATA / "trajectories-rules1.json").read_text())
NAMES = [entry.name for entry in PRINCIPAL]
UNIT = Conditioned(Beta(1.0, 1.0), 0.95)


@pytest.mark.parametrize("case", list(pin_trajectories.CASES))
def test_trajectories_stay_as_pinned(case):
    assert pin_trajectories.trajectory(case) == PINNED[case]


@pytest.mark.parametrize("case", list(pin_trajectories.CASES))
def test_former_rules_decide_as_they_did(case):
    """Version 0.2.0 pinned these."""
    assert pin_trajectories.trajectory(case, rules=1) == FORMER[case]


@pytest.mark.parametrize("name", NAMES)
def test_after_one_pull_each_the_lowest_of_the_tied_arms_lead(name):
    """Half the arms tie at 1; the two lowest of them are leader and challenger."""
    algorithm = design(name, 0.3, 0.1, 0.2)
    rewards = [0.0, 0.0, 1.0, 0.0] + [float(arm % 2) for arm in range(4, algorithm.arms)]
    pulls, stats = [0] * algorithm.arms, [[0.0] * algorithm.arms for _ in range(algorithm.traits.columns)]
    state, memory = [0.0] * algorithm.traits.numbers, algorithm.scratch(algorithm.arms)
    for arm, reward in enumerate(rewards):
        algorithm.observe(History(arm + 1, arm + 1, pulls, stats, state), memory, arm, reward)
    batch = [-1] * algorithm.traits.width
    count = algorithm.plan(
        History(algorithm.arms, algorithm.arms, pulls, stats, state), memory, np.random.default_rng(0), batch
    )
    assert count == algorithm.traits.width
    assert batch == [2, 5][:count] or (count == 1 and batch == [5])
    assert algorithm.recommend(History(algorithm.arms, algorithm.arms, pulls, stats, state), memory) == 2


@pytest.mark.parametrize("name", NAMES)
def test_one_arm_needs_one_pull(name):
    algorithm = design(name, 0.2, 0.2, 0.1)._replace(arms=1)
    last, _ = interpreted(algorithm, UNIT)
    assert (last.t, last.arm) == (1, 0)
    assert compiled(algorithm, UNIT) == last
