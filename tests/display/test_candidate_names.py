"""Names of candidates: one line, short, and never an error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topalpha.display.candidate_names import called, short_name, titled, titled_text
from topalpha.storage.encoding import PICKLED, quotation


class Broken:
    def __repr__(self):
        raise RuntimeError("no text")


class Huge:
    def __repr__(self):
        return f"Huge(weights=[{'0.123456789, ' * 10**5}])"


def nested(depth):
    found = 1
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("candidate", "name"),
    [
        ({"rate": 0.931241, "depth": 3, "kind": "rbf"}, "{rate: 0.9312, depth: 3, kind: rbf}"),
        ({"prompt": "Think first, then say it.", "top": None}, "{prompt: “Think first, then say it.”, top: None}"),
        ("Be brief.\n\tBe kind.", "“Be brief. Be kind.”"),
        ("", "“”"),
        (0.931241, "candidate 0.9312"),
        (True, "candidate True"),
        (3, "candidate 3"),
        ((64, 0.1234567), "candidate [64, 0.1235]"),
        (np.array([0.63696169, 0.5]), "candidate [0.637, 0.5]"),
        (np.float32(0.5), "candidate 0.5"),
        (Broken(), "<Broken object>"),
        ({"model": Broken(), "C": 12.345678}, "{model: <Broken object>, C: 12.35}"),
        (None, "arm 14"),
        ("\x1b[2Jproved\u202e", "“�[2Jproved�”"),
        ("<b>bold</b>", "“<b>bold</b>”"),
    ],
)
def test_names(candidate, name):
    assert called(quotation(candidate), 14) == name


def test_a_number_that_python_does_not_print_has_a_name():
    assert called(10**5000, 14) == "candidate 1.000e+5000"


def test_a_pickle_has_no_name():
    assert called(PICKLED, 14) == titled(PICKLED, 14) == titled_text(PICKLED, 14) == titled_text(None, 14) == "arm 14"


def test_pipelines_are_not_quoted_and_have_four_digits():
    pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    assert called(quotation(make_pipeline(SVC(C=1.2345678))), 0) == "Pipeline(steps=[('svc', SVC(C=1.235))])"


@pytest.mark.parametrize(
    "candidate", ["word " * 10**5, "x" * 10**6, Huge(), nested(900), list(range(10**5)), {"a" * 10**4: {"b": [1] * 99}}]
)
def test_long_ones_are_cut(candidate):
    name = called(quotation(candidate), 0)
    assert "…" in name
    assert len(name) < 120


def test_prompts_that_begin_alike_are_cut_between_words():
    assert short_name("Answer the question as a careful and patient teacher would do it") == (
        "“Answer the question as a careful and patient teacher would…”"
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_any_candidate_has_a_name_of_one_line(candidate):
    name = called(quotation(candidate), 0)
    assert name.isprintable() or "\n" not in name
    assert len(name) < 200
