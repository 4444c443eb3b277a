"""joint-one-phase: the joint certificate with arms that are drawn when they are wanted (docs/field/one_phase.md)."""

from __future__ import annotations

import hashlib
import math
import random

import numpy as np
import pytest

from topalpha import Search, design, simulate
from topalpha.algorithms import entry
from topalpha.families import Gaussian, PassFail, Poisson
from topalpha.research.audit.cases import JUST_OVER
from topalpha.reservoirs import Beta, Conditioned, TwoPoint, Uniform, parse
from topalpha.rules.columns import PLACE, UPPER
from topalpha.rules.joint_stop import certificate, joined, recall
from topalpha.rules.protocol import Certifier, History
from topalpha.simulation import Count, interpret
from topalpha.testing import check_algorithm, check_design, interpreted
from topalpha.testing.drivers import Step

NAME = "joint-one-phase"
NEEDLE = TwoPoint(0.2, 0.9, 0.1)
FALSE_ALARM = 1e-4


def test_bad_targets_are_refused():
    check_design(entry(NAME).design)


def test_a_list_without_replacement_is_refused():
    with pytest.raises((TypeError, ValueError), match="pool"):
        design(NAME, 0.1, 0.1, 0.1, pool=100)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reservoir", "alpha", "epsilon"),
    [(NEEDLE, 0.2, 0.2), (Uniform(0.0, 1.0), 0.2, 0.25), (Conditioned(Beta(1.0, 3.0), 0.95), 0.2, 0.2)],
)
def test_all_ways_to_run_it_agree(reservoir, alpha, epsilon):
    check_algorithm(design(NAME, alpha, epsilon, 0.1), reservoir)


@pytest.mark.slow
def test_all_ways_to_run_it_agree_for_other_rewards():
    check_algorithm(design(NAME, 0.2, 0.4, 0.1, Poisson(3.0)), Uniform(0.2, 2.0))


def test_pinned():
    last, record = interpreted(design(NAME, 0.1, 0.2, 1e-4), NEEDLE, seed=2018)
    order = hashlib.sha256(",".join(str(step.arm) for step in record).encode()).hexdigest()[:16]
    assert (last.t, last.arms, last.arm, order) == (452, 91, 27, "4cd1fee7f0dda2bf")


def joint_certificate(algorithm, record, registered, leader, points=1500):
    """The left side of the stop condition times delta, in plain NumPy, from the rewards alone."""
    x = algorithm.epsilon + (1.0 - algorithm.epsilon) * np.arange(1, points + 1) / points
    grid = algorithm.evidence.tables()
    delta_u = math.exp(algorithm.log_delta_u)

    def ratios(alternatives, at, log_weights, total, count):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            logs = np.zeros_like(alternatives)
            if total > 0:
                logs = logs + total * (np.log(alternatives) - np.log(at))
            if count > total:
                logs = logs + (count - total) * (np.log1p(-alternatives) - np.log1p(-at))
            value = np.exp(log_weights) @ np.exp(logs)
        return np.where(np.isnan(value), np.inf, value)

    arms = sorted({step.arm for step in record})
    c = 1.0 / (1.0 - algorithm.alpha * (1.0 - delta_u))
    others = np.full(points, c ** len(arms))
    below = np.maximum(x[None, :] - np.array(grid.gaps)[:, None], 0.0)
    for arm in arms:
        if arm == leader:
            continue
        rewards = [step.reward for step in record if step.arm == arm]
        crossed = np.zeros(points, dtype=bool)
        for count in range(1, len(rewards) + 1):
            value = ratios(below, x, grid.log_weights, sum(rewards[:count]), count)
            crossed |= value >= 1.0 / delta_u
        others *= np.where(crossed, 1.0, delta_u * value)
    since = [step.reward for step in record if step.arm == leader][registered[leader][1] :]
    place = registered[leader][0]
    weight = 0.95 / (place * (place + 1)) + 0.05 / algorithm.arms
    base = x - algorithm.epsilon
    above = np.minimum(base[None, :] + np.array(grid.leader_gaps)[:, None], 1.0)
    own = weight * ratios(above, base, grid.leader_log_weights, sum(since), len(since))
    w1, w2, w3 = (math.exp(w) for w in (algorithm.log_leader, algorithm.log_challengers, algorithm.log_both))
    with np.errstate(invalid="ignore", over="ignore"):
        return w1 * own + w2 * others + w3 * own * others


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_stops_where_the_certificate_holds_at_every_x_with_the_arms_drawn_so_far(seed):
    algorithm = design(NAME, 0.1, 0.2, 0.01)
    registered, record = {}, []

    def watch(search, pull, reward):
        for arm in range(search.history.arms):
            if search.history.stats[PLACE][arm] > 0.0 and arm not in registered:
                # registered before this pull was asked for
                registered[arm] = (len(registered) + 1, search.history.pulls[arm] - (arm == pull.arm))
        record.append(Step(pull.arm, reward))

    search = interpret(algorithm, NEEDLE, seed=seed, watch=watch).search
    assert search.result.stopped
    assert search.history.arms < algorithm.arms, "the leader is near the top: fewer arms are enough"
    leader = search.best
    side = joint_certificate(algorithm, record, registered, leader)
    assert side.min() >= 1.0 - 1e-9
    # At the highest x, where only draws speak for a leader of small mean, the arms drawn are not enough by themselves.
    assert algorithm.log_challengers + search.history.arms * algorithm.log_draw < 0.0
    early = joint_certificate(algorithm, record[: -len(record) // 3], registered, leader)
    assert early.min() < 1.0, "a third of the pulls earlier it did not hold"


def told(algorithm, counts):
    """A history in which arm i has these (successes, pulls), and its memory."""
    arms = len(counts)
    memory = algorithm.scratch(arms)
    stats = [[0.0] * arms for _ in range(algorithm.traits.columns)]
    pulls, state = [0] * arms, [0.0] * algorithm.traits.numbers
    t = 0
    for arm, (successes, count) in enumerate(counts):
        for pull in range(count):
            t += 1
            reward = float((pull + 1) * successes // count - pull * successes // count)
            algorithm.observe(History(t, arms, pulls, stats, state), memory, arm, reward)
    history = History(t, arms, pulls, stats, state)
    recall(history, memory, arms)
    return history, memory


def test_with_few_arms_the_leader_must_speak_for_the_highest_x():
    algorithm = design(NAME, 0.1, 0.1, 0.1)
    few = [(0, 40)] * 5
    # A leader of mean .6: certified up to the largest upper bound, but a mean of 1 may be what nine in ten draws miss.
    history, memory = told(algorithm, [(1200, 2000), *few])
    history.stats[PLACE][0] = 1.0
    assert certificate(algorithm, history, memory, 0, 1, 6 * algorithm.log_draw)
    assert not algorithm.proved(history, memory, 0, 1)
    # Of mean .999: no mean is more than epsilon above.
    history, memory = told(algorithm, [(1998, 2000), *few])
    assert not algorithm.proved(history, memory, 0, 1), "not registered"
    history.stats[PLACE][0] = 1.0
    assert algorithm.proved(history, memory, 0, 1)
    # With all arms drawn the first one is proved, too.
    history, memory = told(algorithm, [(1200, 2000), *([(0, 40)] * (algorithm.arms - 1))])
    history.stats[PLACE][0] = 1.0
    assert algorithm.proved(history, memory, 0, 1)
    assert max(history.stats[UPPER][1:]) < 0.6


def test_what_a_draw_is_worth():
    algorithm = design(NAME, 0.1, 0.1, 0.1, delta_u=0.5)
    assert algorithm.log_draw == pytest.approx(-math.log(0.95))
    assert algorithm.arms * algorithm.log_draw == pytest.approx(algorithm.log_draws)
    # w2 c^n >= 1/delta' with n arms and not with one fewer; delta' = .95 delta, w2 = .7
    assert 0.7 * 0.095 * 0.95**-algorithm.arms >= 1.0 > 0.7 * 0.095 * 0.95 ** -(algorithm.arms - 1)
    assert not joined(algorithm, -math.inf, (algorithm.arms - 1) * algorithm.log_draw)
    assert joined(algorithm, -math.inf, algorithm.log_draws)


def test_where_means_have_no_highest_value_it_is_joint_lucb_pull_for_pull():
    reservoir = Uniform(0.0, 1.0)
    mine, record = interpreted(design(NAME, 0.2, 0.3, 0.1, Gaussian(0.5)), reservoir)
    theirs, other = interpreted(design("joint-lucb", 0.2, 0.3, 0.1, Gaussian(0.5)), reservoir)
    assert record == other
    assert (mine.stats, mine.arm) == (theirs.stats, theirs.arm)


def test_it_never_draws_more_arms_than_joint_lucb():
    algorithm = design(NAME, 0.2, 0.2, 0.1)
    assert algorithm.arms == design("joint-lucb", 0.2, 0.2, 0.1).arms
    drawn = [interpreted(algorithm, NEEDLE, seed=seed)[0].arms for seed in range(10)]
    assert max(drawn) <= algorithm.arms
    assert min(drawn) < algorithm.arms


@pytest.mark.slow
def test_with_one_arm_it_is_returned():
    algorithm = design(NAME, 0.9, 0.2, 0.9, delta_u=0.1, challenger_weight=0.8, leader_weight=0.1)
    last = check_algorithm(algorithm, NEEDLE)
    assert last.t >= 1
    only = algorithm._replace(arms=1)
    assert interpreted(only, NEEDLE)[0].pulls == (1,)


def test_what_it_has_proved_at_the_stop_includes_the_target_with_few_arms():
    algorithm = design(NAME, 0.1, 0.2, 0.05)
    assert isinstance(algorithm, Certifier)
    few = 0
    for seed in range(6):
        search = interpret(algorithm, NEEDLE, seed=seed).search
        claims = search.claims(search.best)
        assert claims[0].alpha == algorithm.alpha
        assert claims[0].epsilon <= algorithm.epsilon
        few += search.history.arms < algorithm.arms
    assert few > 0


@pytest.mark.statistical
def test_claims_hold_at_all_times_of_a_run():
    """P(some claim is ever wrong) <= delta: claims of the best arm after every tenth pull, while arms are drawn."""
    algorithm, reservoir = design(NAME, 0.2, 0.2, 0.2), TwoPoint(0.79, 1.0, 0.2)
    wrong, said = 0, []
    for seed in range(30):
        said.append([])

        def watch(search, pull, reward, said=said[-1]):
            if search.history.t % 10 == 0:
                said.extend((search.best, claim) for claim in search.claims(search.best))

        run = interpret(algorithm, reservoir, seed=seed, watch=watch)
        wrong += any(
            run.means[arm] < reservoir.threshold(claim.alpha, claim.epsilon) - 1e-12 for arm, claim in said[-1]
        )
    assert sum(len(claims) for claims in said) > 100
    assert Count(wrong, 30).excess(algorithm.delta) > FALSE_ALARM


def run_parallel(algorithm, reservoir, width, seed):
    """A run with ``width`` pulls in flight whose rewards come back in any order."""
    order, means = random.Random(seed), reservoir.sample(4 * algorithm.arms, np.random.default_rng(seed))
    search, flying = Search(algorithm, seed=seed), []
    while not search.stopped:
        flying += search.ask_many(width - len(flying))
        if not flying:
            break
        pull = flying.pop(order.randrange(len(flying)))
        search.tell(pull, float(order.random() < means[pull.arm]))
    return search, means


@pytest.mark.parametrize("width", [2, 16])
def test_pulls_in_flight(width):
    algorithm = design(NAME, 0.2, 0.2, 0.1)
    good = 0
    for seed in range(5):
        search, means = run_parallel(algorithm, NEEDLE, width, seed)
        assert search.result.stopped
        assert search.history.arms <= algorithm.arms
        good += means[search.best] > 0.5
    assert good >= 4


def test_items_run_out():
    """Pass/fail on 20 items: a leader that has tried them all is replaced by fresh arms, and the run stops."""
    algorithm = design(NAME, 0.2, 0.1, 0.05, PassFail(20))
    order, means = random.Random(1), [0.2, 0.9, 0.3] * 200
    search = Search(algorithm, seed=0)
    left = {}
    while (pull := search.ask()) is not None:
        items = left.setdefault(pull.arm, [float(item < 20 * means[pull.arm]) for item in range(20)])
        search.tell(pull, items.pop(order.randrange(len(items))))
    assert means[search.best] == 0.9
    assert max(search.history.pulls) <= 20


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("reservoir", "delta"), [(JUST_OVER, 0.2), (JUST_OVER, 0.05), ("two-point(0.796,1,0.1)", 0.2)])
def test_the_error_is_at_most_delta(reservoir, delta):
    """The last one is what lazy draws make harder: arms just too low for the top, where few arms are drawn."""
    study = simulate(design(NAME, 0.1, 0.2, delta), parse(reservoir), runs=500, seed=1)
    assert study.errors.excess(delta) > FALSE_ALARM, study.errors


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("reservoir", [JUST_OVER, "two-point(0.796,1,0.1)"])
def test_evidence_that_is_far_too_loose_is_found_out(reservoir):
    algorithm = design(NAME, 0.1, 0.2, 0.05)._replace(log_leader=3.0)
    study = simulate(algorithm, parse(reservoir), runs=300, seed=1)
    assert study.errors.excess(0.05) < FALSE_ALARM, study.errors


@pytest.mark.slow
@pytest.mark.statistical
def test_a_leader_near_the_top_is_proved_with_far_fewer_pulls():
    mine = simulate(design(NAME, 0.1, 0.2, 1e-4), NEEDLE, runs=100, seed=3)
    theirs = simulate(design("joint-lucb", 0.1, 0.2, 1e-4), NEEDLE, runs=100, seed=3)
    assert mine.pulls.mean() < 0.6 * theirs.pulls.mean()
    assert mine.errors.count == 0
    # A pull adds kl(.9, .8) = .037 to ln M at x = 1, which must reach about ln(1/(w1 v delta)).
    least = (math.log(1.0 / (0.95e-4 * 0.15)) + math.log(2.0)) / 0.0367
    assert mine.pulls.mean() > 0.7 * least


@pytest.mark.slow
@pytest.mark.statistical
def test_elsewhere_it_needs_no_more_pulls_than_joint_lucb():
    reservoir = TwoPoint(0.5, 0.65, 0.12)
    mine = simulate(design(NAME, 0.1, 0.1, 0.05), reservoir, runs=100, seed=3)
    theirs = simulate(design("joint-lucb", 0.1, 0.1, 0.05), reservoir, runs=100, seed=3)
    assert mine.pulls.mean() < 1.15 * theirs.pulls.mean()
