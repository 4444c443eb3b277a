"""A file that is lost while a search runs: it is noticed, the search ends, and all of it is saved elsewhere."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from pathlib import Path

import pytest

from tests.support.waiting import until
from topalpha import Session, Task, asearch, resume, search, verify
from topalpha.research.audit import survival
from topalpha.storage import RecordLost, Storage, StorageError, read, rescue

TARGET = {"alpha": 0.1, "epsilon": 0.01, "delta": 0.05, "progress": "none", "algorithm": "cc-lucb"}


def draw(rng):
    return {"rate": float(rng.random())}


def toss(candidate, rng):
    return float(rng.random() < candidate["rate"])


def removed(path):
    path.unlink()


def all_removed(path):
    for file in list(path.parent.glob(path.name + "*")):
        file.unlink()


def moved(path):
    path.rename(path.with_name("moved.db"))


def cut(path):
    os.truncate(path, 0)


def half(path):
    os.truncate(path, path.stat().st_size // 2)


def overwritten(path):
    with path.open("r+b") as stream:
        stream.write(b"garbage " * (path.stat().st_size // 8))


def replaced(path):
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def without_its_log(path):
    Path(f"{path}-wal").unlink()


LOSSES = [removed, all_removed, moved, cut, half, overwritten, replaced, without_its_log]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """The file is looked at whenever there is an occasion."""
    monkeypatch.setattr("topalpha.storage.writer.PERIOD", 0.0)
    monkeypatch.setattr("topalpha.running.drive.PERIOD", 0.02)


class Losing:
    """Evaluations; after some of them the file is lost, and it is counted how many begin after that."""

    def __init__(self, path, loss, after=30):
        self.path, self.loss, self.after = path, loss, after
        self.rewards, self.lock = [], threading.Lock()

    def __call__(self, candidate, rng):
        reward = toss(candidate, rng)
        with self.lock:
            self.rewards.append(reward)
            if len(self.rewards) == self.after:
                self.loss(self.path)
        return reward


def check(error, path, pulls, code=(draw, toss)):
    """All that was evaluated is in another file, which can be resumed and verified."""
    saved = error.saved
    assert saved is not None
    assert saved != str(path)
    assert "path must stay where it is while a search is recorded in it" in str(error)
    assert repr(saved) in str(error)
    kept = read(saved)
    assert (kept.status, len(kept.tells)) == ("vanished", pulls)
    assert verify(saved) == error.result.certificate
    assert error.result.certificate.statement.endswith(
        "The search ended because the file that it was recorded in was lost."
    )
    assert resume(saved, *code, pulls=5, progress="none").pulls == pulls + 5
    assert read(saved).tells[:pulls] == kept.tells


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_a_record_that_is_lost_is_noticed_and_saved(path, loss):
    pull = Losing(path, loss)
    with pytest.raises(RecordLost) as caught:
        search(draw, pull, **TARGET, storage=path)
    assert len(pull.rewards) <= 32, "nothing more is asked for"
    check(caught.value, path, len(pull.rewards))
    assert Path(caught.value.saved) == path.with_name("searches-saved.db")


@pytest.mark.parametrize("loss", [removed, cut, overwritten], ids=lambda loss: loss.__name__)
def test_so_it_is_in_threads(path, loss):
    pull = Losing(path, loss)
    with pytest.raises(RecordLost) as caught:
        search(draw, pull, **TARGET, storage=path, workers=3)
    check(caught.value, path, len(read(caught.value.saved).tells))
    assert len(pull.rewards) < 100


def test_so_it_is_in_processes(path):
    importable = survival.draw, survival.reward

    def lose(progress):
        if progress.pulls > 10 and path.exists():
            removed(path)

    with pytest.raises(RecordLost) as caught:
        search(*importable, **TARGET, storage=path, executor="processes", workers=2, callbacks=[lose])
    check(caught.value, path, len(read(caught.value.saved).tells), importable)


def test_so_it_is_with_coroutines(path):
    pull = Losing(path, removed)

    async def awaited(candidate, rng):
        await asyncio.sleep(0)
        return pull(candidate, rng)

    with pytest.raises(RecordLost) as caught:
        asyncio.run(asearch(draw, awaited, **TARGET, storage=path, width=4))
    check(caught.value, path, len(read(caught.value.saved).tells))
    assert len(pull.rewards) < 60


def test_so_it_is_while_nothing_comes_back(path):
    """Pulls that take long: it is noticed before the next reward."""
    noticed = threading.Event()

    def pull(candidate, rng):
        if path.exists() and len(begun) > 5:
            removed(path)
        begun.append(candidate)
        if not path.exists():
            until(lambda: list(path.parent.glob("*-saved.db")))
            noticed.set()
        return toss(candidate, rng)

    begun = []
    with pytest.raises(RecordLost) as caught:
        search(draw, pull, **TARGET, storage=path, workers=1)
    assert noticed.is_set()
    assert verify(caught.value.saved) == caught.value.result.certificate


def test_it_is_said_while_a_pull_runs_in_the_searching_thread(path, caplog):
    def pull(candidate, rng):
        if len(said) == 3:
            removed(path)
            until(lambda: "the record of the search is lost: it is gone; it ends after this pull" in caplog.text)
        said.append(candidate)
        return toss(candidate, rng)

    said = []
    with pytest.raises(RecordLost):
        search(draw, pull, **TARGET, storage=path)
    assert len(said) == 4


def test_a_loss_at_the_very_end_is_noticed_by_reading_back(path, monkeypatch):
    before = Session.finish

    def losing(session, reason):
        session.record._writer.guard.due = float("inf")
        overwritten(path)
        return before(session, reason)

    monkeypatch.setattr(Session, "finish", losing)
    monkeypatch.setattr("topalpha.storage.writer.PERIOD", 1e9)
    easy = {**TARGET, "alpha": 0.3, "epsilon": 0.3, "delta": 0.2}
    with pytest.raises(RecordLost) as caught:
        search(draw, toss, **easy, storage=path)
    assert caught.value.result.stopped
    assert verify(caught.value.saved) == caught.value.result.certificate


def test_a_session_by_hand_raises_at_tell_and_goes_on_elsewhere(path):
    with Session.start(Task(0.1, 0.1, 0.05, algorithm="cc-lucb"), path) as session:
        for told, pull in enumerate(session.ask_many(20)):
            session.keep(pull.arm, {"rate": 0.5})
            if told == 10:
                removed(path)
                with pytest.raises(RecordLost) as caught:
                    session.tell(pull, 1.0)
            else:
                session.tell(pull, 1.0)
        assert session.told == 20
        certificate = session.finish("pulls")
    saved = caught.value.saved
    assert Path(saved).parent == path.parent
    assert len(read(saved).tells) == 20
    assert verify(saved) == certificate
    assert not path.exists()
    assert [file.name for file in path.parent.iterdir()] == ["searches-saved.db"]


def test_a_session_that_is_closed_says_so_at_the_latest(path, monkeypatch):
    monkeypatch.setattr("topalpha.storage.writer.PERIOD", 1e9)
    session = Session.start(Task(0.1, 0.1, 0.05, algorithm="cc-lucb"), path)
    session.record._writer.guard.due = float("inf")
    session.tell_many([(pull, 1.0) for pull in session.ask_many(3)])
    moved(path)
    with pytest.raises(RecordLost) as caught:
        session.close()
    assert len(read(caught.value.saved).tells) == 3
    assert len(read(path.with_name("moved.db")).tells) == 3, "and what was moved is whole"


def test_the_other_searches_of_the_file_are_saved_too(path):
    easy = {**TARGET, "alpha": 0.3, "epsilon": 0.3, "delta": 0.2}
    search(draw, toss, **easy, storage=path, name="first")
    search(draw, toss, **easy, storage=path, name="second", pulls=9)
    before = [read(path, name) for name in ("first", "second")]
    with pytest.raises(RecordLost) as caught:
        search(draw, Losing(path, removed), **TARGET, storage=path, name="third")
    assert [read(caught.value.saved, one.name) for one in before] == before
    for name in ("first", "second", "third"):
        verify(caught.value.saved, name)


def test_where_nothing_can_be_written_beside_it_the_temporary_folder_is_taken(tmp_path, monkeypatch):
    folder, spare = tmp_path / "folder", tmp_path / "spare"
    folder.mkdir()
    spare.mkdir()
    monkeypatch.setattr(rescue.tempfile, "gettempdir", lambda: str(spare))
    path = folder / "searches.db"
    with pytest.raises(RecordLost) as caught:
        search(draw, Losing(path, lambda path: shutil.rmtree(folder)), **TARGET, storage=path)
    assert Path(caught.value.saved).parent == spare
    check(caught.value, path, 30)


def test_where_nothing_can_be_written_at_all_it_says_so_and_what_is_proved(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(rescue.tempfile, "gettempdir", lambda: str(tmp_path / "nowhere"))
    path = folder / "searches.db"
    with pytest.raises(RecordLost, match="could not be saved elsewhere: no folder could be written") as caught:
        search(draw, Losing(path, lambda path: shutil.rmtree(folder)), **TARGET, storage=path)
    assert caught.value.saved is None
    assert any("Proved so far" in note for note in caught.value.__notes__)


def test_a_name_that_is_taken_is_left_alone(path):
    taken = path.with_name("searches-saved.db")
    taken.write_text("mine")
    with pytest.raises(RecordLost) as caught:
        search(draw, Losing(path, removed), **TARGET, storage=path)
    assert taken.read_text() == "mine"
    assert Path(caught.value.saved).name == "searches-saved-2.db"


def test_a_file_that_is_only_in_use_is_not_lost(path):
    """Readers, messages, and changes that others make properly."""
    with Session.start(Task(0.1, 0.1, 0.05, algorithm="cc-lucb"), path) as session:
        for pull in session.ask_many(20):
            session.tell(pull, 1.0)
            read(path)
            assert session.record.take_messages() == []
            shutil.copy(path, path.with_name("copy.db"))
        assert session.record.loss is None


def test_the_command_line_says_it_in_one_sentence(tmp_path, caplog):
    from click.testing import CliRunner

    from topalpha.cli import main

    (tmp_path / "losing_module.py").write_text(
        "import os\ncount = []\n"
        "def draw(rng):\n    return float(rng.random())\n"
        "def pull(candidate, rng):\n    count.append(1)\n"
        "    if len(count) == 20:\n        os.unlink(os.environ['LOST_RECORD'])\n"
        "    return float(rng.random() < candidate)\n"
    )
    path = tmp_path / "searches.db"
    command = ["run", f"{tmp_path / 'losing_module.py'}:pull", "--alpha", "0.1", "--epsilon", "0.01", "--delta", "0.05"]
    arguments = [*command, "--storage", str(path), "--progress", "none", "--algorithm", "cc-lucb"]
    outcome = CliRunner().invoke(main, arguments, env={"LOST_RECORD": str(path)})
    assert outcome.exit_code == 1
    assert outcome.stderr == "", "logged, not said twice"
    assert [record.getMessage()[:59] for record in caplog.records if record.levelname == "WARNING"] == [
        "topalpha: path must stay where it is while a search is reco"
    ]
    assert "The search ended because the file that it was recorded in was lost." in outcome.stdout.replace("\n", " ")
    assert verify(tmp_path / "searches-saved.db").reason == "vanished"


def test_a_record_without_a_search_is_saved_as_well(path):
    with Storage(path) as storage:
        record = storage.create("first", {"alpha": 0.05})
        for order in range(5):
            record.ask(order, 0, order)
            record.tell(order, 0.5)
            if order == 2:
                moved(path)
        assert isinstance(record.loss, StorageError)
        assert len(record.recording().tells) == 5
    assert len(read(record.loss.saved).tells) == 5
