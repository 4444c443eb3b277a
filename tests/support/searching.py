"""A search in a process of its own, for a dashboard to show: ``python searching.py FILE NAME,NAME long|short|resume``.

Candidates are texts that are markup: a page that takes them for it breaks.
"""

from __future__ import annotations

import sys
import time

import topalpha

MARKUP = "<script>globalThis.broken = true</script><img src=x onerror='globalThis.broken = true'>"
LONG = {"alpha": 0.1, "epsilon": 0.005, "delta": 0.05}
SHORT = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2}


def draw(rng):
    return f"{MARKUP} {0.3 + 0.4 * rng.random():.4f}"


def pull(candidate, rng):
    return float(rng.random() < float(candidate.rsplit(" ", 1)[1]))


def slowly(candidate, rng):
    """So that a search goes on for as long as anyone looks, and leaves the machine to others."""
    time.sleep(0.005)
    return pull(candidate, rng)


def main(path, name, kind):
    if kind == "resume":
        topalpha.resume(path, draw, slowly, name=name, progress="none")
        return
    target, work = (LONG, slowly) if kind == "long" else (SHORT, pull)
    for one in name.split(","):
        topalpha.search(draw, work, **target, algorithm="cc-lucb", seed=1, storage=path, name=one, progress="none")


if __name__ == "__main__":
    main(*sys.argv[1:])
