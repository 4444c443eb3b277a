"""cc-me: its levels, its attempts, and the check behind its elimination."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binom

from tests.support.threshold_runs import advanced
from topalpha.algorithms import design
from topalpha.algorithms.field.al_q_ik import Halving
from topalpha.research.audit.cases import JUST_OVER
from topalpha.reservoirs import Dirac, Uniform, parse
from topalpha.simulation import simulate
from topalpha.testing import check_algorithm

FALSE_ALARM = 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("arms", ["fresh", "same"])
def test_several_attempts_run_the_same_in_every_way(arms):
    weak = design("cc-me", 0.2, 0.4, 0.5, arms=arms)._replace(elimination=Halving(1, 8.0, 0.125))
    last = check_algorithm(weak, Uniform(0.0, 1.0), seed=7)
    assert last.state[1] >= 2.0, "one attempt was enough"


@pytest.mark.parametrize("arms", ["fresh", "same"])
@pytest.mark.parametrize("delta", [0.5, 0.01])
def test_the_levels_of_cc_me(arms, delta):
    alpha, epsilon = 0.07, 0.15
    algorithm = design("cc-me", alpha, epsilon, delta, arms=arms)
    first, spent = epsilon / 6, 0.0
    for attempt in range(1, 12):
        level = delta * 0.5**attempt / 2
        drawn = algorithm.attempt_arms(attempt)
        draw_level = level if arms == "fresh" else delta / 2
        assert (1 - alpha * 0.75) ** drawn <= draw_level < (1 - alpha * 0.75) ** (drawn - 1)
        assert math.exp(-algorithm.attempt_final_pulls(attempt) * first**2 / 2) <= level
        spent += 2 * level if arms == "fresh" else level + (delta / 2 if attempt == 1 else 0.0)
        halvings = attempt if arms == "same" else 0
        for number in range(12):
            pulls = algorithm.elimination.halving_pulls(number, algorithm.harder(attempt))
            width = algorithm.attempt_width(attempt, number)
            step = first * 0.75**number
            assert pulls == math.ceil(2 / step**2 * math.log(3 * 2 ** (number + 1 + halvings) / 0.125))
            assert math.exp(-2 * pulls * width**2) == pytest.approx(0.25 * 0.5 ** (number + 1 + halvings))
            assert width <= step / 2
    assert 0.99 * delta < spent <= delta
    assert algorithm.arms == algorithm.attempt_arms(1)


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.003])
@pytest.mark.parametrize("epsilon", [0.5, 0.05])
def test_the_expected_pulls_of_cc_me_are_of_the_order_that_is_proved(alpha, epsilon):
    for delta, constant in ((0.99, 3.0e4), (0.1, 1.6e4), (1e-3, 1.6e4), (1e-30, 1.6e4)):
        order = math.log(2 / delta) / (alpha * epsilon**2)
        for arms in ("fresh", "same"):
            pulls = design("cc-me", alpha, epsilon, delta, arms=arms).design_pulls()
            assert 100 * order < pulls <= constant * order


@pytest.mark.slow
@pytest.mark.parametrize("arms", ["fresh", "same"])
def test_attempts_of_cc_me_cost_what_is_said_and_draw_fresh_arms_or_none(arms):
    algorithm = design("cc-me", 0.1, 0.3, 0.1, arms=arms)
    study = simulate(algorithm, Uniform(0.0, 0.95), runs=100, seed=6)
    assert study.pulls.min() == algorithm.attempt_cost(1)
    assert study.pulls.mean() < algorithm.design_pulls()
    hopeless = algorithm._replace(epsilon=-0.3)  # no arm can be better by epsilon than itself
    spent, drawn = 0, 0
    for attempt in (1, 2, 3):
        spent += int(algorithm.attempt_cost(attempt))
        drawn += algorithm.attempt_arms(attempt) if arms == "fresh" or attempt == 1 else 0
        run = advanced(hopeless, Dirac(0.5), budget=spent)
        # All pulls of the attempt are spent, its check has failed, and the next one is planned.
        assert (run.history.t, run.history.arms, run.state[1]) == (spent, drawn, attempt + 1)
        begun = spent - int(algorithm.attempt_cost(attempt)) + 1
        assert advanced(hopeless, Dirac(0.5), budget=begun).state[1] == attempt


@pytest.mark.slow
@pytest.mark.statistical
def test_a_weak_elimination_of_cc_me_is_seen_by_its_check():
    """One pull of each arm loses the good ones: without the check that is an error, with it the run goes on."""
    reservoir = parse(JUST_OVER)
    weak = design("cc-me", 0.1, 0.2, 0.05)._replace(elimination=Halving(1, 40.0, 0.125))
    unchecked = simulate(weak._replace(epsilon=9.0), reservoir, runs=300, seed=1)
    assert binom.sf((unchecked.means < 0.404).sum() - 1, 300, 0.05) < FALSE_ALARM
    checked = advanced(weak, reservoir, budget=2_000_000)
    assert checked.state[1] > 20
    assert checked.state[4] == 0.0
