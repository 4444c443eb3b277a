"""Ask and tell: order, refusals that leave everything as it was, and the same runs as the simulator's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from topalpha import Pull, Search, design, simulate
from topalpha.algorithms import PRINCIPAL
from topalpha.ask_tell import at_rest
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Poisson
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Beta, Conditioned
from topalpha.rules.protocol import Traits
from topalpha.testing import interpreted, outcome, replayed

RESERVOIR = Conditioned(Beta(1.0, 1.0), 0.95)
NAMES = [entry.name for entry in PRINCIPAL]


def pair_search():
    """A search that asks for two pulls a round."""
    return Search(design("lucb++", 0.3, 0.3, 0.2), seed=0)


def snapshot(search):
    history = search.history
    return history.t, history.arms, list(history.pulls), [list(column) for column in history.stats], list(history.state)


def test_a_round_may_be_asked_for_before_it_is_told():
    search = pair_search()
    assert [search.ask(), search.ask()] == [Pull(0, 0, 0), Pull(1, 0, 1)]
    assert search.history.t == 0


def test_asking_where_the_algorithm_must_wait_names_what_is_awaited():
    search = pair_search()
    arms = search.algorithm.arms
    pulls = search.ask_many(arms + 5)
    assert [pull.arm for pull in pulls] == list(range(arms)), "no arm is compared before all have a reward"
    search.tell_many([(pull, 1.0) for pull in pulls[2:]])
    assert search.ask_many(1) == []
    with pytest.raises(
        RuntimeError, match=r"ask must wait until one of these is told: pull 0 of arm 0, pull 0 of arm 1"
    ):
        search.ask()
    search.tell(pulls[0], 1.0)
    search.tell(pulls[1], 0.0)
    assert search.ask().order == arms


def test_rewards_count_in_the_order_of_all_pulls_where_the_algorithm_needs_it():
    search = Search(design("joint-lucb", 0.3, 0.3, 0.2), seed=0)
    first, second = search.ask(), search.ask()
    search.tell(second, 0.25)
    assert search.history.t == 0, "a later reward must wait for the earlier one"
    search.tell(first, 0.75)
    assert search.history.t == 2
    assert search.history.stats[0][:2] == [0.75, 0.25]


def test_elsewhere_rewards_count_in_the_order_of_their_arm():
    search = pair_search()
    search.tell_many([(pull, 1.0) for pull in search.ask_many(search.algorithm.arms)])
    pulls = search.ask_many(8)
    arms = [pull.arm for pull in pulls]
    twice = next(arm for arm in arms if arms.count(arm) > 1)
    early, late = [pull for pull in pulls if pull.arm == twice][:2]
    before = search.history.t
    search.tell(late, 0.5)
    assert search.history.t == before, "a later reward of the arm must wait for the earlier one"
    other = next(pull for pull in pulls if pull.arm != twice)
    search.tell(other, 1.0)
    assert search.history.t == before + 1
    search.tell(early, 1.0)
    assert search.history.t == before + 3


@pytest.mark.parametrize("name", NAMES)
def test_reversed_tells_lead_to_the_same_run(name):
    algorithm = design(name, 0.2, 0.25, 0.1)
    last, record = interpreted(algorithm, RESERVOIR, seed=3)
    assert replayed(algorithm, record, seed=3) == last


def test_what_was_not_asked_for_is_refused_and_what_is_told_again_counts_once():
    search = pair_search()
    first, second = search.ask(), search.ask()
    search.tell(second, 1.0)
    before = snapshot(search)
    for pull in (Pull(0, 1, 0), Pull(5, 0, 0), Pull(0, 0, 7), Pull(0, 0, -1)):
        with pytest.raises(ValueError, match="pull must have been asked for"):
            search.tell(pull, 1.0)
    search.tell(second, 1.0)
    with pytest.raises(ValueError, match=r"reward of pull 0 of arm 1 must be the one told before, 1.0, got 0.5"):
        search.tell(second, 0.5)
    assert snapshot(search) == before
    with pytest.raises(ValueError, match=r"must be the one told before, 1.0, got 0.0"):
        search.tell_many([(first, 1.0), (first, 0.0)])
    assert snapshot(search) == before
    search.tell_many([(first, 1.0), (first, 1.0)])
    for pull in (first, second):
        search.tell(pull, 1.0)
    assert (search.history.t, search.told) == (2, 2)


BAD = [
    (Bernoulli(), [math.nan, -0.1, 1.1, math.inf, "yes", None]),
    (Gaussian(), [math.nan, math.inf, -math.inf, "yes"]),
    (Poisson(), [math.nan, -1.0, math.inf, 0.5]),
    (Exponential(), [math.nan, -1.0, math.inf]),
    (Gamma(2.0), [math.nan, -1.0, math.inf]),
]


@pytest.mark.parametrize(("family", "rewards"), BAD, ids=lambda value: type(value).__name__)
def test_a_bad_reward_is_refused_and_nothing_is_lost(family, rewards):
    search = Search(design("lucb++", 0.3, 0.3, 0.2, family), seed=0)
    first, second = search.ask(), search.ask()
    search.tell(second, 1.0)
    before = snapshot(search)
    for reward in rewards:
        with pytest.raises(ValueError, match=r"^reward must"):
            search.tell(first, reward)
        assert snapshot(search) == before
    search.tell(first, 1.0)
    assert search.history.t == 2


def test_no_result_before_the_first_reward():
    search = pair_search()
    with pytest.raises(ValueError, match="result must be read after the first reward"):
        _ = search.result
    first = search.ask()
    search.ask()
    search.tell(first, 1.0)
    result = search.result
    assert (result.arm, result.pulls, result.arms, result.mean, result.stopped) == (0, 1, 2, 1.0, False)
    assert "Nothing is proved yet" in result.statement


def drive(algorithm, seed, run):
    """Run r of a study, by hand."""
    source = streams(run_seed(seed, run))
    means = RESERVOIR.sample(algorithm.arms, source.arms)
    search = Search(algorithm, run_seed(seed, run))
    while (pull := search.ask()) is not None:
        search.tell(pull, algorithm.family.sample(means[pull.arm], source.rewards))
    return search, means


@pytest.mark.parametrize("name", NAMES)
def test_a_search_repeats_the_simulators_runs(name):
    algorithm = design(name, 0.2, 0.2, 0.1)
    study = simulate(algorithm, RESERVOIR, runs=6, seed=8)
    for run in range(6):
        search, means = drive(algorithm, 8, run)
        assert search.result.stopped
        assert search.result.pulls == study.pulls[run]
        assert means[search.result.arm] == study.means[run]


def test_a_stopped_search_stays_stopped():
    search, _ = drive(design("cc-lucb", 0.3, 0.3, 0.2), 0, 0)
    before = snapshot(search)
    assert search.ask() is None
    assert search.ask() is None
    assert snapshot(search) == before
    assert search.result.statement.startswith("With probability at least 0.8, arm ")
    with pytest.raises(ValueError, match="pull must have been asked for"):
        search.tell(Pull(0, 5, 0), 1.0)


def test_pulls_are_numbered_by_arm_and_in_order():
    algorithm = design("kl-lucb", 0.3, 0.3, 0.2)
    source = streams(0)
    search, seen, order = Search(algorithm), {}, 0
    while (pull := search.ask()) is not None:
        assert pull.number == seen.get(pull.arm, 0)
        assert pull.order == order
        seen[pull.arm], order = pull.number + 1, order + 1
        search.tell(pull, float(source.rewards.random() < 0.5))
    assert outcome(search.history, 0).pulls == tuple(seen[arm] for arm in range(algorithm.arms))


def test_one_arm_is_returned_after_one_pull():
    for name in NAMES:
        algorithm = design(name, 0.9, 0.1, 0.9)
        if algorithm.arms > 1:
            algorithm = algorithm._replace(arms=1)
        search = Search(algorithm)
        search.tell(search.ask(), 0.0)
        assert search.ask() is None
        assert (search.result.arm, search.result.stopped, search.result.pulls) == (0, True, 1)


class Twice:
    """Asks for two pulls of one arm in each round."""

    alpha = epsilon = delta = 0.5
    arms, family, traits = 1, Bernoulli(), Traits("twice", width=2)

    def scratch(self, arms):
        return None

    def observe(self, history, memory, arm, reward):
        history.pulls[arm] += 1
        history.stats[0][arm] += reward

    def plan(self, history, memory, rng, batch):
        batch[:] = [0, 0]
        return 2

    def recommend(self, history, memory):
        return 0


def test_two_pulls_of_one_arm_in_a_round_are_told_apart():
    search = Search(Twice())
    first, second = search.ask(), search.ask()
    assert (first, second) == (Pull(0, 0, 0), Pull(0, 1, 1))
    search.tell(second, 0.5)
    search.tell(first, 1.0)
    assert [search.ask(), search.ask()] == [Pull(0, 2, 2), Pull(0, 3, 3)]


@pytest.mark.parametrize("name", NAMES)
def test_a_pull_that_never_comes_back_does_not_let_the_others_run_on(name):
    """What waits for it is of no use before it is told; and once it is, all of it counts."""
    search = Search(design(name, 0.2, 0.1, 0.1), seed=0)
    lost, asked = search.ask(), 1
    while pulls := search.ask_many(16):
        asked += len(pulls)
        assert asked < 20_000
        search.tell_many([(pull, float(pull.arm % 2)) for pull in pulls])
        if search.stopped:
            break
    waiting = search.told - search.history.t
    assert waiting < 200, f"{waiting} rewards wait"
    search.tell(lost, 1.0)
    assert search.history.t == search.told


@pytest.mark.parametrize("name", NAMES)
def test_a_stopped_search_from_its_trail_has_the_rewards_of_the_search(name):
    """With pulls in flight at the stop, which do not count."""
    search, rng = Search(design(name, 0.3, 0.3, 0.2)), np.random.default_rng(1)
    flying = []
    while not search.stopped:
        flying += search.ask_many(6 - len(flying))
        if not search.stopped:
            search.tell(flying.pop(int(rng.integers(len(flying)))), float(rng.random() < 0.5))
    again = at_rest(search.trail)
    assert again.rewards == search.rewards
    assert [len(one) for one in again.rewards] == search.history.pulls
