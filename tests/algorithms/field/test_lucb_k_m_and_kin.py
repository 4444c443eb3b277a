"""lucb-k-m, p2-batched, cc-lucb-streaming and cc-lucb-k against what docs/field/lucb.md proves about them."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.stats import binom

from marks import quick
from topalpha import Search, design, simulate
from topalpha.algorithms import entry
from topalpha.algorithms.field.p2_batched import batches
from topalpha.families import Bernoulli, Gaussian, LowVariance, Normal, PassFail, Poisson
from topalpha.research.audit.cases import JUST_OVER
from topalpha.reservoirs import Dirac, Uniform, parse
from topalpha.rules.columns import UPPER
from topalpha.rules.protocol import SUM, Certifier, History, Selector
from topalpha.simulation import interpret
from topalpha.testing import check_algorithm, check_design
from topalpha.theory.arm_counts import arms_of_rank

NAMES = ("lucb-k-m", "p2-batched", "cc-lucb-streaming", "cc-lucb-k")
VARIANTS = [
    ("lucb-k-m", {}),
    ("lucb-k-m", {"bounds": "hoeffding"}),
    ("lucb-k-m", {"k": 2, "m": 4}),
    ("p2-batched", {"batch": 6}),
    ("p2-batched", {"batch": 4, "bounds": "kt"}),
    ("p2-batched", {"batch": 4, "split": "certificate"}),
    ("cc-lucb-streaming", {}),
    ("cc-lucb-streaming", {"keep": 2}),
    ("cc-lucb-streaming", {"keep": 5, "bounds": "kt"}),
    ("cc-lucb-k", {}),
    ("cc-lucb-k", {"k": 3, "bounds": "kt"}),
]
UNIT = Uniform(0.0, 0.95)
BETA = "conditioned(beta(1,1),0.95)"
#: A study fails where chance would do as badly as this at an error rate of delta.
FALSE_ALARM = 1e-6


# ---- designs


@pytest.mark.parametrize("name", NAMES)
def test_designs_refuse_what_is_wrong(name):
    check_design(entry(name).design)
    assert isinstance(design(name, 0.1, 0.1, 0.1), Certifier)
    assert entry(name).guarantee == "fixed-confidence"


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("lucb-k-m", {"k": 3, "m": 2}, "m must be at least k = 3, got 2"),
        ("lucb-k-m", {"k": 0}, "k must be a whole number of at least 1"),
        ("lucb-k-m", {"bounds": "tilt"}, "bounds must be one of kl, hoeffding"),
        ("p2-batched", {"batch": 1}, "batch must be a whole number of at least 2"),
        ("p2-batched", {"split": "odd"}, "split must be one of even, certificate"),
        ("cc-lucb-streaming", {"keep": 1}, "keep must be a whole number of at least 2"),
        ("cc-lucb-k", {"k": 0}, "k must be a whole number of at least 1"),
    ],
)
def test_options_are_checked(name, options, text):
    with pytest.raises(ValueError, match=text):
        design(name, 0.1, 0.1, 0.1, **options)


def test_printed_bounds_are_for_rewards_between_0_and_1():
    with pytest.raises(ValueError, match="family must be bernoulli"):
        design("lucb-k-m", 0.1, 0.1, 0.1, Gaussian(), bounds="hoeffding")
    assert design("lucb-k-m", 0.1, 0.1, 0.1, Gaussian()).family == Gaussian()


@pytest.mark.parametrize("rank", [1, 2, 3, 7])
@pytest.mark.parametrize("chance", [0.01, 0.2, 0.9, 0.999])
def test_as_few_arms_as_the_binomial_tail_allows(rank, chance):
    for level in (0.4, 0.05, 1e-6):
        number = arms_of_rank(rank, chance, level)
        assert binom.cdf(rank - 1, number, chance) <= level
        assert number == rank or binom.cdf(rank - 1, number - 1, chance) > level


def test_levels_as_in_the_proofs():
    algorithm = design("lucb-k-m", 0.1, 0.1, 0.1, k=2, m=3)
    assert algorithm.arms == arms_of_rank(3, 0.1, 0.05)
    assert algorithm.offset == pytest.approx(math.log(1.25 * algorithm.arms / 0.05))
    even = design("p2-batched", 0.1, 0.1, 0.1, batch=8)
    assert even.discard_slack == pytest.approx(0.1 / batches(29, 8))
    assert batches(29, 8) == 4
    assert math.exp(-even.confidence.upper_threshold) == pytest.approx(0.1 / (4 * 29))
    assert even.confidence.lower_threshold == even.confidence.upper_threshold
    assert not even.traits.independent
    stream, plain = design("cc-lucb-streaming", 0.1, 0.1, 0.1), design("cc-lucb", 0.1, 0.1, 0.1)
    assert (stream.arms, stream.confidence) == (plain.arms, plain.confidence)
    assert stream.traits.independent
    several = design("cc-lucb-k", 0.1, 0.1, 0.1, k=3)
    assert several.arms == arms_of_rank(3, 0.1 * 0.55, 0.09)
    assert math.exp(-several.confidence.lower_threshold) == pytest.approx(0.01 / several.arms)
    assert math.exp(-several.confidence.upper_threshold) == pytest.approx(0.45)


# ---- every way to run


# Other options of the same classes; the first of each name runs with the whole field.
@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_all_drivers_agree(name, options):
    algorithm = design(name, 0.2, 0.35, 0.1, **options)
    assert check_algorithm(algorithm, UNIT, seed=1).t > algorithm.arms


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_drivers_agree_on_ties(name):
    check_algorithm(design(name, 0.3, 0.45, 0.2), Dirac(0.5), seed=4)
    check_algorithm(design(name, 0.3, 0.45, 0.2), Dirac(1.0), seed=4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "family", "reservoir", "epsilon"),
    [
        *((name, PassFail(12), "discrete(0,0.25,0.5,0.75,1)", 0.2) for name in NAMES[1:]),
        *((name, Normal(), "uniform(0,4)", 1.5) for name in NAMES[2:]),
        *((name, LowVariance(), "uniform(0,1)", 0.4) for name in NAMES[2:]),
        *((name, Gaussian(0.5), "uniform(-1,1)", 0.8) for name in NAMES),
        *((name, Poisson(3.0), "uniform(0.1,2.9)", 1.2) for name in NAMES),
    ],
)
def test_other_rewards_run_the_same_in_every_way(name, family, reservoir, epsilon):
    check_algorithm(design(name, 0.3, epsilon, 0.2, family), parse(reservoir), seed=2)


def test_exhausted_items_end_a_run():
    """Four items an arm, an epsilon that they cannot resolve otherwise: at most 4 n pulls."""
    law = parse("discrete(0,0.25,0.5,0.75,1)")
    for name, options in (("cc-lucb-streaming", {"keep": 3}), ("p2-batched", {"batch": 3}), ("cc-lucb-k", {})):
        algorithm = design(name, 0.3, 0.01, 0.2, PassFail(4), **options)
        for seed in range(10):
            run = interpret(algorithm, law, seed)
            assert run.search.result.stopped
            assert run.search.history.t <= 4 * algorithm.arms


# ---- a plain driver


def drive(algorithm, reward, watch=None, most=100_000):
    """Interpret a run in the plainest way; ``watch`` sees (and may spoil) the history before every plan."""
    size = algorithm.arms
    pulls, stats = [0] * size, [[0.0] * size for _ in range(algorithm.traits.columns)]
    state, memory = [0.0] * algorithm.traits.numbers, algorithm.scratch(size)
    batch, asked, arms, number = [0] * algorithm.traits.width, [], 0, [0] * size
    while len(asked) < most:
        history = History(len(asked), arms, pulls, stats, state)
        if watch is not None:
            watch(history)
        count = algorithm.plan(history, memory, np.random.default_rng(0), batch)
        if count == 0:
            return asked, history, memory
        for arm in batch[:count]:
            arms = max(arms, arm + 1)
            asked.append(arm)
            number[arm] += 1
            algorithm.observe(History(len(asked), arms, pulls, stats, state), memory, arm, reward(arm, number[arm]))
    raise AssertionError("it did not stop")


def coin(seed, top=0.9):
    """Rewards that depend on the arm and the number of the pull only."""

    def reward(arm, number):
        mean = top * random.Random(f"{seed} arm {arm}").random()
        return float(random.Random(f"{seed} pull {number} of {arm}").random() < mean)

    return reward


# ---- lucb-k-m


def reference(algorithm, reward):
    """LUCB-k-m, written down once more from docs/field/lucb.md."""
    n, k, m = algorithm.arms, algorithm.wanted, algorithm.good_enough
    asked, total, count = list(range(n)), [reward(arm, 1) for arm in range(n)], [1] * n
    t = n + 1
    while True:
        clock = t if algorithm.hoeffding else math.exp(0.02 * math.ceil(math.log(t) / 0.02))
        rate = math.log(1.25 * n * clock**4 / (0.5 * algorithm.delta))
        mean = [total[arm] / count[arm] for arm in range(n)]
        if algorithm.hoeffding:
            upper = [mean[arm] + math.sqrt(rate / 2 / count[arm]) for arm in range(n)]
            lower = [mean[arm] - math.sqrt(rate / 2 / count[arm]) for arm in range(n)]
        else:
            upper = [algorithm.family.upper(mean[arm], rate / count[arm]) for arm in range(n)]
            lower = [algorithm.family.lower(mean[arm], rate / count[arm]) for arm in range(n)]
        order = sorted(range(n), key=lambda arm: (-mean[arm], -count[arm], arm))
        first, second, third = order[:k], order[k:m], order[m:]
        if not third:
            return asked, first
        weak = min(first, key=lambda arm: (lower[arm], count[arm], arm))
        strong = min(third, key=lambda arm: (-upper[arm], count[arm], arm))
        if upper[strong] - lower[weak] <= algorithm.epsilon:
            return asked, first
        for arm in [weak, *([min(second, key=lambda arm: count[arm])] if second else []), strong]:
            asked.append(arm)
            count[arm] += 1
            total[arm] += reward(arm, count[arm])
        t += 1


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"k": 2, "m": 4}, {"bounds": "hoeffding"}, {"m": 3}])
def test_lucb_k_m_does_what_is_written(options):
    algorithm = design("lucb-k-m", 0.3, 0.4, 0.2, **options)
    for seed in range(3):
        asked, history, memory = drive(algorithm, coin(seed))
        wanted = reference(algorithm, coin(seed))
        assert (asked, algorithm.selection(history, memory)) == wanted
        assert algorithm.recommend(history, memory) == wanted[1][0]


def test_lucb_k_m_by_hand():
    """Two arms that always and never succeed, alpha .7, delta .2: 2 sqrt(rate/(2u)) <= 1.5 first at u = 13 pulls each.

    rate = ln(1.25 * 2 * (u+2)^4 / .1) is 13.775 at u = 12, more than 1.125 * 12, and 14.05 at 13, less than 14.625.
    """
    algorithm = design("lucb-k-m", 0.7, 0.5, 0.2, bounds="hoeffding")
    asked, history, memory = drive(algorithm, lambda arm, _: float(arm == 1))
    assert algorithm.arms == 2
    assert history.pulls == [13, 13]
    assert len(asked) == 26
    assert algorithm.recommend(history, memory) == 1


def test_nothing_to_compare_with_ends_after_the_first_pulls():
    for name in NAMES:
        options = {"k": 1} if name == "cc-lucb-k" else {}
        algorithm = design(name, 0.999, 0.1, 0.6, **options)
        assert algorithm.arms == 1
        assert drive(algorithm, lambda *_: 0.0)[0] == [0]
    whole = design("lucb-k-m", 0.999, 0.1, 0.5, k=3)
    asked, history, memory = drive(whole, coin(0))
    assert asked == [0, 1, 2]
    assert sorted(whole.selection(history, memory)) == [0, 1, 2]


# ---- the pool of cc-lucb-streaming and p2-batched

POOLS = [
    ("cc-lucb-streaming", {"keep": 2}),
    ("cc-lucb-streaming", {"keep": 5}),
    ("cc-lucb-streaming", {"keep": 32}),
    ("p2-batched", {"batch": 5}),
    ("p2-batched", {"batch": 5, "split": "certificate"}),
]


def spoil(algorithm, rng):
    """Write nonsense over all that is recorded of arms outside the pool."""

    def watch(history):
        pool = set(algorithm.in_slots(history))
        assert len(pool) == history.state[5] <= algorithm.pool_size
        for arm in set(range(history.arms)) - pool:
            history.pulls[arm] = rng.choice([-7, 0, 1, 10**9])
            for column in history.stats:
                column[arm] = rng.choice([math.nan, math.inf, -math.inf, 0.0, 1e9])

    return watch


@pytest.mark.parametrize(("name", "options"), POOLS)
def test_decisions_rest_on_the_pool_alone(name, options):
    algorithm = design(name, 0.15, 0.4, 0.1, **options)
    for seed in range(3):
        asked, history, memory = drive(algorithm, coin(seed))
        spoiled, after, fresh = drive(algorithm, coin(seed), spoil(algorithm, random.Random(seed)))
        assert spoiled == asked
        assert after.state == history.state
        assert algorithm.recommend(after, fresh) == algorithm.recommend(history, memory)
        assert max(asked) == algorithm.arms - 1, "all n arms must be drawn"


def test_the_erasure_is_seen_where_decisions_look_outside_the_pool():
    """A negative control: forget one arm of the pool as well, and the run changes."""
    algorithm = design("cc-lucb-streaming", 0.15, 0.3, 0.1, keep=5)

    def watch(history):
        for arm in algorithm.in_slots(history)[:1]:
            if history.pulls[arm] > 0:
                history.stats[SUM][arm], history.stats[UPPER][arm] = 0.0, 1.0

    assert drive(algorithm, coin(0), watch)[0] != drive(algorithm, coin(0))[0]


@pytest.mark.parametrize(("name", "options"), [one for one in POOLS if one[1].get("split") or "keep" in one[1]])
def test_the_stream_ends_with_the_certificate_of_theorem_d(name, options):
    algorithm = design(name, 0.15, 0.2, 0.1, **options)
    for seed in range(4):
        _, history, memory = drive(algorithm, coin(seed))
        best = algorithm.recommend(history, memory)
        lower = algorithm.confidence.lower_now(history, memory.lookup, best)
        uppers = [history.stats[UPPER][arm] for arm in range(algorithm.arms) if arm != best]
        assert lower >= history.state[1]
        assert max(uppers) - algorithm.epsilon <= lower
        assert algorithm.in_pool(history) == [best]


def test_batches_come_when_one_arm_is_left_and_each_is_settled_within_its_share():
    algorithm = design("p2-batched", 0.1, 0.6, 0.1, batch=6)
    assert (algorithm.arms, batches(29, 6), algorithm.discard_slack) == (29, 6, pytest.approx(0.1))

    def settled(history, refills, drawn, winner):
        """Everything else in the batch is below the winner's lower bound, up to the batch's share."""
        first, before = refills[-1] if refills else (0, 0)
        gone = {before, *range(first, drawn)} - {winner}
        assert winner == before or winner >= first
        assert max(history.stats[UPPER][arm] for arm in gone) - algorithm.discard_slack <= history.state[1]
        refills.append((drawn, winner))

    for seed in range(3):
        refills = []

        def watch(history, refills=refills):
            winner = int(history.state[2]) - 1
            if history.state[0] == 0.0 and winner >= 0:  # L* was forgotten: a batch has begun
                drawn = history.arms - len(algorithm.in_slots(history)) + 1
                if not refills or refills[-1][0] < drawn:
                    settled(history, refills, drawn, winner)

        _, history, memory = drive(algorithm, coin(seed), watch)
        settled(history, refills, history.arms, algorithm.recommend(history, memory))
        assert [drawn for drawn, _ in refills] == [6, 11, 16, 21, 26, 29]


SEVERAL = [("cc-lucb-k", {}), ("cc-lucb-k", {"k": 5})]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), [*POOLS[:2], POOLS[4], *SEVERAL])
def test_runs_stay_under_the_sure_cap_even_if_all_arms_are_tied(name, options):
    algorithm = design(name, 0.2, 0.3, 0.1, **options)
    pulls = math.ceil(2.0 * (algorithm.confidence.lower_threshold + math.log(10.0)) / 0.3**2)
    study = simulate(algorithm, Dirac(0.5), runs=20, workers=1)
    assert study.pulls.max() <= algorithm.arms * (1 + 2 * pulls)


# ---- cc-lucb-k


@pytest.mark.parametrize("k", [1, 2, 4])
def test_k_arms_are_returned_with_the_certificate(k):
    algorithm = design("cc-lucb-k", 0.3, 0.3, 0.1, k=k)
    assert isinstance(algorithm, Selector)
    for seed in range(3):
        _, history, memory = drive(algorithm, coin(seed))
        chosen = algorithm.selection(history, memory)
        assert len(set(chosen)) == k
        assert chosen[0] == algorithm.recommend(history, memory)
        lowest = min(algorithm.lower_bound(history, memory, arm) for arm in chosen)
        outside = max(history.stats[UPPER][arm] for arm in range(algorithm.arms) if arm not in chosen)
        assert outside - algorithm.epsilon <= lowest
        for arm in chosen:
            assert algorithm.claims(history, memory, arm)[0].epsilon <= algorithm.epsilon + 1e-12


def test_perfect_records_do_not_take_turns():
    """All arms always succeed: only the first k, and one challenger a round, are pulled more than a few times."""
    algorithm = design("cc-lucb-k", 0.2, 0.1, 0.1, k=2)
    _, history, memory = drive(algorithm, lambda *_: 1.0)
    assert algorithm.selection(history, memory) == [0, 1]
    assert sum(count > 20 for count in history.pulls) <= 3


# ---- several pulls in flight, told in any order


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_results_in_any_order_end_in_a_certificate(name, options):
    algorithm = design(name, 0.3, 0.4, 0.2, **options)
    for seed in range(3):
        search, rng, reward = Search(algorithm), random.Random(seed), coin(seed)
        most = 0
        while not search.stopped:
            search.ask_many(rng.randrange(1, 9))
            out = search.outstanding
            most = max(most, len(out))
            for pull in rng.sample(out, rng.randrange(1, len(out) + 1) if out else 0):
                search.tell(pull, reward(pull.arm, pull.number + 1))
        assert most >= 5
        assert search.result.stopped
        if search.claims(search.best):
            assert all(search.claims(arm)[0].epsilon <= 0.4 + 1e-9 for arm in search.selection)
        else:
            assert options.get("split", "even") == "even"
            assert name == "p2-batched"


# ---- what is said before the stop


@pytest.mark.statistical
@pytest.mark.parametrize(("name", "options"), quick([one for one in VARIANTS if one[0] != "p2-batched"], VARIANTS[-1:]))
def test_claims_hold_at_all_times(name, options):
    algorithm, law = design(name, 0.2, 0.4, 0.1, **options), parse(BETA)
    wrong, said, every = 0, 0, 5 if name == "cc-lucb-streaming" else 40
    for seed in range(12):
        found = []

        def watch(search, pull, _, found=found):
            if search.history.t % every == 0:
                found.extend((arm, claim) for arm in range(search.history.arms) for claim in search.claims(arm)[:2])

        run = interpret(algorithm, law, seed=seed, watch=watch, budget=1500)
        said += len(found)
        wrong += any(run.means[arm] < law.top(claim.alpha) - claim.epsilon for arm, claim in found)
    assert said > 10
    assert binom.sf(wrong - 1, 12, 0.1) > FALSE_ALARM


def test_the_stream_says_what_is_known_of_arms_it_has_discarded():
    algorithm = design("cc-lucb-streaming", 0.15, 0.2, 0.1, keep=4)
    _, history, memory = drive(algorithm, coin(1))
    best = algorithm.recommend(history, memory)
    gone = next(arm for arm in range(algorithm.arms) if arm != best)
    assert algorithm.claims(history, memory, gone) == []
    assert algorithm.upper_bound(history, memory, gone) == history.state[1] + 0.2
    assert algorithm.upper_bound(history, memory, gone) >= history.stats[UPPER][gone]
    assert algorithm.lower_bound(history, memory, gone) == 0.0
    first = algorithm.claims(history, memory, best)[0]
    assert first.alpha == 0.15
    assert first.epsilon <= 0.2 + 1e-12


# ---- errors and cost


def excess(study, delta):
    return binom.sf(study.errors.count - 1, study.runs, delta)


STUDIES = [
    ("lucb-k-m", {"k": 2}, 60),
    ("lucb-k-m", {"k": 1, "m": 2, "bounds": "hoeffding"}, 60),
    ("p2-batched", {}, 60),
    ("p2-batched", {"split": "certificate"}, 400),
    ("cc-lucb-streaming", {"keep": 8}, 400),
    ("cc-lucb-streaming", {"bounds": "kt"}, 400),
    ("cc-lucb-k", {"k": 1}, 400),
    ("cc-lucb-k", {"k": 3}, 400),
]


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("name", "options", "runs"), STUDIES)
def test_errors_stay_within_delta_just_over_epsilon(name, options, runs):
    study = simulate(design(name, 0.1, 0.2, 0.2, **options), parse(JUST_OVER), runs=runs, seed=7, workers=1)
    assert excess(study, 0.2) > FALSE_ALARM


def loosened(name, **options):
    algorithm = design(name, 0.1, 0.2, 0.05, **options)
    if name == "lucb-k-m":
        return algorithm._replace(offset=-45.0)
    loose = algorithm.confidence._replace(upper_threshold=0.05, lower_threshold=0.05)
    return algorithm._replace(confidence=loose)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", NAMES)
def test_wrong_variants_are_found_out(name):
    """Levels far too loose; and a fifth of the arms."""
    few = design(name, 0.1, 0.2, 0.05)
    for wrong in (loosened(name), few._replace(arms=few.arms // 5)):
        study = simulate(wrong, parse(JUST_OVER), runs=60, seed=8, workers=1)
        assert excess(study, 0.05) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.statistical
def test_the_second_arm_needs_a_second_good_one():
    """Enough arms for one good one are not enough for three: the count of arms must follow k."""
    one, three = design("cc-lucb-k", 0.1, 0.2, 0.05, k=1), design("cc-lucb-k", 0.1, 0.2, 0.05, k=3)
    study = simulate(three._replace(arms=one.arms), parse(JUST_OVER), runs=300, seed=9, workers=1)
    assert excess(study, 0.05) < FALSE_ALARM


@pytest.mark.statistical
@pytest.mark.slow
def test_costs_compare_as_documented():
    def cost(name, reservoir, epsilon, runs, **options):
        algorithm = design(name, 0.1, epsilon, 0.1, **options)
        return simulate(algorithm, parse(reservoir), runs=runs, seed=10, workers=1).pulls.mean()

    for reservoir, epsilon in ((BETA, 0.1), (JUST_OVER, 0.2)):
        plain = cost("cc-lucb", reservoir, epsilon, 200)
        stream = [cost("cc-lucb-streaming", reservoir, epsilon, 200, keep=keep) for keep in (2, 8, 32)]
        assert stream[0] > stream[1] > stream[2]
        assert 0.8 < stream[2] / plain < 1.3
        certificate = cost("p2-batched", reservoir, epsilon, 200, split="certificate")
        assert stream[2] < certificate < 0.4 * cost("p2-batched", reservoir, epsilon, 20)
        several = [cost("cc-lucb-k", reservoir, epsilon, 200, k=k) for k in (1, 2)]
        assert several[0] < several[1]
        assert 0.8 < several[0] / plain < 1.3
        rival = [cost("lucb-k-m", reservoir, epsilon, 15, k=2, bounds=bounds) for bounds in ("kl", "hoeffding")]
        assert 4.0 * several[1] < rival[0] < rival[1]


@pytest.mark.parametrize(
    ("name", "options", "pulls", "arm"),
    [
        ("lucb-k-m", {"k": 2}, 2818, 32),
        ("p2-batched", {}, 2087, 28),
        ("cc-lucb-streaming", {"keep": 8}, 312, 37),
        ("cc-lucb-k", {}, 554, 37),
    ],
)
def test_trajectories_stay_as_pinned(name, options, pulls, arm):
    run = interpret(design(name, 0.1, 0.2, 0.1, Bernoulli(), **options), parse(BETA), seed=3)
    assert (run.search.result.pulls, run.search.result.arm) == (pulls, arm)


@pytest.mark.parametrize(("name", "options", "rank"), [("cc-lucb-k", {"k": 3}, 3), ("lucb-k-m", {"k": 1, "m": 4}, 4)])
def test_a_claim_goes_as_far_as_the_arms_that_must_be_good(name, options, rank):
    """At least ``rank`` drawn arms are good; a bad arm is none of them, so that many *others* reach q+."""
    search = Search(design(name, 0.2, 0.2, 0.1, **options))
    rng = np.random.default_rng(5)
    means = rng.random(search.algorithm.arms)
    for _ in range(6 * search.algorithm.arms):
        if (pull := search.ask()) is None:
            break
        search.tell(pull, 0.7 * means[pull.arm] + 0.3 * rng.random())  # no two arms alike
    arms = range(search.history.arms)
    for arm in (search.best, 0, 1):
        others = sorted((search.upper(other) for other in arms if other != arm), reverse=True)
        assert others[rank - 2] > others[rank - 1] > others[rank], "otherwise a rank more or less would not show"
        (claim,) = search.claims(arm)
        assert claim.epsilon == pytest.approx(others[rank - 1] - search.lower(arm))


def test_discarded_arms_of_the_stream_still_count_in_claims():
    search = Search(design("cc-lucb-streaming", 0.2, 0.2, 0.1, keep=4))
    rng = np.random.default_rng(8)
    means = rng.random(search.algorithm.arms)
    while (pull := search.ask()) is not None:
        search.tell(pull, float(rng.random() < means[pull.arm]))
    # All others are discarded: of them is known that they are at most epsilon above the largest lower bound.
    assert search.claims(search.best)[0].epsilon == pytest.approx(0.2, abs=1e-12)


def test_nothing_is_known_of_an_arm_without_a_reward():
    for name in NAMES:
        search = Search(design(name, 0.2, 0.2, 0.1))
        search.ask_many(2)
        assert (search.lower(0), search.upper(0), search.claims(0)) == (0.0, 1.0, [])
