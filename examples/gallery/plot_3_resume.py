"""
A search resumed from its file
==============================

A search that is kept in a file survives its process. Here a budget ends it; ``resume`` goes on with the same
decisions as if nothing had happened.
"""

import tempfile
from pathlib import Path

import topalpha
from topalpha import figures


def draw(rng):
    """A fresh candidate."""
    return {"rate": float(rng.random())}


def pull(candidate, rng):
    """Evaluate it once: success or failure."""
    return float(rng.random() < candidate["rate"])


target = {"alpha": 0.2, "epsilon": 0.1, "delta": 0.05, "progress": "none"}
folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "search.db"
first = topalpha.search(draw, pull, pulls=110, storage=file, **target)
print(first.statement)

# %%
# The figures read the file itself; nothing else is needed, and the search may still be running elsewhere.

figures.intervals(file)

# %%
# Going on needs the same two functions, and nothing else.

second = topalpha.resume(file, draw, pull, progress="none")
print(second.statement)
figures.intervals(file)

# %%
# The record holds every decision: without the pause the same search comes out, and the certificate can be computed
# again.

whole = topalpha.search(draw, pull, **target)
print(whole.candidate == second.candidate, whole.pulls == second.pulls)
print(topalpha.verify(file).statement == second.statement)
folder.cleanup()
