"""The browser of the tests: found, installed where that is possible, and else one line that says how to get it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MISSING = (
    "The browser tests need Chromium, which is not here: run `apt-get install chromium` as root (Debian), "
    "or set CHROMIUM to the path of one."
)
FLAGS = (
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: The fonts are what a desktop has: widths of words and formulas depend on them.
PACKAGES = ("chromium", "fonts-liberation", "fonts-dejavu-core", "fonts-dejavu-extra")
INSTALL = (
    ("apt-get", "-qq", "update"),
    ("apt-get", "-qq", "install", "--yes", "--no-install-recommends", *PACKAGES),
)


def find(environment: Mapping[str, str] = os.environ) -> str | None:
    """The path of a browser, if there is one."""
    for name in (environment.get("CHROMIUM", ""), *NAMES):
        found = shutil.which(name, path=environment.get("PATH"))
        if found:
            return found
    return None


def is_mandatory(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether tests that lack a browser fail, for nobody would read why they were skipped."""
    return environment.get("CI", "").strip().lower() not in ("", "0", "false")


def needed(environment: Mapping[str, str] = os.environ) -> str:
    """The path of a browser; without one tests are skipped, or fail where they are mandatory."""
    found = find(environment)
    if found is None:
        import pytest

        (pytest.fail if is_mandatory(environment) else pytest.skip)(MISSING)
    return found


@contextmanager
def opened() -> Iterator[Any]:
    """A browser while this is open; see :func:`needed`."""
    path = needed()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def install(environment: Mapping[str, str] = os.environ) -> str | None:
    """The path of a browser, after an attempt to get one if there is none."""
    found = find(environment)
    tool = shutil.which("apt-get", path=environment.get("PATH"))
    if found is not None or tool is None or os.geteuid() != 0:
        return found
    quiet = {**environment, "DEBIAN_FRONTEND": "noninteractive"}
    for _, *arguments in INSTALL:
        done = subprocess.run([tool, *arguments], env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            break
    return find(environment)


def main() -> None:
    """Get a browser or say how; the tests decide what its absence means."""
    if install() is None:
        print(MISSING, file=sys.stderr)


if __name__ == "__main__":
    main()
