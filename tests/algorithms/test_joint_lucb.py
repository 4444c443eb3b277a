"""joint-lucb: it stops only when the certificate holds at every x, and its weights and levels add up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.feeding import observed
from tests.support.marks import quick
from topalpha.algorithms import design
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Beta, Conditioned, Dirac, TwoPoint, Uniform
from topalpha.rules.columns import PLACE, PULLS_THEN, UPPER
from topalpha.rules.joint_stop import cell_certificate, leader_evidence
from topalpha.rules.protocol import History
from topalpha.rules.tournament import rebuild

UNIT = Conditioned(Beta(1.0, 1.0), 0.95)


class Follower:
    """The joint certificate in plain NumPy, on a fine grid of x, from a run's rewards alone."""

    def __init__(self, algorithm, points=2000):
        self.algorithm = algorithm
        self.x = algorithm.epsilon + (1.0 - algorithm.epsilon) * np.arange(1, points + 1) / points
        lookup = algorithm.evidence.tables()
        self.gaps, self.weights = np.array(lookup.gaps), np.exp(lookup.log_weights)
        self.leader_gaps, self.leader_weights = np.array(lookup.leader_gaps), np.exp(lookup.leader_log_weights)
        assert self.weights.sum() == pytest.approx(1.0)
        assert self.leader_weights.sum() == pytest.approx(1.0)
        self.pulls = np.zeros(algorithm.arms, dtype=int)
        self.totals = np.zeros(algorithm.arms)
        self.crossed = np.zeros((algorithm.arms, points), dtype=bool)
        self.evidence = np.ones((algorithm.arms, points))
        self.registered = {}

    @staticmethod
    def mixture(alternatives, x, weights, total, pulls):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            logs = np.zeros_like(alternatives)
            if total > 0:
                logs = logs + total * (np.log(alternatives) - np.log(x))
            if pulls > total:
                logs = logs + (pulls - total) * (np.log1p(-alternatives) - np.log1p(-x))
            return weights @ np.exp(logs)

    def tell(self, arm, reward):
        self.pulls[arm] += 1
        self.totals[arm] += reward
        alternatives = np.maximum(self.x[None, :] - self.gaps[:, None], 0.0)
        value = self.mixture(alternatives, self.x, self.weights, self.totals[arm], self.pulls[arm])
        value = np.where(np.isnan(value), np.inf, value)
        self.crossed[arm] |= value >= 1.0 / math.exp(self.algorithm.log_delta_u)
        self.evidence[arm] = np.where(self.crossed[arm], 1.0, math.exp(self.algorithm.log_delta_u) * value)

    def register(self, arm):
        self.registered[arm] = (len(self.registered) + 1, self.pulls[arm], self.totals[arm])

    def side(self, leader):
        """delta times the left side of the stop condition, at every x."""
        algorithm = self.algorithm
        place, pulls, total = self.registered[leader]
        base = self.x - algorithm.epsilon
        alternatives = np.minimum(base[None, :] + self.leader_gaps[:, None], 1.0)
        mixture = self.mixture(
            alternatives, base, self.leader_weights, self.totals[leader] - total, self.pulls[leader] - pulls
        )
        leading = leader_weight(algorithm, place) * mixture
        c = 1.0 / (1.0 - algorithm.alpha * (1.0 - math.exp(algorithm.log_delta_u)))
        others = np.delete(self.evidence, leader, axis=0)
        assert (others <= 1.0 + 1e-12).all()
        challenging = c**algorithm.arms * others.prod(axis=0)
        w1, w2, w3 = (math.exp(w) for w in (algorithm.log_leader, algorithm.log_challengers, algorithm.log_both))
        assert w1 + w2 + w3 <= algorithm.delta * (1.0 + 1e-12)
        with np.errstate(invalid="ignore", over="ignore"):
            side = w1 * leading + w2 * challenging + w3 * leading * challenging
        return np.where(leading == np.inf, np.inf, side)


def leader_weight(algorithm, place):
    """v_j, asked of the algorithm: the evidence of a leader that has not been pulled since it was registered."""
    stats = [[1.0], [1.0], [float(place)], [2.0], [1.0]]
    history = History(2, 1, [2], stats, [0.0] * algorithm.traits.numbers)
    x = 0.5 * (1.0 + algorithm.epsilon)
    return math.exp(leader_evidence(algorithm, history, algorithm.scratch(1), 0, x))


def follow(algorithm, reservoir, seed):
    """Interpret a run and follow it; yield (t, leader, follower, stopped) at each plan after a leader is registered."""
    source = streams(run_seed(seed, 0))
    means = reservoir.sample(algorithm.arms, source.arms)
    follower = Follower(algorithm)
    pulls, stats = [0] * algorithm.arms, [[0.0] * algorithm.arms for _ in range(algorithm.traits.columns)]
    state, memory, batch = (
        [0.0] * algorithm.traits.numbers,
        algorithm.scratch(algorithm.arms),
        [0] * algorithm.traits.width,
    )
    t = 0
    while True:
        seen = min(t, algorithm.arms)
        count = algorithm.plan(History(t, seen, pulls, stats, state), memory, source.rules, batch)
        for arm in range(seen):
            if stats[PLACE][arm] > 0 and arm not in follower.registered:
                follower.register(arm)
        leader = algorithm.recommend(History(t, seen, pulls, stats, state), memory) if t else 0
        if leader in follower.registered:
            yield t, leader, follower, count == 0
        if count == 0:
            return
        for arm in batch[:count]:
            reward = algorithm.family.sample(means[arm], source.rewards)
            t += 1
            algorithm.observe(History(t, min(t, algorithm.arms), pulls, stats, state), memory, arm, reward)
            follower.tell(arm, reward)


@pytest.mark.parametrize(
    ("reservoir", "epsilon"),
    quick(
        [(UNIT, 0.1), (TwoPoint(0.5, 0.62, 0.1), 0.1), (Dirac(0.5), 0.2), (Uniform(0.0, 0.2), 0.1)],
        [(UNIT, 0.1), (Dirac(0.5), 0.2)],
    ),
)
def test_joint_lucb_stops_only_when_the_certificate_holds_at_every_x(reservoir, epsilon):
    algorithm = design("joint-lucb", 0.1, epsilon, 0.1)
    for seed in range(2):
        held = []
        for t, leader, follower, stopped in follow(algorithm, reservoir, seed):
            if stopped:
                assert follower.side(leader).min() >= 1.0 - 1e-7
                held.append((t, True))
            elif t % 50 == 0:
                held.append((t, follower.side(leader).min() >= 1.0))
        stop = held[-1][0]
        assert not held[0][1], "the certificate must not hold from the start"
        assert held[-1][1]
        # cells and the rhythm of checks cost a little: the exact condition must not have held for long
        first = next(t for index, (t, _) in enumerate(held) if all(true for _, true in held[index:]))
        assert first > 0.75 * stop - 60


def test_the_running_bound_of_joint_lucb_is_the_least_exact_bound_so_far():
    algorithm = design("joint-lucb", 0.05, 0.05, 0.05)
    follower = Follower(algorithm, points=1)
    rng = np.random.default_rng(3)
    rewards = [float(rng.random() < (0.3 if t < 40 else 0.7)) for t in range(120)]
    least, total, moved = 1.0, 0.0, 0
    for t, row, _ in observed(algorithm, rewards):
        total += rewards[t - 1]
        inside, outside = total / t, 1.0
        for _ in range(60):
            middle = np.array([0.5 * (inside + outside)])
            alternatives = np.maximum(middle - follower.gaps[:, None], 0.0)
            value = follower.mixture(alternatives, middle, follower.weights, total, t)[0]
            if value < 1.0 / math.exp(algorithm.log_delta_u):
                inside = middle[0]
            else:
                outside = middle[0]
        moved += outside > least + 1e-6
        least = min(least, outside)
        assert least - 1e-12 <= row[UPPER] <= least + 1e-9
    assert moved > 10, "the stream must show a difference between the running bound and that of the moment"


def cell_passes(algorithm, history, memory, leader, left, right):
    return cell_certificate(algorithm, history, memory, leader, left, right, algorithm.log_draws)


def test_a_cell_is_judged_by_the_leader_at_its_right_end_and_the_challengers_at_its_left():
    algorithm = design("joint-lucb", 0.1, 0.1, 0.1)
    arms = algorithm.arms
    memory = algorithm.scratch(arms)
    pulls, stats, state = (
        [0] * arms,
        [[0.0] * arms for _ in range(algorithm.traits.columns)],
        [0.0] * algorithm.traits.numbers,
    )
    t = 0
    for arm, successes, count in [(0, 54, 60), *((arm, 20, 40) for arm in range(1, arms))]:
        for pull in range(count):
            t += 1
            algorithm.observe(History(t, arms, pulls, stats, state), memory, arm, float(pull < successes))
    stats[PLACE][0] = 1.0
    rebuild(memory.challengers, stats[UPPER], pulls, arms)
    history = History(t, arms, pulls, stats, state)
    assert cell_passes(algorithm, history, memory, 0, 0.4, 0.4), "the leader alone is enough here"
    assert cell_passes(algorithm, history, memory, 0, 1.0, 1.0), "the challengers alone are enough here"
    assert not cell_passes(algorithm, history, memory, 0, 0.4, 1.0), "neither is enough on all of the cell"


def test_only_pulls_after_registration_count_for_the_leader():
    algorithm = design("joint-lucb", 0.1, 0.1, 0.1)
    memory = algorithm.scratch(1)

    def evidence(pulls, total, pulls_then, total_then):
        stats = [[total], [1.0], [1.0], [pulls_then], [total_then]]
        return leader_evidence(algorithm, History(9, 1, [pulls], stats, [0.0] * 4), memory, 0, 0.7)

    assert evidence(50, 45.0, 20.0, 15.0) == evidence(30, 30.0, 0.0, 0.0)
    assert evidence(50, 45.0, 50.0, 45.0) == evidence(3, 1.0, 3.0, 1.0)
    assert evidence(50, 45.0, 0.0, 0.0) > evidence(50, 45.0, 30.0, 27.0) > evidence(50, 45.0, 50.0, 45.0)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.5])
def test_weights_and_levels_of_joint_lucb_add_up(alpha, delta):
    algorithm = design("joint-lucb", alpha, 0.1, delta)
    weights = [leader_weight(algorithm, place) for place in range(1, algorithm.arms + 1)]
    assert sum(weights) <= 1.0 + 1e-12
    assert min(weights) > 0.0
    log_c = -math.log1p(-alpha * (1.0 - math.exp(algorithm.log_delta_u)))
    assert algorithm.log_draws == pytest.approx(algorithm.arms * log_c)
    # n with w2 c^n >= 1/delta, and no more than one arm too many
    assert algorithm.log_challengers + algorithm.arms * log_c >= -1e-9
    assert algorithm.log_challengers + (algorithm.arms - 1) * log_c < 1e-9


def test_the_challengers_evidence_is_capped():
    """D_b <= 1: challengers that are far below x count no more than c^n, whatever their evidence."""
    algorithm = design("joint-lucb", 0.3, 0.2, 0.3)
    arms = algorithm.arms
    memory = algorithm.scratch(arms)
    pulls, stats, state = (
        [0] * arms,
        [[0.0] * arms for _ in range(algorithm.traits.columns)],
        [0.0] * algorithm.traits.numbers,
    )
    t = 0
    for _ in range(60):
        for arm in range(arms):
            t += 1
            algorithm.observe(History(t, arms, pulls, stats, state), memory, arm, 0.0)
    rebuild(memory.challengers, stats[UPPER], pulls, arms)
    stats[PLACE][0], stats[PULLS_THEN][0] = 1.0, float(pulls[0])
    history = History(t, arms, pulls, stats, state)
    high = max(stats[UPPER])
    assert high < 0.2
    for left in (0.5, 0.9, 1.0):
        # with C capped at c^n the leader, who has no evidence, passes by w2 c^n >= 1/delta alone, and only just
        assert cell_passes(algorithm, history, memory, 0, left, 1.0)
        stricter = algorithm._replace(log_challengers=-algorithm.log_draws - 0.1, log_both=-1000.0, log_leader=-1000.0)
        assert not cell_passes(stricter, history, memory, 0, left, 1.0)
