"""Sessions that are driven by hand show themselves: snapshots by time, cheap, and without a trace in the log."""

from __future__ import annotations

import itertools
import math
import random
import sqlite3

import pytest
from click.testing import CliRunner

from topalpha import Session, Task, search, verify
from topalpha.certificate import proved_claims
from topalpha.cli import main
from topalpha.running import Running, Watch
from topalpha.session.progress import MOMENTS
from topalpha.storage import StorageError, post, read

LOG = ("config", "arms", "asks", "waits", "tells", "failures", "status", "certificate")
TASK = Task(0.3, 0.3, 0.2, algorithm="cc-lucb")
LONGER = Task(0.3, 0.15, 0.2, algorithm="cc-lucb")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "by-hand.db"


@pytest.fixture
def always(monkeypatch):
    """A snapshot at every tell, each with what is proved."""
    monkeypatch.setattr("topalpha.session.progress.PERIOD", 0.0)
    monkeypatch.setattr("topalpha.session.progress.LITTLE", float("inf"))
    monkeypatch.setattr("topalpha.session.progress.SETTLED", 0.0)


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr("topalpha.session.progress.time.monotonic", lambda: self.now)


def counted(session, monkeypatch, clock=None, takes=0.0):
    """The moments at which the session takes snapshots, each of which takes so long."""
    moments, write = [], session.record.snapshot

    def noted(rows, progress):
        moments.append(None if clock is None else clock.now)
        if clock is not None:
            clock.now += takes
        write(rows, progress)

    monkeypatch.setattr(session.record, "snapshot", noted)
    return moments


def driven(session, width=1, most=10**6, seed=0):
    """Drive it by hand, rewards in random order, until it stops."""
    rng = random.Random(seed)
    while session.told < most and (pulls := session.ask_many(width)):
        for pull in pulls:
            if pull.number == 0:
                session.keep(pull.arm, pull.arm)
        rng.shuffle(pulls)
        for pull in pulls:
            session.tell(pull, float(random.Random(pull.arm * 10**6 + pull.number).random() < pull.arm % 7 / 7))
    return session


def check_rows(session, recording):
    """Whether the figures on disk are those of the session now."""
    history, model = session.history, session.model
    assert [row.arm for row in recording.snapshot] == list(range(history.arms))
    for arm, pulls, mean, lower, upper, pending in recording.snapshot:
        assert (pulls, pending) == (history.pulls[arm], history.pending[arm])
        if pulls:
            assert mean == model.to_user(history.stats[0][arm] / pulls)
            assert (lower, upper) == tuple(
                sorted((model.to_user(session.lower(arm)), model.to_user(session.upper(arm))))
            )
    assert recording.progress["pulls"] == history.t
    assert recording.progress["leader"] == session.best


def test_the_first_reward_is_shown(path):
    with Session.start(TASK, path) as session:
        pulls = session.ask_many(3)
        assert read(path).progress is None
        session.tell(pulls[0], 1.0)
        check_rows(session, read(path))
        assert [row.pending for row in read(path).snapshot] == [0, 1, 1]


def test_snapshots_come_by_time(path, monkeypatch):
    clock = Clock(monkeypatch)
    with Session.start(TASK, path) as session:
        moments = counted(session, monkeypatch, clock)
        for _ in range(26):
            session.tell(session.ask(), 0.5)
            clock.now += 0.125
    # Due 0.4 s after the one before, and taken at the next reward: every fourth.
    assert moments == [1000.0 + 0.5 * number for number in range(7)]


def test_tell_many_shows_too(path, monkeypatch):
    clock = Clock(monkeypatch)
    with Session.start(TASK, path) as session:
        moments = counted(session, monkeypatch, clock)
        for _ in range(3):
            session.tell_many([(pull, 0.5) for pull in session.ask_many(4)])
            clock.now += 1.0
        check = read(path)
    assert len(moments) == 3
    assert check.progress["pulls"] == 12


def test_a_snapshot_that_takes_long_is_taken_seldom(path, monkeypatch):
    clock = Clock(monkeypatch)
    with Session.start(TASK, path) as session:
        moments = counted(session, monkeypatch, clock, takes=0.0625)
        for _ in range(100):
            session.tell(session.ask(), 0.5)
            clock.now += 0.25
    gaps = [after - before for before, after in itertools.pairwise(moments)]
    assert len(moments) >= 3
    assert all(6.25 <= gap <= 6.25 + 2 * 0.3125 for gap in gaps), "a hundredth of the time"


def test_what_is_proved_comes_later_and_at_the_end(path, monkeypatch):
    clock = Clock(monkeypatch)
    with Session.start(TASK, path) as session:
        driven(session, most=session.algorithm.arms + 1)
        clock.now += 9.0
        driven(session, most=session.told + 1)
        assert read(path).progress["claims"] is None
        clock.now += 2.0
        driven(session, most=session.told + 1)
        assert read(path).progress["claims"] is not None
        certificate = driven(session).finish("stopped")
        recording = read(path)
        check_rows(session, recording)
        claims = [list(claim) for claim in proved_claims(session, certificate.arm)]
    assert recording.progress["claims"] == claims != []
    assert (recording.progress["gap"], recording.status) == (0.0, "stopped")


@pytest.mark.parametrize(("algorithm", "width"), [("cc-lucb", 1), ("cc-lucb", 5), ("joint-lucb", 3), ("lucb++", 2)])
def test_the_log_is_the_same_bit_by_bit(algorithm, width, tmp_path, always, monkeypatch):
    task, kept = Task(0.3, 0.4, 0.2, algorithm=algorithm, seed=4), []
    for shown in (True, False):
        file = tmp_path / f"{shown}.db"
        with Session.start(task, file) as session:
            moments = counted(session, monkeypatch)
            if not shown:
                session.snapshots = None
            kept.append(driven(session, width).finish("stopped"))
        assert len(moments) == (session.told + 1 if shown else 0)
        assert verify(file) == kept[-1]
    one, other = (read(tmp_path / f"{shown}.db") for shown in (True, False))
    assert [part for part in LOG if getattr(one, part) != getattr(other, part)] == []
    assert kept[0] == kept[1]
    assert one.snapshot
    assert not other.snapshot


def test_a_session_that_is_resumed_shows_itself_again(path, always):
    with Session.start(TASK, path) as session:
        driven(session, most=20)
        before = read(path).snapshot
    with Session.resume(path) as session:
        assert read(path).snapshot == before
        driven(session, most=21)
        check_rows(session, read(path))
        certificate = driven(session).finish("stopped")
    assert verify(path) == certificate


def test_nothing_is_shown_after_the_stop(path, always, monkeypatch):
    with Session.start(TASK, path) as session:
        late = session.ask_many(2)[1]
        session.keep(0, 0)
        session.keep(1, 1)
        for pull in session.outstanding:
            session.tell(pull, 1.0)
        driven(session).finish("stopped")
    with Session.resume(path) as session:
        moments = counted(session, monkeypatch)
        session.tell(late, 1.0)
    assert moments == []
    assert read(path).status == "stopped"


def test_messages_are_left_to_whoever_drives_it(path, always):
    with Session.start(TASK, path) as session:
        post(path, None, "pause")
        driven(session, most=20)
        assert session.told == 20
        assert read(path).progress["paused"] is False
        assert session.record.take_messages() == ["pause"]


def test_whoever_watches_takes_the_snapshots(path, always):
    assert Session.start(TASK).snapshots is None
    with Session.start(TASK, path) as session:
        driven(session, most=5)
        watch = Watch(session, Running(), lambda progress, leader: None)
        before = read(path).updated
        driven(session, most=10)
        assert read(path).updated == before
        watch.last()
        check_rows(session, read(path))


def test_a_search_is_not_shown_twice(path, always, monkeypatch):
    taken = []
    monkeypatch.setattr("topalpha.session.progress.Snapshots.take", lambda self, **how: taken.append(how))
    search(lambda: 1, lambda candidate: 1.0, alpha=0.3, epsilon=0.3, delta=0.2, storage=path, progress="none")
    assert taken == [{"last": True}]
    assert read(path).snapshot


def test_show_has_the_arms(path):
    with Session.start(TASK, path) as session:
        driven(session, most=12)
        while_it_runs = CliRunner().invoke(main, ["show", str(path), "--arms", "3"])
        driven(session).finish("stopped")
    at_the_end = CliRunner().invoke(main, ["show", str(path), "--arms", "3"])
    for seen in (while_it_runs, at_the_end):
        assert seen.exit_code == 0
        assert "upper" in seen.stdout


def test_the_last_snapshot_has_what_is_proved_however_soon_it_comes(path):
    with Session.start(TASK, path) as session:
        driven(session)
        assert read(path).progress["claims"] is None
        session.finish("stopped")
    assert read(path).progress["claims"]


def history(path):
    return read(path).progress["history"]


def test_the_gap_is_kept_over_the_whole_search(path, always):
    gaps = {}
    with Session.start(LONGER, path) as session:
        session.snapshots.share = math.inf
        while not session.stopped:
            driven(session, most=session.told + 1)
            said = read(path).progress
            if said["gap"] is not None:
                gaps[said["pulls"]] = max(said["gap"], 0.0)
        session.finish("stopped")
    found = history(path)
    assert len(gaps) > MOMENTS, "nothing was dropped, so that this is no test"
    assert MOMENTS / 2 < len(found) <= MOMENTS
    assert [gaps[pulls] for pulls, _ in found] == [gap for _, gap in found]
    assert found[0][0] == min(gaps)
    assert found[-1] == [session.history.t, 0.0]
    assert verify(path).proved


def test_a_resumed_search_goes_on_with_the_history(path, always):
    with Session.start(LONGER, path) as session:
        session.snapshots.share = math.inf
        driven(session, most=40)
    before = history(path)
    assert len(before) > 10
    with Session.resume(path) as session:
        session.snapshots.share = math.inf
        driven(session, most=50)
    assert history(path)[: len(before)] == before
    assert history(path)[-1][0] == 50
    # The last rewards were lost, and with them what was known after them.
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM tells WHERE sequence >= 45")
        connection.execute("DELETE FROM asks WHERE after > 45")
    connection.close()
    with Session.resume(path) as session:
        assert session.history.t == 45
        session.snapshots.take()
    assert history(path)[: len(before)] == before
    assert history(path)[-1][0] == 45
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE progress SET data = json_set(data, '$.history', json('[7]'))")
    connection.close()
    with pytest.raises(StorageError, match="history of the progress must be"):
        Session.resume(path)
