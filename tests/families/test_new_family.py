"""CONTRIBUTING's new family: one file and one name in the list, and everything finds it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import topalpha
from tests.support.folders import ROOT

LISTED = r'(for name in \("bernoulli", [^)]*)\)'
RUN = """
import json
from topalpha import parse_family, search
from topalpha.families import describe
from topalpha.families.gamma import Gamma
from topalpha.testing import check_family
family = parse_family("erlang(3,highest=4)")
check_family(family, [0.5, 1.0, 2.0])
same = family.upper(1.0, 0.1) == Gamma(3.0, 4.0).upper(1.0, 0.1)
result = search(
    lambda rng: 0.5 + rng.random(), lambda mean, rng: rng.gamma(3.0, mean / 3.0),
    alpha=0.3, epsilon=0.8, delta=0.2, family="erlang(3,highest=4)", seed=1, progress="none",
)
print(json.dumps([describe(family), same, result.stopped, list(result.certificate.assumptions)]))
"""


def test_it_is_found_everywhere(tmp_path):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = re.search(r"## A new family.*?```python\n(.*?)```", text, re.DOTALL)[1]
    package = shutil.copytree(Path(topalpha.__file__).parent, tmp_path / "topalpha", ignore=lambda *_: ["__pycache__"])
    (package / "families" / "erlang.py").write_text(code, encoding="utf-8")
    registry = package / "families" / "units.py"
    listed, changes = re.subn(LISTED, r'\1, "erlang")', registry.read_text(encoding="utf-8"))
    assert changes == 1
    registry.write_text(listed, encoding="utf-8")
    check = [sys.executable, "-m", "ruff", "check", f"--config={ROOT / 'pyproject.toml'}", "--no-cache"]
    subprocess.run([*check, package / "families" / "erlang.py"], check=True)

    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    text, same, stopped, assumptions = json.loads(run("-c", RUN))
    assert (text, same, stopped) == ("erlang(number=3.0,highest=4.0)", True, True)
    assert "Rewards follow a law of the family erlang; for other laws the error is not controlled." in assumptions
    assert "erlang" in run("-m", "topalpha", "list")
