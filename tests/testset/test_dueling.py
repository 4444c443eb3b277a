"""A duel as people ask for it: the verdict, files, coroutines, failures, and bad input."""

import asyncio
import json

import numpy as np
import pytest

from topalpha import DuelResult, PullFailed, aduel, duel, select, verify

QUIET = {"progress": "none"}


def divides(divisor, number):
    return number % divisor == 0


def same(one, other):
    return one.to_dict() == other.to_dict()


def test_a_verdict_in_a_sentence():
    found = duel(2, 5, range(1, 101), divides, seed=0, **QUIET)
    assert (found.verdict, found.candidate, found.exit_code, found.decided) == ("first", 2, 0, True)
    assert found.statement.startswith("The first candidate is better: with probability at least 0.95, the second")
    assert found.statement.endswith("on these 100 examples.")
    assert found.interval[0] <= -0.3 <= found.interval[1] < 0.0
    ahead, behind = found.discordant
    assert all(divides(2, place + 1) and not divides(5, place + 1) for place in ahead)
    assert all(divides(5, place + 1) and not divides(2, place + 1) for place in behind)
    assert found.first.candidate == 2
    assert found.second.low <= 0.2 <= found.second.high
    assert f"{found.evaluations} of 200 evaluations" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["verdict"] == "first"
    assert isinstance(found, DuelResult)
    assert found.certificate.algorithm == "duel"


def test_the_other_way_round_it_is_the_second():
    for seed in range(4):
        assert duel(5, 2, range(1, 101), divides, seed=seed, **QUIET).verdict == "second"


def test_a_candidate_against_itself_is_equal():
    found = duel(2, 2, range(1, 101), divides, **QUIET)
    assert found.verdict == "equal"
    assert found.discordant == ((), ())
    assert -0.05 <= found.interval[0] <= 0.0 <= found.interval[1] <= 0.05
    assert set(found.certificate.selection) == {0, 1}


def test_a_gate_has_three_answers_and_exit_codes():
    ways = ((0.5, None, "pass", 0), (0.05, None, "fail", 1), (0.3, 6, "undecided", 3))
    for margin, pulls, verdict, code in ways:
        found = duel(2, 5, range(1, 101), divides, margin=margin, pulls=pulls, seed=0, **QUIET)
        assert (found.verdict, found.exit_code, found.margin) == (verdict, code, margin)
        assert found.statement.startswith(verdict.capitalize())
    assert duel(2, 5, range(1, 101), divides, margin=0.5, **QUIET).candidate == 5
    assert duel(2, 5, range(1, 101), divides, margin=0.05, **QUIET).candidate == 2


def test_the_certificate_of_a_gate_claims_what_the_gate_proved():
    """The second is .2 worse, and passes with a margin of .4: it is not within .05 of the best."""
    table = np.array([[1.0] * 70 + [0.0] * 30, [1.0] * 50 + [0.0] * 50])
    for seed in range(5):
        found = duel(0, 1, range(100), lambda row, one: table[row, one], margin=0.4, seed=seed, **QUIET)
        assert (found.verdict, found.candidate) == ("pass", 1)
        assert all(claim.epsilon >= 0.2 for claim in found.certificate.claims)
        assert "within 0.4 of the best" in found.certificate.statement
        early = duel(0, 1, range(100), lambda row, one: table[row, one], margin=0.4, pulls=12, seed=seed, **QUIET)
        assert all(claim.epsilon >= -0.2 for claim in early.certificate.claims)
    failed = duel(0, 1, range(100), lambda row, one: table[row, one], margin=0.0, seed=0, **QUIET)
    assert (failed.verdict, failed.candidate) == ("fail", 0)


@pytest.mark.parametrize("margin", [None, 0.1])
def test_a_duel_that_ends_before_both_have_a_score_is_undecided(margin):
    found = duel(2, 5, range(1, 101), divides, margin=margin, pulls=1, seed=0, **QUIET)
    assert (found.verdict, found.exit_code, found.evaluations) == ("undecided", 3, 1)
    assert {found.first.candidate, found.second.candidate} == {2, 5}
    assert (found.interval, found.discordant) == ((-1.0, 1.0), ((), ()))
    assert len(select([2, 5], range(1, 101), divides, pulls=1, seed=0, **QUIET).scores) >= 1


def test_after_all_examples_the_interval_is_the_difference():
    found = duel(2, 3, range(1, 13), divides, epsilon=1e-6, seed=0, **QUIET)
    assert found.evaluations == 24
    assert found.interval == (pytest.approx(-2 / 12, abs=1e-15), pytest.approx(-2 / 12, abs=1e-15))


def test_graded_scores_and_their_margins_are_in_the_callers_units():
    rng = np.random.default_rng(0)
    table = 5.0 * np.clip(np.array([[0.5], [0.6]]) + 0.1 * rng.standard_normal((2, 300)), 0.0, 1.0)
    how = {"family": "graded(0,5)", "seed": 0, **QUIET}
    found = duel(0, 1, range(300), lambda row, one: table[row, one], epsilon=0.2, **how)
    assert found.verdict == "second"
    assert found.interval[0] <= table[1].mean() - table[0].mean() <= found.interval[1]
    gate = duel(1, 0, range(300), lambda row, one: table[row, one], margin=0.25, **how)
    assert (gate.verdict, gate.margin) == ("fail", 0.25)
    assert "by more than 0.25" in gate.statement


@pytest.mark.parametrize("margin", [None, 0.1])
def test_a_file_keeps_it_and_it_goes_on(margin, tmp_path):
    how = {"margin": margin, "epsilon": 0.02, **QUIET}
    kept = {"storage": tmp_path / "one.db", "resume": True, **how}
    early = duel(2, 3, range(1, 121), divides, pulls=15, **kept)
    assert (early.verdict, early.evaluations) == ("undecided", 15)
    late = duel(2, 3, range(1, 121), divides, **kept)
    again = duel(2, 3, range(1, 121), divides, seed=late.certificate.seed, **how)
    assert same(late, again) or late.certificate.digest != again.certificate.digest
    assert (late.verdict, late.interval, late.evaluations) == (again.verdict, again.interval, again.evaluations)
    assert verify(tmp_path / "one.db").proved
    with pytest.raises(ValueError, match="candidates must be the same as in the record"):
        duel(2, 5, range(1, 121), divides, **kept)
    with pytest.raises(ValueError, match="the target must be the recorded one"):
        duel(2, 3, range(1, 121), divides, **kept | ({"epsilon": 0.03} if margin is None else {"margin": 0.2}))
    with pytest.raises(ValueError, match="name must be a choice that select began"):
        select([2, 3], range(1, 121), divides, name="duel", storage=tmp_path / "one.db", resume=True, **QUIET)


async def slowly(divisor, number):
    await asyncio.sleep(1e-5 * (number % 3))
    return divides(divisor, number)


def test_every_way_to_run_it():
    plain = duel(2, 5, range(1, 101), divides, seed=0, **QUIET)
    assert same(duel(2, 5, range(1, 101), slowly, seed=0, width=1, **QUIET), plain)
    assert same(asyncio.run(aduel(2, 5, range(1, 101), slowly, seed=0, width=1, **QUIET)), plain)
    for how in ({"executor": "threads", "workers": 3}, {"executor": "processes", "workers": 2}):
        assert duel(2, 5, range(1, 101), divides, seed=0, **how, **QUIET).verdict == "first"
    assert asyncio.run(aduel(2, 5, range(1, 101), slowly, seed=0, **QUIET)).verdict == "first"


def test_failures():
    with pytest.raises(PullFailed, match="ZeroDivisionError"):
        duel(0, 5, range(1, 101), divides, seed=0, **QUIET)
    assert duel(0, 5, range(1, 101), divides, seed=0, on_error="worst", **QUIET).verdict == "second"


def test_bad_input():
    for arguments, how, words in (
        ((2, 5, "ab", divides), {}, "examples must be a list, got 'ab'"),
        ((2, 5, [], divides), {}, "examples must not be empty"),
        ((2, 5, [], divides), {"margin": 0.1}, "examples must not be empty"),
        ((2, 5, (one for one in "ab"), divides), {"margin": 0.1}, "examples must be a list"),
        ((2, 5, range(9), divides), {"margin": float("nan")}, "margin must"),
        ((2, 5, range(9), 3), {}, "evaluate must be a function, got 3"),
        ((2, 5, range(9), divides), {"margin": "small"}, "margin must be a real number, got 'small'"),
        ((2, 5, range(9), divides), {"margin": -0.5}, "margin must lie in"),
        ((2, 5, range(9), divides), {"family": "normal"}, "family must be"),
        ((2, 5, range(9), divides), {"delta": 2.0}, "delta must"),
    ):
        with pytest.raises(ValueError, match=words):
            duel(*arguments, **how, **QUIET)


def test_a_short_list_of_two_costs_less_than_a_duel_which_says_more():
    table = np.random.default_rng(0).random((2, 400)) < np.array([[0.7], [0.5]])
    how = {"seed": 1, **QUIET}
    chosen = select([0, 1], range(400), lambda row, one: table[row, one], **how)
    fought = duel(0, 1, range(400), lambda row, one: table[row, one], **how)
    assert chosen.candidate == 0
    assert fought.verdict == "first"
    assert chosen.evaluations < fought.evaluations
