"""Errors about rewards and targets say what to write instead, and that works."""

import random
import re
from functools import partial

import pytest

import topalpha
from topalpha import PullFailed, Session, Task, parse_family, plan, search, select
from topalpha.families.units import reward_model

EASY = {"alpha": 0.3, "delta": 0.2, "progress": "none"}


def draw(rng):
    return float(rng.random())


def percent(candidate, rng):
    return 100.0 * float(rng.random() < candidate)


def refused(call):
    with pytest.raises((PullFailed, ValueError)) as caught:
        call()
    return str(caught.value)


def written(message, low, high):
    """The family that the message tells to write, with these limits."""
    (family,) = re.findall(r'write family="([a-z-]+)\(lo,hi\)"', message)
    return f"{family}({low},{high})"


@pytest.mark.parametrize("algorithm", ["joint-lucb", "cc-lucb", "lucb++", "kl-lucb"])
def test_rewards_beyond_one_need_a_range(algorithm):
    call = partial(search, draw, percent, **EASY, algorithm=algorithm)
    message = refused(lambda: call(epsilon=0.3))
    assert "reward must lie in [0, 1], got 100.0; if rewards lie between other limits, write family=" in message
    assert call(epsilon=50.0, family=written(message, 0, 100), pulls=50).pulls


def test_a_range_that_is_too_narrow_is_widened():
    message = refused(lambda: search(draw, percent, **EASY, epsilon=20.0, family="range(0,50)"))
    assert "reward must lie in [0, 50], got 100.0; if rewards lie between other limits" in message
    assert search(draw, percent, **EASY, epsilon=50.0, family=written(message, 0, 100)).stopped


def test_rewards_beside_a_family_of_one_parameter_are_taken_with_a_range():
    def negative(candidate, rng):
        return percent(candidate, rng) - 50.0

    message = refused(lambda: search(draw, negative, **EASY, epsilon=50.0, family="poisson"))
    assert "reward must be a whole number of at least 0, got -50.0; if rewards lie between known limits" in message
    assert search(draw, negative, **EASY, epsilon=50.0, family=written(message, -50, 50)).stopped


def test_a_session_driven_by_hand_gives_the_same_advice():
    with Session.start(Task(0.3, 0.3, 0.2)) as session:
        message = refused(lambda: session.tell(session.ask(), 57.97))
    with Session.start(Task(0.3, 30.0, 0.2, family=written(message, 0, 100))) as session:
        session.tell(session.ask(), 57.97)


def test_without_limits_there_is_nothing_to_advise():
    with Session.start(Task(0.3, 0.3, 0.2, family="normal")) as session:
        assert refused(lambda: session.tell(session.ask(), float("inf"))) == "reward must be finite, got inf"


def test_graded_scores_have_a_family_of_their_own():
    prompts, grades = ["a", "b", "c"], {"a": 0.2, "b": 0.6, "c": 0.9}
    noise = [random.Random(place).uniform(-0.1, 0.1) for place in range(50)]

    def evaluate(prompt, example):
        return grades[prompt] + noise[example]

    message = refused(lambda: select(prompts, range(50), evaluate, progress="none"))
    assert "reward must be 0 or 1, got 0." in message
    assert 'for graded scores write family="graded(lo,hi)" with their limits' in message
    found = select(prompts, range(50), evaluate, family="graded(0,1)", progress="none")
    assert (found.candidate, found.stopped) == ("c", True)
    beyond = refused(lambda: select(prompts, range(50), lambda one, example: 7.0, family="graded", progress="none"))
    assert 'between other limits write family="graded(lo,hi)"' in beyond


@pytest.mark.parametrize("epsilon", [1.0, 1.5, 5.0])
def test_an_epsilon_as_wide_as_the_range_says_nothing(epsilon):
    says = rf"^epsilon must be smaller than the range of rewards, \[0, 1\], got {epsilon}"
    ranged = says + r"; another range is stated as low-variance\(lo,hi\) or range\(lo,hi\)$"
    for call in (
        lambda: search(draw, percent, **EASY, epsilon=epsilon),
        lambda: Session.start(Task(0.3, epsilon, 0.2)),
        lambda: plan(0.3, epsilon, 0.2),
    ):
        with pytest.raises(ValueError, match=ranged):
            call()
    with pytest.raises(ValueError, match=says + "$"):
        select(["a"], [1, 2], lambda one, example: True, epsilon=epsilon, progress="none")
    for family in ("low-variance(0,100)", "range(0,100)"):
        assert search(draw, percent, **EASY, epsilon=50.0 * epsilon / 5, family=family, pulls=50).pulls == 50


def test_rewards_without_a_range_take_any_epsilon():
    Session.start(Task(0.3, 50.0, 0.2, family="normal")).close()


def test_an_unknown_family_lists_those_for_a_known_range_first():
    with pytest.raises(ValueError, match=r"^family must be one of low-variance") as caught:
        reward_model("laplace")
    listed = re.findall(r"[a-z-]+(?:\([a-z,]+\))?", str(caught.value).partition("one of ")[2].partition(", got")[0])
    assert listed[:3] == ["low-variance(lo,hi)", "range(lo,hi)", "bernoulli"]
    numbers = {"(lo,hi)": "(0,5)", "(sigma)": "(2)", "(shape)": "(2)"}
    for one in listed:
        for sign, value in numbers.items():
            one = one.replace(sign, value)
        assert reward_model(one).text.startswith(one.partition("(")[0])
    for text in ("low-variance(lo,hi)", "range(lo,hi)", "range(0)"):
        with pytest.raises(ValueError, match=r"^family must be [a-z-]+\(lo,hi\) with two numbers, got"):
            reward_model(text)
    with pytest.raises(ValueError, match=r"^family must be one of bernoulli"):
        parse_family("laplace")


def test_a_block_of_code_runs_twice(tmp_path):
    path, calls = tmp_path / "search.db", []

    def counted(candidate, rng):
        calls.append(candidate)
        return float(rng.random() < candidate)

    call = partial(search, draw, counted, **EASY, epsilon=0.3, storage=path)
    early = call(resume=True, pulls=20)
    late = call(resume=True)
    spent = len(calls)
    assert (early.stopped, late.stopped, spent) == (False, True, late.pulls)
    assert call(resume=True) == late
    assert len(calls) == spent
    message = refused(call)
    assert "to go on with that search: resume=True, topalpha.resume or, on the command line, topalpha resume" in message
    assert topalpha.resume(path, draw, counted, progress="none") == late
    assert call(name="another", pulls=20).pulls == 20, "as the message says"
    way_out = r"^the target must be the recorded one, with epsilon=0.3, got .*; for a new search: another name or file$"
    with pytest.raises(ValueError, match=way_out):
        call(resume=True, **{"epsilon": 0.2})
    with pytest.raises(ValueError, match=r"^storage must name a file if resume is set"):
        search(draw, counted, **EASY, resume=True)
    with pytest.raises(ValueError, match=r"^resume must be True or False"):
        call(resume="yes")


def test_another_list_is_not_gone_on_with(tmp_path):
    call = partial(search, pull=lambda one, rng: 1.0, **EASY, epsilon=0.3, storage=tmp_path / "one.db", resume=True)
    assert call([1, 2, 3]) == call([1, 2, 3])
    with pytest.raises(ValueError, match=r"^draw must be the same as in the record"):
        call([1, 2, 4])
    assert call([1, 2, 3]).stopped, "the file is free again"
