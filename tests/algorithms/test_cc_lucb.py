"""cc-lucb: its running bound is exact, it stops when it should, and its levels add up."""

from __future__ import annotations

import json
import math

import mpmath
import numpy as np
import pytest

from tests.support.feeding import observed
from tests.support.folders import DATA
from tests.support.marks import quick
from topalpha.algorithms import design
from topalpha.confidence.tilt import log_mixture, tilt_bound
from topalpha.families import Bernoulli
from topalpha.rules.columns import LOWER, UPPER
from topalpha.rules.protocol import History

VECTORS = json.loads((DATA / "vectors.json").read_text())


def exact_tilt_bound(tilts, weights, total, pulls, threshold, sign):
    """Where ln sum_j w_j exp(h_j S) / (1 + mu (e^h_j - 1))^N crosses the threshold, by bisection; sign -1: U, +1: L."""

    def value(mean):
        return mpmath.log(
            mpmath.fsum(
                w * mpmath.exp(h * total) * (1 + mean * mpmath.expm1(h)) ** (-pulls)
                for h, w in zip(tilts, weights, strict=True)
            )
        )

    inside, outside = mpmath.mpf(total) / pulls, mpmath.mpf(1 if sign < 0 else 0)
    if value(outside) < threshold:
        return outside
    for _ in range(60):
        middle = (inside + outside) / 2
        if value(middle) < threshold:
            inside = middle
        else:
            outside = middle
    return outside


@pytest.mark.parametrize("row", VECTORS["bernoulli_tilt_mixture"], ids=lambda row: f"{row['S']}-{row['N']}-{row['x']}")
def test_tilt_mixture_vectors(row):
    """J tilts in geometric progression from h_min to h_max, of equal weight."""
    sizes = np.geomspace(row["h_min"], row["h_max"], row["J"]).tolist()
    log_weights = [-math.log(row["J"])] * row["J"]
    down = [-size for size in sizes], [math.expm1(-size) for size in sizes], log_weights
    upper = tilt_bound(Bernoulli(), row["S"], row["N"], row["x"], *down, 1.0)
    assert row["U"] - 1e-12 <= upper <= row["U"] + 1e-9
    mirrored = tilt_bound(Bernoulli(), row["N"] - row["S"], row["N"], row["x"], *down, 1.0)
    assert 1.0 - mirrored == pytest.approx(row["L"], abs=1e-9)
    if row["L"] > 0.0:
        up = sizes, [math.expm1(size) for size in sizes], log_weights
        assert log_mixture(Bernoulli(), row["L"], row["S"], row["N"], *up)[0] == pytest.approx(row["x"], abs=1e-6)
    exact = exact_tilt_bound(down[0], [1.0 / row["J"]] * row["J"], row["S"], row["N"], row["x"], -1)
    assert float(exact) == pytest.approx(row["U"], abs=1e-12)


@pytest.mark.parametrize("mean", quick([0.02, 0.5, 0.9], [0.5]))
def test_the_running_bound_of_cc_lucb_is_the_least_exact_bound_so_far(mean):
    algorithm = design("cc-lucb", 0.05, 0.05, 0.05)
    rng = np.random.default_rng(3)
    # a drift upward after a poor start makes the running minimum differ from the bound of the moment
    rewards = [float(rng.random() < (0.5 * mean if t < 20 else mean)) for t in range(60)]
    least, total, moved = 1.0, 0.0, 0
    for t, row, memory in observed(algorithm, rewards):
        total += rewards[t - 1]
        tilts, weights = memory.lookup.down_tilts, [math.exp(w) for w in memory.lookup.log_weights]
        assert sum(weights) == pytest.approx(1.0)
        now = float(exact_tilt_bound(tilts, weights, total, t, algorithm.confidence.upper_threshold, -1))
        moved += now > least + 1e-6
        least = min(least, now)
        assert least - 1e-12 <= row[UPPER] <= least + 1e-9
    assert moved > 10, "the stream must show a difference between the running bound and that of the moment"


def test_cc_lucb_stops_when_the_leaders_lower_bound_says_so():
    algorithm = design("cc-lucb", 0.2, 0.2, 0.1)
    lookup = algorithm.confidence.tables()
    weights = [math.exp(w) for w in lookup.log_weights]
    rng = np.random.default_rng(5)
    for _ in range(40):
        pulls = int(rng.integers(5, 400))
        total = float(rng.integers(0, pulls + 1))
        lower = float(exact_tilt_bound(lookup.up_tilts, weights, total, pulls, algorithm.confidence.lower_threshold, 1))
        for shift, reached in ((-1e-7, True), (1e-7, False)):
            history = History(pulls, 1, [pulls], [[total], [1.0], [0.0]], [])
            assert algorithm.confidence.reaches(history, lookup, 0, lower + shift) == (reached or lower + shift <= 0.0)
        # the bound is remembered when it comes close, and counts for good
        assert history.stats[LOWER][0] == pytest.approx(lower, abs=1e-9)
        history.stats[0][0] = 0.0
        assert algorithm.confidence.reaches(history, lookup, 0, lower - 1e-8)
        assert not algorithm.confidence.reaches(history, lookup, 0, lower + 1e-8)


def test_levels_of_cc_lucb_add_up():
    for alpha in (0.01, 0.05, 0.3):
        for delta in (1e-8, 0.05, 0.5):
            algorithm = design("cc-lucb", alpha, 0.1, delta)
            delta_u = math.exp(-algorithm.confidence.upper_threshold)
            missed = (1.0 - alpha * (1.0 - delta_u)) ** algorithm.arms
            lower = algorithm.arms * (1.0 - alpha) * math.exp(-algorithm.confidence.lower_threshold)
            assert missed + lower <= delta * (1.0 + 1e-9)
            assert missed + lower >= 0.5 * delta, "levels must not be wasted"
