"""The planner: exact arms and caps, sound simulations within a budget, the pilot, the command; and executors."""

from __future__ import annotations

import json
import math
import multiprocessing
import pickle
import statistics
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from click.testing import CliRunner

from topalpha.algorithms import PRINCIPAL, design
from topalpha.cli.plan import plan as command
from topalpha.cli.program import Program
from topalpha.families import (
    Bernoulli,
    Exponential,
    Gamma,
    Gaussian,
    LowVariance,
    Mirrored,
    Normal,
    PassFail,
    Poisson,
)
from topalpha.planner import Case, Softened, expect, plan, read_pilot, references, summarise, sure_cap
from topalpha.research.audit.worlds import Thirds
from topalpha.reservoirs import Beta, Clipped, Conditioned, Dirac, Discrete, Empirical, Mixture, TwoPoint, Uniform
from topalpha.simulation import run_chunk, simulate

TARGET = (0.2, 0.3, 0.2)
MAIN = Program("topalpha", commands={"plan": command})


def call(*arguments: str, code: int = 0):
    result = CliRunner().invoke(MAIN, ["plan", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def refused(*arguments: str) -> str:
    result = call(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line.removeprefix("topalpha: ")


def coins(means, evaluations: int, seed: int) -> dict[int, list[float]]:
    rng = np.random.default_rng(seed)
    return {place: (rng.random(evaluations) < mean).astype(float).tolist() for place, mean in enumerate(means)}


# Arms and caps.


@pytest.mark.parametrize("delta", [0.05, 0.001])
@pytest.mark.parametrize(("family", "proxy"), [(Bernoulli(), 0.25), (Bernoulli(0.9), 0.25), (Gaussian(0.5), 0.25)])
def test_the_cap_of_cc_lucb_is_the_one_of_the_proposition(delta, family, proxy):
    alpha, epsilon = 0.05, 0.04
    arms = math.ceil(math.log(1 / (0.95 * 0.9 * delta)) / -math.log(1 - alpha * 0.55))
    pulls = math.ceil(8 * proxy * math.log(arms / (0.1 * 0.1 * delta)) / epsilon**2)
    algorithm = design("cc-lucb", alpha, epsilon, delta, family)
    assert algorithm.arms == arms
    assert sure_cap(algorithm) == (arms + 2 * arms * (pulls - 1), "docs/proofs.md, C.3")


def test_caps_of_the_other_algorithms_are_the_last_times_their_inequalities_allow():
    paper = design("kl-lucb", 0.1, 0.1, 0.1)
    cap = sure_cap(paper).pulls

    def going_on(time: int) -> bool:
        rate = math.log(22 * paper.arms * time**1.1 / 0.1)
        return (time - paper.arms) / 2 <= paper.arms * (1 + 2 * rate / 0.1**2)

    assert going_on(cap)
    assert not going_on(cap + 1)
    for family, proxy in ((Bernoulli(), 0.25), (Gaussian(2.0), 4.0)):
        mixtures = design("lucb++", 0.1, 0.1, 0.1, family)
        pulls = (sure_cap(mixtures).pulls - mixtures.arms) // (2 * mixtures.arms)

        def wide(pulls: int, family=family, proxy=proxy, arms=mixtures.arms) -> bool:
            gaussian = isinstance(family, Gaussian)
            redundancy = family.redundancy(0.0, pulls) if gaussian else 0.5 * math.log(pulls) + math.log(2)
            return pulls * 0.1**2 / (8 * proxy) < math.log(4 * arms / 0.1) + redundancy

        assert wide(pulls)
        assert not wide(pulls + 1)


def test_no_cap_is_claimed_where_none_is_proved():
    unproved = [
        design("joint-lucb", *TARGET),
        design("cc-lucb", *TARGET, bounds="kt"),
        design("cc-lucb", *TARGET, Poisson(3.0)),
        design("cc-lucb", *TARGET)._replace(family=Normal()),
        design("lucb++", *TARGET, Exponential(3.0)),
        design("kl-lucb", *TARGET, pull="least"),
        design("kl-lucb", *TARGET, refresh="overlapping"),
    ]
    for algorithm in unproved:
        assert sure_cap(algorithm).pulls is None
        assert sure_cap(algorithm).source.startswith(f"no cap is proved for {algorithm.traits.name}")


def test_a_finite_set_of_items_is_a_cap():
    algorithm = design("joint-lucb", *TARGET)._replace(family=PassFail(30))
    assert sure_cap(algorithm) == (algorithm.arms * 30, "every item of every candidate")


@pytest.mark.parametrize("name", ["cc-lucb", "lucb++", "kl-lucb"])
def test_runs_stay_below_their_caps(name):
    algorithm = design(name, *TARGET)
    for law in (Dirac(0.5), TwoPoint(0.2, 0.5, 0.5)):
        assert simulate(algorithm, law, runs=50, seed=0).pulls.max() <= sure_cap(algorithm).pulls


# Expected pulls.


@pytest.mark.parametrize(
    ("family", "laws"),
    [
        (Bernoulli(0.8), ["dirac(0.4)", "uniform(0,0.8)"]),
        (Gaussian(0.5), ["dirac(0)", "uniform(-0.5,0.5)"]),
        (Gaussian(0.5, 3.0), ["dirac(2.5)", "uniform(2,3)"]),
        (Poisson(4.0), ["dirac(2)", "uniform(0,4)"]),
        (Exponential(), ["dirac(3)", "uniform(0,6)"]),
        (Gamma(2.0, 3.0), ["dirac(1.5)", "uniform(0,3)"]),
        (Mirrored(Poisson()), ["dirac(-3)", "uniform(-6,0)"]),
        (Normal(), ["dirac(0)", "uniform(-1,1)"]),
        (PassFail(50), ["dirac(0.5)", "uniform(0,1)"]),
        (LowVariance(), ["dirac(0.5)", "uniform(0,1)"]),
    ],
)
def test_reference_laws_fit_the_family(family, laws):
    assert [case.law.expression for case in references(family, 0.3)] == laws


def test_what_fits_into_the_budget_is_what_simulate_measures():
    case = Case("spread", Uniform(0.0, 1.0))
    cost = expect(case, lambda a, e: design("lucb++", a, e, 0.2), 0.2, 0.3, runs=20, seed=3)
    study = simulate(design("lucb++", *TARGET), case.law, runs=20, seed=3)
    assert (cost.runs, cost.scale, cost.extrapolated) == (20, 1.0, False)
    assert cost.mean == study.pulls.mean()
    assert cost.p90 == np.quantile(study.pulls, 0.9)


def test_extrapolation_is_right_for_equal_arms_and_errs_upwards_for_others():
    make = lambda a, e: design("cc-lucb", a, e, 0.2)  # noqa: E731
    for law, least, most in ((Dirac(0.5), 0.75, 1.33), (Uniform(0.0, 1.0), 1.0, 40.0)):
        case = Case("", law)
        exact = expect(case, make, 0.2, 0.03, runs=30)
        coarse = expect(case, make, 0.2, 0.03, runs=30, budget=int(exact.mean / 2))
        assert coarse.extrapolated
        assert coarse.scale == (coarse.epsilon / 0.03) ** 2
        assert least <= coarse.mean / exact.mean <= most


def test_many_arms_are_scaled_too():
    make = lambda a, e: design("cc-lucb", a, e, 0.2)  # noqa: E731
    case = Case("", Dirac(0.5))
    exact = expect(case, make, 0.001, 0.3, runs=8, budget=3_000_000)
    coarse = expect(case, make, 0.001, 0.3, runs=8, budget=100_000)
    assert (exact.extrapolated, coarse.extrapolated, coarse.epsilon) == (False, True, 0.3)
    assert 0.8 <= coarse.mean / exact.mean <= 1.25
    assert expect(case, make, 1e-9, 0.3, runs=8, budget=100_000).scale > 1e6


def test_a_search_that_does_not_end_is_said_not_to():
    law = TwoPoint(0.5, 0.5 + 1e-9, 0.5)
    cost = expect(Case("", law), lambda a, e: design("cc-lucb", a, min(e, 1e-4), 0.2), 0.2, 1e-4, budget=1000)
    assert (cost.mean, cost.runs) == (None, 0)


def test_smaller_targets_cost_more_and_the_seed_decides():
    found = plan(0.2, 0.2, 0.1, algorithm="cc-lucb", runs=20, seed=1)
    ratios = {(row.parameter, row.value): row.ratios[0] for row in found.rows}
    for name, value in (("alpha", 0.2), ("epsilon", 0.2), ("delta", 0.1)):
        assert ratios[name, 2 * value] < 1.0 < ratios[name, value / 2]
    hard, easy = found.costs
    assert hard.mean > easy.mean > found.arms
    assert found == plan(0.2, 0.2, 0.1, algorithm="cc-lucb", runs=20, seed=1, workers=1)
    assert found.costs != plan(0.2, 0.2, 0.1, algorithm="cc-lucb", runs=20, seed=2).costs


def test_options_and_progress_are_passed_on():
    steps = []
    found = plan(*TARGET, algorithm="cc-lucb", runs=2, progress=steps.append, draw_share=0.5)
    assert found.arms == design("cc-lucb", *TARGET, draw_share=0.5).arms
    assert sum(steps) == 2 * (1 + len(found.rows))
    with pytest.raises(ValueError, match="option of cc-lucb must be one of"):
        plan(*TARGET, algorithm="cc-lucb", speed=9)


# The pilot.


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


def test_other_bad_input_gets_one_sentence(tmp_path):
    assert refused("--pilot", str(tmp_path / "none.csv")).startswith("pilot must name a file that can be read (no such")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    assert refused("--pilot", str(tmp_path / "binary.csv")).startswith("pilot must name a CSV file in UTF-8")
    assert refused("--alpha", "2") == "alpha must lie strictly between 0 and 1, got 2.0"
    assert refused("--algorithm", "ucb").startswith("algorithm must be one of ")
    assert refused("--option", "speed=9").startswith("option of joint-lucb must be one of")
    for wrong in ("abc.csv", [1, 2], 7, {"a": "bc", "b": "cd"}):
        with pytest.raises(ValueError, match="pilot must"):
            plan(*TARGET, pilot=wrong)


# The command.


def test_the_command_says_it_in_words_and_in_json(tmp_path):
    cheap = ("--algorithm", "cc-lucb", "--alpha", ".2", "--epsilon", ".3", "--delta", ".2", "--runs", "8")
    text = " ".join(call(*cheap).stdout.split())
    for words in (
        "To find a candidate within 0.3 of the top 20% with probability 80%: draw",
        "Never more than",
        "dirac",
    ):
        assert words in text
    found = json.loads(call(*cheap, "--json", "-").stdout)
    assert found == json.loads(json.dumps(plan(*TARGET, algorithm="cc-lucb", runs=8).to_dict()))
    assert found["arms"] == design("cc-lucb", *TARGET).arms
    assert [cost["law"] for cost in found["costs"]] == ["dirac(0.5)", "uniform(0,1)"]
    assert {row["parameter"] for row in found["rows"]} == {"alpha", "epsilon", "delta"}
    path = tmp_path / "pilot.csv"
    path.write_text("candidate,reward\n" + "".join(f"{one},{one % 2}\n{one},{one % 3 % 2}\n" for one in range(9)))
    planned = json.loads(call(*cheap, "--pilot", str(path), "--json", "-").stdout)
    assert (planned["pilot"]["candidates"], planned["pilot"]["evaluations"]) == (9, 18)
    assert [cost["case"] for cost in planned["costs"]] == ["pilot"]
    assert "It is not a guarantee" in call(*cheap, "--pilot", str(path)).stdout


def test_an_interrupted_plan_is_code_130(monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("topalpha.planner.cost.finish", interrupt)
    assert call("--algorithm", "lucb++", code=130).stderr == "topalpha: interrupted\n"


# Executors.


LAW = Conditioned(Beta(1.0, 1.0), 0.95)


def same(one, other) -> None:
    np.testing.assert_array_equal(one.pulls, other.pulls)
    np.testing.assert_array_equal(one.means, other.means)


@pytest.mark.parametrize("workers", [None, 1, 3, 50])
def test_an_executor_of_threads_changes_nothing(workers):
    algorithm, steps = design("cc-lucb", *TARGET), []
    with ThreadPoolExecutor(2) as pool:
        spread = simulate(algorithm, LAW, 11, 5, workers, Thirds(0.5), steps.append, executor=pool)
    same(spread, simulate(algorithm, LAW, 11, 5, rewards=Thirds(0.5)))
    assert sum(steps) == 11
    assert workers is None or len(steps) == min(workers, 11)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", sorted({"spawn", "fork"} & set(multiprocessing.get_all_start_methods())))
def test_an_executor_of_processes_changes_nothing(method):
    algorithm = design("cc-lucb", *TARGET)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        spread = simulate(algorithm, LAW, 9, 5, 2, Thirds(0.5), executor=pool)
    same(spread, simulate(algorithm, LAW, 9, 5, rewards=Thirds(0.5)))


def test_all_that_travels_pickles():
    families = (Bernoulli(), Gaussian(0.5), Poisson(3.0), Exponential(3.0), Gamma(2.0, 3.0))
    laws = [LAW, Dirac(0.5), TwoPoint(0.1, 0.5, 0.5), Discrete((0.1, 0.4)), Empirical([0.1, 0.4]), Uniform(0.0, 1.0)]
    laws += [Clipped(Beta(1.0, 2.0), 0.5), Mixture((0.5, 0.5), (Dirac(0.5), Uniform(0.0, 1.0)))]
    algorithms = [design(entry.name, *TARGET, family) for entry in PRINCIPAL for family in families]
    for one in (*algorithms, *laws, Thirds(0.5), Softened(0.5), run_chunk):
        assert pickle.loads(pickle.dumps(one)) == one
    for law in laws:
        law.sample(3, np.random.default_rng(0))  # with what a law remembers once it has been used
        assert pickle.loads(pickle.dumps(law)).top(0.1) == law.top(0.1)


class Clogged:
    """An executor whose first task fails and whose others never begin."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure
        self.futures: list[Future] = []

    def submit(self, *arguments):
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_exception(self.failure)
        return self.futures[-1]


@pytest.mark.parametrize("failure", [RuntimeError("a worker is gone"), KeyboardInterrupt()])
def test_a_failure_cancels_what_has_not_begun(failure):
    executor = Clogged(failure)
    with pytest.raises(type(failure)):
        simulate(design("lucb++", *TARGET), LAW, 6, executor=executor, workers=3)
    assert [future.cancelled() for future in executor.futures] == [False, True, True]


def test_an_executor_must_take_tasks():
    with pytest.raises(ValueError, match="executor must have a submit method, got 4"):
        simulate(design("lucb++", *TARGET), LAW, 6, executor=4)
