"""Modules have one place each: their former names still lead there, and nobody in this repository uses those."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from folders import ROOT

import topalpha
from topalpha.former_names import FORMER

FOLDERS = ("src", "tests", "studies", "benchmarks", "examples", "docs")
#: A name of each package that was a module before.
KEPT = {
    "ask_tell": "Search",
    "certificate": "Certificate",
    "running": "Running",
    "session": "Session",
    "simulation": "simulate",
    "standing": "standing",
}


@pytest.mark.parametrize("former", FORMER)
def test_what_a_former_module_had_is_found(former):
    found = import_module(f"topalpha.{former}")
    for home in FORMER[former]:
        module = import_module(f"topalpha.{home}")
        own = [name for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]
        assert own or hasattr(module, "__path__")
        for name in own:
            assert getattr(found, name) is getattr(module, name)
    with pytest.raises(AttributeError, match=f"^module 'topalpha.{former}' has no attribute 'nothing'$"):
        _ = found.nothing


@pytest.mark.parametrize("package", KEPT)
def test_packages_offer_what_modules_of_their_name_did(package):
    assert hasattr(import_module(f"topalpha.{package}"), KEPT[package])


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError):
        import_module("topalpha.cores")
    with pytest.raises(ModuleNotFoundError):
        import_module("topalpha.core.parts")


def named(tree):
    """The modules that a file may import, without ``topalpha``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "topalpha":
            yield from (f"{node.module}.{alias.name}".removeprefix("topalpha.") for alias in node.names)
            yield node.module.removeprefix("topalpha.")
        elif isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("topalpha.") for alias in node.names if alias.name[:9] == "topalpha.")


def test_nobody_here_uses_former_names():
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 300
    used = {str(file): FORMER.keys() & set(named(ast.parse(file.read_text(encoding="utf-8")))) for file in files}
    assert {file: names for file, names in used.items() if names} == {}
    assert "core" in set(named(ast.parse("from topalpha.core import Claim"))), "the check sees one"


def test_the_map_is_that_of_today():
    spec = spec_from_file_location("layers", ROOT / "docs" / "layers.py")
    layers = module_from_spec(spec)
    spec.loader.exec_module(layers)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert page == layers.filled(page), "run `python docs/layers.py`"
    rooms = [room for layer in layers.layers() for room in layer]
    folder = Path(topalpha.__file__).parent
    there = {file.parent.name for file in folder.glob("*/__init__.py")} | {file.stem for file in folder.glob("*.py")}
    assert sorted(rooms) == sorted(there - {"__init__", "__main__"})
    assert len(layers.layers()) <= 16


def test_few_modules_are_loose():
    modules = {file.stem for file in Path(topalpha.__file__).parent.glob("*.py")}
    assert modules - {"__init__", "__main__"} == {"former_names", "randomness", "validate"}
