"""The epsilon that the joint evidence shows: at most the target's exactly where the stopping rule is met."""

from __future__ import annotations

import math

import numpy as np
import pytest

from topalpha import Search, design
from topalpha.ask_tell import stand
from topalpha.rules.columns import UPPER
from topalpha.rules.joint_stop import seen_arms
from topalpha.rules.tournament import rebuild, runner_up

JOINED = ["joint-lucb", "joint-one-phase"]


def met(search):
    """Whether the algorithm's own stopping rule holds for its choice now, from fresh memory."""
    algorithm, history = search.algorithm, search.history
    memory = algorithm.scratch(len(history.pulls))
    rebuild(memory.challengers, history.stats[UPPER], history.pulls, seen_arms(history))
    rival = runner_up(memory.challengers, history.stats[UPPER], history.pulls, search.best)
    return rival >= 0 and algorithm.proved(history, memory, search.best, rival)


def moments(algorithm, seed, target=(0.2, 0.15, 0.1), pace=1):
    """A search before each pull, and at its end."""
    search, rng = Search(design(algorithm, *target)), np.random.default_rng(seed)
    means = rng.random(500)
    while (pull := search.ask()) is not None:
        if search.told % pace == 0 and search.told:
            yield search
        search.tell(pull, float(rng.random() < means[pull.arm]))
    yield search


@pytest.mark.parametrize("algorithm", JOINED)
@pytest.mark.parametrize("seed", range(3))
def test_all_evidence_is_there_exactly_where_the_rule_is_met(algorithm, seed):
    drawn = 0
    for search in moments(algorithm, seed):
        if search.history.pulls[search.best] and seen_arms(search.history) >= 2:
            assert (search.shown(search.best) <= search.algorithm.epsilon) == met(search)
            drawn += 1
    assert drawn > 50
    assert search.stopped, "the last moment is the stop"
    assert met(search)


@pytest.mark.parametrize("algorithm", JOINED)
def test_the_share_is_1_at_the_stop_and_not_before_the_last_check(algorithm):
    """The rule is checked every four pulls or more: once it is met, the next check ends the search."""
    for seed in range(4):
        shares = [stand(search, proved=False) for search in moments(algorithm, seed)]
        assert shares[-1].stopped
        assert shares[-1].evidence == 1.0
        between = max(4, shares[-1].total // 250) + 1
        early = [now for now in shares if now.total < shares[-1].total - between and now.drawn == now.wanted]
        # It may be met between two checks, and no longer once the next reward is bad.
        assert np.mean([now.evidence == 1.0 for now in early]) < 0.02
        assert early[0].evidence < 0.3


def test_negative_control_half_the_epsilon_is_not_shown_at_the_stop():
    *_, search = moments("joint-lucb", 0)
    halved = search.algorithm._replace(epsilon=0.5 * search.algorithm.epsilon)
    assert search.shown(search.best) <= search.algorithm.epsilon
    assert halved.shown(search.history, None, search.best) > halved.epsilon


def test_nothing_is_shown_of_an_arm_without_evidence_of_its_own():
    search = Search(design("joint-lucb", 0.2, 0.15, 0.1))
    for pull in search.ask_many(search.algorithm.arms):
        search.tell(pull, 1.0)
    now = stand(search, proved=False)
    assert search.shown(search.best) == math.inf
    assert (now.evidence, now.rest) == (0.0, math.inf)


def test_what_is_shown_decides_nothing():
    """A search that is looked at before each pull asks for what one does that nobody looks at."""
    asked = []
    for looks in (True, False):
        search, rng = Search(design("joint-lucb", 0.2, 0.15, 0.1), seed=1), np.random.default_rng(7)
        arms = []
        while (pull := search.ask()) is not None:
            arms.append(pull.arm)
            search.tell(pull, float(rng.random() < 0.9 / (1 + pull.arm % 5)))
            if looks:
                stand(search, proved=False)
        asked.append((arms, search.best, list(search.history.state)))
    assert asked[0] == asked[1]
