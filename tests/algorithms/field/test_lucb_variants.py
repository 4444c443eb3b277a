"""lucb-k-m, p2-batched, cc-lucb-streaming and cc-lucb-k alike, against what docs/field/lucb.md proves about them."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.stats import binom

from tests.support.marks import quick
from tests.support.pool_runs import coin
from topalpha import Search, design, simulate
from topalpha.algorithms import entry
from topalpha.algorithms.field.p2_batched import batches
from topalpha.families import Bernoulli, Gaussian, LowVariance, Normal, PassFail, Poisson
from topalpha.research.audit.cases import JUST_OVER
from topalpha.reservoirs import Dirac, Uniform, parse
from topalpha.rules.protocol import Certifier
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


POOLS = [
    ("cc-lucb-streaming", {"keep": 2}),
    ("cc-lucb-streaming", {"keep": 5}),
    ("cc-lucb-streaming", {"keep": 32}),
    ("p2-batched", {"batch": 5}),
    ("p2-batched", {"batch": 5, "split": "certificate"}),
]
SEVERAL = [("cc-lucb-k", {}), ("cc-lucb-k", {"k": 5})]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), [*POOLS[:2], POOLS[4], *SEVERAL])
def test_runs_stay_under_the_sure_cap_even_if_all_arms_are_tied(name, options):
    algorithm = design(name, 0.2, 0.3, 0.1, **options)
    pulls = math.ceil(2.0 * (algorithm.confidence.lower_threshold + math.log(10.0)) / 0.3**2)
    study = simulate(algorithm, Dirac(0.5), runs=20, workers=1)
    assert study.pulls.max() <= algorithm.arms * (1 + 2 * pulls)


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
        ("p2-batched", {}, 2039, 28),
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


def test_nothing_is_known_of_an_arm_without_a_reward():
    for name in NAMES:
        search = Search(design(name, 0.2, 0.2, 0.1))
        search.ask_many(2)
        assert (search.lower(0), search.upper(0), search.claims(0)) == (0.0, 1.0, [])
