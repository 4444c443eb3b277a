"""Pilots: means shrunk by their noise, plans near the truth, and files that cannot be one."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from tests.support.plan_command import refused
from topalpha.algorithms import design
from topalpha.families import (
    Bernoulli,
    Gaussian,
    LowVariance,
    Normal,
    PassFail,
)
from topalpha.planner import plan, read_pilot, summarise
from topalpha.reservoirs import Beta, Uniform
from topalpha.simulation import simulate


def coins(means, evaluations: int, seed: int) -> dict[int, list[float]]:
    rng = np.random.default_rng(seed)
    return {place: (rng.random(evaluations) < mean).astype(float).tolist() for place, mean in enumerate(means)}


def test_raw_means_are_shrunk_by_the_variance_that_noise_adds():
    data = {"a": [0.0, 2.0], "b": [3.0, 5.0], "c": [5.0, 7.0]}
    pilot = summarise(data, Gaussian(2.0))
    raw, within = statistics.variance([1.0, 4.0, 6.0]), 2.0
    assert pilot.raw_spread == pytest.approx(math.sqrt(raw))
    assert pilot.noise == pytest.approx(math.sqrt(within))
    assert pilot.spread == pytest.approx(math.sqrt(raw - within / 2))
    assert statistics.stdev(pilot.law.data) == pytest.approx(pilot.spread)
    assert statistics.mean(pilot.law.data) == pytest.approx(11 / 3)
    assert (pilot.candidates, pilot.evaluations, pilot.rewards, pilot.notes) == (3, 6, None, ())
    assert summarise(list(data.values()), Gaussian(2.0)) == pilot


def test_candidates_that_cannot_be_told_apart_are_planned_as_alike():
    pilot = summarise([[0, 1, 0, 1], [1, 0, 1, 1], [0, 1, 0, 0]])
    assert (pilot.spread, len(set(pilot.law.data))) == (0.0, 1)
    assert "cannot tell" in pilot.notes[0]


def test_the_pilot_finds_the_spread_of_a_known_reservoir():
    law, family = Beta(2.0, 3.0), Bernoulli()
    means = law.sample(400, np.random.default_rng(0))
    pilot = summarise(coins(means, 5, seed=1), family)
    assert pilot.raw_spread > 1.3 * means.std()
    assert pilot.spread == pytest.approx(means.std(), rel=0.1)


def test_a_plan_from_a_pilot_is_near_the_truth():
    truth = simulate(design("cc-lucb", 0.1, 0.1, 0.1), Uniform(0.2, 0.8), runs=50).pulls.mean()
    means = Uniform(0.2, 0.8).sample(100, np.random.default_rng(4))
    found = plan(0.1, 0.1, 0.1, algorithm="cc-lucb", runs=20, pilot=coins(means, 12, seed=5))
    assert 0.6 <= found.costs[0].mean / truth <= 1.6
    assert found.pilot is not None
    assert "not a guarantee" in found.notes[0]


def test_rewards_between_0_and_1_keep_the_pilots_noise():
    rng = np.random.default_rng(0)
    means = rng.uniform(0.3, 0.7, 200)
    pilot = summarise([np.clip(mean + 0.1 * rng.choice([-1, 1], 20), 0, 1).tolist() for mean in means])
    assert pilot.noise == pytest.approx(0.1, rel=0.01)
    drawn = [pilot.rewards.sample(0.5, rng) for _ in range(20_000)]
    assert np.mean(drawn) == pytest.approx(0.5, abs=0.01)
    assert np.std(drawn) == pytest.approx(0.1, rel=0.05)
    assert 0.0 <= min(drawn) <= max(drawn) <= 1.0
    assert summarise([[0, 1], [1, 1]]).rewards is None


def test_a_noisier_pilot_than_sigma_allows_is_pointed_out():
    rng = np.random.default_rng(0)
    data = rng.normal(0.0, 2.0, (10, 10)).tolist()
    assert "more than sigma = 1" in summarise(data, Gaussian(1.0)).notes[-1]
    assert not any("sigma" in note for note in summarise(data, Gaussian(2.0)).notes)


def test_models_without_a_variance_take_the_noise_of_single_rewards():
    assert summarise([[0.4, 0.5], [0.8, 0.9]], LowVariance()).rewards.factor < 0.5
    assert summarise([[4.0, 7.0], [8.0, 9.0]], Normal()).rewards == Gaussian(math.sqrt(2.5))
    assert summarise([[0, 1], [1, 1]], PassFail(20)).rewards is None


def test_both_kinds_of_files_say_the_same_of_coins(tmp_path):
    data = coins([0.2, 0.5, 0.9], 10, seed=0)
    long, short = tmp_path / "long.csv", tmp_path / "short.csv"
    rows = [f"{name},{reward},ignored" for name, rewards in data.items() for reward in rewards]
    long.write_text("\ufeffCandidate, Reward ,when\n" + "\n\n".join(rows), encoding="utf-8")
    short.write_text("candidate,pulls,mean\n" + "".join(f"{a},10,{sum(b) / 10}\n" for a, b in data.items()))
    one, other = read_pilot(long), read_pilot(str(short))
    assert one == summarise(data)
    assert other.law.data == pytest.approx(one.law.data)
    assert (other.evaluations, other.noise) == (30, pytest.approx(one.noise))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("candidate,reward\na,1\na,0\n\nb,1\nb,x\n", "row 6: reward must be a real number, got 'x'"),
        ("candidate,reward\na,1\na,2\n", "row 3: reward must lie in [0, 1], got 2.0"),
        ("candidate,reward\na,1\na\n", "row 3: reward must be a real number, got ''"),
        ("candidate,reward\na,1\n,1\n", "row 3: candidate must have a name, got ''"),
        ("candidate,mean,pulls\na,.5,9\nb,nan,9\n", "row 3: mean must be a real number, got 'nan'"),
        ("candidate,mean,pulls\na,1.5,9\n", "row 2: mean must be finite and between 0 and 1, got 1.5"),
        ("candidate,mean,pulls\na,.5,1.5\n", "row 2: pulls must be a whole number of at least 1, got '1.5'"),
        ("candidate,mean,pulls\na,.5,9\na,.5,9\n", "row 3: candidate must have one row, got 'a'"),
        ("candidate,mean,pulls\na,.5,9\nb,.5,1\n", "pilot must have at least 2 candidates with at least 2 evaluations"),
        ("candidate,reward\na,1\na,0\nb,0\n", "pilot must have at least 2 candidates with at least 2 evaluations"),
        ("candidate,reward\n", "pilot must have at least 2 candidates with at least 2 evaluations"),
        ("name,score\na,1\n", "pilot must have the columns candidate and reward, or candidate, mean and pulls"),
        ("", "pilot must have the columns candidate and reward, or candidate, mean and pulls"),
    ],
)
def test_bad_pilots_get_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "pilot.csv"
    path.write_text(text)
    assert refused("--pilot", str(path)).startswith(sentence)
