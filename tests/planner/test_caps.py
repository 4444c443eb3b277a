"""Caps on pulls: those of the propositions, and none where none is proved."""

from __future__ import annotations

import math

import pytest

from tests.support.marks import quick
from topalpha.algorithms import design
from topalpha.families import (
    Bernoulli,
    Exponential,
    Gaussian,
    Normal,
    PassFail,
    Poisson,
)
from topalpha.planner import sure_cap
from topalpha.reservoirs import Dirac, TwoPoint
from topalpha.simulation import simulate

TARGET = (0.2, 0.3, 0.2)


@pytest.mark.parametrize("delta", [0.05, 0.001])
@pytest.mark.parametrize(("family", "proxy"), [(Bernoulli(), 0.25), (Bernoulli(0.9), 0.25), (Gaussian(0.5), 0.25)])
def test_the_cap_of_cc_lucb_is_the_one_of_the_proposition(delta, family, proxy):
    alpha, epsilon = 0.05, 0.04
    arms = math.ceil(math.log(1 / (0.95 * 0.9 * delta)) / -math.log(1 - alpha * 0.55))
    pulls = math.ceil(8 * proxy * math.log(arms / (0.1 * 0.1 * delta)) / epsilon**2)
    algorithm = design("cc-lucb", alpha, epsilon, delta, family)
    assert algorithm.arms == arms
    assert sure_cap(algorithm) == (arms + 2 * arms * (pulls - 1), "docs/proofs.md, C.3")


def test_caps_of_the_other_algorithms_are_the_last_times_their_inequalities_allow():
    paper = design("kl-lucb", 0.1, 0.1, 0.1)
    cap = sure_cap(paper).pulls

    def going_on(time: int) -> bool:
        rate = math.log(22 * paper.arms * time**1.1 / 0.1)
        return (time - paper.arms) / 2 <= paper.arms * (1 + 2 * rate / 0.1**2)

    assert going_on(cap)
    assert not going_on(cap + 1)
    for family, proxy in ((Bernoulli(), 0.25), (Gaussian(2.0), 4.0)):
        mixtures = design("lucb++", 0.1, 0.1, 0.1, family)
        pulls = (sure_cap(mixtures).pulls - mixtures.arms) // (2 * mixtures.arms)

        def wide(pulls: int, family=family, proxy=proxy, arms=mixtures.arms) -> bool:
            gaussian = isinstance(family, Gaussian)
            redundancy = family.redundancy(0.0, pulls) if gaussian else 0.5 * math.log(pulls) + math.log(2)
            return pulls * 0.1**2 / (8 * proxy) < math.log(4 * arms / 0.1) + redundancy

        assert wide(pulls)
        assert not wide(pulls + 1)


def test_no_cap_is_claimed_where_none_is_proved():
    unproved = [
        design("joint-lucb", *TARGET),
        design("cc-lucb", *TARGET, bounds="kt"),
        design("cc-lucb", *TARGET, Poisson(3.0)),
        design("cc-lucb", *TARGET)._replace(family=Normal()),
        design("lucb++", *TARGET, Exponential(3.0)),
        design("kl-lucb", *TARGET, pull="least"),
        design("kl-lucb", *TARGET, refresh="overlapping"),
    ]
    for algorithm in unproved:
        assert sure_cap(algorithm).pulls is None
        assert sure_cap(algorithm).source.startswith(f"no cap is proved for {algorithm.traits.name}")


def test_a_finite_set_of_items_is_a_cap():
    algorithm = design("joint-lucb", *TARGET)._replace(family=PassFail(30))
    assert sure_cap(algorithm) == (algorithm.arms * 30, "every example of every candidate")


@pytest.mark.parametrize("name", quick(["cc-lucb", "lucb++", "kl-lucb"], ["cc-lucb", "lucb++"]))
def test_runs_stay_below_their_caps(name):
    algorithm = design(name, *TARGET)
    for law in (Dirac(0.5), TwoPoint(0.2, 0.5, 0.5)):
        assert simulate(algorithm, law, runs=50, seed=0).pulls.max() <= sure_cap(algorithm).pulls
