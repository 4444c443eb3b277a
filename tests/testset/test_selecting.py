"""A choice on a pass/fail test set: what it costs, what it says, and that its orders are independent."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import subprocess
import sys
from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import topalpha
from topalpha import PullFailed, StorageError, aselect, search, select, verify
from topalpha.execution import Calls
from topalpha.families import Graded, PassFail
from topalpha.testset.selecting import chosen_order
from topalpha.testset.selection import interval

QUIET = {"progress": "none"}


def table_of(*rows):
    """Candidates are the numbers of rows, examples those of columns."""
    matrix = np.array([[int(cell) for cell in row] for row in rows], dtype=bool)
    return list(range(len(rows))), list(range(matrix.shape[1])), lambda row, column: bool(matrix[row, column])


class Counted:
    """An evaluation that notes every call."""

    def __init__(self, evaluate):
        self.evaluate, self.pairs = evaluate, []

    def __call__(self, candidate, one):
        self.pairs.append((candidate, one))
        return self.evaluate(candidate, one)


# ---- cases worked by hand
#
# With three examples no evidence reaches a level of 5% before an example rules a score out: the largest likelihood
# ratio is 3. So a score lies between what has passed and what can still pass, and the choice stops as soon as the
# leader's passes, plus epsilon, are at least what every other candidate can still reach.


@pytest.mark.parametrize(
    ("rows", "epsilon", "chosen", "evaluations"),
    [
        # 1/3 against 2/3 after one example each; 2/3 + .1 against 1/3 after two.
        (("111", "000"), 0.1, 0, 4),
        # 1/3 + .4 reaches 2/3.
        (("111", "000"), 0.4, 0, 2),
        # Equal: only the last example settles it; the first candidate drawn keeps the lead.
        (("111", "111"), 0.1, None, 6),
        # As soon as two examples of each are known, 2/3 + .4 is at least 1.
        (("111", "111"), 0.4, None, 4),
        # Nothing passes: after one example each, 0 + .7 is at least 2/3.
        (("000", "000"), 0.7, None, 2),
        # One candidate needs no comparison.
        (("010",), 0.1, 0, 1),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_three_examples_by_hand(rows, epsilon, chosen, evaluations, seed):
    found = select(*table_of(*rows), epsilon=epsilon, order="own", seed=seed, **QUIET)
    assert found.stopped
    assert found.evaluations == evaluations
    assert chosen is None or found.candidate == found.index == chosen


def test_the_intervals_of_three_examples_by_hand():
    """One of two tried has passed: of three, one or two pass; after all of them the score is known."""
    assert interval(PassFail(3), [1.0, 0.0], 0.1, 0.05) == (1 / 3, 2 / 3)
    assert interval(PassFail(3), [0.0, 1.0, 1.0], 0.1, 0.05) == (2 / 3, 2 / 3)
    assert interval(PassFail(3), [], 0.1, 0.05) == (0.0, 1.0)
    low, high = interval(Graded(3), [0.5, 0.25], 0.1, 0.05)
    assert (low, high) == (0.25, pytest.approx(1.75 / 3))


def test_what_is_said_about_a_list_and_about_a_law():
    candidates, examples, evaluate = table_of("1110", "1100", "0000")
    found = select(candidates, examples, evaluate, epsilon=0.1, **QUIET)
    assert found.certificate.alpha == pytest.approx(1 / 3)
    claim = "With probability at least 0.95, {} is within 0.1 of the best of the list of 3 candidates. The search"
    scored = "the score of candidate 0 (index 0) on these 4 examples"
    assert found.statement.startswith(claim.format(scored))
    assert found.certificate.statement.startswith(claim.format("candidate 0"))
    two = select(candidates, examples, evaluate, alpha=0.5, epsilon=0.1, **QUIET)
    assert "is within 0.1 of the top 50% of the list of 3 candidates. The search" in two.statement
    drawn = select(lambda rng: int(rng.integers(3)), examples, evaluate, epsilon=0.1, about="three", **QUIET)
    assert drawn.certificate.alpha == 0.05
    assert drawn.index is None
    assert "is within 0.1 of the top 5% of three. The search" in drawn.statement


def test_the_result_holds_every_candidate_with_its_score():
    candidates, examples, evaluate = table_of("1111111111", "1111100000", "0000000000")
    counted = Counted(evaluate)
    found = select(candidates, examples, counted, epsilon=0.05, seed=3, **QUIET)
    assert [one.candidate for one in found.scores] == [0, 1, 2]
    calls = Counter(candidate for candidate, _ in counted.pairs)
    assert {one.candidate: one.evaluations for one in found.scores} == calls
    assert found.evaluations == len(counted.pairs) == found.certificate.pulls
    assert found.full_evaluations == 30
    assert found.saved == 1.0 - found.evaluations / 30
    for one in found.scores:
        passes = sum(evaluate(*pair) for pair in counted.pairs if pair[0] == one.candidate)
        assert (one.passes, one.index) == (passes, one.candidate)
        assert 0.0 <= one.low <= one.score <= one.high <= 1.0
        assert one.low <= [1.0, 0.5, 0.0][one.candidate] <= one.high
    fields = json.loads(json.dumps(found.to_dict()))
    assert fields["full_evaluations"] == 30
    assert len(fields["scores"]) == 3
    printed = str(found)
    assert f"{found.evaluations} of 30 evaluations" in printed
    assert found.statement in printed


# ---- never dearer than full evaluation


tables = st.integers(1, 14).flatmap(
    lambda width: st.lists(st.text("01", min_size=width, max_size=width), min_size=1, max_size=7)
)


@hypothesis_settings(max_examples=60)
@given(
    rows=tables,
    epsilon=st.sampled_from([0.001, 0.05, 0.2, 0.6, 0.95]),
    delta=st.sampled_from([1e-9, 0.05, 0.6]),
    alpha=st.sampled_from([None, 0.3, 0.9]),
    endless=st.booleans(),
    algorithm=st.sampled_from(["cc-lucb", "joint-lucb"]),
    width=st.sampled_from([None, 1, 5]),
    seed=st.integers(0, 2**32),
)
@example(["0", "0"], 0.001, 1e-9, None, False, "joint-lucb", None, 0)
@example(["1" * 14] * 7, 0.001, 1e-9, None, False, "cc-lucb", 5, 0)
def test_never_dearer_than_full_evaluation(rows, epsilon, delta, alpha, endless, algorithm, width, seed):
    """Whatever the table, the target and the number of calls at a time: no pair is evaluated twice, and it stops."""
    numbers, examples, evaluate = table_of(*rows)
    passes, draws = Counted(lambda candidate, one: evaluate(candidate[1], one)), itertools.count()

    def draw(rng):  # every draw is a candidate of its own
        return next(draws), int(rng.integers(len(rows)))

    async def awaited(candidate, one):
        await asyncio.sleep(0)
        return passes(candidate, one)

    if endless:
        alpha = 0.3 if alpha is None else alpha
        delta = max(delta, 0.05)
    target = {"alpha": alpha, "epsilon": epsilon, "delta": delta, "algorithm": algorithm, "seed": seed, **QUIET}
    pool = draw if endless else [(number, number) for number in numbers]
    if width is None:
        found = select(pool, examples, passes, **target)
        assert found.evaluations == len(passes.pairs)
    else:
        found = select(pool, examples, awaited, width=width, **target)
    assert found.stopped
    assert len(set(passes.pairs)) == len(passes.pairs) <= len(found.scores) * len(examples) == found.full_evaluations
    assert found.evaluations <= len(passes.pairs)


def test_negative_control_with_replacement_it_can_be_dearer():
    """Two equal candidates on eight examples, drawn with replacement: more than 16 evaluations."""
    with_replacement = topalpha.search(
        [0, 1], lambda row, rng: rng.random() < 0.5, alpha=0.5, epsilon=0.1, algorithm="cc-lucb", **QUIET
    )
    assert with_replacement.pulls > 16


# ---- every candidate has an order of its own


def orders(seed, evaluate=None):
    """The order in which each of two equal candidates tries three examples."""
    counted = Counted(lambda candidate, one: True)
    select(["a", "b"], [0, 1, 2], counted, epsilon=0.01, order="own", seed=seed, **QUIET)
    return tuple(tuple(one for name, one in counted.pairs if name == which) for which in "ab")


def independence(pairs):
    counts = Counter(pairs)
    assert len(counts) <= 36
    return chisquare([counts[pair] for pair in counts] + [0] * (36 - len(counts))).pvalue


@pytest.mark.statistical
def test_orders_are_uniform_and_independent():
    assert independence([orders(seed) for seed in range(432)]) > 1e-6


@pytest.mark.statistical
def test_negative_control_a_shared_order_is_found_out(monkeypatch):
    own = Calls.order
    monkeypatch.setattr(Calls, "order", lambda self, arm: own(self, 0))
    assert independence([orders(seed) for seed in range(432)]) < 1e-6


# ---- a shared order


def test_candidates_of_a_short_list_share_one_order():
    counted = Counted(lambda candidate, one: True)
    found = select(["a", "b", "c"], list(range(20)), counted, epsilon=0.01, seed=4, **QUIET)
    orders = [[one for name, one in counted.pairs if name == which] for which in "abc"]
    assert found.certificate.algorithm == "paired"
    assert orders[0] == orders[1] == orders[2] != list(range(20))
    assert "in one random order for all, drawn after the candidates were fixed" in found.certificate.assumptions[1]
    assert not any("independent" in sentence for sentence in found.certificate.assumptions)


def test_the_kind_of_order_depends_on_nothing_that_is_seen():
    assert chosen_order(None, 10, alpha=0.1) == "shared"
    assert chosen_order(None, 10, alpha=0.3) == "own", "paired aims at the best one"
    assert chosen_order(None, 5, algorithm="joint-lucb") == chosen_order(None, 5, on_lost="worst") == "own"
    assert chosen_order("own", 5) == "own"
    assert chosen_order("shared", 500) == "shared"
    long = select(list(range(11)), list(range(30)), at_once, epsilon=0.2, **QUIET)
    assert (long.certificate.algorithm, long.certificate.seed) == ("cc-lucb", 0)


def test_a_shared_order_is_fresh_and_kept_in_the_file(tmp_path):
    """Nobody can tune candidates on the first examples of an order that is drawn anew for each choice."""
    found = [select([0, 1], list(range(30)), at_once, epsilon=0.1, **QUIET) for _ in range(3)]
    assert len({one.certificate.seed for one in found}) == 3
    kept = {"storage": tmp_path / "one.db", "resume": True, "epsilon": 0.02, **QUIET}
    early = select([0, 1], list(range(30)), at_once, pulls=5, **kept)
    late = select([0, 1], list(range(30)), at_once, **kept)
    assert early.certificate.seed == late.certificate.seed
    assert late.stopped
    again = select([0, 1], list(range(30)), at_once, epsilon=0.02, seed=late.certificate.seed, **QUIET)
    assert same(late, again)
    assert verify(tmp_path / "one.db").proved


def test_a_short_list_that_an_earlier_version_began_with_own_orders_goes_on_with_them(tmp_path):
    kept = {"storage": tmp_path / "one.db", "resume": True, "epsilon": 0.05, **QUIET}
    select([0, 1, 2], list(range(30)), at_once, algorithm="cc-lucb", seed=0, pulls=5, **kept)
    assert select([0, 1, 2], list(range(30)), at_once, **kept).certificate.algorithm == "cc-lucb"


def test_an_incumbent_is_named_by_its_position():
    for seed in range(5):
        found = select(list("abcd"), list(range(40)), lambda name, one: name == "c", incumbent=2, seed=seed, **QUIET)
        assert found.candidate == "c"
        fewer = select(list("abcd"), list(range(40)), lambda name, one: name == "c", seed=seed, **QUIET)
        assert found.evaluations <= fewer.evaluations
    how = {"epsilon": 0.1, **QUIET}
    for wrong, words in ((4, "be a position in the list of 4 candidates, from 0, got 4"), (-1, "0, got -1")):
        with pytest.raises(ValueError, match=words):
            select(list("abcd"), list(range(40)), at_once, incumbent=wrong, **how)
    with pytest.raises(ValueError, match="order must be 'shared' where an incumbent is named, got 'own'"):
        select(list("abcd"), list(range(40)), at_once, incumbent=1, order="own", **how)
    with pytest.raises(ValueError, match="order must be 'own' where a function draws the candidates, got 'shared'"):
        select(lambda rng: 1, list(range(40)), at_once, order="shared", **how)


@pytest.mark.parametrize("order", ["shared", "own"])
def test_graded_scores_in_any_range(order):
    rng = np.random.default_rng(0)
    table = 10.0 * np.clip(np.array([[0.3], [0.6], [0.4]]) + 0.2 * rng.standard_normal((3, 60)), 0.0, 1.0)
    how = {"family": "graded(0,10)", "epsilon": 0.5, "order": order, "seed": 1, **QUIET}
    found = select([0, 1, 2], list(range(60)), lambda row, one: table[row, one], **how)
    assert found.candidate == 1
    assert found.evaluations < found.full_evaluations
    for one in found.scores:
        assert one.low <= table[one.candidate].mean() <= one.high
    assert found.score == pytest.approx(found.result.mean)
    with pytest.raises(PullFailed, match=r"reward must lie in \[0, 10\], got 10.5"):
        select([0, 1], list(range(60)), lambda row, one: 10.5, **how)
    spoilt = select([0, 1, 2], list(range(60)), lambda row, one: table[row, one] / (row < 2), on_error="worst", **how)
    assert spoilt.candidate == 1


# ---- remote calls


async def slowly(candidate, one):
    await asyncio.sleep(1e-5 * ((7 * candidate + 3 * one) % 5))
    return (candidate * 31 + one * 17) % 10 < 3 + candidate


def at_once(candidate, one):
    return (candidate * 31 + one * 17) % 10 < 3 + candidate


def same(one, other):
    return one.scores == other.scores and one.statement == other.statement and one.evaluations == other.evaluations


def test_one_call_at_a_time_coroutines_choose_as_functions_do():
    candidates, examples = list(range(6)), list(range(40))
    how = {"epsilon": 0.1, "seed": 0, **QUIET}
    plain = select(candidates, examples, at_once, **how)
    assert same(select(candidates, examples, slowly, width=1, **how), plain)
    assert same(asyncio.run(aselect(candidates, examples, slowly, width=1, **how)), plain)


def test_eight_calls_at_a_time_unless_said():
    running = most = 0

    async def counted(candidate, one):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return at_once(candidate, one)

    found = select(list(range(6)), list(range(40)), counted, epsilon=0.1, **QUIET)
    assert found.stopped
    assert most == 8


def test_inside_an_event_loop_select_points_to_aselect():
    async def inside():
        return select([1], [1], slowly)

    with pytest.raises(ValueError, match="evaluate must be a plain function inside an event loop; await aselect there"):
        asyncio.run(inside())


def test_threads_and_budgets_pass_through():
    found = select(list(range(6)), list(range(40)), at_once, epsilon=0.02, workers=3, pulls=60, **QUIET)
    assert not found.stopped
    assert found.evaluations <= 60
    assert found.certificate.reason == "pulls"
    assert found.statement.endswith("The search ended because the budget of pulls was spent.")


def test_failures_can_count_as_failed_examples():
    """A candidate that always raises never passes; one that times out neither."""

    async def fragile(candidate, one):
        if candidate == 2:
            raise ConnectionError
        if candidate == 1:
            await asyncio.sleep(60.0)
        return True

    target = {"epsilon": 0.3, "on_error": "worst", "timeout": 0.05, **QUIET}
    found = select([0, 1, 2], list(range(8)), fragile, **target)
    assert found.candidate == 0
    assert {one.candidate: one.passes for one in found.scores if one.candidate} == {1: 0, 2: 0}
    assert "Pulls that failed count as the worst reward." in found.certificate.assumptions


# ---- files


@pytest.mark.parametrize("order", ["shared", "own"])
def test_a_file_goes_on_where_it_was(order, tmp_path):
    candidates, examples = list(range(6)), list(range(40))
    plain = select(candidates, examples, at_once, epsilon=0.05, order=order, seed=0, **QUIET)
    kept = {"storage": tmp_path / "one.db", "resume": True, "epsilon": 0.05, "order": order, "seed": 0, **QUIET}
    early = select(candidates, examples, at_once, pulls=30, **kept)
    assert (early.stopped, early.evaluations) == (False, 30)
    counted = Counted(at_once)
    assert same(select(candidates, examples, counted, **kept), plain)
    assert len(counted.pairs) == plain.evaluations - 30
    assert same(select(candidates, examples, at_once, **kept), plain), "a choice that is made is not made again"
    assert verify(tmp_path / "one.db").proved
    assert "on this example is" in select([0, 1], [1], at_once, **QUIET).statement
    with pytest.raises(ValueError, match=r"the target must be the recorded one, with epsilon=0.05, got"):
        select(candidates, examples, at_once, **kept | {"epsilon": 0.1})
    with pytest.raises(ValueError, match=r"the target must be the recorded one, with pool=6"):
        select(candidates[1:], examples, at_once, alpha=1 / 6, **{k: v for k, v in kept.items() if k != "alpha"})
    with pytest.raises(ValueError, match="candidates must be the same as in the record, got 'different ones'"):
        select([*candidates[:-1], 99], examples, at_once, **kept)
    with pytest.raises(ValueError, match="examples must be the same as in the record, got 'different ones'"):
        select(candidates, [*examples[:-1], 99], at_once, **kept)
    with pytest.raises(StorageError):
        select(candidates, examples, at_once, **kept | {"resume": False})


def test_a_file_that_another_search_began_is_not_resumed(tmp_path):
    kept = {"storage": tmp_path / "one.db", "epsilon": 0.3, "delta": 0.3, **QUIET}
    search([0, 1], at_once, items=[1, 2, 3], alpha=0.5, algorithm="cc-lucb", name="selection", **kept)
    with pytest.raises(ValueError, match="name must be a choice that select began, or a duel, got 'selection'"):
        select([0, 1], [1, 2, 3], at_once, resume=True, **kept)


KILLED = """
import os, signal, sys
from topalpha import select
calls = 0
def passes(candidate, one):
    global calls
    calls += 1
    print(candidate, one, flush=True)
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return (candidate * 31 + one * 17) % 10 < 3 + candidate
kept = {"storage": sys.argv[1], "resume": True, "seed": 0, "progress": "none"}
found = select(list(range(6)), list(range(40)), passes, epsilon=0.05, **kept)
print("chosen", found.candidate, found.evaluations)
"""


def test_a_killed_choice_goes_on(tmp_path):
    """kill -9 in the middle of an evaluation: that one is made again, and no other."""
    lives = []
    for limit in (60, 0):
        arguments = [sys.executable, "-c", KILLED, str(tmp_path / "one.db"), str(limit)]
        life = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
        assert life.returncode == (0 if limit == 0 else -9), life.stderr
        lives.append(life.stdout.split("\n"))
    plain = Counted(at_once)
    found = select(list(range(6)), list(range(40)), plain, epsilon=0.05, seed=0, **QUIET)
    pairs = [line for life in lives for line in life if line and not line.startswith("chosen")]
    twice = [pair for pair, count in Counter(pairs).items() if count == 2]
    assert set(pairs) == {f"{candidate} {one}" for candidate, one in plain.pairs}
    assert len(pairs) - len(set(pairs)) == len(twice) == 1
    assert lives[-1][-2] == f"chosen {found.candidate} {found.evaluations}"


# ---- bad input


def says(words, call):
    with pytest.raises(ValueError, match=re.escape(words)):
        call()


def test_bad_input_gets_one_sentence():
    candidates, examples, evaluate = table_of("10", "01")
    says("candidates must not be empty, got []", lambda: select([], examples, evaluate))
    says("candidates must be a function or a list of candidates, got 'ab'", lambda: select("ab", examples, evaluate))
    says("candidates must be a function or a list of candidates, got {1}", lambda: select({1}, examples, evaluate))
    says("examples must not be empty, got []", lambda: select(candidates, [], evaluate))
    says("examples must be a list, got 'ab'", lambda: select(candidates, "ab", evaluate))
    says("examples must be a list, got {}", lambda: select(candidates, {}, evaluate))
    says("examples must be a list, got {1}", lambda: select(candidates, {1}, evaluate))
    says("evaluate must be a function, got None", lambda: select(candidates, examples, None))
    says("evaluate must take (candidate, example) or", lambda: select(candidates, examples, lambda one: True))
    says("alpha must lie strictly between 0 and 1, got 1.0", lambda: select(candidates, examples, evaluate, alpha=1.0))
    says("algorithm must be one of cc-lucb", lambda: select(candidates, examples, evaluate, algorithm="kl-lucb"))
    says("epsilon must be positive", lambda: select(candidates, examples, evaluate, epsilon=0.0))
    says("storage must name a file if resume is set", lambda: select(candidates, examples, evaluate, resume=True))
    for resume in (False, True):
        call = partial(select, candidates, examples, evaluate, storage=3, resume=resume)
        says("storage must be the name of a file, got 3", call)
    with pytest.raises(TypeError, match="unexpected keyword argument 'alfa'"):
        select(candidates, examples, evaluate, alfa=0.1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'alfa'"):
        asyncio.run(aselect(candidates, examples, evaluate, alfa=0.1))


@pytest.mark.parametrize("score", [2, -1, 0.5, float("nan"), "1", None])
@pytest.mark.parametrize("on_error", ["raise", "worst"])
def test_what_is_neither_pass_nor_fail_is_refused(score, on_error):
    """Numbers that cannot be scores are a mistake, whatever is done about failures; NaN and no number are failures."""
    number = isinstance(score, int | float) and score == score
    if on_error == "worst" and not number:
        assert select([1, 2], [1, 2], lambda c, e: score, epsilon=0.6, on_error="worst", **QUIET).score == 0.0
        return
    with pytest.raises(PullFailed, match=r"reward must be (0 or 1|a real number), got"):
        select([1, 2], [1, 2], lambda c, e: score, on_error=on_error, **QUIET)


@pytest.mark.parametrize("kind", [bool, int, float, np.bool_, np.int64, np.float32])
def test_pass_and_fail_may_be_of_any_kind(kind):
    assert select([0, 1], [1, 2, 3], lambda c, e: kind(c), epsilon=0.1, **QUIET).candidate == 1
