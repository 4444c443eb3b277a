"""Calculators against the vectors, and void outside their hypotheses."""

import itertools
import json
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.folders import DATA
from topalpha import theory
from topalpha.families.bernoulli import Bernoulli
from topalpha.reservoirs import Dirac, Discrete, TwoPoint, Uniform, parse

VECTORS = json.loads((DATA / "vectors.json").read_text())
FAMILY = Bernoulli()
PAPER = parse("beta(1,1)", at_most=0.95)


class Unbounded(Bernoulli):
    """Stands for a family over an unbounded range of means, where kappa vanishes."""

    def kappa(self, epsilon):
        return 0.0


def law_of(row):
    a, b, bound = re.fullmatch(r"Beta\((\d+),(\d+)\) conditioned on <=([\d.]+)", row["reservoir"]).groups()
    return parse(f"beta({a},{b})", at_most=float(bound))


@pytest.mark.parametrize("row", VECTORS["n"])
def test_numbers_of_arms(row):
    alpha, delta = row["alpha"], row["delta"]
    assert theory.arms_paper(alpha, delta) == row["seed"]
    assert theory.arms_tight(alpha, delta) == row["tight"]
    assert theory.arms_table(alpha, delta) == row["table"]
    assert theory.arms_constant_confidence(alpha, 0.9 * delta, 0.2) == row["cc_du02_A09"]


@given(st.floats(0.001, 0.9), st.floats(1e-9, 0.9), st.floats(0.05, 0.8), st.floats(0.05, 1))
def test_numbers_of_arms_are_the_least_that_suffice(alpha, delta, delta_u, w2):
    def least(n, miss, target):
        assert miss**n <= target * (1 + 1e-9)
        assert n == 1 or miss ** (n - 1) >= target * (1 - 1e-9)

    good = 1 - alpha * (1 - delta_u)
    least(theory.arms_tight(alpha, delta), 1 - alpha, delta / 2)
    least(theory.arms_constant_confidence(alpha, delta, delta_u), good, delta)
    least(theory.arms_joint(alpha, delta, delta_u, w2), good, w2 * delta)
    assert theory.arms_paper(alpha, delta) >= theory.arms_tight(alpha, delta)


def test_a_whole_number_of_arms_is_not_rounded_up():
    for power in range(2, 40):
        assert theory.arms_tight(0.5, 2.0 * 0.5**power) == power


@pytest.mark.parametrize("row", VECTORS["bounds"])
def test_bounds(row):
    law, alpha, epsilon, delta = law_of(row), row["alpha"], row["eps"], row["delta"]
    assert theory.blocks(alpha) == row["m"]
    bounds = theory.partition(law, alpha)
    assert bounds == pytest.approx(row["b"], abs=1e-12)
    assert 1 / FAMILY.divergence(bounds[0], bounds[2]) == pytest.approx(row["term1"], rel=1e-10)
    proved = theory.lower_bound(law, alpha, delta, FAMILY)
    assert not proved.void
    assert proved.value == pytest.approx(row["LB_thm1"], rel=1e-10)
    relaxed = theory.relaxed_lower_bound(law, alpha, epsilon, delta, FAMILY, arithmetic=True)
    assert relaxed.value == pytest.approx(row["LB_eps_corrected"], rel=1e-10)
    assert relaxed.void == (row["LB_eps_corrected"] == 0.0)
    printed = theory.printed_relaxed_lower_bound(law, alpha, epsilon, delta, FAMILY)
    assert printed.void
    assert printed.value == pytest.approx(row["LB_eps_printed"], rel=1e-10)
    assert theory.complexity(law, alpha, epsilon, FAMILY).value == pytest.approx(row["Hbar"], rel=1e-10)
    assert theory.arms_paper(alpha, delta) == row["n"]
    total = theory.upper_bound(law, alpha, epsilon, delta, FAMILY, arithmetic=True)
    assert total.value == pytest.approx(row["Tstar_gamma1p1_k22"], rel=1e-10)
    lead = theory.leading_term(law, alpha, epsilon, delta, FAMILY, arithmetic=True)
    assert lead.value == pytest.approx(row["leading_term"], rel=1e-10)
    assert total.void == lead.void == (delta > alpha)


def test_upper_bound_is_a_fixed_point():
    total = theory.upper_bound(PAPER, 0.1, 0.05, 0.01, FAMILY).value
    hardness = theory.complexity(PAPER, 0.1, 0.05, FAMILY).value
    n = theory.arms_paper(0.1, 0.01)
    rate = theory.exploration_rate(total, n, 0.01)
    assert total == pytest.approx(n + 12 * hardness * math.log(100) * rate, rel=1e-12)


@pytest.mark.parametrize("row", VECTORS["seed_rate"])
def test_exploration_rate(row):
    rate = theory.exploration_rate(row["t"], row["n"], row["delta"], row["gamma"], row["k1"])
    assert rate == pytest.approx(row["beta"], rel=1e-12)


@pytest.mark.parametrize(("gamma", "value"), VECTORS["C0"].items())
def test_leading_constant(gamma, value):
    assert theory.leading_constant(float(gamma)) == pytest.approx(value, rel=1e-12)


def test_smallest_exploration_constant():
    assert theory.smallest_exploration_constant(2.0) == pytest.approx(math.pi**2 / 3, rel=1e-12)
    assert theory.smallest_exploration_constant(4.0) == pytest.approx(math.pi**4 / 45, rel=1e-12)
    for gamma in (1.01, 1.1, 1.5, 3.0):
        assert theory.smallest_exploration_constant(gamma) <= 2 * (1 + 1 / (gamma - 1))


@pytest.mark.parametrize(
    ("bound", "word"),
    [
        (theory.lower_bound(TwoPoint(0.5, 0.7, 0.1), 0.1, 0.05, FAMILY), "atoms"),
        (theory.lower_bound(parse("beta(1,1)", clip=0.95), 0.1, 0.05, FAMILY), "atoms"),
        (theory.lower_bound(Dirac(0.5), 0.1, 0.05, FAMILY), "atoms"),
        (theory.relaxed_lower_bound(Dirac(0.5), 0.1, 0.1, 0.05, FAMILY), "atoms"),
        (theory.lower_bound(parse("beta(1,1)"), 0.1, 0.05, FAMILY), "supremum"),
        (theory.lower_bound(Uniform(-1, 0.5), 0.1, 0.05, FAMILY), "range"),
        (theory.lower_bound(Uniform(0, 0.5), 0.1, 0.05, Bernoulli(0.5)), "supremum"),
        (theory.relaxed_lower_bound(PAPER, 0.05, 0.05, 0.05, FAMILY), "supremum"),
        (theory.complexity(PAPER, 0.05, 0.05, Unbounded()), "kappa"),
        (theory.upper_bound(PAPER, 0.05, 0.05, 0.05, Unbounded(), arithmetic=True), "kappa"),
        (theory.leading_term(PAPER, 0.05, 0.05, 0.05, Unbounded()), "kappa"),
        (theory.upper_bound(PAPER, 0.05, 0.05, 0.1, FAMILY), "delta"),
        (theory.upper_bound(PAPER, 0.5, 0.05, 0.1, FAMILY), "1/3"),
        (theory.upper_bound(PAPER, 0.05, 0.05, 0.05, FAMILY, k1=2.0), "k1"),
        (theory.leading_term(PAPER, 0.05, 0.05, 0.1, FAMILY), "delta"),
        (theory.regret_bound(0.5, 1.0, 1.0, reach=0.4), "reach"),
        (theory.alpha_from_beta(0.5, 1.0, 1.0, reach=0.4), "reach"),
        (theory.alpha_from_beta(2.0, 1.0, 1.0), "alpha"),
        (theory.epsilon_for_alpha_correctness(TwoPoint(0.5, 0.7, 0.5), 0.1), "quantiles"),
    ],
)
def test_void_with_its_reason(bound, word):
    assert bound.void
    assert bound.value is None
    assert word in bound.reason


def test_arithmetic_keeps_the_reason():
    bound = theory.upper_bound(PAPER, 0.025, 0.05, 0.05, FAMILY, arithmetic=True)
    assert bound.value is not None
    assert bound.void
    assert "delta" in bound.reason


def test_partition_passes_an_atom():
    coin = TwoPoint(0.5, 0.7, 0.25)
    assert theory.partition(coin, 0.125) == (0.7, 0.7, *[0.5] * 7)  # E10: b_1 is 0.7, b_2 = G^{-1}(0.75) is 0.5
    five = Discrete((0.1, 0.2, 0.3, 0.4, 0.5))
    assert theory.partition(five, 0.2) == (0.5, 0.4, 0.3, 0.2, 0.1, 0.1)  # E14: b_i is the (i+1)-st best mean


@settings(max_examples=60)
@given(st.floats(0.01, 0.99))
def test_partition_decreases_to_the_infimum(alpha):
    bounds = theory.partition(PAPER, alpha)
    assert len(bounds) == theory.blocks(alpha) + 1
    assert bounds[0] == 0.95
    assert bounds[-1] == 0.0
    assert all(after <= before for before, after in itertools.pairwise(bounds))
    assert theory.blocks(alpha) * alpha >= 1 - 1e-9 > (theory.blocks(alpha) - 1) * alpha - 1e-9


def test_whole_numbers_of_blocks():
    for count in range(2, 200):
        assert theory.blocks(1 / count) == count


def test_lower_bound_small_cases():
    uniform = Uniform(0.0, 0.8)
    assert theory.lower_bound(uniform, 0.6, 0.05, FAMILY).value == 0.0  # E13: two blocks, no term
    three = theory.lower_bound(uniform, 0.4, 0.05, FAMILY).value
    b2 = 0.8 * 0.2
    expected = math.log(1 / 0.12) * (1 / FAMILY.divergence(0.8, b2) + 1 / FAMILY.divergence(b2, 0.8))
    assert three == pytest.approx(expected)
    assert theory.lower_bound(uniform, 0.1, 0.45, FAMILY).value == 0.0
    assert theory.relaxed_lower_bound(uniform, 0.1, 0.1, 0.6, FAMILY).value == 0.0


@pytest.mark.parametrize("row", VECTORS["effective_alpha"])
def test_epsilon_for_alpha_correctness(row):
    law = parse(f"beta(1,{row['b']})", at_most=0.95)
    epsilon = theory.epsilon_for_alpha_correctness(law, 2 * row["alpha"]).value
    assert epsilon == pytest.approx(row["eps_rule"], abs=1e-12)
    assert law.acceptable(row["alpha"], epsilon) == pytest.approx(2 * row["alpha"], abs=1e-9)  # E18


@given(st.floats(0.01, 0.9), st.floats(0.3, 4.0), st.floats(0.1, 5.0), st.floats(0.0, 0.5))
def test_regret_and_alpha_are_inverse(alpha, beta, constant, epsilon):
    regret = theory.regret_bound(alpha, beta, constant, epsilon).value
    assert theory.alpha_from_beta(regret, beta, constant, epsilon).value == pytest.approx(alpha, rel=1e-6)


def test_tail_of_a_beta():
    for b in (1.0, 2.0, 3.0):  # P(mean >= 1 - rho) = rho^b: both constants are 1
        law = parse(f"beta(1,{b})")
        assert theory.regret_bound(0.05, b, 1.0, 0.01).value == pytest.approx(1.0 - law.top(0.05) + 0.01)
    low, high = theory.gap_bounds(0.05, 2.0, 0.5, 2.0)
    assert low < 1.0 - parse("beta(1,2)").top(0.05) < high  # E7: the larger constant gives the smaller gap


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: theory.arms_paper(0.0, 0.1), "alpha"),
        (lambda: theory.arms_paper(0.1, 1.0), "delta"),
        (lambda: theory.arms_constant_confidence(0.1, 0.1, 0.0), "delta_u"),
        (lambda: theory.arms_joint(0.1, 0.1, 0.2, 1.5), "w2"),
        (lambda: theory.blocks(1.0), "alpha"),
        (lambda: theory.lower_bound(PAPER, 0.1, 0.0, FAMILY), "delta"),
        (lambda: theory.complexity(PAPER, 0.1, 0.0, FAMILY), "epsilon"),
        (lambda: theory.exploration_rate(10, 5, 0.1, 1.0), "gamma"),
        (lambda: theory.leading_constant(1.0), "gamma"),
        (lambda: theory.regret_bound(0.1, 0.0, 1.0), "beta"),
        (lambda: theory.alpha_from_beta(0.1, 1.0, 1.0, 0.2), "epsilon"),
        (lambda: theory.gap_bounds(0.1, 1.0, 2.0, 1.0), "upper_constant"),
    ],
)
def test_bad_input_is_refused(call, name):
    with pytest.raises(ValueError, match=rf"^{name} must .*, got "):
        call()
