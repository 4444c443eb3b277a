"""Modules have one place each: their former names still lead there, and nobody in this repository uses those."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import topalpha.figures
import topalpha.standing
import topalpha.testset
from tests.support.folders import DATA, ROOT
from topalpha.former_names import FORMER, RENAMED
from topalpha.testset import ScoreTable

#: Functions that have the names of former modules.
FUNCTIONS = {"figures.errors", "testset.audit"}
FOLDERS = ("src", "tests", "studies", "benchmarks", "examples", "docs")
#: The modules of version 0.2.0, and the names that each of them defined or offered.
NAMES = json.loads((DATA / "names-0.2.0.json").read_text(encoding="utf-8"))


def test_what_a_former_module_had_is_found():
    for former, homes in FORMER.items():
        found = import_module(f"topalpha.{former}")
        for home in homes:
            module = import_module(f"topalpha.{home}")
            own = [name for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]
            own = own or [name for name in vars(module) if name.isupper()]  # it has constants alone
            assert own or hasattr(module, "__path__"), home
            for name in own:
                if f"{former}.{name}" in RENAMED:  # another thing, of a name that it had
                    continue
                assert getattr(found, name) is getattr(module, name), (former, name)
        with pytest.raises(AttributeError, match=f"^module 'topalpha.{former}' has no attribute 'absent'$"):
            _ = found.absent


def test_names_of_0_2_0_are_found_where_they_were():
    found = {module: import_module(f"topalpha.{module}") for module in NAMES}
    assert len(found) > 200
    assert [(module, name) for module in NAMES for name in NAMES[module] if not hasattr(found[module], name)] == []


def test_classes_and_functions_that_were_renamed_are_found_by_their_former_names():
    for former, name in RENAMED.items():
        module, _, old = former.rpartition(".")
        assert getattr(import_module(f"topalpha.{module}"), old).__name__ == name


def test_former_modules_are_attributes_and_give_all_their_names():
    code = (
        "import topalpha, topalpha.algorithms as field; print(topalpha.core.Claim.__name__, field.p2.P2.__name__)\n"
        "from topalpha.core import *; from topalpha.audit import *; print(History.__name__, Case.__name__)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["Claim", "P2", "History", "AuditCase"]


def test_no_two_classes_share_a_name():
    names = [
        node.name
        for file in (ROOT / "src").rglob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []


@pytest.mark.parametrize("name", ["topalpha.cores", "topalpha.core.parts", "core", "models", "audit.cases", "progress"])
def test_other_names_are_not_found(name):
    with pytest.raises(ModuleNotFoundError):
        import_module(name)


def test_functions_stay_functions_when_former_modules_of_their_names_are_imported():
    for module in NAMES:
        import_module(f"topalpha.{module}")
    assert callable(topalpha.standing.standing)
    with pytest.raises(ValueError, match=r"^studies must be a Study or several, got \[\]$"):
        topalpha.figures.errors([])
    with pytest.raises(ValueError, match=r"^runs must .*, got 0$"):
        topalpha.testset.audit(ScoreTable(["a", "b"], ["1", "2"], [[0, 1], [1, 1]]), runs=0)


def test_what_an_earlier_version_left_behind_is_not_in_the_way(tmp_path):
    package = shutil.copytree(Path(topalpha.__file__).parent, tmp_path / "topalpha", ignore=lambda *_: ["__pycache__"])
    (package / "audit" / "__pycache__").mkdir(parents=True)
    code = "from topalpha.audit import cells; print(cells.__module__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == "topalpha.research.audit.cases\n"


def named(tree):
    """The modules that a file may import, without ``topalpha``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "topalpha":
            names = {f"{node.module}.{alias.name}".removeprefix("topalpha.") for alias in node.names}
            yield from names - FUNCTIONS
            yield node.module.removeprefix("topalpha.")
        elif isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("topalpha.") for alias in node.names if alias.name[:9] == "topalpha.")


def test_nobody_here_uses_former_names():
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 300
    used = {str(file): FORMER.keys() & set(named(ast.parse(file.read_text(encoding="utf-8")))) for file in files}
    assert {file: names for file, names in used.items() if names} == {}
    for former in ("from topalpha.core import Claim", "from topalpha.figures.errors import errors"):
        assert FORMER.keys() & set(named(ast.parse(former))), "the check sees one"
