"""Laws of arms' means: quantiles, atoms, sampling, text."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom, binom

from tests.support.folders import DATA
from topalpha.reservoirs import (
    SAME_HEIGHT,
    Beta,
    Clipped,
    Conditioned,
    Dirac,
    Discrete,
    Empirical,
    Mixture,
    Scipy,
    Scores,
    TwoPoint,
    Uniform,
    parse,
)

VECTORS = json.loads((DATA / "vectors.json").read_text())


def histogram_with_a_gap():
    stats = pytest.importorskip("scipy.stats")
    return stats.rv_histogram((np.array([1.0, 0.0, 1.0]), np.array([0.0, 0.25, 0.75, 1.0])), density=True)


EXAMPLES = [
    Beta(1, 1),
    Beta(1, 3),
    Beta(2.5, 1),
    Beta(0.5, 2),
    Uniform(-1, 2),
    Dirac(0.4),
    TwoPoint(0.5, 0.7, 0.1),
    Discrete((0.3, 0.1, 0.2)),
    Discrete((0.3, 0.1, 0.2, 0.3), (0.25, 0.25, 0.4, 0.1)),
    Empirical([0.2, 0.9, 0.4, 0.4]),
    Mixture((0.6, 0.3, 0.1), (Uniform(0, 0.5), Beta(1, 2), Dirac(0.8))),
    Mixture((0.5, 0.5), (Uniform(0, 0.3), Mixture((0.2, 0.8), (Dirac(0.1), Uniform(0.7, 1))))),
    Conditioned(Beta(1, 2), 0.95),
    Conditioned(Mixture((0.5, 0.5), (Uniform(0, 0.3), Discrete((0.1, 0.7)))), 0.5),
    Conditioned(Discrete((0.1, 0.5, 0.9)), 0.6),
    Conditioned(Clipped(Beta(1, 1), 0.5), 0.8),
    Clipped(Beta(1, 2), 0.4),
    Clipped(Conditioned(Beta(1, 1), 0.95), 0.9),
]
NAMES = [repr(reservoir) for reservoir in EXAMPLES]
everywhere = pytest.mark.parametrize("reservoir", EXAMPLES, ids=NAMES)

unit = st.floats(0.01, 0.99)
leaves = st.one_of(
    st.builds(Beta, st.sampled_from([0.5, 1.0, 2.0]), st.floats(0.5, 5)),
    st.builds(lambda a, w: Uniform(a, a + w), unit, unit),
    st.builds(Dirac, unit),
    st.builds(lambda a, w, p: TwoPoint(a, a + w, p), unit, unit, unit),
    st.builds(Discrete, st.lists(unit, min_size=1, max_size=6)),
    st.builds(lambda a, b, p: Discrete((a, b), (p, 1 - p)), unit, unit, unit),
)


def compounds(parts):
    return st.one_of(
        st.builds(lambda p, a, b: Mixture((p, 1 - p), (a, b)), unit, parts, parts),
        st.builds(Clipped, parts, unit),
        st.builds(lambda base, p: Conditioned(base, base.lower_quantile(p)), parts, st.floats(0.3, 1)),
    )


laws = st.recursive(leaves, compounds, max_leaves=4)


def check_galois(law, p):
    """The definitions of the two quantiles, with the stated allowance in the height and a hair in the place."""
    low, high = law.lower_quantile(p), law.upper_quantile(p)
    hair = 1e-9 * max(1.0, abs(low), abs(high))
    assert law.infimum <= low <= high + hair <= law.supremum + 2 * hair
    assert law.cdf(low + hair) >= p - 2 * SAME_HEIGHT
    assert law.cdf(low - hair) <= p + 2 * SAME_HEIGHT
    assert law.cdf_left(high - hair) <= p + 2 * SAME_HEIGHT
    assert law.cdf(high + hair) >= min(1.0, p) - 2 * SAME_HEIGHT
    if high > low + 10 * hair:  # then G is flat between them, at height p
        middle = 0.5 * (low + high)
        assert law.cdf(middle) == pytest.approx(p, abs=1e-10)


@everywhere
@pytest.mark.parametrize("p", [0.0, 1e-6, 0.1, 1 / 3, 0.5, 2 / 3, 0.75, 0.9, 0.99, 1.0])
def test_quantiles_invert_the_cdf(reservoir, p):
    check_galois(reservoir, p)


@settings(max_examples=80, deadline=None)
@given(laws, st.floats(0, 1))
def test_quantiles_invert_the_cdf_of_any_law(reservoir, p):
    check_galois(reservoir, p)


@everywhere
def test_ends_of_the_support(reservoir):
    assert reservoir.lower_quantile(1.0) == reservoir.upper_quantile(1.0) == reservoir.supremum
    assert reservoir.lower_quantile(0.0) == reservoir.upper_quantile(0.0) == reservoir.infimum
    assert reservoir.cdf(reservoir.supremum) == 1.0
    assert reservoir.cdf_left(reservoir.infimum) == 0.0


@everywhere
def test_atoms_are_the_jumps(reservoir):
    assert reservoir.continuous == (not reservoir.atoms)
    for x in {*reservoir.atoms, reservoir.infimum, reservoir.supremum, *np.linspace(-1, 2, 61).tolist()}:
        jump = reservoir.cdf(x) - reservoir.cdf_left(x)
        assert jump > 1e-6 if x in reservoir.atoms else jump == pytest.approx(0.0, abs=1e-12)


@everywhere
def test_arms_drawn_one_by_one_are_the_same_arms(reservoir):
    together = reservoir.sample(60, np.random.default_rng(7))
    one = np.random.default_rng(7)
    parts = np.concatenate([reservoir.sample(1, one) for _ in range(20)] + [reservoir.sample(40, one)])
    assert together.dtype == np.float64
    assert together.shape == (60,)
    np.testing.assert_array_equal(together, parts)
    assert reservoir.sample(0, one).shape == (0,)


def dkw_distance(reservoir, draws):
    """The largest distance between G and the empirical cdf, left limits included."""
    values, counts = np.unique(draws, return_counts=True)
    up_to = np.cumsum(counts) / len(draws)
    right = [abs(reservoir.cdf(x) - up) for x, up in zip(values.tolist(), up_to.tolist(), strict=True)]
    before = [0.0, *up_to[:-1].tolist()]
    left = [abs(reservoir.cdf_left(x) - up) for x, up in zip(values.tolist(), before, strict=True)]
    return max(right + left)


SIZE = 4000
#: Dvoretzky-Kiefer-Wolfowitz with Massart's constant: exceeded with probability at most 1e-6 by the right law.
LIMIT = math.sqrt(math.log(2 / 1e-6) / (2 * SIZE))


@everywhere
def test_samples_follow_the_cdf(reservoir):
    draws = reservoir.sample(SIZE, np.random.default_rng(11))
    assert reservoir.infimum <= draws.min()
    assert draws.max() <= reservoir.supremum
    assert dkw_distance(reservoir, draws) <= LIMIT


def test_negative_control_of_the_sample_test():
    draws = Beta(1, 2).sample(SIZE, np.random.default_rng(11))
    assert dkw_distance(Conditioned(Beta(1, 2), 0.7), draws) > LIMIT
    assert dkw_distance(Clipped(Beta(1, 2), 0.7), draws) > LIMIT


@settings(max_examples=100, deadline=None)
@given(laws)
def test_text_round_trip(reservoir):
    assert parse(reservoir.expression) == reservoir
    assert parse("  " + reservoir.expression.upper().replace("(", " ( ").replace(",", " , ")) == reservoir


def test_laws_without_a_text():
    assert Empirical([0.1]).expression is None
    assert Mixture((1.0,), (Empirical([0.1]),)).expression is None
    assert Clipped(Empirical([0.1]), 0.5).expression is None


def test_most_biased_coin_in_spite_of_rounding():
    for percent in range(1, 100):
        p = percent / 100
        coin = TwoPoint(0.5, 0.7, p)
        assert (coin.lower_quantile(1 - p), coin.top(p)) == (0.5, 0.7)
        assert coin.acceptable(p, 0.1) == pytest.approx(p)
        assert coin.acceptable(p, 0.2) == 1.0
        assert parse(f"discrete(0.5:{1 - p!r},0.7:{p!r})").top(p) == 0.7
        assert Mixture((1 - p, p), (Dirac(0.5), Dirac(0.7))).top(p) == 0.7


@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 49, 1000])
def test_best_of_finitely_many(count):
    values = [i / 1000 for i in range(count)]
    for law in (Discrete(values), Empirical(values), Discrete(values, [1 / count] * count)):
        alpha = 1 / count if count > 1 else 0.5
        assert law.top(alpha) == values[-1]
        assert law.acceptable(alpha) == pytest.approx(alpha if count > 1 else 1.0)
        if count > 1:
            assert law.lower_quantile(1 - alpha) == values[-2]


@everywhere
@pytest.mark.parametrize("alpha", [0.01, 0.1, 1 / 3, 0.5, 0.9])
def test_a_fraction_alpha_reaches_the_top(reservoir, alpha):
    assert 1.0 - reservoir.cdf_left(reservoir.top(alpha)) >= alpha - 1e-9  # E19: ">=", atoms included
    assert reservoir.acceptable(alpha, 0.0) >= alpha - 1e-9
    assert reservoir.acceptable(alpha, 0.2) >= reservoir.acceptable(alpha, 0.1) >= reservoir.acceptable(alpha)


def test_dirac_accepts_every_arm():
    assert Dirac(0.3).acceptable(0.01) == 1.0
    assert Dirac(0.3).top(0.01) == 0.3


@pytest.mark.parametrize("row", VECTORS["effective_alpha"])
def test_conditioned_beta_against_vectors(row):
    law = parse(f"beta(1,{row['b']})", at_most=0.95)
    alpha, epsilon = row["alpha"], row["eps"]
    assert law.top(alpha) == pytest.approx(row["quantile_conditioned"], abs=1e-13)
    assert law.acceptable(alpha, epsilon) == pytest.approx(row["true_measure_conditioned"], abs=1e-11)
    plain = Beta(1, row["b"])
    assert 1.0 - (plain.top(alpha) - epsilon) == pytest.approx(row["paper_col"], abs=1e-12)
    assert plain.acceptable(alpha, epsilon) == pytest.approx(row["true_measure_untruncated"], abs=1e-11)


def test_beta_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    for a, b in [(1, 2), (3, 1), (0.5, 0.5), (2, 5)]:
        for x in np.linspace(0.01, 0.99, 23):
            assert Beta(a, b).cdf(x) == pytest.approx(stats.beta(a, b).cdf(x), rel=1e-12)
            assert Beta(a, b).lower_quantile(x) == pytest.approx(stats.beta(a, b).ppf(x), rel=1e-10)


def test_scipy_law_with_a_gap():
    law = Scipy(histogram_with_a_gap())
    assert law.lower_quantile(0.5) == pytest.approx(0.25)
    assert law.top(0.5) == pytest.approx(0.75)
    assert Conditioned(law, 0.6).supremum == pytest.approx(0.25)
    assert dkw_distance(law, law.sample(SIZE, np.random.default_rng(3))) <= LIMIT
    check_galois(law, 0.3)


def test_scipy_law_without_ends():
    stats = pytest.importorskip("scipy.stats")
    law = Scipy(stats.norm(1, 2))
    assert law.supremum == math.inf
    assert law.continuous
    assert np.isfinite(law.sample(1000, np.random.default_rng(1))).all()
    assert Mixture((0.5, 0.5), (law, Dirac(0.0))).upper_quantile(0.5) == pytest.approx(0.0, abs=1e-9)


def test_conditioning_and_clipping_differ():
    base = Mixture((0.5, 0.5), (Uniform(0, 0.5), Dirac(0.9)))
    assert Conditioned(base, 0.6).continuous
    assert Conditioned(base, 0.6).supremum == 0.5
    assert Clipped(base, 0.6).atoms == (0.6,)
    assert Clipped(base, 0.6).cdf_left(0.6) == 0.5
    assert parse("beta(1,1)", at_most=0.5).continuous
    assert not parse("beta(1,1)", clip=0.5).continuous
    assert Clipped(Uniform(0, 0.5), 0.9).continuous


@pytest.mark.parametrize(
    "text",
    [
        "",
        "beta",
        "beta(1)",
        "beta(1,2",
        "beta(1,2))",
        "beta(1,2,3)",
        "beta(one,2)",
        "beta(1;2)",
        "gauss(0,1)",
        "discrete()",
        "discrete(0.1:0.5,0.2)",
        "discrete(0.1,0.2:0.5)",
        "mixture(beta(1,2))",
        "mixture(0.5*0.5)",
        "mixture(0.5*dirac(1),)",
        "clipped(0.5)",
        "two-point(0.1,0.2)",
        None,
    ],
)
def test_malformed_text_gets_one_sentence(text):
    with pytest.raises(ValueError, match=r"^reservoir must [^\n]+, got [^\n]+$"):
        parse(text)


@pytest.mark.parametrize(
    ("make", "start"),
    [
        (lambda: Beta(0, 1), "a must"),
        (lambda: Beta(1, math.inf), "b must"),
        (lambda: Uniform(1, 1), "high must be above low"),
        (lambda: Dirac(math.nan), "at must"),
        (lambda: TwoPoint(0.7, 0.5, 0.1), "high must be above low"),
        (lambda: TwoPoint(0.5, 0.7, 1.0), "probability must"),
        (lambda: Discrete([]), "values must"),
        (lambda: Discrete([0.1, 0.2], [0.5, 0.6]), "weights must sum to one"),
        (lambda: Discrete([0.1, 0.2], [1.0]), "weights must have length 2"),
        (lambda: Discrete([0.1, 0.2], [-0.5, 1.5]), "weights must be positive"),
        (lambda: Empirical([]), "data must"),
        (lambda: Empirical([math.inf]), "data must"),
        (lambda: Mixture((0.5, 0.4), (Dirac(0), Dirac(1))), "weights must sum to one"),
        (lambda: Mixture((1.0,), (0.5,)), "parts must"),
        (lambda: Mixture((0.5, 0.5), (Dirac(0),)), "weights must have length 1"),
        (lambda: Conditioned(Dirac(0.5), 0.4), "at_most must leave"),
        (lambda: Clipped(0.5, 0.4), "base must"),
        (lambda: Scipy(0.5), "law must"),
        (lambda: parse("beta(1,1)", at_most=0.5, clip=0.5), "clip must"),
        (lambda: Dirac(0.5).top(1.0), "alpha must"),
        (lambda: Dirac(0.5).lower_quantile(1.1), "p must"),
        (lambda: Dirac(0.5).acceptable(0.1, -1), "epsilon must"),
        (lambda: Dirac(0.5).sample(-1, np.random.default_rng(0)), "size must"),
    ],
)
def test_bad_input_is_refused(make, start):
    with pytest.raises(ValueError, match=rf"^{start}.*, got "):
        make()


def test_scipy_and_numba_are_not_imported():
    code = (
        "import sys, numpy; from topalpha.reservoirs import parse; import topalpha.theory;"
        "parse('beta(1,2)', at_most=.95).sample(9, numpy.random.default_rng(1));"
        "assert 'scipy' not in sys.modules and 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- scores on finitely many items


def brute_scores(law, items, draws=400):
    """P(at most k items passed) for every k, as the mean over very many rates of equal weight."""
    rates = np.array([law.lower_quantile((place + 0.5) / draws) for place in range(draws)])
    return np.array([np.mean(binom.cdf(k, items, rates)) for k in range(items + 1)])


@pytest.mark.parametrize(
    "law",
    [Beta(1, 2), Uniform(0.2, 0.9), TwoPoint(0.4, 0.604, 0.1), Mixture((0.9, 0.1), (Uniform(0.3, 0.5), Dirac(0.72)))],
    ids=str,
)
def test_scores_against_very_many_rates(law):
    scores, expected = Scores(law, 12), brute_scores(law, 12)
    for passes, height in enumerate(expected):
        assert scores.cdf(passes / 12) == pytest.approx(height, abs=2e-4)
        assert scores.cdf_left(passes / 12) == (scores.cdf((passes - 1) / 12) if passes else 0.0)
    for p in (0.05, 0.5, 0.9):
        assert scores.upper_quantile(p) == np.flatnonzero(expected > p)[0] / 12
        assert scores.lower_quantile(p) == np.flatnonzero(expected >= p)[0] / 12
    assert (scores.infimum, scores.supremum, len(scores.atoms), scores.continuous) == (0.0, 1.0, 13, False)


def test_scores_of_a_beta_law_have_a_beta_binomial_law():
    scores = Scores(Beta(1, 2), 30)
    heights = [scores.cdf(passes / 30) for passes in range(31)]
    assert heights == pytest.approx(betabinom.cdf(np.arange(31), 30, 1, 2).tolist(), abs=1e-9)


def test_scores_know_ties_and_ends():
    coin = Scores(Dirac(0.5), 9)  # at most four of nine: exactly one half
    assert (coin.lower_quantile(0.5), coin.upper_quantile(0.5)) == (4 / 9, 5 / 9)
    assert coin.top(0.5) == 5 / 9
    sure = Scores(TwoPoint(0.0, 1.0, 0.25), 4)
    assert sure.atoms == (0.0, 1.0)
    assert (sure.upper_quantile(0.75), sure.lower_quantile(0.75), sure.cdf(0.5)) == (1.0, 0.0, 0.75)
    for rate in (0.0, 1.0):
        one = Scores(Dirac(rate), 4)
        assert (one.infimum, one.supremum, one.top(0.1), one.atoms) == (rate, rate, rate, (rate,))
    with pytest.raises(ValueError, match="rates must be a Reservoir with means between 0 and 1"):
        Scores(Uniform(0.0, 2.0), 4)
    with pytest.raises(ValueError, match="items must be a whole number of at least 1, got 0"):
        Scores(Dirac(0.5), 0)
