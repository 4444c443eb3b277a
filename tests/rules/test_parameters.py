"""Named tuples with inherited fields: what algorithms and the compiler use of them."""

from __future__ import annotations

import pickle

import pytest

from topalpha.algorithms import ALGORITHMS, design
from topalpha.rules.generic import Counting
from topalpha.rules.parameters import Named, Parameters


class Coin(Counting, Parameters):
    """A class with a borrowed rule and a field of its own."""

    family: int
    bias: float
    traits = "a class attribute"


class FairCoin(Coin):
    """A class with one more field."""

    stake: float


def test_fields_of_bases_come_first_and_keep_their_places():
    assert Named._fields == ()
    assert Coin._fields == (*Parameters._fields, "bias")
    assert FairCoin._fields == ("alpha", "epsilon", "delta", "arms", "family", "bias", "stake")


def test_they_are_tuples_of_their_fields_and_of_nothing_else():
    coin = FairCoin(0.1, 0.2, 0.3, 4, None, 0.5, stake=2.0)
    assert coin == (0.1, 0.2, 0.3, 4, None, 0.5, 2.0)
    assert repr(coin).startswith("FairCoin(alpha=0.1, ")
    assert coin._replace(bias=0.6).bias == 0.6
    assert type(coin._replace(bias=0.6)) is FairCoin
    assert FairCoin(**coin._asdict()) == coin == pickle.loads(pickle.dumps(coin))
    assert isinstance(coin, Coin)
    for name in ("bias", "other"):
        with pytest.raises(AttributeError):
            setattr(coin, name, 1.0)
    with pytest.raises(TypeError):
        Coin(0.1, 0.2, 0.3, 4, None)


def test_every_algorithm_begins_with_the_target():
    for entry in ALGORITHMS:
        known = {"budget": 100, "threshold": 0.5, "low": 0.2, "high": 0.8}
        known = {name: value for name, value in known.items() if name in entry.defaults}
        if "low" in known:
            known["share"] = 0.2
        made = design(entry.name, 0.1, 0.2, 0.1, **known)
        assert made._fields[:5] == Parameters._fields
        assert pickle.loads(pickle.dumps(made)) == made
        assert type(made)(**made._asdict()) == made
