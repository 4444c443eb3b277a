"""likelihood-toss: its exact cost and error, and that no rule of tossing or dropping is cheaper."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.support.marks import quick
from topalpha import Search, design, parse_reservoir, simulate
from topalpha.algorithms import prior_knowledge
from topalpha.families import Bernoulli, Exponential, Gaussian, Mirrored, Poisson
from topalpha.research.audit.cases import JUST_OVER
from topalpha.reservoirs import TwoPoint, Uniform
from topalpha.simulation import interpret
from topalpha.testing import check_algorithm

FALSE_ALARM = 1e-6
COIN = TwoPoint(0.4, 0.604, 0.1)


def toss(low, high, share, delta, family=None):
    """likelihood-toss for the question whether an arm is the high one."""
    return design("likelihood-toss", share, 0.98 * (high - low), delta, family, low=low, high=high, share=share)


class Exact(NamedTuple):
    """What a run of likelihood-toss costs and how often it errs."""

    pulls: float
    error: float


def bar(share, delta):
    return (1.0 - share) * (1.0 - delta) / (share * delta)


def exact(low, high, share, delta):
    """By the law of one coin on the lattice of heads and tosses: a run is a sequence of independent attempts."""
    stop, weights, heads_of = math.log(bar(share, delta)), np.array([1.0 - share, share]), np.array([[low], [high]])
    tosses, caught = 0.0, np.zeros(2)
    mass, first, time = np.array([[1.0], [1.0]]), 0, 0  # of a low and of a high coin, by the number of heads from first
    while mass.sum() > 1e-13:
        tosses += float(weights @ mass.sum(axis=1))
        mass = np.pad(mass * (1.0 - heads_of), ((0, 0), (0, 1))) + np.pad(mass * heads_of, ((0, 0), (1, 0)))
        time += 1
        ratio = log_ratio(low, high, np.arange(first, first + mass.shape[1]), time)
        caught += mass[:, ratio >= stop].sum(axis=1)
        alive = np.flatnonzero((ratio < stop) & (ratio >= -1e-9))
        if len(alive) == 0:
            break
        mass, first = mass[:, alive], first + int(alive[0])  # the ratio increases with the heads: one interval
    return Exact(tosses / float(weights @ caught), float(weights[0] * caught[0] / (weights @ caught)))


def log_ratio(low, high, heads, time):
    """What has not come up rules nothing out; what cannot come up decides."""
    up = math.log(high / low) if low > 0.0 else 1e300
    down = math.log((1.0 - high) / (1.0 - low)) if high < 1.0 else -1e300
    return heads * up + (time - heads) * down


def published(low, high, share, delta):
    """The bound of Chandrasekaran and Karp; their epsilon is half the gap."""
    return 16.0 / (0.5 * (high - low)) ** 2 * ((1.0 - share) / share + math.log(bar(share, delta)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"high": 0.6, "share": 0.1}, "low must be given"),
        ({"low": 0.4, "share": 0.1}, "high must be given"),
        ({"low": 0.4, "high": 0.6}, "share must be given"),
        ({"low": 0.6, "high": 0.6, "share": 0.1}, "high must be finite and above low"),
        ({"low": -0.1, "high": 0.6, "share": 0.1}, "low must be a mean of bernoulli, at least 0"),
        ({"low": 0.1, "high": 1.6, "share": 0.1}, "high must be a mean of bernoulli, at most 1"),
        ({"low": 0.1, "high": 0.6, "share": 1.0}, "share must lie strictly between 0 and 1"),
        ({"low": "much", "high": 0.6, "share": 0.1}, "low must be a real number"),
        ({"low": 0.1, "high": math.nan, "share": 0.1}, "high must be a real number"),
    ],
)
def test_likelihood_toss_must_be_told_the_reservoir(options, said):
    with pytest.raises(ValueError, match=said):
        design("likelihood-toss", 0.1, 0.1, 0.1, **options)


def test_a_family_without_such_a_mean_is_refused():
    with pytest.raises(ValueError, match="low must be a mean that exponential"):
        design("likelihood-toss", 0.1, 0.1, 0.1, Exponential(3.0), low=0.0, high=1.0, share=0.1)
    with pytest.raises(ValueError, match="high must be a mean that mirrored"):
        design("likelihood-toss", 0.1, 0.1, 0.1, Mirrored(Exponential(3.0)), low=-1.0, high=0.0, share=0.1)
    with pytest.raises(ValueError, match="family must be bernoulli, which covers"):
        design("jhr", 0.1, 0.1, 0.1, Gaussian(1.0))


@pytest.mark.parametrize(
    ("law", "family"),
    [
        (COIN, Bernoulli()),
        (TwoPoint(0.0, 0.3, 0.1), Bernoulli()),
        (TwoPoint(0.7, 1.0, 0.1), Bernoulli()),
        pytest.param(TwoPoint(-0.5, 0.5, 0.1), Gaussian(1.0), marks=pytest.mark.slow),
        pytest.param(TwoPoint(0.5, 1.5, 0.1), Poisson(3.0), marks=pytest.mark.slow),
        pytest.param(TwoPoint(0.5, 1.5, 0.1), Exponential(3.0), marks=pytest.mark.slow),
        pytest.param(TwoPoint(-1.5, -0.5, 0.1), Mirrored(Exponential(3.0)), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_every_driver_runs_the_same_likelihood_toss(law, family):
    assert check_algorithm(toss(law.low, law.high, law.probability, 0.1, family), law, seed=3).t > 5


def test_one_coin_is_tossed_at_a_time():
    for name, options in (("likelihood-toss", {"low": 0.4, "high": 0.6, "share": 0.1}), ("jhr", {})):
        search = Search(design(name, 0.1, 0.1, 0.1, **options))
        (pull,) = search.ask_many(4)
        assert search.ask_many(4) == []
        search.tell(pull, 1.0)
        (following,) = search.ask_many(4)
        assert (following.arm, following.number) == (0, 1)


def test_knowledge_is_the_two_point_law_where_only_the_higher_mean_is_acceptable():
    assert prior_knowledge("likelihood-toss", COIN, 0.1, 0.2) == {"low": 0.4, "high": 0.604, "share": 0.1}
    assert prior_knowledge("jhr", COIN, 0.1, 0.2) == {}
    for name in ("likelihood-toss", "jhr"):
        with pytest.raises(ValueError, match="reservoir must be two-point"):
            prior_knowledge(name, Uniform(0.0, 1.0), 0.1, 0.2)
        for alpha, epsilon in ((0.1, 0.21), (0.11, 0.2)):  # within epsilon; rarer than alpha
            with pytest.raises(ValueError, match="unacceptable arms"):
                prior_knowledge(name, COIN, alpha, epsilon)


@pytest.mark.parametrize(
    ("alpha", "epsilon", "delta", "share"), [(0.1, 0.21, 0.1, 0.1), (0.2, 0.1, 0.1, 0.1), (0.1, 0.2, 0.1, 0.95)]
)
def test_one_pull_where_any_arm_will_do(alpha, epsilon, delta, share):
    """Both means acceptable, the higher one too rare to matter, or an arm unseen good enough."""
    law = TwoPoint(0.4, 0.604, share)
    run = interpret(design("likelihood-toss", alpha, epsilon, delta, low=0.4, high=0.604, share=share), law)
    assert run.search.stopped
    assert run.search.result.pulls == 1


MORE_CASES = [(0.4, 0.604, 0.1, 0.1), (0.6, 0.7, 0.3, 0.3)]
CASES = [
    (0.4, 0.604, 0.1, 0.1),
    (0.2, 0.9, 0.3, 0.05),
    (0.0, 0.204, 0.1, 0.1),
    (0.796, 1.0, 0.1, 0.1),
    (0.05, 0.1, 0.4, 0.2),
]


def test_the_exact_law_agrees_with_the_gamblers_ruin():
    """At 0.5 -+ 0.1 the walk of heads less tails decides: dropped at -1, returned at +6 where the bar is 9.

    A high coin gets there first with probability (1 - 2/3) / (1 - (2/3)^7), a low one with (1 - 3/2) / (1 - (3/2)^7).
    """
    share, delta = 0.5, 0.1  # the bar is 9, and 1.5^5 < 9 < 1.5^6
    ruin = 1.5
    high = (1.0 - 1.0 / ruin) / (1.0 - ruin**-7)
    low = (1.0 - ruin) / (1.0 - ruin**7)
    # Wald: the drift of the walk is +-0.2, it ends at 6 or -1
    tosses = 0.5 * (7.0 * high - 1.0) / 0.2 + 0.5 * (7.0 * low - 1.0) / -0.2
    found = exact(0.4, 0.6, share, delta)
    assert found.pulls == pytest.approx(tosses / (0.5 * (high + low)), rel=1e-9)
    assert found.error == pytest.approx(low / (low + high), rel=1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize("case", quick([(case,) for case in CASES], [(CASES[0],)]), ids=str)
def test_pulls_and_errors_are_what_they_are_exactly(case):
    low, high, share, delta = case
    right = exact(*case)
    assert right.error <= delta
    study = simulate(toss(*case), TwoPoint(low, high, share), runs=1000, seed=1)
    assert abs(study.pulls.mean() - right.pulls) <= 5.0 * study.pulls.std() / math.sqrt(study.runs)
    assert binomtest(study.errors.count, study.runs, right.error).pvalue > FALSE_ALARM
    # A different rule would show: the same test rejects a cost a quarter off.
    assert abs(study.pulls.mean() - 1.25 * right.pulls) > 5.0 * study.pulls.std() / math.sqrt(study.runs)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("law", "family"),
    [
        (TwoPoint(0.0, 0.51, 0.1), Gaussian(0.5)),
        (TwoPoint(1.0, 2.02, 0.1), Poisson(3.0)),
        (TwoPoint(1.0, 2.02, 0.1), Exponential(3.0)),
    ],
    ids=str,
)
def test_other_families_err_at_most_delta(law, family):
    study = simulate(toss(law.low, law.high, 0.1, 0.2, family), law, runs=700, seed=2)
    assert study.errors.excess(0.2) > FALSE_ALARM
    assert study.errors.count > 20, "a reservoir without errors tests nothing"


@pytest.mark.statistical
def test_a_bar_too_low_is_found_out():
    right = toss(0.4, 0.604, 0.1, 0.1)
    law = parse_reservoir(JUST_OVER)
    assert simulate(right, law, runs=600, seed=3).errors.excess(0.1) > FALSE_ALARM
    loose = right._replace(stop_at=right.stop_at - math.log(9.0))  # as if half of the arms were high
    assert simulate(loose, law, runs=600, seed=3).errors.excess(0.1) < FALSE_ALARM


class Sly(NamedTuple):
    """Low arms are coins; high ones mostly give a reward that speaks, by a hair, against them."""

    hair: float

    def sample(self, mean, rng):
        if mean < 0.5:
            return 1.0 if rng.random() < mean else 0.0
        return 1.0 if rng.random() < (mean - self.hair) / (1.0 - self.hair) else self.hair


@pytest.mark.slow
@pytest.mark.statistical
def test_rewards_that_are_not_of_the_family_break_it():
    """Why the design says that rewards must be Bernoulli, unlike those of the other algorithms here.

    A high coin survives its first tosses one time in three; a sly high arm one time in five.
    """
    algorithm, law = toss(0.4, 0.6, 0.1, 0.1), TwoPoint(0.4, 0.6, 0.1)
    study = simulate(algorithm, law, runs=1500, seed=1, rewards=Sly(0.5 - 1e-5))
    assert exact(0.4, 0.6, 0.1, 0.1).error < 0.1
    assert study.errors.excess(0.1) < FALSE_ALARM


@pytest.mark.slow
def test_the_cost_stays_below_the_published_bound():
    grid = itertools.product((0.05, 0.5, 0.8), (0.1, 0.3), (0.01, 0.1, 0.45), (0.2, 0.001))
    checked = 0
    for low, gap, share, delta in grid:
        if low + gap < 1.0:
            checked += 1
            assert exact(low, low + gap, share, delta).pulls <= published(low, low + gap, share, delta)
    assert checked == 30


def best_possible(low, high, share, delta, horizon, beyond):
    """The least expected cost of any rule that tosses the coin in hand or drops it: the fixed point of its equation.

    ``beyond`` is what a coin that lives to the horizon costs from there on, as a share of starting again: 0 makes the
    answer a lower bound on every rule's cost, 1 an upper bound.
    """
    up, down = math.log(high / low), math.log((1.0 - high) / (1.0 - low))
    stop, prior = math.log(bar(share, delta)), math.log(share / (1.0 - share))

    def fresh(restart):
        value = np.full(horizon + 1, beyond * restart)
        for time in range(horizon - 1, -1, -1):
            heads = np.arange(time + 1)
            ratio = heads * up + (time - heads) * down
            posterior = 1.0 / (1.0 + np.exp(-np.clip(ratio + prior, -700.0, 700.0)))
            head = posterior * high + (1.0 - posterior) * low
            going_on = 1.0 + head * value[1 : time + 2] + (1.0 - head) * value[: time + 1]
            if time == 0:
                return float(going_on[0])
            value = np.where(ratio >= stop, 0.0, np.minimum(going_on, restart))
        raise AssertionError

    below, above = 0.0, 2000.0
    for _ in range(40):
        middle = 0.5 * (below + above)
        below, above = (middle, above) if fresh(middle) > middle else (below, middle)
    return above


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [(0.05, 0.2, 0.4, 0.2), *(pytest.param(one, marks=pytest.mark.slow) for one in MORE_CASES)]
)
def test_no_rule_of_tossing_or_dropping_is_cheaper(case):
    cost = exact(*case).pulls
    for beyond in (0.0, 1.0):
        assert best_possible(*case, horizon=500, beyond=beyond) == pytest.approx(cost, rel=1e-6)


def test_of_all_sets_of_states_to_go_on_in_the_rules_own_is_the_cheapest():
    """Every set by brute force, at 0.5 -+ 0.1, where heads less tails is all that matters and the bar is at +3."""
    share, delta, lowest, top = 0.3, 0.45, -5, 3
    assert 1.5**2 < bar(share, delta) < 1.5**3
    states = list(range(lowest, top))

    def heads(state):
        odds = 1.5**state * share / (1.0 - share)
        return (0.6 * odds + 0.4) / (odds + 1.0)

    def cost(kept):
        matrix, reward = np.eye(len(kept)), np.zeros((len(kept), 2))
        for row, state in enumerate(kept):
            reward[row, 0] = 1.0  # a toss
            for following, chance in ((state + 1, heads(state)), (state - 1, 1.0 - heads(state))):
                if following == top:
                    reward[row, 1] += chance
                elif following in kept:
                    matrix[row, kept.index(following)] -= chance
        tosses, success = np.linalg.solve(matrix, reward)[kept.index(0)]
        return tosses / success if success > 0.0 else math.inf

    costs = {}
    for flags in itertools.product((False, True), repeat=len(states)):
        kept = tuple(state for state, flag in zip(states, flags, strict=True) if flag)
        if 0 in kept:
            costs[kept] = cost(kept)
    assert len(costs) == 128
    own = costs[(0, 1, 2)]
    assert own == pytest.approx(exact(0.4, 0.6, share, delta).pulls, rel=1e-9)
    assert own == pytest.approx(min(costs.values()), rel=1e-12)
    others = [value for kept, value in costs.items() if -1 in kept]
    assert min(others) > 1.01 * own, "a wrong rule must cost more, or this says nothing"
