"""The largest number of pulls of a run, on every sequence of rewards, where docs/proofs.md proves one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from topalpha.algorithms.cc_lucb import CCLUCB
from topalpha.algorithms.kl_lucb import KLLUCB
from topalpha.algorithms.lucb_pp import LUCBPlusPlus
from topalpha.confidence.tilt import TiltBounds
from topalpha.families import Bernoulli, Gaussian
from topalpha.families.protocols import ENDLESS, RewardModel
from topalpha.rules.protocol import Algorithm


class Cap(NamedTuple):
    """A proved number of pulls, or None; and the place of the proof, or the reason why there is none.

    Examples
    --------
    >>> Cap(None, "no cap is proved for joint-lucb").pulls is None
    True
    """

    pulls: int | None
    source: str


def sure_cap(algorithm: Algorithm) -> Cap:
    """The number of pulls that no run exceeds, if one is proved (rounding may add about a pull per arm).

    Examples
    --------
    >>> from topalpha import design
    >>> sure_cap(design("cc-lucb", 0.05, 0.05, 0.05))
    Cap(pulls=2250246, source='docs/proofs.md, C.3')
    >>> sure_cap(design("joint-lucb", 0.05, 0.05, 0.05))
    Cap(pulls=None, source='no cap is proved for joint-lucb')
    """
    proxy = _variance_proxy(algorithm.family)
    pulls, source = None, ""
    if proxy is not None and isinstance(algorithm, CCLUCB):
        pulls, source = _constant_confidence(algorithm, proxy), "docs/proofs.md, C.3"
    elif proxy is not None and isinstance(algorithm, LUCBPlusPlus):
        pulls, source = _mixtures(algorithm, proxy), "docs/proofs.md, B.2"
    elif proxy is not None and isinstance(algorithm, KLLUCB):
        pulls, source = _paper(algorithm, proxy), "docs/proofs.md, A.3"
    if pulls is not None:
        return Cap(pulls, source)
    if algorithm.family.capacity < ENDLESS:
        return Cap(algorithm.arms * algorithm.family.capacity, "every example of every candidate")
    known = isinstance(algorithm, (CCLUCB, LUCBPlusPlus, KLLUCB))
    name = algorithm.traits.name
    what = f"{name} with these {'rewards' if proxy is None else 'options'}" if known else name
    return Cap(None, f"no cap is proved for {what}")


def _variance_proxy(family: RewardModel) -> float | None:
    """The variance proxy of the rewards, for the proofs: 1/4 in [0, 1] (Hoeffding), sigma^2 if sub-Gaussian."""
    if isinstance(family, Bernoulli):
        return 0.25
    return family.sigma * family.sigma if isinstance(family, Gaussian) else None


def _constant_confidence(algorithm: CCLUCB, proxy: float) -> int | None:
    """Proposition C3: n + 2n(n_L - 1) with n_L = ceil(8 v ln(n / (w delta_L)) / epsilon^2), v the variance proxy."""
    bounds = algorithm.confidence
    if not isinstance(bounds, TiltBounds) or bounds.upper_threshold > bounds.lower_threshold:
        return None
    tables = bounds.tables()
    if not math.isclose(tables.up_tilts[0], 0.5 * algorithm.epsilon / proxy):
        return None
    nats = bounds.lower_threshold - tables.log_weights[0]
    enough = math.ceil(8.0 * proxy * nats / algorithm.epsilon**2)
    return algorithm.arms + 2 * algorithm.arms * (enough - 1)


def _mixtures(algorithm: LUCBPlusPlus, proxy: float) -> int:
    """Section B.2: each round pulls an arm with N < n_L, n_L the root of N epsilon^2 / (8 v) = ln(4n/delta) + R(N)."""

    def redundancy(pulls: float) -> float:
        if isinstance(algorithm.family, Gaussian):
            return algorithm.family.redundancy(0.0, math.floor(pulls))  # depends on the number of pulls only
        return 0.5 * math.log(pulls) + math.log(2.0)

    factor = 8.0 * proxy / algorithm.epsilon**2
    enough = math.ceil(_last_crossing(lambda pulls: factor * (algorithm.lower_threshold + redundancy(pulls))))
    return algorithm.arms + 2 * algorithm.arms * (enough - 1)


def _paper(algorithm: KLLUCB, proxy: float) -> int | None:
    """Section A.3: no run continues at a time T with (T - n)/2 > n (1 + 8 v beta(T) / epsilon^2)."""
    if algorithm.least_only or algorithm.overlapping_only:
        return None
    factor = 8.0 * proxy / algorithm.epsilon**2

    def longest(time: float) -> float:
        rate = algorithm.offset + algorithm.gamma * math.log(time)  # label explo-rate
        return algorithm.arms * (3.0 + 2.0 * factor * rate)

    return math.floor(_last_crossing(longest))


def _last_crossing(curve: Callable[[float], float]) -> float:
    """The largest x with x <= curve(x), from above, for a curve that grows more slowly than x."""
    x = 2.0
    while curve(x) >= x:
        x *= 2.0
    while (following := curve(x)) < x * (1.0 - 1e-15):
        x = following
    return x
