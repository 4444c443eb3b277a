"""CONTRIBUTING's new algorithm: one file and one line in the list, and everything finds it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import topalpha
from tests.support.folders import ROOT

LISTED = '        "p2",\n'
RUN = """
import json, sys
from topalpha import Search, design
from topalpha.algorithms import entry
from topalpha.research.audit import cases
from topalpha.testing import check_design
made = design("uniform-lucb++", 0.3, 0.3, 0.2)
check_design(entry("uniform-lucb++").design)
search = Search(made, 1)
while not search.stopped:
    for pull in search.ask_many(1):
        search.tell(pull, float(pull.arm == 0))
pulls = [search.history.pulls[arm] for arm in range(made.arms)]
audited = {cell.algorithm.traits.name for cell in cases.cells()}
print(json.dumps([search.best, max(pulls) - min(pulls), "uniform-lucb++" in audited]))
"""
COMPILED = """
from topalpha import design
from topalpha.reservoirs import Uniform
from topalpha.testing import check_algorithm
print(check_algorithm(design("uniform-lucb++", 0.2, 0.2, 0.1), Uniform(0.0, 0.95)).t)
"""


@pytest.fixture
def run(tmp_path):
    """Run commands with the package and the new algorithm in it."""
    code = re.search(r"## A new algorithm.*?```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.S)[
        1
    ]
    assert len(code.splitlines()) <= 60
    package = shutil.copytree(Path(topalpha.__file__).parent, tmp_path / "topalpha", ignore=lambda *_: ["__pycache__"])
    (package / "algorithms" / "field" / "uniform_lucb_pp.py").write_text(code, encoding="utf-8")
    check = [sys.executable, "-m", "ruff", "check", f"--config={ROOT / 'pyproject.toml'}", "--no-cache"]
    subprocess.run([*check, package / "algorithms" / "field" / "uniform_lucb_pp.py"], check=True)
    registry = package / "algorithms" / "__init__.py"
    text = registry.read_text(encoding="utf-8")
    assert text.count(LISTED) == 1
    registry.write_text(text.replace(LISTED, LISTED + '        "uniform_lucb_pp",\n'), encoding="utf-8")

    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_it_is_found_everywhere_and_samples_uniformly(run):
    best, spread, audited = json.loads(run("-c", RUN))
    assert (best, spread <= 1, audited) == (0, True, True)
    assert re.search(r"^  uniform-lucb\+\+ .*; proof: ", run("-m", "topalpha", "list"), re.M)


@pytest.mark.slow
def test_it_compiles_to_the_same_run(run):
    assert int(run("-c", COMPILED)) > 100
