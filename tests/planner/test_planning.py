"""Plans: smaller targets cost more, options pass on, bad input and the command."""

from __future__ import annotations

import json

import pytest

from tests.support.plan_command import call, refused
from topalpha.algorithms import design
from topalpha.planner import plan

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


def test_an_interrupted_plan_is_code_130(monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("topalpha.planner.cost.finish", interrupt)
    assert call("--algorithm", "lucb++", code=130).stderr == "topalpha: interrupted\n"
