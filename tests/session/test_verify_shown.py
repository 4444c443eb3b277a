"""What people look at is verified or said not to be; honest records pass; stored text does no harm to a terminal."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from topalpha import Refuted, Session, StorageError, Task, resume, search, verify
from topalpha.cli import main
from topalpha.confidence import WORDS
from topalpha.confidence import __path__ as confidence_folder
from topalpha.storage import Storage, names, post, read
from topalpha.storage.encoding import quotation

EASY = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}
REFUSED = (Refuted, StorageError)


def draw(rng):
    return {"rate": float(rng.random())}


def toss(candidate, rng):
    return float(rng.random() < candidate["rate"])


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "searches.db"
    search(draw, toss, **EASY, algorithm="kl-lucb", storage=path)
    return path


@pytest.fixture(scope="module")
def early(tmp_path_factory):
    path = tmp_path_factory.mktemp("early") / "searches.db"
    search(draw, toss, **EASY, algorithm="kl-lucb", storage=path, pulls=40)
    return path


def altered(path, folder, *statements):
    copy = folder / "altered.db"
    shutil.copy(path, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    assert copy.read_bytes() != path.read_bytes()
    return copy


# Figures, and what is beside the tables

SHOWN = {
    "a mean": "UPDATE snapshots SET mean = 0.999 WHERE arm = 1",
    "a mean by 1e-12": "UPDATE snapshots SET mean = mean + 1e-12 WHERE arm = 1",
    "no mean": "UPDATE snapshots SET mean = NULL WHERE arm = 1",
    "a lower bound": "UPDATE snapshots SET lower = lower + 0.1 WHERE arm = 1",
    "an upper bound": "UPDATE snapshots SET upper = upper - 0.1 WHERE arm = 2",
    "pulls": "UPDATE snapshots SET pulls = pulls + 1 WHERE arm = 0",
    "fewer pulls": "UPDATE snapshots SET pulls = pulls - 1 WHERE arm = 0",
    "pulls in flight": "UPDATE snapshots SET pending = pending + 3 WHERE arm = 0",
    "an arm that is not there": "INSERT INTO snapshots VALUES (1, 999, 1, 0.5, 0.0, 1.0, 0)",
    "a negative arm": "INSERT INTO snapshots VALUES (1, -1, 1, 0.5, 0.0, 1.0, 0)",
    "an arm that is left out": "DELETE FROM snapshots WHERE arm = 0",
    "progress, pulls": "UPDATE progress SET data = json_set(data, '$.pulls', 99999)",
    "progress, leader": "UPDATE progress SET data = json_set(data, '$.leader', 1 + json_extract(data, '$.leader'))",
    "progress, mean": "UPDATE progress SET data = json_set(data, '$.mean', 0.999)",
    "progress, claims": "UPDATE progress SET data = json_set(data, '$.claims', json('[[0.01, 0.001]]'))",
    "progress, gap": "UPDATE progress SET data = json_set(data, '$.gap', -1)",
    "progress, the last gap of the history": "UPDATE progress SET data = json_set(data, '$.history[#-1][1]', 0.5)",
    "progress, a history that goes back": (
        "UPDATE progress SET data = json_set(data, '$.history', json('[[9, 0.5], [3, 0.25]]'))"
    ),
    "progress, a history beyond the end": (
        "UPDATE progress SET data = json_set(data, '$.history', json('[[99999999, 0.5]]'))"
    ),
    "progress, a history that is none": "UPDATE progress SET data = json_set(data, '$.history', json('[7]'))",
    "progress, paused": "UPDATE progress SET data = json_set(data, '$.paused', json('true'))",
    "progress, something else": "UPDATE progress SET data = json_set(data, '$.blessed', 1)",
    "progress, a name twice": "UPDATE progress SET data = '{\"pulls\":1,' || substr(data, 2)",
    "a certificate that names something twice": (
        'UPDATE searches SET certificate = \'{"statement":"proved",\' || substr(certificate, 2)'
    ),
    "a task that names something twice": "UPDATE searches SET config = '{\"code\":1,' || substr(config, 2)",
    "a candidate that names something twice": (
        "UPDATE arms SET candidate = '{\"rate\":0.99,' || substr(candidate, 2) WHERE arm = 1"
    ),
    "a task that is a list of pairs": (
        "UPDATE searches SET config = (SELECT json_group_array(json_array(key, json(value))) FROM json_each(config)"
        " WHERE key = 'task')"
    ),
    "a number that is none": 'UPDATE progress SET data = replace(data, \'"gap":\', \'"gap":NaN,"left":\')',
    **{
        f"{table} of no search": statement
        for table, statement in {
            "arms": "INSERT INTO arms VALUES (7, 0, '1')",
            "asks": "INSERT INTO asks VALUES (-7, 0, 0, 0)",
            "waits": "INSERT INTO waits VALUES (7, 0, 0, 0)",
            "tells": "INSERT INTO tells VALUES (0, 0, 0, 1.0)",
            "failures": "INSERT INTO failures VALUES (7, 0, 0, 0, '', '')",
            "snapshots": "INSERT INTO snapshots VALUES (2, 0, 0, NULL, 0, 0, 0)",
            "progress": "INSERT INTO progress VALUES (7, 0.0, '{}')",
            "messages": "INSERT INTO messages VALUES (7, 0, 0.0, 'stop', 0)",
        }.items()
    },
    "a table": "CREATE TABLE proofs (text TEXT)",
    "a view": "CREATE VIEW proofs AS SELECT * FROM tells",
    "an index": "CREATE INDEX quick ON tells (reward)",
    "a trigger": "CREATE TRIGGER worse AFTER INSERT ON tells BEGIN UPDATE tells SET reward = 1; END",
    "a trigger on messages": "CREATE TRIGGER off AFTER INSERT ON messages BEGIN DELETE FROM tells; END",
}


@pytest.mark.parametrize("kind", SHOWN)
def test_what_is_altered_in_what_people_look_at_is_refused(original, tmp_path, kind):
    verify(original)
    with pytest.raises(REFUSED, match="must"):
        verify(altered(original, tmp_path, SHOWN[kind]))


def test_a_view_in_place_of_a_table_is_refused_by_everyone(original, tmp_path):
    copy = altered(
        original, tmp_path, "ALTER TABLE tells RENAME TO told", "CREATE VIEW tells AS SELECT *, 1.0 AS reward FROM told"
    )
    for call in (read, names, Storage, Session.resume, lambda path: post(path, None, "stop")):
        with pytest.raises(StorageError, match=r"path must be an undamaged topalpha file, got .*(foreign|made)"):
            call(copy)


def test_no_trigger_is_ever_fired(original, tmp_path):
    copy = altered(original, tmp_path, SHOWN["a trigger on messages"])
    with pytest.raises(StorageError, match="the trigger 'off' is foreign"):
        post(copy, None, "stop")
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM tells").fetchone()[0] > 0
        assert connection.execute("SELECT count(*) FROM messages").fetchone()[0] == 0


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, "[]", "3", "null", '"x"', "{" * 50, "1e999999"])
@pytest.mark.parametrize("column", ["config", "certificate", "data", "candidate"])
def test_odd_json_is_one_sentence_on_the_command_line(early, tmp_path, column, text):
    table = {"data": "progress", "candidate": "arms"}.get(column, "searches")
    copy = tmp_path / "altered.db"
    shutil.copy(early, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", (text,))
    for command in ("show", "verify", "resume"):
        outcome = CliRunner().invoke(main, [command, str(copy)])
        assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
        assert outcome.exit_code in (0, 1, 2)
        if command != "show":
            assert outcome.exit_code != 0
            assert len(outcome.stderr.splitlines()) == 1
    with pytest.raises(ValueError, match="must"):
        verify(copy)


def test_what_no_pull_bears_out_is_said_to_be_not_verified(original, early):
    for path, also in ((original, ""), (early, ", and why it ended")):
        words = f"Not verified, because no evaluation confirms them: the search's name, when it began{also}."
        assert words in CliRunner().invoke(main, ["verify", str(path)]).stdout
        said = json.loads(CliRunner().invoke(main, ["verify", str(path), "--json", "-"]).stdout)
        assert said["not_verified"] == ["name", "created", *(["reason"] if also else [])]
        shown = CliRunner().invoke(main, ["show", str(path)]).stdout
        assert "Not verified: this is what the file says; topalpha verify computes it again" in shown
        shown = json.loads(CliRunner().invoke(main, ["show", str(path), "--json", "-"]).stdout)
        assert [one["verified"] for one in shown["searches"]] == [False]


def test_a_figure_of_a_file_says_what_is_not_verified(original, early):
    from topalpha.figures.labels import of_status
    from topalpha.standing import standing

    assert of_status(standing(original)) == "the stopping rule was met"
    assert of_status(standing(early)) == "the budget of pulls was spent (not verified)"


# Resuming


@pytest.mark.parametrize("which", ["original", "early"])
def test_a_doctored_certificate_is_not_replaced_by_resuming(request, tmp_path, which):
    path = request.getfixturevalue(which)
    copy = altered(path, tmp_path, "UPDATE searches SET certificate = json_set(certificate, '$.pulls', 12345)")
    before = read(copy).certificate
    with pytest.raises(Refuted, match=r"certificate must be borne out to be resumed from.*pulls must be what"):
        resume(copy, draw, toss, progress="none")
    with pytest.raises(Refuted):
        Session.resume(copy)
    assert read(copy).certificate == before
    assert read(copy).status == read(path).status


def test_other_items_and_another_list_are_refused(path):
    names_, items = ["ant", "bee", "cat", "dog"], list(range(20))

    def passes(candidate, item):
        return (len(candidate) * item + ord(candidate[0])) % 7 < 4

    search(names_, passes, **EASY, items=items, storage=path, pulls=20)
    for draw_, items_, which in (
        (names_, list(range(1, 21)), "items"),
        (names_, items[::-1], "items"),
        (["ant", "bee", "cat", "eel"], items, "draw"),
        (names_[::-1], items, "draw"),
    ):
        with pytest.raises(ValueError, match=f"{which} must be the same as in the record, got 'different ones'"):
            resume(path, draw_, passes, items=items_, progress="none")
    assert resume(path, names_, passes, items=range(20), progress="none").stopped


def test_a_file_that_does_not_say_which_list_it_had_is_held_against_the_candidates_drawn(tmp_path):
    from tests.support import records

    path = records.unpacked(tmp_path)
    others = [*records.NAMES[:-1], "gnu"]
    with pytest.raises(ValueError, match="draw must be the candidates in the record"):
        resume(path, others, records.passes, items=list(range(20)), name="list", progress="none")


# Honest records


def test_a_pull_that_changes_its_candidate_does_not_make_the_record_a_forgery(path):
    def changing(candidate, rng):
        candidate["calls"] = candidate.get("calls", 0) + 1
        return float(rng.random() < candidate["rate"])

    result = search(draw, changing, **EASY, storage=path)
    assert set(result.certificate.candidate) == {"rate"}
    assert verify(path) == result.certificate
    assert resume(path, draw, changing, progress="none").certificate == result.certificate


def test_a_draw_that_returns_one_list_again_and_again_is_verified(path):
    shared = [0.0]

    def same(rng):
        shared[0] = float(rng.random())
        return shared

    result = search(same, lambda candidate, rng: float(rng.random() < 0.5), **EASY, storage=path, pulls=60)
    assert result.certificate.candidate == json.loads(read(path).arms[result.arm])
    assert verify(path) == result.certificate


class Mute:
    """A candidate that cannot be shown."""

    def __init__(self, rate):
        self.rate = rate

    def __repr__(self):
        raise ZeroDivisionError("not to be shown")


def test_a_candidate_that_cannot_be_shown_loses_nothing(path):
    result = search(
        lambda rng: Mute(rng.random()),
        lambda candidate, rng: float(rng.random() < candidate.rate),
        **EASY,
        storage=path,
        pickle=True,
    )
    assert result.certificate.candidate == "<Mute object>"
    assert verify(path, allow_pickle=True) == result.certificate
    assert quotation({"a": [Mute(0.5)]}) == {"a": ["<Mute object>"]}


def test_a_candidate_that_is_nested_deeply_loses_nothing(path):
    deep = "x"
    for _ in range(300):
        deep = [deep]
    result = search(lambda rng: deep, lambda candidate, rng: float(rng.random() < 0.5), **EASY, storage=path, pulls=40)
    assert verify(path) == result.certificate


@pytest.mark.slow
def test_without_docstrings_the_certificate_is_the_same(tmp_path):
    code = (
        "import sys, topalpha\n"
        "draw = lambda rng: {'rate': float(rng.random())}\n"
        "toss = lambda candidate, rng: float(rng.random() < candidate['rate'])\n"
        "for name in ('joint-lucb', 'cc-lucb', 'kl-lucb'):\n"
        "    topalpha.search(draw, toss, alpha=0.3, epsilon=0.3, delta=0.2, progress='none', algorithm=name,\n"
        "                    storage=sys.argv[1], name=name)\n"
        "    print(topalpha.verify(sys.argv[1], name).digest)\n"
    )
    path = tmp_path / "optimised.db"
    run = subprocess.run([sys.executable, "-OO", "-c", code, str(path)], capture_output=True, text=True, check=True)
    digests = [verify(path, name).digest for name in ("joint-lucb", "cc-lucb", "kl-lucb")]
    assert run.stdout.split() == digests
    plain = search(draw, toss, **EASY, algorithm="cc-lucb", storage=tmp_path / "plain.db")
    assert plain.certificate.to_dict() == read(path, "cc-lucb").certificate


def test_all_kinds_of_bounds_have_words_of_their_own():
    import importlib

    for file in Path(confidence_folder[0]).glob("*.py"):
        if file.stem != "base":
            module = importlib.import_module(f"topalpha.confidence.{file.stem}".removesuffix(".__init__"))
            for kind in vars(module).values():
                if isinstance(kind, type) and hasattr(kind, "_fields") and hasattr(kind, "fold"):
                    assert WORDS[kind.__name__] == (kind.__doc__ or "").strip().partition("\n")[0].replace("`", "")


# Terminals

NASTY = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\r\x00"


def test_stored_text_does_not_control_a_terminal(tmp_path):
    path = tmp_path / "searches.db"

    def text(rng):
        return f"{NASTY}{rng.random()}"

    search(
        text,
        lambda candidate, rng: float(rng.random() < 0.5),
        **EASY,
        about=NASTY,
        storage=path,
        name="nasty\x1b[2J",
        pulls=30,
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE searches SET created = ?", (NASTY.replace("\x00", ""),))
    outcomes = [CliRunner().invoke(main, [command, str(path)]) for command in ("show", "verify", "resume")]
    outcomes.append(CliRunner().invoke(main, ["control", str(path), "stop"]))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE [\x1b[2J] (text TEXT)")
    outcomes += [CliRunner().invoke(main, [command, str(path)]) for command in ("show", "verify", "resume")]
    outcomes.append(CliRunner().invoke(main, ["show", str(path), "--name", "\x1b[2J"]))
    for outcome in outcomes:
        said = outcome.stdout + outcome.stderr
        assert said
        assert not {sign for sign in said if sign < " " or "\x7f" <= sign < "\xa0" or sign == "\u202e"} - {"\n"}


def test_a_task_is_left_as_it_is():
    """What is kept stays what was said: only what is shown is made harmless."""
    assert Task(0.1, 0.1, 0.1, about=NASTY).law == NASTY
