"""Mixtures of reservoirs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topalpha.reservoirs.base import SAME_HEIGHT, Numbers, Reservoir, first, number, probability, shares, within
from topalpha.validate import require


def _part_of_each(uniforms: Numbers, weights: Numbers) -> tuple[NDArray[np.intp], Numbers]:
    """The part that each uniform number falls in, and its place there: one number chooses the part and the arm."""
    ends = np.cumsum(weights)
    chosen = np.minimum(np.searchsorted(ends, uniforms, side="right"), len(weights) - 1)
    starts = ends - weights
    return chosen, within((uniforms - starts[chosen]) / weights[chosen])


@dataclass(frozen=True)
class Mixture(Reservoir):
    """Each arm comes from one of the parts, chosen with these weights.

    Quantiles are found by bisection; heights of G within 1e-12 count as equal, an error of up to 1e-12 / density.

    Examples
    --------
    >>> from topalpha.reservoirs import Dirac, Uniform
    >>> both = Mixture((0.9, 0.1), (Uniform(0.0, 0.5), Dirac(0.8)))
    >>> round(both.lower_quantile(0.9), 9), both.upper_quantile(0.9), both.continuous
    (0.5, 0.8, False)
    """

    weights: tuple[float, ...]
    parts: tuple[Reservoir, ...]

    def __init__(self, weights: Sequence[float], parts: Sequence[Reservoir]) -> None:
        object.__setattr__(self, "weights", shares("weights", tuple(weights)))
        object.__setattr__(self, "parts", tuple(parts))
        known = len(self.parts) > 0 and all(isinstance(part, Reservoir) for part in self.parts)
        require(known, "parts", "be reservoirs", parts)
        require(len(self.weights) == len(self.parts), "weights", f"have length {len(self.parts)}", weights)

    @property
    def infimum(self) -> float:
        """The lowest of the parts' infima."""
        return min(part.infimum for part in self.parts)

    @property
    def supremum(self) -> float:
        """The highest of the parts' suprema."""
        return max(part.supremum for part in self.parts)

    @property
    def atoms(self) -> tuple[float, ...]:
        """The atoms of all parts."""
        return tuple(sorted({atom for part in self.parts for atom in part.atoms}))

    @property
    def expression(self) -> str | None:
        """mixture(w*part,...), if every part has a text."""
        texts = [part.expression for part in self.parts]
        if None in texts:
            return None
        return f"mixture({','.join(f'{number(w)}*{text}' for w, text in zip(self.weights, texts, strict=True))})"

    def _sum(self, heights: list[float]) -> float:
        total = math.fsum(self.weights)
        return min(1.0, math.fsum(w * height for w, height in zip(self.weights, heights, strict=True)) / total)

    def cdf(self, x: float) -> float:
        """The weighted sum of the parts' cdfs."""
        return self._sum([part.cdf(x) for part in self.parts])

    def cdf_left(self, x: float) -> float:
        """The weighted sum of the parts' left limits."""
        return self._sum([part.cdf_left(x) for part in self.parts])

    def lower_quantile(self, p: float) -> float:
        """inf{x : G(x) >= p}; it lies between the least and the greatest of the parts' quantiles."""
        height = probability(p) - SAME_HEIGHT
        if height <= 0.0 or p == 1.0:  # at the ends the tolerance would move the answer
            return self.infimum if height <= 0.0 else self.supremum
        low = min(part.lower_quantile(height) for part in self.parts)
        high = max(part.lower_quantile(p) for part in self.parts)
        return first(lambda x: self.cdf(x) >= height, low, high)

    def upper_quantile(self, p: float) -> float:
        """inf{x : G(x) > p}; it lies between the least and the greatest of the parts' quantiles."""
        height = probability(p) + SAME_HEIGHT
        if height >= 1.0 or p == 0.0:
            return self.supremum if height >= 1.0 else self.infimum
        low = min(part.lower_quantile(p) for part in self.parts)
        high = max(part.upper_quantile(height) for part in self.parts)
        return first(lambda x: self.cdf(x) > height, low, high)

    def supremum_at_most(self, bound: float) -> float:
        """The highest point of any part that has mass up to the bound."""
        return max(part.supremum_at_most(bound) for part in self.parts if part.cdf(bound) > 0.0)

    def transport(self, uniforms: Numbers) -> Numbers:
        """Choose a part, then an arm of it, with one uniform number."""
        chosen, places = _part_of_each(uniforms, np.array(self.weights) / math.fsum(self.weights))
        result = np.empty(len(uniforms))
        for index, part in enumerate(self.parts):
            mine = chosen == index
            result[mine] = part.transport(places[mine])
        return result

    def transport_at_most(self, uniforms: Numbers, bound: float) -> Numbers:
        """Conditioning a mixture conditions its parts and reweights them by the remaining mass of each."""
        kept = [index for index, part in enumerate(self.parts) if part.cdf(bound) > 0.0]
        masses = np.array([self.weights[index] * self.parts[index].cdf(bound) for index in kept])
        chosen, places = _part_of_each(uniforms, masses / masses.sum())
        result = np.empty(len(uniforms))
        for place, index in enumerate(kept):
            mine = chosen == place
            result[mine] = self.parts[index].transport_at_most(places[mine], bound)
        return result
