"""Files of earlier versions: they open, resume and verify, and what was altered in them does not pass."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
import records

from topalpha import Refuted, Session, resume, select, verify
from topalpha.report import html
from topalpha.storage import listing, read

QUIET = {"progress": "none", "allow_pickle": True}


@pytest.fixture(scope="module")
def former(tmp_path_factory):
    return records.unpacked(tmp_path_factory.mktemp("records"))


@pytest.fixture
def copy(tmp_path):
    return records.unpacked(tmp_path)


def test_all_of_them_open(former):
    found = {one.name: one.status for one in listing(former)}
    assert set(records.GOES_ON) < set(found)
    assert set(found.values()) == {"stopped", "pulls", "failed", "running"}


@pytest.mark.parametrize("name", [*records.GOES_ON, "select", "costs", "costs so far"])
def test_all_that_ended_verify(former, name):
    recording = read(former, name)
    assert verify(former, name, allow_pickle=True).to_dict() == recording.certificate


@pytest.mark.parametrize("name", records.GOES_ON)
def test_all_go_on(copy, name):
    draw, pull = records.GOES_ON[name]
    items = list(range(20)) if name == "list" else None
    before = read(copy, name)
    result = resume(copy, draw, pull, items=items, name=name, pulls=7, **QUIET)
    after = read(copy, name)
    assert after.tells[: len(before.tells)] == before.tells
    assert len(after.tells) == len(before.tells) + (0 if before.status == "stopped" else 7) or result.stopped
    assert verify(copy, name, allow_pickle=True) == result.certificate


def test_those_driven_by_hand_and_the_choice_go_on(copy):
    for name in ("costs", "costs so far", "killed"):
        with Session.resume(copy, name) as session:
            session.finish("pulls")
        assert verify(copy, name).pulls == session.history.t
    chosen = select(
        records.NAMES,
        list(range(20)),
        records.passes,
        epsilon=0.2,
        storage=copy,
        name="select",
        resume=True,
        progress="none",
    )
    assert chosen.stopped


def test_a_report_is_made_of_each(former):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    for name in ("clock", "failed", "killed"):
        assert "Not verified, for no pull bears them out" in html(former, name)


CHANGES = {
    "a bound": "UPDATE snapshots SET upper = upper - 1e-9 WHERE arm = 0",
    "a mean": "UPDATE snapshots SET mean = mean + 1e-9 WHERE pulls > 0 AND arm = 1",
    "pulls": "UPDATE snapshots SET pulls = pulls + 1 WHERE arm = 1",
    "progress": "UPDATE progress SET data = json_set(data, '$.mean', 0.99)",
    "progress of another moment": "UPDATE progress SET data = json_set(data, '$.pulls', 3)",
}


@pytest.mark.parametrize("name", ["clock", "failed"])
@pytest.mark.parametrize("change", CHANGES)
def test_altered_figures_are_refused(copy, name, change):
    with closing(sqlite3.connect(copy)) as connection, connection:
        statement = CHANGES[change]
        where = " AND " if " WHERE " in statement else " WHERE "
        statement += where + f"search = (SELECT id FROM searches WHERE name = '{name}')"
        assert connection.execute(statement).rowcount > 0
    with pytest.raises(Refuted, match="must be"):
        verify(copy, name)
