"""The sampling rules of the finite solvers, each by hand or against its law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import beta as beta_law
from scipy.stats import binom

from tests.support.transport import brute_force, kt_redundancy
from topalpha import Search
from topalpha.algorithms import design
from topalpha.families import Bernoulli, Exponential, Gaussian, Mirrored
from topalpha.reservoirs import Dirac
from topalpha.rules.likelihood_ratio import recall
from topalpha.rules.protocol import History
from topalpha.testing import interpreted


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


def test_variances_that_differ_by_many_orders_do_not_stop_track_and_stop():
    search = Search(design("track-and-stop", 0.9, 0.2, 1e-6, Mirrored(Exponential(3.0))))
    rng = np.random.default_rng(0)
    for _ in range(200):
        if (pull := search.ask()) is None:
            break
        search.tell(pull, -float(rng.exponential(1e-18 if pull.arm % 2 else 0.25)))
    assert search.history.t > 4
