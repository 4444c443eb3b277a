"""Whatever is given to a public function, it works or it is refused in one sentence that names what was wrong."""

from __future__ import annotations

import asyncio
import json
import math
import re
import sqlite3
from contextlib import closing
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import topalpha
from topalpha import (
    PullFailed,
    Search,
    Session,
    Task,
    asearch,
    design,
    parse_family,
    plan,
    resume,
    search,
    select,
    verify,
)
from topalpha.ask_tell import fingerprint
from topalpha.families import Gaussian
from topalpha.research.comparison import Comparison, ComparisonCase, Contender
from topalpha.reservoirs import Dirac
from topalpha.simulation import simulate
from topalpha.storage import read
from topalpha.validate import quoted

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
    target = (
        "alpha",
        "epsilon",
        "delta",
        "family",
        "minimise",
        "algorithm",
        "options",
        "seed",
        "about",
        "on_error",
        "on_lost",
    )
    kept = ("storage", "name", "pickle", "durable", "interval", "code")
    how = (
        "executor",
        "workers",
        "width",
        "pulls",
        "seconds",
        "cost",
        "cost_of",
        "retries",
        "timeout",
        "callbacks",
        "patience",
    )
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
    for name in ("runs", "seed", "workers", "executor", "algorithm", "reservoir", "limit"):
        given = {
            "algorithm": made,
            "reservoir": Dirac(0.5),
            "runs": 1,
            "limit": 0,
        }  # refused by its limit
        given |= {"runs": 0} if name == "limit" else {}
        yield "simulate", name, lambda one, name=name, given=given: simulate(**{**given, name: one})
    for name in ("alpha", "epsilon", "delta", "family", "minimise", "algorithm", "seed", "workers", "runs"):
        given = {**TARGET, "pilot": "no/such/pilot.csv"}  # at the latest refused by its pilot
        yield "plan", name, lambda one, name=name, given=given: plan(**{**given, name: one})
    for name in ("contenders", "cases", "family", "budgets", "runs", "seed", "limit"):
        given = {"contenders": (Contender("cc-lucb"),), "cases": (ComparisonCase("dirac(0.5)", 0.1, 0.1, 0.1),)}
        yield "Comparison", name, lambda one, name=name, given=given: Comparison(**{**given, name: one})
    yield (
        "ComparisonCase",
        "alpha",
        lambda one: Comparison((Contender("cc-lucb"),), (ComparisonCase("dirac(0.5)", one, 0.1, 0.1),)),
    )
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


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Files that an odd name makes come to lie in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def told(error):
    """Whether an error is one sentence in the grammar that all have."""
    return isinstance(error, ValueError) and " must " in str(error) and ", got " in str(error)


@pytest.mark.parametrize("kind", sorted({entry for entry, _, _ in entries(None)}))
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_public_function_fails_in_another_way_than_in_one_sentence(storage, kind, data):
    for entry, name, call in [one for one in entries(storage) if one[0] == kind]:
        one = data.draw(ODD)
        failure = None
        try:
            call(one)
        except Exception as error:
            failure = error
        fine = failure is None or told(failure) or isinstance(failure, PullFailed)  # of a pull that got an odd item
        assert fine, (entry, name, quoted(one), repr(failure))


NUMBERS = {"alpha": np.float64(0.3), "epsilon": np.float32(0.25), "delta": np.float64(0.2), "seed": np.int64(3)}


def test_numbers_of_numpy_are_stored_as_plain_ones(path):
    found = search(draw, pull, **NUMBERS, minimise=np.bool_(False), pulls=np.int64(12), storage=path, progress="none")
    kept = read(path).config["task"]
    assert {name: type(kept[name]) for name in (*NUMBERS, "minimise")} == {
        **dict.fromkeys(("alpha", "epsilon", "delta"), float),
        **{"seed": int, "minimise": bool},
    }
    assert (kept["alpha"], kept["epsilon"], kept["seed"]) == (0.3, 0.25, 3)
    assert found.pulls == 12
    assert verify(path) == found.certificate


def test_numbers_of_numpy_are_stored_as_plain_ones_within_options_and_families(path):
    options, family = {"delta_u": np.float64(0.3)}, Gaussian(np.float64(0.5))
    search(draw, pull, **QUIET, algorithm="cc-lucb", options=options, family=family, storage=path)
    kept = read(path).config["task"]
    assert kept["options"] == {"delta_u": 0.3}
    assert kept["family"] == "gaussian(sigma=0.5)"
    assert verify(path).pulls == 12


@pytest.mark.parametrize("name", ["alpha", "epsilon", "delta"])
@pytest.mark.parametrize("value", ["0.3", Decimal("0.3"), b"0.3", None, [0.3]])
def test_what_is_no_number_is_refused_by_name(name, value):
    for call in (
        lambda: search(draw, pull, **{**QUIET, name: value}),
        lambda: Task(**{**TARGET, name: value}),
        lambda: design("cc-lucb", **{**TARGET, name: value}),
        *([] if (name, value) == ("alpha", None) else [lambda: plan(**{**TARGET, name: value})]),  # None is its default
    ):
        with pytest.raises(ValueError, match=f"^{name} must be a real number, got "):
            call()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"minimise": "yes"}, "minimise must be True or False, got 'yes'"),
        ({"minimise": 1}, "minimise must be True or False, got 1"),
        ({"pickle": "no"}, "pickle must be True or False, got 'no'"),
        ({"about": b"x"}, "about must be text, got b'x'"),
        ({"options": 3}, "options must be a mapping of names to values, got 3"),
        ({"algorithm": 0}, "algorithm must be text, got 0"),
        ({"epsilon": 1e-300}, "epsilon must be at least 1e-15 for floating-point arithmetic, got 1e-300"),
        ({"seconds": "3"}, "seconds must be a real number, got '3'"),
        ({"cost": 3, "cost_of": "1"}, "cost_of must be a real number, got '1'"),
        ({"interval": "3"}, "interval must be a real number, got '3'"),
        ({"callbacks": 3}, "callbacks must be functions, got 3"),
        ({"code": 3}, "code must be a mapping of names to places, got 3"),
        ({"seed": 2**300}, "seed must be at most "),
        ({"workers": 10**9}, "workers must be at most 10000, got 1000000000"),
        ({"pulls": 10**20}, "pulls must be at most 9223372036854775807, got 100000000000000000000"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(path, setting, words):
    with pytest.raises(ValueError, match="^" + re.escape(words)):
        search(draw, pull, **{**QUIET, "storage": path, **setting})
    assert not path.exists()


def test_coroutines_wait_for_one_pull_at_least():
    with pytest.raises(ValueError, match="width must be a whole number of at least 1, got 0"):
        asyncio.run(asearch(draw, remote, **QUIET, width=0))


@pytest.mark.parametrize("reward", ["1", b"1", None, Decimal(1), 1j, [1.0], np.array([1.0]), np.array("1")])
def test_a_reward_is_a_real_number(reward):
    one = Search(design("cc-lucb", *TARGET.values()))
    with pytest.raises(ValueError, match="reward must be a real number, got "):
        one.tell(one.ask(), reward)
    assert one.told == 0


@pytest.mark.parametrize("reward", [True, np.bool_(True), 1, np.int8(1), np.float32(1.0), np.array(1.0), Fraction(1)])
def test_whatever_is_a_real_number_is_a_reward(reward):
    one = Search(design("cc-lucb", *TARGET.values()))
    one.tell(one.ask(), reward)
    assert one.rewards == [[1.0]]


@pytest.mark.parametrize(
    "kept",
    [{"epsilon": 1}, {"alpha": "0.3"}, {"epsilon": "0.3"}, {"minimise": "yes"}, {"minimise": 1}],
    ids=str,
)
def test_files_that_kept_what_was_given_as_it_was_still_open(path, kept):
    """Earlier versions took text for numbers and anything for true, and wrote it down like that."""
    meant = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "minimise": False}
    meant |= {name: True if name == "minimise" else float(value) for name, value in kept.items()}
    search(draw, pull, **meant, family="range(0,2)", storage=path, progress="none", pulls=12)
    with closing(sqlite3.connect(path)) as connection, connection:
        config, certificate = map(json.loads, connection.execute("SELECT config, certificate FROM searches").fetchone())
        config["task"].update(kept)
        certificate.update(kept)
        connection.execute("UPDATE searches SET config = ?", (json.dumps(config),))
        connection.commit()
        certificate["digest"] = fingerprint(read(path))
        connection.execute("UPDATE searches SET certificate = ?", (json.dumps(certificate),))
    assert verify(path).pulls == 12
    assert resume(path, draw, pull, progress="none").stopped
