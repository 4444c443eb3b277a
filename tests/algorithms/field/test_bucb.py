"""BUCB: it is the printed algorithm, and what it proves is true."""

from __future__ import annotations

import math

import pytest

from tests.support.budgets import RESERVOIR, made, rejects, told
from topalpha.algorithms import design
from topalpha.algorithms.field import bucb
from topalpha.algorithms.field.bucb import arms_drawn, bracket_alpha
from topalpha.families import Bernoulli, Gaussian
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Dirac, TwoPoint, Uniform
from topalpha.rules.protocol import Certifier
from topalpha.simulation import interpret
from topalpha.testing import check_algorithm, interpreted


def test_bucb_refuses_a_delta_beyond_the_redundancy():
    with pytest.raises(ValueError, match=r"^delta must be larger for this family"):
        design("bucb", 0.1, 0.1, 1e-300, Gaussian(0.5), budget=100)


@pytest.mark.slow
def test_bucb_agrees_for_other_rewards():
    algorithm = design("bucb", 0.1, 0.2, 0.1, Gaussian(0.5), budget=300)
    assert check_algorithm(algorithm, Uniform(-1.0, 1.0)).t == 300


def plain_bucb(algorithm, reservoir, seed):
    """The pseudo-code with brackets as lists, every bound computed anew."""
    source = streams(run_seed(seed, 0))
    means = reservoir.sample(algorithm.arms, source.arms)
    family, delta = algorithm.family, algorithm.delta
    brackets, order, totals, pulls = {}, [], [], []
    opened = turn = 0

    def bound(arm, side, level):
        threshold = math.log(1.0 / level) + family.redundancy(totals[arm], pulls[arm])
        return getattr(family, side)(totals[arm] / pulls[arm], threshold / pulls[arm])

    for t in range(1, algorithm.budget + 1):
        if t >= opened * 2**opened:
            opened += 1
            brackets[opened] = []
        turn = 1 + turn * (turn < opened)
        if len(brackets[turn]) < 2**turn:
            arm = len(totals)
            brackets[turn].append(arm)
            totals.append(0.0)
            pulls.append(0)
        else:
            uppers = {one: bound(one, "upper", delta) for one in brackets[turn]}
            top = max(uppers.values())
            arm = min((one for one in uppers if uppers[one] > top - 1e-12), key=lambda one: (pulls[one], one))
        totals[arm] += family.sample(means[arm], source.rewards)
        pulls[arm] += 1
        order.append(arm)
    lowers = {
        arm: bound(arm, "lower", delta / (2**bracket * bracket**2)) for bracket in brackets for arm in brackets[bracket]
    }
    top = max(lowers.values())
    return order, min((arm for arm in lowers if lowers[arm] > top - 1e-12), key=lambda arm: (pulls[arm], arm)), brackets


def test_bucb_is_the_printed_algorithm():
    for seed, family, reservoir in (
        (0, Bernoulli(), RESERVOIR),
        (1, Bernoulli(), Dirac(0.5)),
        (2, Gaussian(0.5), RESERVOIR),
    ):
        algorithm = design("bucb", 0.1, 0.2, 0.1, family, budget=600)
        order, arm, brackets = plain_bucb(algorithm, reservoir, seed)
        last, record = interpreted(algorithm, reservoir, seed)
        assert [step.arm for step in record] == order
        assert last.arm == arm
        found = bucb.arm_brackets(algorithm)
        assert {one: [arm for arm in range(last.arms) if found[arm] == one] for one in brackets} == brackets


def test_the_schedule_by_hand():
    """Brackets 1 to 4 open at pulls 1, 2, 8 and 24 and take turns; bracket 4 draws its first arm with pull 25."""
    assert bucb.arm_brackets(made("bucb", 25)) == (1, 2, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4)
    for budget in range(1, 400):
        assert arms_drawn(budget) == len(bucb.arm_brackets(made("bucb", budget)))


def test_what_bucb_proves_by_its_formulas():
    algorithm = made("bucb", 600)
    search, _ = told(algorithm)
    assert isinstance(algorithm, Certifier)
    history, arm = search.history, search.best
    brackets = bucb.arm_brackets(algorithm)
    bracket = brackets[arm]
    level = 0.01 / (bracket * (bracket + 1) * 2**bracket)
    total, pulls = history.stats[0][arm], history.pulls[arm]
    redundancy = algorithm.family.redundancy(total, pulls)
    lower = algorithm.family.lower(total / pulls, (math.log(1.0 / level) + redundancy) / pulls)
    assert search.lower(arm) == pytest.approx(lower)
    claims = search.claims(arm)
    assert claims
    for claim in claims:
        [one] = [r for r in range(1, 8) if bracket_alpha(r, 0.09, 0.1) == claim.alpha]
        missed = (1.0 - claim.alpha * 0.9) ** (2**one)
        assert missed == pytest.approx(0.09 / (one * (one + 1)))
        members = [other for other in range(history.arms) if brackets[other] == one]
        assert len(members) == 2**one
        highest = max(search.upper(other) for other in members if other != arm)
        assert claim.epsilon == pytest.approx(max(0.0, highest - lower))
    assert sorted(claims) == claims


def wrong_claims(algorithm, reservoir, runs, seed):
    """In how many runs some claim about the recommended arm is false at the end."""
    wrong = 0
    for run in range(runs):
        done = interpret(algorithm, reservoir, run_seed(seed, run))
        arm = done.search.best
        wrong += any(
            done.means[arm] < reservoir.threshold(claim.alpha, claim.epsilon) - 1e-12
            for claim in done.search.claims(arm)
            if claim.alpha > 0.0
        )
    return wrong


@pytest.mark.statistical
@pytest.mark.slow
def test_what_bucb_proves_is_true():
    """Two arms in a hundred are good, so that most brackets hold none: nothing may be claimed about such a fraction."""
    algorithm, reservoir = made("bucb", 600), TwoPoint(0.2, 0.9, 0.02)
    assert not rejects(wrong_claims(algorithm, reservoir, 150, 1), 150, 0.1)
    loose = algorithm._replace(draw_level=19.9)
    assert bracket_alpha(5, loose.draw_level, 0.1) < 0.02
    assert rejects(wrong_claims(loose, reservoir, 150, 1), 150, 0.1), "a fraction that a bracket cannot prove must show"
