"""Files of earlier versions: they open, resume and verify, and what was altered in them does not pass."""

from __future__ import annotations

import gzip
import pickle
import re
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tests.support import records
from tests.support.marks import quick
from topalpha import Refuted, Session, resume, select, verify
from topalpha.former_rules import RULES, restated
from topalpha.report import html
from topalpha.standing import standing
from topalpha.storage import listing, names, read

QUIET = {"progress": "none", "allow_pickle": True}


#: Files with the same searches, made by one version each; the last by a version between 0.2.0 and the next one.
FILES = ("0.1.0.db", "0.2.0.db", "0.2.0-rules2.db")


@pytest.fixture(scope="module", params=FILES)
def former(tmp_path_factory, request):
    return records.unpacked(tmp_path_factory.mktemp("records"), request.param)


@pytest.fixture(params=quick(FILES, ["0.2.0.db"]))
def copy(tmp_path, request):
    return records.unpacked(tmp_path, request.param)


@pytest.fixture
def families(tmp_path):
    return records.unpacked(tmp_path, "0.2.0-families.db")


def test_all_of_them_open(former):
    found = {one.name: one.status for one in listing(former)}
    assert set(records.GOES_ON) < set(found)
    assert set(found.values()) == {"stopped", "pulls", "failed", "running"}


@pytest.mark.parametrize("name", [*records.GOES_ON, "select", "costs", "costs so far"])
def test_all_that_ended_verify(former, name):
    recording = read(former, name)
    assert verify(former, name, allow_pickle=True).to_dict() == recording.certificate


def goes_on(path, name, draw, pull, items=None):
    """Resume for a few pulls: what was told stays, and all of it verifies."""
    before = read(path, name)
    result = resume(path, draw, pull, items=items, name=name, pulls=7, **QUIET)
    after = read(path, name)
    assert after.tells[: len(before.tells)] == before.tells
    assert len(after.tells) == len(before.tells) + (0 if before.status == "stopped" else 7) or result.stopped
    assert verify(path, name, allow_pickle=True) == result.certificate


@pytest.mark.parametrize("name", records.GOES_ON)
def test_all_go_on(copy, name):
    goes_on(copy, name, *records.GOES_ON[name], items=list(range(20)) if name == "list" else None)


@pytest.mark.parametrize("family", records.FAMILIES)
def test_every_family_verifies_and_goes_on(families, family):
    assert verify(families, family).to_dict() == read(families, family).certificate
    goes_on(families, family, records.draw, records.FAMILIES[family])


@pytest.mark.parametrize("allow_pickle", [False, True])
def test_every_kind_of_former_sentence_verifies_as_it_stands(tmp_path, allow_pickle):
    path = records.unpacked(tmp_path, "0.2.0-rules2-sentences.db")
    for name in names(path):
        verified = verify(path, name, allow_pickle=allow_pickle)
        stored = read(path, name).certificate
        assert verified.statement == stored["statement"], name
        assert verified.law == stored["law"], name


def test_lost_pulls_are_still_lost(families):
    assert verify(families, "lost").to_dict() == read(families, "lost").certificate
    goes_on(families, "lost", records.draw, records.toss)
    assert any("lost" in one for one in read(families, "lost").certificate["assumptions"])


def test_a_search_for_models_goes_on(families):
    pytest.importorskip("sklearn")
    (name,) = {one.name for one in listing(families)} - {*records.FAMILIES, "lost"}
    before = read(families, name)
    assert verify(families, name).to_dict() == before.certificate
    found = records.model_search(families).fit(*records.iris())
    assert read(families, name).tells[: len(before.tells)] == before.tells
    assert verify(families, name) == found.certificate_


def test_the_same_searches_end_alike_in_files_of_both_versions(tmp_path):
    one, other = (records.unpacked(tmp_path, file) for file in FILES[:2])
    for name in ("joint", "clock", "early", "normal", "poisson", "pickled", "list", "select", "costs"):
        assert read(one, name).tells == read(other, name).tells
        said = [read(path, name).certificate for path in (one, other)]
        assert [said[0][entry] for entry in ("arm", "mean", "claims")] == [
            said[1][entry] for entry in ("arm", "mean", "claims")
        ]


def facts(one):
    """As text, without the last digits, which rules 1 rounded otherwise, and without what had other words or none."""
    text = re.sub(r"(statement|law)='[^']*'|, index=\w+\)", "", repr(one))
    return re.sub(r"[0-9]+\.[0-9]+", lambda found: f"{float(found[0]):.6g}", text)


@pytest.mark.filterwarnings("ignore:Trying to unpickle:UserWarning")
def test_pickles_load_although_their_modules_have_moved():
    pytest.importorskip("sklearn")
    kept = pickle.loads(gzip.decompress((records.FOLDER / "0.2.0.pickles.gz").read_bytes()))
    made = records.objects()
    assert set(kept) == set(made)
    for name, stored in kept.items():
        loaded = pickle.loads(stored)
        assert type(loaded) is type(made[name]), name
        if name.startswith("design"):  # numbers of today's rules may differ in the last bit
            loaded, made[name] = restated(loaded, 1), records.former_design(name.removeprefix("design "))
        if name == "task":
            assert loaded.rules == 1
            loaded = replace(loaded, rules=RULES)
        if name == "result":  # a picture of it is drawn by the rules that it was made by
            assert standing(loaded).claims == loaded.certificate.claims
        if name not in ("boosting", "model search", "study", "plan"):  # they hold arrays, or how long it took
            same = repr if name.startswith("design") else facts
            assert same(loaded) == same(made[name]), name


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


@pytest.mark.parametrize("name", quick(["clock", "failed", "killed"], ["killed"]))
def test_a_report_is_made_of_each(former, name):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    assert "Not verified, because no evaluation confirms them" in html(former, name)


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
