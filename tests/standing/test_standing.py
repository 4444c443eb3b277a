"""How a search stands, from whatever it is read: the same figures, and those of the search itself."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from tests.support.marks import quick
from topalpha import Normal, Result, Search, Session, Task, design, search, select
from topalpha.standing import Standing, standing, timeline
from topalpha.storage import read

EASY = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "seed": 3, "progress": "none"}
COLUMNS = ("arm", "pulls", "mean", "lower", "upper", "pending")
OTHERS = (
    *("status", "algorithm", "family", "alpha", "epsilon", "delta", "minimise", "bounded", "total", "in_flight"),
    *("drawn", "wanted", "leader", "line", "others_at_best", "above", "challengers", "claims", "about"),
)


def draw(rng):
    return rng.random()


def pull(candidate, rng):
    return float(rng.random() < candidate)


def same(one: Standing, other: Standing) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert {name: getattr(one, name) for name in OTHERS} == {name: getattr(other, name) for name in OTHERS}


def partial(
    algorithm="cc-lucb", pulls=60, *, reward=lambda pull: float(pull.number % (2 + pull.arm % 3) == 0), **options
):
    """A search that was asked for so many pulls, several at a time and told out of order."""
    found = Search(design(algorithm, 0.3, 0.3, 0.2, **options), seed=1)
    list(told(found, pulls, reward))
    return found


def told(found, pulls, reward=lambda pull: float(pull.number % (2 + pull.arm % 3) == 0)):
    """Three pulls in flight, told in another order than asked for; yields after each."""
    waiting = []
    for number in range(pulls):
        waiting += found.ask_many(3 - len(waiting))
        one = waiting.pop((number + 1) % len(waiting))
        found.tell(one, reward(one))
        yield found


@pytest.mark.parametrize("algorithm", quick(["joint-lucb", "cc-lucb", "kl-lucb", "p2"], ["joint-lucb"]))
@pytest.mark.parametrize("limit", [{}, {"pulls": 30}])
def test_a_result_stored_or_not_and_its_file_stand_alike(algorithm, limit, tmp_path):
    file, easy = tmp_path / "searches.db", {**EASY, "interval": 1.0}
    easy["epsilon"] = 0.8 if algorithm == "p2" else 0.3
    stored = search(draw, pull, **easy, algorithm=algorithm, storage=file, name="one", **limit)
    unstored = search(draw, pull, **easy, algorithm=algorithm, **limit)
    now = standing(file)
    assert now.status == ("pulls" if limit else "stopped")
    assert now.name == "one"
    assert now.certificate == stored.certificate
    for source in (stored, unstored, str(file), read(file), now):
        same(standing(source), now)
    with Session.resume(file, "one") as session:
        live = standing(session)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(live, name), getattr(now, name))
    assert (live.claims, live.about) == (now.claims, now.about), "what is proved is what the certificate says"


@pytest.mark.parametrize("minimise", [False, True])
def test_the_figures_are_those_of_the_search_in_the_caller_s_units(minimise):
    task = Task(0.2, 3.0, 0.2, family="range(-5,5)", minimise=minimise, algorithm="cc-lucb")
    found = Search(task.design(), model=task.model)
    for one in found.ask_many(10):
        found.tell(one, 10.0 * (one.arm / 10.0) - 5.0)
    now = standing(found)
    leader = 0 if minimise else 9
    assert (now.leader, now.epsilon, now.minimise, now.family) == (leader, 3.0, minimise, "range(lo=-5.0,hi=5.0)")
    np.testing.assert_allclose(now.mean, np.arange(10.0) - 5.0)
    assert np.all(now.lower < now.mean + 1e-9)
    assert np.all(now.mean < now.upper + 1e-9)
    if minimise:  # a small mean is good: the line lies below the leader's upper bound, and rivals reach down to it
        assert now.line == pytest.approx(now.row(leader).upper - 3.0)
        others = np.delete(now.lower, leader)
        assert now.above == tuple(arm for arm in range(10) if arm != leader and now.lower[arm] < now.line)
    else:
        assert now.line == pytest.approx(now.row(leader).lower + 3.0)
        others = np.delete(now.upper, leader)
        assert now.above == tuple(arm for arm in range(10) if arm != leader and now.upper[arm] > now.line)
    assert now.wanted > now.drawn, "and so the best of the others may be anything"
    assert now.others_at_best == (-5.0 if minimise else 5.0)
    for one in found.ask_many(now.wanted - 10):
        found.tell(one, 0.0)
    now = standing(found)
    others = np.delete(now.lower if minimise else now.upper, leader)
    assert now.others_at_best == (others.min() if minimise else others.max())


@pytest.mark.parametrize("algorithm", ["joint-lucb", "cc-lucb", "kl-lucb"])
def test_the_timeline_ends_with_the_standing_and_its_moments_were_standings(algorithm):
    found = partial(algorithm)
    moments = timeline(found, points=7)
    assert len(moments) in (6, 7), "one moment may be too early for a reward to count"
    same(moments[-1], standing(found))
    assert [now.total for now in moments] == sorted(now.total for now in moments)
    # Any moment is where the same search stands when it is cut off there.
    again = Search(found.algorithm, seed=1)
    seen = [standing(again) for _ in told(again, 60)]
    then = [seen[round(60 * place / 7) - 1] for place in range(1, 7)]
    for now, one in zip(moments[:-1], [one for one in then if one.total > 0], strict=True):
        same(replace(now, claims=one.claims, about=one.about), one)


def test_a_timeline_of_few_arms_tells_about_those_pulled_most_and_the_leader():
    found = partial(pulls=80)
    whole, few = timeline(found, points=9), timeline(found, points=9, arms=3)
    counts = np.bincount([arm for arm, _ in found.trail.asks])
    most = set(np.argsort(-counts, kind="stable")[:3].tolist())
    for now, then in zip(few, whole, strict=True):
        assert set(now.arm.tolist()) == (most | {now.leader}) & set(then.arm.tolist())
        for arm in now.arm:
            assert now.row(int(arm)) == then.row(int(arm))
        assert (now.line, now.others_at_best, now.above) == (then.line, then.others_at_best, then.above)
    assert timeline(few) == few


def test_a_result_stays_where_it_was_when_its_search_goes_on():
    found = Search(design("joint-lucb", 0.3, 0.3, 0.2), seed=1)
    then = None
    while (one := found.ask()) is not None:
        found.tell(one, float(one.number % (2 + one.arm % 3) == 0))
        if found.told == 30:
            result, then = found.result, standing(found)
    assert standing(found).total > 30
    same(standing(result), replace(then, in_flight=0))
    assert standing(found).stopped


def test_what_was_planned_in_parallel_replays():
    found = search(draw, pull, **EASY, executor="threads", workers=3)
    assert len(found.trail.waits) == len(set(found.trail.waits))
    same(timeline(found, points=4)[-1], standing(found))


def test_a_running_file_stands_where_its_search_does(tmp_path):
    file = tmp_path / "searches.db"
    with Session.start(Task(0.2, 0.2, 0.1, algorithm="cc-lucb"), storage=file) as session:
        before = standing(file)
        for one in session.ask_many(8):
            session.keep(one.arm, one.arm)
            if one.arm < 6:
                session.tell(one, one.arm / 8.0)
        now = standing(file)
        same(now, standing(session))
    assert (before.leader, before.line, before.total, len(before.arm)) == (None, None, 0, 0)
    assert (now.status, now.total, now.drawn, now.in_flight) == ("running", 6, 8, 2)
    assert now.pending.tolist() == [0] * 6 + [1] * 2
    assert [row.mean for row in now.rows[-3:]] == [5 / 8, None, None]
    with pytest.raises(ValueError, match=r"^source must hold at least one reward, got 0$"):
        timeline(Search(design("cc-lucb", 0.3, 0.3, 0.2)))


def test_bounds_may_be_infinite_and_an_algorithm_may_have_none():
    now = standing(partial(reward=lambda pull: pull.arm * 1.0, family=Normal(), pulls=5))
    assert math.isinf(now.line)
    assert now.bounded
    assert np.all(np.isinf(now.upper))
    bare = standing(partial("p2"))
    assert (bare.bounded, bare.line, bare.above, bare.claims) == (False, None, (), ())
    assert set(bare.upper) == {1.0}


def test_a_choice_on_a_test_set_stands_too():
    chosen = select([2, 3, 5, 7], range(1, 31), lambda divisor, number: number % divisor == 0, epsilon=0.1)
    now = standing(chosen)
    assert now.mean[now.leader] == chosen.score
    assert now.total == chosen.evaluations
    assert now.family == "pass-fail(items=30)"


def test_pickled_candidates_stay_closed(tmp_path):
    file = tmp_path / "searches.db"
    found = search(lambda rng: (rng.random(),), lambda one, rng: pull(one[0], rng), **EASY, storage=file, pickle=True)
    same(standing(file), standing(found))


def test_what_a_result_says_is_what_it_said_before():
    result = search(draw, pull, **EASY)
    bare = replace(result, trail=None)
    assert result == bare
    assert repr(result) == repr(bare)
    assert json.dumps(result.to_dict()) == json.dumps(bare.to_dict())
    assert "trail" not in result.to_dict()
    with pytest.raises(ValueError, match=r"^source must be a Result of a search, got Result"):
        standing(bare)
    back = pickle.loads(pickle.dumps(result))
    assert back == result
    same(standing(back), standing(result))


@pytest.mark.parametrize("source", [3, None, [], Result, object()])
def test_other_sources_are_refused_in_one_sentence(source):
    for function in (standing, timeline):
        with pytest.raises(ValueError, match=r"^source must be a Result, a Search, .*, got "):
            function(source)


def test_a_standing_is_no_timeline():
    with pytest.raises(ValueError, match="a standing is a single moment"):
        timeline(standing(partial()))
    with pytest.raises(ValueError, match=r"^arm must have a row in the standing, got 99$"):
        standing(partial()).row(99)
