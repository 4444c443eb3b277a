"""The dashboard as a command, beside searches in processes of their own: killed, interrupted, refused."""

import fcntl
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack

import httpx
import pytest
from click.testing import CliRunner

from tests.support.dashboards import TOKEN, Dashboard, Processes, kill
from tests.support.storing import child, contents
from tests.support.streaming import stream
from tests.support.waiting import PATIENCE, until
from topalpha.cli import main
from topalpha.storage import Storage, listing, stamp

BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def processes():
    found = Processes()
    yield found
    found.end()


def get(address, **settings):
    return httpx.get(address, timeout=PATIENCE, **settings)


def pulls(path):
    return (listing(path)[0].progress or {}).get("pulls", 0)


@pytest.mark.slow
def test_from_before_the_file_to_its_end(processes, path):
    """One dashboard: no file; a search begins, is paused, goes on, is killed, is resumed, and is told to stop."""
    dashboard = Dashboard(processes, path)
    with httpx.Client(base_url=dashboard.address, timeout=PATIENCE) as client:

        def order(action):
            body = {"name": "search", "action": action}
            return client.post("/api/control", json=body, headers=BEARER).status_code

        def obeyed(action, holds):
            """Give an order, and wait for a state; on a busy machine a search may give no sign of life for a while."""
            until(lambda: order(action) == 202)
            return events.next("state", holds)

        assert client.get("/api/searches").json()["missing"] is True
        with stream(client, "search") as events:
            assert "no file" in events.next("missing")
            search = processes.search(path)
            first = events.next("state", lambda data: data["rows"] and data["alive"])
            events.next("state", lambda data: data["pulls"] > first["pulls"])
            paused = obeyed("pause", lambda data: data["paused"])
            obeyed("continue", lambda data: not data["paused"] and data["pulls"] > paused["pulls"])
            kill(search)
            dead = events.next("state", lambda data: not data["alive"])
            assert dead["status"] == "running"  # nobody wrote anything else
            assert dead["certificate"] is None
            assert order("stop") == 409
            resumed = processes.start(*search.args[3:6], "resume")
            events.next("state", lambda data: data["alive"])
            end = obeyed("stop", lambda data: data["status"] != "running")
            assert end["status"] == "message"
            assert end["certificate"]["reason"] == "message"
            assert resumed.wait(PATIENCE) == 0
    assert interrupted(dashboard) == 0


def interrupted(dashboard):
    dashboard.process.send_signal(signal.SIGINT)
    return dashboard.process.wait(PATIENCE)


def test_a_killed_dashboard_is_not_noticed(processes, path):
    """Killed again and again while it reads: the search goes on at its pace, and no file is left over."""
    search = processes.search(path)
    for _ in range(2):
        dashboard = Dashboard(processes, path)
        with httpx.Client(base_url=dashboard.address, timeout=PATIENCE) as client, stream(client, "search") as events:
            events.next("state", lambda data: data["alive"])
            dashboard.kill()
        before = pulls(path)
        until(lambda before=before: pulls(path) > before + 20)
    assert search.poll() is None
    assert set(contents(path)) <= {path.name + end for end in ("", "-wal", "-shm", "-writer")}


def test_interrupt_ends_quietly_with_streams_open(processes, path):
    """A viewer, one that says nothing, and an idle connection: none is waited for, for they are there to the end."""
    dashboard = Dashboard(processes, path)
    with httpx.Client(base_url=dashboard.address, timeout=PATIENCE) as client, stream(client) as events:
        events.next("searches")
        with socket.create_connection(("127.0.0.1", dashboard.port)), httpx.Client(timeout=PATIENCE) as idle:
            idle.get(dashboard.address)
            assert interrupted(dashboard) == 0
            with pytest.raises((EOFError, httpx.RemoteProtocolError)):
                events.next("state")


HEAD = "HTTP/1.1\r\nHost: localhost\r\n"
ORDER = f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{{"


def test_interrupt_does_not_wait_for_those_who_do_not_read(processes, path):
    """The chart library is larger than what fits on the way; a head and a body never come to an end."""
    dashboard = Dashboard(processes, path)
    with ExitStack() as stack:
        for request in ("GET / HT", f"POST /api/control {HEAD}{ORDER}", f"GET /assets/plotly.js {HEAD}\r\n"):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", dashboard.port))
            line.sendall(request.encode())
        assert line.recv(8) == b"HTTP/1.1"  # the last of them, which came after the others
        assert interrupted(dashboard) == 0


def test_what_is_printed(processes, path):
    """The address, first and alone; the token only where the user could not know it; nothing else, ever."""
    process = processes.start(
        *("-m", "topalpha", "dashboard", path, "--port", 0, "--no-open"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    base, _, token = address.partition("?token=")
    assert len(token) >= 32
    assert get(address).status_code == 303
    assert get(base, params={"token": "wrong-token"}).status_code == 401
    assert get(base + "no/such/route").status_code == 404
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "")
    assert token not in err
    assert "Traceback" not in err


def test_other_addresses_get_a_token(processes, path):
    process = processes.start(
        *("-m", "topalpha", "dashboard", path, "--port", 0, "--no-open", "--host", "0.0.0.0"), stdout=subprocess.PIPE
    )
    address = process.stdout.readline().strip()
    base, _, token = address.partition("?token=")
    assert get(base).status_code == 401
    assert get(base + "api/searches").status_code == 401
    assert get(base, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    elsewhere = process.stdout.readline()
    assert elsewhere == f"from other machines: {address.replace('127.0.0.1', socket.gethostname())}\n"


def test_a_token_out_of_the_environment(processes, path, monkeypatch):
    monkeypatch.setenv("TOPALPHA_TOKEN", "battery-staple")
    process = processes.start(
        *("-m", "topalpha", "dashboard", path, "--port", 0, "--no-open"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    address = process.stdout.readline().strip()
    assert "battery" not in address
    # What it says is true: that address with the token opens the page, and the one that refuses says the same.
    assert process.stderr.readline() == "For the buttons open it once with ?token= and the token that you gave.\n"
    assert get(f"{address}?token=battery-staple").status_code == 303
    assert "/?token=" in httpx.post(f"{address}api/control", timeout=PATIENCE).json()["error"]
    process.send_signal(signal.SIGINT)
    assert "battery" not in process.communicate(timeout=PATIENCE)[1]


def test_the_browser_is_not_given_the_token(monkeypatch, path):
    """Everyone on the machine can see what it is started with."""
    from topalpha.dashboard.access import Access

    access = Access(TOKEN, "127.0.0.1", 8765)
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("topalpha.dashboard.serving.serve", lambda *given: given[-1](access))
    assert main(["dashboard", str(path), "--token", TOKEN], standalone_mode=False) == 0
    until(lambda: opened)
    base, _, ticket = opened[0].partition("?token=")
    assert (base, TOKEN in opened[0], len(ticket) >= 32) == ("http://127.0.0.1:8765/", False, True)
    assert access.ticket.redeem(ticket)


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_loopback_of_version_six(processes, path):
    process = processes.start(
        *("-m", "topalpha", "dashboard", path, "--port", 0, "--no-open", "--host", "::1"), stdout=subprocess.PIPE
    )
    address = process.stdout.readline().strip()
    if not address:
        pytest.skip("no IPv6 here")
    assert address.startswith("http://[::1]:")
    assert get(address.partition("?")[0]).status_code == 200


def test_bad_input_is_one_sentence(path, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, start in (
            ([path, "--port", port], f"topalpha: port must be free to use, got {port} ("),
            ([path, "--port", 65536], "topalpha: port must be at most 65535, got 65536"),
            ([path, "--port", "http"], "topalpha: port must be a whole number of at least 0, got 'http'"),
            ([path, "--host", "256.0.0.1", "--port", 0], "topalpha: host must be a name or an address of this machine"),
            ([path, "--host", "192.0.2.1", "--port", 0], "topalpha: host must be a name or an address of this machine"),
            ([path, "--host", "", "--port", 0], "topalpha: host must be a name or an address of this machine"),
            ([path, "--token", "short", "--port", 0], "topalpha: token must be 8 to 256 letters, digits, - and _, got"),
            ([tmp_path, "--port", 0], "topalpha: path must name a file"),
            ([tmp_path / "no" / "one.db", "--port", 0], "topalpha: path must lie in an existing directory"),
        ):
            found = CliRunner().invoke(main, ["dashboard", *map(str, arguments), "--no-open"])
            assert (found.exit_code, found.stdout) == (2, ""), arguments
            assert found.stderr.startswith(start)
            assert found.stderr.count("\n") == 1
            assert "short" not in found.stderr


@pytest.mark.parametrize("module", ["starlette", "uvicorn", "jinja2", "plotly"])
def test_the_extra_is_named_where_it_is_missing(path, module, monkeypatch):
    for loaded in [one for one in sys.modules if one.startswith("topalpha.dashboard")]:
        monkeypatch.delitem(sys.modules, loaded)
    for missing in {module, *(one for one in sys.modules if one.startswith(f"{module}."))}:
        monkeypatch.setitem(sys.modules, missing, None)
    found = CliRunner().invoke(main, ["dashboard", str(path), "--port", "0", "--no-open"])
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("topalpha: dashboard must be installed with its extra")
    assert "'.[dashboard]'" in found.stderr
    assert found.stderr.count("\n") == 1


def test_the_command_is_light_until_it_runs():
    code = (
        "import sys, topalpha.cli; print([name for name in ('starlette', 'uvicorn', 'jinja2') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
    assert "dashboard" in main.commands


def test_a_stamp_drops_no_lock(path):
    """Closing any file of SQLite's would: then others take the file for their own while we write."""
    with Storage(path) as storage:
        storage.create("first", {})
        code = (
            "import fcntl, struct\n"
            "asked = struct.pack('hhqqi', fcntl.F_WRLCK, 0, 120, 16, 0)\n"
            "with open(path + '-shm', 'rb') as file:\n"
            "    print(struct.unpack('hhqqi', fcntl.fcntl(file, fcntl.F_GETLK, asked))[0])\n"
        )
        for _ in range(2):
            assert int(child(code, path).communicate()[0]) != fcntl.F_UNLCK
            stamp(path)
