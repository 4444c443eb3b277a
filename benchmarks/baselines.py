"""Two plain programs of the paper's algorithm, to compare speed with: a NumPy loop, and a compiled loop.

Both follow the printed algorithm (label ``alg-alpha-kl-lucb``): every round they compute the upper and the lower bound
of every arm at the new rate. Ties are broken as in the package, so all three take the same decisions.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


def numpy_kl(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """kl(p, q) of arrays, with 0 ln 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(p > 0.0, p * np.log(p / q), 0.0)
        zero = np.where(p < 1.0, (1.0 - p) * np.log((1.0 - p) / (1.0 - q)), 0.0)
    return one + zero


def numpy_bounds(
    p: NDArray[np.float64], level: NDArray[np.float64], steps: int = 40
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Upper and lower bounds of all arms by bisection."""
    low, high = p.copy(), np.ones_like(p)
    under, over = np.zeros_like(p), p.copy()
    for _ in range(steps):
        middle = 0.5 * (low + high)
        inside = numpy_kl(p, middle) <= level
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        middle = 0.5 * (under + over)
        inside = numpy_kl(p, middle) <= level
        over, under = np.where(inside, middle, over), np.where(inside, under, middle)
    return high, under


def numpy_run(
    means: NDArray[np.float64], epsilon: float, offset: float, gamma: float, rng: Generator, budget: int
) -> int:
    """The paper's algorithm in plain vectorised NumPy; returns the pulls it spent, at most ``budget``."""
    arms = len(means)
    totals = (rng.random(arms) < means).astype(float)
    pulls = np.ones(arms)
    t = arms
    while t < budget:
        p = totals / pulls
        upper, lower = numpy_bounds(p, (offset + gamma * math.log(t)) / pulls)
        leader = int(np.lexsort((pulls, -p))[0])
        others = upper.copy()
        others[leader] = -np.inf
        challenger = int(np.lexsort((pulls, -others))[0])
        if upper[challenger] - lower[leader] <= epsilon:
            break
        for arm in (leader, challenger):
            totals[arm] += rng.random() < means[arm]
            pulls[arm] += 1
            t += 1
    return t


@numba.njit(cache=True)
def _kl(p: float, q: float) -> float:
    value = 0.0
    if p > 0.0:
        value += p * math.log(p / q)
    if p < 1.0:
        value += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return value


@numba.njit(cache=True)
def _upper(p: float, level: float) -> float:
    """Safeguarded Newton inside the bracket of Pinsker's inequality, to 1e-12."""
    if p >= 1.0:
        return 1.0
    low, high = p, min(1.0, p + math.sqrt(0.5 * level))
    q = 0.5 * (low + high)
    for _ in range(100):
        value = _kl(p, q) - level
        if value > 0.0:
            high = q
        else:
            low = q
        following = q - value * q * (1.0 - q) / (q - p)
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - q) < 1e-12:
            break
        q = following
    return high


@numba.njit(cache=True)
def compiled_run(
    means: NDArray[np.float64], epsilon: float, offset: float, gamma: float, rng: Generator, budget: int
) -> int:
    """The paper's algorithm in a plain compiled loop that inverts every bound in every round."""
    arms = len(means)
    totals = np.zeros(arms)
    pulls = np.ones(arms)
    for arm in range(arms):
        totals[arm] = 1.0 if rng.random() < means[arm] else 0.0
    upper = np.zeros(arms)
    lower = np.zeros(arms)
    t = arms
    while t < budget:
        rate = offset + gamma * math.log(t)
        leader = 0
        for arm in range(arms):
            p = totals[arm] / pulls[arm]
            upper[arm] = _upper(p, rate / pulls[arm])
            lower[arm] = 1.0 - _upper(1.0 - p, rate / pulls[arm])
            best = totals[leader] / pulls[leader]
            if p > best or (p == best and pulls[arm] < pulls[leader]):
                leader = arm
        challenger = -1
        for arm in range(arms):
            if arm == leader:
                continue
            if (
                challenger < 0
                or upper[arm] > upper[challenger]
                or (upper[arm] == upper[challenger] and pulls[arm] < pulls[challenger])
            ):
                challenger = arm
        if upper[challenger] - lower[leader] <= epsilon:
            break
        for arm in (leader, challenger):
            if rng.random() < means[arm]:
                totals[arm] += 1.0
            pulls[arm] += 1.0
            t += 1
    return t
