"""What the tests of storage share."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from topalpha.storage import Storage

CHILDREN = []


def fill(record, pulls, start=0):
    for order in range(start, start + pulls):
        record.ask(order, order % 7, order)
        record.tell(order, order / 8)


def a_search(path, pulls=20):
    with Storage(path) as storage:
        record = storage.create("first", {"alpha": 0.05})
        for arm in range(7):
            record.add_arm(arm, [arm])
        fill(record, pulls)


def contents(path):
    """Every file next to the path, by name."""
    return {file.name: file.read_bytes() for file in Path(path).parent.iterdir()}


def child(code, *arguments):
    """A process that runs ``code`` with the names of this file's imports; it says what it does on its output."""
    head = "import os, sys, time\nfrom topalpha.storage import *\npath = sys.argv[1]\n"
    command = [sys.executable, "-c", head + code, *map(str, arguments)]
    CHILDREN.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    return CHILDREN[-1]


def kill(process):
    process.send_signal(signal.SIGKILL)
    output, _ = process.communicate()
    return output
