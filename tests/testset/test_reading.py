"""Tables of recorded scores: every form gives the same table, and bad files get one sentence."""

from __future__ import annotations

import re

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.support.score_tables import named
from topalpha import ScoreTable
from topalpha.cli import main
from topalpha.testset.reading import from_csv, from_json

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


SCORE = "the score of 'short' on 'q1' must be 0, 1, true, false, pass or fail, or a number between 0 and 1, got "


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
        (
            "name,q1\nshort,\n",
            f"{SCORE}''",
        ),
        (
            "name,q1\nshort,1.5\n",
            f"{SCORE}'1.5'",
        ),
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
        (
            '{"short": {"q1": null}}',
            f"{SCORE}None",
        ),
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
    says("scores must be 0 or 1, or lie between 0 and 1, got [1.5]", ["a"], ["q"], [[1.5]])
    says("scores must be 0 or 1, or lie between 0 and 1, got [nan]", ["a"], ["q"], [[float("nan")]])
    says("scores must be 0 or 1, or lie between 0 and 1, got 'str", ["a"], ["q"], [["1"]])


def test_files_that_are_not_there_or_not_text(tmp_path):
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    for name, words in (("none.csv", "(no such file"), ("bytes.csv", "(it is not utf-8)"), ("x.txt", "end in .csv")):
        with pytest.raises(ValueError, match="the file of scores must") as caught:
            ScoreTable.read(tmp_path / name)
        assert words in str(caught.value)


def test_where_the_top_begins():
    table = named([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    assert [table.top(alpha) for alpha in (0.1, 0.2, 0.21, 0.4, 0.99)] == [1.0, 1.0, 0.75, 0.75, 0.0]


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a": [' + "1" * 5000 + "]}"], ids=["deep", "long"])
def test_json_that_python_cannot_hold_is_refused(text):
    with pytest.raises(ValueError, match="scores must be JSON, got other text"):
        from_json(text)
