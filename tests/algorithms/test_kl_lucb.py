"""kl-lucb: it is the printed algorithm, and takes as many pulls as another implementation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tests.support.folders import DATA
from tests.support.marks import quick
from topalpha.algorithms import design
from topalpha.families import Bernoulli, Exponential, Gaussian, Poisson
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Beta, Conditioned, Dirac, TwoPoint, Uniform, parse
from topalpha.rules.protocol import History
from topalpha.simulation import simulate, standard_error
from topalpha.testing import interpreted

VECTORS = json.loads((DATA / "vectors.json").read_text())
UNIT = Conditioned(Beta(1.0, 1.0), 0.95)


def brute_force(algorithm, reservoir, seed, run, most=100_000):
    """KL-LUCB as printed: every bound inverted in every round, no memory, no trees."""
    source = streams(run_seed(seed, run))
    means = reservoir.sample(algorithm.arms, source.arms)
    arms, family = range(algorithm.arms), algorithm.family
    k1 = 2.0 * (1.0 + 1.0 / (algorithm.gamma - 1.0))
    pulls, totals, refreshed = [0] * len(arms), [0.0] * len(arms), [0] * len(arms)
    record = []

    def pull(arm):
        totals[arm] += family.sample(means[arm], source.rewards)
        pulls[arm] += 1
        record.append(arm)
        refreshed[arm] = len(record)

    def beta(arm):
        clock = len(record)
        if algorithm.own_clock:
            clock = pulls[arm]
        elif algorithm.overlapping_only:
            clock = refreshed[arm]
        return math.log(k1 * algorithm.arms / algorithm.delta) + algorithm.gamma * math.log(clock)

    def upper(arm):
        return family.upper(totals[arm] / pulls[arm], beta(arm) / pulls[arm])

    for arm in arms:
        pull(arm)
    while len(record) < most:
        leader = min(arms, key=lambda arm: (-totals[arm] / pulls[arm], pulls[arm], arm))
        if algorithm.overlapping_only:
            refreshed[leader] = len(record)
        lower = family.lower(totals[leader] / pulls[leader], beta(leader) / pulls[leader])
        if algorithm.overlapping_only:
            for arm in arms:
                if arm != leader and upper(arm) >= lower:
                    refreshed[arm] = len(record)
        uppers = [upper(arm) for arm in arms]
        others = [arm for arm in arms if arm != leader]
        challenger = min(others, key=lambda arm: (-uppers[arm], pulls[arm], arm))
        if uppers[challenger] - lower <= algorithm.epsilon:
            return leader, record
        if algorithm.least_only:
            pull(leader if pulls[leader] <= pulls[challenger] else challenger)
        else:
            pull(leader)
            pull(challenger)
    raise AssertionError("the reference did not stop")


KL_CASES = {
    "paper": ({}, Bernoulli(), UNIT, 0.2),
    "clock-N": ({"clock": "N"}, Bernoulli(), UNIT, 0.2),
    "least": ({"pull": "least"}, Bernoulli(), UNIT, 0.2),
    "least-clock-N": ({"pull": "least", "clock": "N"}, Bernoulli(), UNIT, 0.2),
    "overlapping": ({"refresh": "overlapping"}, Bernoulli(), UNIT, 0.2),
    "overlapping-least": ({"refresh": "overlapping", "pull": "least"}, Bernoulli(), UNIT, 0.2),
    "tight": ({"arms": "tight"}, Bernoulli(), TwoPoint(0.4, 0.65, 0.3), 0.2),
    "ties": ({}, Bernoulli(), Dirac(0.5), 0.35),
    "gaussian": ({}, Gaussian(0.5), Uniform(0.0, 1.0), 0.4),
    "gaussian-clock-N": ({"clock": "N"}, Gaussian(0.5), Uniform(0.0, 1.0), 0.4),
    "poisson": ({}, Poisson(3.0), Uniform(0.2, 2.0), 0.7),
    "exponential": ({}, Exponential(3.0), Uniform(0.2, 2.0), 1.0),
    "exponential-overlapping": ({"refresh": "overlapping"}, Exponential(3.0), Uniform(0.2, 2.0), 1.0),
}


@pytest.mark.parametrize("case", quick(KL_CASES, ["paper", "overlapping-least", "ties", "gaussian-clock-N", "poisson"]))
def test_kl_lucb_is_the_printed_algorithm(case):
    options, family, reservoir, epsilon = KL_CASES[case]
    algorithm = design("kl-lucb", 0.2, epsilon, 0.1, family, **options)
    for run in range(4):
        leader, record = brute_force(algorithm, reservoir, 11, run)
        last, steps = interpreted(algorithm, reservoir, 11, run)
        assert [step.arm for step in steps] == record
        assert last.arm == leader


def test_the_stop_example():
    example = VECTORS["stop_example"]
    arms = example["n"]
    plain = design("kl-lucb", 0.5, example["B"] - 1e-9, example["delta"])
    assert plain.gamma == example["gamma"]
    offset = math.log(example["k1"] * arms / example["delta"])
    history = History(example["t"], arms, list(example["N"]), [[float(s) for s in example["S"]], [0.0] * arms], [])
    for epsilon, count in ((example["B"] - 1e-9, 2), (example["B"] + 1e-9, 0)):
        algorithm = plain._replace(arms=arms, offset=offset, epsilon=epsilon)
        assert algorithm.rate(example["t"]) == pytest.approx(example["beta"], abs=1e-9)
        memory, batch = algorithm.scratch(arms), [-1, -1]
        assert algorithm.plan(history, memory, np.random.default_rng(0), batch) == count
        assert memory.bounds[example["b_hat"]] == pytest.approx(example["U"][example["b_hat"]], abs=1e-9)
        if count:
            assert batch == [example["a_hat"], example["b_hat"]]
        assert algorithm.recommend(history, memory) == example["a_hat"]
    for row in VECTORS["seed_rate"]:
        algorithm = plain._replace(offset=math.log(row["k1"] * row["n"] / row["delta"]))
        assert algorithm.rate(row["t"]) == pytest.approx(row["beta"], abs=1e-9)


# Mean pulls and their standard error over 100 runs of an independent implementation
TARGETS = [
    ("beta(1,1)", 0.05, 0.05, 0.05, {}, 12486, 475),
    ("beta(1,1)", 0.05, 0.05, 0.1, {}, 10372, 418),
    ("beta(1,1)", 0.1, 0.05, 0.05, {}, 8869, 396),
    ("beta(1,2)", 0.05, 0.05, 0.05, {}, 11813, 760),
    ("beta(1,2)", 0.05, 0.091, 0.05, {}, 5577, 310),
    ("beta(1,3)", 0.05, 0.05, 0.05, {}, 15002, 1125),
    ("beta(1,1)", 0.05, 0.05, 0.05, {"clock": "N"}, 10570, 441),
    ("beta(1,1)", 0.05, 0.05, 0.05, {"k1": 2.0}, 10866, 430),
]


@pytest.mark.statistical
@pytest.mark.parametrize(
    "target",
    quick([(one,) for one in TARGETS], [(TARGETS[4],), (TARGETS[6],)]),
    ids=lambda target: "-".join(str(part) for part in target[:5]),
)
def test_kl_lucb_needs_as_many_pulls_as_another_implementation(target):
    law, alpha, epsilon, delta, options, pulls, error = target
    study = simulate(design("kl-lucb", alpha, epsilon, delta, **options), parse(law, at_most=0.95), runs=100, seed=6)
    combined = math.hypot(error, standard_error(study.pulls))
    assert abs(study.pulls.mean() - pulls) < 4.0 * combined, f"{study.pulls.mean()} +- {standard_error(study.pulls)}"
