"""Finite best-arm solvers as a second phase: the likelihood-ratio stop, and five sampling rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar
from scipy.special import betaln
from scipy.stats import beta as beta_law
from scipy.stats import binom

from marks import quick
from topalpha import Search
from topalpha.algorithms import design, entry
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Mirrored, Poisson
from topalpha.research.audit.cases import JUST_OVER
from topalpha.reservoirs import Dirac, Uniform, parse
from topalpha.rules.likelihood_ratio import pair_memory, recall, separation, transport
from topalpha.rules.protocol import History
from topalpha.simulation import simulate
from topalpha.testing import check_algorithm, check_design, interpreted

NAMES = ["ugape", "glr", "eb-tc", "ttts", "track-and-stop"]
PAIRS = NAMES[1:]
UNIT = parse("conditioned(beta(1,1),0.95)")
FALSE_ALARM = 1e-6


# ---- the transportation cost


def brute_force(family, mean, pulls, rival, others, epsilon):
    """W from a grid and a bounded minimisation around its best point: never below the true one but for rounding."""
    if rival >= mean + epsilon:
        return 0.0
    low, high = max(family.lowest, rival - epsilon), min(mean, family.highest - epsilon)
    if high < family.lowest:
        return math.inf

    def cost(point):
        moved = min(point + epsilon, family.highest)
        return pulls * family.divergence(mean, point) + others * family.divergence(rival, moved)

    if high <= low:
        return cost(high)
    grid = np.linspace(low, high, 501)
    values = [cost(point) for point in grid]
    best = int(np.argmin(values))
    ends = (grid[max(best - 1, 0)], grid[min(best + 1, 500)])
    found = minimize_scalar(cost, bounds=ends, method="bounded", options={"xatol": 1e-12 * (high - low)})
    return min(min(values), found.fun)


FAMILIES = [
    Bernoulli(),
    Bernoulli(0.7),
    Gaussian(0.5),
    Poisson(3.0),
    Poisson(),
    Exponential(3.0),
    Gamma(2.0, 3.0),
    Mirrored(Poisson(3.0)),
    Mirrored(Exponential(3.0)),
    Mirrored(Gamma(2.0, 3.0)),
]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_the_cost_is_the_minimum_and_never_above_it(family):
    rng = np.random.default_rng(7)
    lowest, highest = max(family.lowest, -3.0), min(family.highest, 3.0)
    positive = 0
    for _ in range(120):
        pulls, others = (int(math.exp(rng.uniform(0.0, 9.0))) for _ in range(2))
        if isinstance(family, Bernoulli):
            mean, rival = rng.integers(0, pulls + 1) / pulls, rng.integers(0, others + 1) / others
        else:
            mean, rival = rng.uniform(lowest, highest, 2)
        epsilon = math.exp(rng.uniform(-4.0, -0.5)) * (highest - lowest)
        true = brute_force(family, mean, pulls, rival, others, epsilon)
        cost = transport(family, mean, pulls, rival, others, epsilon)
        if 0.0 < true < math.inf:
            positive += 1
            assert (1.0 - 1e-7) * true <= cost < true, (mean, pulls, rival, others, epsilon)
        else:
            assert cost == true
    assert positive > 50


def test_costs_that_can_be_written_down():
    unit = Bernoulli()
    assert transport(unit, 0.0, 9, 0.0, 20, 0.3) == pytest.approx(-20 * math.log(0.7), rel=1e-8)
    assert transport(unit, 1.0, 9, 1.0, 20, 0.3) == pytest.approx(-9 * math.log(0.7), rel=1e-8)
    assert transport(unit, 0.5, 9, 0.8, 20, 0.3) == 0.0
    assert transport(unit, 0.5, 9, 0.5, 20, 1.1) == math.inf
    # by symmetry the minimiser of p, 1 - p with equal pulls is (1 - epsilon) / 2
    assert transport(unit, 0.7, 50, 0.3, 50, 0.2) == pytest.approx(100 * unit.divergence(0.7, 0.4), rel=1e-8)
    # a highest mean below both averages: only x = highest - epsilon, y = highest are left to choose
    assert transport(Bernoulli(0.5), 0.9, 10, 0.9, 10, 0.2) == pytest.approx(
        10 * unit.divergence(0.9, 0.3) + 10 * unit.divergence(0.9, 0.5), rel=1e-8
    )


@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e-15, 1e-9, 1e-3])
def test_the_cost_where_variances_vanish(epsilon):
    """An average of 0 or 1: the slope is 0 at an end of the range that is not the minimiser."""
    for mean, rival in ((1.0, 0.8), (0.3, 0.0), (1.0, 0.0)):
        true = brute_force(Bernoulli(), mean, 23, rival, 19, epsilon)
        assert true * (1.0 - 1e-6) < transport(Bernoulli(), mean, 23, rival, 19, epsilon) < true
    for family, mean, rival in ((Poisson(3.0), 2.0, 0.0), (Mirrored(Poisson(3.0)), 0.0, -2.0)):
        true = brute_force(family, mean, 23, rival, 19, epsilon)
        assert true * (1.0 - 1e-6) < transport(family, mean, 23, rival, 19, epsilon) < true


def test_rounding_is_on_the_safe_side_even_where_means_are_huge():
    """Means of 1e9 with gaps of 1 leave 7 digits; the cost must still not exceed that of the exact numbers."""
    exact = (1.0 + 0.5) ** 2 / (2.0 * (1.0 / 40 + 1.0 / 30))
    cost = transport(Gaussian(1.0), 1e9 + 1.0, 40, 1e9, 30, 0.5)
    assert 0.9999 * exact < cost < exact


# ---- the stop


def kt_redundancy(total, pulls):
    mean = total / pulls
    likelihood = sum(count * math.log(share) for count, share in ((total, mean), (pulls - total, 1 - mean)) if count)
    return likelihood - betaln(total + 0.5, pulls - total + 0.5) + math.log(math.pi)


def weakest_evidence(pulls, totals, leader, epsilon):
    values = []
    for rival in range(len(pulls)):
        if rival != leader:
            means = totals[leader] / pulls[leader], totals[rival] / pulls[rival]
            cost = brute_force(Bernoulli(), means[0], pulls[leader], means[1], pulls[rival], epsilon)
            spent = kt_redundancy(totals[leader], pulls[leader]) + kt_redundancy(totals[rival], pulls[rival])
            values.append(cost - spent)
    return min(values)


@pytest.mark.parametrize("name", PAIRS)
def test_a_run_stops_when_the_evidence_is_there_and_not_later(name):
    algorithm = design(name, 0.3, 0.25, 0.1)
    assert algorithm.threshold == pytest.approx(math.log(2 * (algorithm.arms - 1) / 0.1))
    last, record = interpreted(algorithm, UNIT, seed=5)
    pulls, totals = list(last.pulls), list(last.stats[0])
    now = weakest_evidence(pulls, totals, last.arm, 0.25)
    assert now > algorithm.threshold - 1e-6
    for _ in range(algorithm.traits.width):  # the round before
        step = record.pop()
        pulls[step.arm] -= 1
        totals[step.arm] -= step.reward
    means = [total / count for total, count in zip(totals, pulls, strict=True)]
    if name != "track-and-stop":
        leaders = [arm for arm, mean in enumerate(means) if mean == max(means)]
        assert min(weakest_evidence(pulls, totals, arm, 0.25) for arm in leaders) < algorithm.threshold


def test_one_arm_or_a_small_pool():
    for name in NAMES:
        last, _ = interpreted(design(name, 0.2, 0.2, 0.1)._replace(arms=1), UNIT)
        assert (last.t, last.arm) == (1, 0)
        assert design(name, 0.1, 0.1, 0.1, pool=12).arms == 12
        assert design(name, 0.1, 0.1, 0.1).arms == 29


def test_the_likelihood_ratio_stops_before_intervals_separate():
    """Two arms of averages .7 and .5 with equal pulls: the first N at which each certificate of n = 29 arms holds."""
    pairs, intervals = design("glr", 0.1, 0.1, 0.1), design("lucb++", 0.1, 0.1, 0.1)

    def first(holds):
        return next(n for n in range(10, 5000, 10) if holds(n))

    def ratio(n):
        memory, history = pair_memory(2), History(2 * n, 2, [n, n], [[0.7 * n, 0.5 * n]], [])
        recall(Bernoulli(), history, memory)
        return separation(Bernoulli(), history, memory, 0, 1, 0.1) >= pairs.threshold

    def overlap(n):
        history = History(2 * n, 2, [n, n], [[0.7 * n, 0.5 * n]], [])
        upper, lower = intervals.upper_bound(history, None, 1), intervals.lower_bound(history, None, 0)
        return upper - lower <= 0.1

    assert first(ratio) == first(lambda n: weakest_evidence([n, n], [0.7 * n, 0.5 * n], 0, 0.1) >= pairs.threshold)
    assert (first(ratio), first(overlap)) == (130, 180)


@pytest.mark.statistical
@pytest.mark.slow
def test_on_a_typical_instance_it_takes_fewer_pulls_than_intervals():
    means = {name: simulate(design(name, 0.1, 0.1, 0.1), UNIT, runs=200, seed=4).pulls.mean() for name in ALL}
    for name in ("glr", "eb-tc"):
        assert means[name] < 0.9 * means["lucb++"], means
    assert means["ttts"] < means["lucb++"], means
    assert means["ugape"] < 1.3 * means["lucb++"], means
    assert means["track-and-stop"] < 1.5 * means["lucb++"], means


ALL = [*NAMES, "lucb++"]


@pytest.mark.statistical
@pytest.mark.parametrize("name", quick(NAMES, ["ugape"]))
def test_the_error_is_at_most_delta_and_a_loose_threshold_is_found_out(name):
    reservoir = parse(JUST_OVER)
    algorithm = design(name, 0.1, 0.2, 0.1)
    study = simulate(algorithm, reservoir, runs=300, seed=1)
    assert binom.sf(study.errors.count - 1, 300, 0.1) > FALSE_ALARM, study.errors
    if name == "ugape":
        loose = algorithm._replace(upper_threshold=-1.0, lower_threshold=-1.0)
    else:
        loose = algorithm._replace(threshold=-2.0)
    wrong = simulate(loose, reservoir, runs=300, seed=1)
    assert binom.sf(wrong.errors.count - 1, 300, 0.1) < FALSE_ALARM, wrong.errors


def test_the_product_of_two_mixtures_has_mean_one_under_an_adaptive_rule():
    """Exactly, over all outcomes of six pulls; the arm pulled next depends on everything before."""
    means, expected = (0.3, 0.6), 0.0
    for outcome in range(2**6):
        pulls, totals, chance = [1, 1], [0.0, 0.0], 1.0
        for step in range(6):
            success = outcome >> step & 1
            arm = step if step < 2 else int(totals[0] / pulls[0] < totals[1] / pulls[1])
            pulls[arm] += step >= 2
            totals[arm] += success
            chance *= means[arm] if success else 1.0 - means[arm]
        evidence = sum(
            pulls[arm] * Bernoulli().divergence(totals[arm] / pulls[arm], means[arm])
            - Bernoulli().redundancy(totals[arm], pulls[arm])
            for arm in range(2)
        )
        expected += chance * math.exp(evidence)
    assert expected == pytest.approx(1.0, abs=1e-12)


# ---- claims before the stop


@pytest.mark.parametrize("name", PAIRS)
def test_claims_are_the_stop_at_other_epsilons(name):
    algorithm = design(name, 0.3, 0.25, 0.1)
    last, _ = interpreted(algorithm, UNIT, seed=5)
    history = History(last.t, last.arms, list(last.pulls), [list(column) for column in last.stats], list(last.state))
    ((alpha, epsilon),) = algorithm.claims(history, None, last.arm)
    assert alpha == 0.3
    assert 0.0 < epsilon <= 0.25
    totals = last.stats[0]
    assert weakest_evidence(last.pulls, totals, last.arm, epsilon) == pytest.approx(algorithm.threshold, abs=1e-5)
    worst = min(range(last.arms), key=lambda arm: totals[arm] / last.pulls[arm])
    ((_, larger),) = algorithm.claims(history, None, worst)
    assert larger > epsilon
    assert algorithm.claims(history._replace(arms=algorithm.arms - 1), None, 0) == []
    assert (algorithm.lower_bound(history, None, 0), algorithm.upper_bound(history, None, 0)) == (0.0, 1.0)


# ---- designs and drivers


@pytest.mark.parametrize("name", NAMES)
def test_designs_refuse_what_makes_no_sense(name):
    check_design(entry(name).design)
    if name != "ttts":
        with pytest.raises(ValueError, match="delta must not be so small"):
            design(name, 0.1, 0.1, 1e-28, Gaussian())


def test_what_else_designs_refuse():
    for model in (Gaussian(), Exponential()):
        with pytest.raises(ValueError, match="family must be bernoulli"):
            design("ttts", 0.1, 0.1, 0.1, model)
    # the product of two Gaussian mixtures is covered up to a threshold of 39 nats
    assert design("glr", 0.1, 0.1, 1e-13, Gaussian()).threshold < 39.0
    with pytest.raises(ValueError, match="delta must not be so small"):
        design("glr", 0.1, 0.1, 1e-15, Gaussian())
    with pytest.raises(ValueError, match="stick must be at least 0 and below 1, got"):
        design("track-and-stop", 0.1, 0.1, 0.1, stick=1.0)
    with pytest.raises(ValueError, match="beta must lie strictly between 0 and 1"):
        design("ttts", 0.1, 0.1, 0.1, beta=1.0)
    with pytest.raises(ValueError, match="resamples must be a whole number of at least 1"):
        design("ttts", 0.1, 0.1, 0.1, resamples=0)
    with pytest.raises(ValueError, match="slack must be positive"):
        design("eb-tc", 0.1, 0.1, 0.1, slack=0.0)


def test_joint_evidence_needs_the_order_of_all_pulls():
    for name in PAIRS:
        traits = design(name, 0.1, 0.1, 0.1).traits
        assert (traits.independent, traits.global_order) == (True, True)
    traits = design("ugape", 0.1, 0.1, 0.1).traits
    assert (traits.independent, traits.global_order) == (False, False)


CASES = {
    "ugape": ("ugape", {}, None, UNIT, 0.3),
    "glr": ("glr", {}, None, UNIT, 0.3),
    "glr exponential": ("glr", {}, Exponential(3.0), Uniform(0.2, 2.0), 1.0),
    "eb-tc": ("eb-tc", {}, None, UNIT, 0.3),
    "eb-tc slack": ("eb-tc", {"slack": 0.1}, None, UNIT, 0.3),
    "ttts": ("ttts", {}, None, UNIT, 0.3),
    "ttts other": ("ttts", {"beta": 0.7, "resamples": 5}, None, UNIT, 0.3),
    "track-and-stop": ("track-and-stop", {}, None, UNIT, 0.3),
    "track-and-stop ties": ("track-and-stop", {"stick": 0.5}, None, Dirac(0.5), 0.4),
    "track-and-stop gaussian": ("track-and-stop", {}, Gaussian(0.5), Uniform(0.0, 1.0), 0.6),
}

#: Pulls and arm of each case with seed 2018; they change only where a rule is meant to change.
PINNED = {
    "ugape": (144, 3),
    "glr": (57, 3),
    "glr exponential": (437, 3),
    "eb-tc": (102, 3),
    "eb-tc slack": (104, 3),
    "ttts": (38, 3),
    "ttts other": (98, 3),
    "track-and-stop": (69, 3),
    "track-and-stop ties": (211, 0),
    "track-and-stop gaussian": (84, 3),
}


OTHER_REWARDS = [case for case, (_, _, family, *_) in CASES.items() if family is not None]


@pytest.mark.parametrize("case", list(CASES))
def test_trajectories_stay_as_pinned(case):
    name, options, family, reservoir, epsilon = CASES[case]
    last, _ = interpreted(design(name, 0.3, epsilon, 0.2, family, **options), reservoir, seed=2018)
    assert (last.t, last.arm) == PINNED[case]


@pytest.mark.parametrize(
    "case", quick(CASES, [case for case in CASES if case.startswith("ugape") and case not in OTHER_REWARDS])
)
def test_all_drivers_agree(case):
    name, options, family, reservoir, epsilon = CASES[case]
    check_algorithm(design(name, 0.3, epsilon, 0.2, family, **options), reservoir, seed=2018)


@pytest.mark.parametrize("name", NAMES)
def test_four_at_a_time_told_in_any_order(name):
    algorithm = design(name, 0.3, 0.3, 0.2)
    rng, means = np.random.default_rng(3), np.random.default_rng(4).uniform(0.0, 0.95, algorithm.arms)
    search, out = Search(algorithm, 1), []
    for _ in range(5000):
        out += search.ask_many(4 - len(out))
        if search.stopped:
            break
        assert out, "with nothing in flight an algorithm must not wait"
        pull = out.pop(int(rng.integers(len(out))))
        search.tell(pull, float(rng.random() < means[pull.arm]))
    assert search.stopped
    pulls, totals, best = list(search.history.pulls), list(search.history.stats[0]), search.result.arm
    if name == "ugape":
        assert search.claims(best)[0].epsilon <= 0.3
    else:
        assert weakest_evidence(pulls, totals, best, 0.3) > algorithm.threshold - 1e-6


# ---- the sampling rules


def prepared(algorithm, pulls, totals):
    """A history with these counts, in a fresh memory."""
    arms = len(pulls)
    columns = [list(totals), *([0.0] * arms for _ in range(algorithm.traits.columns - 1))]
    history = History(sum(pulls), arms, list(pulls), columns, [0.0] * algorithm.traits.numbers)
    return history, algorithm.scratch(arms)


def test_ugape_pulls_the_wider_of_the_least_gap_index_and_its_rival():
    rng, algorithm = np.random.default_rng(0), design("ugape", 0.3, 0.01, 0.1)
    seen = set()
    for _ in range(100):
        pulls = rng.integers(1, 60, algorithm.arms).tolist()
        totals = [float(rng.integers(0, count + 1)) for count in pulls]
        history, memory = prepared(algorithm, pulls, totals)
        batch = [-1]
        assert algorithm.plan(history, memory, rng, batch) == 1
        uppers = [algorithm.upper_bound(history, memory, arm) for arm in range(algorithm.arms)]
        lowers = [algorithm.lower_bound(history, memory, arm) for arm in range(algorithm.arms)]
        gaps = [max(uppers[:k] + uppers[k + 1 :]) - lowers[k] for k in range(algorithm.arms)]
        candidate = algorithm.recommend(history, memory)
        assert gaps[candidate] == min(gaps)
        rival = max(
            (arm for arm in range(algorithm.arms) if arm != candidate), key=lambda arm: (uppers[arm], -pulls[arm])
        )
        widths = [upper - lower for upper, lower in zip(uppers, lowers, strict=True)]
        assert widths[batch[0]] == max(widths[candidate], widths[rival])
        assert widths[batch[0]] >= gaps[candidate] > 0.01  # Proposition 1
        seen.add((batch[0] == candidate, uppers[candidate] == max(uppers)))
    # a candidate that is not the arm of largest U has an interval inside that one's
    assert seen == {(False, False), (False, True), (True, True)}


def test_ugape_respects_its_sure_cap():
    algorithm = design("ugape", 0.3, 0.3, 0.2)
    enough = math.log(4 * algorithm.arms / 0.2) + math.log(2.0)
    cap = 1 + max(n for n in range(1, 5000) if 0.3**2 * n / 2 < enough + 0.5 * math.log(n))
    last, _ = interpreted(algorithm, Dirac(0.5), seed=1)
    assert 0.2 * cap < max(last.pulls) <= cap


def test_glr_pulls_the_leader_and_the_rival_that_the_stop_waits_for():
    rng, algorithm = np.random.default_rng(1), design("glr", 0.3, 0.1, 0.1)
    for _ in range(20):
        pulls = rng.integers(1, 60, algorithm.arms).tolist()
        totals = [float(rng.integers(0, count + 1)) for count in pulls]
        means = [total / count for total, count in zip(totals, pulls, strict=True)]
        history, memory = prepared(algorithm, pulls, totals)
        batch = [-1, -1]
        if algorithm.plan(history, memory, rng, batch) == 0:
            continue
        assert means[batch[0]] == max(means)
        costs = {
            rival: brute_force(Bernoulli(), means[batch[0]], pulls[batch[0]], means[rival], pulls[rival], 0.1)
            - kt_redundancy(totals[rival], pulls[rival])
            for rival in range(algorithm.arms)
            if rival != batch[0]
        }
        assert costs[batch[1]] == pytest.approx(min(costs.values()), abs=1e-5)


def test_eb_tc_gives_half_of_an_arm_s_rounds_as_leader_to_itself():
    """Arm 0 leads throughout; its rival is the arm of least cost, without redundancies."""
    algorithm, rng = design("eb-tc", 0.5, 0.01, 0.1), np.random.default_rng(0)
    pulls, totals = [40, 10, 30, 20, 5], [36.0, 5.0, 24.0, 10.0, 1.0]
    history, memory = prepared(algorithm._replace(arms=5), pulls, totals)
    chosen, batch = [], [-1]
    for _ in range(6):
        assert algorithm._replace(arms=5).plan(history, memory, rng, batch) == 1
        chosen.append(batch[0])
    costs = [
        brute_force(Bernoulli(), 0.9, 40, total / count, count, 0.01)
        for total, count in zip(totals[1:], pulls[1:], strict=True)
    ]
    rival = 1 + int(np.argmin(costs))
    assert chosen == [0, rival] * 3


def test_ttts_pulls_the_best_of_a_sample_as_often_as_it_should():
    """Two arms: the first is pulled with probability beta P + (1 - beta)(1 - P), P the chance that it is best."""
    algorithm = design("ttts", 0.7, 0.01, 0.1, beta=0.75)._replace(arms=2)
    history, memory = prepared(algorithm, [10, 14], [6.0, 7.0])
    first, second = beta_law(7.0, 5.0), beta_law(8.0, 8.0)
    chance = quad(lambda x: first.pdf(x) * second.cdf(x), 0.0, 1.0)[0]
    wanted = 0.75 * chance + 0.25 * (1.0 - chance)
    rng, batch, count = np.random.default_rng(5), [-1], 0
    for _ in range(4000):
        assert algorithm.plan(history, memory, rng, batch) == 1
        count += batch[0] == 0
    assert 0.6 < chance < 0.8
    assert min(binom.sf(count - 1, 4000, wanted), binom.cdf(count, 4000, wanted)) > 1e-4


def test_track_and_stop_proportions_solve_the_gaussian_problem():
    algorithm = design("track-and-stop", 0.5, 0.2, 0.1, Gaussian(1.0))._replace(arms=5)
    history, memory = prepared(algorithm, [8] * 5, [8 * mean for mean in (1.0, 0.9, 0.6, 0.2, -0.5)])
    recall(algorithm.family, history, memory)
    assert algorithm.rule.answer_now(algorithm, history, memory) == 0
    algorithm.rule.proportions(algorithm, history, memory, 0)
    shares = np.array(memory.draws) / sum(memory.draws)
    gaps = np.array([0.3, 0.6, 1.0, 1.7])

    def cost(weights):
        return gaps**2 / (2.0 * (1.0 / weights[0] + 1.0 / weights[1:]))

    assert cost(shares) == pytest.approx(np.full(4, cost(shares)[0]), rel=1e-9)
    assert shares[0] ** 2 == pytest.approx((shares[1:] ** 2).sum(), rel=1e-5)
    tries = [
        minimize(
            lambda free: -cost(np.exp(free) / np.exp(free).sum()).min(),
            start,
            method="Nelder-Mead",
            options={"maxiter": 4000},
        )
        for start in (np.log(shares) + 0.3, np.zeros(5))
    ]
    best = -min(one.fun for one in tries)
    assert 0.99 * cost(shares)[0] < best < 1.0001 * cost(shares)[0]


def test_track_and_stop_tracks_explores_and_sticks():
    algorithm = design("track-and-stop", 0.5, 0.2, 0.1, Gaussian(1.0))._replace(arms=3)
    history, memory = prepared(algorithm, [50, 50, 50], [50.0, 51.0, 0.0])
    recall(algorithm.family, history, memory)
    assert algorithm.rule.answer_now(algorithm, history, memory) == 0  # within .02 of the largest mean
    assert algorithm.rule._replace(stick=0.0).answer_now(algorithm, history, memory) == 1
    memory.draws[:] = [1.0, 2.0, 1.0]
    assert algorithm.rule.tracked(history, memory) == 1
    few = history._replace(pulls=[50, 90, 10])  # sqrt(150) - 1.5 = 10.7
    assert algorithm.rule.tracked(few, memory) == 2
    assert algorithm.rule.tracked(history._replace(pulls=[50, 89, 11]), memory) == 2
    assert algorithm.rule.tracked(history._replace(pulls=[20, 89, 41]), memory) == 0


def test_one_reward_next_to_the_highest_is_no_proof():
    """left + gap may round to the highest mean, where the divergence from anything below is infinite."""
    almost = 1.0 - 2.0**-53
    for epsilon in np.linspace(0.01, 0.6, 500):
        exact = -math.log1p(-epsilon)  # all of it in moving the leader from 1 to 1 - epsilon
        assert transport(Bernoulli(), 1.0, 1, almost, 1, float(epsilon)) <= exact * (1.0 + 1e-9)
    for family in (Mirrored(Exponential(3.0)), Mirrored(Gamma(2.0, 3.0))):
        assert transport(family, -0.01, 1, -1e-18, 1, 0.2) < 10.0


@pytest.mark.parametrize("name", quick(["glr", "eb-tc", "ttts", "track-and-stop"], ["glr"]))
def test_rewards_a_rounding_below_1_are_rewards_like_others(name):
    """Half the arms always pay the largest number below 1, half are coins: one pull each is no proof of anything."""
    rng, wrong = np.random.default_rng(3), 0
    for seed in range(60):
        search = Search(design(name, 0.9, 0.3, 0.001), seed)
        good = rng.random(64) < 0.5
        while (pull := search.ask()) is not None:
            reward = 1.0 - 2.0**-53 if good[pull.arm] else float(rng.random() < 0.6)
            search.tell(pull, reward)
        wrong += not good[search.best] and bool(good[: search.history.arms].any())
    assert wrong <= 2, "chance of more at delta = 0.001: below 1e-4"


def test_variances_that_differ_by_many_orders_do_not_stop_track_and_stop():
    search = Search(design("track-and-stop", 0.9, 0.2, 1e-6, Mirrored(Exponential(3.0))))
    rng = np.random.default_rng(0)
    for _ in range(200):
        if (pull := search.ask()) is None:
            break
        search.tell(pull, -float(rng.exponential(1e-18 if pull.arm % 2 else 0.25)))
    assert search.history.t > 4


def test_a_finite_list_needs_no_more_arms_than_it_has():
    for name in ("ugape", "glr", "eb-tc", "ttts", "track-and-stop"):
        assert design(name, 0.1, 0.2, 0.1, pool=7).arms == 7
        assert design(name, 0.1, 0.2, 0.1, pool=10_000).arms == design(name, 0.1, 0.2, 0.1).arms
