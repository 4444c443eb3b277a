"""Budgets and notices: what ends a run, and that the next one goes on."""

from __future__ import annotations

import math
import threading

import pytest

from tests.support.driving import Books, by_hand, coin, draw, evaluate
from topalpha.execution import Budget, Calls, Meter


@pytest.mark.parametrize("kind", [None, "threads", "asyncio"])
def test_pulls_are_never_more_than_the_budget(kind):
    for limit in (0, 1, 7, 30):
        books, calls = Books(("cc-lucb", 0.1, 0.1, 0.1)), Calls(draw, coin, seed=0)
        assert evaluate(books, calls, kind, "", budget=Budget(pulls=limit)) == "pulls"
        assert books.search.told == limit
        assert evaluate(books, calls, kind, "", budget=Budget(pulls=5)) == "pulls"
        assert books.search.told == limit + 5
        books.check()


def test_a_search_that_stops_with_its_last_pull_has_stopped():
    whole = by_hand().search.told
    books = Books()
    assert books.run(Calls(draw, coin, seed=0), budget=Budget(pulls=whole - 1)) == "pulls"
    assert books.run(Calls(draw, coin, seed=0), budget=Budget(pulls=1)) == "stopped"
    assert books.rewards == by_hand().rewards
    books = Books()
    assert books.run(Calls(draw, coin, seed=0), budget=Budget(pulls=whole)) == "stopped"
    assert books.run(Calls(draw, coin, seed=0)) == "stopped"


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_time_runs_out_while_waiting(kind):
    books, over = Books(), threading.Event()
    calls = Calls(draw, lambda mean: over.wait(), seed=0)
    assert evaluate(books, calls, kind, "", budget=Budget(seconds=0.5), patience=0.0) == "seconds"
    over.set()
    books.check()
    assert len(books.search.outstanding) == 3


def test_costs_add_up():
    books = Books(("cc-lucb", 0.1, 0.1, 0.1))
    meter = Meter(Budget(cost=5.0, cost_of=lambda mean, reward: 0.5))
    assert books.run(Calls(draw, coin, seed=0), budget=meter) == "cost"
    assert (books.search.told, meter.pulls, meter.cost) == (10, 10, 5.0)
    assert books.run(Calls(draw, coin, seed=0), budget=meter) == "cost", "it goes on counting"
    assert books.search.told == 10
    for bad in (math.nan, -1.0, math.inf):
        with pytest.raises(ValueError, match="cost must be"):
            books.run(Calls(draw, coin, seed=0), budget=Budget(cost=5.0, cost_of=bad))
        books.check()
    for wrong in (Budget(pulls=-1), Budget(seconds=-1.0), Budget(cost=-1.0, cost_of=1.0), Budget(cost=1.0)):
        with pytest.raises(ValueError, match=r"^(pulls|seconds|cost|cost_of) must be"):
            Meter(wrong)


@pytest.mark.parametrize("kind", [None, "threads", "asyncio"])
def test_a_notice_ends_the_run_and_the_next_one_goes_on(kind):
    books, calls, said = Books(), Calls(draw, coin, seed=0), []

    def notice():
        said.append(books.search.told)
        return "message" if len(said) == 3 else None

    assert evaluate(books, calls, kind, "", notice=notice) == "message"
    books.check()
    assert evaluate(books, calls, kind, "", notice=notice) == "stopped"
    books.check()


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_notices_come_while_nothing_else_happens(kind):
    said, over = [], threading.Event()

    def notice():
        said.append(len(said))
        return "enough" if len(said) == 5 else None

    calls = Calls(draw, lambda mean: over.wait(), seed=0)
    assert evaluate(Books(), calls, kind, "", notice=notice, poll=0.02, patience=0.0) == "enough"
    over.set()
