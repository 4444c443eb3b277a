"""Each algorithm against an independent statement of what it should do."""

from __future__ import annotations

import json
import math

import mpmath
import numpy as np
import pytest

import pin_trajectories
from folders import DATA
from marks import quick
from topalpha.algorithms import PRINCIPAL, design
from topalpha.confidence.tilt_bounds import log_mixture, tilt_bound
from topalpha.families import Bernoulli, Exponential, Gaussian, Poisson
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Beta, Conditioned, Dirac, TwoPoint, Uniform, parse
from topalpha.rules.columns import LOWER, PLACE, PULLS_THEN, UPPER
from topalpha.rules.joint_stop import cell_certificate, leader_evidence
from topalpha.rules.protocol import History
from topalpha.rules.tournament import beats, empty_tree, play, rebuild, runner_up
from topalpha.simulation import simulate, standard_error
from topalpha.testing import compiled, interpreted

VECTORS = json.loads((DATA / "vectors.json").read_text())
PINNED = json.loads((DATA / "trajectories.json").read_text())
NAMES = [entry.name for entry in PRINCIPAL]
UNIT = Conditioned(Beta(1.0, 1.0), 0.95)


# ---- pinned trajectories and ties


@pytest.mark.parametrize("case", list(pin_trajectories.CASES))
def test_trajectories_stay_as_pinned(case):
    assert pin_trajectories.trajectory(case) == PINNED[case]


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


# ---- kl-lucb


def brute_force(algorithm, reservoir, seed, run, most=100_000):
    """KL-LUCB as printed: every bound inverted in every round, no memory, no trees."""
    source = streams(run_seed(seed, run))
    means = reservoir.sample(algorithm.arms, source.arms)
    arms, family = range(algorithm.arms), algorithm.family
    k1 = 2.0 * (1.0 + 1.0 / (algorithm.gamma - 1.0))
    pulls, totals, refreshed = [0] * len(arms), [0.0] * len(arms), [0] * len(arms)
    record = []

    def pull(arm):
        totals[arm] += family.sample(means[arm], source.rewards)
        pulls[arm] += 1
        record.append(arm)
        refreshed[arm] = len(record)

    def beta(arm):
        clock = len(record)
        if algorithm.own_clock:
            clock = pulls[arm]
        elif algorithm.overlapping_only:
            clock = refreshed[arm]
        return math.log(k1 * algorithm.arms / algorithm.delta) + algorithm.gamma * math.log(clock)

    def upper(arm):
        return family.upper(totals[arm] / pulls[arm], beta(arm) / pulls[arm])

    for arm in arms:
        pull(arm)
    while len(record) < most:
        leader = min(arms, key=lambda arm: (-totals[arm] / pulls[arm], pulls[arm], arm))
        if algorithm.overlapping_only:
            refreshed[leader] = len(record)
        lower = family.lower(totals[leader] / pulls[leader], beta(leader) / pulls[leader])
        if algorithm.overlapping_only:
            for arm in arms:
                if arm != leader and upper(arm) >= lower:
                    refreshed[arm] = len(record)
        uppers = [upper(arm) for arm in arms]
        others = [arm for arm in arms if arm != leader]
        challenger = min(others, key=lambda arm: (-uppers[arm], pulls[arm], arm))
        if uppers[challenger] - lower <= algorithm.epsilon:
            return leader, record
        if algorithm.least_only:
            pull(leader if pulls[leader] <= pulls[challenger] else challenger)
        else:
            pull(leader)
            pull(challenger)
    raise AssertionError("the reference did not stop")


KL_CASES = {
    "paper": ({}, Bernoulli(), UNIT, 0.2),
    "clock-N": ({"clock": "N"}, Bernoulli(), UNIT, 0.2),
    "least": ({"pull": "least"}, Bernoulli(), UNIT, 0.2),
    "least-clock-N": ({"pull": "least", "clock": "N"}, Bernoulli(), UNIT, 0.2),
    "overlapping": ({"refresh": "overlapping"}, Bernoulli(), UNIT, 0.2),
    "overlapping-least": ({"refresh": "overlapping", "pull": "least"}, Bernoulli(), UNIT, 0.2),
    "tight": ({"arms": "tight"}, Bernoulli(), TwoPoint(0.4, 0.65, 0.3), 0.2),
    "ties": ({}, Bernoulli(), Dirac(0.5), 0.35),
    "gaussian": ({}, Gaussian(0.5), Uniform(0.0, 1.0), 0.4),
    "gaussian-clock-N": ({"clock": "N"}, Gaussian(0.5), Uniform(0.0, 1.0), 0.4),
    "poisson": ({}, Poisson(3.0), Uniform(0.2, 2.0), 0.7),
    "exponential": ({}, Exponential(3.0), Uniform(0.2, 2.0), 1.0),
    "exponential-overlapping": ({"refresh": "overlapping"}, Exponential(3.0), Uniform(0.2, 2.0), 1.0),
}


@pytest.mark.parametrize("case", quick(KL_CASES, ["paper", "overlapping-least", "ties", "gaussian-clock-N", "poisson"]))
def test_kl_lucb_is_the_printed_algorithm(case):
    options, family, reservoir, epsilon = KL_CASES[case]
    algorithm = design("kl-lucb", 0.2, epsilon, 0.1, family, **options)
    for run in range(4):
        leader, record = brute_force(algorithm, reservoir, 11, run)
        last, steps = interpreted(algorithm, reservoir, 11, run)
        assert [step.arm for step in steps] == record
        assert last.arm == leader


def test_the_stop_example():
    example = VECTORS["stop_example"]
    arms = example["n"]
    plain = design("kl-lucb", 0.5, example["B"] - 1e-9, example["delta"])
    assert plain.gamma == example["gamma"]
    offset = math.log(example["k1"] * arms / example["delta"])
    history = History(example["t"], arms, list(example["N"]), [[float(s) for s in example["S"]], [0.0] * arms], [])
    for epsilon, count in ((example["B"] - 1e-9, 2), (example["B"] + 1e-9, 0)):
        algorithm = plain._replace(arms=arms, offset=offset, epsilon=epsilon)
        assert algorithm.rate(example["t"]) == pytest.approx(example["beta"], abs=1e-9)
        memory, batch = algorithm.scratch(arms), [-1, -1]
        assert algorithm.plan(history, memory, np.random.default_rng(0), batch) == count
        assert memory.bounds[example["b_hat"]] == pytest.approx(example["U"][example["b_hat"]], abs=1e-9)
        if count:
            assert batch == [example["a_hat"], example["b_hat"]]
        assert algorithm.recommend(history, memory) == example["a_hat"]
    for row in VECTORS["seed_rate"]:
        algorithm = plain._replace(offset=math.log(row["k1"] * row["n"] / row["delta"]))
        assert algorithm.rate(row["t"]) == pytest.approx(row["beta"], abs=1e-9)


# Mean pulls and their standard error over 100 runs of an independent implementation
TARGETS = [
    ("beta(1,1)", 0.05, 0.05, 0.05, {}, 12486, 475),
    ("beta(1,1)", 0.05, 0.05, 0.1, {}, 10372, 418),
    ("beta(1,1)", 0.1, 0.05, 0.05, {}, 8869, 396),
    ("beta(1,2)", 0.05, 0.05, 0.05, {}, 11813, 760),
    ("beta(1,2)", 0.05, 0.091, 0.05, {}, 5577, 310),
    ("beta(1,3)", 0.05, 0.05, 0.05, {}, 15002, 1125),
    ("beta(1,1)", 0.05, 0.05, 0.05, {"clock": "N"}, 10570, 441),
    ("beta(1,1)", 0.05, 0.05, 0.05, {"k1": 2.0}, 10866, 430),
]


@pytest.mark.statistical
@pytest.mark.parametrize(
    "target",
    quick([(one,) for one in TARGETS], [(TARGETS[4],), (TARGETS[6],)]),
    ids=lambda target: "-".join(str(part) for part in target[:5]),
)
def test_kl_lucb_needs_as_many_pulls_as_another_implementation(target):
    law, alpha, epsilon, delta, options, pulls, error = target
    study = simulate(design("kl-lucb", alpha, epsilon, delta, **options), parse(law, at_most=0.95), runs=100, seed=6)
    combined = math.hypot(error, standard_error(study.pulls))
    assert abs(study.pulls.mean() - pulls) < 4.0 * combined, f"{study.pulls.mean()} +- {standard_error(study.pulls)}"


# ---- cc-lucb


def exact_tilt_bound(tilts, weights, total, pulls, threshold, sign):
    """Where ln sum_j w_j exp(h_j S) / (1 + mu (e^h_j - 1))^N crosses the threshold, by bisection; sign -1: U, +1: L."""

    def value(mean):
        return mpmath.log(
            mpmath.fsum(
                w * mpmath.exp(h * total) * (1 + mean * mpmath.expm1(h)) ** (-pulls)
                for h, w in zip(tilts, weights, strict=True)
            )
        )

    inside, outside = mpmath.mpf(total) / pulls, mpmath.mpf(1 if sign < 0 else 0)
    if value(outside) < threshold:
        return outside
    for _ in range(60):
        middle = (inside + outside) / 2
        if value(middle) < threshold:
            inside = middle
        else:
            outside = middle
    return outside


@pytest.mark.parametrize("row", VECTORS["bernoulli_tilt_mixture"], ids=lambda row: f"{row['S']}-{row['N']}-{row['x']}")
def test_tilt_mixture_vectors(row):
    """J tilts in geometric progression from h_min to h_max, of equal weight."""
    sizes = np.geomspace(row["h_min"], row["h_max"], row["J"]).tolist()
    log_weights = [-math.log(row["J"])] * row["J"]
    down = [-size for size in sizes], [math.expm1(-size) for size in sizes], log_weights
    upper = tilt_bound(Bernoulli(), row["S"], row["N"], row["x"], *down, 1.0)
    assert row["U"] - 1e-12 <= upper <= row["U"] + 1e-9
    mirrored = tilt_bound(Bernoulli(), row["N"] - row["S"], row["N"], row["x"], *down, 1.0)
    assert 1.0 - mirrored == pytest.approx(row["L"], abs=1e-9)
    if row["L"] > 0.0:
        up = sizes, [math.expm1(size) for size in sizes], log_weights
        assert log_mixture(Bernoulli(), row["L"], row["S"], row["N"], *up)[0] == pytest.approx(row["x"], abs=1e-6)
    exact = exact_tilt_bound(down[0], [1.0 / row["J"]] * row["J"], row["S"], row["N"], row["x"], -1)
    assert float(exact) == pytest.approx(row["U"], abs=1e-12)


def observed(algorithm, rewards):
    """The statistics of a single arm after each reward."""
    pulls, stats = [0], [[0.0] for _ in range(algorithm.traits.columns)]
    state, memory = [0.0] * algorithm.traits.numbers, algorithm.scratch(1)
    for t, reward in enumerate(rewards, 1):
        algorithm.observe(History(t, 1, pulls, stats, state), memory, 0, reward)
        yield t, [column[0] for column in stats], memory


@pytest.mark.parametrize("mean", quick([0.02, 0.5, 0.9], [0.5]))
def test_the_running_bound_of_cc_lucb_is_the_least_exact_bound_so_far(mean):
    algorithm = design("cc-lucb", 0.05, 0.05, 0.05)
    rng = np.random.default_rng(3)
    # a drift upward after a poor start makes the running minimum differ from the bound of the moment
    rewards = [float(rng.random() < (0.5 * mean if t < 40 else mean)) for t in range(120)]
    least, total, moved = 1.0, 0.0, 0
    for t, row, memory in observed(algorithm, rewards):
        total += rewards[t - 1]
        tilts, weights = memory.lookup.down_tilts, [math.exp(w) for w in memory.lookup.log_weights]
        assert sum(weights) == pytest.approx(1.0)
        now = float(exact_tilt_bound(tilts, weights, total, t, algorithm.confidence.upper_threshold, -1))
        moved += now > least + 1e-6
        least = min(least, now)
        assert least - 1e-12 <= row[UPPER] <= least + 1e-9
    assert moved > 10, "the stream must show a difference between the running bound and that of the moment"


def test_cc_lucb_stops_when_the_leaders_lower_bound_says_so():
    algorithm = design("cc-lucb", 0.2, 0.2, 0.1)
    lookup = algorithm.confidence.tables()
    weights = [math.exp(w) for w in lookup.log_weights]
    rng = np.random.default_rng(5)
    for _ in range(40):
        pulls = int(rng.integers(5, 400))
        total = float(rng.integers(0, pulls + 1))
        lower = float(exact_tilt_bound(lookup.up_tilts, weights, total, pulls, algorithm.confidence.lower_threshold, 1))
        for shift, reached in ((-1e-7, True), (1e-7, False)):
            history = History(pulls, 1, [pulls], [[total], [1.0], [0.0]], [])
            assert algorithm.confidence.reaches(history, lookup, 0, lower + shift) == (reached or lower + shift <= 0.0)
        # the bound is remembered when it comes close, and counts for good
        assert history.stats[LOWER][0] == pytest.approx(lower, abs=1e-9)
        history.stats[0][0] = 0.0
        assert algorithm.confidence.reaches(history, lookup, 0, lower - 1e-8)
        assert not algorithm.confidence.reaches(history, lookup, 0, lower + 1e-8)


def test_levels_of_cc_lucb_add_up():
    for alpha in (0.01, 0.05, 0.3):
        for delta in (1e-8, 0.05, 0.5):
            algorithm = design("cc-lucb", alpha, 0.1, delta)
            delta_u = math.exp(-algorithm.confidence.upper_threshold)
            missed = (1.0 - alpha * (1.0 - delta_u)) ** algorithm.arms
            lower = algorithm.arms * (1.0 - alpha) * math.exp(-algorithm.confidence.lower_threshold)
            assert missed + lower <= delta * (1.0 + 1e-9)
            assert missed + lower >= 0.5 * delta, "levels must not be wasted"


# ---- joint-lucb


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
