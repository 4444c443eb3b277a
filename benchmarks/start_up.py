"""Start-up: what importing, asking for help, and the first compiled call cost, each in fresh processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

FIRST_CALL = """
import time
begin = time.perf_counter()
from topalpha import design
from topalpha.simulation import start
from topalpha.randomness import streams
start(design("{name}", 0.05, 0.05, 0.05)).advance(*streams(0)[1:], 0)
print(time.perf_counter() - begin)
"""


def seconds(command: list[str], repeat: int = 7, **environment: str) -> float:
    """Median wall time of a command."""
    values = []
    for _ in range(repeat):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
        values.append(time.perf_counter() - begin)
    return statistics.median(values)


def first_call(name: str, cache: str) -> float:
    """Seconds from the first import to the end of the first compiled call, with this cache directory."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL.format(name=name)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )
    return float(done.stdout)


def measure() -> dict[str, Any]:
    """All start-up figures, in seconds."""
    python = sys.executable
    numpy_only = seconds([python, "-c", "import numpy"])
    result: dict[str, Any] = {
        "import topalpha over numpy": seconds([python, "-c", "import numpy, topalpha; topalpha.Search"]) - numpy_only,
        "topalpha --help": seconds([python, "-m", "topalpha", "--help"]),
    }
    for name in ("kl-lucb", "cc-lucb", "joint-lucb"):
        with tempfile.TemporaryDirectory() as cache:
            result[f"first call of {name}, cold"] = first_call(name, cache)
            result[f"first call of {name}, cached"] = first_call(name, cache)
    return result
