"""The pool of cc-lucb-streaming and p2-batched: decisions rest on it alone, and batches come when one arm is left."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from tests.support.pool_runs import coin, drive
from topalpha import Search, design
from topalpha.algorithms.field.p2_batched import batches
from topalpha.rules.columns import UPPER
from topalpha.rules.protocol import SUM

POOLS = [
    ("cc-lucb-streaming", {"keep": 2}),
    ("cc-lucb-streaming", {"keep": 5}),
    ("cc-lucb-streaming", {"keep": 32}),
    ("p2-batched", {"batch": 5}),
    ("p2-batched", {"batch": 5, "split": "certificate"}),
]


def spoil(algorithm, rng):
    """Write nonsense over all that is recorded of arms outside the pool."""

    def watch(history):
        pool = set(algorithm.in_slots(history))
        assert len(pool) == history.state[5] <= algorithm.pool_size
        for arm in set(range(history.arms)) - pool:
            history.pulls[arm] = rng.choice([-7, 0, 1, 10**9])
            for column in history.stats:
                column[arm] = rng.choice([math.nan, math.inf, -math.inf, 0.0, 1e9])

    return watch


@pytest.mark.parametrize(("name", "options"), POOLS)
def test_decisions_rest_on_the_pool_alone(name, options):
    algorithm = design(name, 0.15, 0.4, 0.1, **options)
    for seed in range(3):
        asked, history, memory = drive(algorithm, coin(seed))
        spoiled, after, fresh = drive(algorithm, coin(seed), spoil(algorithm, random.Random(seed)))
        assert spoiled == asked
        assert after.state == history.state
        assert algorithm.recommend(after, fresh) == algorithm.recommend(history, memory)
        assert max(asked) == algorithm.arms - 1, "all n arms must be drawn"


def test_the_erasure_is_seen_where_decisions_look_outside_the_pool():
    """A negative control: forget one arm of the pool as well, and the run changes."""
    algorithm = design("cc-lucb-streaming", 0.15, 0.3, 0.1, keep=5)

    def watch(history):
        for arm in algorithm.in_slots(history)[:1]:
            if history.pulls[arm] > 0:
                history.stats[SUM][arm], history.stats[UPPER][arm] = 0.0, 1.0

    assert drive(algorithm, coin(0), watch)[0] != drive(algorithm, coin(0))[0]


@pytest.mark.parametrize(("name", "options"), [one for one in POOLS if one[1].get("split") or "keep" in one[1]])
def test_the_stream_ends_with_the_certificate_of_theorem_d(name, options):
    algorithm = design(name, 0.15, 0.2, 0.1, **options)
    for seed in range(4):
        _, history, memory = drive(algorithm, coin(seed))
        best = algorithm.recommend(history, memory)
        lower = algorithm.confidence.lower_now(history, memory.lookup, best)
        uppers = [history.stats[UPPER][arm] for arm in range(algorithm.arms) if arm != best]
        assert lower >= history.state[1]
        assert max(uppers) - algorithm.epsilon <= lower
        assert algorithm.in_pool(history) == [best]


def test_batches_come_when_one_arm_is_left_and_each_is_settled_within_its_share():
    algorithm = design("p2-batched", 0.1, 0.6, 0.1, batch=6)
    assert (algorithm.arms, batches(29, 6), algorithm.discard_slack) == (29, 6, pytest.approx(0.1))

    def settled(history, refills, drawn, winner):
        """Everything else in the batch is below the winner's lower bound, up to the batch's share."""
        first, before = refills[-1] if refills else (0, 0)
        gone = {before, *range(first, drawn)} - {winner}
        assert winner == before or winner >= first
        assert max(history.stats[UPPER][arm] for arm in gone) - algorithm.discard_slack <= history.state[1]
        refills.append((drawn, winner))

    for seed in range(3):
        refills = []

        def watch(history, refills=refills):
            winner = int(history.state[2]) - 1
            if history.state[0] == 0.0 and winner >= 0:  # L* was forgotten: a batch has begun
                drawn = history.arms - len(algorithm.in_slots(history)) + 1
                if not refills or refills[-1][0] < drawn:
                    settled(history, refills, drawn, winner)

        _, history, memory = drive(algorithm, coin(seed), watch)
        settled(history, refills, history.arms, algorithm.recommend(history, memory))
        assert [drawn for drawn, _ in refills] == [6, 11, 16, 21, 26, 29]


def test_the_stream_says_what_is_known_of_arms_it_has_discarded():
    algorithm = design("cc-lucb-streaming", 0.15, 0.2, 0.1, keep=4)
    _, history, memory = drive(algorithm, coin(1))
    best = algorithm.recommend(history, memory)
    gone = next(arm for arm in range(algorithm.arms) if arm != best)
    assert algorithm.claims(history, memory, gone) == []
    assert algorithm.upper_bound(history, memory, gone) == history.state[1] + 0.2
    assert algorithm.upper_bound(history, memory, gone) >= history.stats[UPPER][gone]
    assert algorithm.lower_bound(history, memory, gone) == 0.0
    first = algorithm.claims(history, memory, best)[0]
    assert first.alpha == 0.15
    assert first.epsilon <= 0.2 + 1e-12


def test_discarded_arms_of_the_stream_still_count_in_claims():
    search = Search(design("cc-lucb-streaming", 0.2, 0.2, 0.1, keep=4))
    rng = np.random.default_rng(8)
    means = rng.random(search.algorithm.arms)
    while (pull := search.ask()) is not None:
        search.tell(pull, float(rng.random() < means[pull.arm]))
    # All others are discarded: of them is known that they are at most epsilon above the largest lower bound.
    assert search.claims(search.best)[0].epsilon == pytest.approx(0.2, abs=1e-12)
