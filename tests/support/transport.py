"""The transportation cost by brute force, and the redundancy of Krichevsky and Trofimov."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaln


def brute_force(family, mean, pulls, rival, others, epsilon):
    """W from a grid and a bounded minimisation around its best point: never below the true one but for rounding."""
    if rival >= mean + epsilon:
        return 0.0
    low, high = max(family.lowest, rival - epsilon), min(mean, family.highest - epsilon)
    if high < family.lowest:
        return math.inf

    def cost(point):
        moved = min(point + epsilon, family.highest)
        return pulls * family.divergence(mean, point) + others * family.divergence(rival, moved)

    if high <= low:
        return cost(high)
    grid = np.linspace(low, high, 501)
    values = [cost(point) for point in grid]
    best = int(np.argmin(values))
    ends = (grid[max(best - 1, 0)], grid[min(best + 1, 500)])
    found = minimize_scalar(cost, bounds=ends, method="bounded", options={"xatol": 1e-12 * (high - low)})
    return min(min(values), found.fun)


def kt_redundancy(total, pulls):
    mean = total / pulls
    likelihood = sum(count * math.log(share) for count, share in ((total, mean), (pulls - total, 1 - mean)) if count)
    return likelihood - betaln(total + 0.5, pulls - total + 0.5) + math.log(math.pi)
