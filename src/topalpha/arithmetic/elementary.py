"""ln, exp and powers out of IEEE operations and tables; nothing raises where a function has no finite value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from math import frexp, inf

from topalpha.arithmetic.tables import CENTRES, EXPONENTIALS, INVERSES, LOGARITHMS, POWERS

__all__ = ["cube_root", "exact_sum", "exp", "expm1", "log", "log1p", "log1p_absolute", "power"]

_LN2 = 0.6931471805599453
# ln(2) / 512 in two parts; the first has 32 bits, so that its product with a whole number below 2^20 is exact.
_STEP_HIGH = 0.001353803086658445
_STEP_LOW = 3.7269822837316166e-13
_STEPS = 738.6598609351493
# The largest and the smallest argument of exp whose value is a normal number.
_LARGEST, _SMALLEST = 709.782712893384, -708.3964185322641
# A multiple of 512, so that the number of steps is positive before it is cut off.
_OFFSET = 1 << 20


def log(x: float) -> float:
    """ln x, with an error below 2 units in the last place.

    ln x = e ln 2 + ln c + ln(1 + r) with c the centre of a 512th that m lies in, x = m 2^e, and r = (m - c) / c.

    Examples
    --------
    >>> log(1.0), log(2.0), log(0.0), log(math.inf)
    (0.0, 0.6931471805599453, -inf, inf)
    """
    if not 0.0 < x < inf:
        return -inf if x == 0.0 else x if x > 0.0 else math.nan
    m, e = frexp(x)
    i = int(m * 1024.0) - 512
    if i < 213:  # m 2^e is (2 m) 2^(e - 1): near 1 there is then no ln 2 to cancel
        e -= 1
    r = (m - CENTRES[i]) * INVERSES[i]
    square = r * r
    rest = (0.5 - r * 0.3333333333333333) + square * ((0.25 - r * 0.2) + square * 0.16666666666666666)
    return e * _LN2 + (LOGARITHMS[i] + (r - square * rest))


def log1p(x: float) -> float:
    """ln(1 + x), with an error below 2 units in the last place.

    Examples
    --------
    >>> log1p(1e-20), log1p(1.0), log1p(-1.0)
    (1e-20, 0.6931471805599453, -inf)
    """
    u = 1.0 + x
    if not 0.0 < u < inf:
        return -inf if u == 0.0 else x if x > 0.0 else math.nan
    return log(u) + (x - (u - 1.0)) / u


def log1p_absolute(x: float) -> float:
    """ln(1 + x) with an absolute error below 2e-16 for small x, for sums in which smaller errors drown.

    Examples
    --------
    >>> log1p_absolute(1.0), log1p_absolute(1e-20)
    (0.6931471805599453, 0.0)
    """
    return log(1.0 + x)


def exp(x: float) -> float:
    """e^x, with an error below 1.1 units in the last place; 0 where the value is not a normal number.

    e^x = 2^(k / 512) e^r, with k the whole number nearest to 512 x / ln 2.

    Examples
    --------
    >>> exp(0.0), round(exp(1.0), 12), exp(-800.0), exp(800.0)
    (1.0, 2.718281828459, 0.0, inf)
    """
    if not _SMALLEST <= x <= _LARGEST:
        return inf if x > 0.0 else 0.0 if x < 0.0 else math.nan
    k = int(x * _STEPS + (_OFFSET + 0.5)) - _OFFSET
    r = (x - k * _STEP_HIGH) - k * _STEP_LOW
    twice = EXPONENTIALS[k & 511]
    result = twice + twice * (r + r * r * (0.5 + r * (0.16666666666666666 + r * 0.041666666666666664)))
    return result * POWERS[(k >> 9) + 1022]  # half of 2^(k // 512): 2^-1023 comes first


def expm1(x: float) -> float:
    """e^x - 1, with an error below 3 units in the last place.

    Examples
    --------
    >>> expm1(1e-20), round(expm1(1.0), 12), expm1(-800.0)
    (1e-20, 1.718281828459, -1.0)
    """
    if x > 1.0 or x < -1.0:
        return exp(x) - 1.0
    u = exp(x)
    if u == 1.0:
        return x
    return (u - 1.0) * (x / log(u))  # the error of u in both factors cancels


def power(base: float, exponent: float) -> float:
    """base^exponent for a positive base: by squaring for whole exponents up to 2^20, else by way of the logarithm.

    Examples
    --------
    >>> power(2.0, 10), power(0.5, 3.0), round(power(2.0, 0.5), 15)
    (1024.0, 0.125, 1.414213562373095)
    """
    left = abs(exponent)
    if not left <= 1048576.0 or left != math.floor(left):
        return exp(exponent * log(base))
    result, square, left = 1.0, float(base), int(left)
    while left > 0:
        if left & 1:
            result *= square
        square *= square
        left >>= 1
    return result if exponent >= 0.0 else 1.0 / result


def cube_root(x: float) -> float:
    """The cube root of a positive number.

    Examples
    --------
    >>> round(cube_root(27.0), 12)
    3.0
    """
    return power(x, 1.0 / 3.0)


def exact_sum(numbers: Iterable[float]) -> float:
    """The sum, rounded once; ``sum`` rounds otherwise from Python 3.12 on.

    Examples
    --------
    >>> exact_sum([0.1] * 10)
    1.0
    """
    return math.fsum(numbers)
