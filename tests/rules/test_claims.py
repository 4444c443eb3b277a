"""What is claimed before the stop: all of it, at all times and for every arm, holds with probability 1 - delta."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, hypergeom

from tests.support.marks import quick
from topalpha import PassFail, Search, design
from topalpha import search as find
from topalpha.certificate import proved_claims, strongest
from topalpha.reservoirs import Discrete, Uniform
from topalpha.rules import claims, joint_claims
from topalpha.rules.claims import rank_claims, rank_level, target_claim
from topalpha.rules.protocol import Claim
from topalpha.theory.arm_counts import arms_of_pool, log_all_fail, top_size
from topalpha.theory.pool import rank_alpha

FALSE_ALARM = 1e-6


# ---- the arithmetic


def test_ranks_use_up_the_level_and_no_more():
    total = sum(rank_level(rank, 0.09) for rank in range(1, 200_000))
    assert total <= 0.09 * (1.0 + 1e-12)
    assert total >= 0.0899


@pytest.mark.parametrize("rank", [1, 2, 5, 20])
def test_the_alpha_of_a_rank_is_the_binomial_quantile(rank):
    alpha = rank_alpha(rank, 0.01, 60, 0, 0.4)
    assert binom.cdf(rank - 1, 60, alpha * 0.6) == pytest.approx(0.01)


def brute_missing(pool, top, drawn, delta_u, rank):
    """P(fewer than ``rank`` valid top arms), by adding up both laws in plain Python."""
    total = 0.0
    for count in range(min(top, drawn) + 1):
        weight = hypergeom.pmf(count, pool, top, drawn)
        total += weight * sum(binom.pmf(valid, count, 1.0 - delta_u) for valid in range(min(rank, count + 1)))
    return total


@pytest.mark.parametrize(("pool", "drawn", "rank"), [(50, 20, 1), (50, 20, 3), (12, 12, 2), (200, 60, 5)])
def test_the_alpha_of_a_rank_in_a_list_is_the_smallest_that_will_do(pool, drawn, rank):
    alpha = rank_alpha(rank, 0.03, drawn, pool, 0.3)
    top = round(alpha * pool)
    assert brute_missing(pool, top, drawn, 0.3, rank) <= 0.03
    assert brute_missing(pool, top - 1, drawn, 0.3, rank) > 0.03


@pytest.mark.parametrize(("pool", "alpha", "level"), [(1000, 0.05, 0.04), (100, 0.1, 0.01), (37, 0.2, 0.3)])
def test_no_fewer_arms_of_a_list_would_do(pool, alpha, level):
    arms, delta_u = arms_of_pool(pool, alpha, level, 0.2)
    assert delta_u == 0.2
    top = top_size(pool, alpha)
    assert brute_missing(pool, top, arms, delta_u, 1) <= level
    assert brute_missing(pool, top, arms - 1, delta_u, 1) > level
    assert math.exp(log_all_fail(pool, alpha, arms, delta_u)) == pytest.approx(
        brute_missing(pool, top, arms, delta_u, 1)
    )


def test_a_short_list_is_drawn_whole_at_a_stricter_level():
    for pool, alpha in ((10, 0.1), (10, 0.2), (3, 0.5)):
        arms, delta_u = arms_of_pool(pool, alpha, 0.01, 0.45)
        assert arms == pool
        assert delta_u ** top_size(pool, alpha) == pytest.approx(0.01)


def test_a_long_list_is_like_an_endless_pool():
    for name in ("cc-lucb", "joint-lucb"):
        endless, listed = design(name, 0.05, 0.1, 0.05), design(name, 0.05, 0.1, 0.05, pool=10**6)
        assert abs(endless.arms - listed.arms) <= 1
    for name in ("kl-lucb", "lucb++"):
        assert design(name, 0.05, 0.1, 0.05, pool=10**6).arms == design(name, 0.05, 0.1, 0.05).arms
        assert design(name, 0.05, 0.1, 0.05, pool=20).arms == 20


def test_the_curve_goes_down_and_drops_what_says_nothing():
    uppers = [0.9, math.inf, 0.7, 0.7, 0.4] + [0.3] * 60
    curve = rank_claims(0.1, 0.35, uppers, 0.05, 66, 0, 0.4)
    alphas, epsilons = [claim.alpha for claim in curve], [claim.epsilon for claim in curve]
    assert alphas == sorted(set(alphas))
    assert epsilons == sorted(set(epsilons), reverse=True)
    assert alphas[0] > 0.1, "an arm without a bound forbids a claim about the target's own alpha"
    assert epsilons[-1] == 0.0
    assert alphas[-1] < 1.0
    assert target_claim(0.1, 0.5, [math.inf]) == []
    assert target_claim(0.1, 0.5, [0.2]) == [Claim(0.1, 0.0)]


# ---- what is claimed is true


def violated(algorithm, reservoir, seed, moments):
    """Whether any claim about any arm was false at any of the moments looked at."""
    rng = np.random.default_rng(seed)
    means = reservoir.sample(algorithm.arms, rng)
    search = Search(algorithm)
    said = 0
    for moment in moments:
        while search.history.t < moment and (pull := search.ask()) is not None:
            search.tell(pull, float(rng.random() < means[pull.arm]))
        for arm in range(search.history.arms):
            if search.history.pulls[arm] == 0:
                continue
            for claim in search.claims(arm):
                said += claim.epsilon < 0.9
                if means[arm] < reservoir.threshold(claim.alpha, claim.epsilon):
                    return True, said
        if search.stopped:
            break
    return False, said


def count(algorithm, reservoir, runs, moments):
    outcomes = [violated(algorithm, reservoir, seed, moments) for seed in range(runs)]
    return sum(bad for bad, _ in outcomes), sum(said for _, said in outcomes)


STEPS = Discrete([0.1, 0.3, 0.5, 0.7, 0.9])
MOMENTS = (5, 20, 60, 150, 300)


@pytest.mark.statistical
@pytest.mark.parametrize("name", quick(["cc-lucb", "joint-lucb", "lucb++", "kl-lucb"], ["cc-lucb"]))
@pytest.mark.parametrize("law", quick(["uniform", "steps"], ["steps"]))
def test_all_claims_hold_at_once(name, law):
    runs = 30 if name == "joint-lucb" else 100
    reservoir = {"uniform": Uniform(0.0, 1.0), "steps": STEPS}[law]
    bad, said = count(design(name, 0.2, 0.2, 0.2), reservoir, runs, MOMENTS)
    assert binom.sf(bad - 1, runs, 0.2) > FALSE_ALARM, f"{bad} of {runs}"
    assert said > runs, "claims must say something"


def sharp_violations(runs, arms, level, delta_u):
    """Runs with a false claim where bounds are as sharp as can be: U is the mean itself, or fails; L is the mean."""
    rng, bad = np.random.default_rng(5), 0
    for _ in range(runs):
        means = rng.random(arms)
        uppers = np.where(rng.random(arms) < delta_u, -np.inf, means)
        false = False
        for arm in range(arms):
            others = np.delete(uppers, arm).tolist()
            curve = rank_claims(1e-9, means[arm], others, level, arms, 0, delta_u)[1:]
            false |= any(means[arm] < 1.0 - claim.alpha - claim.epsilon for claim in curve)
        bad += false
    return bad


@pytest.mark.statistical
def test_shares_for_ranks_are_needed_and_enough(monkeypatch):
    """With every rank at the whole level half of the runs err, where a fifth may."""
    assert binom.sf(sharp_violations(100, 40, 0.2, 0.4) - 1, 100, 0.2) > FALSE_ALARM
    monkeypatch.setattr(claims, "rank_level", lambda rank, level: level)
    bad = sharp_violations(100, 40, 0.2, 0.4)
    assert binom.sf(bad - 1, 100, 0.2) < FALSE_ALARM, f"{bad} of 100"


@pytest.mark.statistical
def test_with_the_leaders_evidence_inflated_the_claims_of_joint_lucb_are_wrong():
    algorithm = design("joint-lucb", 0.2, 0.2, 0.2)
    inflated = algorithm._replace(log_leader=6.0)
    bad, _ = count(inflated, Uniform(0.0, 1.0), 300, MOMENTS)
    assert binom.sf(bad - 1, 300, 0.2) < FALSE_ALARM, f"{bad} of 300"


# ---- what a search that ends early says


@pytest.mark.parametrize("name", ["cc-lucb", "joint-lucb", "lucb++", "kl-lucb"])
def test_claims_tighten_to_the_target_at_the_stop(name):
    rng = np.random.default_rng(3)
    algorithm = design(name, 0.2, 0.2, 0.1)
    means = rng.random(algorithm.arms)
    search = Search(algorithm)
    first = []
    while (pull := search.ask()) is not None:
        search.tell(pull, float(rng.random() < means[pull.arm]))
        if search.history.t % 13 == 0:
            curve = proved_claims(search, strongest(search))
            first.append(curve[0].epsilon if curve and curve[0].alpha == 0.2 else math.inf)
    assert first[-1] < 0.5, "most of the way is proved before the stop"
    final = search.claims(search.best)
    assert final[0].alpha == 0.2
    assert final[0].epsilon <= 0.2 * (1.0 + 2e-3), "the stop is one of the claims"
    assert proved_claims(search, search.best)[0] == Claim(0.2, 0.2)


def test_a_budget_below_the_number_of_arms_still_proves_something():
    rng = np.random.default_rng(0)
    for name in ("cc-lucb", "joint-lucb"):
        algorithm = design(name, 0.05, 0.2, 0.1)
        search = Search(algorithm)
        for pull in search.ask_many(algorithm.arms // 2):
            search.tell(pull, float(rng.random() < 0.5))
        curve = proved_claims(search, strongest(search))
        assert all(claim.alpha > 0.05 for claim in curve), "half of the arms cannot speak for the target's alpha"


def test_larger_alphas_share_what_is_left():
    assert joint_claims.larger_alphas(0.05) == [0.1, 0.2, 0.4, 0.8]
    assert joint_claims.larger_alphas(0.5) == []
    assert beta.ppf(1.0 - rank_level(1, 0.09), 1, 60) == pytest.approx(1.0 - (0.95 * 0.09) ** (1.0 / 60.0))


COSTS = {
    "exponential(2)": lambda mean, rng: rng.exponential(mean),
    "gamma(2,2)": lambda mean, rng: rng.gamma(2.0, mean / 2.0),
    "poisson(2)": lambda mean, rng: float(rng.poisson(mean)),
    "bernoulli": lambda mean, rng: float(rng.random() < mean),
}


@pytest.mark.statistical
@pytest.mark.parametrize("algorithm", ["joint-lucb", "joint-one-phase"])
@pytest.mark.parametrize("family", quick(COSTS, ["poisson(2)", "bernoulli"]))
def test_the_worst_that_a_cost_may_be_is_no_less_than_it_is(family, algorithm):
    wrong, runs = 0, 15
    for seed in range(runs):
        result = find(
            lambda rng: 0.1 + 0.9 * rng.random(),
            COSTS[family],
            alpha=0.2,
            epsilon=0.5,
            delta=0.05,
            family=family,
            minimise=True,
            algorithm=algorithm,
            seed=seed,
            progress="none",
        )
        at_worst = result.certificate.at_worst
        wrong += at_worst is not None and at_worst < result.candidate
    assert binom.sf(wrong - 1, runs, 0.05) > 1e-6, wrong


def test_the_score_on_all_items_is_known():
    search = Search(design("joint-lucb", 0.4, 0.05, 0.2, PassFail(5)), seed=0)
    while (pull := search.ask()) is not None:
        search.tell(pull, float(pull.arm == 1 and pull.number < 4))
    assert search.history.pulls[1] == 5
    assert search.lower(1) == 0.8
