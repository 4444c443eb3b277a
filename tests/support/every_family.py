"""All reward families, for tests that hold for each of them, and means and levels to try."""

from __future__ import annotations

import json

import mpmath
import pytest
from hypothesis import strategies as st

from tests.support.folders import DATA
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Poisson

VECTORS = json.loads((DATA / "vectors.json").read_text())

EVERY = [
    Bernoulli(),
    Gaussian(),
    Gaussian(0.5, 3.0),
    Poisson(),
    Poisson(4.0),
    Exponential(),
    Gamma(2.5),
    Gamma(0.3, 9.0),
]
UNLIMITED = [Bernoulli(), Gaussian(0.5), Poisson(), Exponential(), Gamma(2.5), Gamma(0.3)]

each = pytest.mark.parametrize("family", EVERY, ids=str)
each_unlimited = pytest.mark.parametrize("family", UNLIMITED, ids=str)

levels = st.one_of(
    st.floats(1e-12, 1e3),
    st.floats(1e-3, 3.0),
    st.sampled_from([1e-300, 1e-30, 1e-9, 1e-8, 2e-8, 0.7, 1.0, 40.0, 1000.0]),
)
positives = st.one_of(st.floats(1e-3, 1e2), st.floats(-250.0, 250.0).map(lambda power: 10.0**power))


def means_of(family):
    if isinstance(family, Bernoulli):
        near = st.floats(-280.0, 0.0).map(lambda power: 10.0**power)
        return st.one_of(st.floats(0.0, 1.0), near, near.map(lambda x: 1.0 - x)).filter(
            lambda x: x == 0.0 or x > 1e-290
        )
    if isinstance(family, Gaussian):
        return st.floats(-1e6, 1e6)
    return positives


def exact_divergence(family, mean, other):
    """d(mean, other), written again in high precision."""
    x, y = mpmath.mpf(mean), mpmath.mpf(other)
    if isinstance(family, Gaussian):
        return (x - y) ** 2 / (2 * mpmath.mpf(family.sigma) ** 2)
    if isinstance(family, Bernoulli):
        terms = [(x, y), (1 - x, 1 - y)]
        if any(q <= 0 < p for p, q in terms):
            return mpmath.inf
        return sum(p * mpmath.log(p / q) for p, q in terms if p > 0)
    if isinstance(family, Poisson):
        if x == 0:
            return y
        return y - x + x * mpmath.log(x / y) if y > 0 else mpmath.inf
    shape = mpmath.mpf(getattr(family, "shape", 1.0))
    return shape * (x / y - 1 - mpmath.log(x / y)) if x > 0 and y > 0 else mpmath.inf
