"""Families by name, the rewards that they take and draw, and the same answers when compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.every_family import EVERY, each_unlimited
from tests.support.marks import quick
from topalpha.families import FAMILIES, MODELS, Bernoulli, Exponential, Gamma, Gaussian, Poisson, parse_family


@each_unlimited
def test_samples_have_the_mean_and_variance(family):
    mean, size = 0.4, 20_000
    rng = np.random.default_rng(5)
    rewards = np.array([family.sample(mean, rng) for _ in range(size)])
    shape = getattr(family, "shape", 1.0)
    variance = {Bernoulli: 0.24, Gaussian: 0.25, Poisson: 0.4, Exponential: 0.16, Gamma: 0.16 / shape}[type(family)]
    assert abs(rewards.mean() - mean) < 5 * math.sqrt(variance / size)
    assert rewards.var() == pytest.approx(variance, rel=0.15)
    for reward in rewards[:100]:
        assert isinstance(family.sample(mean, rng), float)
        family.check(reward)
    if not isinstance(family, Gaussian):
        assert family.sample(0.0, rng) == 0.0


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("bernoulli", Bernoulli()),
        ("bernoulli(0.95)", Bernoulli(0.95)),
        ("gaussian(sigma=0.5)", Gaussian(0.5)),
        ("gaussian( 0.5 , highest = 2 )", Gaussian(0.5, 2.0)),
        ("poisson(highest=4)", Poisson(4.0)),
        ("exponential()", Exponential()),
        ("gamma(shape=2,highest=3)", Gamma(2.0, 3.0)),
        ("gamma(2, inf)", Gamma(2.0)),
    ],
)
def test_parse_family(text, family):
    assert parse_family(text) == family
    assert type(parse_family(text)) is type(family)
    assert all(isinstance(number, float) for number in parse_family(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "laplace",
            f"family must be one of {', '.join(MODELS)}, got 'laplace'",
        ),
        ("gamma", "family must give its shape, got 'gamma'"),
        ("gamma(highest=3)", "family must give its shape, got 'gamma(highest=3)'"),
        ("poisson(4", "family must be a name with numbers, such as gamma(shape=2,highest=3), got 'poisson(4'"),
        ("poisson(4,5)", "family must be a name with numbers, such as gamma(shape=2,highest=3), got 'poisson(4,5)'"),
        ("poisson(four)", "family must be a name with numbers, such as gamma(shape=2,highest=3), got 'poisson(four)'"),
        (
            "gamma(shape=2,3)",
            "family must be a name with numbers, such as gamma(shape=2,highest=3), got 'gamma(shape=2,3)'",
        ),
        ("gamma(2,shape=2)", "family must give its shape once, got 'gamma(2,shape=2)'"),
        ("poisson(sigma=1)", "family must have no parameters except highest, got 'poisson(sigma=1)'"),
        ("gaussian(0)", "sigma must be positive and finite, got 0.0"),
        ("gaussian(1,-inf)", "highest must be above -inf, got -inf"),
        ("gamma(inf)", "shape must be positive and finite, got inf"),
        ("gamma(1,nan)", "highest must be a real number, got nan"),
        ("poisson(0)", "highest must be positive, got 0.0"),
        ("exponential(-1)", "highest must be positive, got -1.0"),
        ("bernoulli(1.5)", "highest must lie in (0, 1], got 1.5"),
        ("bernoulli(nan)", "highest must lie in (0, 1], got nan"),
    ],
)
def test_parse_family_says_what_is_wrong(text, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        parse_family(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("family", "good", "bad", "condition"),
    [
        (Bernoulli(), [0, 0.5, 1, True], [-0.1, 1.1, math.nan, math.inf], "lie in [0, 1]"),
        (Gaussian(), [-3.0, 0, 1e300], [math.nan, math.inf, -math.inf], "be finite"),
        (Poisson(), [0, 3, 4.0], [-1, 0.5, math.nan, math.inf], "be a whole number of at least 0"),
        (Exponential(), [0.0, 1e-9, 3], [-1e-9, math.nan, math.inf], "be at least 0 and finite"),
        (Gamma(2.0), [0.0, 1e-9, 3], [-1e-9, math.nan, math.inf], "be at least 0 and finite"),
    ],
    ids=str,
)
def test_check_rewards(family, good, bad, condition):
    for reward in good:
        family.check(reward)
    for reward in bad:
        with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
            family.check(reward)
        assert str(error.value) == f"reward must {condition}, got {reward!r}"


def test_every_family_is_registered_by_its_name():
    assert {name: kind.__name__.lower() for name, kind in FAMILIES.items()} == {name: name for name in FAMILIES}
    assert {type(family) for family in EVERY} == set(FAMILIES.values())


def every_answer(family, mean, other, level, later, pulls, tilt, growth, rng, out):
    """All methods that compiled rules may call, one after the other."""
    total = mean * pulls
    gap = 0.25 * other
    bound = family.upper(mean, level)
    out[0] = family.divergence(mean, other)
    out[1] = bound
    out[2] = family.lower(mean, level)
    out[3] = family.ceiling(mean, bound, level, later)
    out[4] = family.chernoff_point(mean, other)
    out[5] = family.chernoff(mean, other)
    out[6] = family.kappa(gap)
    out[7] = family.redundancy(total, pulls)
    out[8] = family.tilted(other, total, pulls, tilt, growth)
    out[9] = family.tilted_slope(other, total, pulls, tilt, growth)
    out[10] = family.below(mean, gap)
    out[11] = family.above(mean, gap)
    out[12] = family.log_ratio(other, mean, total, pulls)
    out[13] = family.highest
    out[14] = family.lowest
    out[15] = family.below_slope(gap)
    out[16] = family.variance(mean)
    out[17] = family.spread(total, pulls)
    for index in range(18, 24):
        out[index] = family.sample(mean, rng)


@pytest.mark.parametrize("family", quick([(one,) for one in EVERY], [(Gaussian(0.5, 3.0),)]), ids=str)
def test_compiled_answers_equal_interpreted_ones_bit_for_bit(family):
    numba = pytest.importorskip("numba")
    from topalpha.engine import compile as compiling

    compiling._register_classes([type(family)])
    compiled = numba.njit(every_answer)
    chooser = np.random.default_rng(3)
    means = [0.0, 1.0, 0.5, 1e-9, 1e-200, *chooser.random(200)]
    for mean in means:
        for level in (0.0, 1e-300, 1e-9, 1000.0, float(chooser.exponential())):
            other = float(chooser.choice([0.0, 1.0, mean, *chooser.random(3)]))
            tilt = float(chooser.normal())
            seed, pulls = int(chooser.integers(2**31)), int(chooser.integers(1, 2000))
            arguments = (float(mean), other, level, level * 1.1, pulls, tilt, math.expm1(tilt))
            one, two = np.zeros(24), np.zeros(24)
            every_answer(family, *arguments, np.random.default_rng(seed), one)
            compiled(family, *arguments, np.random.default_rng(seed), two)
            assert one.tobytes() == two.tobytes(), (arguments, np.flatnonzero(one != two))
