"""Tables of the elementary functions: correctly rounded, out of whole numbers alone, so the same on every machine.

A real number x is kept as the whole number nearest to 2^120 x, or a few beside it; the quotient of two whole numbers is
rounded to the nearest double by Python itself.
"""

from __future__ import annotations

__all__ = ["CENTRES", "EXPONENTIALS", "INVERSES", "LOGARITHMS", "POWERS"]

_ONE = 1 << 120
# Below this number of a 512th, a mantissa counts twice: it is less than the root of 1/2, about.
_CUT = 213


def _logarithm(over: int, under: int) -> int:
    """ln(over / under) = 2 (z + z^3 / 3 + z^5 / 5 + ...), z = (over - under) / (over + under)."""
    term = 2 * _ONE * (over - under) // (over + under)
    square = (over - under) * (over - under), (over + under) * (over + under)
    result, odd = 0, 1
    while abs(term) > odd:
        result += term // odd
        term = term * square[0] // square[1]
        odd += 2
    return result


_LN2 = _logarithm(2, 1)


def _logarithms() -> list[int]:
    """ln c for every 512th of [1/2, 1), or ln 2c in the lower part, each from the one above it."""
    found, last = [0] * 512, _logarithm(2045, 2048)
    for place in range(510, 0, -1):
        found[place] = last + _LN2 if place < _CUT else last
        last -= _logarithm(1025 + 2 * place, 1023 + 2 * place)
    return found


def _exponentials() -> list[int]:
    """2^(k / 512) for k from 0 to 511, each from the one before it."""
    root, term, count = _ONE, _ONE, 0
    while term:
        count += 1
        term = term * _LN2 // (512 * count * _ONE)
        root += term
    found = [_ONE]
    for _ in range(511):
        found.append(found[-1] * root // _ONE)
    return found


def _centre(place: int) -> float:
    """The middle of a 512th of [1/2, 1); the ends of the first and the last, so that ln 1 is 0 exactly."""
    return 0.5 if place == 0 else 1.0 if place == 511 else (1025 + 2 * place) / 2048.0


#: c, by the number of the 512th of [1/2, 1) that a mantissa lies in.
CENTRES: tuple[float, ...] = tuple(_centre(place) for place in range(512))
#: 1 / c.
INVERSES: tuple[float, ...] = tuple(1.0 / centre for centre in CENTRES)
#: ln c, or ln 2c in the lower part.
LOGARITHMS: tuple[float, ...] = tuple(number / _ONE for number in _logarithms())
#: Twice 2^(k / 512), so that half of the largest power of 2 is enough: 2^1024 is not a number.
EXPONENTIALS: tuple[float, ...] = tuple(2 * number / _ONE for number in _exponentials())
#: Powers of 2 from 2^-1023, half of the smallest normal one, to 2^1023.
POWERS: tuple[float, ...] = tuple(
    1.0 / (1 << -power) if power < 0 else float(1 << power) for power in range(-1023, 1024)
)
