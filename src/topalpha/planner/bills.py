"""What evaluations cost: money, at a price for each, and hours, at so many seconds for each."""

from __future__ import annotations

from typing import NamedTuple


class Bill(NamedTuple):
    """A number of evaluations, and what they cost; None where no price or duration was given.

    Examples
    --------
    >>> bill("at most", 5800, price=0.002, seconds=3.0)
    Bill(case='at most', evaluations=5800, money=11.6, hours=4.833333333333333)
    """

    case: str
    evaluations: float
    money: float | None
    hours: float | None


def bill(case: str, evaluations: float, price: float | None, seconds: float | None) -> Bill:
    """The money, in the unit of the price, and the hours that evaluations take one at a time.

    Examples
    --------
    >>> bill("at most", 7200, price=None, seconds=0.5).hours
    1.0
    """
    money = None if price is None else evaluations * price
    return Bill(case, evaluations, money, None if seconds is None else evaluations * seconds / 3600.0)
