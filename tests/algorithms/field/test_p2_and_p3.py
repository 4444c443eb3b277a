"""P2, P3, KQP-1 and their solvers: counts worked by hand, errors, wrong variants, and every way to run them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from topalpha.algorithms import design, entry, kl_lucb, lucb_pp
from topalpha.algorithms.field.finite_solvers import ExponentialGap
from topalpha.algorithms.field.p2 import TWO_PHASE
from topalpha.ask_tell import Search
from topalpha.engine import Run
from topalpha.families import Gaussian
from topalpha.randomness import run_seed, streams
from topalpha.research.audit.cases import JUST_OVER
from topalpha.research.audit.replay import AFFORDABLE, matrix
from topalpha.reservoirs import Beta, Conditioned, Dirac, parse
from topalpha.rules.median_elimination import EliminationContest, arms_to_see
from topalpha.rules.protocol import BlockAlgorithm, Selector
from topalpha.simulation import finish, simulate
from topalpha.testing import check_algorithm, check_design, check_parameters, interpreted
from topalpha.theory import arms_paper, arms_tight

FALSE_ALARM = 1e-6
NAMES = ["p2", "p3", "kqp-1"]
UNIT = Conditioned(Beta(1.0, 1.0), 0.95)
ADVERSE = parse(JUST_OVER)

#: Every solver and option at an epsilon so large that interpreted runs are short.
WAYS = {
    "p2-median": ("p2", {}, 2.0),
    "p2-median-tight": ("p2", {"arms": "tight", "pulls": "tight"}, 1.5),
    "p2-uniform": ("p2", {"solver": "uniform"}, 0.3),
    "p2-exponential-gap": ("p2", {"solver": "exponential-gap"}, 2.0),
    "p3-median": ("p3", {"copies": "corrected"}, 4.0),
    "p3-uniform": ("p3", {"solver": "uniform", "arms": "tight"}, 0.8),
    "p3-tight": ("p3", {"pulls": "tight", "copies": "corrected"}, 4.0),
    "kqp-1-uniform": ("kqp-1", {"solver": "uniform", "copies": "corrected"}, 0.8),
    "kqp-1-median": ("kqp-1", {"k": 3, "copies": "corrected", "arms": "tight", "pulls": "tight"}, 6.0),
}


def made(way):
    name, options, epsilon = WAYS[way]
    return design(name, 0.2, epsilon, 0.1, **options)


def passes(study, delta):
    return study.errors.excess(delta) > FALSE_ALARM


def finished(algorithm, reservoir, run):
    """A compiled run that has stopped."""
    source = streams(run_seed(7, run))
    one = Run(algorithm)
    assert finish(one, reservoir, source)
    return one


@pytest.mark.parametrize("name", NAMES)
def test_designs_conform(name):
    one = entry(name)
    assert one.rewards == "unit"
    assert one.guarantee == "fixed-confidence"
    for option, choices in one.options.items():
        assert one.design.__kwdefaults__[option] == choices[0]
        for chosen in choices:
            check_design(one.design, **{option: chosen})
            check_parameters(one.design(0.1, 0.1, 0.1, **{option: chosen}))
    with pytest.raises(ValueError, match="family must be bernoulli, which covers all rewards"):
        one.design(0.1, 0.1, 0.1, Gaussian(0.5))
    for bad in ({"solver": "best"}, {"arms": "few"}, {"pulls": "half"}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))} must be one of"):
            one.design(0.1, 0.1, 0.1, **bad)
    with pytest.raises(ValueError, match="pulls must be 'printed' for solver 'uniform'"):
        one.design(0.1, 0.1, 0.1, solver="uniform", pulls="tight")
    with pytest.raises(ValueError, match="epsilon must be large enough that fewer than 2"):
        one.design(0.1, 1e-7, 0.1)
    with pytest.raises(ValueError, match="epsilon must be at least"):
        one.design(0.1, 1e-200, 0.1)
    with pytest.raises(ValueError, match="alpha must be at least 1e-9"):
        one.design(1e-300, 0.1, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_run_agrees_and_takes_the_pulls_of_the_design(way):
    algorithm = made(way)
    assert isinstance(algorithm, BlockAlgorithm)
    last = check_algorithm(algorithm, UNIT, seed=1)
    assert last.t == algorithm.design_pulls()
    assert last.arms == algorithm.arms


def test_compiled_rules_count_arms_as_the_theory_does():
    for alpha in (0.9, 0.5, 0.1, 0.0123):
        for delta in (0.5, 0.25, 0.01):
            assert arms_to_see(alpha, delta, False) == arms_paper(alpha, delta)
            assert arms_to_see(alpha, delta, True) == arms_tight(alpha, delta)


def test_the_arms_and_copies_by_hand():
    assert (design("p2", 0.1, 0.2, 0.1).arms, design("p2", 0.1, 0.2, 0.1, arms="tight").arms) == (30, 29)
    printed, corrected = design("p3", 0.1, 0.2, 0.1), design("p3", 0.1, 0.2, 0.1, copies="corrected")
    assert (printed.copies.number, corrected.copies.number) == (12, 3)  # 4 ln 20 = 11.98; ln 20 / ln 4 = 2.16
    assert corrected.arms_each == 21  # ln 8 / 0.1 = 20.8
    assert (corrected.copies.trial.epsilon, corrected.copies.trial.delta) == (0.1, 0.125)
    assert (corrected.copies.final.epsilon, corrected.copies.final.delta) == (0.1, 0.05)
    for delta in (0.3, 0.05, 1e-6):
        copies = design("p3", 0.1, 0.2, delta, copies="corrected").copies.number
        assert 0.25**copies <= delta / 2 < 0.25 ** (copies - 1)
    several = design("kqp-1", 0.1, 0.2, 0.1, k=3, copies="corrected")
    assert several.copies.number == 3  # ln 60 / ln 4 = 2.95
    assert several.copies.final.delta == pytest.approx(0.1 / 6)
    each = [math.ceil(math.log(8) / alpha) for alpha in (0.1, 0.1 * 2 / 3, 0.1 / 3)]
    assert [several.copy_arms(chosen) for chosen in range(3)] == each == [21, 32, 63]
    assert several.arms == 3 * sum(each)


def test_pulls_of_the_paper_s_constants():
    """What P2 and P3 take at alpha = epsilon = 0.05 and delta = 0.1; uniform elimination, by its formula."""
    assert design("p3", 0.05, 0.05, 0.1).design_pulls() == pytest.approx(1.5e9, rel=0.03)
    assert design("p3", 0.05, 0.05, 0.1, copies="corrected").design_pulls() == pytest.approx(3.7e8, rel=0.03)
    few = design("p3", 0.05, 0.05, 0.1, copies="corrected", solver="uniform").design_pulls()
    assert few == 3 * 42 * math.ceil(math.log(41 * 8) / 0.025**2) + 3 * math.ceil(math.log(2 / 0.05) / 0.025**2)
    one = design("kqp-1", 0.1, 0.2, 0.1, k=1)
    assert one.design_pulls() == design("p3", 0.1, 0.2, 0.1).design_pulls()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_median_schedule_at_full_size(name):
    algorithm = design(name, 0.1, 0.1, 0.1)
    study = simulate(algorithm, UNIT, runs=20, seed=2)
    assert set(study.pulls) == {algorithm.design_pulls()}
    assert study.errors.count == 0


@pytest.mark.slow
def test_blocks_of_a_run_are_the_schedule():
    """Pulls per arm of a copy: sums of the first rounds; half of the arms leave after each."""
    algorithm = design("p2", 0.2, 0.5, 0.1)
    one = finished(algorithm, UNIT, 0)
    steps = np.cumsum([EliminationContest(0.5, 0.05, True, 4.0).round_pulls(stage, 9) for stage in range(4)])
    # 15 arms, then 8, 4, 2
    assert sorted(one.pulls) == sorted([steps[0]] * 7 + [steps[1]] * 4 + [steps[2]] * 2 + [steps[3]] * 2)
    assert one.pulls[one.recommend()] == steps[3]


@pytest.mark.slow
def test_winners_of_copies_meet_in_the_final():
    algorithm = design("p3", 0.2, 0.4, 0.1, solver="uniform", copies="corrected")
    one = finished(algorithm, UNIT, 0)
    trial = EliminationContest(0.2, 0.125, False, 1.0).round_pulls(0, algorithm.arms_each)
    final = EliminationContest(0.2, 0.05, False, 1.0).round_pulls(0, 3)
    pulls = one.pulls.reshape(3, algorithm.arms_each)
    for copy in pulls:
        assert sorted(copy) == [trial] * (algorithm.arms_each - 1) + [trial + final]
    assert one.pulls[one.recommend()] == trial + final


def test_one_arm_is_pulled_once():
    algorithm = design("p2", 0.95, 0.2, 0.9, arms="tight")
    for solver in (algorithm.solver, EliminationContest(0.2, 0.1, False, 1.0), ExponentialGap(0.01, 0.1, 0.25, 4.0)):
        single = algorithm._replace(arms=1, solver=solver)
        last, _ = interpreted(single, UNIT)
        assert (last.t, last.arm, single.design_pulls()) == (1, 0, 1.0)
    one = design("p3", 0.95, 0.2, 0.6, arms="tight", copies="corrected")
    assert (one.arms_each, one.copies.number) == (1, 1)
    last, _ = interpreted(one, UNIT)
    assert (last.t, one.design_pulls()) == (1, 1.0)


@pytest.mark.slow
def test_ties_go_to_the_arm_drawn_first():
    for way in ("p2-median", "p2-uniform", "p3-uniform"):
        last, _ = interpreted(made(way), Dirac(1.0))
        assert last.arm == 0
    algorithm = made("kqp-1-uniform")
    one = finished(algorithm, Dirac(1.0), 0)
    starts = [0, algorithm.copies.number * algorithm.copy_arms(0)]
    assert algorithm.selection(one.history, one.memory) == starts


@pytest.mark.parametrize("solver", list(TWO_PHASE))
def test_two_phase_solvers_are_those_algorithms(solver):
    make = {"lucb++": lucb_pp.design, "kl-lucb": kl_lucb.design}.get(solver)
    if make is not None:
        assert design("p2", 0.1, 0.2, 0.1, solver=solver) == make(0.1, 0.2, 0.1)
    one = design("p2", 0.1, 0.2, 0.1, solver=solver)
    assert one.traits.name == solver
    assert one.arms >= arms_tight(0.1, 0.1)
    with pytest.raises(ValueError, match="pulls must be 'printed' for solver"):
        design("p2", 0.1, 0.2, 0.1, solver=solver, pulls="tight")


def test_a_two_phase_solver_takes_the_options_that_it_has():
    assert design("p2", 0.1, 0.2, 0.1, solver="kl-lucb").arms == 30
    assert design("p2", 0.1, 0.2, 0.1, solver="kl-lucb", arms="tight").arms == 29
    assert design("p2", 0.1, 0.2, 0.1, Gaussian(0.5), solver="lucb++").family == Gaussian(0.5)


@pytest.mark.parametrize("way", ["p2-uniform", "p2-exponential-gap", "p3-uniform", "kqp-1-uniform"])
def test_pulls_in_flight_change_nothing(way):
    algorithm = made(way)
    means = UNIT.sample(algorithm.arms, np.random.default_rng(3))

    def reward(pull):
        # the n-th reward of an arm is the same whenever it is asked for
        return float((pull.number * 0.618034 + pull.arm * 0.7548777) % 1.0 < means[pull.arm])

    plain = Search(algorithm)
    while (pull := plain.ask()) is not None:
        plain.tell(pull, reward(pull))
        assert 0 <= plain.result.arm < plain.history.arms
    moments, wide, out = np.random.default_rng(4), Search(algorithm), []
    while not wide.stopped:
        out.extend(wide.ask_many(40))
        moments.shuffle(out)
        for pull in out[: 1 + len(out) // 3]:
            wide.tell(pull, reward(pull))
        out = out[1 + len(out) // 3 :]
    assert wide.selection == plain.selection
    assert wide.history.pulls == plain.history.pulls
    assert wide.result.pulls == plain.result.pulls == algorithm.design_pulls()


@pytest.mark.slow
def test_kqp_1_selects_k_different_arms():
    algorithm = design("kqp-1", 0.2, 0.3, 0.1, k=4, solver="uniform", copies="corrected")
    assert isinstance(algorithm, Selector)
    for run in range(20):
        one = finished(algorithm, UNIT, run)
        chosen = algorithm.selection(one.history, one.memory)
        assert len(set(chosen)) == 4
        starts = np.cumsum([0] + [algorithm.copies.number * algorithm.copy_arms(place) for place in range(4)])
        for place, arm in enumerate(chosen):
            assert starts[place] <= arm < starts[place + 1]
        totals = one.history.stats[0]
        assert one.recommend() == max(chosen, key=lambda arm: totals[arm] / one.pulls[arm])
        assert one.returned() == chosen
        assert one.truth(chosen[0], np.random.default_rng(0)) == one.means[chosen[0]]
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        design("kqp-1", 0.1, 0.1, 0.1, k=0)


def test_before_the_stop_kqp_1_selects_what_it_has():
    algorithm = made("kqp-1-uniform")
    search = Search(algorithm)
    first = search.ask()
    search.tell(first, 1.0)
    assert search.selection == [0]
    half = algorithm.copies.number * algorithm.copy_arms(0)
    while (pull := search.ask()) is not None:
        search.tell(pull, float(pull.arm in (3, half + 5)))
        assert len(search.selection) == 1
        assert search.result.arm in search.selection
        if search.history.arms > half:
            assert search.selection == [3]
    assert search.selection == [3, half + 5]


ERRING = {
    "p2-median": ("p2", {"arms": "tight"}),
    "p2-median-tight": ("p2", {"arms": "tight", "pulls": "tight"}),
    "p2-uniform": ("p2", {"arms": "tight", "solver": "uniform"}),
    "p2-exponential-gap": ("p2", {"arms": "tight", "solver": "exponential-gap"}),
    "p3-printed": ("p3", {}),
    "p3-corrected": ("p3", {"arms": "tight", "copies": "corrected"}),
    "p3-uniform": ("p3", {"arms": "tight", "copies": "corrected", "solver": "uniform"}),
    "kqp-1": ("kqp-1", {"arms": "tight", "copies": "corrected"}),
    "kqp-1-uniform": ("kqp-1", {"arms": "tight", "copies": "corrected", "solver": "uniform"}),
}


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("case", ERRING)
def test_the_error_is_at_most_delta_just_over_epsilon(case):
    name, options = ERRING[case]
    algorithm = design(name, 0.1, 0.2, 0.2, **options)
    study = simulate(algorithm, ADVERSE, runs=500, seed=1)
    assert passes(study, 0.2), study.errors
    assert set(study.pulls) == {algorithm.design_pulls()}


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("case", ["p2-median", "p2-median-tight"])
def test_p2_errs_as_often_as_no_good_arm_is_drawn(case):
    """Median Elimination all but never errs: what is left is the draw, of known probability."""
    name, options = ERRING[case]
    algorithm = design(name, 0.1, 0.2, 0.2, **options)
    errors = simulate(algorithm, ADVERSE, runs=1000, seed=5).errors.count
    missed = 0.9**algorithm.arms
    assert 0.09 < missed < 0.1
    assert min(binom.cdf(errors, 1000, missed), binom.sf(errors - 1, 1000, missed)) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.statistical
def test_p3_errs_as_often_as_no_copy_draws_a_good_arm():
    algorithm = design("p3", 0.1, 0.2, 0.6, arms="tight", copies="corrected", solver="uniform")
    assert (algorithm.copies.number, algorithm.arms_each) == (1, 20)
    errors = simulate(algorithm, ADVERSE, runs=1000, seed=5).errors.count
    missed = 0.9**20
    assert min(binom.cdf(errors, 1000, missed), binom.sf(errors - 1, 1000, missed)) > FALSE_ALARM


def with_factor(algorithm, factor):
    if hasattr(algorithm, "solver"):
        return algorithm._replace(solver=algorithm.solver._replace(factor=factor))
    copies = algorithm.copies
    trial, final = copies.trial._replace(factor=factor), copies.final._replace(factor=factor)
    return algorithm._replace(copies=copies._replace(trial=trial, final=final))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("case", ERRING)
def test_far_too_few_pulls_fail(case):
    name, options = ERRING[case]
    wrong = with_factor(design(name, 0.1, 0.2, 0.2, **options), 1e-5)
    assert not passes(simulate(wrong, ADVERSE, runs=200, seed=1), 0.2)


@pytest.mark.slow
@pytest.mark.statistical
def test_too_few_arms_fail():
    right = design("p2", 0.1, 0.2, 0.2)
    assert not passes(simulate(right._replace(arms=right.arms // 4), ADVERSE, runs=200, seed=1), 0.2)


@pytest.mark.slow
@pytest.mark.statistical
def test_too_few_arms_in_each_copy_fail():
    copies = design("p3", 0.1, 0.2, 0.2, copies="corrected")
    wrong = copies._replace(arms_each=2, arms=2 * copies.copies.number)
    assert not passes(simulate(wrong, ADVERSE, runs=200, seed=1), 0.2)


@pytest.mark.slow
@pytest.mark.statistical
def test_one_copy_instead_of_several_fails():
    """With a single copy KQP-1 misses when either run draws no good arm: of known probability, far above delta."""
    right = design("kqp-1", 0.1, 0.2, 0.02, copies="corrected", arms="tight")
    assert passes(simulate(right, ADVERSE, runs=300, seed=1), 0.02)
    wrong = right._replace(copies=right.copies._replace(number=1))
    assert [wrong.copy_arms(chosen) for chosen in range(2)] == [20, 41]
    study = simulate(wrong, ADVERSE, runs=500, seed=1)
    assert not passes(study, 0.02)
    missed = 1.0 - (1.0 - 0.9**20) * (1.0 - 0.9**41)
    errors = study.errors.count
    assert min(binom.cdf(errors, 500, missed), binom.sf(errors - 1, 500, missed)) > FALSE_ALARM


PINNED = {
    "p2-median": (4891, 15, 3, 929.0),
    "p2-median-tight": (4149, 14, 3, 840.0),
    "p2-uniform": (945, 15, 3, 53.0),
    "p2-exponential-gap": (4891, 15, 3, 929.0),
    "p3-median": (10533, 33, 27, 1097.0),
    "p3-uniform": (3648, 120, 38, 58.0),
    "p3-tight": (5271, 33, 27, 542.0),
    "kqp-1-uniform": (3108, 96, 48, 58.0),
    "kqp-1-median": (12288, 168, 85, 490.0),
}


@pytest.mark.parametrize("way", list(WAYS))
def test_trajectories_stay_as_pinned(way):
    last, _ = interpreted(made(way), UNIT, seed=2018)
    assert (last.t, last.arms, last.arm, round(last.stats[0][last.arm], 9)) == PINNED[way]


def test_the_audit_runs_them_at_an_epsilon_that_it_can_afford():
    found = [algorithm for algorithm, _ in matrix(full=True) if algorithm.traits.name in NAMES]
    assert {algorithm.traits.name for algorithm in found} == set(NAMES)
    assert max(algorithm.design_pulls() for algorithm in found) <= AFFORDABLE
