"""Recorded scores: what is read, that replays are choices, and how often those are wrong."""

from __future__ import annotations

import json
import re
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from folders import ROOT
from marks import quick
from topalpha import ScoreTable
from topalpha.cli import main
from topalpha.execution import Calls
from topalpha.simulation import Count
from topalpha.testset.naive import Thumb, enough, fixed, race
from topalpha.testset.reading import from_csv, from_json
from topalpha.testset.replays import replay_seed, replays
from topalpha.testset.score_audit import RuleRuns, audit
from topalpha.testset.selection import interval

FALSE_ALARM = 1e-6
RECORDED = ROOT / "examples" / "prompt_scores.csv"


def named(matrix):
    matrix = np.asarray(matrix, dtype=bool)
    return ScoreTable([f"p{row}" for row in range(len(matrix))], [f"q{one}" for one in range(matrix.shape[1])], matrix)


def needle(candidates=20, examples=100, best=60, epsilon=0.1):
    """One candidate passes ``best`` examples, all others just too few to be within epsilon of it."""
    rng, rest = np.random.default_rng(0), best - round(epsilon * examples) - 1
    counts = [best] + [rest] * (candidates - 1)
    return named([rng.permutation([1] * count + [0] * (examples - count)) for count in counts])


def twins(candidates=20, examples=40, best=8, epsilon=0.1, share=0.2):
    """The top fifth all pass the same few examples, the others just too few, all of them different ones."""
    top, rest = round(share * candidates), best - round(epsilon * examples) - 1
    matrix = np.zeros((candidates, examples), dtype=bool)
    matrix[:top, :best] = True
    matrix[top:, examples - rest :] = True
    return named(matrix)


# ---- reading


SAME = [
    ("a.csv", "name,q1,q2\nshort,1,0\nlong,true,FALSE\n"),
    ("b.csv", "\ufeffname, q1 ,q2\r\n short ,pass,fail\r\n\r\nlong,1.0,0.0\r\n"),
    ("c.csv", "score,note,example,candidate\n1,,q1,short\n0,,q2,short\n1,x,q1,long\n0,y,q2,long\n"),
    ("d.json", '{"short": {"q1": 1, "q2": 0}, "long": {"q2": false, "q1": true}}'),
    (
        "e.json",
        '[{"candidate": "short", "example": "q1", "score": 1}, {"candidate": "short", "example": "q2", "score": 0.0},'
        ' {"candidate": "long", "example": "q1", "score": "pass", "seconds": 3},'
        ' {"candidate": "long", "example": "q2", "score": "0"}]',
    ),
]


@pytest.mark.parametrize(("name", "text"), SAME)
def test_every_form_gives_the_same_table(name, text, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    table = ScoreTable.read(tmp_path / name)
    assert table.candidates == ("short", "long")
    assert table.examples == ("q1", "q2")
    assert table.matrix.tolist() == [[True, False], [True, False]]


def test_lists_have_examples_by_number():
    table = ScoreTable.from_entries(from_json('{"short": [1, 0], "long": [1, 1]}'))
    assert table.examples == ("1", "2")
    assert table.means.tolist() == [0.5, 1.0]


@given(st.integers(1, 6), st.integers(1, 9), st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=25)
def test_what_is_written_is_read_again(tmp_path_factory, candidates, examples, random):
    names = random.sample(["a,b", 'say "x"', "zwei\nZeilen", "ä", "0", "candidate ", "x" * 99][:6], candidates)
    names = [name.strip() for name in names]
    table = ScoreTable(
        names, [str(place) for place in range(examples)], [[random.random() < 0.5] * examples for _ in names]
    )
    file = tmp_path_factory.mktemp("tables") / "scores.csv"
    table.write(file)
    again = ScoreTable.read(file)
    assert (again.candidates, again.examples) == (table.candidates, table.examples)
    assert np.array_equal(again.matrix, table.matrix)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,q1,q2\nshort,1\n", "row 2 of the scores must have 3 cells, got 2"),
        ("name,q1\nshort,1\nlong,1,1\n", "row 3 of the scores must have 2 cells, got 3"),
        ("name,q1\nshort,\n", "the score of 'short' on 'q1' must be 0, 1, true, false, pass or fail, got ''"),
        ("name,q1\nshort,0.5\n", "the score of 'short' on 'q1' must be 0, 1, true, false, pass or fail, got '0.5'"),
        ("name,q1\nshort,nan\n", "the score of 'short' on 'q1' must be"),
        ("name,q1\nshort,1\nshort,0\n", "each candidate must be unique, got 'short'"),
        ("name,q1,q1\nshort,1,1\n", "each example must be unique, got 'q1'"),
        ("name,q1\n,1\n", "candidates and examples must have names, got ('', 'q1', '1')"),
        ("name,q1\n", "scores must have a header and a row per candidate, got 1"),
        ("", "scores must have a header and a row per candidate, got 0"),
        ("name\nshort\n", "the header of the scores must name at least one example, got ['name']"),
        ('name,q1\n"short,1\n', "scores must be a table of comma-separated values, got unexpected end of data"),
        (
            "candidate,example,score\nshort,q1,1\nshort,q1,0\n",
            "the score of 'short' on 'q1' must occur once, got 'two of them'",
        ),
        (
            "candidate,example,score\nshort,q1,1\nlong,q2,0\n",
            "the score of 'short' on 'q2' must exist, got 'none'",
        ),
    ],
)
def test_bad_csv_gets_one_sentence(text, words, tmp_path):
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        ScoreTable.from_entries(from_csv(text))
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["scores", str(tmp_path / "bad.csv")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"topalpha: {caught.value}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "scores must be JSON"),
        ("3", "scores must be an object or a list of objects, got 3"),
        ("[]", "scores must not be empty, got []"),
        ("{}", "scores must not be empty, got []"),
        ("[3]", "an evaluation must have the entries candidate, example, score, got 3"),
        ('[{"candidate": 1}]', "an evaluation must have the entries candidate, example, score, got"),
        ('{"short": 1}', "the scores of 'short' must be an object or a list, got 1"),
        ('{"short": {"q1": null}}', "the score of 'short' on 'q1' must be 0, 1, true, false, pass or fail, got None"),
        ('{"short": {"q1": 2}}', "got 2"),
        ('{"short": {"q1": NaN}}', "got nan"),
        ('{"short": [1, 0], "long": [1]}', "the score of 'long' on '2' must exist, got 'none'"),
        ('{"short": [1], "short": [0]}', "each name must be unique, got 'short'"),
    ],
)
def test_bad_json_gets_one_sentence(text, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ScoreTable.from_entries(from_json(text))


def test_bad_arrays_get_one_sentence():
    def says(words, *arguments):
        with pytest.raises(ValueError, match=re.escape(words)):
            ScoreTable(*arguments)

    says("candidates must not be empty", [], ["q"], [])
    says("examples must not be empty", ["a"], [], [[]])
    says("candidates must have unique names, got ['a']", ["a", "a"], ["q"], [[1], [0]])
    says("examples must have unique names, got ['q']", ["a"], ["q", "q"], [[1, 0]])
    says("scores must have 2 rows of 1 entries, got (1, 2)", ["a", "b"], ["q"], [[1, 0]])
    says("scores must have 2 rows of 1 entries, got ragged rows", ["a", "b"], ["q"], [[1], [0, 1]])
    says("scores must be 0 or 1, got [0.5]", ["a"], ["q"], [[0.5]])
    says("scores must be 0 or 1, got [nan]", ["a"], ["q"], [[float("nan")]])
    says("scores must be 0 or 1, got 'str", ["a"], ["q"], [["1"]])


def test_files_that_are_not_there_or_not_text(tmp_path):
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    for name, words in (("none.csv", "(no such file"), ("bytes.csv", "(it is not utf-8)"), ("x.txt", "end in .csv")):
        with pytest.raises(ValueError, match="the file of scores must") as caught:
            ScoreTable.read(tmp_path / name)
        assert words in str(caught.value)


def test_where_the_top_begins():
    table = named([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    assert [table.top(alpha) for alpha in (0.1, 0.2, 0.21, 0.4, 0.99)] == [1.0, 1.0, 0.75, 0.75, 0.0]


# ---- replays are choices


@pytest.mark.parametrize(
    ("algorithm", "endless"),
    quick(product(["cc-lucb", "joint-lucb"], [False, True]), [("cc-lucb", False)]),
)
def test_a_compiled_replay_is_what_select_does(algorithm, endless):
    table = ScoreTable.read(RECORDED)
    target = {"alpha": 0.1 if endless else None, "epsilon": 0.1, "endless": endless, "algorithm": algorithm}
    compiled = replays(table, seed=5, **target)
    for index in range(6):
        outcome = compiled.run(index)
        chosen = table.select(seed=replay_seed(5, index), **target)
        assert outcome.pulls == chosen.evaluations
        assert outcome.mean == table.means[table.candidates.index(chosen.candidate)]
        assert len(chosen.scores) == compiled.algorithm.arms


def test_the_same_seed_is_the_same_choice():
    table = ScoreTable.read(RECORDED)
    one, again, other = (table.select(seed=seed) for seed in (0, 0, 1))
    assert one.to_dict() == again.to_dict()
    assert one.to_dict() != other.to_dict()
    found = [table.audit(runs=5, seed=2, workers=workers).to_dict() for workers in (1, 3)]
    assert found[0] == found[1]


# ---- errors


@pytest.mark.statistical
@pytest.mark.parametrize("algorithm", quick(["cc-lucb", "joint-lucb"], ["cc-lucb"]))
def test_choices_from_a_list_err_no_more_often_than_delta(algorithm):
    found = audit(needle(), epsilon=0.1, runs=400, algorithm=algorithm)
    assert found.passed
    assert found.select.errors.count > 0, "a table on which nothing ever errs tests little"
    assert found.select.costs.max() <= found.select.full == 2000
    assert found.select.share < 0.5
    assert found.thumbs[0].errors.rate > 0.5
    assert not found.thumbs[0].compatible


@pytest.mark.statistical
def test_negative_control_a_wrong_delta_is_found_out():
    table = needle()
    costs, scores = replays(table, epsilon=0.1, delta=0.9).many(200)
    wrong = RuleRuns("select", 20, costs, scores, threshold=0.5 - 1e-9, delta=0.05, full=2000)
    assert not wrong.compatible


@pytest.mark.statistical
@pytest.mark.parametrize("algorithm", quick(["cc-lucb", "joint-lucb"], ["cc-lucb"]))
def test_choices_from_a_pool_err_no_more_often_than_delta_and_a_shared_order_does(algorithm, monkeypatch):
    """Where the good candidates pass the same examples, one unlucky order for all of them ruins all of them."""
    table, target = twins(), {"alpha": 0.2, "epsilon": 0.1, "endless": True, "algorithm": algorithm}
    threshold = table.top(0.2) - 0.1 - 1e-9

    def errors():
        _, scores = replays(table, **target).many(200)
        return Count(int((scores < threshold).sum()), 200)

    assert errors().excess(0.05) > FALSE_ALARM
    own = Calls.order
    monkeypatch.setattr(Calls, "order", lambda self, arm: own(self, 0))
    assert errors().excess(0.05) < FALSE_ALARM


@pytest.mark.statistical
def test_intervals_of_all_candidates_hold_at_once_and_such_of_another_level_do_not():
    table, delta, runs = ScoreTable.read(RECORDED), 0.2, 40
    failed = loose = 0
    for seed in range(runs):
        found = table.select(epsilon=0.1, delta=delta, seed=seed)
        truth = [table.means[one.index] for one in found.scores]
        failed += any(not one.low <= mean <= one.high for one, mean in zip(found.scores, truth, strict=True))
        ends = [interval(100, one.passes, one.evaluations, 0.1, 0.9) for one in found.scores]
        loose += any(not low <= mean <= high for (low, high), mean in zip(ends, truth, strict=True))
    assert Count(failed, runs).excess(delta) > FALSE_ALARM
    assert Count(loose, runs).excess(delta) < FALSE_ALARM


# ---- rules of thumb, by hand


def test_rules_of_thumb_by_hand():
    rng = np.random.default_rng(0)
    outcomes = np.array([[1] * 25, [0] * 25, [1] * 12 + [0] * 13], dtype=bool)
    assert fixed(25)(outcomes, rng) == (0, 75)
    assert fixed(10)(outcomes, rng)[1] == 30
    # After 10 examples the second is out (10 against 0); after 20 the third is at 12 against 20, significantly worse:
    # shares 21/22 and 13/22 after smoothing, a difference of 0.4 against 1.96 sqrt((0.0434 + 0.2417) / 20) = 0.234.
    assert race(outcomes, rng) == (0, 30 + 20)
    assert {race(outcomes[[0, 0]], rng)[0] for _ in range(20)} == {0, 1}
    assert race(outcomes[[0, 0]], rng)[1] == 50
    assert enough(0.05, 0.05) == 59
    costs, scores = Thumb(fixed(5), outcomes, 7, 0).many(4)
    assert costs.tolist() == [35] * 4
    assert set(scores) <= {1.0, 0.0, 0.48}


# ---- the command


def call(*arguments, code=0):
    result = CliRunner().invoke(main, ["scores", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


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


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a": [' + "1" * 5000 + "]}"], ids=["deep", "long"])
def test_json_that_python_cannot_hold_is_refused(text):
    with pytest.raises(ValueError, match="scores must be JSON, got other text"):
        from_json(text)


def test_replays_of_more_candidates_than_memory_holds_are_refused():
    table = ScoreTable(["short", "long"], ["q1", "q2"], [[1, 0], [1, 1]])
    with pytest.raises(ValueError, match="alpha must be large enough for at most 100,000 candidates, got 1e-07"):
        table.audit(endless=True, alpha=1e-7, runs=1)
