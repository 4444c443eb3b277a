"""All algorithms with a budget: their entries, every way to run them, and that no budget is exceeded."""

from __future__ import annotations

import hashlib
import math
import random

import pytest

from tests.support.budgets import RESERVOIR, made, reward_of, told
from topalpha import Search
from topalpha.algorithms import FIELD, design, entry
from topalpha.algorithms.field import hyperband, isha
from topalpha.families import Gaussian
from topalpha.reservoirs import Dirac, TwoPoint
from topalpha.simulation import simulate
from topalpha.testing import check_algorithm, check_design, interpreted

NAMES = ("isha", "hyperband", "siri", "bucb", "d-ttts")
#: Those whose proof or whose rule is for rewards in [0, 1].
UNIT = ("isha", "hyperband", "siri", "d-ttts")
TINY = (*range(1, 41), 63, 64, 65, 80, 81, 100, 243, 500)


def test_what_the_entries_say():
    entries = {name: entry(name) for name in NAMES}
    assert {entries[name].name for name in NAMES} <= {one.name for one in FIELD}
    assert [entries[name].guarantee for name in NAMES] == [
        "fixed-budget",
        "fixed-budget",
        "fixed-budget",
        "none",
        "none",
    ]
    for name, one in entries.items():
        assert one.budgeted
        assert one.rewards == ("unit" if name in UNIT else "any")
        assert not made(name, 10).traits.covered
        assert made(name, 10).traits.name == name


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_called_proved(name):
    search, _ = told(made(name, 30))
    assert search.stopped
    assert search.result.statement.startswith("Nothing is proved")


@pytest.mark.parametrize("name", NAMES)
def test_designs_refuse_with_one_sentence(name):
    check_design(entry(name).design, budget=50)
    for wrong in (None, 0, -1, 2.5, 50.0, 0.0, math.inf, math.nan, True, "many"):
        with pytest.raises(ValueError, match=r"^budget must be .*, got "):
            made(name, wrong)
    if name in UNIT:
        with pytest.raises(ValueError, match=r"^family must be bernoulli"):
            design(name, 0.1, 0.1, 0.1, Gaussian(0.5), budget=50)
    wrong_options = {
        "isha": ({"arms": -1}, {"arms": 2.5}, {"number": "many"}, {"arms": 17}),
        "hyperband": ({"eta": 1}, {"eta": 2.5}),
        "siri": ({"beta": 0.0}, {"share": 0.0}, {"scale": -1.0}, {"beta": math.nan}),
        "bucb": ({"draw_share": 0.0}, {"draw_share": 1.0}),
        "d-ttts": ({"arms": -1}, {"first": 0.0}, {"first": 1.0}, {"repeats": 0}),
    }
    for options in wrong_options[name]:
        with pytest.raises(ValueError, match=f"^{next(iter(options))} must "):
            made(name, 50, **options)


RUNS = {
    "isha": ("isha", {}),
    "isha five arms": ("isha", {"arms": 5}),
    "isha one arm": ("isha", {"arms": 1}),
    "isha bound": ("isha", {"number": "bound"}),
    "hyperband": ("hyperband", {}),
    "hyperband eta 2": ("hyperband", {"eta": 2}),
    "siri": ("siri", {}),
    "siri beta 2": ("siri", {"beta": 2.0, "share": 2.0}),
    "siri beta 3": ("siri", {"beta": 3.0, "scale": 0.25}),
    "bucb": ("bucb", {}),
    "d-ttts": ("d-ttts", {}),
    "d-ttts one arm": ("d-ttts", {"arms": 1}),
    "d-ttts no limit": ("d-ttts", {"arms": 400, "first": 0.3, "repeats": 2}),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", RUNS)
def test_every_way_to_run_agrees(case):
    name, options = RUNS[case]
    last = check_algorithm(made(name, 400, **options), RESERVOIR, seed=3)
    assert 200 < last.t <= 400


#: t, the arm and a digest of the order of pulls.
PINNED = {
    "isha": (386, 48, "82af448ff5348a1e"),
    "isha bound": (400, 1, "ce19db65e046e36a"),
    "hyperband": (384, 10, "9abdab2965f0885d"),
    "hyperband eta 2": (394, 38, "9957dae311264da8"),
    "siri": (400, 3, "428cc96de09bc5ee"),
    "siri beta 3": (400, 3, "a19ac483598e8d1a"),
    "bucb": (400, 3, "f4cf633152001e71"),
    "d-ttts": (400, 38, "61787ebd753cdcb5"),
    "d-ttts no limit": (400, 49, "22c7fbaff572b058"),
}


def trajectory(case):
    name, options = RUNS[case]
    last, record = interpreted(made(name, 400, **options), RESERVOIR, seed=2018)
    return last.t, last.arm, hashlib.sha256(",".join(str(step.arm) for step in record).encode()).hexdigest()[:16]


@pytest.mark.parametrize("case", PINNED)
def test_trajectories_stay_as_pinned(case):
    assert trajectory(case) == PINNED[case]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reservoir", [RESERVOIR, Dirac(0.0), Dirac(1.0)], ids=["beta", "all 0", "all 1"])
def test_no_budget_is_exceeded_and_the_pulls_are_those_of_the_design(name, reservoir):
    for budget in TINY:
        algorithm = made(name, budget)
        last, _ = interpreted(algorithm, reservoir, seed=budget)
        planned = {
            "isha": lambda a: sum(size * pulls for size, _, pulls in isha.schedule(a.arms, a.budget)),
            "hyperband": lambda a: sum(size * pulls for rounds in hyperband.schedule(a) for size, _, pulls in rounds),
        }.get(name, lambda a: a.budget)(algorithm)
        assert last.t == planned <= budget
        assert last.arms == algorithm.arms or (name == "d-ttts" and last.arms <= algorithm.arms)
        assert 2 * last.t > budget, "no design may leave half of its budget"


@pytest.mark.parametrize("name", NAMES)
def test_workers_change_nothing_but_the_order(name):
    """Rounds and brackets wait for what they need; the budget holds with any number of pulls in flight."""
    for seed in range(3):
        algorithm = made(name, 150)
        draw, search, out = random.Random(seed), Search(algorithm), []
        while not search.stopped:
            out += search.ask_many(draw.randrange(0, 12))
            draw.shuffle(out)
            for _ in range(draw.randrange(0, len(out) + 1)):
                pull = out.pop()
                search.tell(pull, reward_of(pull.arm, pull.number))
        assert search.asked <= 150
        assert not search.outstanding
        if name != "d-ttts":  # whose draws are made when a pull is asked for
            alone, _ = told(algorithm)
            assert list(search.history.pulls) == list(alone.history.pulls)
            assert search.best == alone.best


@pytest.mark.parametrize("name", NAMES)
def test_the_recommendation_can_be_read_at_any_time(name):
    search = Search(made(name, 120))
    while (pull := search.ask()) is not None:
        search.tell(pull, reward_of(pull.arm, pull.number))
        assert search.history.pulls[search.best] > 0


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_errors_fall_as_the_budget_grows(name):
    """The same seeds, four times the pulls each time; the last error is small."""
    reservoir, runs = TwoPoint(0.3, 0.7, 0.1), 150
    budgets = (75, 300, 1200) if name != "siri" else (1000, 10_000, 100_000)
    counts = [simulate(made(name, budget, 0.3), reservoir, runs, seed=5, workers=1).errors.count for budget in budgets]
    assert counts[0] > counts[1] > counts[2] or counts[1] == counts[2] == 0, counts
    assert counts[0] > 0.3 * runs, "the first budget must leave room"
    assert counts[2] < 0.1 * runs
