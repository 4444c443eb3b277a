"""Truncated reservoirs: conditioning on mean <= at_most, and clipping at it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topalpha.reservoirs.base import Numbers, Reservoir, number, probability
from topalpha.validate import real, require


def _bound(name: str, base: Reservoir, at_most: float) -> float:
    require(isinstance(base, Reservoir), "base", "be a reservoir", base)
    return real(name, at_most)


@dataclass(frozen=True)
class Conditioned(Reservoir):
    """The base law given mean <= at_most: the truncation behind the paper's table (docs/reproduction.md).

    Arms are drawn by inversion, G^{-1}(u G(at_most)), not by rejection: one uniform number per arm.

    Examples
    --------
    >>> from topalpha.reservoirs import Beta
    >>> round(Conditioned(Beta(1, 1), 0.95).top(0.05), 12)
    0.9025
    """

    base: Reservoir
    at_most: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_most", _bound("at_most", self.base, self.at_most))
        require(self._mass > 0.0, "at_most", "leave some of the reservoir's mass", self.at_most)

    @property
    def _mass(self) -> float:
        return self.base.cdf(self.at_most)

    @property
    def infimum(self) -> float:
        """The base's infimum."""
        return self.base.infimum

    @property
    def supremum(self) -> float:
        """The highest point of the base's support that is <= at_most."""
        return self.base.supremum_at_most(self.at_most)

    @property
    def atoms(self) -> tuple[float, ...]:
        """The base's atoms up to the bound."""
        return tuple(atom for atom in self.base.atoms if atom <= self.at_most)

    @property
    def expression(self) -> str | None:
        """conditioned(base,at_most)."""
        text = self.base.expression
        return None if text is None else f"conditioned({text},{number(self.at_most)})"

    def cdf(self, x: float) -> float:
        """G(x) / G(at_most)."""
        return 1.0 if x >= self.at_most else min(1.0, self.base.cdf(x) / self._mass)

    def cdf_left(self, x: float) -> float:
        """G(x-) / G(at_most)."""
        return 1.0 if x > self.at_most else min(1.0, self.base.cdf_left(x) / self._mass)

    def lower_quantile(self, p: float) -> float:
        """The base's lower quantile at p G(at_most)."""
        if probability(p) == 1.0:
            return self.supremum
        return min(self.base.lower_quantile(p * self._mass), self.supremum)

    def upper_quantile(self, p: float) -> float:
        """The base's upper quantile at p G(at_most)."""
        if probability(p) == 1.0:
            return self.supremum
        return min(self.base.upper_quantile(p * self._mass), self.supremum)

    def supremum_at_most(self, bound: float) -> float:
        """The base's value, at the smaller bound."""
        return self.base.supremum_at_most(min(bound, self.at_most))

    def transport(self, uniforms: Numbers) -> Numbers:
        """The base's inversion, given mean <= at_most."""
        return self.base.transport_at_most(uniforms, self.at_most)

    def transport_at_most(self, uniforms: Numbers, bound: float) -> Numbers:
        """Conditioning twice is conditioning on the smaller bound."""
        return self.base.transport_at_most(uniforms, min(bound, self.at_most))


@dataclass(frozen=True)
class Clipped(Reservoir):
    """min(mean, at_most): the mass above the bound becomes an atom there.

    Examples
    --------
    >>> from topalpha.reservoirs import Beta
    >>> flat = Clipped(Beta(1, 1), 0.75)
    >>> flat.atoms, flat.top(0.25), round(flat.acceptable(0.2), 9)
    ((0.75,), 0.75, 0.25)
    """

    base: Reservoir
    at_most: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_most", _bound("at_most", self.base, self.at_most))

    @property
    def infimum(self) -> float:
        """The base's infimum, clipped."""
        return min(self.base.infimum, self.at_most)

    @property
    def supremum(self) -> float:
        """The base's supremum, clipped."""
        return min(self.base.supremum, self.at_most)

    @property
    def atoms(self) -> tuple[float, ...]:
        """The base's atoms below the bound, and the bound itself if mass was clipped."""
        kept = tuple(atom for atom in self.base.atoms if atom < self.at_most)
        return (*kept, self.at_most) if self.base.cdf_left(self.at_most) < 1.0 else kept

    @property
    def expression(self) -> str | None:
        """clipped(base,at_most)."""
        text = self.base.expression
        return None if text is None else f"clipped({text},{number(self.at_most)})"

    def cdf(self, x: float) -> float:
        """The base's cdf below the bound, 1 from there on."""
        return 1.0 if x >= self.at_most else self.base.cdf(x)

    def cdf_left(self, x: float) -> float:
        """The base's left limit up to the bound, 1 beyond it."""
        return 1.0 if x > self.at_most else self.base.cdf_left(x)

    def lower_quantile(self, p: float) -> float:
        """The base's quantile, clipped: a non-decreasing map moves quantiles with it."""
        return min(self.base.lower_quantile(p), self.at_most)

    def upper_quantile(self, p: float) -> float:
        """The base's quantile, clipped."""
        return min(self.base.upper_quantile(p), self.at_most)

    def supremum_at_most(self, bound: float) -> float:
        """The base's value, or the atom at the bound."""
        return self.supremum if bound >= self.at_most else self.base.supremum_at_most(bound)

    def transport(self, uniforms: Numbers) -> Numbers:
        """The base's means, clipped."""
        return np.minimum(self.base.transport(uniforms), self.at_most)

    def transport_at_most(self, uniforms: Numbers, bound: float) -> Numbers:
        """Below the clipping point this law and its base agree."""
        return self.transport(uniforms) if bound >= self.at_most else self.base.transport_at_most(uniforms, bound)
