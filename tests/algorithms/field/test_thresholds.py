"""al-q-ik, al-q-iu and cc-me: their constants against exact binomial laws, their pulls counted, their errors judged."""

from __future__ import annotations

import math
import random

import pytest
from scipy.stats import binom

from marks import quick
from topalpha.algorithms import ALGORITHMS, design, entry, prior_knowledge
from topalpha.algorithms.field.al_q_iu import limit_estimation
from topalpha.algorithms.field.schedules_threshold import Halving, repetitions, split
from topalpha.ask_tell import Search
from topalpha.engine import OUT_OF_ARMS, Run
from topalpha.engine.interpreted import InterpretedRun
from topalpha.families import Gaussian, PassFail
from topalpha.randomness import run_seed, streams
from topalpha.research.audit.cases import JUST_OVER
from topalpha.research.audit.worlds import Thirds
from topalpha.reservoirs import Dirac, Discrete, TwoPoint, Uniform, parse
from topalpha.rules.elimination import ALIVE
from topalpha.rules.protocol import BlockAlgorithm, Selector
from topalpha.simulation import simulate
from topalpha.testing import check_algorithm, check_design

FALSE_ALARM = 1e-6
NAMES = ["al-q-ik", "al-q-iu", "cc-me"]
#: Name, options and a target whose runs take thousands of pulls.
SMALL = [
    pytest.param("al-q-ik", {"threshold": 0.5}, 1.0, id="al-q-ik"),
    pytest.param("al-q-iu", {}, 25.0, id="al-q-iu"),
    pytest.param("cc-me", {"arms": "fresh"}, 2.0, id="cc-me-fresh"),
    pytest.param("cc-me", {"arms": "same"}, 2.0, id="cc-me-same"),
]


def needed(name):
    return {"threshold": 0.5} if name == "al-q-ik" else {}


def on(name, reservoir, alpha, epsilon, delta, **options):
    return design(name, alpha, epsilon, delta, **options, **prior_knowledge(name, reservoir, alpha, epsilon))


def advanced(algorithm, reservoir, seed=0, budget=2**62, driver=Run):
    """A run up to a budget of pulls, with the sums of blocks drawn at once."""
    run, source = driver(algorithm), streams(run_seed(seed, 0))
    run.add_arms(reservoir.sample(algorithm.arms, source.arms))
    while run.advance(source.rules, source.rewards, budget) == OUT_OF_ARMS:
        run.add_arms(reservoir.sample(run.history.arms, source.arms))
    return run


# ---- the entries


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


# ---- every way to run them is the same


# Each of them runs with the whole field as well.
@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "epsilon"), SMALL)
def test_they_run_the_same_in_every_way(name, options, epsilon):
    assert check_algorithm(design(name, 0.5, epsilon, 0.5, **options), Uniform(0.0, 1.0), seed=1).t > 500


@pytest.mark.slow
def test_rejected_repetitions_and_several_arms_run_the_same_in_every_way():
    algorithm = design("al-q-ik", 0.5, 1.0, 0.5, threshold=1.4, k=2)  # accepts at 0.55 and more
    last = check_algorithm(algorithm, Uniform(0.0, 0.6), seed=3)
    assert last.arms > 2 * algorithm.arms, "no repetition was rejected"


@pytest.mark.slow
@pytest.mark.parametrize("arms", ["fresh", "same"])
def test_several_attempts_run_the_same_in_every_way(arms):
    weak = design("cc-me", 0.2, 0.4, 0.5, arms=arms)._replace(elimination=Halving(1, 8.0, 0.125))
    last = check_algorithm(weak, Uniform(0.0, 1.0), seed=7)
    assert last.state[1] >= 2.0, "one attempt was enough"


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


# ---- the constants, by hand and by exact laws


def test_halving_by_hand():
    median = Halving(1, 0.5, 0.25)  # steps 1/8 and 3/32, levels 1/8 and 1/16
    assert median.halving_pulls(0, 0) == math.ceil(128 * math.log(24)) == 407
    assert median.halving_pulls(1, 0) == math.ceil(2048 / 9 * math.log(48)) == 881
    assert median.halving_pulls(0, 1) == math.ceil(128 * math.log(48)) == 496
    assert median.halving_cost(3, 0) == 3 * 407 + 2 * 881
    assert median.halving_cost(1, 0) == 0
    several = Halving(4, 0.5, 0.25)
    assert [several.halved(19, number) for number in range(5)] == [19, 10, 5, 4, 4]
    assert several.halving_pulls(0, 0) == math.ceil(128 * math.log(96)) == 585


def test_the_inequality_behind_halving():
    """Bad arms that must be over-estimated are at least 1/(2m) of all bad arms (docs/field/threshold.md, 1)."""
    for keep in range(1, 40):
        schedule = Halving(keep, 1.0, 0.5)
        for size in range(keep + 1, 200):
            left = schedule.halved(size, 1)
            assert keep <= left < size
            assert size - keep <= 2 * keep * (left - keep + 1)


@pytest.mark.parametrize("keep", [1, 5])
def test_accuracies_and_levels_of_halving_sum_to_what_is_promised(keep):
    schedule = Halving(keep, 0.4, 0.3)
    step, level = 0.1, 0.15
    for number in range(30):
        chance = math.exp(-schedule.halving_pulls(number, 0) * step**2 / 2)
        assert 0.9 * level / (3 * keep) < chance <= level / (3 * keep)
        step, level = 0.75 * step, 0.5 * level
    assert math.fsum(0.1 * 0.75**number for number in range(30)) < 0.4


def test_the_split_is_the_cheapest():
    costs, shares = (3.0, 0.7, 5.0), (1.0, 1.0, 2.0)
    best = split(0.3, costs, shares)
    assert math.fsum(share * part for share, part in zip(shares, best, strict=True)) == pytest.approx(0.3)

    def cost(parts):
        return sum(one / part**2 for one, part in zip(costs, parts, strict=True))

    for shift in (-1e-3, 1e-3):
        assert cost((best[0] + shift, best[1] - shift, best[2])) > cost(best)
        assert cost((best[0] + 2 * shift, best[1], best[2] - shift)) > cost(best)


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
            pulls = algorithm.attempt_round_pulls(attempt, number)
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


# ---- pulls, counted


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


# ---- what is proved, on fixed seeds


DESIGNS = [*((name, {}) for name in NAMES), ("cc-me", {"arms": "same"})]


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0.2, 0.05])
@pytest.mark.parametrize(("name", "options"), quick(DESIGNS, [("al-q-ik", {})]))
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


@pytest.mark.statistical
@pytest.mark.parametrize(("name", "options"), quick(DESIGNS, [("al-q-ik", {})]))
def test_careless_levels_are_found_out(name, options):
    study = simulate(careless(name, **options), parse(JUST_OVER), runs=300, seed=1)
    assert study.errors.excess(0.05) < FALSE_ALARM, study.errors


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


@pytest.mark.slow
def test_a_budget_ends_a_run_between_blocks():
    run = advanced(design("cc-me", 0.1, 0.3, 0.1), Uniform(0.0, 1.0), budget=10)
    first = design("cc-me", 0.1, 0.3, 0.1).attempt_round_pulls(1, 0)
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
