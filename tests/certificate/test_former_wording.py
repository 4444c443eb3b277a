"""Certificates in former words verify; mixed or altered words do not."""

from dataclasses import replace

import pytest

from tests.support import records
from topalpha import Refuted, search, verify
from topalpha.certificate import former
from topalpha.session import Session
from topalpha.storage import read


@pytest.fixture
def path(tmp_path):
    target = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}
    search(records.draw, records.toss, **target, storage=tmp_path / "one.db")
    return tmp_path / "one.db"


def test_either_wording_verifies_and_a_mixture_does_not(path):
    today = verify(path)
    with Session.resume(path) as session:
        before = former(today, session.task)
    assert before.statement.startswith("The search ended because the stopping rule was met. With probability at least")
    assert f"the mean of arm {today.arm} is" in before.statement
    assert verify(path, certificate=before) == before
    mixed = (
        replace(today, statement=before.statement),
        replace(today, law=before.law),
        replace(before, statement=before.statement.replace("arm ", "arm 1")),
        replace(today, statement=today.statement.replace("rate: 0.", "rate: 0.1")),
        replace(before, statement=before.statement.replace("0.3 of", "0.2 of")),
    )
    for one in mixed:
        with pytest.raises(Refuted, match="must be what the record bears out"):
            verify(path, certificate=one)


def test_a_search_described_as_the_pool_has_no_former_law(tmp_path):
    found = search(records.draw, records.toss, **records.EASY, about="the pool", storage=tmp_path / "one.db")
    other = replace(found.certificate, law="the law that candidates are drawn from")
    with pytest.raises(Refuted, match="must be what the record bears out"):
        verify(tmp_path / "one.db", certificate=other)


def test_a_search_that_goes_on_takes_the_words_of_today(tmp_path):
    path = records.unpacked(tmp_path, "0.2.0-rules2-sentences.db")
    with Session.resume(path, "several so far") as session:
        session.finish("pulls")
    statement = read(path, "several so far").certificate["statement"]
    assert statement.startswith("With probability at least 0.8, {rate: ")
    assert verify(path, "several so far").statement == statement
