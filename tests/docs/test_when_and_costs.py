"""Figures that the pages "when to use what" and "what it costs" take from studies."""

from __future__ import annotations

import json

import pytest

from tests.support.folders import ROOT

DOCS = ROOT / "docs"


def words(name):
    return " ".join((DOCS / f"{name}.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    "sentence",
    [
        "kept its promise in 14 of 14 rows",
        "It took more fits than `RandomizedSearchCV(n_iter=60, cv=5)` in 14 of 14, 1.1 to 22.9 times as many",
        "the random search that would have done took 150 fits in one row and 1,200 in another",
        "With fewer fits and no more regret there was a rival in 9 of 14: 0 of 5 on cancer, 5 of 5 on digits, 4 of 4",
    ],
)
def test_what_is_said_of_model_search_is_what_that_study_says(sentence):
    assert sentence in words("when")
    assert sentence in words("model_search")


def test_the_example_of_optuna_is_in_the_tables():
    digits = words("model_search").partition("### digits")[2].partition("### diabetes")[0]
    rows = {line.split(" | ")[0].strip(" `"): line.split(" | ") for line in digits.split(" | | ") if "`" in line}
    assert rows["Optuna(TPE, 60 trials, cv=5)"][1::6] == ["300", "0.0016"]
    assert rows["TopAlphaSearchCV(alpha=0.05, epsilon=0.01, delta=0.05)"][1::6] == ["719", "0.0018"]
    said = words("when")
    assert "`Optuna(TPE, 60 trials, cv=5)` took 300 fits to a regret of 0.0016, and ours 719 to 0.0018" in said


def test_hyperband_is_quoted_as_it_was_measured():
    comparison = words("comparison")
    for row in ("| 1k | 957 | 0.08 |", "| 4k | 3.87k | 0.0075 |"):
        assert f"| Beta(1,1) up to 0.95 | `hyperband` {row}" in comparison
    assert "| Beta(1,1) up to 0.95 | `joint-lucb` | its own | 1.53k | 0 |" in comparison
    assert "wrong in 8% of runs with 957 evaluations and in 0.75% with 3,870" in words("when")
    assert "after 1,530 on average, with no error" in words("when")


def test_races_and_plans_are_quoted_as_they_were_measured():
    recorded = json.loads((DOCS / "recorded_tables" / "results.json").read_text(encoding="utf-8"))["cases"]
    prompts = json.loads((DOCS / "prompt_choice" / "results.json").read_text(encoding="utf-8"))["cases"]

    def rule(case, name):
        return next(one for one in case["rules"] if one["rule"].startswith(name))

    def mean(case, name):
        return rule(case, name)["evaluations"]["mean"]

    races = [recorded[name] for name in ("models", "encoder", "finer", "small")]
    races += [prompts[name] for name in ("pool", "alike", "list", "few")]
    ratios = [mean(case, "race") / mean(case, "select") for case in races]
    lowest, highest = min(ratios), max(ratios)
    worst = max(rule(case, "race")["errors"]["rate"] for case in races)
    said = words("when")
    assert f"costs between {lowest:.2g} and {highest:.2g} times as much as `select`" in said
    assert f"wrong in at most {100 * worst:.2g}% there" in said
    assert f"hard it is wrong in {100 * rule(prompts['needle'], 'race')['errors']['rate']:.1f}%" in said
    costs = [
        mean(case, "select") for case in (recorded["models"], recorded["encoder"], prompts["list"], prompts["few"])
    ]
    first, second, third, fourth = (f"{cost:,.0f}" for cost in costs)
    assert f"choices took {first}, {second}, {third} and {fourth} evaluations on average" in words("costs")
