"""Whatever is given to a public function, it works or it is refused in one sentence that names what was wrong."""

from __future__ import annotations

import asyncio
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topalpha
from topalpha import Search, Session, Task, asearch, design, parse_family, plan, resume, search, select, verify
from topalpha.comparison import Case, Comparison, Contender
from topalpha.families import Gaussian
from topalpha.reservoirs import Dirac
from topalpha.running import Running
from topalpha.simulation import interpret, simulate
from topalpha.validate import LARGEST

TARGET = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2}
QUIET = {**TARGET, "progress": "none", "pulls": 12}


def draw(rng):
    return float(rng.random())


def pull(candidate, rng):
    return float(rng.random() < candidate)


async def remote(candidate, rng):
    return float(rng.random() < candidate)


def passes(candidate, example):
    return candidate % example == 0


class Nameless:
    """Something that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError("no")


ODD = st.one_of(
    st.sampled_from(
        [
            *(None, True, False, np.bool_(True), "", "0.3", "3", "yes", "\x1b[2J", "\ud800", b"x", b"3"),
            *(0, 1, -1, 3, 2**31, 2**63, 2**64, 10**30, 10**400, 10**5000, -(10**400)),
            *(0.0, -0.0, 0.3, -0.3, 1e-300, 5e-324, 1e300, math.nan, math.inf, -math.inf),
            *(Decimal("0.3"), Decimal("NaN"), Fraction(3, 10), Fraction(10**400), 0.3j, np.complex128(0.3)),
            *(np.float64(0.3), np.float32(0.25), np.int64(3), np.uint8(3), np.float64("nan")),
            *(np.array(0.3), np.array(3), np.array([0.3]), np.array([]), np.array("0.3"), np.datetime64("2024-01-01")),
            *((), [], {}, [0.3], (1, 2), {"x": 1}, {1: 2}, set(), object(), Nameless(), np.random),
        ]
    ),
    st.floats(),
    st.integers(),
    st.text(max_size=5),
)


def entries(storage):
    """Every public entry, as a function of one named argument, by the name of the entry and of the argument."""
    target = ("alpha", "epsilon", "delta", "family", "minimise", "algorithm", "options", "seed", "about", "on_error")
    kept = ("storage", "name", "pickle", "durable", "interval", "code")
    how = ("executor", "workers", "width", "pulls", "seconds", "cost", "cost_of", "retries", "timeout", "callbacks")
    for name in (*target, *kept, *how, "progress", "items", "draw", "pull"):
        given = {"draw": draw, "pull": pull, **QUIET}
        yield "search", name, lambda one, name=name, given=given: search(**{**given, name: one})
    for name in ("alpha", "width", "seed", "minimise", "seconds"):
        given = {"draw": draw, "pull": remote, **QUIET}
        yield "asearch", name, lambda one, name=name, given=given: asyncio.run(asearch(**{**given, name: one}))
    for name in ("path", "name", "allow_pickle", "durable", "interval", "items", "draw", "pull"):
        given = {"path": storage, "draw": draw, "pull": pull, "progress": "none"}
        yield "resume", name, lambda one, name=name, given=given: resume(**{**given, name: one})
    for name in ("path", "name", "certificate", "allow_pickle"):
        yield "verify", name, lambda one, name=name: verify(**{"path": storage, name: one})
    for name in ("candidates", "examples", "evaluate", "alpha", "epsilon", "seed", "resume", "algorithm", "width"):
        given = {"candidates": [6, 7, 8], "examples": [2, 3, 5, 7], "evaluate": passes, "progress": "none"}
        yield "select", name, lambda one, name=name, given=given: select(**{**given, name: one})
    for name in (*target, "pool", "items"):
        yield "Task", name, lambda one, name=name: Task(**{**TARGET, name: one})
    for name in ("task", "storage", "name"):
        yield "Session", name, lambda one, name=name: Session.start(**{"task": Task(0.3, 0.3, 0.2), name: one}).close()
    for name in ("name", "alpha", "epsilon", "delta", "family", "delta_u", "draw_share", "bounds", "pool"):
        yield "design", name, lambda one, name=name: design(**{"name": "cc-lucb", **TARGET, name: one})
    made = design("cc-lucb", *TARGET.values())
    for name in ("algorithm", "seed", "model"):
        yield "Search", name, lambda one, name=name: Search(**{"algorithm": made, name: one}).ask()
    yield "tell", "reward", lambda one: _told(made, one)
    yield "tell", "pull", lambda one: Search(made).tell(one, 1.0)
    yield "ask_many", "width", lambda one: Search(made).ask_many(one if one != 2**31 else 3)
    for name in ("runs", "seed", "workers", "limit", "executor", "algorithm", "reservoir"):
        few = lambda one: one if not isinstance(one, int) or one > LARGEST or one < 1 else "some"  # noqa: E731
        given = {"algorithm": made, "reservoir": Dirac(0.5), "runs": 0}  # refused at the latest by its runs
        yield "simulate", name, lambda one, name=name, given=given, few=few: simulate(**{**given, name: few(one)})
    for name in ("alpha", "epsilon", "delta", "family", "minimise", "algorithm", "seed", "workers", "pilot", "runs"):
        given = {**TARGET, "runs": 0}
        yield "plan", name, lambda one, name=name, given=given: plan(**{**given, name: one if name != "runs" else "1"})
    for name in ("contenders", "cases", "family", "budgets", "runs", "seed", "limit"):
        given = {"contenders": (Contender("cc-lucb"),), "cases": (Case("dirac(0.5)", 0.1, 0.1, 0.1),)}
        yield "Comparison", name, lambda one, name=name, given=given: Comparison(**{**given, name: one})
    yield "Case", "alpha", lambda one: Comparison((Contender("cc-lucb"),), (Case("dirac(0.5)", one, 0.1, 0.1),))
    yield "parse_family", "text", parse_family
    yield "parse_reservoir", "text", topalpha.parse_reservoir
    yield "Gaussian", "sigma", lambda one: design("cc-lucb", 0.3, 0.3, 0.2, Gaussian(one))


def _told(algorithm, reward):
    one = Search(algorithm)
    one.tell(one.ask(), reward)


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    path = tmp_path_factory.mktemp("inputs") / "searches.db"
    search(draw, pull, **QUIET, storage=path)
    return path


@settings(max_examples=15)
@given(data=st.data())
def test_no_public_function_fails_in_another_way_than_in_one_sentence(storage, data, monkeypatch_module):
    for entry, name, call in entries(storage):
        one = data.draw(ODD, label=f"{name} of {entry}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                call(one)
        except ValueError as error:
            assert len(str(error).splitlines()) <= 1 or "\n" in repr(one), (entry, name, one)


@pytest.fixture(scope="module", autouse=True)
def monkeypatch_module(tmp_path_factory):
    """Files that an odd name makes come to lie in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("odd"))
        yield patch
