"""Boosting by bandits compared with others: measures, then writes the page's tables and pictures. ``make boosting``.

    python -m studies.boosting            # all of it
    python -m studies.boosting --quick    # small settings, into build/boosting; the page stays as it is
    python -m studies.boosting --page     # the page and its pictures again, from what is in docs/boosting
    python -m studies.boosting --part real  # this part again; the others as they are

Every method has one thread. Compiled code is compiled, or loaded from its cache, before the clock starts.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import platform
import time
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from studies import DOCS, ROOT
from studies.boosting import figures, report
from studies.boosting.curves import Limit, Method
from studies.boosting.data import Task, generated, real
from studies.boosting.lazy import LAZY, image_task
from studies.boosting.methods import ALL, ONCE, WHOLE

FOLDER, PAGE, BUILD = DOCS / "boosting", DOCS / "boosting.md", ROOT / "build" / "boosting"
#: Rounds of the exact search whose accuracy is the target, and how many rounds the others may take at most.
ROUNDS, AT_MOST = 100, 400

#: From so many rows on, some methods run for the first seed only.
MANY = 100_000


class Size(NamedTuple):
    """How many rows, how often, and how long each method may take."""

    rows: int
    seeds: int
    seconds: float


class Plan(NamedTuple):
    """All settings of a run."""

    tables: tuple[Size, ...]
    real: Size
    images: tuple[Size, ...]
    held_out: int
    rounds: int
    at_most: int


FULL = Plan(
    tables=(
        Size(3_500, 5, 2.0),
        Size(30_000, 5, 4.0),
        Size(250_000, 3, 10.0),
        Size(1_000_000, 3, 20.0),
        Size(2_000_000, 1, 40.0),
    ),
    real=Size(0, 5, 1.0),
    images=(Size(20_000, 3, 8.0), Size(200_000, 1, 50.0)),
    held_out=50_000,
    rounds=ROUNDS,
    at_most=AT_MOST,
)
QUICK = Plan((Size(300, 1, 0.2), Size(3_000, 2, 0.3)), Size(0, 1, 0.2), (Size(300, 1, 0.5),), 2_000, 10, 30)


def measure(task: Task, methods: dict[str, Method], plan: Plan, size: Size, seed: int) -> dict[str, Any]:
    """Every method on one task, one after another; the exact searches are not cut off."""
    curves, not_ready = [], []
    warm(task.train.nbytes)
    for name, method in methods.items():
        limit = Limit(plan.rounds, 1e9) if name in WHOLE else Limit(plan.at_most, size.seconds)
        begin = time.perf_counter()
        curve = method(task, limit, seed)
        if curve is None:
            not_ready.append(name)
            print(f"{task.name}, seed {seed}: {name} is not ready to begin after {size.seconds} s", flush=True)
            continue
        curves.append({"method": name, "seed": seed, **curve._asdict()})
        said = f"{task.name}, seed {seed}: {name} {curve.rounds[-1]} rounds in {curve.seconds[-1]:.2f} s"
        print(f"{said}, accuracy {curve.accuracy[-1]:.4f} ({time.perf_counter() - begin:.0f} s)", flush=True)
    about = {**size._asdict(), "rows": len(task.labels), "seed": seed, "held_out": len(task.truth)}
    return {**about, "curves": curves, "not_ready": not_ready}


def keep_memory() -> None:
    """Keep what is freed, for who comes next: a virtual machine is slow to give memory that was not used lately.

    The first to use it would pay for all. Where the C library cannot be told so, nothing happens.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(-4, 0)  # M_MMAP_MAX: no block of its own for a large array
        library.mallopt(-1, -1)  # M_TRIM_THRESHOLD: never give back


def warm(size: int) -> None:
    """Touch as much memory as any method will want for so many bytes of features."""
    np.ones(3 * size + 1_000_000, dtype=np.uint8)


def tables(plan: Plan) -> Iterable[dict[str, Any]]:
    """The generated table at all its sizes. What takes long and wins nothing runs on many rows for one seed only."""
    for size in plan.tables:
        for seed in range(size.seeds):
            task = generated(size.rows, seed, plan.held_out)
            methods = {
                name: method for name, method in ALL.items() if seed == 0 or size.rows < MANY or name not in ONCE
            }
            yield measure(task, methods, plan, size, seed)


def real_sets(plan: Plan) -> Iterable[dict[str, Any]]:
    """The sets that come with scikit-learn."""
    for name in ("breast cancer", "digits"):
        for seed in range(plan.real.seeds):
            task = real(name, seed)
            yield {"name": name, **measure(task, ALL, plan, plan.real, seed)}


def images(plan: Plan) -> Iterable[dict[str, Any]]:
    """Random filters on images."""
    for size in plan.images:
        for seed in range(size.seeds):
            task = image_task(size.rows, seed, plan.held_out // 10)
            yield measure(task, LAZY, plan, size, seed)


def surroundings() -> dict[str, str]:
    """What it ran on."""
    names = ("numpy", "numba", "scikit-learn", "lightgbm")
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    on = {"python": platform.python_version(), "processor": model, "cores": str(os.cpu_count())}
    return {**on, **{name: version(name) for name in names}}


PARTS = {"tables": tables, "real": real_sets, "images": images}


def run(plan: Plan, folder: Path, wanted: list[str]) -> None:
    """Measure some parts, and write each when it is done."""
    keep_memory()
    with threadpool_limits(1):
        for method in ALL.values():  # compile, or load from the cache
            method(generated(400, 0, 100), Limit(3, 60.0), 0)
        for method in LAZY.values():
            method(image_task(200, 0, 50), Limit(3, 60.0), 0)
        for name in wanted:
            begin = time.perf_counter()
            runs = list(PARTS[name](plan))
            settings = {"rounds": plan.rounds, "at_most": plan.at_most, "held_out": plan.held_out}
            wall = round(time.perf_counter() - begin, 1)
            found = {"part": name, "plan": settings, "surroundings": surroundings(), "wall": wall, "runs": runs}
            (folder / f"{name}.json").write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


def main() -> None:
    """Measure, unless only the page is asked for; then write it."""
    parser = argparse.ArgumentParser(description="The study of boosting.")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small settings, into build/boosting")
    parser.add_argument("--page", action="store_true", help="only write page and pictures")
    arguments = parser.parse_args()
    if arguments.page and arguments.part:
        parser.error("--page measures nothing: leave out --part")
    plan, folder = (QUICK, BUILD) if arguments.quick else (FULL, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    if not arguments.page:
        run(plan, folder, arguments.part or list(PARTS))
    missing = [name for name in PARTS if not (folder / f"{name}.json").exists()]
    if missing:
        words = f"the page needs all parts, and {folder.relative_to(ROOT)} has no results of {', '.join(missing)}"
        if arguments.page:
            parser.error(f"{words}: measure them first")
        print(f"{words}: it is not written.")
        return
    write(folder, arguments.quick)


def write(folder: Path, quick: bool) -> None:
    """Pictures, and the section: into the page, or beside them."""
    results = {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in PARTS}
    figures.draw(results, folder)
    section = report.section(results)
    if quick:
        (folder / "section.md").write_text(section, encoding="utf-8")
    else:
        PAGE.write_text(report.put(PAGE.read_text(encoding="utf-8"), section), encoding="utf-8")


if __name__ == "__main__":
    main()
