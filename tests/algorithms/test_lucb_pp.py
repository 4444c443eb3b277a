"""lucb++ with bounds of models that are no one-parameter family, and what cc-lucb does while bounds are infinite."""

import math

import numpy as np
import pytest

from topalpha import Search, design, search, verify
from topalpha.algorithms.lucb_pp import LUCBPlusPlus, ModelLUCBPlusPlus
from topalpha.families import Bernoulli, LowVariance, Normal, PassFail
from topalpha.planner.caps import sure_cap
from topalpha.reservoirs import parse
from topalpha.testing import check_algorithm, check_design

MODELS = [(Normal(), 0.5), (LowVariance(), 0.1), (PassFail(30), 0.1)]


@pytest.mark.parametrize(("family", "epsilon"), MODELS)
def test_levels_are_those_of_the_theorem(family, epsilon):
    """delta/2 for the draw: 72 arms at .05; delta/4 for upper bounds, delta/(4 n) for lower ones."""
    algorithm = design("lucb++", 0.05, epsilon, 0.05, family)
    assert isinstance(algorithm, ModelLUCBPlusPlus)
    assert algorithm.arms == 72 == algorithm.rounds.arms
    assert 0.95**72 <= 0.025 < 0.95**71
    assert algorithm.confidence.upper_threshold == pytest.approx(math.log(80.0))
    assert algorithm.confidence.lower_threshold == pytest.approx(math.log(80.0 * 72))
    assert not algorithm.traits.independent
    assert algorithm.traits.name == "lucb++"
    assert design("lucb++", 0.05, epsilon, 0.05, family, pool=50).arms == 50


def test_one_parameter_families_keep_their_mixtures():
    assert isinstance(design("lucb++", 0.05, 0.05, 0.05, Bernoulli()), LUCBPlusPlus)


@pytest.mark.parametrize(("family", "epsilon"), MODELS)
def test_designs_refuse_bad_targets(family, epsilon):
    check_design(lambda *target, **options: design("lucb++", *target, **options), family)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "family", "reservoir", "epsilon"),
    [
        ("lucb++", Normal(), "uniform(0,4)", 1.5),
        ("lucb++", LowVariance(), "uniform(0,1)", 0.4),
        ("lucb++", PassFail(12), "discrete(0,0.25,0.5,0.75,1)", 0.2),
        ("cc-lucb", Normal(10.0, 5.0), "uniform(0,4)", 1.5),
    ],
)
def test_every_way_to_run_gives_the_same(name, family, reservoir, epsilon):
    check_algorithm(design(name, 0.3, epsilon, 0.2, family), parse(reservoir), seed=2)


def test_a_run_never_tries_more_items_than_there_are():
    algorithm = design("lucb++", 0.3, 0.01, 0.2, PassFail(4))
    target = {"alpha": 0.3, "epsilon": 0.01, "delta": 0.2, "algorithm": "lucb++", "progress": "none"}
    for seed in range(5):
        found = search(
            lambda rng: rng.random(), lambda mean, item: item < 4 * mean, items=range(4), seed=seed, **target
        )
        assert found.stopped
        assert found.pulls <= 4 * algorithm.arms
    assert sure_cap(algorithm).pulls == 4 * algorithm.arms
    assert sure_cap(design("lucb++", 0.3, 0.1, 0.2, Normal())).pulls is None


@pytest.mark.parametrize("name", ["cc-lucb", "lucb++"])
def test_the_leader_waits_while_a_challenger_has_no_bound(name):
    """Five rewards make a finite bound: every other arm has exactly five before the leader gets a second one."""
    search = Search(design(name, 0.3, 1.0, 0.2, Normal(10.0, 5.0)), seed=0)
    rng, order = np.random.default_rng(0), []
    means = [3.0 if arm == 4 else 0.0 for arm in range(search.algorithm.arms)]
    while (pull := search.ask()) is not None:
        order.append(pull.arm)
        search.tell(pull, rng.normal(means[pull.arm], 0.1))
    others = search.algorithm.arms - 1
    least = order[: search.algorithm.arms + 4 * others]
    assert sorted(set(least)) == list(range(search.algorithm.arms))
    assert least.count(4) == 1
    assert all(least.count(arm) == 5 for arm in range(search.algorithm.arms) if arm != 4)
    assert search.best == 4


def test_claims_before_the_stop_are_about_the_target_alone():
    search = Search(design("lucb++", 0.3, 0.3, 0.2, Normal(10.0, 5.0)), seed=0)
    rng, claims = np.random.default_rng(1), []
    while (pull := search.ask()) is not None:
        search.tell(pull, rng.normal(float(pull.arm == 0), 1.0))
        claims.append(search.claims(search.best))
    assert claims[0] == []
    assert all(len(found) <= 1 for found in claims)
    last = claims[-1][0]
    assert last.alpha == 0.3
    best = search.best
    uppers = [search.upper(arm) for arm in range(search.history.arms) if arm != best]
    assert last.epsilon == max(0.0, max(uppers) - search.lower(best)) <= 0.3


def test_a_recorded_search_verifies(tmp_path):
    def pull(mean, rng):
        return rng.normal(mean, 0.3)

    target = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.1, "family": "normal(least_pulls=5)", "algorithm": "lucb++"}
    file = tmp_path / "one.db"
    found = search(lambda rng: rng.random(), pull, **target, storage=file, progress="none")
    assert found.certificate.proved
    assert not any("different candidates" in one for one in found.certificate.assumptions)
    assert found.certificate.bounds.startswith("Running bounds of the mean of normal rewards")
    assert verify(file) == found.certificate


def test_guards_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match=r"least_pulls must be at least 2, got 1.0"):
        design("cc-lucb", 0.1, 0.1, 0.1, Normal(10.0, 1.0))
