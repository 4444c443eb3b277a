"""The elementary functions: their errors against mpmath, their limits, and the same bits when compiled."""

import math
import random
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from topalpha.arithmetic import elementary, exp, expm1, log, log1p, log1p_absolute, power
from topalpha.arithmetic.tables import CENTRES, EXPONENTIALS, LOGARITHMS, POWERS
from topalpha.engine.compile import compiled

mpmath.mp.prec = 160


def scales(count, low, high, seed=0):
    """Numbers of both signs whose sizes spread evenly over powers of 2."""
    rng = random.Random(seed)
    return [rng.choice((-1.0, 1.0)) * 2.0 ** rng.uniform(low, high) for _ in range(count)]


def inside(count, low, high, seed=0):
    rng = random.Random(seed)
    return [rng.uniform(low, high) for _ in range(count)]


SMALL = scales(3000, -60.0, -0.01)
NEAR_ONE = [1.0 + x for x in scales(3000, -52.0, -1.0)]
POSITIVE = [abs(x) for x in scales(3000, -1070.0, 1020.0)]
#: Where a search found the largest errors of log and exp, and around them.
HARD = [x + k * 1e-9 for x in (1.0019542651726234, 1.0019546442873737, 0.9754418859664107) for k in range(-50, 51)]
#: A function, its true value, arguments, and the largest error that its docstring allows, in units in the last place.
CASES = [
    (log, mpmath.log, POSITIVE + NEAR_ONE + inside(3000, 1e-9, 3.0) + HARD, 2.0),
    (log1p, mpmath.log1p, SMALL + [abs(x) for x in scales(3000, -3.0, 1000.0)] + scales(500, -1000.0, -60.0), 2.0),
    (exp, mpmath.exp, inside(3000, -708.3, 709.7) + inside(3000, -2.0, 2.0) + SMALL + HARD, 1.1),
    (expm1, mpmath.expm1, inside(3000, -40.0, 709.7) + inside(3000, -2.0, 2.0) + SMALL, 3.0),
]


def error(found, true):
    """In units in the last place of the true value."""
    return float(abs(mpmath.mpf(found) - true) / mpmath.mpf(math.ulp(float(true)))) if true else float(found != 0.0)


@pytest.mark.parametrize(("function", "true", "arguments", "most"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_errors_are_as_stated(function, true, arguments, most):
    errors = [error(function(x), true(mpmath.mpf(x))) for x in arguments]
    assert max(errors) <= most
    assert max(errors) > 0.5, "an error below half a unit everywhere would be that of a correctly rounded function"


def test_negative_control_an_error_of_two_units_is_seen():
    assert error(math.nextafter(math.nextafter(math.log(3.0), 9.0), 9.0), mpmath.log(3)) > 1.5


def test_log1p_absolute_is_off_by_the_rounding_of_the_sum_alone():
    for x in [one for one in SMALL if one > -0.9]:
        assert abs(mpmath.mpf(log1p_absolute(x)) - mpmath.log1p(mpmath.mpf(x))) < 2.0**-50


@pytest.mark.parametrize("exponent", [0.5, 1.0 / 7.0, 3, -4, 10.0, 2.5])
def test_powers(exponent):
    for base in (1e-3, 0.3, 1.0, 7.0, 1234.5):
        true = mpmath.power(mpmath.mpf(base), mpmath.mpf(exponent))
        assert error(power(base, exponent), true) <= 4.0 + 2.0 * abs(exponent * math.log(base))


def test_limits():
    assert [log(0.0), log(math.inf), log1p(-1.0), log1p(math.inf)] == [-math.inf, math.inf, -math.inf, math.inf]
    assert [exp(math.inf), exp(-math.inf), exp(1e4), exp(-1e4), expm1(-math.inf)] == [
        math.inf,
        0.0,
        math.inf,
        0.0,
        -1.0,
    ]
    assert [power(0.5, math.inf), power(2.0, math.inf), power(0.5, -math.inf)] == [0.0, math.inf, math.inf]
    assert math.isnan(power(0.5, math.nan))
    assert [log(1.0), log1p(0.0), exp(0.0), expm1(0.0)] == [0.0, 0.0, 1.0, 0.0]
    assert all(math.isnan(one) for one in (log(-1.0), log(math.nan), log1p(-2.0), exp(math.nan), expm1(math.nan)))
    assert [log(2.0**k) / log(2.0) for k in range(1, 5)] == [1.0, 2.0, 3.0, 4.0]


def test_they_increase():
    """A bound found by bisection must not depend on where it began."""
    for function, points in ((log, sorted(NEAR_ONE + POSITIVE)), (exp, sorted(inside(3000, -30.0, 30.0)))):
        values = [function(x) for x in points]
        assert values == sorted(values)


def both(x: float) -> tuple[float, float, float, float, float]:
    return log(abs(x)), log1p(abs(x)), exp(x), expm1(x), power(abs(x), 3)


def test_compiled_they_give_the_same_bits():
    quick = compiled(both)
    points = [*scales(2000, -60.0, 9.0), *inside(2000, -700.0, 700.0), 0.0, 1.0, 2.0**-1074, math.inf]
    assert np.array([quick(x) for x in points]).tobytes() == np.array([both(x) for x in points]).tobytes()
    assert elementary.log.__globals__["CENTRES"][0] == 0.5, "interpreted, the tables stay tuples"


def test_the_tables_are_correctly_rounded():
    roots = [float(mpmath.power(2, mpmath.mpf(place) / 512)) for place in range(512)]
    assert [2.0 * root for root in roots] == list(EXPONENTIALS)
    assert all(power == 2.0 * half for half, power in pairwise(POWERS))
    assert POWERS[0] == 2.0**-1023
    for place, (centre, logarithm) in enumerate(zip(CENTRES, LOGARITHMS, strict=True)):
        assert logarithm == float(mpmath.log(mpmath.mpf(centre) * (2 if place < 213 else 1)))
