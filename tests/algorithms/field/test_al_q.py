"""al-q-ik and al-q-iu: the threshold that is told or estimated, and pulls in whole repetitions."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binom

from tests.support.threshold_runs import advanced, needed, on
from topalpha.algorithms import design, prior_knowledge
from topalpha.algorithms.field.al_q_ik import repetitions
from topalpha.algorithms.field.al_q_iu import limit_estimation
from topalpha.research.audit.cases import JUST_OVER
from topalpha.reservoirs import Dirac, Discrete, Uniform, parse
from topalpha.simulation import simulate
from topalpha.testing import check_algorithm

FALSE_ALARM = 1e-6


def test_al_q_ik_must_be_told_the_threshold():
    assert prior_knowledge("al-q-ik", parse(JUST_OVER), 0.1, 0.2) == {"threshold": 0.604}
    assert prior_knowledge("al-q-iu", parse(JUST_OVER), 0.1, 0.2) == {}
    with pytest.raises(ValueError, match="threshold must be given"):
        design("al-q-ik", 0.1, 0.1, 0.1)
    for wrong in (math.inf, math.nan, "high"):
        with pytest.raises(ValueError, match="threshold must be"):
            design("al-q-ik", 0.1, 0.1, 0.1, threshold=wrong)
    for name in ("al-q-ik", "al-q-iu"):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
            design(name, 0.1, 0.1, 0.1, k=0, **needed(name))
    with pytest.raises(ValueError, match="arms must be one of fresh, same"):
        design("cc-me", 0.1, 0.1, 0.1, arms="stale")


@pytest.mark.slow
def test_rejected_repetitions_and_several_arms_run_the_same_in_every_way():
    algorithm = design("al-q-ik", 0.5, 1.0, 0.5, threshold=1.4, k=2)  # accepts at 0.55 and more
    last = check_algorithm(algorithm, Uniform(0.0, 0.6), seed=3)
    assert last.arms > 2 * algorithm.arms, "no repetition was rejected"


@pytest.mark.parametrize("delta", [0.3, 0.01])
@pytest.mark.parametrize("wanted", [1, 4])
@pytest.mark.parametrize("threshold", [0.604, 0.35, 0.9])
def test_the_test_of_one_arm_errs_at_most_delta_over_k_either_way(delta, wanted, threshold):
    epsilon = 0.2
    plan = repetitions(0.1, epsilon, delta, wanted)
    least = math.ceil((threshold - plan.margin) * plan.test_pulls)  # so many successes are accepted
    assert binom.sf(least - 1, plan.test_pulls, threshold - epsilon) <= delta / wanted
    assert binom.cdf(least - 1, plan.test_pulls, threshold - plan.elimination.accuracy) <= delta / wanted
    edge = plan.margin - plan.elimination.accuracy
    assert plan.elimination.accuracy + 2 * edge == pytest.approx(epsilon)
    assert 0.9**plan.drawn <= 1 / 3 < 0.9 ** (plan.drawn - 1) * 1.06
    # A repetition ends well as often as not: 2/3 for the draw, 3/4 for the elimination.
    assert plan.elimination.level == 0.25


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.02, 0.95])
@pytest.mark.parametrize("delta", [0.4, 0.05, 1e-4])
def test_the_rank_of_the_limit_by_the_exact_binomial_law(alpha, delta):
    """At least m arms reach q+(alpha), and fewer than m exceed q+(alpha/2), each but for delta/5."""
    plan = limit_estimation(alpha, 0.1, delta)
    assert 1 < plan.best.keep < plan.drawn
    assert binom.cdf(plan.best.keep - 1, plan.drawn, alpha) <= delta / 5
    assert binom.sf(plan.best.keep - 1, plan.drawn, alpha / 2) <= delta / 5
    assert plan.best.level == plan.worst.level == pytest.approx(delta / 5)
    edge = plan.margin - plan.worst.accuracy
    assert plan.best.accuracy + plan.worst.accuracy + 2 * edge == pytest.approx(0.1)
    assert 2 * math.exp(-2 * plan.measure_pulls * edge**2) <= delta / 5


@pytest.mark.slow
def test_a_run_of_al_q_ik_is_a_whole_number_of_repetitions():
    reservoir = parse(JUST_OVER)
    algorithm = on("al-q-ik", reservoir, 0.1, 0.2, 0.1)
    assert algorithm.arms == 11
    study = simulate(algorithm, reservoir, runs=200, seed=5)
    cost = algorithm.tries.repetition_cost()
    counts = study.pulls / cost
    assert (counts == counts.astype(int)).all()
    assert counts.min() == 1
    assert counts.max() >= 3
    # The elimination finds a good arm if there is one: 1 - 0.9^11 of the repetitions.
    assert counts.mean() == pytest.approx(1 / (1 - 0.9**11), abs=0.3)
    assert cost < study.pulls.mean() < algorithm.design_pulls() == pytest.approx(2 * cost / 0.9)


@pytest.mark.slow
def test_a_run_of_al_q_iu_is_its_estimation_and_a_whole_number_of_repetitions():
    reservoir = parse(JUST_OVER)
    algorithm = design("al-q-iu", 0.1, 0.2, 0.1)
    assert algorithm.arms == math.ceil(320 * math.log(100)) == 1474
    assert algorithm.tries.drawn == math.ceil(20 * math.log(3)) == 22
    study = simulate(algorithm, reservoir, runs=30, seed=5)
    counts = (study.pulls - algorithm.estimation.estimate_cost()) / algorithm.tries.repetition_cost()
    assert (counts == counts.astype(int)).all()
    assert counts.min() == 1
    assert algorithm.estimation.estimate_cost() < study.pulls.mean() < algorithm.design_pulls()


LIMITS = [
    pytest.param(Discrete((0.6, 0.9), (0.8, 0.2)), 0.5, 0.6, 0.6, id="worst-of-the-best"),
    pytest.param(Uniform(0.0, 1.0), 0.5, 0.5, 0.75, id="uniform"),
    pytest.param(Dirac(0.5), 0.2, 0.5, 0.5, id="all-equal"),
]


def limits(algorithm, reservoir, runs):
    for seed in range(runs):
        run = advanced(algorithm, reservoir, seed=seed, budget=int(algorithm.estimation.estimate_cost()) + 1)
        yield float(run.state[4])


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("reservoir", "alpha", "low", "high"), LIMITS)
def test_the_limit_lies_where_it_must(reservoir, alpha, low, high):
    """Between q+(alpha) - epsilon/5 and q+(alpha/2), with probability 1 - delta/2."""
    assert (reservoir.top(alpha), reservoir.top(alpha / 2)) == pytest.approx((low, high))
    algorithm = design("al-q-iu", alpha, 0.3, 0.2)
    found = list(limits(algorithm, reservoir, 50))
    wrong = sum(not low - 0.06 <= limit <= high for limit in found)
    assert binom.sf(wrong - 1, 50, 0.1) > FALSE_ALARM
    assert len(set(found)) > 25


@pytest.mark.slow
@pytest.mark.statistical
def test_a_limit_without_its_margin_is_wrong():
    algorithm = design("al-q-iu", 0.2, 0.3, 0.2)
    loose = algorithm._replace(estimation=algorithm.estimation._replace(margin=0.0))
    wrong = sum(limit > 0.5 for limit in limits(loose, Dirac(0.5), 50))
    assert binom.sf(wrong - 1, 50, 0.1) < FALSE_ALARM
