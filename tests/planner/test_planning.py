"""Plans: smaller targets cost more, options pass on, bad input and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support.plan_command import call, refused
from topalpha import ScoreTable
from topalpha.algorithms import design
from topalpha.planner import plan
from topalpha.testset.replays import replays

TARGET = (0.2, 0.3, 0.2)


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


def test_a_plan_for_select_costs_what_choices_cost():
    """On lists whose pass rates are drawn evenly, as the second line of the plan has them."""
    found = plan(None, 0.1, 0.1, candidates=8, examples=40, runs=100)
    rng, costs = np.random.default_rng(0), []
    for seed in range(100):
        scores = rng.random((8, 40)) < rng.random((8, 1))
        table = ScoreTable([f"c{one}" for one in range(8)], [f"e{one}" for one in range(40)], scores)
        costs.append(replays(table, epsilon=0.1, delta=0.1, seed=seed).run(0).pulls)
    assert found.algorithm == "paired"
    assert found.cap.pulls == 320
    assert max(costs) <= 320
    spread = np.hypot(np.std(costs) / 10.0, found.costs[1].stderr)
    assert abs(np.mean(costs) - found.costs[1].mean) < 4.0 * spread
    assert found.costs[0].mean > found.costs[1].mean + 4.0 * spread  # the control: candidates that are alike cost more


def test_a_plan_for_a_list_varies_its_length_and_bills_evaluations():
    found = plan(None, 0.2, 0.2, candidates=9, examples=30, price=0.5, seconds=60.0, runs=8)
    assert [(row.parameter, row.value) for row in found.rows[:4]] == [
        ("candidates", 4), ("candidates", 18), ("examples", 15), ("examples", 60),
    ]  # fmt: skip
    assert found.rows[0].arms == 4
    assert "the best of a list of 9 on 30 examples" in found.statement
    assert [one.case for one in found.bills] == ["all candidates are alike", "candidates are spread evenly", "at most"]
    assert found.bills[-1][1:] == (270, 135.0, 4.5)
    assert found.bills[0].money == 0.5 * found.costs[0].mean
    top = plan(0.3, 0.2, 0.2, candidates=90, examples=30, runs=8)
    assert "the top 30% of a list of 90" in top.statement
    assert top.arms < 90
    assert top.rows[0].parameter == "alpha"
    unpriced = plan(None, 0.2, 0.2, candidates=9, runs=8)
    assert unpriced.algorithm == "joint-lucb"
    assert [one.money for one in unpriced.bills] == [None, None]  # no cap is proved


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"candidates": 0}, "candidates must be a whole number"),
        ({"examples": 2.5}, "examples must be a whole number"),
        ({"examples": 2_000_000}, "examples must be at most 1000000"),
        ({"price": -1.0}, "price must be"),
        ({"seconds": float("nan")}, "seconds must be"),
        ({"examples": 9, "family": "bernoulli"}, "family must be left out where examples are given"),
        ({"examples": 9, "minimise": True}, "minimise must be left out where examples are given"),
        ({"examples": 9, "algorithm": "kl-lucb"}, "algorithm must be one of cc-lucb, joint-lucb"),
        ({"pool": 9}, "options must not name a pool: give candidates"),
    ],
)
def test_bad_lists_and_prices_get_one_sentence(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        plan(None, 0.2, 0.2, **given)


def test_the_command_plans_for_select():
    asked = ("--candidates", "9", "--examples", "30", "--epsilon", ".2", "--delta", ".2", "--runs", "8")
    text = " ".join(call(*asked, "--price", "0.5", "--seconds", "60").stdout.split())
    assert "the best of a list of 9 on 30 examples" in text
    assert "every example of every candidate" in text
    assert "at most 270 135.00 4.50" in text
    assert "What they cost" not in call(*asked).stdout
    found = json.loads(call(*asked, "--json", "-").stdout)
    assert found == json.loads(json.dumps(plan(None, 0.2, 0.2, candidates=9, examples=30, runs=8).to_dict()))
    assert refused("--examples", "30", "--family", "bernoulli").startswith("family must be left out")
    assert refused("--price", "-1").startswith("price must")


def test_an_interrupted_plan_is_code_130(monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("topalpha.planner.cost.finish", interrupt)
    assert call("--algorithm", "lucb++", code=130).stderr == "topalpha: interrupted\n"
