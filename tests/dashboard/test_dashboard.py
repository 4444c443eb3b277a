"""The dashboard's routes: what they say, and whom they refuse."""

import os
import shutil
import socket
import sqlite3
from types import SimpleNamespace

import httpx
import pytest

from tests.support.dashboards import TOKEN
from tests.support.storing import contents
from tests.support.streaming import BEARER, PROGRESS, ROWS, TASK, fill, searching, serving, silence
from tests.support.waiting import PATIENCE
from topalpha.dashboard import access as rules
from topalpha.dashboard.access import Access
from topalpha.storage import Storage

NAMES = ("a/b", "?x=1&y", "#1", "<script>alert(1)</script>", "🦊 é", '"it\'s"', "a\nb", "100%", "..", "\\u0041")
ROUTES = ("/", "/static/style.css", "/assets/plotly.js", "/api/searches", "/api/stream", "/api/arms?name=first", "/no")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    path = tmp_path_factory.mktemp("dashboard") / "searches.db"
    with searching(path) as record, serving(path) as client:
        client.record = record
        yield client


@pytest.fixture
def client(shared):
    """Of one server for many tests, with a search that is alive."""
    shared.record.finish("running", None)
    shared.record.snapshot(ROWS, PROGRESS)
    shared.cookies.clear()
    yield shared
    shared.record.take_messages()


def order(client, action="stop", name="first", headers=BEARER, **more):
    return client.post("/api/control", json={"name": name, "action": action}, headers=headers, **more)


def refusal(response, status):
    """One sentence."""
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert set(response.json()) == {"error"}
    return response.json()["error"]


def listed(client, **more):
    response = client.get("/api/searches", **more)
    assert response.status_code == 200
    return response.json()


def test_the_page_comes_with_its_headers(client):
    response = client.get("/")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-store"
    assert "server" not in response.headers


def test_files_of_the_page_are_kept_by_the_browser_until_they_change(client):
    for route, kind in (("/static/app.js", "text/javascript"), ("/static/style.css", "text/css")):
        assert client.get(route).headers["content-type"].startswith(kind)
    whole = client.get("/assets/plotly.js")
    assert len(whole.content) > 1_000_000
    assert whole.headers["x-content-type-options"] == "nosniff"
    again = client.get("/assets/plotly.js", headers={"If-None-Match": whole.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/assets/plotly.js", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    "target",
    [
        "/static/../access.py",
        "/static/%2e%2e/access.py",
        "/static/..%2faccess.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/style.css%00",
        "/static/",
        "/static/../templates/index.html",
        "/assets/../searches.db",
        "/searches.db",
        "//static/style.css",
    ],
)
def test_no_other_file_can_be_named(client, target):
    """Sent as they are: clients tidy such addresses up."""
    with socket.create_connection((client.base_url.host, client.base_url.port), PATIENCE) as line:
        line.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := line.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b'{"error":"' in answer


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
@pytest.mark.parametrize("route", ["/", "/api/stream", "/api/control"])
def test_other_methods_are_refused(client, method, route):
    response = client.request(method, route, headers=BEARER)
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"


def test_a_method_of_another_route_is_refused(client):
    refusal(client.post("/api/searches", headers=BEARER), 405)
    refusal(client.get("/api/control", headers=BEARER), 405)


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:9", "LOCALHOST", "127.9.9.9"])
def test_own_names_are_known(client, host):
    assert client.get("/", headers={"Host": host.format(port=client.base_url.port)}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "192.0.2.7", "0.0.0.0", "", "a b", "[::1"])
def test_a_name_that_was_made_to_lead_here_is_refused(client, host):
    """DNS rebinding: the page of a stranger, under the stranger's name, at our address."""
    for route in ROUTES:
        assert client.get(route, headers={"Host": host, **BEARER}).status_code in (400, 421)
    assert order(client, headers={"Host": host, **BEARER}).status_code in (400, 421)
    assert client.record.take_messages() == []


def test_hosts_of_a_server_for_all_addresses():
    """By address, which cannot be made to lead elsewhere, or by the machine's own name."""
    everywhere, one = Access(TOKEN, "0.0.0.0", 1, "0.0.0.0"), Access(TOKEN, "192.0.2.7", 1, "lab.example")
    assert not everywhere.is_loopback
    assert everywhere.is_own("192.0.2.9:1")
    assert everywhere.is_own(f"{socket.gethostname()}:1")
    assert not everywhere.is_own("evil.example:1")
    assert one.is_own("192.0.2.7:1")
    assert one.is_own("lab.example:1")
    assert not one.is_own("192.0.2.9:1")
    assert not Access(TOKEN, "127.0.0.1", 1, "127.0.0.1").is_own(f"{socket.gethostname()}.example")


def test_the_token_becomes_a_cookie_and_leaves_the_address(client):
    assert listed(client)["controls"] is False
    response = client.get("/", params={"token": TOKEN})
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(f"topalpha-{client.base_url.port}={TOKEN};")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert listed(client)["controls"] is True  # the client kept it
    refusal(client.get("/", params={"token": TOKEN[:-1]}), 401)


@pytest.mark.parametrize("header", ["Bearer", "", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"])
def test_what_is_not_the_token_does_not_count(client, header):
    refusal(order(client, headers={"Authorization": header}), 401)
    refusal(order(client, headers={"Cookie": f"topalpha-1={TOKEN}"}), 401)
    refusal(order(client, headers={"Cookie": f"topalpha-{client.base_url.port}={TOKEN[:-1]}"}), 401)
    assert client.record.take_messages() == []
    assert listed(client, headers={"Authorization": header})["controls"] is False


@pytest.mark.parametrize("other", ['prefs={"a":1}', "a b=c", "=", "x", "é=1".encode(), 'quoted="', "$Version=1", ";;"])
def test_odd_cookies_of_others_hide_none(client, other):
    """Cookies are shared by all servers of a machine."""
    other, own = other if isinstance(other, bytes) else other.encode(), f"topalpha-{client.base_url.port}={TOKEN}"
    for header in (other + b"; " + own.encode(), own.encode() + b"; " + other):
        assert listed(client, headers={"Cookie": header})["controls"]
    assert not listed(client, headers={"Cookie": other})["controls"]


def test_tokens_are_compared_in_constant_time(client, monkeypatch):
    compared = []
    monkeypatch.setattr(
        rules.secrets, "compare_digest", lambda one, other: compared.append((one, other)) or one == other
    )
    refusal(order(client, headers={"Authorization": "Bearer other"}), 401)
    assert order(client).status_code == 202
    assert len(compared) == 2


def test_a_ticket_is_good_for_one_visit(client, monkeypatch):
    ticket = client.server.config.app.user_middleware[0].kwargs["access"].ticket
    issued = ticket.issue()
    assert issued != TOKEN
    for wrong in ("", issued[:-1], issued + "a"):
        assert client.get("/", params={"token": wrong}).status_code == 401
    # It stands for the token on the way in alone, and not as a cookie or in a header.
    assert not listed(client, headers={"Authorization": f"Bearer {issued}"})["controls"]
    response = client.get("/", params={"token": issued})
    assert response.status_code == 303
    assert TOKEN in response.headers["set-cookie"]
    assert client.get("/", params={"token": issued}).status_code == 401
    late = ticket.issue()
    # A clock of its own: the servers beside this test go by the real one.
    monkeypatch.setattr("topalpha.dashboard.access.time", SimpleNamespace(monotonic=lambda: ticket._end))
    assert not ticket.redeem(late)


def test_controls_by_cookie_need_the_page_itself(client):
    """The cookie travels with whatever page of this machine asks: only ours may."""
    own = f"http://127.0.0.1:{client.base_url.port}"
    cookie = {"Cookie": f"topalpha-{client.base_url.port}={TOKEN}"}
    refusal(order(client, headers=cookie), 403)
    for origin in ("http://127.0.0.1:1", "https://evil.example", "null", own.replace("http", "https"), own + "/"):
        refusal(order(client, headers={**cookie, "Origin": origin}), 403)
        refusal(order(client, headers={**BEARER, "Origin": origin}), 403)
        refusal(client.get("/api/searches", headers={"Origin": origin}), 403)
    assert client.record.take_messages() == []
    assert order(client, headers={**cookie, "Origin": own}).status_code == 202
    assert client.record.take_messages() == ["stop"]


def test_other_addresses_need_the_token_for_everything(path):
    with searching(path), serving(path, "192.0.2.7") as client:
        for route in ROUTES:
            sentence = refusal(client.get(route), 401)
            assert TOKEN not in sentence
            refusal(client.get(route, headers={"Cookie": f"topalpha-{client.base_url.port}=wrong-token"}), 401)
        refusal(order(client, headers={}), 401)
        assert client.get("/", headers=BEARER).status_code == 200
        assert client.get("/", params={"token": TOKEN}).status_code == 303
        assert client.get("/").status_code == 200
        assert [one["name"] for one in listed(client)["searches"]] == ["first"]


def test_searches_are_listed_as_agreed(client):
    found = listed(client)
    (one,) = found.pop("searches")
    assert found == {"file": "searches.db", "missing": False, "problem": None, "controls": False}
    assert isinstance(one.pop("updated"), float)
    assert isinstance(one.pop("created"), str)
    target = {key: TASK[key] for key in ("alpha", "epsilon", "delta")}
    expected = {"name": "first", "status": "running", "alive": True, "paused": False, "pulls": 6, "arms": 3, **target}
    assert one == expected


def test_odd_names_are_names_like_others(path):
    with Storage(path) as storage, serving(path) as client:
        records = {name: fill(storage, name, candidates=[f"of {name}"] * 3) for name in NAMES}
        assert [one["name"] for one in listed(client)["searches"]] == list(NAMES)
        assert b"<script>alert" not in client.get("/").content
        for name, record in records.items():
            found = client.get("/api/arms", params={"name": name}).json()
            assert [row["candidate"] for row in found["rows"]] == [" ".join(f"of {name}".split())] * 3
            assert order(client, name=name).status_code == 202
            assert record.take_messages() == ["stop"]


def test_a_file_with_an_odd_name_is_text(tmp_path):
    path = tmp_path / "<script>alert(1)<"
    with searching(path), serving(path) as client:
        assert b"<script>alert" not in client.get("/").content
        assert listed(client)["file"] == "<script>alert(1)<"


def arms(client, **parameters):
    response = client.get("/api/arms", params={"name": "first", **parameters})
    assert response.status_code == 200, response.text
    found = response.json()
    return found["total"], [row["arm"] for row in found["rows"]]


def test_arms_are_searched_sorted_and_cut(client):
    found = client.get("/api/arms", params={"name": "first"}).json()
    assert (found["total"], found["of"]) == (3, 3)
    assert found["rows"][0] == {
        **{"arm": 0, "pulls": 2, "mean": 0.5, "lower": None, "upper": 0.75, "pending": 0},
        **{"candidate": "red", "parameters": []},
    }
    assert (found["columns"], found["rows"][2]["candidate"]) == ([], "blue=é")
    assert arms(client, sort="mean") == (3, [0, 1, 2])
    assert arms(client, sort="mean", order="descending") == (3, [1, 0, 2])  # what has no mean comes last
    assert arms(client, sort="upper", order="descending") == (3, [2, 1, 0])
    assert arms(client, sort="candidate") == (3, [1, 2, 0])
    assert arms(client, query="RE") == (2, [0, 1])
    assert arms(client, query="É") == arms(client, query='{"BLUE"') == (1, [2])
    assert arms(client, query="2") == (1, [2])
    assert arms(client, query="nothing") == (0, [])
    assert arms(client, offset=1, limit=1) == (3, [1])
    assert arms(client, offset=9) == (3, [])


SETTINGS = [
    {"rate": 0.0123456789, "kind": "wide", "size": 2},
    {"rate": 12.0, "kind": None, "size": "all"},
    {"rate": 2, "kind": "deep", "size": 10},
]


def test_parameters_that_all_candidates_have_are_columns(path):
    with Storage(path) as storage, serving(path) as client:
        record = fill(storage, candidates=SETTINGS)
        found = client.get("/api/arms", params={"name": "first"}).json()
        assert found["columns"] == [["rate", True], ["kind", False], ["size", False]]
        assert [row["parameters"] for row in found["rows"]] == [
            ["0.01235", "wide", "2"],
            ["12", "None", "all"],
            ["2", "deep", "10"],
        ]
        assert found["rows"][0]["candidate"] == "rate=0.01235, kind=wide, size=2"
        assert arms(client, sort="candidate.rate") == (3, [0, 2, 1])  # as numbers, not as text
        assert arms(client, sort="candidate.size", order="descending") == (3, [1, 2, 0])  # texts after numbers
        assert arms(client, sort="candidate.kind", order="descending") == (3, [0, 2, 1])  # nothing comes last
        assert arms(client, query="0.0123456789") == arms(client, query="rate=0.01235") == (1, [0])
        record.add_arm(3, {"rate": 1.5})
        record.snapshot([(3, 1, 1.0, 0.0, 1.0, 0)], PROGRESS)
        found = client.get("/api/arms", params={"name": "first"}).json()
        assert (found["columns"], [row["parameters"] for row in found["rows"]]) == ([], [[]] * 4)
        for none in ("candidate.rate", "candidate."):
            assert arms(client, sort=none) == (4, [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("parameters", "start"),
    [
        ({"sort": "size"}, "sort must be one of arm, pulls, "),
        ({"order": "up"}, "order must be one of ascending, descending, got 'up'"),
        ({"offset": "-1"}, "offset must be a whole number of at least 0"),
        ({"limit": "0"}, "limit must be a whole number of at least 1"),
        ({"limit": "1e3"}, "limit must be a whole number"),
        ({"offset": "9" * 4000}, "offset must be a whole number"),
    ],
)
def test_odd_questions_about_arms(client, parameters, start):
    assert refusal(client.get("/api/arms", params={"name": "first", **parameters}), 400).startswith(start)


def test_arms_of_a_search_that_is_not_there(client):
    assert "no search 'second'" in refusal(client.get("/api/arms", params={"name": "second"}), 404)
    refusal(client.get("/api/arms"), 404)


def test_long_candidates_are_cut_and_pickles_stay_closed(path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "sprung"),)

    with Storage(path) as storage, serving(path) as client:
        fill(storage, candidates=["x" * 1000, "y" * 400, "z" * 5000])
        rows = client.get("/api/arms", params={"name": "first"}).json()["rows"]
        assert [len(row["candidate"]) for row in rows] == [401, 400, 401]
        assert rows[0]["candidate"].endswith("x…")
        record = storage.create("second", {}, pickle=True)
        record.add_arm(0, Trap())
        record.snapshot([(0, 1, 1.0, 0.0, 1.0, 0)], {})
        rows = client.get("/api/arms", params={"name": "second"}).json()["rows"]
        assert rows[0]["candidate"] == "(pickled)"
    assert not (path.parent / "sprung").exists()


@pytest.mark.parametrize("action", ["pause", "continue", "stop"])
def test_a_running_search_gets_the_message(client, action):
    response = order(client, action)
    assert (response.status_code, response.json()) == (202, {"posted": action})
    assert client.record.take_messages() == [action]


def test_no_control_without_the_token(client):
    refusal(order(client, headers={}), 401)
    assert client.record.take_messages() == []


def test_a_search_that_ended_or_died_takes_no_message(client):
    client.record.finish("stopped", {"statement": "proved"})
    assert "stopped" in refusal(order(client), 409)
    client.record.finish("running", None)
    with silence(0.0):
        assert listed(client)["searches"][0]["alive"] is False
        assert "no sign of life" in refusal(order(client), 409)
    assert client.record.take_messages() == []


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[" * 50000, "application/json", 400),
        (b'"stop"', "application/json", 400),
        (b'{"name":"first"}', "application/json", 400),
        (b'{"name":1,"action":"stop"}', "application/json", 400),
        (b'{"name":"first","action":"delete"}', "application/json", 400),
        (b'{"name":"first","action":["stop"]}', "application/json", 400),
        (b'{"name":"first","action":"stop","more":1}', "application/json", 400),
        (b'{"name":"second","action":"stop"}', "application/json", 422),
        (b'{"name":"\\ud800","action":"stop"}', "application/json", 422),
        (b'{"name":"first","action":"stop"}', "text/plain", 400),
        (b'{"name":"first","action":"stop"}', "application/x-www-form-urlencoded", 400),
        (b" " * 65537, "application/json", 413),
    ],
)
def test_odd_orders_are_refused(client, body, kind, status):
    headers = {**BEARER, "Content-Type": kind}
    refusal(client.post("/api/control", content=body, headers=headers), status)
    assert client.record.take_messages() == []


def test_a_file_that_comes_goes_and_is_not_what_it_should_be(path, tmp_path):
    with serving(path) as client:
        assert listed(client) == {**listed(client), "missing": True, "problem": None, "searches": []}
        assert "no file 'searches.db'" in refusal(client.get("/api/arms", params={"name": "first"}), 404)
        refusal(order(client), 422)
        with searching(path):
            assert [one["name"] for one in listed(client)["searches"]] == ["first"]
        assert not listed(client)["missing"]
        path.unlink()
        assert listed(client)["missing"]
        with searching(path, name="second"):
            pass
        assert [one["name"] for one in listed(client)["searches"]] == ["second"]
        other = tmp_path / "other.db"
        with searching(other, name="third"):
            pass
        os.replace(other, path)
        assert [one["name"] for one in listed(client)["searches"]] == ["third"]
        whole = path.read_bytes()
        connection = sqlite3.connect(other)
        connection.execute("CREATE TABLE t (a)")
        connection.commit()
        connection.close()
        for content in (b"", b"hello", b"x" * 10000, whole[:4096], other.read_bytes(), b"\0" * len(whole)):
            path.write_bytes(content)
            found = listed(client)
            assert found["missing"] is False
            assert found["searches"] == []
            assert "must be a" in found["problem"]
            assert str(tmp_path) not in found["problem"]
            refusal(client.get("/api/arms", params={"name": "third"}), 404)
        path.write_bytes(whole)
        assert [one["name"] for one in listed(client)["searches"]] == ["third"]
        shutil.rmtree(tmp_path)
        assert listed(client)["missing"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE progress SET data = 'no JSON'",
        "UPDATE progress SET data = '[]'",
        'UPDATE progress SET data = \'{"low":"x","pulls":NaN}\'',
        "UPDATE searches SET config = '{\"task\":[1]}'",
        'UPDATE searches SET config = \'{"task":{"epsilon":"x"}}\'',
        "UPDATE searches SET certificate = '" + "[" * 20000 + "'",
    ],
)
def test_damage_that_sqlite_does_not_see(path, change):
    """Nothing of this brings the server down, and nothing is made up."""
    with searching(path):
        pass
    with sqlite3.connect(path) as other:
        other.execute(change)
    other.close()
    with serving(path) as client:
        found = listed(client)
        assert found["problem"] is not None or found["searches"]
        client.get("/api/arms", params={"name": "first"})
        assert client.get("/").status_code == 200


def test_reading_leaves_no_trace(path):
    with searching(path):
        pass
    before = contents(path)
    with serving(path) as client:
        for route in ROUTES:
            if "stream" not in route:
                client.get(route)
        listed(client)
    assert contents(path) == before


def test_a_server_is_given_back_its_port(path):
    with serving(path) as client:
        port = client.base_url.port
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/")


def test_progress_of_older_files_lacks_what_is_new(client):
    assert "paused" not in PROGRESS
    assert listed(client)["searches"][0]["paused"] is False
