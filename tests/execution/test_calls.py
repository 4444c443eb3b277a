"""Functions of the user: what they are given, which are refused, and the candidates and items that they get."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from tests.support.driving import Books, acoin, coin, draw
from topalpha import Pull
from topalpha.execution import Calls, PullFailed


def test_a_generator_is_passed_to_those_who_take_one():
    def optional(candidate, threshold=0.5):
        return threshold

    def named(candidate, rng=None):
        return rng.random()

    def keyword(candidate, *, rng):
        return rng.random()

    def later(candidate, threshold=0.5, rng=None):
        return threshold + rng.random()

    pull = Pull(2, 5, 9)
    values = [Calls(draw, each, seed=3).evaluation(pull, 0.0)() for each in (named, keyword, coin, later, optional)]
    assert values[0] == values[1] == values[3] - 0.5 > 0.0
    assert values[4] == 0.5
    assert Calls(draw, math.sqrt, seed=3).evaluation(pull, 4.0)() == 2.0
    assert Calls(draw, max, seed=3, items=[7.0]).evaluation(Pull(0, 0, 0), 4.0)() == 7.0, "a builtin without signature"
    assert Calls(draw, functools.partial(later, threshold=1.0), seed=3).evaluation(pull, 0.0)() == values[0] + 1.0
    with_item = Calls(draw, lambda candidate, item, rng: item + rng.random(), seed=3, items=[10.0] * 9)
    assert with_item.evaluation(pull, 0.0)() == 10.0 + values[0]


@pytest.mark.parametrize("pull", [lambda: 0.0, lambda a, b, c: 0.0, lambda a, *, other: 0.0, 7])
def test_a_function_of_another_shape_is_refused(pull):
    with pytest.raises(ValueError, match=r"^pull must (take \(candidate\) or \(candidate, rng\), got|be a function)"):
        Calls(draw, pull, seed=0)


@pytest.mark.parametrize("source", ["text", [], {1, 2}, lambda a, b: 0.0])
def test_a_source_of_another_shape_is_refused(source):
    with pytest.raises(ValueError, match=r"^draw must"):
        Calls(source, coin, seed=0)


def test_candidates_can_be_drawn_again():
    calls, again, other = (Calls(draw, coin, seed=seed) for seed in (1, 1, 2))
    assert calls.candidate(4) == again.candidate(4) != calls.candidate(5)
    assert calls.candidate(4) != other.candidate(4)
    assert Calls(lambda: "same", coin, seed=0).candidate(0) == "same"


@pytest.mark.parametrize("names", [list("abcdefgh"), np.arange(8), range(8)], ids=["list", "array", "range"])
def test_a_list_is_drawn_in_random_order_without_replacement(names):
    calls = Calls(names, coin, seed=1)
    order = [calls.candidate(arm) for arm in range(calls.pool)]
    assert sorted(order) == list(names)
    assert order != list(names)
    assert order != [Calls(names, coin, seed=2).candidate(arm) for arm in range(8)]
    with pytest.raises(ValueError, match="arm must be below 8, the number of candidates, got 8"):
        calls.candidate(8)


def test_each_arm_meets_every_item_once_in_an_order_of_its_own():
    items = [float(item) for item in range(20)]
    calls = Calls(draw, lambda candidate, item: item, seed=1, items=items)
    orders = [[calls.evaluation(Pull(arm, number, 0), 0.0)() for number in range(20)] for arm in range(2)]
    assert sorted(orders[0]) == sorted(orders[1]) == items
    assert orders[0] != orders[1]
    with pytest.raises(ValueError, match="pull must be one of 20"):
        calls.evaluation(Pull(0, 20, 0), 0.0)


@pytest.mark.parametrize("value", ["0.5", None, 1j, [1.0], np.array([1.0]), math.nan], ids=repr)
def test_what_is_no_number_is_no_reward(value):
    books = Books()
    with pytest.raises(PullFailed, match="reward must be a real number"):
        books.run(Calls(draw, lambda candidate: value, seed=0))
    assert isinstance(Calls(draw, lambda c: np.float32(1), seed=0).evaluation(Pull(0, 0, 0), 0)(), float)


def test_coroutine_functions_are_recognised():
    class Asynchronous:
        async def __call__(self, candidate):
            return 0.0

    for pull in (acoin, functools.partial(acoin, rng=None), Asynchronous()):
        assert Calls(draw, pull, seed=0).asynchronous
    assert not Calls(draw, coin, seed=0).asynchronous
    with pytest.raises(ValueError, match="pull must be a plain function here"):
        Books().run(Calls(draw, acoin, seed=0))
    with pytest.raises(ValueError, match="draw must be a plain function"):
        Calls(acoin, coin, seed=0)
