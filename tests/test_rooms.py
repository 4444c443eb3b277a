"""The rooms of the package: the map, and what each offers to the others."""

import ast
from pathlib import Path

import topalpha
from docs import layers

ROOT = Path(topalpha.__file__).parent
MAP = Path(__file__).parents[1] / "CONTRIBUTING.md"


def offered(room):
    """What a room's ``__all__`` lists."""
    for node in ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    raise AssertionError(f"{room} lists nothing")


def taken(tree, own):
    """The names and modules that a file takes from other rooms than its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("topalpha."):
            _, room, *module = node.module.split(".")
            if room != own and (ROOT / room).is_dir():
                yield from ((room, name) for name in (module[:1] or [alias.name for alias in node.names]))


def test_the_map_is_that_of_today():
    page = MAP.read_text(encoding="utf-8")
    assert page == layers.filled(page), "run `python docs/layers.py`"
    rooms = [room for layer in layers.layers() for room in layer]
    there = {file.parent.name for file in ROOT.glob("*/__init__.py")} | {file.stem for file in ROOT.glob("*.py")}
    assert sorted(rooms) == sorted(there - {"__init__", "__main__"})
    assert len(layers.layers()) <= 16


def test_few_modules_are_loose():
    modules = {file.stem for file in ROOT.glob("*.py")}
    assert modules - {"__init__", "__main__"} == {"former_names", "randomness", "validate"}


def test_a_room_lists_what_others_take_from_it():
    found = {
        (room, name)
        for file in ROOT.rglob("*.py")
        for room, name in taken(ast.parse(file.read_text(encoding="utf-8")), file.relative_to(ROOT).parts[0])
    }
    assert len(found) > 150
    assert {(room, name) for room, name in found if name not in offered(room)} == set()
    secret = "from topalpha.rules.nowhere import thing\nfrom topalpha.session import _hidden"
    seen = set(taken(ast.parse(secret), "cli"))
    assert seen == {("rules", "nowhere"), ("session", "_hidden")}, "the check sees them"
    assert not any(name in offered(room) for room, name in seen)
