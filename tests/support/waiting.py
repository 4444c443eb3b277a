"""How tests wait: for a state, with patience; the clock decides nothing but when to give up."""

from __future__ import annotations

import time

#: Seconds; a busy machine may be many times slower than a quiet one.
PATIENCE = 120.0


def until(condition, patience=PATIENCE, pause=0.02):
    """Wait until a condition holds, and return what it gave."""
    end = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < end, f"it did not come true in {patience} seconds"
        time.sleep(pause)
    return found
