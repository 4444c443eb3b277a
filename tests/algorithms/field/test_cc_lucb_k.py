"""cc-lucb-k: k arms with the certificate, and a second good one for the second arm."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from tests.support.pool_runs import coin, drive
from topalpha import design, simulate
from topalpha.research.audit.cases import JUST_OVER
from topalpha.reservoirs import parse
from topalpha.rules.columns import UPPER
from topalpha.rules.protocol import Selector

#: A study fails where chance would do as badly as this at an error rate of delta.
FALSE_ALARM = 1e-6


@pytest.mark.parametrize("k", [1, 2, 4])
def test_k_arms_are_returned_with_the_certificate(k):
    algorithm = design("cc-lucb-k", 0.3, 0.3, 0.1, k=k)
    assert isinstance(algorithm, Selector)
    for seed in range(3):
        _, history, memory = drive(algorithm, coin(seed))
        chosen = algorithm.selection(history, memory)
        assert len(set(chosen)) == k
        assert chosen[0] == algorithm.recommend(history, memory)
        lowest = min(algorithm.lower_bound(history, memory, arm) for arm in chosen)
        outside = max(history.stats[UPPER][arm] for arm in range(algorithm.arms) if arm not in chosen)
        assert outside - algorithm.epsilon <= lowest
        for arm in chosen:
            assert algorithm.claims(history, memory, arm)[0].epsilon <= algorithm.epsilon + 1e-12


def test_perfect_records_do_not_take_turns():
    """All arms always succeed: only the first k, and one challenger a round, are pulled more than a few times."""
    algorithm = design("cc-lucb-k", 0.2, 0.1, 0.1, k=2)
    _, history, memory = drive(algorithm, lambda *_: 1.0)
    assert algorithm.selection(history, memory) == [0, 1]
    assert sum(count > 20 for count in history.pulls) <= 3


def excess(study, delta):
    return binom.sf(study.errors.count - 1, study.runs, delta)


@pytest.mark.slow
@pytest.mark.statistical
def test_the_second_arm_needs_a_second_good_one():
    """Enough arms for one good one are not enough for three: the count of arms must follow k."""
    one, three = design("cc-lucb-k", 0.1, 0.2, 0.05, k=1), design("cc-lucb-k", 0.1, 0.2, 0.05, k=3)
    study = simulate(three._replace(arms=one.arms), parse(JUST_OVER), runs=300, seed=9, workers=1)
    assert excess(study, 0.05) < FALSE_ALARM
