"""jhr: its guesses by hand, and its budget of errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.marks import quick
from topalpha import design, parse_reservoir, simulate
from topalpha.algorithms.field.jhr import _COINS_WANTED, _DROP, _MOST, _RETURN, _TRIALS
from topalpha.randomness import run_seed
from topalpha.research.audit.cases import JUST_OVER
from topalpha.research.audit.worlds import PlusMinus
from topalpha.reservoirs import TwoPoint
from topalpha.simulation import interpret
from topalpha.testing import check_algorithm

FALSE_ALARM = 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("generous", [False, True])
def test_every_driver_runs_the_same_jhr(generous):
    assert check_algorithm(design("jhr", 0.3, 0.3, 0.1, generous=generous), TwoPoint(0.1, 0.9, 0.4), seed=2).t > 170


def opened(algorithm, level, guess):
    state = [0.0] * algorithm.traits.numbers
    algorithm.open_guess(state, float(level), float(guess))
    return state


def test_the_first_guess_by_hand():
    """Share 1/2, gap 1/sqrt 2, and delta/4 of the error: delta / (1 (1 + 1)^2)."""
    state = opened(design("jhr", 0.1, 0.2, 0.1), 1, 0)
    assert state[_COINS_WANTED] == math.ceil(8.788898) == 9
    assert state[_TRIALS] == math.ceil(8.0 * math.log(4.0 / 0.025) * 2.0) == 82
    assert state[_RETURN] == pytest.approx(0.5 * math.log(18.0 / 0.025) * math.sqrt(2.0))
    assert state[_DROP] == pytest.approx(-0.5 * math.log(9.0) * math.sqrt(2.0))
    assert state[_MOST] == math.ceil(2.0 * (4.0 * math.log(720.0) + 16.0 * math.log(9.0)))


def test_the_first_guess_by_hand_with_the_generous_constants():
    state = opened(design("jhr", 0.1, 0.2, 0.1, generous=True), 1, 0)
    evidence = math.log(14.0 * 9.0 / 0.05)
    most = math.ceil(128.0 * evidence)
    assert state[_COINS_WANTED] == 9
    assert state[_MOST] == most
    assert state[_RETURN] == pytest.approx(8.0 * math.sqrt(2.0) * evidence)
    assert state[_DROP] == pytest.approx(-8.0 * math.sqrt(2.0) * math.log(21.0))
    assert state[_TRIALS] == math.ceil(16.0 * math.log(10.0 / min(0.05 / 8.0, 0.5 / most)))


def test_coins_that_always_fall_the_same_way_cost_what_the_first_guess_says():
    """Two scouts of 82 tosses. With a light one the line is at 0.354: light coins fall 1.55 behind in 5 tosses, a heavy
    one is 4.65 ahead in 8."""
    seen = 0
    for seed in range(12):
        run = interpret(design("jhr", 0.3, 0.3, 0.1), TwoPoint(0.0, 1.0, 0.3), run_seed(seed, 0))
        means = run.means
        if min(means[:2]) == 1.0 or 1.0 not in means[2:11]:
            continue
        seen += 1
        assert run.means[run.search.result.arm] == 1.0
        assert run.search.result.pulls == 2 * 82 + 5 * means[2:].count(0.0) + 8
        assert run.search.result.arm == len(means) - 1
    assert seen >= 6


def spent(algorithm, levels):
    """What the proof lets all guesses of the first ``levels`` levels err: scouts too low, or a light coin returned."""
    total = 0.0
    for level in range(1, levels + 1):
        for guess in range(level + 1):
            state, square = opened(algorithm, level, guess), 0.5 ** (guess + 1)
            scouts = algorithm.scouts * math.exp(-state[_TRIALS] * square / 8.0)
            total += scouts + state[_COINS_WANTED] * math.exp(-2.0 * math.sqrt(square) * state[_RETURN])
    return total


@pytest.mark.parametrize("delta", [0.3, 0.1, 1e-6])
def test_the_guesses_together_spend_at_most_delta(delta):
    tight, generous = design("jhr", 0.1, 0.2, delta), design("jhr", 0.1, 0.2, delta, generous=True)
    assert 0.85 * delta < spent(tight, 40) <= delta  # 1 - 1/41 of it, but for rounding up
    assert spent(generous, 40) <= 0.1 * delta
    assert spent(tight._replace(spent_level=2.0 * delta), 40) > delta, "twice the level must not pass"


def passing(mean, line, confirm, longest=4000):
    """The probability that a coin's sum ever leads the line by more than ``confirm``, by the lattice of its heads."""
    mass, caught = np.ones(1), 0.0
    for time in range(1, longest):
        mass = np.append(mass * (1.0 - mean), 0.0) + np.append(0.0, mass * mean)
        ahead = np.arange(time + 1) - time * line > confirm
        caught += float(mass[ahead].sum())
        mass[ahead] = 0.0
    return caught


@pytest.mark.parametrize("mean", quick([0.05, 0.4, 0.5, 0.7], [0.4]))
def test_a_light_coin_passes_as_rarely_as_the_proof_says(mean):
    for gap, confirm in ((0.25, 3.0), (0.5, 1.5), (0.5, 4.0)):
        assert 0.0 < passing(mean, mean + 0.25 * gap, confirm) <= math.exp(-2.0 * gap * confirm)
    assert passing(0.5, 0.5 + 0.05, 1.5) > math.exp(-2.0 * 0.5 * 1.5), "with less of a margin it must fail"


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("rewards", [None, PlusMinus(0.35)], ids=str)
def test_jhr_errs_at_most_delta(rewards):
    law = parse_reservoir(JUST_OVER)
    right = design("jhr", 0.1, 0.2, 0.2)
    assert simulate(right, law, runs=300, seed=4, rewards=rewards).errors.excess(0.2) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.statistical
def test_jhr_with_levels_far_too_loose_is_found_out():
    law = parse_reservoir(JUST_OVER)
    loose = design("jhr", 0.1, 0.2, 0.2)._replace(spent_level=15.0)
    assert simulate(loose, law, runs=300, seed=4).errors.excess(0.2) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.statistical
def test_jhr_finds_the_heavy_coin_when_nearly_all_are_heavy():
    """Scouts are then all heavy most of the time, and a guess is lost: but there are ever more guesses."""
    study = simulate(design("jhr", 0.5, 0.3, 0.1), TwoPoint(0.3, 0.7, 0.9), runs=100, seed=5)
    assert study.errors.excess(0.1) > FALSE_ALARM
    assert study.pulls.max() < 3_000_000
