"""A resumable study: named cells, each computed once and kept in its own file."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """One piece of a study: a name that is also its file's, and what computes it."""

    name: str
    compute: Callable[[], dict[str, Any]]


def complete(cells: Iterable[Cell], folder: Path) -> dict[str, dict[str, Any]]:
    """All cells' results, computing those that are not on disk; a crash loses at most the cell under way."""
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for cell in cells:
        file = folder / f"{cell.name}.json"
        if not file.exists():
            begin = time.perf_counter()
            text = json.dumps(cell.compute(), indent=1)
            scratch = file.with_suffix(".part")
            scratch.write_text(text + "\n")
            os.replace(scratch, file)
            print(f"{cell.name}: {time.perf_counter() - begin:.1f} s", flush=True)
        results[cell.name] = json.loads(file.read_text())
    return results
