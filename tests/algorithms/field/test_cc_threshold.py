"""cc-threshold: its evidence and its bank by hand, both answers judged by exact binomial tests, every way to run it."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.stats import binom

from tests.support.marks import quick
from topalpha import Search, search, verify
from topalpha.algorithms import design, entry, prior_knowledge
from topalpha.algorithms.field.cc_threshold import ANSWER, BANK, DISCARDED
from topalpha.engine import OUT_OF_BUDGET, STOPPED, InterpretedRun, Run
from topalpha.families import Gaussian, PassFail, Poisson
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Dirac, TwoPoint, Uniform, parse
from topalpha.simulation import simulate
from topalpha.testing import check_algorithm, check_design

FALSE_ALARM = 1e-6
NAME = "cc-threshold"


def question(alpha=0.1, epsilon=0.2, delta=0.2, threshold=0.6, **options):
    return design(NAME, alpha, epsilon, delta, threshold=threshold, **options)


def answers(algorithm, means, runs, seed=0):
    """The answers of that many compiled runs, and the means of the arms returned."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        run = Run(algorithm)
        run.add_arms(means(algorithm.arms, rng))
        assert run.advance(rng, rng) == STOPPED
        found.append((run.state[ANSWER], run.means[run.recommend()]))
    return np.array(found)


def too_many(count, runs, level):
    """Whether so many errors would be seen with a probability of less than the false alarm's, if the level held."""
    return binom.sf(count - 1, runs, level) < FALSE_ALARM


# ---- the entry


def test_it_is_registered_and_must_be_told_the_threshold():
    one = entry(NAME)
    assert (one.guarantee, one.rewards) == ("fixed-confidence", "any")
    assert prior_knowledge(NAME, parse("two-point(0.4,0.604,0.1)"), 0.1, 0.2) == {"threshold": 0.604}
    check_design(one.design, threshold=0.5)
    with pytest.raises(ValueError, match="threshold must be given"):
        design(NAME, 0.1, 0.1, 0.1)
    for wrong in (0.0, 1.01, math.inf, math.nan, "high"):
        with pytest.raises(ValueError, match="threshold must be"):
            design(NAME, 0.1, 0.1, 0.1, threshold=wrong)
    with pytest.raises(ValueError, match="yes_level must lie strictly between 0 and 1"):
        question(yes_level=1.0)
    for wrong in (0, 4097, 1.5):
        with pytest.raises(ValueError, match="least_block must be"):
            question(least_block=wrong)
    with pytest.raises(ValueError, match="family must be"):
        design(NAME, 0.1, 0.1, 0.1, PassFail(100), threshold=0.5)


def test_the_number_of_arms_is_the_theorem_s():
    for alpha, delta in ((0.05, 0.05), (0.3, 0.2), (0.01, 0.5)):
        algorithm = question(alpha, delta=delta)
        good = alpha * (1.0 - 0.65)
        assert (1.0 - good) ** algorithm.arms <= 0.5 * delta < (1.0 - good) ** (algorithm.arms - 1)


# ---- by hand


def by_hand(algorithm, total, pulls):
    """M and F from their definitions, with the gaps of the package: differences in units of epsilon."""
    least, level, epsilon = algorithm.threshold - algorithm.epsilon, algorithm.threshold, algorithm.epsilon

    def ratio(one, other):
        return (one / other) ** total * ((1.0 - one) / (1.0 - other)) ** (pulls - total)

    above = [0.25, 0.5, 1.0, 2.0]
    reaches = sum(w * ratio(least + g * epsilon, least) for g, w in zip(above, [0.2, 0.3, 0.3, 0.2], strict=True))
    below = [0.6 * epsilon * 2.0**k for k in range(20)]
    below = [gap for gap in below if gap <= algorithm.family.largest_gap()]
    weights = [1.0 / gap for gap in below]
    misses = sum(w * ratio(max(level - g, 0.0), level) for g, w in zip(below, weights, strict=True)) / sum(weights)
    return reaches, misses


def test_evidence_and_bank_by_hand():
    algorithm = question(alpha=0.2, epsilon=0.1, delta=0.2, threshold=0.5)
    told = Search(algorithm)

    # the first arm fails every second time, then always; it is discarded after some block
    while True:
        pulls = [told.ask(), *told.ask_many(told.planned)]
        if pulls[0].arm == 1:
            break
        told.tell_many((pull, float(pull.number % 2 == 0 and pull.number < 6)) for pull in pulls)
    history = told.history
    reaches, misses = by_hand(algorithm, history.stats[0][0], history.pulls[0])
    assert misses >= 1.0 / 0.65
    assert reaches < 1.0
    stake = 0.4  # twice alpha
    assert history.state[DISCARDED] == 1.0
    assert history.state[BANK] == pytest.approx(math.log(1.0 - stake + stake * reaches), rel=1e-12)
    told.tell_many((pull, 1.0) for pull in pulls)
    # the second arm always passes: it is accepted after the block that makes its stake worth 1/delta_L
    bank = math.exp(history.state[BANK])
    while True:
        count = told.history.pulls[1]
        worth = bank * stake * by_hand(algorithm, count, count)[0]
        pull = told.ask()
        assert (pull is None) == (worth >= 1.0 / 0.1)
        if pull is None:
            break
        pulls = [pull, *told.ask_many(told.planned)]
        assert {one.arm for one in pulls} == {1}
        assert len(pulls) == max(1, math.ceil(0.25 * count))
        told.tell_many((one, 1.0) for one in pulls)
    assert told.history.state[ANSWER] == 1.0
    assert told.result.arm == 1
    assert told.result.refutation == ""


def test_no_after_n_arms_that_never_pass(tmp_path):
    algorithm = question(alpha=0.3, epsilon=0.2, delta=0.2, threshold=0.9)
    result = search(
        lambda rng: 0.0,
        lambda mean, rng: mean,
        alpha=0.3,
        epsilon=0.2,
        delta=0.2,
        algorithm=NAME,
        options={"threshold": 0.9},
        progress="none",
        storage=tmp_path / "no.db",
    )
    assert result.arms == algorithm.arms
    assert verify(tmp_path / "no.db").statement == result.certificate.statement
    assert result.stopped
    assert result.certificate.claims == ()
    assert not result.certificate.proved
    words = "With probability at least 0.8, fewer than 30% of candidates have a mean of 0.9 or more."
    assert result.certificate.statement.startswith(words)
    told = Search(algorithm)
    while (pull := told.ask()) is not None:
        told.tell(pull, 0.0)
    assert told.result.statement == words
    assert told.result.to_dict()["refutation"] == words.removeprefix("With probability at least 0.8, ").rstrip(".")


def test_yes_is_a_claim_under_the_condition_that_it_was_told():
    result = search(
        lambda rng: 1.0,
        lambda mean, rng: mean,
        alpha=0.3,
        epsilon=0.2,
        delta=0.2,
        algorithm=NAME,
        options={"threshold": 0.9},
        progress="none",
    )
    assert result.arm == 0
    assert result.certificate.proved
    assert any(
        one.startswith("The top 30% of candidates begin at a mean of 0.9") for one in result.certificate.assumptions
    )


def test_where_every_arm_will_do_the_first_one_is_taken():
    told = Search(question(epsilon=0.7, threshold=0.6))
    while (pull := told.ask()) is not None:
        told.tell(pull, 0.0)
    assert told.result.arm == 0
    assert told.history.arms == 1


def test_blocks_are_as_long_as_they_must_be():
    told, sizes = Search(question(alpha=0.3, threshold=0.9, least_block=7)), []
    while (pull := told.ask()) is not None:
        pulls = [pull, *told.ask_many(told.planned)]
        sizes.append(len(pulls))
        told.tell_many((one, float(one.number % 2 == 0)) for one in pulls)
    assert min(sizes) == 7
    assert told.history.arms == told.algorithm.arms


def test_a_yes_that_its_reader_checks_leaves_all_of_delta_to_the_no():
    plain, checked = question(delta=0.1), question(delta=0.1, yes_level=0.5)
    assert plain.traits.covered
    assert not checked.traits.covered
    assert checked.arms == question(delta=0.2).arms
    assert checked.accept_at == pytest.approx(math.log(2.0))
    told = Search(checked)
    while (pull := told.ask()) is not None:
        told.tell(pull, 1.0)
    assert told.result.statement == "Nothing is proved: no proof covers this design of cc-threshold."


# ---- both answers, judged


@pytest.mark.slow
@pytest.mark.statistical
def test_a_wrong_yes_is_as_rare_as_promised():
    """All arms are just too low, or some are in between and feed the bank: every yes to a low one is wrong."""
    algorithm = question(alpha=0.05, delta=0.4)  # delta_L = 0.2
    low = 0.4 - 1e-9
    mixed = answers(algorithm, lambda count, rng: np.where(rng.random(count) < 0.5, low, 0.42), 700)
    wrong = int(np.sum((mixed[:, 0] > 0) & (mixed[:, 1] < 0.4)))
    assert not too_many(wrong, 700, 0.2)
    alike = answers(algorithm, lambda count, rng: np.full(count, low), 700)
    wrong = int(np.sum(alike[:, 0] > 0))
    assert not too_many(wrong, 700, 0.2)
    assert wrong > 7, "so few that the test would not see a fault"


@pytest.mark.slow
@pytest.mark.statistical
def test_negative_control_each_arm_at_the_level_of_all():
    algorithm = question(alpha=0.05, delta=0.4)
    loose = algorithm._replace(accept_at=algorithm.accept_at + math.log(algorithm.stake))
    found = answers(loose, lambda count, rng: np.full(count, 0.4 - 1e-9), 400)
    assert too_many(int(np.sum(found[:, 0] > 0)), 400, 0.2)


@pytest.mark.slow
@pytest.mark.statistical
def test_a_wrong_no_is_as_rare_as_promised():
    algorithm = question(alpha=0.1, epsilon=0.1, delta=0.4)  # delta_A = 0.2
    law = TwoPoint(0.3, 0.6, 0.1)
    found = answers(algorithm, law.sample, 700)
    wrong = int(np.sum(found[:, 0] < 0))
    assert not too_many(wrong, 700, 0.2)
    assert wrong > 7, "so few that the test would not see a fault"
    few = algorithm._replace(arms=algorithm.arms // 4)  # a control
    assert too_many(int(np.sum(answers(few, law.sample, 400)[:, 0] < 0)), 400, 0.2)


@pytest.mark.slow
@pytest.mark.statistical
def test_told_the_quantile_it_is_correct():
    for law, target in ((TwoPoint(0.4, 0.604, 0.1), (0.1, 0.2, 0.2)), (Uniform(0.0, 1.0), (0.1, 0.1, 0.1))):
        algorithm = design(NAME, *target, **prior_knowledge(NAME, law, *target[:2]))
        study = simulate(algorithm, law, runs=1000, seed=3)
        assert not too_many(study.errors.count, 1000, target[2])


# ---- every way to run it


@pytest.mark.parametrize("law", [Uniform(0.0, 1.0), Dirac(0.3), TwoPoint(0.2, 0.7, 0.2)], ids=str)
def test_it_runs_the_same_in_every_way(law):
    assert check_algorithm(question(alpha=0.3, epsilon=0.1), law, seed=1).t > 10


@pytest.mark.slow
@pytest.mark.parametrize(("family", "law"), [(Gaussian(0.5), Uniform(-1.0, 1.0)), (Poisson(3.0), Uniform(0.5, 2.5))])
def test_other_families_run_the_same_in_every_way(family, law):
    algorithm = design(NAME, 0.3, 0.5, 0.2, family, threshold=law.top(0.3))
    assert check_algorithm(algorithm, law, seed=4).t > 1


def test_parallel_pulls_lead_to_the_same_answer():
    def reward(pull):
        return float(random.Random(f"{pull.arm} {pull.number}").random() < random.Random(pull.arm).random())

    def answer(width, shuffle):
        told, hands = Search(question(), seed=0), random.Random(0)
        while not told.stopped:
            pulls = told.ask_many(width)
            if shuffle:
                hands.shuffle(pulls)
            for pull in pulls:
                told.tell(pull, reward(pull))
        return told.result, list(told.history.pulls)

    assert answer(1, shuffle=False) == answer(64, shuffle=True)


def test_the_loop_runs_interpreted_too():
    """The same loop, compiled or not, with sums drawn at once or one by one."""
    algorithm = question()
    outcomes = []
    for runner in (Run, InterpretedRun):
        run, source = runner(algorithm, one_by_one=True), streams(run_seed(5, 0))
        run.add_arms(Uniform(0.0, 0.7).sample(algorithm.arms, source.arms))
        assert run.advance(source.rules, source.rewards, 40) == OUT_OF_BUDGET
        assert run.advance(source.rules, source.rewards) == STOPPED
        outcomes.append((run.history.t, run.recommend(), list(run.state), list(run.pulls), list(run.stats[0])))
    assert outcomes[0] == outcomes[1]


PINNED = {0.3: (87, 1, 0, 1.0), 0.6: (2577, 2, 1, 1.0), 0.9: (1912, 209, 52, -1.0)}


@pytest.mark.parametrize("threshold", list(PINNED))
@pytest.mark.parametrize("driver", quick([InterpretedRun, Run], [InterpretedRun]))
def test_trajectories_are_pinned(threshold, driver):
    run, source = driver(question(alpha=0.05, epsilon=0.05, delta=0.05, threshold=threshold)), streams(run_seed(11, 0))
    run.add_arms(Uniform(0.0, 0.85).sample(run.algorithm.arms, source.arms))
    run.advance(source.rules, source.rewards)
    assert (run.history.t, run.history.arms, run.recommend(), run.state[ANSWER]) == PINNED[threshold]
