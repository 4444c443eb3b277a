"""`topalpha scores`: it replays and audits, and its code is the verdict."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tests.support.folders import ROOT
from topalpha import ScoreTable
from topalpha.cli import main
from topalpha.testset.score_audit import RuleRuns

RECORDED = ROOT / "examples" / "prompt_scores.csv"


def call(*arguments, code=0):
    result = CliRunner().invoke(main, ["scores", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.slow
def test_the_command_replays_and_audits():
    fields = json.loads(call(RECORDED, "--runs", 50, "--epsilon", 0.1, "--json", "-").stdout)
    assert set(fields) == {"file", "replay", "audit"}
    chosen = ScoreTable.read(RECORDED).select(epsilon=0.1)
    assert fields["replay"] == json.loads(json.dumps(chosen.to_dict()))
    found = fields["audit"]
    assert found["passed"] is True
    assert (found["pool"], found["candidates"], found["examples"], found["runs"]) == ("list", 40, 100, 50)
    assert found["select"]["evaluations"]["most"] <= found["select"]["full_evaluations"] == 4000
    assert [one["rule"] for one in found["thumbs"]] == ["25 examples each", "race at 95%"]
    for one in (found["select"], *found["thumbs"]):
        assert one["errors"]["interval"][0] <= one["errors"]["rate"] <= one["errors"]["interval"][1]
    endless = json.loads(call(RECORDED, "--runs", 5, "--endless", "--epsilon", 0.2, "--json", "-").stdout)["audit"]
    assert (endless["pool"], endless["alpha"], endless["select"]["candidates"]) == ("endless", 0.05, 114)
    assert endless["thumbs"][0]["candidates"] == 59


@pytest.mark.slow
def test_the_command_is_readable_and_its_code_is_the_verdict(monkeypatch):
    output = call(RECORDED, "--runs", 20).stdout
    for words in ("40 candidates, 100 examples", "prompt 5", "of the best of the list", "select (cc-lucb)", "race"):
        assert words in output
    assert "The errors of select are compatible with a probability of at most 5%." in output
    monkeypatch.setattr(RuleRuns, "compatible", False)
    assert "NOT compatible" in call(RECORDED, "--runs", 20, code=1).stdout


def test_the_command_refuses_in_one_sentence():
    for arguments, words in (
        (("--alpha", "2"), "alpha must lie strictly between 0 and 1"),
        (("--epsilon", "0"), "epsilon must be positive"),
        (("--algorithm", "kl-lucb"), "algorithm must be one of cc-lucb, joint-lucb, got 'kl-lucb'"),
        (("--runs", "0"), "runs must be a whole number of at least 1"),
    ):
        result = call(RECORDED, *arguments, code=2)
        assert result.stdout == ""
        assert words in result.stderr
