"""Connections to the dashboard: half-open ones, too many of them, and a process that may open few files."""

import errno
import json
import math
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import h11
import httpx
import pytest

from tests.support.dashboards import TOKEN, Processes
from tests.support.streaming import searching, serving, stream
from tests.support.waiting import PATIENCE, until
from topalpha.dashboard import serving as serving_

HEAD = "HTTP/1.1\r\nHost: localhost\r\n"
ORDER = f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{"


def opened(port, request=""):
    """A connection on which this much of a request has been sent."""
    line = socket.create_connection(("127.0.0.1", port), PATIENCE)
    line.sendall(request.encode())
    return line


def rest(line):
    """All that comes before the server ends the connection."""
    answer = b""
    try:
        while part := line.recv(65536):
            answer += part
    except ConnectionResetError:
        pass
    line.close()
    return answer


def has_begun(connection):
    """Whether a part of a request has come that is not answered yet."""
    if connection.cycle is not None and connection.cycle.response_complete:
        return False
    return bool(connection.conn.trailing_data[0]) or connection.conn.our_state is h11.SEND_RESPONSE


def sentence(answer, status):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"\r\nconnection: close" in head.lower()
    return json.loads(body)["error"]


REQUESTS = [
    ("", None),
    ("GET / HT", 408),
    (f"GET / {HEAD}X-Long: ", 408),
    (f"POST /api/control {HEAD}{ORDER}", 408),
    (f"GET / {HEAD}\r\n", 200),
    (f"GET / {HEAD}Content-Length: 9\r\n\r\n", 200),
    (f"GET / {HEAD}\r\nGET / HT", 200),
]


@pytest.fixture(autouse=True)
def _watchful(monkeypatch):
    """Connections are looked after all the time, and none is late before a test says so."""
    monkeypatch.setattr(serving_, "LOOK", 1)
    monkeypatch.setattr(serving_, "REQUEST", math.inf)
    monkeypatch.setattr(serving_, "READING", math.inf)


def test_a_request_that_never_comes_is_not_waited_for(path, monkeypatch, caplog):
    """Nothing, a part of a head, of a body, of a second request; what has come whole was answered."""
    with serving(path) as client:
        state = client.server.server_state
        lines = [opened(client.base_url.port, request) for request, _ in REQUESTS]
        answers = [line.recv(8) if status == 200 else b"" for line, (_, status) in zip(lines, REQUESTS, strict=True)]
        until(lambda: [has_begun(one) for one in state.connections].count(True) == 3)
        monkeypatch.setattr(serving_, "REQUEST", 0.1)
        answers = [begin + rest(line) for begin, line in zip(answers, lines, strict=True)]
        until(lambda: not state.connections and not state.tasks)
    for (request, status), answer in zip(REQUESTS, answers, strict=True):
        if status == 408:
            assert sentence(answer, 408) == "request must come within 0.1 seconds, got a part of it"
        elif status == 200:
            assert answer.startswith(b"HTTP/1.1 200 OK"), request
        else:
            assert answer == b""
    assert caplog.text == ""


def test_bytes_now_and_then_do_not_help(path, monkeypatch):
    monkeypatch.setattr(serving_, "REQUEST", 0.2)
    with serving(path) as client, opened(client.base_url.port, f"GET / {HEAD}X-Long: ") as line:
        line.settimeout(0.05)

        def ended():
            try:
                line.sendall(b"a")
                return line.recv(1) is not None
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        until(ended)


def test_viewers_are_not_dropped(path, monkeypatch):
    """A stream that is older than a half-open request, which is dropped, goes on."""
    with searching(path) as record, serving(path) as client, stream(client, "first") as events:
        events.next("state")
        monkeypatch.setattr(serving_, "REQUEST", 0.1)
        monkeypatch.setattr(serving_, "READING", 0.1)
        for pulls in (7, 8):
            rest(opened(client.base_url.port, "GET / HT"))
            record.snapshot([], {"pulls": pulls})
            assert events.next("state")["pulls"] == pulls


def test_who_reads_nothing_is_dropped_in_the_end(path, monkeypatch):
    """The chart library, which is larger than what fits on the way, is not read."""
    with serving(path) as client, ExitStack() as stack:
        found = client.server.server_state.connections
        for end in ("", "Connection: close\r\n"):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", client.base_url.port))
            line.sendall(f"GET /assets/plotly.js {HEAD}{end}\r\n".encode())
            assert line.recv(8).startswith(b"HTTP/1.1")
        monkeypatch.setattr(serving_, "READING", 0.1)
        until(lambda: not found and not client.server.server_state.tasks)


def test_half_open_connections_make_room(path, monkeypatch):
    """The oldest one goes first, and viewers stay."""
    monkeypatch.setattr(serving_, "most", lambda: 4)
    with searching(path) as record, serving(path) as client, ExitStack() as stack:
        port, found = client.base_url.port, client.server.server_state.connections
        events = stack.enter_context(stream(client, "first"))
        events.next("state")
        lines = []
        for count in range(2, 5):
            lines.append(stack.enter_context(opened(port, "GET / HT")))
            until(lambda count=count: len(found) == count)
        for line in lines:
            assert rest(opened(port, f"GET / {HEAD}Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")
            until(lambda: len(found) == 3)
            assert rest(line) == b""
            stack.enter_context(opened(port, "GET / HT"))
            until(lambda: len(found) == 4)
        record.snapshot([], {"pulls": 7})
        assert events.next("state")["pulls"] == 7


def test_too_many_are_refused_in_one_sentence(path, monkeypatch):
    """While all who are there have asked for something; and no longer."""
    monkeypatch.setattr(serving_, "most", lambda: 3)
    monkeypatch.setattr(serving_, "SPARE", 1)
    with searching(path), serving(path) as client, ExitStack() as stack:
        port, found = client.base_url.port, client.server.server_state.connections
        viewers = [stack.enter_context(opened(port, f"GET /api/stream {HEAD}\r\n")) for _ in range(3)]
        until(lambda: client.server.hub.viewers.total() == 3)
        asking = f"GET /api/searches {HEAD}Connection: close\r\n\r\n"
        said = sentence(rest(opened(port, asking)), 503)
        assert said == "connections must be at most 3 at once, got one more"
        until(lambda: len(found) == 3)
        with opened(port, "GET / HT") as refused:
            until(lambda: len(found) == 4)
            assert rest(opened(port)) == b""
            # What is refused does not wait for room.
            viewers[0].close()
            until(lambda: len(found) == 3)
            refused.sendall(b"TP/1.1\r\nHost: localhost\r\n\r\n")
            assert sentence(rest(refused), 503) == said
        assert rest(opened(port, asking)).startswith(b"HTTP/1.1 200 OK")


def test_viewers_leave_room_for_questions(path, monkeypatch):
    from topalpha.dashboard import routes

    monkeypatch.setattr(routes, "most", lambda: 2)
    with searching(path), serving(path) as client, stream(client, "first") as events:
        events.next("state")
        response = client.get("/api/stream")
        assert response.json() == {"error": "viewers must be at most 1 at once, got one more"}
        assert client.get("/api/searches").status_code == 200


@contextmanager
def cramped(path, handles):
    """A dashboard that may open so many files: its process, and its address."""
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({handles}, {handles}))\n"
        "from topalpha.cli import main; main()"
    )
    processes = Processes()
    try:
        process = processes.start(
            *("-c", code, "dashboard", path, "--port", 0, "--no-open", "--token", TOKEN),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        yield process, process.stdout.readline().strip()
    finally:
        processes.end()
        process.stderr.close()


def ended(process):
    """End it, and all that it said."""
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=PATIENCE)[1].splitlines()
    assert process.returncode == 0
    assert said[1].startswith("Ctrl-C ends it")
    return said[2:]


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of resources")
def test_a_crowd_of_half_open_connections_keeps_nobody_out(path):
    """400 of them, twice as many as there are files."""
    with cramped(path, 200) as (process, address), ExitStack() as stack:
        port = httpx.URL(address).port
        for _ in range(400):
            stack.enter_context(opened(port, "GET / HT"))
        assert httpx.get(address, timeout=PATIENCE).status_code == 200
        assert ended(process) == []


def test_a_lack_of_files_is_said_once(path, monkeypatch, caplog):
    """Connections wait, and are served once there are files; nobody is told of the attempts in between."""
    lacking, accept = [], socket.socket.accept

    def accepted(listener):
        if lacking:
            lacking.append(1)
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", accepted)
    monkeypatch.setattr("asyncio.constants.ACCEPT_RETRY_DELAY", 0.05)
    with serving(path) as client:
        lacking.append(1)
        with opened(client.base_url.port, f"GET / {HEAD}Connection: close\r\n\r\n") as line:
            until(lambda: len(lacking) > 20)
            lacking.clear()
            assert rest(line).startswith(b"HTTP/1.1 200 OK")
        lacking.append(1)
        opened(client.base_url.port).close()
        until(lambda: len(lacking) > 1)
    assert [one.getMessage() for one in caplog.records] == [
        "Connections have to wait until others end: Too many open files."
    ]
