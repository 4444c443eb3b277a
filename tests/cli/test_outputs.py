"""Outputs never take the place of a record, of a device or of a FIFO; what is refused is refused before the work."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.storing import child, contents, kill
from topalpha import resume, search, select
from topalpha.cli import main
from topalpha.research.comparison import Comparison, ComparisonCase, Contender, compare
from topalpha.storage import Storage, StorageError, holds, listing, names, post, read, stamp
from topalpha.storage.outputs import draft_of, is_database, writable
from topalpha.testset import ScoreTable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, nodes and permissions of POSIX")

EASY = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}
TABLE = ScoreTable(["short", "long"], ["q1", "q2"], [[1, 0], [1, 1]])
COMPARE = ("compare", "--algorithm", "joint-lucb", "--reservoir", "dirac(0.5)", "--runs", "1", "--no-figures")


def draw(rng):
    return rng.random()


def pull(candidate, rng):
    return float(rng.random() < candidate)


def refused(*arguments):
    """The one sentence that the command line refuses these words with."""
    outcome = CliRunner().invoke(main, list(map(str, arguments)))
    assert outcome.exit_code == 2, outcome.output
    (line,) = outcome.stderr.splitlines()
    assert outcome.stdout == ""
    return line.removeprefix("topalpha: ")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "search.db"
    search(draw, pull, **EASY, storage=path)
    return path.read_bytes()


@pytest.fixture
def record(tmp_path, recorded):
    path = tmp_path / "search.db"
    path.write_bytes(recorded)
    return path


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A module whose functions nobody may call."""
    (tmp_path / "mine.py").write_text(
        "def draw(rng):\n    raise SystemExit(9)\ndef pull(candidate):\n    raise SystemExit(9)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "mine:pull"
    sys.modules.pop("mine", None)


def writers(record, target):
    """Every command that writes a file, told to write to ``target``."""
    return {
        "show": ("show", record, "--json", target),
        "verify": ("verify", record, "--json", target),
        "export pulls": ("export", record, "--csv", target),
        "export arms": ("export", record, "--csv", target, "--what", "arms"),
        "report": ("report", record, "-o", target),
        "figure": ("figure", record, "-o", target),
        "resume": ("resume", record, "--function", "mine:pull", "--json", target),
        "run": ("run", "mine:pull", "--json", target),
        "list": ("list", "--json", target),
        "plan": ("plan", "--json", target),
        "simulate": ("simulate", "--reservoir", "beta(1,1)", "--json", target),
        "bounds": ("bounds", "--reservoir", "beta(1,1)", "--json", target),
        "demo": ("demo", "--json", target),
        "audit": ("audit", "--json", target),
        "table1": ("table1", "--json", target),
        "compare": (*COMPARE, "--json", target),
    }


def links(tmp_path, record):
    soft, far, hard = (tmp_path / f"{kind}.png" for kind in ("soft", "far", "hard"))
    soft.symlink_to(record)
    far.symlink_to(soft)
    os.link(record, hard)
    return soft, far, hard


# A record stays


@pytest.mark.parametrize("command", writers("", ""))
def test_no_command_writes_over_the_record_of_a_search(record, tmp_path, code, command):
    other = tmp_path / "other.db"
    other.write_bytes(record.read_bytes())
    before = contents(record)
    for target in (record, other, *(tmp_path / f"other.db{ending}" for ending in ("-wal", "-shm", "-writer"))):
        said = refused(*writers(record, target)[command])
        assert " must not be a storage file, got " in said or " must be a separate file from " in said, said
    found = links(tmp_path, other)
    for target in found:
        assert "must not be a storage file, got" in refused(*writers(record, target)[command])
    for target in found:
        target.unlink()
    assert contents(record) == before


def test_a_search_does_not_write_its_results_over_its_own_record(tmp_path, code):
    said = "json must be a separate file from 's.db', got 's.db{}'"
    for ending in ("", "-wal", "-shm", "-writer"):
        target = f"s.db{ending}"
        assert refused("run", code, "--storage", "s.db", "--json", target) == said.format(ending)
    (tmp_path / "link.json").symlink_to("s.db")
    assert "json must be a separate file" in refused("run", code, "--storage", "s.db", "--json", "link.json")
    (tmp_path / "link.db").symlink_to("s.json")
    assert "json must be a separate file" in refused("run", code, "--storage", "link.db", "--json", "s.json")
    assert sorted(os.listdir(tmp_path)) == ["link.db", "link.json", "mine.py"], "nothing was begun"


def test_what_is_read_is_not_written_over(tmp_path, code):
    for name, text in (("list.json", "[1, 2]"), ("scores.csv", "candidate,q1\na,1\nb,0\n")):
        (tmp_path / name).write_text(text)
    before = contents(tmp_path / "mine.py")
    for words in (
        ("run", code, "--candidates", "list.json", "--json", "list.json"),
        ("run", code, "--items", "list.json", "--json", "list.json"),
        ("scores", "scores.csv", "--json", "scores.csv"),
        ("plan", "--pilot", "scores.csv", "--json", "scores.csv"),
        ("verify", "search.db", "--certificate", "list.json", "--json", "list.json"),
    ):
        assert "json must be a separate file from" in refused(*words)
    assert contents(tmp_path / "mine.py") == before


RUNS = """
from topalpha import search
def pull(candidate):
    print("ready", flush=True)
    time.sleep(600)
search(lambda: 1, pull, storage=path, progress="none")
"""


def test_a_search_that_runs_is_spared_in_its_own_process_and_from_others(path, tmp_path):
    process = child(RUNS, path)
    assert process.stdout.readline() == "ready\n"
    beside = sorted(name for name in os.listdir(tmp_path) if name != path.name)
    assert beside == ["searches.db-shm", "searches.db-wal", "searches.db-writer"]
    for name in (path.name, *beside):
        assert refused("list", "--json", tmp_path / name).startswith("json must not be a storage file, got")
    assert sorted(os.listdir(tmp_path)) == [path.name, *beside]
    assert listing(path)[0].alive()
    kill(process)
    assert holds(path, "search")


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="only Linux lists its locks")
def test_to_look_at_a_record_keeps_the_locks_of_this_process(path):
    def locks():
        with open("/proc/locks") as stream:
            return [line.split()[1:] for line in stream if line.split()[4] == str(os.getpid())]

    with Storage(path) as storage:
        storage.create("first", {})
        before = locks()
        assert len(before) >= 2
        for ending in ("", "-wal", "-shm", "-writer"):
            with pytest.raises(ValueError, match="output must not be a storage file"):
                writable("output", f"{path}{ending}")
        assert locks() == before


def test_functions_do_not_write_over_a_record_either(record, tmp_path):
    from topalpha import figures, report

    before = record.read_bytes()
    axes = figures.new_axes()
    for target in links(tmp_path, record):
        for write in (
            TABLE.write,
            lambda target: report.write(record, target),
            lambda target: figures.save(axes, target),
            lambda target: figures.save(axes, target, record=record),
        ):
            with pytest.raises(ValueError, match=r"must (not be a storage file|be a separate file|name an HTML page)"):
                write(target)
    assert record.read_bytes() == before


@pytest.mark.parametrize("file", ["comparison.json", "cells.jsonl", "table.csv", "table.json", "pulls-per-arm.png"])
def test_a_comparison_does_not_write_over_a_record(record, tmp_path, file, monkeypatch):
    monkeypatch.setattr("topalpha.research.comparison.measuring.evaluate", None)  # no work is done
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / file).symlink_to(record)
    before = record.read_bytes()
    words = [word for word in COMPARE if word != "--no-figures" or file != "pulls-per-arm.png"]
    assert "must not be a storage file, got" in refused(*words, "--output", folder)
    if file in ("comparison.json", "cells.jsonl"):
        comparison = Comparison((Contender("joint-lucb"),), (ComparisonCase("dirac(0.5)", 0.3, 0.3, 0.2),), runs=1)
        with pytest.raises(ValueError, match=f"^{file} must not be a storage file, got"):
            compare(comparison, folder)
    assert os.listdir(folder) == [file]
    assert record.read_bytes() == before


def test_results_of_a_comparison_do_not_replace_its_cells(tmp_path):
    for file in ("comparison.json", "cells.jsonl", "cells.jsonl-writer", "table.json"):
        words = (*COMPARE, "--output", tmp_path / "folder", "--json", tmp_path / "folder" / file)
        assert "json must be a separate file" in refused(*words) or "No such directory" in refused(*words)
        (tmp_path / "folder").mkdir(exist_ok=True)
        assert "json must be a separate file from" in refused(*words)
    assert os.listdir(tmp_path / "folder") == []


def test_a_damaged_record_is_a_record(record):
    for content in (record.read_bytes()[:700], record.read_bytes()[:16] + b"\xa5" * 5000):
        record.write_bytes(content)
        assert is_database(str(record))
        with pytest.raises(ValueError, match="must not be a storage file"):
            TABLE.write(record)
        assert record.read_bytes() == content


def test_a_record_that_comes_while_the_work_is_done_is_spared_and_nothing_is_lost(record, tmp_path):
    target = tmp_path / "table.csv"

    def write():
        with draft_of(target) as draft:
            draft.write_text("results")
            record.rename(target)

    with pytest.raises(ValueError, match=r"not be a storage file, got .*; the output is in") as caught:
        write()
    assert is_database(str(target))
    kept = str(caught.value).rpartition(" ")[2].strip("'")
    with open(kept) as stream:
        assert stream.read() == "results"
    assert sorted(os.listdir(tmp_path)) == sorted(["table.csv", os.path.basename(kept)])


def test_other_files_are_replaced_and_keep_links_and_permissions(tmp_path):
    target, link = tmp_path / "table.csv", tmp_path / "link.csv"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(target)
    TABLE.write(link)
    assert ScoreTable.read(target).passes.tolist() == [1, 2]
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    fresh, usual = tmp_path / "fresh.csv", tmp_path / "usual"
    TABLE.write(fresh)
    usual.touch()
    assert fresh.stat().st_mode == usual.stat().st_mode
    (tmp_path / "dangling.csv").symlink_to("far.csv")
    TABLE.write(tmp_path / "dangling.csv")
    assert ScoreTable.read(tmp_path / "far.csv").candidates == TABLE.candidates
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


# Devices, FIFOs, sockets, directories and loops


def fifo(path):
    os.mkfifo(path)


def a_socket(path):
    with closing(socket.socket(socket.AF_UNIX)) as end:
        os.chdir(path.parent)  # names of sockets are short
        end.bind(path.name)


def device(path):
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


def directory(path):
    path.mkdir()


def loop(path):
    path.symlink_to(path.name)


def far_loop(path):
    one, other = path.with_name("one"), path.with_name("other")
    one.symlink_to("other")
    other.symlink_to("one")
    path.symlink_to("one/searches.db")


ODD = {
    fifo: "a FIFO",
    a_socket: "a socket",
    device: "a device",
    directory: "a directory",
    loop: "Too many levels of symbolic links",
    far_loop: "Too many levels of symbolic links",
}


@pytest.fixture(params=ODD, ids=lambda make: make.__name__)
def odd(request, tmp_path, monkeypatch):
    """Something that is no plain file, perhaps behind a link, and the words for it."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "odd"
    request.param(path)
    return path, ODD[request.param]


def kinds(folder):
    """What lies there, but for bytecode of the modules in it."""
    found = [one for one in folder.iterdir() if one.name != "__pycache__"]
    return sorted((one.name, stat.S_IFMT(one.lstat().st_mode)) for one in found)


def test_nothing_odd_is_written_to(odd, record, tmp_path, code):
    path, words = odd
    link = tmp_path / "link"
    link.symlink_to(path)
    before = kinds(tmp_path)
    for target in (path, link):
        for command, arguments in writers(record, target).items():
            said = refused(*arguments)
            assert said.endswith(f" must name a file that can be written, got {str(target)!r} ({words})"), command
        with pytest.raises(ValueError, match="path must name a file that can be written"):
            TABLE.write(target)
    assert kinds(tmp_path) == before


def test_nothing_odd_is_storage(odd, tmp_path, code):
    path, words = odd
    before = kinds(tmp_path)
    passes = lambda candidate, example: True  # noqa: E731
    for call in (
        lambda: search(draw, pull, **EASY, storage=path),
        lambda: resume(path, draw, pull),
        lambda: select(["a"], ["b"], passes, storage=path),
        lambda: select(["a"], ["b"], passes, storage=path, resume=True),
        *(lambda call=call: call(path) for call in (Storage, read, names, listing, holds)),
        lambda: post(path, None, "stop"),
    ):
        with pytest.raises(StorageError) as caught:
            call()
        assert str(caught.value).startswith("path must ")
        assert str(caught.value).endswith(f" ({words})")
    for arguments in (
        ("run", code, "--storage", path),
        ("resume", path),
        *((command, path) for command in ("show", "verify")),
        ("export", path, "--csv", "-"),
        ("control", path, "stop"),
        ("report", path, "-o", "page.html"),
        ("figure", path, "-o", "race.png"),
    ):
        assert words in refused(*arguments)
    assert kinds(tmp_path) == before


@pytest.mark.parametrize("make", [fifo, directory, loop])
@pytest.mark.parametrize("ending", ["-wal", "-shm", "-writer"])
def test_nothing_odd_is_taken_for_a_log_or_a_lock(path, make, ending):
    make(path.with_name(path.name + ending))
    before = kinds(path.parent)
    for call in (Storage, read):
        with pytest.raises(StorageError, match="path must have plain files or none for its log and lock"):
            call(path)
    assert kinds(path.parent) == before


def test_a_lock_does_not_write_into_a_record(record, tmp_path):
    """A file under the name of the lock, or a link, would be emptied."""
    before = record.read_bytes()
    os.link(record, tmp_path / "new.db-writer")
    with pytest.raises(StorageError, match=r"path must have no other file in place of its lock, got .* is not a lock"):
        Storage(tmp_path / "new.db")
    (tmp_path / "cells.jsonl-writer").symlink_to(record)
    comparison = Comparison((Contender("joint-lucb"),), (ComparisonCase("dirac(0.5)", 0.3, 0.3, 0.2),), runs=1)
    with pytest.raises(StorageError, match="Too many levels of symbolic links"):
        compare(comparison, tmp_path)
    assert record.read_bytes() == before


def test_a_record_is_not_begun_under_the_name_of_the_log_of_another(record):
    for ending in ("-wal", "-shm", "-writer", "-journal"):
        with pytest.raises(StorageError, match="path must not be the name of another file's log or lock"):
            search(draw, pull, **EASY, storage=f"{record}{ending}")
    assert list(contents(record)) == [record.name]


def test_names_that_are_none_are_refused():
    for wrong in ("", "a\0b"):
        with pytest.raises(ValueError, match="path must be the name of a file, got"):
            TABLE.write(wrong)
        with pytest.raises(ValueError, match="storage must be the name of a file, got"):
            search(draw, pull, **EASY, storage=wrong)


# Folders that may not be entered

AS_NOBODY = """
from topalpha import search, select
from topalpha.testset import ScoreTable
from topalpha.cli import main

table = ScoreTable(["a"], ["q"], [[1]])
functions = (
    Storage, read, names, holds, listing, stamp,
    table.write,
    lambda path: table.read(path + ".csv"),
    lambda path: search(lambda: 1, lambda candidate: 1.0, storage=path),
    lambda path: select(["a"], ["b"], lambda one, other: True, storage=path, resume=True),
)
commands = (
    "show {}", "verify {}", "resume {}", "run math:sqrt --draw math:sqrt --storage {}", "list --json {}",
    "scores {}.csv", "plan --pilot {}", "export {} --csv -", "report {} -o page.html", "run math:sqrt --candidates {}",
    "compare --config {}", "compare --reservoir dirac(.5) --output {}", "run {}.py:pull",
)
sys.stderr = sys.stdout

def call_all(path):
    for function in functions:
        try:
            print("DONE", function(path))
        except ValueError as error:
            print(error)
    for words in commands:
        print("CODE", main(words.format(path).split(), standalone_mode=False))

call_all(path + "/file/searches.db")  # as root: others may not be allowed to import what this needs
print("NOW")
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
call_all(path + "/closed/searches.db")
"""


def test_a_folder_that_may_not_be_entered_is_one_sentence():
    # Not tmp_path: if this is root, permissions bind only another user, who must be able to get there.
    with tempfile.TemporaryDirectory() as name:
        closed = Path(name) / "closed"
        closed.mkdir()
        search(draw, pull, **EASY, storage=closed / "searches.db")
        (Path(name) / "file").touch()
        Path(name).chmod(0o755)
        closed.chmod(0o000)
        process = child(AS_NOBODY, name)
        lines = process.communicate()[0].splitlines()
        closed.chmod(0o755)
    assert process.returncode == 0, lines
    lines = lines[lines.index("NOW") + 1 :]
    for line in lines[:10]:
        assert " must " in line, lines
        assert "permission denied" in line.lower(), lines
    for sentence, code in zip(lines[10::2], lines[11::2], strict=True):
        assert sentence.startswith("topalpha: "), lines
        assert " must " in sentence, lines
        assert code == "CODE 2", lines
    assert len(lines) == 10 + 2 * 13


def test_what_was_recorded_before_is_there_after_all_this(record):
    with closing(sqlite3.connect(record)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert json.loads(CliRunner().invoke(main, ["verify", str(record), "--json", "-"]).stdout)["verified"] is True
    assert stamp(record) is not None
