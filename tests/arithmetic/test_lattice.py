"""The lattice of bounds: outward, fine, and the same for arms with the same record."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topalpha import Search
from topalpha.arithmetic import known_place, outward, unknown_bounds
from topalpha.arithmetic.lattice import KNOWN, lattice_above
from topalpha.former_rules import rules_module
from topalpha.rules.columns import UPPER

FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(FINITE)
def test_a_point_is_not_below_and_not_far_above(x):
    point = lattice_above(x)
    assert x <= point <= x + 1e-9 * abs(x)
    assert lattice_above(point) == point


@given(st.floats(0.01, 100.0), st.floats(0.01, 100.0))
def test_a_bound_is_rounded_away_from_the_data(outer, inner):
    edge, near = outward(outer, inner)
    assert (edge >= outer and near <= edge) if outer > inner else (edge <= outer and near >= edge)
    assert abs(edge - outer) <= 1e-9 * outer


def test_every_short_record_has_a_place_of_its_own():
    places = [known_place(float(total), pulls) for pulls in range(1, KNOWN + 1) for total in range(pulls + 1)]
    assert sorted(places) == list(range(len(unknown_bounds())))
    assert known_place(0.5, 2) == known_place(0.0, KNOWN + 1) == known_place(3.0, 2) == known_place(math.nan, 2) == -1


def last_bounds(rules, name, family, orders):
    """The running upper bound of an arm after each of these lists of rewards, where the last reward lowered it."""
    algorithms, families = rules_module(rules, "algorithms"), rules_module(rules, "families")
    algorithm = algorithms.design(name, 0.3, 0.1, 0.1, families.parse_family(family))
    found = []
    for rewards in orders:
        search = Search(algorithm)
        search.ask_many(1)
        history, memory, before = search.history, algorithm.scratch(algorithm.arms), math.inf
        for reward in rewards:
            before = history.stats[UPPER][0]
            algorithm.observe(history, memory, 0, reward)
        if history.stats[UPPER][0] < before:
            found.append(history.stats[UPPER][0])
    return found


@pytest.mark.parametrize("name", ["cc-lucb", "joint-lucb"])
@pytest.mark.parametrize(
    ("family", "low"), [("bernoulli", 0.0), ("bernoulli", 0.25), ("poisson", 0.0), ("gaussian(1)", -0.5)]
)
def test_equal_records_tie_exactly(name, family, low):
    """The same rewards in many orders, of which the last one is low."""
    shuffled, former = random.Random(0), set()
    for highs, lows in ((2, 6), (5, 20), (20, 60)):
        orders = []
        for _ in range(100):
            order = [1.0] * highs + [low] * lows
            shuffled.shuffle(order)
            orders.append([*order, low])
        found = last_bounds(2, name, family, orders)
        assert len(found) >= 2
        assert len(set(found)) == 1
        former.add(len(set(last_bounds(1, name, family, orders))))
    assert max(former) > 1, "without the lattice, where an iteration ends depends on where it began"


@pytest.mark.parametrize("name", ["cc-lucb", "joint-lucb"])
def test_what_one_arm_leaves_behind_is_a_bound_for_others(name):
    """One arm's bound was lowered by earlier rewards; another with the same record in another order must not get it."""
    algorithm = rules_module(2, "algorithms").design(name, 0.3, 0.1, 0.1)

    def bounds(*orders):
        search = Search(algorithm)
        search.ask_many(len(orders))
        history, memory = search.history, algorithm.scratch(algorithm.arms)
        for arm, rewards in enumerate(orders):
            for reward in rewards:
                algorithm.observe(history, memory, arm, reward)
        return history.stats[UPPER][: len(orders)]

    first, second = [0.0] * 6 + [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0] + [0.0] * 7
    alone = *bounds(first), *bounds(second)
    assert alone[0] < alone[1]
    assert bounds(first, second) == list(alone)
    assert bounds(second, first) == list(reversed(alone))
