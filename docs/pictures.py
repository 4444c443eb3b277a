"""Take the pictures of the dashboard and of the race again: a real search, watched while it runs (``make pictures``).

The search is one of the tutorial's: which compressor saves 70% or more on most source files? A pull is pass or fail on
one file. The page is opened before it begins and photographed on the way; the race is drawn from its file when it is
over.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support import chromium
from tests.support.dashboards import Dashboard, Processes
from tests.support.viewing import Viewer, drawn, number, pump, shown
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
#: Pulls after which the page is photographed; the search takes some 1,200.
MOMENT = 700
#: Seconds that a pull takes longer than it needs, so that there is something to watch.
PACE = 0.006
COLOURS = 256


def search(path: str) -> None:
    """The search itself, in a process of its own."""
    import topalpha
    from examples.compression import NAMES, draw, saves_enough

    def pull(candidate: dict[str, Any], name: str) -> bool:
        time.sleep(PACE)
        return saves_enough(candidate, name)

    topalpha.search(
        draw,
        pull,
        items=NAMES,
        **{"alpha": 0.1, "epsilon": 0.02, "delta": 0.05, "algorithm": "cc-lucb", "seed": 1},
        about="compressors with settings drawn by examples/compression.py",
        storage=path,
        name="compression",
        progress="none",
    )


def compact(path: Path) -> None:
    """Few colours make a small file, and the page has few."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def photograph(page: Any, path: Path) -> None:
    """The page down to its charts: the table below them goes on for long."""
    below = page.locator(".pair").bounding_box()
    height = below["y"] + below["height"] + 16
    width = page.viewport_size["width"]
    page.screenshot(path=path, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})
    compact(path)


def watch(folder: Path, browser: str) -> Path:
    """Run the search, and photograph its page at a moment of it; the file of the search."""
    from playwright.sync_api import sync_playwright

    path = folder / "compression.db"
    processes = Processes()
    try:
        with sync_playwright() as playwright:
            opened = playwright.chromium.launch(executable_path=browser, args=list(chromium.FLAGS))
            viewer = Viewer(opened.new_context(reduced_motion="reduce"))
            dashboard = Dashboard(processes, path)
            wide = viewer(dashboard.with_token)
            narrow = viewer(dashboard.with_token, width=400, scheme="dark")
            running = processes.start("-m", "docs.pictures", path)
            for page in (wide, narrow):
                drawn(page)
            until(lambda: (number(wide) or 0) > MOMENT or pump(wide), patience=120.0)
            photograph(wide, PICTURES / "dashboard.png")
            photograph(narrow, PICTURES / "dashboard-narrow.png")
            shown(wide, "status", "Finished: proved")
            photograph(wide, PICTURES / "dashboard-finished.png")
            assert running.wait(60) == 0
            viewer.judge()
            viewer.close()
    finally:
        processes.end()
    return path


def draw_race(path: Path) -> None:
    """The race of the search in a file; once more without its legend, for the README, which says what the lines are."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from topalpha.figures import race

    figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
    race(path, axes=axes)
    figure.savefig(PICTURES / "race.png", dpi=110)
    # The box of the axes, their title and labels, in inches; a legend is one of the "extra artists".
    box = axes.get_tightbbox(bbox_extra_artists=[]).padded(4.0).transformed(figure.dpi_scale_trans.inverted())
    figure.savefig(PICTURES / "race-plain.png", dpi=110, bbox_inches=box)
    for name in ("race.png", "race-plain.png"):
        compact(PICTURES / name)


def main() -> int:
    """All pictures; with the name of a file, the search that is in them."""
    if len(sys.argv) > 1:
        search(sys.argv[1])
        return 0
    browser = chromium.find()
    if browser is None:
        print(chromium.MISSING, file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="topalpha-pictures-"))
    try:
        draw_race(watch(folder, browser))
    finally:
        shutil.rmtree(folder)
    for picture in sorted(PICTURES.glob("*.png")):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1000:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
