"""The study of model search: ``make model-search``. TopAlphaSearchCV beside what people use, on data with known truth.

    python -m studies.model_search            runs every search again, then writes page and pictures
    python -m studies.model_search --truth    fits the tables of scores again, before that
    python -m studies.model_search --page     page and pictures only, from the results that are committed

What is measured is kept in build/model_search until all is done, so that an interrupted study goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

from studies import DOCS, ROOT
from studies.model_search import page, truth
from studies.model_search.searches import CHECKS, SEARCHES, Search, about, measure
from studies.model_search.tasks import TASKS
from studies.resumable import Cell, complete

DOCUMENT = DOCS / "model_search.md"
RESULTS = truth.FOLDER / "results.json"
BEGIN, END = "<!-- comparison: written by studies/model_search -->", "<!-- end of comparison -->"


def cells(jobs: int) -> list[Cell]:
    """Every search on every task that it is for."""

    def name(search: Search, task: str) -> str:
        plain = search.name.replace("ε′", "fine").replace("ε", "usual").lower()
        return re.sub(r"[^a-z0-9.]+", "-", f"{task} {search.how} {plain}").strip("-")

    found = [
        Cell(name(search, task), partial(measure, search, task, jobs))
        for task in TASKS
        for search in (*SEARCHES, *CHECKS)
        if TASKS[task].score in search.scores
    ]
    assert len({cell.name for cell in found}) == len(found)
    return found


def results() -> dict[str, Any]:
    """What is committed."""
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def document(text: str, found: dict[str, Any]) -> str:
    """The page with its comparison put in."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"{DOCUMENT.name} must have a place for the comparison")
    return pattern.sub(lambda _: f"{BEGIN}\n{page.comparison(found)}\n{END}", text)


def write() -> None:
    """Page and pictures."""
    from studies.model_search import pictures

    found = results()
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8"), found), encoding="utf-8")
    pictures.pools({name: truth.read(name) for name in TASKS}, truth.FOLDER / "pools.png")
    pictures.errors(found["rows"], truth.FOLDER / "errors.png")
    pictures.regrets(found["rows"], truth.FOLDER / "regret.png")
    print(f"{DOCUMENT.relative_to(ROOT)} and its pictures are up to date.")


def main() -> None:
    """Measure what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description="The study of model search.")
    parser.add_argument("--truth", action="store_true", help="fit the tables of scores again")
    parser.add_argument("--page", action="store_true", help="only write page and pictures")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes")
    arguments = parser.parse_args()
    if not arguments.page:
        began = time.perf_counter()
        if arguments.truth or not all((truth.FOLDER / f"{name}.npz").exists() for name in TASKS):
            truth.build(arguments.jobs)
            print(f"tables: {time.perf_counter() - began:.0f} s", flush=True)
        kept: Path = truth.PIECES / "cells"
        rows = complete(cells(arguments.jobs), kept)
        found = {"tasks": {name: about(name) for name in TASKS}, "rows": list(rows.values())}
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(truth.PIECES)
        print(f"the study: {time.perf_counter() - began:.0f} s", flush=True)
    write()


if __name__ == "__main__":
    main()
