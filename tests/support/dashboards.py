"""A dashboard and searches as processes of their own, which end with the test."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

TOKEN = "correct-horse-battery"


class Processes:
    """What was started, so that nothing outlives the tests."""

    def __init__(self):
        self._all = []

    def start(self, *command, **settings):
        # Warnings are errors in these processes as well.
        process = subprocess.Popen(
            [sys.executable, "-W", "error::ResourceWarning", *map(str, command)],
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            text=True,
            **settings,
        )
        self._all.append(process)
        return process

    def search(self, path, name="search", kind="long"):
        return self.start(Path(__file__).with_name("searching.py"), path, name, kind)

    def end(self):
        for process in self._all:
            kill(process)
            if process.stdout is not None:
                process.stdout.close()


def kill(process):
    """As kill -9 does."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait()


class Dashboard:
    """``topalpha dashboard`` on a file; it can be killed and started again at the same address."""

    def __init__(self, processes, path):
        self._processes = processes
        self.path = path
        self.port = 0
        self.process = None
        self.start()

    def start(self):
        self.process = self._processes.start(
            *("-m", "topalpha", "dashboard", self.path, "--port", self.port, "--token", TOKEN, "--no-open"),
            stdout=subprocess.PIPE,
        )
        self.address = self.process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/", self.address), self.address
        self.port = int(self.address.rsplit(":", 1)[1].strip("/"))

    @property
    def with_token(self):
        return f"{self.address}?token={TOKEN}"

    def kill(self):
        kill(self.process)
