"""paired: side by side on one order; the same in every way to run it, right at the end, rarely wrong."""

import random

import numpy as np
import pytest

from tests.support.feeding import too_many
from topalpha import Search, design
from topalpha.algorithms import paired
from topalpha.confidence.pairs import largest_wealth
from topalpha.families import Bernoulli, Graded, PassFail
from topalpha.randomness import streams
from topalpha.simulation import start
from topalpha.testset.replays import Tapes


def made(candidates, items, epsilon=0.1, delta=0.1, family=PassFail, **options):
    return design("paired", 1 / max(candidates, 2), epsilon, delta, family(items), pool=candidates, **options)


def run(algorithm, table, tape, forgetful=False, width=1, seed=0):
    """A search on a table of scores, with ``width`` evaluations in flight that come back at random."""
    search, flying, shuffled = Search(algorithm), [], random.Random(seed)
    while not search.stopped:
        flying += search.ask_many(width - len(flying))
        if not flying:
            assert search.stopped
            break
        pull = flying.pop(shuffled.randrange(len(flying)))
        search.tell(pull, float(table[pull.arm, tape[pull.number]]))
        if forgetful:
            search.forget()
    return search


def noisy(candidates, items, seed, graded=False):
    rng = np.random.default_rng(seed)
    common = rng.random(items)
    scores = 0.7 * common + 0.3 * rng.random((candidates, items))
    return (scores if graded else (scores < rng.uniform(0.3, 0.7, (candidates, 1)))).astype(float), rng


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_memory_may_be_forgotten_at_any_time(seed, graded):
    table, rng = noisy(4, 60, seed, graded)
    algorithm, tape = made(4, 60, family=Graded if graded else PassFail), rng.permutation(60)
    plain, forgetful = run(algorithm, table, tape), run(algorithm, table, tape, forgetful=True)
    assert plain.trail.arm_of == forgetful.trail.arm_of
    assert plain.best == forgetful.best
    assert [plain.claims(arm) for arm in range(4)] == [forgetful.claims(arm) for arm in range(4)]


@pytest.mark.parametrize("seed", range(4))
def test_what_it_returns_is_settled_against_every_other(seed):
    table, rng = noisy(5, 80, seed)
    algorithm, tape = made(5, 80), rng.permutation(80)
    search = run(algorithm, table, tape)
    pulls, returned = search.history.pulls, search.best
    for other in set(range(5)) - {returned}:
        common = tape[: min(pulls[returned], pulls[other])]
        found = (table[other, common] - table[returned, common]).tolist()
        assert largest_wealth(found, {0.1: 1.0}, 0.1, 80) >= 4 / 0.1
    assert search.claims(returned)[0].epsilon <= 0.1
    assert sum(pulls) <= 5 * 80


def test_pulls_in_flight_go_on_side_by_side_and_end():
    for seed in range(6):
        table, rng = noisy(3, 50, seed)
        search = run(made(3, 50), table, rng.permutation(50), width=5, seed=seed)
        means = table.mean(axis=1)
        assert search.stopped
        assert max(search.history.pulls) <= 50
        assert means[search.best] >= means.max() - 0.1 - 1e-9


def test_equal_candidates_are_told_apart_by_nothing_and_the_end_is_exact():
    table = np.tile((np.arange(40) % 2).astype(float), (3, 1))
    search = run(made(3, 40, epsilon=0.001), table, np.arange(40))
    assert search.stopped
    assert search.claims(search.best)[0].epsilon <= 0.001
    one = run(made(1, 40), table[:1], np.arange(40))
    assert one.told == 1


def test_it_compiles_to_the_same_decisions():
    table, rng = noisy(4, 70, 9)
    algorithm, tape = made(4, 70), rng.permutation(70)
    search = run(algorithm, table, tape)
    compiled = start(algorithm, Tapes(table[:, tape], np.zeros(4, dtype=np.int64)))
    compiled.add_arms(np.arange(4.0))
    own = streams(0)
    compiled.advance(own.rules, own.rewards)
    assert compiled.pulls.tolist() == search.history.pulls
    assert compiled.recommend() == search.best


def wrong(algorithm, table, runs, needed=None):
    algorithm = algorithm if needed is None else algorithm._replace(needed=needed)
    rng, means, count = np.random.default_rng(0), table.mean(axis=1), 0
    for _ in range(runs):
        search = run(algorithm, table, rng.permutation(table.shape[1]))
        count += means[search.best] < means.max() - algorithm.epsilon - 1e-9
    return count


def passing(count, shift):
    """A row of 100 examples, ``count`` of which pass, one after another."""
    return np.roll(np.array([1.0] * count + [0.0] * (100 - count)), shift)


#: One candidate is the best by just more than .05; all of them pass other examples.
TIGHT = np.stack([passing(60 if row == 0 else 54, 17 * row) for row in range(5)])


@pytest.mark.statistical
def test_it_errs_at_most_delta_on_near_ties():
    algorithm = made(5, 100, epsilon=0.05, delta=0.2)
    assert not too_many(wrong(algorithm, TIGHT, 300), 300, 0.2)


@pytest.mark.statistical
def test_negative_control_evidence_that_is_far_too_little():
    algorithm = made(5, 100, epsilon=0.05, delta=0.2)
    assert too_many(wrong(algorithm, TIGHT, 100, needed=1.1), 100, 0.2)


def test_an_incumbent_needs_less_and_the_others_no_more_than_their_part():
    plain, named = made(6, 100), made(6, 100, incumbent=2)
    assert named.enough(1) < plain.needed < named.enough(0)
    # Whoever is best, the parts of delta for returning another one wrongly are at most delta in all.
    for algorithm in (plain, named, made(2, 100), made(2, 100, incumbent=1), made(6, 100, incumbent=1, share=0.01)):
        parts = [1 / algorithm.enough(arm) for arm in range(algorithm.arms)]
        assert max(sum(parts) - part for part in parts) <= 0.1 * (1 + 1e-9)
    assert made(2, 100, incumbent=1).enough(0) == made(2, 100).enough(0) == 10.0


def test_bad_input():
    for family in (Bernoulli(), None):
        with pytest.raises(ValueError, match="family must be pass-fail or graded for paired"):
            design("paired", 0.2, 0.1, 0.1, family, pool=5)
    with pytest.raises(ValueError, match=r"alpha must aim at the best one of 5 candidates, as 0\.2 does, got 0\.5"):
        design("paired", 0.5, 0.1, 0.1, PassFail(10), pool=5)
    with pytest.raises(ValueError, match="incumbent must be at most 5"):
        design("paired", 0.2, 0.1, 0.1, PassFail(10), pool=5, incumbent=6)
    with pytest.raises(ValueError, match="pool must have at most 10,000,000 scores"):
        design("paired", 1e-4, 0.1, 0.1, PassFail(10_000), pool=10_000)
    assert paired.design.entry.proof == "docs/proofs.md, H"
