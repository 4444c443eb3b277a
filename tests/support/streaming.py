"""The dashboard's server in a thread of the test, and its streams as a browser reads them."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from math import inf
from unittest.mock import patch

import httpx

from tests.support.dashboards import TOKEN
from tests.support.waiting import PATIENCE
from topalpha.dashboard.access import Access
from topalpha.dashboard.serving import Server, bind
from topalpha.storage import Storage, overview

BEARER = {"Authorization": f"Bearer {TOKEN}"}
TASK = {"alpha": 0.1, "epsilon": 0.2, "delta": 0.05, "minimise": False, "algorithm": "cc-lucb", "family": "bernoulli"}
PROGRESS = {"pulls": 6, "in_flight": 1, "arms": 3, "leader": 1, "mean": 0.75, "low": 0.5, "high": 0.875}
PROGRESS |= {"gap": 0.25, "unresolved": 2, "left": 40}
ROWS = [(0, 2, 0.5, float("-inf"), 0.75, 0), (1, 4, 0.75, 0.5, 0.875, 1), (2, 0, None, 0.0, float("inf"), 0)]


def silence(seconds):
    """While this is open, a search is taken for dead so many seconds after its last sign of life."""
    return patch.object(overview, "SILENCE", seconds)


@contextmanager
def serving(path, address="127.0.0.1", host="127.0.0.1"):
    """A server, and a client of it; with another address than it is bound to, the rules are those of that one.

    Searches that run are alive for ever, unless :func:`silence` says otherwise, however slow the machine is.
    """
    with silence(inf), bind("127.0.0.1", 0) as listener:
        bound = Access.at(listener, TOKEN, host)
        server = Server(str(path), Access(TOKEN, address, bound.port, host))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            # A connection that is kept may be ended by the server just when it is used again.
            unkept = httpx.Limits(max_keepalive_connections=0)
            base = f"http://127.0.0.1:{bound.port}"
            with httpx.Client(base_url=base, timeout=PATIENCE, limits=unkept) as client:
                client.server, client.path = server, path
                client.address, client.with_token = f"{base}/", f"{base}/?token={TOKEN}"
                yield client
        finally:
            server.should_exit = True
            thread.join()


def fill(storage, name="first", rows=ROWS, candidates=("red", "Green", {"blue": "é"}), progress=PROGRESS, task=TASK):
    """A search that has just said where it is."""
    record = storage.create(name, {"task": task, "version": "1", "code": None})
    for arm, candidate in enumerate(candidates):
        record.add_arm(arm, candidate)
    record.snapshot(rows, progress)
    return record


@contextmanager
def searching(path, **what):
    with Storage(path) as storage:
        yield fill(storage, **what)


class Events:
    """Events of a stream, one after another."""

    def __init__(self, response):
        self._lines = response.iter_lines()

    def next(self, kind, holds=lambda data: True, patience=PATIENCE):
        """The data of the next event of this kind that it holds for."""
        end, event = time.monotonic() + patience, None
        for line in self._lines:
            assert time.monotonic() < end, f"no {kind} came in {patience} seconds"
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: ") and event == kind:
                data = line.removeprefix("data: ")
                data = data if kind == "missing" else json.loads(data)
                if holds(data):
                    return data
        raise EOFError


@contextmanager
def stream(client, name=None, headers=None):
    parameters = {} if name is None else {"name": name}
    with client.stream("GET", "/api/stream", params=parameters, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Events(response)
