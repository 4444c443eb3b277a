"""What a pickle says is read without loading it: nothing of it runs, and it is never wrong."""

import os
import pickle
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topalpha.storage import Storage, candidates
from topalpha.storage.encoding import PICKLED, shown
from topalpha.storage.pickles import values_in
from topalpha.storage.tables import LONGEST_PICKLE

Pair = namedtuple("Pair", "rate size")


@dataclass
class Setting:
    rate: float
    size: int
    kind: object = None


@dataclass(frozen=True, slots=True)
class Slotted:
    rate: float
    size: int


class Kind(Enum):
    WIDE = 1


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def said(value):
    return values_in(pickle.dumps(value, protocol=5))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (Setting(0.5, 2), {"rate": 0.5, "size": 2, "kind": None}),
        (Setting(np.float64(0.25), np.int64(3), np.bool_(True)), {"rate": 0.25, "size": 3, "kind": True}),
        (Setting(float("inf"), 2, Setting(1.0, 3, "deep")), None),
        (Setting(0.5, 2, Kind.WIDE), {"rate": 0.5, "size": 2, "kind": "…"}),
        (Setting(0.5, 2, np.arange(3)), {"rate": 0.5, "size": 2, "kind": "…"}),
        (Setting(0.5, 2, Setting), {"rate": 0.5, "size": 2, "kind": "Setting"}),
        (Pair(0.123456, 2), "Pair(0.1235, 2)"),
        (Slotted(0.5, 2), "Slotted(0.5, 2)"),
        ((64, (32, "a")), [64, [32, "a"]]),
    ],
)
def test_values_and_fields_are_said(value, found):
    if found is None:
        found = {"rate": "inf", "size": 2, "kind": "Setting(rate=1, size=3, kind=deep)"}
    assert said(value) == found


def test_the_parameters_of_an_estimator_are_said():
    svm = pytest.importorskip("sklearn.svm")
    found = said(svm.SVC(C=2.5))
    assert (found["C"], found["kernel"]) == (2.5, "rbf")
    assert not any(name.startswith("_") for name in found)


@pytest.mark.parametrize("make", [lambda trap: trap, lambda trap: [trap], lambda trap: Setting(0.5, 2, trap)])
def test_nothing_runs_and_nothing_is_imported(tmp_path, make):
    data = pickle.dumps(make(Trap(str(tmp_path / "sprung"))), protocol=5)
    assert "sprung" not in shown(data)
    assert not (tmp_path / "sprung").exists()
    pickle.loads(data)  # the negative control: loading it does
    assert (tmp_path / "sprung").exists()
    missing = pickle.dumps(Setting(0.5, 2), protocol=5).replace(b"test_pickles", b"gone_modules")
    assert values_in(missing) == {"rate": 0.5, "size": 2, "kind": None}


@pytest.mark.parametrize(
    "value", [Kind.WIDE, np.arange(3), b"bytes", Trap("x"), OrderedDict(a=1), "x" * LONGEST_PICKLE]
)
def test_what_only_its_class_can_make_stays_closed(value):
    data = pickle.dumps(value, protocol=5)
    with pytest.raises(ValueError, match="plain values"):
        values_in(data)
    assert shown(data) == PICKLED


def test_a_short_pickle_of_an_endless_thing_is_short():
    value = []
    for _ in range(60):
        value = [value] * 60
    assert len(str(said(value))) < 20_000
    value = []
    value.append(value)
    assert said(value) == ["…"]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_values_are_what_loading_gives(value):
    data = pickle.dumps(value, protocol=5)
    assert values_in(data) == pickle.loads(data) == value


@given(st.binary(max_size=60), st.integers(0, 80), st.integers(0, 255))
def test_anything_else_is_refused_in_one_way(noise, place, byte):
    data = bytearray(pickle.dumps(Setting(0.5, 2, [np.int64(3), {"a": Pair(1, 2)}]), protocol=5))
    data[place % len(data)] = byte
    for odd in (noise, b"\x80\x05" + noise + b".", bytes(data)):
        assert isinstance(shown(odd), str)


def test_frequent_readers_leave_long_pickles_in_the_file(tmp_path):
    with Storage(tmp_path / "searches.db") as storage:
        record = storage.create("first", {}, pickle=True)
        record.add_arm(0, Setting(0.5, 2))
        record.add_arm(1, Setting(0.5, 2, "x" * LONGEST_PICKLE))
        record.commit()
        found = candidates(storage.path, "first", range(2))
    assert found == {0: '{"rate": 0.5, "size": 2, "kind": null}', 1: PICKLED}
