"""Tables of the elementary functions: correctly rounded by the decimal module, so the same on every machine.

All operations are those of a context of this module: the caller's, which operators would take, may have other digits.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal

__all__ = ["CENTRES", "EXPONENTIALS", "INVERSES", "LOGARITHMS", "POWERS"]

_DIGITS = Context(prec=25, traps=[])
# Below this number of a 512th, a mantissa counts twice: it is less than the root of 1/2, about.
_CUT = 213


def _centre(place: int) -> float:
    """The middle of a 512th of [1/2, 1); the ends of the first and the last, so that ln 1 is 0 exactly."""
    return 0.5 if place == 0 else 1.0 if place == 511 else (1025 + 2 * place) / 2048.0


def _logarithm(place: int) -> float:
    return float(_DIGITS.ln(Decimal((2.0 if place < _CUT else 1.0) * _centre(place))))


_LN2 = _DIGITS.ln(Decimal(2))


def _power_of_two(place: int) -> float:
    return float(_DIGITS.exp(_DIGITS.divide(_DIGITS.multiply(_LN2, Decimal(place)), Decimal(512))))


#: c, by the number of the 512th of [1/2, 1) that a mantissa lies in.
CENTRES: tuple[float, ...] = tuple(_centre(place) for place in range(512))
#: 1 / c.
INVERSES: tuple[float, ...] = tuple(1.0 / centre for centre in CENTRES)
#: ln c, or ln 2c in the lower part.
LOGARITHMS: tuple[float, ...] = tuple(_logarithm(place) for place in range(512))
#: Twice 2^(k / 512), so that half of the largest power of 2 is enough: 2^1024 is not a number.
EXPONENTIALS: tuple[float, ...] = tuple(2.0 * _power_of_two(place) for place in range(512))
#: Powers of 2 from 2^-1023, half of the smallest normal one, to 2^1023.
POWERS: tuple[float, ...] = tuple(math.ldexp(1.0, exponent) for exponent in range(-1023, 1024))
