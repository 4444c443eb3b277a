"""The dashboard's streams: what viewers are told, and that none of them is in another's way."""

import math
import os
import socket
import threading
import time
from contextlib import ExitStack
from dataclasses import replace

import httpx
import pytest

from tests.support.streaming import PROGRESS, ROWS, TASK, fill, searching, serving, silence, stream
from tests.support.waiting import PATIENCE, until
from topalpha.dashboard import serving as serving_
from topalpha.dashboard import watching
from topalpha.dashboard.watching import Channel
from topalpha.storage import Recording, Row, Storage

CREATED = "2024-01-01T00:00:00+00:00"
CERTIFICATE = {"statement": "<b>proved</b>", "epsilon": 0.2}


def many(arms, pulls=1):
    return [(arm, pulls, 0.25, 0.1, 0.9, 0) for arm in range(arms)]


def test_first_everything_then_what_changed(path):
    began = time.time()
    with searching(path) as record, serving(path) as client, stream(client, "first") as events:
        assert events.next("searches")["searches"][0]["name"] == "first"
        whole = events.next("state")
        assert whole.pop("created").endswith("+00:00")
        assert began <= whole.pop("updated") <= time.time()
        target = {key: TASK[key] for key in ("alpha", "epsilon", "delta", "minimise", "algorithm", "family")}
        assert whole == {
            **PROGRESS,
            **target,
            **{"name": "first", "full": True, "status": "running", "alive": True, "paused": False},
            **{"law": "the pool", "line": 0.7, "claims": None, "certificate": None},
            **{"about": None, "bounded": True, "joint": TASK["algorithm"] == "joint-lucb"},
            **{"selection": [1], "over": 2, "undrawn": 0, "candidate": None, "history": []},
            **{"evidence": None, "rest": None},
            "rows": [[0, 2, 0.5, None, 0.75, 0, 1], [1, 4, 0.75, 0.5, 0.875, 1, 0], [2, 0, None, 0.0, None, 0, 1]],
        }
        claims = [[0.1, 0.3], [0.2, 0.1]]
        said = {**PROGRESS, "pulls": 9, "paused": True, "claims": claims}
        record.snapshot([(1, 7, 0.5, 0.25, 0.75, 0), (3, 0, None, 0.0, 1.0, 1)], said)
        update = events.next("state")
        assert update["full"] is False
        assert update["rows"] == [[1, 7, 0.5, 0.25, 0.75, 0, 0], [3, 0, None, 0.0, 1.0, 1, 1]]
        assert (update["unresolved"], update["over"]) == (3, 3)
        assert (update["pulls"], update["paused"], update["claims"]) == (9, True, claims)
        record.finish("stopped", CERTIFICATE)
        assert events.next("searches", lambda data: data["searches"][0]["status"] == "stopped")
        end = events.next("state")
        # Once it has stopped nobody contests the leader, and those who did are told anew.
        assert [(row[0], row[-1]) for row in end["rows"]] == [(0, 0), (2, 0), (3, 0)]
        assert (end["full"], end["status"], end["alive"], end["unresolved"]) == (False, "stopped", False, 0)
        assert end["paused"] is False
        assert end["certificate"] == CERTIFICATE


def test_the_line_of_a_search_for_small_values():
    one = Recording("first", {"task": {**TASK, "minimise": True}}, "running", None, CREATED, progress=PROGRESS)
    one = replace(one, snapshot=[Row(*row) for row in ROWS])
    from topalpha.dashboard.states import figures

    assert figures(one)["line"] == pytest.approx(0.875 - 0.2)


@pytest.mark.parametrize(
    ("algorithm", "joint"), [("joint-lucb", True), ("joint-one-phase", True), ("cc-lucb", False), ("unknown", False)]
)
def test_who_weighs_all_arms_together_is_said(algorithm, joint):
    one = Recording("first", {"task": {**TASK, "algorithm": algorithm}}, "running", None, CREATED, progress=PROGRESS)
    from topalpha.dashboard.states import figures

    assert figures(one)["joint"] is joint


def test_in_the_end_the_arm_of_the_certificate_leads():
    from topalpha.dashboard.states import figures

    rows = [Row(*row) for row in ROWS]
    one = Recording("first", {"task": TASK}, "message", {"arm": 0}, CREATED, progress=PROGRESS, snapshot=rows)
    found = figures(one)
    assert [found[key] for key in ("leader", "mean", "low", "high", "line")] == [0, 0.5, None, 0.75, None]
    # What is odd about a certificate leaves the rest as it is.
    for odd in ({"arm": 17}, {"arm": "x"}, {}, [], None):
        assert figures(replace(one, certificate=odd))["leader"] == 1


def test_without_bounds_none_are_told(path):
    with searching(path, progress={**PROGRESS, "bounded": False}), serving(path) as client:
        with stream(client, "first") as events:
            whole = events.next("state")
        assert [whole[key] for key in ("bounded", "line", "low", "high", "mean")] == [False, None, None, None, 0.75]
        assert whole["rows"] == [
            [0, 2, 0.5, None, None, 0, 0],
            [1, 4, 0.75, None, None, 1, 0],
            [2, 0, None, None, None, 0, 0],
        ]
        table = client.get("/api/arms", params={"name": "first"}).json()
        assert {(row["lower"], row["upper"]) for row in table["rows"]} == {(None, None)}


@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan])
def test_means_that_are_no_numbers_end_nothing(path, odd):
    rows = [(0, 2, odd, 0.0, 1.0, 0), (1, 4, 0.75, 0.5, 0.875, 1), (2, 3, 0.25, 0.1, 0.5, 0)]
    with searching(path, rows=rows) as record, serving(path) as client:
        with stream(client, "first") as events:
            whole = events.next("state")
            assert [row[2] for row in whole["rows"]] == [None, 0.75, 0.25]
            record.snapshot([(2, 4, odd, 0.1, 0.5, 0)], {**PROGRESS, "pulls": 7})
            assert [row[2] for row in events.next("state")["rows"]] == [None]
        for order in ("ascending", "descending"):
            table = client.get("/api/arms", params={"name": "first", "sort": "mean", "order": order}).json()
            assert [(row["arm"], row["mean"]) for row in table["rows"]] == [(1, 0.75), (0, None), (2, None)]
    odd_figures = Recording("first", {"task": TASK}, "running", None, CREATED, progress={**PROGRESS, "mean": odd})
    channel = Channel()
    assert channel.show(odd_figures)
    assert b'"mean":null' in channel.since(0)[1][0]


def test_what_json_cannot_hold_is_said_and_ends_no_stream():
    channel = Channel()
    one = Recording("first", {"task": TASK}, "message", {"at_worst": math.nan}, CREATED, progress=PROGRESS)
    assert channel.show(one)
    version, (message,) = channel.since(0)
    assert message.startswith(b"event: missing\ndata: The search cannot be shown: ")
    assert channel.show(replace(one, certificate=None))
    assert channel.since(version)[1][0].startswith(b"event: state")


def test_a_stream_outlives_its_file(path):
    with serving(path) as client, stream(client, "first") as events:
        assert events.next("searches")["missing"] is True
        assert events.next("missing") == "There is no file 'searches.db' yet; it is shown as soon as it exists."
        with searching(path, name="second") as record:
            assert events.next("missing") == "There is no search 'first' in 'searches.db'."
            assert record.name == "second"
        with Storage(path) as storage:
            fill(storage)
            assert events.next("state")["full"] is True
        path.unlink()
        assert "no file" in events.next("missing")
        # From here on each file is there at once, and not bit by bit.
        other = path.with_name("other.db")
        with searching(other, rows=ROWS[:1]):
            pass
        os.replace(other, path)
        again = events.next("state")
        assert again["full"] is True
        assert len(again["rows"]) == 1
        other.write_bytes(b"x" * 4096)
        os.replace(other, path)
        assert events.next("searches", lambda data: data["problem"])["searches"] == []
        assert "The file cannot be read: path must be an undamaged topalpha file" in events.next("missing")
        with searching(other, rows=ROWS[:2]):
            pass
        os.replace(other, path)
        assert len(events.next("state")["rows"]) == 2


def test_another_file_under_the_same_name(path, tmp_path):
    with searching(path):
        pass
    with serving(path) as client, stream(client, "first") as events:
        assert len(events.next("state")["rows"]) == 3
        with searching(tmp_path / "other.db", rows=ROWS[:2]):
            pass
        os.replace(tmp_path / "other.db", path)
        assert len(events.next("state", lambda data: data["full"])["rows"]) == 2


def test_silence_is_noticed_without_a_change_of_the_file(path):
    with searching(path) as record, serving(path) as client, stream(client, "first") as events:
        assert events.next("state")["alive"] is True
        with silence(0.0):
            assert events.next("searches", lambda data: not data["searches"][0]["alive"])
            silent = events.next("state")
        assert (silent["status"], silent["alive"], silent["full"], silent["rows"]) == ("running", False, False, [])
        record.snapshot([], PROGRESS)
        assert events.next("state", lambda data: data["updated"] > silent["updated"])["alive"] is True


def test_a_silent_stream_says_that_it_is_there(path, monkeypatch):
    monkeypatch.setattr(watching, "HEARTBEAT", 0.1)
    with searching(path) as record:
        record.finish("stopped", CERTIFICATE)
        with serving(path) as client, stream(client, "first") as events:
            events.next("state")
            for _ in range(2):
                assert events.next("beat") == 1
            record.finish("pulls", CERTIFICATE)
            assert events.next("state")["status"] == "pulls"


def test_the_list_alone_can_be_followed(path):
    with Storage(path) as storage, serving(path) as client, stream(client) as events:
        assert events.next("searches")["searches"] == []
        for number, name in enumerate(("a", "b"), 1):
            fill(storage, name)
            assert events.next("searches", lambda data, number=number: len(data["searches"]) == number)


def test_a_change_is_computed_once_for_all(path, monkeypatch):
    shown, encoded = [], []
    show, cells = Channel.show, watching.cells
    monkeypatch.setattr(Channel, "show", lambda self, recording: shown.append(show(self, recording)) or shown[-1])
    monkeypatch.setattr(watching, "cells", lambda rows, who: encoded.append(len(rows)) or cells(rows, who))
    with searching(path) as record, serving(path) as client, ExitStack() as stack:
        viewers = [stack.enter_context(stream(client, "first")) for _ in range(10)]
        for viewer in viewers:
            viewer.next("state")
        assert (len(shown), encoded) == (1, [3])
        record.snapshot([(0, 3, 0.5, 0.2, 0.7, 0)], {**PROGRESS, "pulls": 7})
        for viewer in viewers:
            assert viewer.next("state")["rows"] == [[0, 3, 0.5, 0.2, 0.7, 0, 0]]
        assert (len(shown), encoded) == (2, [3, 1])


def test_nobody_watches_nobody_reads(path, monkeypatch):
    with searching(path), serving(path) as client:
        with stream(client, "first") as events:
            events.next("state")
        hub = client.server.hub
        until(lambda: not hub.viewers and hub._task.done())
        read = []
        monkeypatch.setattr(hub.reader, "look", lambda: read.append(1))
        time.sleep(4 * watching.PERIOD)
        assert read == []


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_viewers_that_leave_leave_nothing_behind(path):
    """50 of them: some after the first event, some at once, some without a word."""
    with searching(path), serving(path) as client:
        server = client.server
        with stream(client, "first") as events:
            events.next("state")
        client.get("/api/arms", params={"name": "first"})
        until(lambda: not server.hub.viewers)
        before, threads = descriptors(), threading.active_count()
        for number in range(50):
            if number % 3 == 0:
                with socket.create_connection((client.base_url.host, client.base_url.port)) as line:
                    line.sendall(b"GET /api/stream?name=first HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    if number % 2:
                        line.recv(100)
            else:
                with stream(client, f"{'first' if number % 2 else 'other'}") as events:
                    events.next("searches")
        until(lambda: not server.hub.viewers)
        until(lambda: len(server.server_state.connections) <= 1 and len(server.server_state.tasks) == 0)
        until(lambda: server.hub._task.done())
        until(lambda: descriptors() <= before and threading.active_count() <= threads)
        assert len(server.hub._channels) <= 1


def test_a_slow_viewer_holds_up_nobody_and_catches_up(path, monkeypatch):
    """It reads nothing while another is told of 24 changes; then it gets the latest, not all in between."""
    monkeypatch.setattr(serving_, "READING", math.inf)
    with searching(path, rows=many(2000), candidates=()) as record, serving(path) as client:
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect((client.base_url.host, client.base_url.port))
        (connection,) = until(lambda: client.server.server_state.connections)
        # As if the way were short, and what is sent had to wait in the server.
        connection.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        slow.sendall(b"GET /api/stream?name=first HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with slow, stream(client, "first") as events:
            events.next("state")
            for pulls in range(2, 26):
                record.snapshot(many(2000, pulls), {**PROGRESS, "pulls": pulls})
                assert len(events.next("state", lambda data, pulls=pulls: data["pulls"] == pulls)["rows"]) == 2000
            assert connection.flow.write_paused
            slow.settimeout(PATIENCE)
            received = b""
            while b'"pulls":25,' not in received or not received.endswith(b"\n\n\r\n"):
                received += slow.recv(1 << 20)
        assert received.count(b"event: state") < 6
        until(lambda: not client.server.hub.viewers)


def test_versions_lead_to_the_present_one():
    """Whatever a viewer has seen, applying what it is sent gives the present rows."""
    import json

    channel, states = Channel(), []
    for moment in range(40):
        rows = [Row(arm, moment if arm == moment % 7 else 1, 0.5, 0.0, 1.0, 0) for arm in range(7 + moment // 8)]
        assert channel.show(Recording("first", {}, "running", None, CREATED, snapshot=rows))
        states.append({row.arm: row.pulls for row in rows})
    for seen in range(41):
        version, messages = channel.since(seen)
        assert version == 40
        shown = dict(states[seen - 1]) if seen else {}
        for message in messages:
            data = json.loads(message.split(b"data: ")[1])
            shown = {} if data["full"] else shown
            shown |= {row[0]: row[1] for row in data["rows"]}
        assert shown == states[-1]
        assert len(messages) <= watching.KEPT
    assert len(channel.since(37)[1]) == 3


def test_too_many_viewers(path, monkeypatch):
    from topalpha.dashboard import routes

    monkeypatch.setattr(routes, "MOST", 1)
    with searching(path), serving(path) as client, stream(client, "first") as events:
        events.next("state")
        response = client.get("/api/stream")
        assert (response.status_code, set(response.json())) == (503, {"error"})


def test_an_error_of_ours_ends_the_stream_and_the_next_one_works(path, monkeypatch, caplog):
    """Nobody is left with a stream that says nothing for ever."""
    monkeypatch.setattr(watching, "HEARTBEAT", 0.1)
    with searching(path) as record, serving(path) as client:
        hub = client.server.hub
        look = hub.reader.look
        with stream(client, "first") as events:
            events.next("state")
            monkeypatch.setattr(hub.reader, "look", lambda: 1 / 0)
            with pytest.raises((EOFError, httpx.RemoteProtocolError)):
                events.next("missing")
        monkeypatch.setattr(hub.reader, "look", look)
        with stream(client, "first") as events:
            events.next("state")
            record.snapshot([(0, 9, 0.5, 0.2, 0.7, 0)], PROGRESS)
            assert events.next("state")["rows"] == [[0, 9, 0.5, 0.2, 0.7, 0, 0]]
    assert "ZeroDivisionError" in caplog.text
