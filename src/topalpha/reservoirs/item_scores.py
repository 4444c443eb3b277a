"""The law of scores on finitely many items, if the reservoir is the law of the probability to pass an item."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from topalpha.reservoirs.base import Reservoir, probability
from topalpha.validate import require, whole

# Heights closer than this are the same: they are integrals, accurate to about a tenth of it.
_SAME_INTEGRAL = 1e-9


@dataclass(frozen=True)
class Scores(Reservoir):
    """The fraction of ``items`` items that an arm passes, each independently with a probability drawn from ``rates``.

    A score is the fraction of these items, not of others: it scatters around the arm's rate.

    Examples
    --------
    >>> from topalpha.reservoirs import Dirac, Uniform
    >>> coin = Scores(Dirac(0.5), 2)
    >>> coin.cdf(0.0), coin.cdf(0.5), coin.upper_quantile(0.75), coin.supremum
    (0.25, 0.75, 1.0, 1.0)
    >>> round(Scores(Uniform(0.0, 1.0), 9).cdf(0.0), 9)
    0.1
    """

    rates: Reservoir
    items: int

    def __post_init__(self) -> None:
        rates = self.rates
        inside = isinstance(rates, Reservoir) and rates.infimum >= 0.0 and rates.supremum <= 1.0
        require(inside, "rates", "be a Reservoir with means between 0 and 1", rates)
        object.__setattr__(self, "items", whole("items", self.items))

    @property
    def infimum(self) -> float:
        """0, unless every arm passes every item."""
        return 1.0 if self.rates.infimum == 1.0 else 0.0

    @property
    def supremum(self) -> float:
        """1, unless no arm passes any item."""
        return 0.0 if self.rates.supremum == 0.0 else 1.0

    @property
    def atoms(self) -> tuple[float, ...]:
        """Every score with positive probability."""
        sure = all(rate in (0.0, 1.0) for rate in self.rates.atoms) and self._smooth_mass == 0.0
        ends = {self.infimum, self.supremum}
        return tuple(k / self.items for k in range(self.items + 1) if not sure or k / self.items in ends)

    def cdf(self, x: float) -> float:
        """P(score <= x)."""
        return self._at_most(math.floor(math.nextafter(x * self.items, math.inf)))

    def cdf_left(self, x: float) -> float:
        """P(score < x)."""
        return self._at_most(math.ceil(math.nextafter(x * self.items, -math.inf)) - 1)

    def lower_quantile(self, p: float) -> float:
        """The first score whose height is p or more."""
        height = probability(p) - _SAME_INTEGRAL
        return self._first(lambda passes: self._at_most(passes) >= height)

    def upper_quantile(self, p: float) -> float:
        """The first score whose height exceeds p."""
        height = probability(p) + _SAME_INTEGRAL
        return self._first(lambda passes: self._at_most(passes) > height)

    def _first(self, holds: Callable[[int], bool]) -> float:
        """The smallest possible score where a monotone condition holds; the largest if it holds nowhere below."""
        low, high = round(self.infimum * self.items), round(self.supremum * self.items)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle + 1, high)
        return high / self.items

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        return tuple(self.rates.cdf(rate) - self.rates.cdf_left(rate) for rate in self.rates.atoms)

    @cached_property
    def _smooth_mass(self) -> float:
        """The mass of the rates outside atoms."""
        rest = 1.0 - math.fsum(self._weights)
        return rest if rest > _SAME_INTEGRAL else 0.0

    def _at_most(self, passes: int) -> float:
        """P(at most this many items are passed)."""
        from scipy.special import bdtr

        if not 0 <= passes < self.items:
            return 0.0 if passes < 0 else 1.0
        atoms = zip(self._weights, self.rates.atoms, strict=True)
        height = math.fsum(weight * float(bdtr(passes, self.items, rate)) for weight, rate in atoms)
        return min(1.0, height + (self._smooth_part(passes) if self._smooth_mass else 0.0))

    def _smooth_part(self, passes: int) -> float:
        """The contribution of the rates outside atoms.

        Of ``items`` uniform numbers at most k are below the rate if and only if the (k+1)-th smallest is above it, and
        that one has a beta law. So the probability is the mean of G at such a number.
        """
        from scipy.integrate import quad
        from scipy.special import betaincinv

        rates, atoms = self.rates, list(zip(self._weights, self.rates.atoms, strict=True))

        def below(u: float) -> float:
            x = float(betaincinv(passes + 1.0, self.items - passes, u))
            return rates.cdf(x) - math.fsum(weight for weight, atom in atoms if atom <= x)

        return float(quad(below, 0.0, 1.0, epsabs=0.1 * _SAME_INTEGRAL, epsrel=0.0, limit=400)[0])
