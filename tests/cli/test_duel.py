"""``topalpha duel``: verdicts, exit codes and refusals."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from topalpha import ScoreTable
from topalpha.cli import main


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    common = rng.random(300)
    rows = [(np.where(rng.random(300) < 0.9, common, rng.random(300)) < rate) for rate in (0.7, 0.75, 0.3)]
    table = ScoreTable(["old", "new", "bad"], [str(place) for place in range(300)], np.array(rows))
    table.write(tmp_path / "scores.csv")
    return str(tmp_path / "scores.csv")


def run(*arguments):
    done = CliRunner().invoke(main, ["duel", *arguments])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("more", "code", "begins"),
    [
        (("old", "bad"), 0, "The first candidate is better: with probability at least 0.95"),
        (("bad", "old"), 0, "The second candidate is better"),
        (("old", "old"), 0, "They are equal up to 0.05"),
        (("old", "new", "--margin", "0.05"), 0, "Pass: with probability at least 0.95"),
        (("old", "bad", "--margin", "0.05"), 1, "Fail: with probability at least 0.95"),
        (
            ("old", "new", "--margin", "0.05", "--evaluations", "6"),
            3,
            "Undecided: whether the second",
        ),
    ],
)
def test_a_verdict_is_an_exit_code(scores, more, code, begins):
    found, printed = run(scores, "--candidates", *more, "--seed", "1")
    assert found == code
    assert printed.startswith(begins)


def test_json(scores):
    code, printed = run(scores, "--candidates", "old", "bad", "--seed", "1", "--json", "-")
    found = json.loads(printed)["duel"]
    assert (code, found["verdict"]) == (0, "first")
    assert found["interval"][1] < 0.0
    assert found["certificate"]["algorithm"] == "duel"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--candidates", "old", "newer"), "second must be one of old, new, bad, got 'newer'"),
        (("--candidates", "old", "new", "--margin", "1.5"), "margin must lie in [0, 1), got 1.5"),
        (("--candidates", "old"), "requires 2 arguments"),
        ((), "Missing option '--candidates'"),
    ],
)
def test_refusals_are_one_sentence(scores, more, words):
    code, printed = run(scores, *more)
    assert code == 2
    assert words in printed
    assert len(printed.splitlines()) <= 3
