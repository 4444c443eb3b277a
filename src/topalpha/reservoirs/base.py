"""The interface of every reservoir.

G is the cumulative distribution function of an arm's mean. There are two quantiles, which differ if G has atoms or
gaps. The lower one, inf{x : G(x) >= p}, is the paper's G^{-1}. The upper one, inf{x : G(x) > p}, defines errors,
because with the lower one a reservoir of K equally likely arms has two acceptable arms at alpha = 1/K (errata E9).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topalpha.validate import fraction, real, require, whole

Numbers = NDArray[np.float64]

#: Two values of G closer than this are the same height, and two means closer than this (relative to 1 or to their
#: size) are the same mean. 1 - alpha, sums of weights and q - epsilon are rounded, and an atom must not be lost to
#: the last bit; this costs an error of at most this much in a probability.
SAME_HEIGHT = 1e-12

_LEAST_UNIFORM = 2.0**-54
_MOST_UNIFORM = 1.0 - 2.0**-53


class Reservoir(ABC):
    """The law of an arm's mean.

    A subclass needs ``cdf``, ``infimum``, ``supremum`` and both quantiles; with atoms ``cdf_left`` and ``atoms``.

    Examples
    --------
    >>> from topalpha.reservoirs import TwoPoint
    >>> coin = TwoPoint(0.5, 0.7, 0.1)
    >>> coin.lower_quantile(0.9), coin.upper_quantile(0.9), coin.top(0.1), round(coin.acceptable(0.1, 0.05), 12)
    (0.5, 0.7, 0.7, 0.1)
    """

    @abstractmethod
    def cdf(self, x: float) -> float:
        """G(x) = P(mean <= x)."""

    def cdf_left(self, x: float) -> float:
        """P(mean < x); equal to G(x) unless x is an atom."""
        return self.cdf(x)

    @abstractmethod
    def lower_quantile(self, p: float) -> float:
        """inf{x : G(x) >= p}, the paper's G^{-1}(p); the infimum of the support at p = 0."""

    @abstractmethod
    def upper_quantile(self, p: float) -> float:
        """inf{x : G(x) > p}; the supremum of the support at p = 1."""

    @property
    @abstractmethod
    def infimum(self) -> float:
        """The lowest point of the support."""

    @property
    @abstractmethod
    def supremum(self) -> float:
        """mu*, the highest point of the support (label ``eq-mustar``)."""

    @property
    def atoms(self) -> tuple[float, ...]:
        """The means with positive probability, in increasing order."""
        return ()

    @property
    def continuous(self) -> bool:
        """Whether no single mean has positive probability."""
        return not self.atoms

    @property
    def expression(self) -> str | None:
        """The text from which :func:`parse` makes this reservoir; None if there is none."""
        return None

    def sample(self, size: int, rng: Generator) -> Numbers:
        """Means of ``size`` new arms.

        Every arm consumes exactly one uniform number, so arms drawn together or one by one are the same.
        """
        uniforms = rng.random(whole("size", size, 0))
        return self.transport(np.maximum(uniforms, _LEAST_UNIFORM))

    def transport(self, uniforms: Numbers) -> Numbers:
        """The means of uniform numbers in (0, 1), one each: their lower quantiles, unless overridden."""
        return np.array([self.lower_quantile(float(u)) for u in uniforms], dtype=np.float64)

    def transport_at_most(self, uniforms: Numbers, bound: float) -> Numbers:
        """The same for the law conditioned on mean <= ``bound``; exact if :meth:`transport` inverts G."""
        return np.minimum(self.transport(uniforms * self.cdf(bound)), self.supremum_at_most(bound))

    def supremum_at_most(self, bound: float) -> float:
        """The highest point of the support up to ``bound``; override it if the support is not an interval."""
        return min(bound, self.supremum)

    def top(self, alpha: float) -> float:
        """q+, the upper quantile at 1 - alpha; at least a fraction alpha of the arms reach it.

        >>> from topalpha.reservoirs import Discrete
        >>> Discrete((0.1, 0.2, 0.3)).top(1 / 3)
        0.3
        """
        return self.upper_quantile(1.0 - fraction("alpha", alpha))

    def threshold(self, alpha: float, epsilon: float = 0.0) -> float:
        """Arms strictly below this are errors: q+ - epsilon, minus a rounding tolerance of ``SAME_HEIGHT``.

        >>> from topalpha.reservoirs import Discrete
        >>> 0.7 < 0.8 - 0.1, 0.7 < Discrete((0.7, 0.8)).threshold(0.5, 0.1)
        (True, False)
        """
        slack = real("epsilon", epsilon)
        require(slack >= 0.0, "epsilon", "not be negative", epsilon)
        best = self.top(alpha)
        return best - slack - SAME_HEIGHT * max(1.0, abs(best))  # label eq-good-arms, with q+ for G^{-1}

    def acceptable(self, alpha: float, epsilon: float = 0.0) -> float:
        """P(mean >= q+ - epsilon), the measure of the correct arms.

        >>> from topalpha.reservoirs import Beta, Conditioned
        >>> round(Conditioned(Beta(1, 2), 0.95).acceptable(0.05, 0.05), 9)
        0.075449208
        """
        return min(1.0, max(0.0, 1.0 - self.cdf_left(self.threshold(alpha, epsilon))))


def within(uniforms: Numbers) -> Numbers:
    """Uniform numbers moved off 0 and 1 by less than their own resolution.

    >>> import numpy as np
    >>> float(within(np.array([1.0, 0.5]))[0]) < 1.0
    True
    """
    return np.clip(uniforms, _LEAST_UNIFORM, _MOST_UNIFORM)


def first(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest number in [low, high] where a monotone condition holds; ``high`` if it holds nowhere below.

    >>> first(lambda x: x * x >= 2.0, 0.0, 2.0)
    1.4142135623730951
    """
    if holds(low):
        return low
    while True:
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            return high
        if holds(middle):
            high = middle
        else:
            low = middle


def probability(p: float) -> float:
    """Return ``p`` if it is a probability.

    >>> probability(1)
    1.0
    """
    number = real("p", p)
    require(0.0 <= number <= 1.0, "p", "lie in [0, 1]", p)
    return number


def finite(name: str, value: float) -> float:
    """Return ``value`` as a float if it is a finite number.

    >>> finite("low", 1)
    1.0
    """
    number = real(name, value)
    require(abs(number) < float("inf"), name, "be finite", value)
    return number


def shares(name: str, values: tuple[float, ...]) -> tuple[float, ...]:
    """Return weights as floats if they are positive and sum to one within 1e-9.

    >>> shares("weights", (0.25, 0.75))
    (0.25, 0.75)
    """
    numbers = tuple(finite(name, value) for value in values)
    require(all(number > 0.0 for number in numbers), name, "be positive", values)
    require(abs(sum(numbers) - 1.0) <= 1e-9, name, "sum to one within 1e-9", values)
    return numbers


def number(value: float) -> str:
    """The shortest text that reads back as ``value``.

    >>> number(1.0), number(0.95)
    ('1', '0.95')
    """
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text
