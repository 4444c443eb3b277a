"""al-q-ik, al-q-iu and cc-me alike: every way to run them, their pulls and their errors."""

from __future__ import annotations

import random

import pytest
from scipy.stats import binom

from tests.support.marks import quick
from tests.support.threshold_runs import advanced, needed, on
from topalpha.algorithms import ALGORITHMS, design, entry
from topalpha.ask_tell import Search
from topalpha.engine import Run
from topalpha.engine.interpreted import InterpretedRun
from topalpha.families import Gaussian, PassFail
from topalpha.research.audit.cases import JUST_OVER
from topalpha.research.audit.worlds import Thirds
from topalpha.reservoirs import TwoPoint, Uniform, parse
from topalpha.rules.elimination import ALIVE
from topalpha.rules.protocol import BlockAlgorithm, Selector
from topalpha.simulation import simulate
from topalpha.testing import check_algorithm, check_design

FALSE_ALARM = 1e-6
NAMES = ["al-q-ik", "al-q-iu", "cc-me"]
#: Name, options and a target whose runs take thousands of pulls.
SMALL = [
    pytest.param("al-q-ik", {"threshold": 0.5}, 1.0, id="al-q-ik"),
    pytest.param("al-q-iu", {}, 25.0, id="al-q-iu", marks=pytest.mark.slow),
    pytest.param("cc-me", {"arms": "fresh"}, 2.0, id="cc-me-fresh"),
    pytest.param("cc-me", {"arms": "same"}, 2.0, id="cc-me-same"),
]


@pytest.mark.parametrize("name", NAMES)
def test_they_are_registered_with_their_guarantee(name):
    one = entry(name)
    assert one in ALGORITHMS
    assert (one.guarantee, one.rewards) == ("fixed-confidence", "unit")
    algorithm = design(name, 0.1, 0.1, 0.1, **needed(name))
    assert isinstance(algorithm, BlockAlgorithm)
    assert isinstance(algorithm, Selector) == name.startswith("al-q")
    assert algorithm.traits.covered
    assert algorithm.traits.blocks
    assert algorithm.traits.name == name
    check_design(one.design, **needed(name))
    for family in (Gaussian(0.5), PassFail(100)):
        with pytest.raises(ValueError, match="family must be bernoulli, which covers"):
            design(name, 0.1, 0.1, 0.1, family, **needed(name))
    with pytest.raises(ValueError, match="epsilon must be large enough"):
        design(name, 0.1, 1e-9, 0.1, **needed(name))


# Each of them runs with the whole field as well.
@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "epsilon"), SMALL)
def test_they_run_the_same_in_every_way(name, options, epsilon):
    assert check_algorithm(design(name, 0.5, epsilon, 0.5, **options), Uniform(0.0, 1.0), seed=1).t > 500


@pytest.mark.parametrize(("name", "options", "epsilon"), SMALL)
def test_parallel_pulls_lead_to_the_same_answer(name, options, epsilon):
    algorithm = design(name, 0.5, epsilon, 0.5, **options)

    def reward(pull):
        draw = random.Random(f"{pull.arm} {pull.number}")
        return float(draw.random() < random.Random(pull.arm).random())

    def answer(width, shuffle):
        search, hands = Search(algorithm, seed=0), random.Random(0)
        while not search.stopped:
            pulls = search.ask_many(width)
            if shuffle:
                hands.shuffle(pulls)
            for pull in pulls:
                search.tell(pull, reward(pull))
        return search.result, search.selection, list(search.history.pulls)

    alone = answer(1, shuffle=False)
    assert alone == answer(64, shuffle=True)
    assert alone[0].stopped
    assert alone[0].arm in alone[1]


PINNED = {
    ("al-q-ik", ""): (5239, 4, 2),
    ("al-q-iu", ""): (310240, 426, 418),
    ("cc-me", "fresh"): (15481, 12, 9),
    ("cc-me", "same"): (16312, 10, 9),
}


@pytest.mark.parametrize(("name", "options", "epsilon"), SMALL)
@pytest.mark.parametrize("driver", quick([InterpretedRun, Run], [InterpretedRun]))
def test_trajectories_are_pinned(name, options, epsilon, driver):
    run = advanced(design(name, 0.3, epsilon / 2, 0.2, **options), Uniform(0.0, 1.0), seed=11, driver=driver)
    assert (run.history.t, run.history.arms, run.recommend()) == PINNED[name, options.get("arms", "")]


@pytest.mark.slow
def test_one_arm_is_enough_where_nearly_all_are_good():
    algorithm = design("cc-me", 0.999, 0.5, 0.99, arms="same")
    assert algorithm.arms == 1
    run = advanced(algorithm, Uniform(0.0, 1.0))
    assert (run.history.t, run.recommend()) == (algorithm.attempt_final_pulls(1), 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["al-q-ik", "al-q-iu"])
def test_several_arms_are_returned_and_all_are_good(name):
    reservoir = TwoPoint(0.2, 0.8, 0.3)
    algorithm = on(name, reservoir, 0.3, 0.5, 0.1, k=5)
    run = advanced(algorithm, reservoir, seed=2)
    chosen = algorithm.selection(run.history, run.memory)
    assert len(set(chosen)) == 5
    assert run.recommend() == chosen[0]
    assert [run.means[arm] for arm in chosen] == [0.8] * 5
    before = advanced(algorithm, reservoir, seed=2, budget=1)
    assert algorithm.selection(before.history, before.memory) == [before.recommend()]


DESIGNS = [*((name, {}) for name in NAMES), ("cc-me", {"arms": "same"})]


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0.2, 0.05])
@pytest.mark.parametrize(("name", "options"), DESIGNS)
def test_the_error_is_at_most_delta_just_over_epsilon(name, options, delta):
    reservoir = parse(JUST_OVER)
    study = simulate(on(name, reservoir, 0.1, 0.2, delta, **options), reservoir, runs=300, seed=1)
    assert study.errors.excess(delta) > FALSE_ALARM, study.errors


def careless(name, **options):
    """The same algorithms with one level far too loose: a test that all pass, two arms, or a lone arm."""
    algorithm = on(name, parse(JUST_OVER), 0.1, 0.2, 0.05, **options)
    if name == "al-q-ik":
        return algorithm._replace(tries=algorithm.tries._replace(margin=9.0))
    if name == "al-q-iu":
        return algorithm._replace(tries=algorithm.tries._replace(margin=9.0, drawn=2))
    return algorithm._replace(log_level=0.5)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("name", "options"), quick(DESIGNS, [("al-q-ik", {})]))
def test_careless_levels_are_found_out(name, options):
    study = simulate(careless(name, **options), parse(JUST_OVER), runs=300, seed=1)
    assert study.errors.excess(0.05) < FALSE_ALARM, study.errors


@pytest.mark.slow
def test_a_budget_ends_a_run_between_blocks():
    run = advanced(design("cc-me", 0.1, 0.3, 0.1), Uniform(0.0, 1.0), budget=10)
    first = design("cc-me", 0.1, 0.3, 0.1).elimination.halving_pulls(0, 0)
    assert run.history.t == first
    assert run.history.arms == 1
    assert run.recommend() == 0


@pytest.mark.parametrize(
    ("name", "options"), [("al-q-ik", {"threshold": 0.9}), ("cc-me", {"arms": "fresh"}), ("cc-me", {"arms": "same"})]
)
def test_the_last_test_rests_on_fresh_pulls_alone(name, options):
    """Rewards are 1 until a set is down to one arm, and 0 from then on: that arm must be turned away.

    Judged by all its pulls it would pass: most of them were 1.
    """
    algorithm = design(name, 0.3, 0.9, 0.3, **options)
    search, tested, passed = Search(algorithm), 0, 0
    while tested == 0 or search.history.arms == algorithm.arms or passed < 3:
        pull = search.ask()
        assert pull is not None, "an arm whose test failed was returned"
        alive = sum(search.history.stats[ALIVE][: search.history.arms])
        last = search.history.arms >= algorithm.arms and alive == 1
        tested += last
        passed += last and search.planned == 0
        search.tell(pull, 0.0 if last else 1.0)
        if passed >= 1 and not last:
            break  # it went on with another repetition, or attempt
    assert tested > 0
    assert not search.stopped


@pytest.mark.slow
@pytest.mark.statistical
def test_rewards_inside_the_unit_interval_are_covered_too():
    study = simulate(
        on("al-q-ik", parse(JUST_OVER), 0.1, 0.2, 0.2), parse(JUST_OVER), runs=40, seed=3, rewards=Thirds(1.0 / 3.0)
    )
    assert binom.sf(study.errors.count - 1, 40, 0.2) > FALSE_ALARM
    assert study.means.min() < 1.0
    assert study.unfinished == 0
